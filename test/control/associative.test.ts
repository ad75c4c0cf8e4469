/** associativeScan is the loop that applies op one after the other: values, derivatives, vmap, any length and axis. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { random } from '../../src/check/index.js'
import * as cd from '../../src/index.js'
import { count } from '../depth.js'

type E = cd.AnyExpr
type Tree = E | readonly E[]
type Call = (...xs: readonly unknown[]) => never
const ops = cd as unknown as Readonly<Record<string, Call>>
const { add, compile, evaluate, flip, grad, matmul, maximum, mul, sin, slice, sum, tensor, vmap } = ops
const associativeScan = cd.associativeScan as unknown as (...xs: readonly unknown[]) => never
const leaves = (t: Tree): readonly E[] => (Array.isArray(t) ? t : [t as E])
const message = (f: () => unknown): string => {
  try {
    f()
  } catch (e) {
    if (cd.isAdException(e)) return e.message
    throw e
  }
  return 'no error'
}

interface Case {
  readonly name: string
  readonly op: (a: never, b: never) => Tree
  /** Shapes of one element of each leaf. */
  readonly shapes: readonly (readonly number[])[]
}
const cases: readonly Case[] = [
  { name: 'sums', op: (a, b) => add!(a, b), shapes: [[2]] },
  { name: 'products', op: (a, b) => mul!(a, b), shapes: [[]] },
  { name: 'largest', op: (a, b) => maximum!(a, b), shapes: [[3]] },
  { name: 'products of matrices', op: (a, b) => matmul!(a, b), shapes: [[2, 2]] },
  {
    name: 'compositions of x -> a x + b',
    op: ([a1, b1]: readonly E[], [a2, b2]: readonly E[]) => [mul!(a1, a2), add!(mul!(a2, b1), b2)],
    shapes: [[2], [2]],
  } as Case,
  {
    name: 'compositions of x -> A x + b',
    op: ([a1, b1]: readonly E[], [a2, b2]: readonly E[]) => [matmul!(a2, a1), add!(matmul!(a2, b1), b2)],
    shapes: [
      [2, 2],
      [2, 1],
    ],
  } as Case,
]
const drawn = (shape: readonly number[], seed: number): cd.Tensor => {
  const next = random(seed)
  const size = shape.reduce((n, d) => n * d, 1)
  return cd.tensor(
    Array.from({ length: size }, () => 2 * next() - 0.9),
    [...shape],
  ) as unknown as cd.Tensor
}
/** One after the other, along the first axis. */
const oneByOne = ({ op }: Case, xs: readonly E[], length: number): readonly E[] => {
  const at = (x: E, k: number): E => slice!(x, [k, ...x.shape.slice(1).map(() => 0)], [k + 1, ...x.shape.slice(1)])
  const call = op as unknown as (a: unknown, b: unknown) => Tree
  const as = (ts: readonly E[]): unknown => (xs.length === 1 ? ts[0] : ts)
  let now = xs.map((x) => at(x, 0))
  const all = [now]
  for (let k = 1; k < length; k++) {
    now = [...leaves(call(as(now), as(xs.map((x) => at(x, k)))))]
    all.push(now)
  }
  return xs.map((_, i) => ops.concat!(all.map((row) => row[i]!)))
}
const near = (got: unknown, want: unknown): void => {
  const numbers = (t: unknown): number[] =>
    cd.isTensor(t) ? Array.from(t.data) : typeof t === 'number' ? [t] : Object.values(t as object).flatMap(numbers)
  const [a, b] = [numbers(got), numbers(want)]
  expect(a.length).toBe(b.length)
  const size = Math.max(1, ...b.map(Math.abs))
  a.forEach((x, i) => {
    expect(Math.abs(x - b[i]!)).toBeLessThanOrEqual(1e-12 * size)
  })
}
const total = (ts: readonly E[]): E => ts.map((t, i): E => sum!(sin!(add!(t, 0.1 * (i + 1))))).reduce((a, b) => add!(a, b))

describe('associativeScan', () => {
  const drawing = fc.record({
    at: fc.integer({ min: 0, max: cases.length - 1 }),
    length: fc.integer({ min: 1, max: 9 }),
    reverse: fc.boolean(),
    seed: fc.integer({ min: 1, max: 1e6 }),
  })
  it('is op applied one after the other, and so are its derivatives', () => {
    fc.assert(
      fc.property(drawing, ({ at, length, reverse, seed }) => {
        const c = cases[at]!
        const args = c.shapes.map((s, i) => drawn([length, ...s], seed + i))
        const tree = (xs: readonly E[]): unknown => (xs.length === 1 ? xs[0] : xs)
        const fast = (...xs: readonly E[]): readonly E[] => leaves(associativeScan(c.op, tree(xs), { reverse }))
        const turned = (xs: readonly E[]): readonly E[] => (reverse ? xs.map((x): E => flip!(x, { axis: 0 })) : xs)
        const slow = (...xs: readonly E[]): readonly E[] => turned(oneByOne(c, turned(xs), length))
        const wrt = args.map((_, i) => i)
        for (const b of [cd.reference(), cd.cpu()])
          near((compile!(fast, b) as Call)(...args), (compile!(slow, cd.reference()) as Call)(...args))
        const [df, ds] = [fast, slow].map((f) => (grad!((...xs: readonly E[]) => total(f(...xs)), { wrt }) as Call)(...args))
        near(df, ds)
        // The derivative of the gradient, and vmap over one leaf.
        const second = (f: typeof fast): unknown =>
          (grad!((x: E) => sum!(sin!((grad!((y: E) => total(f(y, ...(args.slice(1) as unknown as E[])))) as Call)(x)))) as Call)(args[0])
        near(second(fast), second(slow))
        const wide = [evaluate!(ops.stack!([args[0], mul!(args[0], 0.5)])), ...args.slice(1)]
        const inAxes = args.map((_, i) => (i === 0 ? 0 : null))
        const [vf, vs] = [fast, slow].map((f) => (vmap!(f, { inAxes }) as Call)(...wide))
        near(vf, vs)
      }),
      { numRuns: count(8, 40), seed: 20_271_203 },
    )
  })
  it('goes along any axis, over trees, and over no elements or one', () => {
    const x = tensor!([
      [1, 2, 3],
      [4, 5, 6],
    ])
    const running = (axis: number, reverse = false): unknown =>
      (evaluate!(associativeScan(add, x, { axis, reverse })) as cd.Tensor).toArray()
    expect([running(0), running(1), running(-1, true)]).toEqual([
      [
        [1, 2, 3],
        [5, 7, 9],
      ],
      [
        [1, 3, 6],
        [4, 9, 15],
      ],
      [
        [6, 5, 3],
        [15, 11, 6],
      ],
    ])
    const both = associativeScan(({ a, b }: Record<string, E>, c: Record<string, E>) => ({ a: add!(a, c.a), b: mul!(b, c.b) }), {
      a: [1, 2, 3],
      b: tensor!([2, 3, 4], [3], 'i32'),
    }) as Record<string, E>
    expect([(evaluate!(both.a) as cd.Tensor).toArray(), (evaluate!(both.b) as cd.Tensor).toArray()]).toEqual([
      [1, 3, 6],
      [2, 6, 24],
    ])
    for (const reverse of [false, true]) {
      expect((evaluate!(associativeScan(add, ops.zeros!([0, 2]), { reverse })) as cd.Tensor).shape).toEqual([0, 2])
      expect((evaluate!(associativeScan(add, [7], { reverse })) as cd.Tensor).toArray()).toEqual([7])
    }
  })
  it('takes about two rounds for each doubling of the length', () => {
    let calls = 0
    associativeScan(
      (a: E, b: E) => {
        calls++
        return add!(a, b)
      },
      tensor!(new Float32Array(1024)),
    )
    expect(calls).toBe(19)
  })
  it('gives what nobody declared the dtype of what op returns', () => {
    const w = tensor!(2, [], 'f32')
    expect((associativeScan((a: E, b: E) => mul!(w, add!(a, b)), [1, 2]) as E).dtype).toBe('f32')
  })
  const wrong: readonly (readonly [string, () => unknown, string])[] = [
    ['another tree', () => associativeScan((a: E) => [a], [1, 2]), 'associativeScan: what op returned is'],
    ['another shape', () => associativeScan((a: E) => sum!(a), [1, 2]), 'associativeScan: what op returned is f64 [], it must be f64 [1].'],
    ['another dtype', () => associativeScan((a: E) => sin!(a), tensor!([1, 2], [2], 'i32')), 'it must be i32 [1]'],
    [
      'lengths that differ',
      () => associativeScan((a: E) => a, { a: [1, 2], b: [1, 2, 3] }),
      'associativeScan: xs at a has 2 elements along the axis, xs at b has 3.',
    ],
    ['an axis that it has not', () => associativeScan(add, [1, 2], { axis: 1 }), 'associativeScan'],
    ['no function', () => associativeScan(3, [1, 2]), 'associativeScan: op must be a function, not 3.'],
    ['an option that is none', () => associativeScan(add, [1, 2], { dim: 1 }), 'associativeScan: there is no option dim.'],
  ]
  it.each(wrong)('refuses %s', (_name, call, says) => {
    expect(message(call)).toContain(says)
  })
})
