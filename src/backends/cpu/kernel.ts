/** The forms of the CPU's kernels: code of one element in vectors, and whole kernels in WebAssembly. */

import type { FacetTable, KernelTable } from '../../core/extend/kernel-table.js'
import type { NDArray } from '../../core/graph/ndarray.js'
import type { DType } from '../../core/types/dtype.js'
import type { GemmKernel, OpaqueKernel } from '../plan/kernel.js'
import type { DrivenKernel } from './driven.js'
import type { Views } from './plain.js'
import type { FuncRef, Local, Module, Operand } from './wasm/encoder.js'
import type { FloatName } from './wasm/float.js'
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
}
/** Pushes the value. */
export interface ScalarKernel {
  (c: ScalarContext): void
  /** Of floats: what is made once, before a loop in which the second argument stays the same. */
  readonly aside?: (v: Vec, y: Local) => Operand
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
  readonly emit: (module: Module, type: FloatName, accumulate: boolean, name?: string) => FuncRef
  /** What its code imports from `js`. */
  readonly imports?: (type: FloatName, accumulate: boolean) => WebAssembly.ModuleImports
  readonly scratchBytes: (type: FloatName, m: number, n: number, k: number) => number
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

/** A family's facets, typed over its declarations: a primitive without a row does not compile. */
export type CpuTable<F> = FacetTable<F, ScalarKernel, WholeKernelOf>
/** Facets by primitive. */
export type CpuKernelTable = KernelTable<ScalarKernel, WholeKernelOf>
