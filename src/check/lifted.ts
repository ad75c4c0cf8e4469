/** The same expression in f64: f32 inputs, literals, casts and inner programs are replaced, so that rounding hides no error. */
import { aval } from '../core/aval.js'
import { APPLY, applyAny, CONST, constant, INPUT, input, linearize, type Node, OUTPUT } from '../core/expr.js'
import type { NDArray } from '../core/ndarray.js'
import { capturedTensor, makeProgram, type Program } from '../core/program.js'

const isProgram = (x: unknown): x is Program =>
  typeof x === 'object' && x !== null && 'inputTree' in x && 'outputTree' in x && 'captured' in x

/** Parameters with f32 replaced, in inner programs too. */
const liftedParams = (params: unknown): unknown => {
  if (typeof params !== 'object' || params === null) return params
  let changed = false
  const out: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(params)) {
    const next = key === 'dtype' && value === 'f32' ? 'f64' : isProgram(value) ? liftedProgram(value) : value
    if (next !== value) changed = true
    out[key] = next
  }
  return changed ? out : params
}

const liftedProgram = (p: Program): Program => {
  if (!linearize(p.outputs).nodes.some((n) => n.dtype === 'f32')) return p
  const inputs = p.inputs.map((x) => (x.dtype === 'f32' ? input(aval(x.shape, 'f64')) : x))
  const { outputs } = lifted(p.outputs, new Map(p.inputs.map((x, i) => [x, inputs[i]!])))
  return makeProgram({ ...p, inputs, outputs })
}

/** `outputs` over replaced inputs, in f64; captured f32 tensors become inputs with the values given back. */
export const lifted = (
  outputs: readonly Node[],
  replaced: ReadonlyMap<Node, Node>,
): { readonly outputs: readonly Node[]; readonly captured: ReadonlyMap<Node, NDArray> } => {
  const { nodes, index } = linearize(outputs)
  const captured = new Map<Node, NDArray>()
  const made: (readonly Node[])[] = []
  for (const n of nodes) {
    const to = replaced.get(n)
    if (to !== undefined) made.push([to])
    else if (n.kind === CONST) made.push([n.dtype === 'f32' ? constant(n.data as number, 'f64') : n])
    else if (n.kind === OUTPUT) made.push([made[index.get(n.args[0]!)]![n.data as number]!])
    else if (n.kind === INPUT) {
      const tensor = capturedTensor(n)
      if (n.dtype !== 'f32' || tensor === undefined) made.push([n])
      else {
        const x = input(aval(n.shape, 'f64'))
        captured.set(x, { shape: n.shape, dtype: 'f64', data: Float64Array.from(tensor.data) })
        made.push([x])
      }
    } else if (n.kind === APPLY)
      made.push(
        applyAny(
          n.prim!,
          n.args.map((a) => made[index.get(a)]![0]!),
          liftedParams(n.data),
        ),
      )
  }
  return { outputs: outputs.map((o) => made[index.get(o)]![0]!), captured }
}

/** An array in f64. */
export const inF64 = (a: NDArray): NDArray => (a.dtype === 'f32' ? { ...a, dtype: 'f64', data: Float64Array.from(a.data) } : a)
/** An array of f64 rounded to f32. */
export const inF32 = (a: NDArray): NDArray => (a.dtype === 'f64' ? { ...a, dtype: 'f32', data: Float32Array.from(a.data) } : a)
