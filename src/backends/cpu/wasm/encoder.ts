/*
 * A WebAssembly encoder: modules and function bodies appended, in stack-machine order, to a growing Uint8Array.
 *
 *   const m = new Module()
 *   m.importMemory({ min: 1 })
 *   const f = m.func('axpy', ['i32', 'i32'])              // exported as 'axpy'
 *   const [x, y] = [f.param(0), f.param(1)]
 *   f.get(y).v128Load().get(x).v128Load().op(OP.f32x4_add) ...
 *   f.op(OP.i32_add, x, 16)                               // operands first: locals, i32 constants or emitters
 *   m.finish()                                            // the bytes for WebAssembly.Module
 */

import { ByteBuffer } from './bytes.js'
import { type FuncRef, FunctionBuilder, typeCode, type ValType } from './function.js'

export { type FuncRef, FunctionBuilder, type Label, type Local, type Operand, type Repeat, type ValType } from './function.js'
export type { Op } from './opcodes.js'

const funcref = 0x70

export interface Limits {
  readonly min: number
  readonly max?: number | undefined
  /** Memories only; needs max. */
  readonly shared?: boolean | undefined
}

interface Import {
  readonly module: string
  readonly name: string
  readonly write: (out: ByteBuffer) => void
}

/** A module under construction. Imports of functions come before the first function. */
export class Module {
  private readonly types = new ByteBuffer(64)
  private readonly typeIndex = new Map<string, number>()
  private readonly imports: Import[] = []
  private readonly functions: FunctionBuilder[] = []
  private readonly exports: { readonly name: string; readonly kind: number; readonly index: number }[] = []
  private readonly elements: { readonly offset: number; readonly functions: readonly FuncRef[] }[] = []
  private importedFunctions = 0

  /** `madd`: products may use the relaxed multiply-add, which the engine has. */
  constructor(readonly madd = false) {}

  /** Index of a function type; equal types share one. */
  type(params: readonly ValType[], results: readonly ValType[] = []): number {
    const key = `${params.join()}>${results.join()}`
    const known = this.typeIndex.get(key)
    if (known !== undefined) return known
    const index = this.typeIndex.size
    this.typeIndex.set(key, index)
    this.types.byte(0x60)
    for (const list of [params, results]) {
      this.types.u32(list.length)
      for (const t of list) this.types.byte(typeCode[t])
    }
    return index
  }

  /** Imports the memory, `env.memory` unless named; limits in pages of 64 KiB. */
  importMemory(limits: Limits, module = 'env', name = 'memory'): void {
    if (limits.shared && limits.max === undefined) throw new Error('a shared memory needs a maximum')
    this.imports.push({ module, name, write: (out) => writeLimits(out.byte(2), limits) })
  }

  /** Imports a table of functions, `env.table` unless named. */
  importTable(limits: Limits, module = 'env', name = 'table'): void {
    this.imports.push({ module, name, write: (out) => writeLimits(out.byte(1).byte(funcref), limits) })
  }

  importFunction(module: string, name: string, params: readonly ValType[], results: readonly ValType[] = []): FuncRef {
    if (this.functions.length > 0) throw new Error('imported functions come before defined ones')
    const type = this.type(params, results)
    this.imports.push({ module, name, write: (out) => out.byte(0).u32(type) })
    return { index: this.importedFunctions++ }
  }

  /** A new function, exported when it has a name. */
  func(name: string | undefined, params: readonly ValType[], results: readonly ValType[] = []): FunctionBuilder {
    const index = this.importedFunctions + this.functions.length
    const f = new FunctionBuilder(this, index, this.type(params, results), params)
    this.functions.push(f)
    if (name !== undefined) this.exportFunction(name, f)
    return f
  }

  /** A function of the kernels' type: (i32 record) -> (). */
  kernel(name?: string): FunctionBuilder {
    return this.func(name, ['i32'])
  }

  exportFunction(name: string, f: FuncRef): void {
    this.exports.push({ name, kind: 0, index: f.index })
  }

  /** Fills the imported table from `offset` at instantiation. */
  element(offset: number, functions: readonly FuncRef[]): void {
    this.elements.push({ offset, functions })
  }

  /** The binary module. */
  finish(): Uint8Array<ArrayBuffer> {
    const out = new ByteBuffer(4096)
    out.bytes(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0))
    section(out, 1, this.typeIndex.size, (s) => s.bytes(this.types.view()))
    section(out, 2, this.imports.length, (s) => {
      for (const i of this.imports) i.write(s.name(i.module).name(i.name))
    })
    section(out, 3, this.functions.length, (s) => {
      for (const f of this.functions) s.u32(f.typeIndex)
    })
    section(out, 7, this.exports.length, (s) => {
      for (const e of this.exports) s.name(e.name).byte(e.kind).u32(e.index)
    })
    section(out, 9, this.elements.length, (s) => {
      for (const e of this.elements) {
        s.byte(0).byte(0x41).s32(e.offset).byte(0x0b).u32(e.functions.length)
        for (const f of e.functions) s.u32(f.index)
      }
    })
    section(out, 10, this.functions.length, (s) => {
      for (const f of this.functions) f.writeTo(s)
    })
    return out.copy()
  }
}

function section(out: ByteBuffer, id: number, count: number, write: (s: ByteBuffer) => unknown): void {
  if (count === 0) return
  const body = new ByteBuffer(1024)
  body.u32(count)
  write(body)
  out.byte(id).u32(body.length).bytes(body.view())
}

function writeLimits(out: ByteBuffer, { min, max, shared }: Limits): void {
  out.byte((max === undefined ? 0 : 1) | (shared ? 2 : 0)).u32(min)
  if (max !== undefined) out.u32(max)
}
