// Which operations of numbers have which signature: one line of the table for each kind.
import type { BinaryOp, CompareOp, FloatBinaryOp, FloatUnary, FloatUnaryOp, UnaryOp } from './elementwise.js'

type UnaryNames = 'neg' | 'abs' | 'square' | 'sign' | 'relu'
type FloatUnaryNames =
  | 'reciprocal'
  | 'sqrt'
  | 'rsqrt'
  | 'cbrt'
  | 'exp'
  | 'exp2'
  | 'expm1'
  | 'log'
  | 'log2'
  | 'log10'
  | 'log1p'
  | 'sin'
  | 'cos'
  | 'tan'
  | 'asin'
  | 'acos'
  | 'atan'
  | 'sinh'
  | 'cosh'
  | 'tanh'
  | 'asinh'
  | 'acosh'
  | 'atanh'
  | 'erf'
  | 'erfc'
  | 'floor'
  | 'ceil'
  | 'round'
  | 'lgamma'
  | 'sigmoid'
  | 'softplus'
/** Made of other operations: no primitives of their own. */
type ComposedNames = 'digamma' | 'trigamma' | 'degrees' | 'radians' | 'silu' | 'selu' | 'mish' | 'softsign' | 'logSigmoid'
type BinaryNames = 'add' | 'sub' | 'mul' | 'maximum' | 'minimum' | 'mod'
type FloatBinaryNames = 'div' | 'pow' | 'atan2' | 'hypot' | 'logaddexp' | 'copysign' | 'xlogy' | 'strongMul'
type CompareNames = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge'

/** Elementwise operations by name. */
export type Elementwise = { readonly [K in UnaryNames]: UnaryOp<K> } & { readonly [K in FloatUnaryNames]: FloatUnaryOp<K> } & {
  readonly [K in ComposedNames]: FloatUnary
} & { readonly [K in BinaryNames]: BinaryOp<K> } & { readonly [K in FloatBinaryNames]: FloatBinaryOp<K> } & {
  readonly [K in CompareNames]: CompareOp<K>
}
