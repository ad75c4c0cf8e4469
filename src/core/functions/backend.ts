/** What a backend is: a value that prepares programs and runs them. */

import type { Dropped } from '../calculus/dropped.js'
import { shown } from '../errors/check-arguments.js'
import { badInput } from '../errors/explain.js'
import { holds } from '../errors/language.js'
import { type OptionsOf, oneOf } from '../errors/options.js'
import type { NDArray, TypedArray } from '../graph/ndarray.js'
import type { Program } from '../graph/program.js'

/** A program prepared for one backend, with fixed shapes. */
export interface Executable {
  /**
   * Runs on the data of the inputs (row-major, one typed array each); results are fresh arrays, or `into[i]` where given
   * (`accumulate`: added to what it holds). Inputs are read before any output is written.
   */
  readonly run: (inputs: readonly TypedArray[], into?: readonly TypedArray[], accumulate?: boolean) => readonly TypedArray[]
  readonly explain: () => Explanation
  /** Frees what the program holds. */
  readonly dispose: () => void
  /** Bytes that it holds in the host's memory, about, so that a function of many shapes drops the largest and oldest; 64 KiB where it does not say. */
  readonly bytes?: number
}

export const placeOptions = {
  /** f32 in 32 bits, or as f16 in half of the memory: rounded once, read back as f32. Other dtypes are stored as they are. */
  storage: oneOf('f32', 'f16'),
}
/** How `onDevice` stores elements. */
export type PlaceOptions = OptionsOf<typeof placeOptions>

/** Elements that a device holds, of one dtype and size. */
export interface DeviceArray {
  /** Name of the backend that made it. */
  readonly backend: string
  /** f32 elements are stored as f16. */
  readonly half?: boolean
  /** A copy of the elements, after all that was asked of the device before. */
  readonly read: () => Promise<TypedArray>
  readonly dispose: () => void
}
/** Elements in the memory of a backend that answers at once: a view of it, read anew after each call, since that memory moves when it grows. */
export interface KeptArray {
  readonly data: TypedArray
  readonly dispose: () => void
}
/** Elements of an array: in the host's memory or on a device. */
export type Elements = TypedArray | DeviceArray

/** A program prepared for an asynchronous backend (a GPU). */
export interface AsyncExecutable {
  /**
   * As `Executable.run`, later: nothing but this call touches the arrays of `inputs` and `into` until the Promise settles, and calls of one
   * executable come one at a time. A rejected run leaves `into` as it was; the next run is not affected. What is on the backend's device
   * stays there: no element of it passes through the host. `accumulate` comes with targets in the host's memory alone.
   */
  readonly run: (inputs: readonly Elements[], into?: readonly Elements[], accumulate?: boolean) => Promise<readonly Elements[]>
  /** A run gives away the arrays of `inputs` that are in the host's memory: they have no elements afterwards. */
  readonly takes?: true
  readonly explain: () => Explanation | Promise<Explanation>
  /** Frees what the program holds; called after the last run has settled. */
  readonly dispose: () => void
  /** As `Executable.bytes`. */
  readonly bytes?: number
}

/** One kernel call of a plan. */
export interface ExplainedStep {
  /** One line: what the kernel computes. */
  readonly kernel: string
  readonly kind: 'loop' | 'gemm' | 'opaque'
  /** Names of the primitives that it computes, in order; none for a copy. */
  readonly ops: readonly string[]
  /** Axis lengths of a loop; batch, m, n, k of a product; the first result's shape otherwise. */
  readonly sizes: readonly number[]
  /** Buffers, by name and size. */
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  readonly flops: number
  /** Bytes of the buffers that it touches; of one that its loop walks along, those of an iteration. */
  readonly bytes: number
  /** How often it runs: more than once in a loop. */
  readonly times: number
  /** Of a product of matrices on a device: the form that was chosen for its shape and the adapter, as 'tiles of 128 x 64'. */
  readonly form?: string
  /** A step that a device has no kernel for: it runs on the CPU, with so many bytes read back and written; and why. */
  readonly transfer?: { readonly bytesRead: number; readonly bytesWritten: number; readonly reason: string }
}

/** Steps that run again and again, as one loop. */
export interface ExplainedLoop {
  /** Its steps: from this one to before that. */
  readonly first: number
  readonly end: number
  /** How often they run: at most, where a condition may end the loop, or leave a step out. */
  readonly count: number
  readonly conditional: boolean
  /** Bytes moved by one iteration. */
  readonly bytesPerStep: number
  /** Bytes of what is stacked step by step: results, and what the way back needs. */
  readonly stackedBytes: number
}

/** What one call asks of a device, with every argument and result in the host's memory. */
export interface DeviceWork {
  readonly dispatches: number
  /** One for each run of steps between two that need the CPU. */
  readonly submits: number
  readonly readbacks: number
  readonly bytesWritten: number
  readonly bytesRead: number
  /** Distinct shaders. */
  readonly pipelines: number
  /** Of a loop that only its condition ends: these figures are of one iteration, and so many lie between two readbacks of one word. */
  readonly trips?: number
}

/** Figures of a plan, as data: what runs, how often, and what it needs. */
export interface Explanation {
  readonly backend: string
  /** Steps by kernel, in order. */
  readonly steps: readonly ExplainedStep[]
  /** Which of them run again and again; one that lies in another stands behind it. */
  readonly loops: readonly ExplainedLoop[]
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
  /**
   * With the backend's option `verify`: `provenance` where the plan was shown to compute, element by element, what its program says;
   * `memory` where it is too large for that, and only the laws of memory were held against it.
   */
  readonly verified?: 'provenance' | 'memory'
  /** Why kernels are slower than the backend's own, where they are: what the engine or the page does not allow. */
  readonly fallback?: string
  /** Where a system library was asked for: what computes products of matrices, or why none does. */
  readonly blas?: string
  /** Where threads were asked for: how many there are and how many steps they share, or why there are none. */
  readonly threads?: string
  /** On a backend with a device. */
  readonly device?: DeviceWork
  /** Of a compiled function: the cotangents that its derivatives leave out, and why. It is traced once more to find them. */
  readonly dropped?: readonly Dropped[]
}

/** Sync backends give results at once; async ones give Promises. */
export interface Backend<K extends 'sync' | 'async' = 'sync' | 'async'> {
  readonly kind: K
  readonly name: string
  /**
   * Makes a program ready. `compile` gives an async backend programs without captured tensors: they are further inputs, after the
   * program's own, so that they too are copied at the call.
   */
  readonly prepare: (program: Program) => K extends 'sync' ? Executable : Promise<AsyncExecutable>
  /** Copies an array to the backend's device, where it has one. */
  readonly place?: ((array: NDArray, options?: PlaceOptions) => Promise<DeviceArray>) | undefined
  /** Copies an array into the memory in which the backend computes: arguments and targets that lie there are not copied at calls. Undefined while a program runs. */
  readonly keep?: ((array: NDArray) => KeptArray | undefined) | undefined
}
/** A backend that gives results at once. */
export type SyncBackend = Backend<'sync'>
/** A backend that gives Promises. */
export type AsyncBackend = Backend<'async'>

const runs = (x: unknown): x is Backend => {
  return holds(() => {
    const { kind, prepare } = (typeof x === 'object' && x !== null ? x : {}) as Partial<Backend>
    return (kind === 'sync' || kind === 'async') && typeof prepare === 'function'
  })
}

/** What is given as a backend. */
export const backendOf = (given: unknown, where: string): Backend =>
  runs(given)
    ? given
    : badInput(
        where,
        `${shown(given)} is not a backend.`,
        `${typeof given === 'function' ? 'call it, as cpu(): ' : ''}use cpu(), webgpu() or reference().`,
      )

/** A backend that answers at once. */
export const syncBackendOf = (given: unknown, where: string): SyncBackend => {
  const backend = backendOf(given, where)
  return backend.kind === 'sync'
    ? (backend as SyncBackend)
    : badInput(where, `the backend ${backend.name} is asynchronous.`, 'use cpu() here, or compileAsync or run.')
}
