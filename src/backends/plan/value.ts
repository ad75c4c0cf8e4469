/** Values: what the planner numbers instead of nodes, and the program that they make. */
import type { AnyPrimitive } from '../../core/graph/primitive.js'
import type { Tensor } from '../../core/graph/tensor.js'
import type { DType } from '../../core/types/dtype.js'

/** How a value's elements lie in the storage of its base: element offset and element strides. */
export interface View {
  readonly base: number
  readonly offset: number
  readonly strides: readonly number[]
}

export type ValueKind =
  | 'input'
  | 'const'
  | 'scalar'
  | 'program'
  | 'fold'
  | 'gemm'
  | 'concat'
  | 'pad'
  | 'sliceAdd'
  | 'opaque'
  | 'repeat'
  | 'result'
  | 'copy'
  | 'view'

/** One value. `args` are value numbers. */
export interface Value {
  readonly id: number
  readonly kind: ValueKind
  readonly shape: readonly number[]
  readonly size: number
  readonly dtype: DType
  readonly prim: AnyPrimitive | null
  readonly params: unknown
  readonly args: readonly number[]
  /** Set for `view`; every other value is contiguous in a storage of its own. */
  readonly view?: View
  /** The value whose storage holds its elements: itself, unless it is a view. */
  readonly base: number
  /** Literals, and scalar functions of literals alone: cheap to make anywhere. */
  readonly constant: boolean
  /** Which result of its argument a `result` is; which literal of its builder a `const` is. */
  readonly position: number
}

export interface Ir {
  readonly values: readonly Value[]
  readonly outputs: readonly number[]
  /** Value of each program input; -1 when nothing reads it. */
  readonly inputs: readonly number[]
  readonly captured: readonly { readonly value: number; readonly tensor: Tensor }[]
  readonly consts: readonly { readonly value: number; readonly number: number }[]
  /** Inputs that may be written over: carries that go round in one place, of a step's values. Known when the step is emitted. */
  readonly carried?: ReadonlySet<number>
  /** Structure without the numbers in constant slots: what a plan cache compares. */
  readonly key: Int32Array
}

/** Bytes of one element of each dtype, in a backend's memory. */
export type ItemBytes = Readonly<Record<DType, number>>
