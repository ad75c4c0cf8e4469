/** The same expression in f64: f32 inputs, literals, casts and inner programs are replaced, so that rounding hides no error. */
import { aval } from '../core/graph/aval.js'
import { programsOf } from '../core/graph/expand.js'
import { applyAny, CONST, capturedTensor, constant, input, linearize, type Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import type { AnyPrimitive } from '../core/graph/primitive.js'
import { makeProgram, type Program } from '../core/graph/program.js'
import { rewrite } from '../core/graph/rewrite.js'
import { Tensor } from '../core/graph/tensor.js'
import { type CustomParams, customPrimitive } from '../core/ops/custom.js'
import { retypedParams } from '../rules/custom.js'

/** Parameters with f32 replaced, in their programs too. */
const liftedParams = (prim: AnyPrimitive, params: unknown): unknown => {
  if (prim === customPrimitive) {
    const own = params as CustomParams
    return retypedParams(own, liftedProgram(own.program), (nodes, to) => lifted(nodes, to))
  }
  const programs = programsOf(prim, params)
  const within = programs.length === 0 ? params : prim.withPrograms!(params, programs.map(liftedProgram))
  return (within as { readonly dtype?: unknown }).dtype === 'f32' ? { ...(within as object), dtype: 'f64' } : within
}

const liftedProgram = (p: Program): Program => {
  if (!linearize(p.outputs).nodes.some((n) => n.dtype === 'f32')) return p
  const inputs = p.inputs.map((x) => (x.dtype === 'f32' ? input(aval(x.shape, 'f64')) : x))
  const outputs = lifted(p.outputs, new Map(p.inputs.map((x, i) => [x, inputs[i]!])))
  return makeProgram({ ...p, inputs, outputs })
}

/** `outputs` over replaced inputs, in f64; captured f32 tensors are copies of what they are now. */
export const lifted = (outputs: readonly Node[], replaced: ReadonlyMap<Node, Node>): readonly Node[] => {
  const at = (n: Node): Node | undefined => {
    const to = replaced.get(n)
    if (to !== undefined || n.dtype !== 'f32') return to
    if (n.kind === CONST) return constant(n.payload as number, 'f64')
    const tensor = capturedTensor(n)
    return tensor === undefined ? undefined : new Tensor(tensor.shape, 'f64', Float64Array.from(tensor.data)).node
  }
  return rewrite(outputs, { at, apply: ({ prim, payload: data }, args) => applyAny(prim!, args, liftedParams(prim!, data)) })
}

/** An array in f64. */
export const inF64 = (a: NDArray): NDArray => (a.dtype === 'f32' ? { ...a, dtype: 'f64', data: Float64Array.from(a.data) } : a)
/** An array of f64 rounded to f32. */
export const inF32 = (a: NDArray): NDArray => (a.dtype === 'f64' ? { ...a, dtype: 'f32', data: Float32Array.from(a.data) } : a)
