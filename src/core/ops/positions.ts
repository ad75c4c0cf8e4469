/** iota: each element's position along an axis. */
import { badInput, showShape } from '../errors/explain.js'
import { aval } from '../graph/aval.js'
import { dtypeCodec } from '../graph/cast.js'
import { natural, naturals, record } from '../graph/codec.js'
import { apply, asExpr, asNode, constant, type Node } from '../graph/expr.js'
import { type Primitive, primitive } from '../graph/primitive.js'
import type { DType } from '../types/dtype.js'
import { add, where } from './arithmetic.js'
import { ge, le } from './compare.js'
import { aroundAxis } from './reduce.js'

export interface IotaParams {
  readonly shape: readonly number[]
  readonly axis: number
  readonly dtype: DType
}

export const iotaPrimitive: Primitive<'iota', IotaParams, readonly []> = primitive({
  name: 'iota',
  unbounded: false,
  family: 'positions',
  args: [],
  codec: record({ shape: naturals, axis: natural, dtype: dtypeCodec }),
  shapeRule: (_args, { shape, axis, dtype }) => {
    if (!(Number.isInteger(axis) && axis >= 0 && axis < shape.length) || dtype === 'bool')
      badInput('iota', `no ${dtype} numbers along axis ${axis} of ${showShape(shape)}.`)
    return aval(shape, dtype)
  },
  meaning: (_args, { shape, axis }, [out]) => {
    const { before, size, after } = aroundAxis(shape, axis)
    const { data } = out!
    for (let b = 0, at = 0; b < before; b++)
      for (let i = 0; i < size; i++, at += after)
        if (after === 1) data[at] = i
        else data.fill(i, at, at + after)
  },
  samples: [
    { args: [], params: { shape: [4], axis: 0, dtype: 'i32' } },
    { args: [], params: { shape: [2, 3], axis: 1, dtype: 'f64' } },
    { args: [], params: { shape: [2, 3, 2], axis: 0, dtype: 'f32' } },
    { args: [], params: { shape: [0, 2], axis: 1, dtype: 'i32' } },
  ],
  showParams: ({ shape, axis }) => `${showShape(shape)} axis ${axis}`,
  source: 'XLA Iota',
})
/** Each element's position along an axis. */
export const iotaNode = (shape: readonly number[], axis: number, dtype: DType): Node => apply(iotaPrimitive, [], { shape, axis, dtype })
/** Matrices with zeros above their k-th diagonal, or below it. */
export const triangleOf = (op: 'tril' | 'triu', n: Node, k: number): Node => {
  const [height, width] = n.shape.slice(-2) as [number, number]
  const rows = asExpr(iotaNode([height, 1], 0, 'i32'))
  const columns = asExpr(iotaNode([1, width], 1, 'i32'))
  // Beyond the corners nothing changes, and an i32 has an end.
  const last = add(rows, Math.max(-height, Math.min(k, width)))
  const kept = op === 'tril' ? le(columns, last) : ge(columns, last)
  return asNode(where(kept, asExpr(n), asExpr(constant(0, n.dtype))))
}
