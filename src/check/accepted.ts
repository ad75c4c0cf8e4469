/** What a shape rule says of a sample. */
import { isAdException } from '../core/errors/error.js'
import { type Aval, aval } from '../core/graph/aval.js'
import type { AnyPrimitive, Sample } from '../core/graph/primitive.js'

const isShape = (shape: readonly number[]): boolean => shape.every((d) => Number.isInteger(d) && d >= 0)
/** The avals of the results; undefined where the primitive refuses such arguments or parameters. */
export const resultAvalsOf = (prim: AnyPrimitive, { args, params }: Sample, float: 'f64' | 'f32' = 'f64'): readonly Aval[] | undefined => {
  try {
    const given = prim.shapeRule(
      args.map((a) => aval(a.shape, a.dtype ?? float)),
      params,
    )
    const list = prim.multi ? (given as readonly Aval[]) : [given as Aval]
    return list.every((a) => isShape(a.shape)) ? list.map((a) => aval(a.shape, a.dtype)) : undefined
  } catch (e) {
    if (isAdException(e)) return undefined
    throw e
  }
}
