// Evaluation, derivatives and finite differences for the tests of elementwise rules.
import { evaluateNodes } from '../../src/backends/reference/index.js'
import { registryOf } from '../../src/core/calculus/rule.js'
import { isFloat } from '../../src/core/graph/aval.js'
import { applyAny, asExpr, asNode, input, type Node } from '../../src/core/graph/expr.js'
import { allocate, type NDArray } from '../../src/core/graph/ndarray.js'
import type { AnyPrimitive, Sample } from '../../src/core/graph/primitive.js'
import { sizeOf } from '../../src/core/graph/shape.js'
import type { Forced } from '../../src/core/graph/tangent.js'
import type { DType } from '../../src/core/types/dtype.js'
import type { AnyExpr } from '../../src/core/types/expr.js'
import { pullback, pushforward } from '../../src/modes/transform.js'
import { compareRules } from '../../src/rules/compare.js'
import { elementwiseRules } from '../../src/rules/elementwise.js'
import { layoutRules } from '../../src/rules/layout.js'
import { mapRules } from '../../src/rules/map.js'
import { reduceRules } from '../../src/rules/reduce.js'

export const registry = registryOf(
  [elementwiseRules, compareRules, layoutRules, reduceRules, mapRules].flatMap((family) => Object.values(family)),
)

/** Numbers in [0, 1), the same at every run. */
export const uniform = (seed: number): (() => number) => {
  let s = seed >>> 0
  return () => {
    s = (s + 0x6d2b79f5) >>> 0
    let t = Math.imul(s ^ (s >>> 15), s | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

export const arrayOf = (shape: readonly number[], dtype: DType, at: (i: number) => number): NDArray => {
  const data = allocate(dtype, sizeOf(shape))
  for (let i = 0; i < data.length; i++) data[i] = at(i)
  return { shape, dtype, data }
}
/** Arguments for one sample: f64 unless it says otherwise, or `dtype` for all its f64. */
export const argumentsOf = (sample: Sample, random: () => number, dtype: DType = 'f64'): NDArray[] =>
  sample.args.map((a) => {
    const d = a.dtype ?? dtype
    const [low, high] = a.domain ?? [-2, 2]
    return arrayOf(a.shape, d, (i) => {
      if (a.values !== undefined) return a.values[i]!
      const x = low + (high - low) * random()
      return isFloat(d) ? x : Math.floor(x)
    })
  })

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
export const isActive = (x: { readonly dtype: DType }): boolean => isFloat(x.dtype)

export const zerosOf = (x: { readonly shape: readonly number[]; readonly dtype: DType }): NDArray => arrayOf(x.shape, x.dtype, () => 0)
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
  const active = g.inputs.flatMap((x, i) => (isActive(x) ? [[x, seeds[i]!] as const] : []))
  const { tangents } = pushforward(registry, [g.output], new Map(active))
  return dense(tangents, [g.output], [...g.inputs, ...seeds], [...args, ...dxs])[0]!
}
/** Cotangents of the inputs for one of the output. */
export const backward = (g: Graph, args: readonly NDArray[], yBar: NDArray): NDArray[] => {
  const { output, seed } = gradient(g, g.inputs)
  return dense(output, g.inputs, [...g.inputs, seed], [...args, yBar])
}
/** Cotangents as expressions of the inputs and of one more input, the seed. */
export const gradient = (g: Graph, wrt: readonly Node[]): { readonly output: readonly Forced[]; readonly seed: Node } => {
  const seed = input(g.output.aval)
  return { output: pullback(registry, [g.output], [asExpr(seed)], wrt).cotangents, seed }
}

export const dot = (a: NDArray, b: NDArray): number => {
  let s = 0
  for (let i = 0; i < a.data.length; i++) s += a.data[i]! * b.data[i]!
  return s
}
export const dotAll = (xs: readonly NDArray[], ys: readonly NDArray[]): number =>
  xs.reduce((s, x, i) => (isActive(x) ? s + dot(x, ys[i]!) : s), 0)
/** args + h dxs for the float arguments. */
export const moved = (args: readonly NDArray[], dxs: readonly NDArray[], h: number): NDArray[] =>
  args.map((a, i) => (isActive(a) ? arrayOf(a.shape, a.dtype, (k) => a.data[k]! + h * dxs[i]!.data[k]!) : a))
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
