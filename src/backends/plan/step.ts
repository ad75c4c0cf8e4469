/** Steps as data: which kernel runs at which sizes, and where its operands lie. */

/** Where an operand lies: a storage (or a constant slot), a byte offset, and byte strides along the loop's axes. */
export interface Operand {
  /** Storage number; constants are -1 - slot. */
  readonly storage: number
  readonly offset: number
  readonly strides: readonly number[]
  /** f32 elements stored as f16, of two bytes: offset and strides count those. */
  readonly half?: true
}

/** One kernel call. Operands of a loop: inputs, then outputs; of a gemm: C, A, B; of an opaque kernel: results, then arguments. */
export interface Step {
  /** Index into the plan's kernels. */
  readonly kernel: number
  /** loop: axis lengths. gemm: batch, m, n, k. opaque: none. */
  readonly sizes: readonly number[]
  readonly operands: readonly Operand[]
  /** How many of the operands are written: outputs of a loop are last, of the others first. */
  readonly writes: number
  readonly flops: number
}
