/** Extremes and where they are on the CPU, to the bit beside JavaScript's: NaN wherever it lies, zeros of either sign, ties, lines of all lengths. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { random } from '../../src/check/index.js'
import * as cd from '../../src/index.js'
import { count } from '../depth.js'

type E = cd.AnyExpr
const cpu = cd.cpu({ poison: true })
const run = (f: (x: E) => unknown, x: unknown): readonly number[] =>
  Array.from((cd.compile(f as never, cpu) as unknown as (x: unknown) => cd.Tensor)(x).data as Float64Array)

const pools = {
  zeros: [0, -0],
  below: [0, -0, -1, Number.NEGATIVE_INFINITY],
  above: [0, -0, 1, Number.POSITIVE_INFINITY],
  lowest: [Number.NEGATIVE_INFINITY],
  highest: [Number.POSITIVE_INFINITY],
  some: [1, 2, 3, -1, -2, 0.5],
  many: undefined,
} as const
const drawn = fc.record({
  shape: fc.constantFrom<(n: number) => [number, number, number]>(
    (n) => [1, n, 1],
    (n) => [3, n, 1],
    (n) => [1, n, 3],
    (n) => [2, n, 23],
  ),
  n: fc.oneof(fc.integer({ min: 1, max: 90 }), fc.constantFrom(600, 1023, 1024, 1500, 5000)),
  dtype: fc.constantFrom('f64', 'f32', 'i32'),
  pool: fc.constantFrom(...(Object.keys(pools) as (keyof typeof pools)[])),
  nan: fc.constantFrom(0, 0, 0.001, 0.3, 1),
  seed: fc.integer({ min: 1, max: 1e6 }),
})
const numbers = (count: number, pool: keyof typeof pools, nan: number, integer: boolean, seed: number): readonly number[] => {
  const next = random(seed)
  const one = (): number => {
    const own = pools[pool]
    const v = own === undefined ? Math.fround(200 * next() - 100) : own[Math.floor(next() * own.length)]!
    return integer ? v | 0 : next() < nan ? Number.NaN : v
  }
  return Array.from({ length: count }, one)
}

it('extremes and their positions along an axis', () => {
  fc.assert(
    fc.property(drawn, ({ shape: shapeOf, n, dtype, pool, nan, seed }) => {
      const shape = shapeOf(n)
      const [before, , after] = shape
      const data = numbers(before * n * after, pool, nan, dtype === 'i32', seed)
      const x = cd.tensor(data as number[], shape, dtype as 'f64')
      const lines = Array.from({ length: before * after }, (_, l) =>
        Array.from({ length: n }, (_, k) => data[(Math.floor(l / after) * n + k) * after + (l % after)]!),
      )
      const first = (line: readonly number[], best: number): number =>
        Number.isNaN(best) ? line.findIndex(Number.isNaN) : line.indexOf(best)
      const most = lines.map((line) => line.reduce((a, b) => Math.max(a, b)))
      const least = lines.map((line) => line.reduce((a, b) => Math.min(a, b)))
      expect(run((t) => cd.max(t as never, { axis: 1 } as never), x)).toEqual(most)
      expect(run((t) => cd.min(t as never, { axis: 1 } as never), x)).toEqual(least)
      expect(run((t) => cd.max(t as never), x)).toEqual([most.reduce((a, b) => Math.max(a, b))])
      expect(run((t) => cd.min(t as never), x)).toEqual([least.reduce((a, b) => Math.min(a, b))])
      expect(run((t) => cd.argmax(t as never, { axis: 1 } as never), x)).toEqual(lines.map((line, l) => first(line, most[l]!)))
      expect(run((t) => cd.argmin(t as never, { axis: 1 } as never), x)).toEqual(lines.map((line, l) => first(line, least[l]!)))
    }),
    { numRuns: count(80, 400) },
  )
})

it('maximum and minimum beside a bound that stays, on either side, are those of numbers one by one', () => {
  const special = [0, -0, 1, -1, 2.5, -2.5, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e-45, -1e-45, 3, 4]
  for (const dtype of ['f32', 'f64', 'i32'] as const)
    for (const [f, of] of [
      [cd.maximum, Math.max],
      [cd.minimum, Math.min],
    ] as const)
      for (const turned of [false, true]) {
        const g = cd.compile(
          ((x: E, c: E) => (turned ? f(c as never, x as never) : f(x as never, c as never))) as never,
          cpu,
        ) as unknown as (x: unknown, c: unknown) => cd.Tensor
        const xs = dtype === 'i32' ? special.filter(Number.isInteger) : special
        const x = cd.tensor(xs as never, [xs.length], dtype) as unknown as cd.Tensor
        for (const bound of xs) {
          const c = cd.tensor([bound], [], dtype) as unknown as cd.Tensor
          const want = Array.from(x.data as Float64Array, (v) => of(v, c.data[0]! as number))
          expect(Array.from(g(x, c).data as Float64Array), `${dtype} ${of.name} ${turned}: ${bound}`).toEqual(want)
          // Each with its own: no bound stays.
          const all = cd.tensor(xs.map(() => bound) as never, [xs.length], dtype)
          expect(Array.from(g(x, all).data as Float64Array), `${dtype} ${of.name} ${turned}: ${bound}`).toEqual(want)
        }
      }
})

it('rows of whole vectors and of one more are copied whole', () => {
  for (const [dtype, of] of [
    ['f32', Float32Array],
    ['f64', Float64Array],
    ['i32', Int32Array],
    ['bool', Uint8Array],
  ] as const)
    for (const n of [255, 256, 257, 1000]) {
      const data = new of(3 * n).map((_: number, i: number) => (dtype === 'bool' ? i % 2 : i))
      const f = cd.compile(((a: E) => [cd.slice(a, [0, 1], [3, n]), cd.concat([a, a] as never, { axis: 1 })]) as never, cpu)
      const [part, twice] = (f as unknown as (x: unknown) => readonly cd.Tensor[])(cd.tensor(data as never, [3, n], dtype)) as [
        cd.Tensor,
        cd.Tensor,
      ]
      const rows = [0, 1, 2].map((r) => Array.from(data.subarray(r * n, r * n + n), Number))
      expect(Array.from(part.data, Number), `${dtype} ${n}`).toEqual(rows.flatMap((r) => r.slice(1)))
      expect(Array.from(twice.data, Number), `${dtype} ${n}`).toEqual(rows.flatMap((r) => [...r, ...r]))
    }
})
