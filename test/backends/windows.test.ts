// Windows whose place is computed and rows that are set, in WebAssembly, against the reference backend: every number of axes, batches, dtypes, short and long runs, starts out of range, windows without elements.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import { type AnyExpr, compile, cpu, reference, type Tensor, tensor } from '../../src/index.js'

type Loose = Record<string, (...xs: readonly unknown[]) => AnyExpr>
const { dynamicSlice, dynamicUpdateSlice, setAt, vmap, grad, sum, mul } = cd as unknown as Loose
const run = (f: unknown, backend: unknown, ...xs: readonly unknown[]): Tensor =>
  (compile as unknown as (f: unknown, b: unknown) => (...xs: readonly unknown[]) => Tensor)(f, backend)(...xs)

const DTYPES = ['f64', 'f32', 'i32', 'bool'] as const
type Name = (typeof DTYPES)[number]
const filled = (shape: readonly number[], dtype: Name, from: number): Tensor => {
  const size = shape.reduce((a, b) => a * b, 1)
  const value = (i: number): number =>
    dtype === 'bool' ? Number((i * 7 + from) % 3 === 0) : dtype === 'i32' ? i + from : Math.sin(i + from)
  const data = Array.from({ length: size }, (_, i) => value(i))
  const array = dtype === 'f64' ? Float64Array : dtype === 'f32' ? Float32Array : dtype === 'i32' ? Int32Array : Uint8Array
  return tensor(array.from(data) as never, shape as never, dtype as never) as unknown as Tensor
}
const ints = (xs: readonly number[], shape: readonly number[]): Tensor =>
  tensor(Int32Array.from(xs) as never, shape as never, 'i32') as unknown as Tensor

interface Window {
  readonly batches: number
  readonly shape: readonly number[]
  readonly sizes: readonly number[]
  readonly starts: readonly (readonly number[])[]
  readonly dtype: Name
}
const windows: fc.Arbitrary<Window> = fc
  .record({
    rank: fc.integer({ min: 0, max: 4 }),
    batches: fc.integer({ min: 1, max: 3 }),
    dtype: fc.constantFrom(...DTYPES),
    long: fc.boolean(),
  })
  .chain(({ rank, batches, dtype, long }) =>
    fc
      .array(fc.integer({ min: 1, max: rank > 2 ? 5 : 9 }), { minLength: rank, maxLength: rank })
      .map((shape) => (long && rank > 0 ? [...shape.slice(0, -1), shape[rank - 1]! * 37] : shape))
      .chain((shape) =>
        fc
          .tuple(
            fc.tuple(...shape.map((d) => fc.oneof(fc.constant(d), fc.integer({ min: 0, max: d })))),
            fc.array(fc.tuple(...shape.map((d) => fc.integer({ min: -d - 2, max: d + 2 }))), { minLength: batches, maxLength: batches }),
          )
          .map(([sizes, starts]) => ({ batches, shape, sizes, starts, dtype })),
      ),
  )
/** The same function on both backends, of one array or mapped over batches. */
const same = (w: Window, f: (...xs: readonly unknown[]) => AnyExpr, others: readonly ((lead: readonly number[]) => Tensor)[]): void => {
  const lead = w.batches > 1 ? [w.batches] : []
  const x = filled([...lead, ...w.shape], w.dtype, 1)
  const starts = ints(w.starts.slice(0, w.batches).flat(), [...lead, w.shape.length])
  const args = [x, starts, ...others.map((other) => other(lead))]
  const g = w.batches > 1 ? (vmap!(f) as unknown) : f
  const got = run(g, cpu(), ...args)
  const want = run(g, reference(), ...args)
  expect(got.shape).toEqual(want.shape)
  expect(Array.from(got.data as never)).toEqual(Array.from(want.data as never))
}

describe('windows whose place is computed', () => {
  it('are read as the reference reads them', () => {
    fc.assert(
      fc.property(windows, (w) => same(w, (x, s) => dynamicSlice!(x, s, w.sizes), [])),
      { numRuns: 300 },
    )
  })
  it('are written as the reference writes them', () => {
    fc.assert(
      fc.property(windows, (w) =>
        same(w, (x, s, u) => dynamicUpdateSlice!(x, u, s), [(lead) => filled([...lead, ...w.sizes], w.dtype, 100)]),
      ),
      { numRuns: 300 },
    )
  })
  it('are added to as the reference adds', () => {
    fc.assert(
      fc.property(windows, (w) => {
        const float = { ...w, dtype: w.dtype === 'f32' ? ('f32' as const) : ('f64' as const) }
        same(
          float,
          (x, s, u) => (grad!((y: unknown) => sum!(mul!(dynamicSlice!(y, s, w.sizes), u))) as unknown as (x: unknown) => AnyExpr)(x),
          [(lead) => filled([...lead, ...w.sizes], float.dtype, 100)],
        )
      }),
      { numRuns: 300 },
    )
  })
  it('move along in a loop', () => {
    const { scan, add } = cd as unknown as Loose
    const f = (x: unknown): AnyExpr =>
      (
        scan!(
          (c: unknown, i: unknown) => {
            const row = dynamicSlice!(c, [add!(i, 1), 0], [1, 3])
            return [dynamicUpdateSlice!(c, mul!(row, 2), [i, 0]), row]
          },
          x,
          tensor([0, 1, 2, 3, 4, 5] as never, [6] as never, 'i32' as never),
        ) as unknown as readonly AnyExpr[]
      )[0]!
    const x = filled([7, 3], 'f64', 1)
    const got = run(f, cpu(), x)
    expect(Array.from(got.data as never)).toEqual(Array.from(run(f, reference(), x).data as never))
  })
})

describe('rows that are set', () => {
  it('are the last of those that go to one place', () => {
    const cases = fc.record({
      rows: fc.integer({ min: 1, max: 7 }),
      outer: fc.integer({ min: 1, max: 3 }),
      width: fc.constantFrom(1, 2, 3, 17, 40),
      batches: fc.integer({ min: 1, max: 3 }),
      at: fc.array(fc.integer({ min: -9, max: 9 }), { maxLength: 6 }),
      dtype: fc.constantFrom(...DTYPES),
    })
    fc.assert(
      fc.property(cases, ({ rows, outer, width, batches, at, dtype }) => {
        const lead = batches > 1 ? [batches] : []
        const x = filled([...lead, outer, rows, width], dtype, 1)
        const i = ints(Array.from({ length: batches }, (_, b) => at.map((v) => v + b)).flat(), [...lead, at.length])
        const u = filled([...lead, outer, at.length, width], dtype, 50)
        const f = (a: unknown, j: unknown, v: unknown): AnyExpr => setAt!(a, j, v, { axis: 1 })
        const g = batches > 1 ? (vmap!(f) as unknown) : f
        const [got, want] = [run(g, cpu(), x, i, u), run(g, reference(), x, i, u)]
        expect(Array.from(got.data as never)).toEqual(Array.from(want.data as never))
      }),
      { numRuns: 300 },
    )
  })
})
