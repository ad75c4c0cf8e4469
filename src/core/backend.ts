/** What a backend is: a value that prepares programs and runs them. */
import type { TypedArray } from './ndarray.js'
import type { Program } from './program.js'

/** A program made ready for one backend: its shapes are fixed. */
export interface Executable {
  /**
   * Runs on the data of the inputs (row-major, one typed array each); results are fresh arrays, or `into[i]` where given
   * (`accumulate`: added to what it holds). Inputs are read before any output is written.
   */
  readonly run: (inputs: readonly TypedArray[], into?: readonly TypedArray[], accumulate?: boolean) => readonly TypedArray[]
  readonly explain: () => Explanation
  readonly dispose: () => void
}

/** Figures of a plan, as data: what runs, how often, and what it needs. */
export interface Explanation {
  readonly backend: string
  /** Steps by kernel, in order. */
  readonly steps: readonly { readonly kernel: string; readonly reads: readonly string[]; readonly writes: readonly string[] }[]
  /** Number of steps by kind: loop, gemm, and the names of opaque primitives. */
  readonly counts: Readonly<Record<string, number>>
  /** Number of distinct kernels. */
  readonly kernels: number
  readonly flops: number
  /** Bytes moved between kernels and memory by one run. */
  readonly bytes: number
  /** Peak of live bytes: inputs, outputs and temporaries. */
  readonly peakBytes: number
  /** Buffers made by one run (inputs and outputs included), and the largest number alive at once. */
  readonly buffers: number
  readonly peakBuffers: number
  /** Accumulators that something else still read, and so were copied. */
  readonly copiedAccumulators: number
  readonly planMs: number
  readonly cached: boolean
}

/** Sync backends give results at once; async ones give Promises. */
export interface Backend<K extends 'sync' | 'async' = 'sync' | 'async'> {
  readonly kind: K
  readonly name: string
  readonly prepare: (program: Program) => K extends 'sync' ? Executable : Promise<Executable>
}
export type SyncBackend = Backend<'sync'>
