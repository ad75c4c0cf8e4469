// What a peer of the benchmark is: for each workload it can run, a preparation that gives a warm call.
import type { FloatArray, Inputs } from '../test/golden/data.js'
import type { Outputs } from '../test/golden/golden.js'
import type { WorkloadDtype, WorkloadId } from '../test/golden/spec.js'

export type { FloatArray, Inputs, Outputs, WorkloadDtype, WorkloadId }

/** What a peer knows about its own program beside the time of a call. */
export interface Facts {
  readonly kernels?: number
  /** Tensor bytes allocated by one warm call. */
  readonly bytes?: number
  readonly peakBytes?: number
  /** Milliseconds spent tracing, differentiating and planning. */
  readonly planMs?: number
}

export interface Prepared {
  /** Computes the value and every gradient, and reads all of them into typed arrays (which the next run may overwrite). */
  run(): Outputs | Promise<Outputs>
  /** The value alone, for the ratio of gradient to primal. */
  primal?(): unknown
  facts?(): Facts
  dispose?(): void
}

export type Prepare = (inputs: Inputs) => Prepared | Promise<Prepared>

export interface Peer {
  readonly name: string
  readonly dtypes: readonly WorkloadDtype[]
  readonly workloads: Partial<Record<WorkloadId, Prepare>>
  /** Other ways of writing a workload, each a row of its own: the row's name, what it computes, and how. */
  readonly variants?: Readonly<Record<string, { readonly of: WorkloadId; readonly prepare: Prepare }>>
  /** What a reader of the table has to know, by workload. */
  readonly notes?: Partial<Record<WorkloadId, string>>
}

/** An input by name; a misspelt one is an error here and not an undefined later. */
export const take = (inputs: Inputs, name: string): { readonly shape: readonly number[]; readonly data: FloatArray } => {
  const input = inputs[name]
  if (input === undefined) throw new Error(`no input ${name}; there are ${Object.keys(inputs).join(', ')}`)
  return input
}

export const like = (data: FloatArray, length: number): FloatArray =>
  data instanceof Float64Array ? new Float64Array(length) : new Float32Array(length)
