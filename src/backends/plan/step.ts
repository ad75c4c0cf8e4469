/** Steps as data: which kernel runs at which sizes, and where its operands lie. */
import { sameShape } from '../../core/graph/shape.js'
import type { OpaqueKernel } from './kernel.js'

/** Where an operand lies: a storage (or a constant slot), a byte offset, and byte strides along the loop's axes. */
export interface Operand {
  /** Storage number; constants are -1 - slot. */
  readonly storage: number
  readonly offset: number
  readonly strides: readonly number[]
  /** f32 elements stored as f16, of two bytes: offset and strides count those. */
  readonly f16?: true
  /** Read where the caller has it: its number among those that the step reads so. */
  readonly given?: number
  /** Bytes by which it moves with each iteration of the loops around its step, the outermost first; absent where it stays. */
  readonly advance?: readonly number[]
}

/** Do two operands lie alike at every point, and in every iteration? */
export const aligns = (a: Lying, b: Lying): boolean =>
  a.offset === b.offset &&
  sameShape(a.strides, b.strides) &&
  (a.advance === b.advance ||
    Array.from({ length: Math.max(a.advance?.length ?? 0, b.advance?.length ?? 0) }).every(
      (_, d) => (a.advance?.[d] ?? 0) === (b.advance?.[d] ?? 0),
    ))
type Lying = Pick<Operand, 'offset' | 'strides' | 'advance'>

/**
 * One kernel call. What a kernel adds to (an accumulating fold, C of C += A B, an argument in place) is among the writes alone: its last
 * state is what they hold before.
 */
export interface Step {
  /** Index into the plan's kernels. */
  readonly kernel: number
  /** loop: axis lengths. gemm: batch, m, n, k. opaque: none. */
  readonly sizes: readonly number[]
  /** loop: inputs. gemm: A, B. opaque: arguments, in order. */
  readonly reads: readonly Operand[]
  /** loop: outputs. gemm: C. opaque: results, in order. */
  readonly writes: readonly Operand[]
  readonly flops: number
}
/** What a kernel is run on. */
export type Work = Pick<Step, 'sizes' | 'reads' | 'writes'>

/** Where the arguments of an opaque step lie: an accumulator is its first result. */
export const argumentsOf = ({ inPlace, args }: OpaqueKernel, { reads, writes }: Work): readonly Operand[] => {
  let next = 0
  return args.map((_, i) => (i === inPlace ? writes[0]! : reads[next++]!))
}
