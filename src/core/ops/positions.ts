/** iota: each element's position along an axis. */
import { badInput, showShape } from '../errors/explain.js'
import { aval } from '../graph/aval.js'
import { dtypeCodec } from '../graph/cast.js'
import { natural, naturals, record } from '../graph/codec.js'
import { apply, type Node } from '../graph/expr.js'
import { type Primitive, primitive } from '../graph/primitive.js'
import type { DType } from '../types/dtype.js'
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
