/** Random programs as programs of the library. */
import type { Program } from '../../../src/core/graph/program.js'
import * as cd from '../../../src/index.js'
import { type Api, argumentsOf, arrayOf, functionOf, type RandomProgram } from './program.js'

/** A program of values, and where there is one, of value, results and gradient in each of these modes. */
export const tracedOf = (
  p: RandomProgram,
  api: Api,
  modes: readonly string[],
): readonly [values: Program, derivatives: readonly Program[]] => {
  const f = functionOf(p, api)
  const arrays = argumentsOf(p).map(arrayOf)
  const wrt = arrays.flatMap((a, i) => (a.dtype === 'f64' || a.dtype === 'f32' ? [i] : []))
  const examples = arrays.map((a) => cd.tensor(a.data, a.shape, a.dtype))
  const traced = (g: unknown) => (cd.toProgram as unknown as (f: unknown) => (...xs: readonly unknown[]) => Program)(g)(...examples)
  const values = traced(f)
  const floats = values.outputs.flatMap((o, k) => (o.dtype === 'f64' || o.dtype === 'f32' ? [k] : []))
  if (wrt.length === 0 || floats.length === 0) return [values, []]
  const loss = (...xs: readonly unknown[]) => {
    const ys = f(...xs) as readonly cd.AnyExpr[]
    return [floats.map((k) => cd.sum(cd.sin(ys[k]!))).reduce((a, b) => cd.add(a, b)), ys]
  }
  const valueAndGrad = cd.valueAndGrad as unknown as (f: unknown, o: unknown) => unknown
  return [values, modes.map((mode) => traced(valueAndGrad(loss, { wrt, mode, aux: true })))]
}
