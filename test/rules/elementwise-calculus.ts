// Evaluation, derivatives and finite differences for the tests of elementwise rules.
import { evaluateNodes } from '../../src/backends/reference/index.js'
import { registryOf } from '../../src/core/calculus/rule.js'
import { isFloat } from '../../src/core/graph/aval.js'
import { applyAny, asExpr, asNode, input, type Node } from '../../src/core/graph/expr.js'
import { allocate, type NDArray } from '../../src/core/graph/ndarray.js'
import type { AnyPrimitive } from '../../src/core/graph/primitive.js'
import { sizeOf } from '../../src/core/graph/shape.js'
import type { Forced } from '../../src/core/graph/tangent.js'
import type { DType } from '../../src/core/types/dtype.js'
import type { AnyExpr } from '../../src/core/types/expr.js'
import { pullback, pushforward } from '../../src/modes/transform.js'
import { ruleFamilies } from '../../src/packs/all.js'
import { compareRules } from '../../src/rules/compare.js'
import { layoutRules } from '../../src/rules/layout.js'
import { mapRules } from '../../src/rules/map.js'
import { reduceRules } from '../../src/rules/reduce.js'

export const registry = registryOf(
  [ruleFamilies.elementwise, compareRules, layoutRules, reduceRules, mapRules].flatMap((family) => Object.values(family)),
)

export const arrayOf = (shape: readonly number[], dtype: DType, at: (i: number) => number): NDArray => {
  const data = allocate(dtype, sizeOf(shape))
  for (let i = 0; i < data.length; i++) data[i] = at(i)
  return { shape, dtype, data }
}
/** One function of arrays: its inputs as expressions, and what it computes. */
export interface Graph {
  readonly inputs: readonly Node[]
  readonly output: Node
}
export const graphOf = (args: readonly NDArray[], f: (xs: readonly AnyExpr[]) => AnyExpr): Graph => {
  const inputs = args.map((a) => input({ shape: a.shape, dtype: a.dtype, size: sizeOf(a.shape) }))
  return { inputs, output: asNode(f(inputs.map(asExpr))) }
}
export const primitiveGraph = (prim: AnyPrimitive, params: unknown, args: readonly NDArray[]): Graph =>
  graphOf(args, (xs) => asExpr(applyAny(prim, xs.map(asNode), params)[0]!))

export const evaluate = (nodes: readonly Node[], inputs: readonly Node[], args: readonly NDArray[]): NDArray[] =>
  evaluateNodes(nodes, new Map(inputs.map((x, i) => [x, args[i]!])))
const zerosOf = (x: { readonly shape: readonly number[]; readonly dtype: DType }): NDArray => arrayOf(x.shape, x.dtype, () => 0)
/** The array of a tangent, zeros where it is a symbolic zero. */
const dense = (ts: readonly Forced[], like: readonly Node[], inputs: readonly Node[], args: readonly NDArray[]): NDArray[] => {
  const nodes = ts.flatMap((t) => (t._tag === 'Expr' ? [asNode(t)] : []))
  const values = evaluate(nodes, inputs, args)
  let k = 0
  return ts.map((t, i) => (t._tag === 'Expr' ? values[k++]! : zerosOf(like[i]!)))
}

/** Tangent of the output for tangents of the float inputs. */
export const forward = (g: Graph, args: readonly NDArray[], dxs: readonly NDArray[]): NDArray => {
  const seeds = g.inputs.map((x) => input(x.aval))
  const active = g.inputs.flatMap((x, i) => (isFloat(x.dtype) ? [[x, seeds[i]!] as const] : []))
  const { tangents } = pushforward(registry, [g.output], new Map(active))
  return dense(tangents, [g.output], [...g.inputs, ...seeds], [...args, ...dxs])[0]!
}
/** Cotangents of the inputs for one of the output. */
export const backward = (g: Graph, args: readonly NDArray[], yBar: NDArray): NDArray[] => {
  const { output, seed } = gradient(g, g.inputs)
  return dense(output, g.inputs, [...g.inputs, seed], [...args, yBar])
}
/** Cotangents as expressions of the inputs and of one more input, the seed. */
const gradient = (g: Graph, wrt: readonly Node[]): { readonly output: readonly Forced[]; readonly seed: Node } => {
  const seed = input(g.output.aval)
  return { output: pullback(registry, [g.output], [asExpr(seed)], wrt).cotangents, seed }
}

/** Derivative of f at 0 by five central points. */
export const fivePoints = (f: (h: number) => number, h: number): number => (f(-2 * h) - 8 * f(-h) + 8 * f(h) - f(2 * h)) / (12 * h)

/** The one number of a function of one number, and its derivatives up to `order`, by repeated pullbacks. */
export const derivatives = (f: (x: AnyExpr) => AnyExpr, x: number, order: number, dtype: DType = 'f64'): number[] => {
  const args = [arrayOf([], dtype, () => x)]
  const first = graphOf(args, ([e]) => f(e!))
  const out = [evaluate([first.output], first.inputs, args)[0]!.data[0]!]
  let g: Graph = first
  for (let k = 0; k < order; k++) {
    const one = input(g.output.aval)
    const { cotangents } = pullback(registry, [g.output], [asExpr(one)], [first.inputs[0]!])
    const c = cotangents[0]!
    if (c._tag !== 'Expr') return [...out, ...new Array<number>(order - k).fill(0)]
    const inputs = [...g.inputs, one]
    const values = [args[0]!, ...new Array<NDArray>(inputs.length - 1).fill(arrayOf([], dtype, () => 1))]
    out.push(evaluate([asNode(c)], inputs, values)[0]!.data[0]!)
    g = { inputs, output: asNode(c) }
  }
  return out
}
