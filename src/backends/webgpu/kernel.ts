/** The forms of WebGPU's kernels: an expression of one element, and whole primitives as dispatches. */
import type { FacetTable, KernelTable } from '../../core/extend/kernel-table.js'
import type { AnyPrimitive } from '../../core/graph/primitive.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import type { Operand } from '../plan/step.js'
import type { Dispatch } from './dispatch.js'
import type { WgslDType } from './wgsl/literal.js'

/** What a row works with: `x` are the arguments' registers, `from` their dtypes, `to` the result's. */
export interface WgslContext {
  readonly x: readonly string[]
  readonly from: readonly WgslDType[]
  readonly to: WgslDType
  readonly params: unknown
}
/** The value's expression. It may use an argument twice: arguments are names or literals. */
export type WgslScalar = (c: WgslContext) => string

/** What code is made for. */
export interface Machine {
  /** Invocations in a workgroup; barriers are used where this is more than 1. */
  readonly lanes: number
  /** Invocations of a subgroup can exchange values, and know its number. */
  readonly subgroups: boolean
  /** Invocations that fill the device: a fold with fewer results is cut into parts. */
  readonly fill: number
  /** The code of an elementwise primitive; raises MissingKernel. */
  readonly scalar: (primitive: AnyPrimitive) => WgslScalar
}

/** Dispatches that run one after the other, and the bytes of scratch behind the arena that they share. */
export interface Dispatches {
  readonly dispatches: readonly Dispatch[]
  readonly scratchBytes: number
  /** The form that was chosen, where there are several: `explain` tells it. */
  readonly form?: string
}
/**
 * The dispatches of a primitive that is run as a whole, at these shapes. Operands are the results, then the arguments, each contiguous and
 * row-major; an accumulator (`kernel.inPlace`) is the first result, and is not among the arguments. None where the arrays are too large for it: then the CPU runs the meaning.
 */
export interface WholeShader {
  (kernel: OpaqueKernel, operands: readonly Operand[], machine: Machine): Dispatches | undefined
  /** Operands of f32 may be stored as f16. */
  readonly f16?: true
}
/** A shader that reads and writes its f32 operands as they are stored: by `floatAt` and `setFloat`, or as words by `wordAt` and `setWord`. */
export const acceptsF16 = (make: (...given: Parameters<WholeShader>) => Dispatches | undefined): WholeShader =>
  Object.assign((...given: Parameters<WholeShader>) => make(...given), { f16: true as const })

/** A family's facets, typed over its declarations: a primitive without a row does not compile. */
export type WebGpuTable<F> = FacetTable<F, WgslScalar, WholeShader>
/** Facets by primitive. */
export type WebGpuKernelTable = KernelTable<WgslScalar, WholeShader>
