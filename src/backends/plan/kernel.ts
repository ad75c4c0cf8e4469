/** Kernels as data: what a plan's steps run, free of any backend. Sizes, strides and addresses belong to the step, not to the kernel. */
import type { AnyPrimitive } from '../../core/graph/primitive.js'
import type { DType } from '../../core/types/dtype.js'

/** One scalar operation. Values are numbered: inputs first, then one per op. */
export interface BodyOp {
  readonly prim: AnyPrimitive
  readonly params: unknown
  readonly args: readonly number[]
  readonly dtype: DType
}
/** A closed scalar program: what one point of a loop computes. `results` are value numbers. */
export interface Body {
  readonly inputs: readonly DType[]
  readonly ops: readonly BodyOp[]
  readonly results: readonly number[]
}

/**
 * Stride of an operand along the innermost loop: one element, none (the same element at every point), or whatever the step says. What is read `turned` lies side by side along the axis around that one, so
 * that some points of both can be read as vectors.
 */
export type Access = 'unit' | 'zero' | 'any' | 'turned'
export type Fold = 'sum' | 'prod' | 'max' | 'min'
/** The fold over axes that a primitive is. */
export const foldBy = ({ structure }: AnyPrimitive): Fold | undefined => (structure?.kind === 'fold' ? structure.by : undefined)
/** What a fold of nothing is. */
export const identityOf = (op: Fold, dtype: DType): number => {
  if (op === 'sum' || op === 'prod') return op === 'sum' ? 0 : 1
  if (dtype === 'bool') return op === 'max' ? 0 : 1
  if (dtype === 'i32') return op === 'max' ? -(2 ** 31) : 2 ** 31 - 1
  return op === 'max' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
}

export interface LoopOutput {
  readonly dtype: DType
  readonly access: Access
  /**
   * Absent: every point stores its value. Present: values are folded over the loop axes marked true (the step's strides are 0
   * there); `accumulate` folds into what the buffer holds, otherwise the fold starts from its identity. max and min keep NaN.
   */
  readonly fold?: { readonly op: Fold; readonly axes: readonly boolean[]; readonly accumulate: boolean }
}

/**
 * A loop nest over `rank` axes, outermost first, row-major: at each point the body reads its inputs and yields one value per
 * output (`body.results[i]` goes to `outputs[i]`). Fused elementwise operations, broadcasts, strided copies and reductions are all this.
 * An output may alias an input only with the same address and strides.
 */
export interface LoopKernel {
  readonly kind: 'loop'
  readonly rank: number
  readonly body: Body
  readonly inputs: readonly Access[]
  readonly outputs: readonly LoopOutput[]
}

/** How a product is computed, where a backend has several ways: times a vector; of few rows, or of few columns, with a large matrix; in blocks. */
export type ProductForm = 'vector' | 'few rows' | 'few columns' | 'blocks'
/** The form of a product of `sizes` (batch, m, n, k) by the distances, in bytes, of matrices, rows and columns of A, B and C. `eager`: also a form that does not pay for so few elements, as tests of small arrays want it. */
export type ProductFormOf = (
  dtype: 'f32' | 'f64',
  sizes: readonly number[],
  a: readonly number[],
  b: readonly number[],
  c: readonly number[],
  eager?: boolean,
) => ProductForm

/** C = A B, or C += A B. Strides are free, but C has unit column stride. */
export interface GemmKernel {
  readonly kind: 'gemm'
  readonly form?: ProductForm
  /** The product that it is of: its facet says how it is computed. */
  readonly prim: AnyPrimitive
  readonly dtype: 'f32' | 'f64'
  readonly accumulate: boolean
}

/** A primitive run as a whole over contiguous row-major arrays; a backend may have its own kernel for it by name, else its meaning runs. */
export interface OpaqueKernel {
  readonly kind: 'opaque'
  readonly prim: AnyPrimitive
  readonly params: unknown
  readonly args: readonly { readonly shape: readonly number[]; readonly dtype: DType }[]
  readonly results: readonly { readonly shape: readonly number[]; readonly dtype: DType }[]
  /** Argument k's buffer is result 0's: the primitive adds into it (an accumulator whose last read this is). */
  readonly inPlace: number | undefined
}

export type Kernel = LoopKernel | GemmKernel | OpaqueKernel
