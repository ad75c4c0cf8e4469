/** Numbers that are drawn where differences move their parameters: each keeps its place in its distribution. */
import { aval } from '../core/graph/aval.js'
import { evaluateNodes } from '../core/graph/evaluate.js'
import { applyMulti, input, linearize, type Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import { declared } from '../core/graph/primitive.js'
import { type CustomDistribution, type CustomParams, customPrimitive } from '../core/ops/custom.js'

/** The distribution function of what an application draws, if it draws. */
export const distributionOf = (n: Node): CustomDistribution | undefined =>
  n.prim === customPrimitive ? (n.payload as CustomParams).distribution : undefined

/** A distribution as a function of arrays. */
type Distribution = (ys: readonly NDArray[], xs: readonly NDArray[]) => readonly NDArray[]
interface PlaceParams {
  readonly results: number
  readonly distribution: Distribution
}
const STEPS = 30
/** The digits that a root is wanted to. */
const DONE = 2 ** -51

/** y + d with F(y + d) = u element by element, from y: by secants, halved where they leave the domain. */
const solved = (F: (y: Float64Array) => ArrayLike<number>, y0: Float64Array, u: ArrayLike<number>): Float64Array => {
  const y = y0.slice()
  let before = y0.map((x) => (x === 0 ? 1e-7 : x * (1 + 1e-7)))
  let [offBefore, off] = [F(before), F(y)].map((v) => Float64Array.from(v, (x, i) => x - u[i]!)) as [Float64Array, Float64Array]
  for (let k = 0; k < STEPS; k++) {
    const last = y.slice()
    let moved = false
    for (let i = 0; i < y.length; i++) {
      const slope = (off[i]! - offBefore[i]!) / (y[i]! - before[i]!)
      const step = off[i] === 0 || slope === 0 || !Number.isFinite(slope) ? 0 : -off[i]! / slope
      if (Math.abs(step) <= DONE * Math.abs(y[i]!)) continue
      y[i] = y[i]! + step
      moved = true
    }
    if (!moved) break
    let next = F(y)
    for (let h = 0; h < STEPS && Array.from(next).some((x) => !Number.isFinite(x)); h++) {
      for (let i = 0; i < y.length; i++) if (!Number.isFinite(next[i]!)) y[i] = (y[i]! + last[i]!) / 2
      next = F(y)
    }
    before = last
    offBefore = off
    off = Float64Array.from(next, (x, i) => x - u[i]!)
  }
  return y
}

/** Results y at arguments x, at the arguments x': those y' with F(y', x') = F(y, x). */
const samePlace = declared({
  name: 'samePlace',
  family: 'check',
  args: ['float'] as readonly 'float'[],
  variadic: true,
  multi: true,
  dtypes: 'own',
  shapeRule: (args, { results }: PlaceParams) => args.slice(0, results).map((a) => aval(a.shape, a.dtype)),
  meaning: (args, { results, distribution }: PlaceParams, outs) => {
    const n = (args.length - results) / 2
    const [ys, from, to] = [args.slice(0, results), args.slice(results, results + n), args.slice(results + n)]
    const same = from.every((a, i) => a.data.every((x, k) => Object.is(x, to[i]!.data[k])))
    const places = same ? [] : distribution(ys, from)
    ys.forEach((y, r) => {
      const start = Float64Array.from(y.data)
      const F = (data: Float64Array): ArrayLike<number> =>
        distribution(
          ys.map((v, i) => (i === r ? { ...v, data } : v)),
          to,
        )[r]!.data
      outs[r]!.data.set((same ? start : solved(F, start, places[r]!.data)) as never)
    })
  },
  source: 'the place in a distribution',
})

/** What stands in the place of an application that draws, at a point: its inputs that are held, and the node. */
export const heldInPlace = (
  n: Node,
  args: readonly Node[],
  values: { readonly ys: readonly NDArray[]; readonly xs: readonly NDArray[] },
): { readonly ys: readonly Node[]; readonly held: readonly (readonly [Node, NDArray])[] } => {
  const by = distributionOf(n)!
  const [vs, us] = [values.ys, values.xs].map((list) => list.map((v) => input(aval(v.shape, v.dtype)))) as [Node[], Node[]]
  const program = by(vs, us)
  const distribution: Distribution = (ys, xs) =>
    evaluateNodes(program, new Map([...vs.map((v, i) => [v, ys[i]!] as const), ...us.map((u, i) => [u, xs[i]!] as const)]))
  const [held, from] = [values.ys, values.xs].map((list) => list.map((v) => [input(aval(v.shape, v.dtype)), v] as const)) as [
    (readonly [Node, NDArray])[],
    (readonly [Node, NDArray])[],
  ]
  const ys = applyMulti(samePlace, [...held.map(([x]) => x), ...from.map(([x]) => x), ...args], { results: held.length, distribution })
  return { ys, held: [...held, ...from] }
}
/** Does a program draw? */
export const drawsIn = (nodes: readonly Node[]): readonly Node[] => linearize(nodes).nodes.filter((n) => distributionOf(n) !== undefined)
