/** The forms of the CPU's kernels: code of one element in vectors, and whole kernels in WebAssembly. */

import type { FacetTable, KernelTable } from '../../core/extend/kernel-table.js'
import type { NDArray } from '../../core/graph/ndarray.js'
import type { DType } from '../../core/types/dtype.js'
import type { GemmKernel, Kernel, OpaqueKernel, ProductForm, ProductFormOf } from '../plan/kernel.js'
import type { Step } from '../plan/step.js'
import type { DrivenKernel } from './driven.js'
import type { Views } from './plain.js'
import type { ConvShape } from './wasm/conv-shape.js'
import type { FuncRef, Limits, Local, Module, Operand } from './wasm/encoder.js'
import type { FloatName } from './wasm/float.js'
import type { Into } from './wasm/gemm.js'
import type { Lanes } from './wasm/lanes.js'
import type { Vec } from './wasm/vec.js'

/** What an emitter works with: `x` are the arguments' registers, `from` their dtypes. */
export interface ScalarContext {
  /** Arithmetic in the dtype of the operation. */
  readonly v: Vec
  /** Arithmetic in f64, two lanes. */
  readonly wide: Vec
  readonly lanes: Lanes
  readonly x: readonly Local[]
  readonly from: readonly DType[]
  readonly to: DType
  readonly params: unknown
  /** What the kernel's `aside` made of the second argument, where that is the same for a whole loop. */
  readonly aside: Local | undefined
  /** Pushes the primitive's meaning, called for each lane. */
  readonly viaMeaning: () => void
  /** Pushes the function that the kernel names as `math`, called for each lane. */
  readonly viaMath: () => void
}
/** Functions of the engine, as which every thread has them. */
export type MathFunction = 'sin' | 'cos' | 'tan' | 'pow'
/** Pushes the value. */
export interface ScalarKernel {
  (c: ScalarContext): void
  /** Of floats: what is made once, before a loop in which the second argument stays the same. */
  readonly aside?: (v: Vec, y: Local) => Operand
  /** The function of `Math` that it may call. */
  readonly math?: MathFunction
}

/** How a primitive that is run as a whole becomes a WebAssembly kernel. */
export interface WholeKernel {
  /** Adds the kernel; its record is an OpaqueRecord. */
  readonly emit: (module: Module, name: string) => unknown
  readonly scratchBytes: number
  /**
   * Where its code is that of others: what names the code, and what its record holds behind the scratch: sizes (of axes; a count of images), or the address of a table, which lies in the
   * image of each program.
   */
  readonly shared?: { readonly code: string } & ({ readonly sizes: readonly number[] } | { readonly table: Uint8Array })
  /** Where it may run in parts. */
  readonly units?: Units
  /** Where it may run in phases: what threads make them of. */
  readonly phased?: PhasedKernel
}
/** A kernel with phases, whose code comes with threads: the gradient of a convolution's kernel by minimal filtering. */
export interface PhasedKernel {
  readonly shape: ConvShape
  readonly accumulate: boolean
  readonly images: number
}
/**
 * A kernel as kernels that run one after the other, each in parts of its own, on the record of the whole: behind its sizes it has the address of what phases share, which parts do not move. A kernel
 * whose units depend on each other (sums over what they share) can so be cut. Together phases compute the bits of the whole.
 */
export interface Phases {
  readonly sharedBytes: number
  readonly each: readonly Phase[]
}
export interface Phase {
  readonly emit: (module: Module, name: string) => unknown
  readonly scratchBytes: number
  readonly units: Units
  /** What it computes, where that is not about all that the step does. */
  readonly flops?: number
}
/** Units that a whole kernel computes alike, each for itself: threads may share them. */
export interface Units {
  /** Which of the `sizes` in its record counts them. */
  readonly size: number
  readonly count: number
  /** Which of the `sizes` is the number of the first unit of a part. */
  readonly first?: number
  /** Units that belong together. */
  readonly multiple?: number
  /** Bytes between units: of each result, and of each argument of the record (0 of what every unit reads). */
  readonly results: readonly number[]
  readonly args: readonly number[]
}
/** The kernel of results that have no elements. */
export const noElements: WholeKernel = {
  emit: (module, name) => module.kernel(name),
  scratchBytes: 0,
  shared: { code: 'no elements', sizes: [] },
}
/** The kernel of a primitive at these shapes: of WebAssembly, or in JavaScript with its products; where there is none, or the engine has no SIMD, the meaning runs instead. */
export type WholeKernelOf = (k: OpaqueKernel) => WholeKernel | DrivenKernel | undefined

/** How matrix products are computed: in WebAssembly, with this much scratch, or in JavaScript. */
export interface Products {
  readonly formOf: ProductFormOf
  /** Without a form: one for vectors and blocks. */
  readonly emit: (module: Module, type: FloatName, into: Into, name?: string, form?: ProductForm) => FuncRef
  /** What its code imports from `js`. */
  readonly imports?: (type: FloatName, into: Into) => WebAssembly.ModuleImports
  readonly scratchBytes: (type: FloatName, m: number, n: number, k: number, batch?: number) => number
  readonly run: (kernel: GemmKernel, record: Int32Array, views: Views) => void
}

/** A system library of linear algebra: `blas()` of `codual/blas` finds one. */
export interface Blas {
  /** What it says of itself; undefined where there is none. */
  readonly library: string | undefined
  /** Why there is none. */
  readonly reason: string | undefined
}
/** A primitive by a library: false where these arrays are the backend's own to compute. */
export interface WholeByLibrary {
  readonly scratchBytes: number
  readonly run: (arrays: { readonly args: readonly NDArray[]; readonly results: readonly NDArray[] }, scratch: number) => boolean
}
/** What a backend asks of one: what stands in the place of its own, on its memory. */
export interface BlasOver {
  readonly products: (own: Products) => Products
  /** A primitive that runs as a whole, by the library; undefined where it stays the backend's. */
  readonly whole: (k: OpaqueKernel) => WholeByLibrary | undefined
}
/** A library as backends see it. */
export interface BlasInside extends Blas {
  readonly over: ((memory: WebAssembly.Memory) => BlasOver) | undefined
}

/** Threads of the system: `threads()` of `codual/threads` has some. */
export interface Threads {
  /** How many, with the one that calls: 1 where there are no others. */
  readonly count: number
  /** Why there are no others; undefined where there are. */
  readonly reason: string | undefined
}
/** Threads as backends see them. */
export interface ThreadsInside extends Threads {
  /** A new crew, for one backend. */
  readonly crew: (() => Crew) | undefined
}
/** What is known of a kernel that runs in parts: its scratch, and what of its arguments is in parts. */
export interface Cuttable {
  /** Where it lies in the table. */
  readonly index: number
  /** It calls into JavaScript, of which other threads have none. */
  readonly calls?: true
  readonly scratch: (sizes: readonly number[]) => number
  /** What its records hold behind the scratch, where its code reads that. */
  readonly sizes?: readonly number[]
  readonly units?: Units
  readonly phases?: { readonly sharedBytes: number; readonly each: readonly (Phase & { readonly index: number })[] }
  /** Of a loop in chunks: the kernels that keep the totals of chunks and make results of them, how many results, and the points of a chunk. */
  readonly chunked?: { readonly keep: number; readonly results: number; readonly outputs: number; readonly points: number }
}
/** What runs for a step that threads share: kernels one after the other, in parts or whole; the bytes that these share of the scratch, where they share some. */
export interface SharedStep {
  readonly sharedBytes?: number
  readonly each: readonly { readonly index: number; readonly scratchBytes: number; readonly cut?: Cut }[]
}
/** A step in parts: some units along one axis. The last part has the units that are left too. */
export interface Cut {
  /** At least 2. */
  readonly parts: number
  /** Units of a part, and the word of the record that has the number of units. */
  readonly units: number
  readonly axis: number
  /** Words of the record that move with each part, and by how much. */
  readonly moves: readonly (readonly [word: number, by: number])[]
  /** The word of the scratch, and the scratch that a part takes. */
  readonly scratch: number
  readonly scratchBytes: number
  /** Words of the record. */
  readonly words: number
  /** Looks at the memory after which a wait for others was long. */
  readonly long: number
  /** All of it takes so many microseconds, about. */
  readonly microseconds: number
}
/** Threads that share a memory. */
export interface Crew {
  readonly memory: WebAssembly.Memory
  /** With what limits modules import it. */
  readonly limits: Limits
  /** A kernel was put into the table, or taken out. */
  readonly know: (index: number, module: WebAssembly.Module, name: string) => void
  readonly forget: (index: number) => void
  /** The memory has grown. */
  readonly grown: () => void
  /** What runs for a step that is shared; undefined where one thread is as quick. */
  readonly cut: (kernel: Kernel, step: Pick<Step, 'sizes' | 'reads' | 'writes' | 'flops'>, installed: Cuttable) => SharedStep | undefined
  /** How many threads may run parts at once. */
  readonly count: number
  /** The kernel of such steps, on a table of kernels: its record is a forkRecord. */
  readonly fork: (table: WebAssembly.Table) => (record: number) => void
  /** The phases of a kernel that has some. */
  readonly phases: (of: PhasedKernel) => Phases
  /** Begins the other threads, unless they run, or others are still ending. */
  readonly begin: () => void
  /** Parts that other threads than the caller have done so far. */
  readonly helped: () => number
  /** Ends the other threads. Until they begin again the caller does all of the work. */
  readonly dispose: () => void
}

/** A family's facets, typed over its declarations: a primitive without a row does not compile. */
export type CpuTable<F> = FacetTable<F, ScalarKernel, WholeKernelOf>
/** Facets by primitive. */
export type CpuKernelTable = KernelTable<ScalarKernel, WholeKernelOf>
