/** Loops whose states were written over while something still read them, with what they compute by plain loops over numbers. */
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
type Step = (carry: readonly E[], x?: E) => readonly [carry: unknown, y: unknown]
const { add, mul, sin, cos, sum, flip, at, set, addAt, grad } = cd as unknown as Readonly<
  Record<'add' | 'mul' | 'sin' | 'cos' | 'sum' | 'flip' | 'at' | 'set' | 'addAt' | 'grad', (...xs: readonly unknown[]) => E>
>
const scan = cd.scan as unknown as (f: Step, init: unknown, xs: unknown, o: object) => readonly [readonly E[], E]
const fori = cd.fori as unknown as (n: number, f: (i: E, c: readonly E[]) => unknown, init: unknown) => readonly E[]

export interface LoopCase {
  readonly name: string
  readonly f: (x: E) => unknown
  readonly x: readonly number[]
  readonly wanted: readonly number[]
}

const x = [0.7, -0.4, 1.1]
const repeated = <S>(n: number, f: (s: S, i: number) => S, s: S): S => Array.from({ length: n }).reduce((t: S, _, i) => f(t, i), s)
/** Slopes of a function of numbers, by differences of fourth order. */
const slopes = (f: (x: readonly number[]) => number, p: readonly number[]): number[] =>
  p.map((_, i) => {
    const h = 1e-3
    const moved = (by: number): number => f(p.map((v, j) => (i === j ? v + by * h : v)))
    return (8 * (moved(1) - moved(-1)) - (moved(2) - moved(-2))) / (12 * h)
  })

type Three = readonly [number[], number[], number[]]
const turned = ([a, b, c]: Three): Three => {
  const put = [0.5 * b[2]!, b[1]!, b[2]!]
  return [put.map((v, i) => v * Math.cos(a[i]!)), c, [...c].reverse()]
}
const turning = (p: readonly number[]): number => {
  const start: Three = [[...p], p.map((v) => 2 * v), p.map((v) => Math.sin(v))]
  return repeated(4, turned, start)
    .flat()
    .reduce((s, v) => s + Math.sin(v), 0)
}
/** The carries of a loop that puts into one of them, hands another on and turns the third round. */
const turn = (p: E): E => {
  const step: Step = (c) => [[mul(set(c[1], [0], mul(0.5, at(c[1], -1))), cos(c[0])), c[2], flip(c[2])], null]
  const [last] = scan(step, [p, mul(p, 2), sin(p)], null, { length: 4 })
  return last.map((v) => sum(sin(v))).reduce((a, b) => add(a, b))
}

const K = [0.3, -0.2, 0.9]
/** K beside an argument. */
const captured = (a: E): cd.Tensor => cd.tensor(a.dtype === 'f32' ? Float32Array.from(K) : K, [3])
export const loopCases: readonly LoopCase[] = [
  {
    name: 'a row accumulates on the state whose successor is copied',
    f: (a) => scan((c) => [mul(c, 2), addAt(c, [0], 7)], a, null, { length: 2 })[1],
    x: [1, 2, 3],
    wanted: [8, 2, 3, 9, 4, 6],
  },
  {
    name: 'a carry accumulates on another, which is replaced',
    f: (a) => scan(([p, q]) => [[mul(q, 2), addAt(p, [0], 7)], null], [a, mul(a, -1)], null, { length: 3 })[0],
    x,
    wanted: repeated(3, ([p, q]: readonly [number[], number[]]) => [q.map((v) => 2 * v), p.map((v, i) => (i === 0 ? v + 7 : v))] as const, [
      x,
      x.map((v) => -v),
    ] as readonly [number[], number[]]).flat(),
  },
  {
    name: 'what a step puts into a carry is read by what replaces another',
    f: turn,
    x,
    wanted: [turning(x)],
  },
  ...(['mixed', 'reverse', 'forward'] as const).map(
    (mode): LoopCase => ({
      name: `its gradient, ${mode}`,
      f: grad(turn, { mode }) as unknown as (x: E) => E,
      x,
      wanted: slopes(turning, x),
    }),
  ),
  {
    name: 'rows that dead code alone reads',
    f: (a) => {
      const [r, ys] = scan((c) => [[c[1], c[2], c[0]], c[0]], [a, mul(a, 0), captured(a)], null, { length: 3 })
      return fori(2, (_, c) => [c[0], mul(c[1], 1.5)], [sum(ys, { axis: 0 }), r[1]])[1]
    },
    x,
    wanted: [0, 0, 0],
  },
  {
    name: 'rows that dead code alone reads, of carries that move round once more',
    f: (a) => {
      const [r, ys] = scan((c) => [[c[1], c[2], c[0]], c[0]], [a, mul(a, 0), captured(a)], null, { length: 4 })
      return fori(2, (_, c) => [c[0], mul(c[1], 1.5)], [sum(ys, { axis: 0 }), r[1]])[1]
    },
    x,
    wanted: K.map((v) => 2.25 * v),
  },
]
