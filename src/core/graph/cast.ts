/** `cast`: the primitive that changes a dtype; here because lifting of literals and promotion need it. */
import type { DType } from '../types/dtype.js'
import { aval, isFloat, sameAval } from './aval.js'
import { type Codec, oneOf, record } from './codec.js'
import { apply, CONST, constant, type Node } from './expr.js'
import { type Primitive, primitive } from './primitive.js'

export interface CastParams {
  readonly dtype: DType
}
export const dtypeCodec: Codec<DType> = oneOf('f64', 'f32', 'i32', 'bool')
const paramsOf: Readonly<Record<DType, CastParams>> = {
  f64: { dtype: 'f64' },
  f32: { dtype: 'f32' },
  i32: { dtype: 'i32' },
  bool: { dtype: 'bool' },
}

const toI32 = (x: number): number => (Number.isNaN(x) ? 0 : Math.min(2147483647, Math.max(-2147483648, Math.trunc(x))))
/** x in the dtype: f32 rounds to nearest even, i32 truncates and saturates (NaN is 0), bool is x != 0. */
export const castScalar = (x: number, dtype: DType): number =>
  dtype === 'f32' ? Math.fround(x) : dtype === 'i32' ? toI32(x) : dtype === 'bool' ? (x !== 0 ? 1 : 0) : x

/** y = x in another dtype. Source: IEEE 754; integer conversion saturates as WebAssembly's trunc_sat. */
export const castPrimitive: Primitive<'cast', CastParams, readonly ['float']> = primitive({
  name: 'cast',
  unbounded: false,
  family: 'elementwise',
  args: ['float'],
  class: 'elementwise',
  codec: record({ dtype: dtypeCodec }),
  dtypes: ['any'],
  shapeRule: ([x], { dtype }) => {
    const a = aval(x!.shape, dtype)
    return sameAval(a, x!) ? x! : a
  },
  scalarWith:
    ({ dtype }) =>
    (x) =>
      castScalar(x!, dtype),
  meaning: ([x], { dtype }, [out]) => {
    for (let i = 0; i < out!.data.length; i++) out!.data[i] = castScalar(x!.data[i]!, dtype)
  },
  samples: [
    { args: [{ shape: [2, 3] }], params: paramsOf.f64 },
    { args: [{ shape: [] }], params: paramsOf.f32 },
    { args: [{ shape: [4], domain: [-5, 5] }], params: paramsOf.i32 },
    { args: [{ shape: [4], dtype: 'i32', domain: [-2, 3] }], params: paramsOf.bool },
    { args: [{ shape: [4], dtype: 'bool', domain: [0, 2] }], params: paramsOf.f64 },
    { args: [{ shape: [4], dtype: 'i32', domain: [-9, 9] }], params: paramsOf.f32 },
  ],
  showParams: ({ dtype }) => dtype,
  source: 'IEEE 754-2019, 5.4',
})

/** What f makes of booleans as numbers, as booleans again: f picks among elements, and has no kernels for bool. */
export const throughI32 = (n: Node, f: (n: Node) => Node): Node => (n.dtype === 'bool' ? castNode(f(castNode(n, 'i32')), 'bool') : f(n))

/** x in `dtype`; literals are converted at once. */
export const castNode = (x: Node, dtype: DType): Node => {
  if (x.aval.dtype === dtype) return x
  if (x.kind === CONST && isFloat(dtype)) return constant(x.payload as number, dtype)
  return apply(castPrimitive, [x], paramsOf[dtype])
}
