/*
 * Function bodies: locals, operands, control flow.
 */

import type { Words } from '../../record.js'
import { ByteBuffer } from './bytes.js'
import { constantsAtEntry } from './constants.js'
import { Instructions } from './instructions.js'
import type { Op } from './opcodes.js'
import * as OP from './opcodes.js'

export type ValType = 'i32' | 'i64' | 'f32' | 'f64' | 'v128'

export const typeCode: Readonly<Record<ValType, number>> = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b }
const emptyBlock = 0x40

/** A parameter or local variable of one function. */
export interface Local {
  readonly index: number
  readonly type: ValType
}

/** N elements of T: a tuple where N is a literal. */
export type Repeat<T, N extends number, R extends readonly T[] = []> = number extends N
  ? readonly T[]
  : R['length'] extends N
    ? R
    : Repeat<T, N, readonly [...R, T]>

/** What leaves one value on the stack: a local, an i32 constant, or a callback that emits instructions. */
export type Operand = Local | number | (() => unknown)

/** The target of a branch: the depth of the enclosing block it was opened at. */
export interface Label {
  readonly depth: number
}

/** Anything callable, imported or defined. */
export interface FuncRef {
  readonly index: number
}

/** The part of Module that a function needs. */
interface TypeTable {
  type(params: readonly ValType[], results?: readonly ValType[]): number
}

/** The code of one function. Methods append an instruction and return the builder. */
export class FunctionBuilder extends Instructions implements FuncRef {
  private readonly localTypes: ValType[] = []
  private depth = 0
  /** Constant vectors, and what sets them when the function is entered. */
  private readonly constants = new Map<string, Local>()
  private readonly entry = new ByteBuffer(0)

  /** Made by Module.func. */
  constructor(
    private readonly module: TypeTable,
    readonly index: number,
    readonly typeIndex: number,
    private readonly params: readonly ValType[],
  ) {
    super()
  }

  param(i: number): Local {
    const type = this.params[i]
    if (type === undefined) throw new RangeError(`function has ${this.params.length} parameters, no number ${i}`)
    return { index: i, type }
  }

  /** The first parameters. */
  parameters<const N extends number>(count: N): Repeat<Local, N> {
    return Array.from({ length: count }, (_, i) => this.param(i)) as Local[] & Repeat<Local, N> // the array has count elements
  }

  /** The first parameters, by name. */
  namedParameters<const S extends string>(names: S): Readonly<Record<Words<S>, Local>> {
    return Object.fromEntries(names.split(' ').map((name, i) => [name, this.param(i)])) as Record<Words<S>, Local> // its keys are the names
  }
  /** New locals, by name. */
  namedLocals<const S extends string>(type: ValType, names: S): Readonly<Record<Words<S>, Local>> {
    return Object.fromEntries(names.split(' ').map((name) => [name, this.local(type)])) as Record<Words<S>, Local>
  }

  /** A new local, zero at entry. Locals may be declared at any time. */
  local(type: ValType): Local {
    this.localTypes.push(type)
    return { index: this.params.length + this.localTypes.length - 1, type }
  }

  locals<const N extends number>(type: ValType, count: N): Repeat<Local, N> {
    return Array.from({ length: count }, () => this.local(type)) as Local[] & Repeat<Local, N> // the array has count elements
  }
  // Values

  /** Pushes an operand. */
  push(x: Operand): this {
    if (typeof x === 'number') return this.i32Const(x)
    if (typeof x === 'function') {
      x()
      return this
    }
    return this.localGet(x)
  }

  /** Pushes the operands, then appends the opcode. */
  op(code: Op, ...operands: Operand[]): this {
    for (const x of operands) this.push(x)
    return this.opcode(code)
  }
  localGet(x: Local): this {
    this.code.byteAndU32(0x20, x.index)
    return this
  }

  /** local.set of the operand, or of what is on the stack. */
  localSet(x: Local, value?: Operand): this {
    if (value !== undefined) this.push(value)
    this.code.byteAndU32(0x21, x.index)
    return this
  }

  /** local.tee of the operand, or of what is on the stack. */
  localTee(x: Local, value?: Operand): this {
    if (value !== undefined) this.push(value)
    this.code.byteAndU32(0x22, x.index)
    return this
  }

  /** Short for localGet. */
  get(x: Local): this {
    return this.localGet(x)
  }

  /** Short for localSet. */
  set(x: Local, value?: Operand): this {
    return this.localSet(x, value)
  }

  /** x += value, both i32. */
  increment(x: Local, value: Operand): this {
    return this.op(OP.i32_add, x, value).localSet(x)
  }

  // Control

  /** block ... end; branching to the label leaves it. */
  block(body: (exit: Label) => unknown, result?: ValType): this {
    return this.nest(0x02, body, result)
  }

  /** loop ... end; branching to the label starts the next iteration. */
  loop(body: (top: Label) => unknown, result?: ValType): this {
    return this.nest(0x03, body, result)
  }

  /** if ... else ... end on the i32 on the stack, or on `condition` when given through ifThen. */
  if(then: () => unknown, otherwise?: () => unknown, result?: ValType): this {
    return this.nest(
      0x04,
      () => {
        then()
        if (otherwise) {
          this.code.byte(0x05)
          otherwise()
        }
      },
      result,
    )
  }

  ifThen(condition: Operand, then: () => unknown, otherwise?: () => unknown, result?: ValType): this {
    return this.push(condition).if(then, otherwise, result)
  }

  br(to: Label): this {
    this.code.byteAndU32(0x0c, this.depth - to.depth)
    return this
  }

  /** Branches when the operand, or what is on the stack, is not zero. */
  brIf(to: Label, condition?: Operand): this {
    if (condition !== undefined) this.push(condition)
    this.code.byteAndU32(0x0d, this.depth - to.depth)
    return this
  }

  /** for (i = start; i < end; i += step) body, unsigned; `end` and `step` are evaluated at every iteration. */
  forLoop(i: Local, start: Operand, end: Operand, step: Operand, body: () => unknown): this {
    this.localSet(i, start)
    return this.op(OP.i32_lt_u, i, end).if(() =>
      this.loop((top) => {
        body()
        this.op(OP.i32_add, i, step).localTee(i)
        this.push(end).op(OP.i32_lt_u).brIf(top)
      }),
    )
  }

  /** `size` elements from `at` on, for each block of at most `step` of `total` elements. */
  forBlocks(at: Local, size: Local, total: Operand, step: number, body: () => unknown): this {
    const left = (): this => this.op(OP.i32_sub, total, at)
    return this.forLoop(at, 0, total, step, () => {
      this.op(OP.select, left, step, () => this.op(OP.i32_lt_u, left, step)).localSet(size)
      body()
    })
  }

  /** do body while (--n != 0): `n` must be positive at entry and is zero after. */
  countDown(n: Local, body: () => unknown): this {
    return this.loop((top) => {
      body()
      this.op(OP.i32_sub, n, 1).localTee(n).brIf(top)
    })
  }

  call(f: FuncRef, ...operands: Operand[]): this {
    for (const x of operands) this.push(x)
    this.code.byteAndU32(0x10, f.index)
    return this
  }

  /** On the stack: the arguments, then the table index. */
  callIndirect(params: readonly ValType[], results: readonly ValType[] = [], table = 0): this {
    this.code.byteAndU32(0x11, this.module.type(params, results)).u32(table)
    return this
  }

  /** A constant vector: where that is faster made once, at entry. Zeros are made by one instruction, and would hold a register. */
  override v128Const(bytes: ArrayLike<number>): this {
    if (!constantsAtEntry() || Array.from(bytes).every((b) => b === 0)) return super.v128Const(bytes)
    const key = String.fromCharCode(...Array.from(bytes as Uint8Array))
    let local = this.constants.get(key)
    if (local === undefined) {
      local = this.local('v128')
      this.constants.set(key, local)
      this.entry.byte(0xfd).u32(0x0c)
      for (let i = 0; i < 16; i++) this.entry.byte(bytes[i]!)
      this.entry.byte(0x21).u32(local.index)
    }
    return this.localGet(local)
  }

  /** Appends the finished body, size first. */
  writeTo(out: ByteBuffer): void {
    const head = new ByteBuffer(32)
    const runs: { count: number; type: ValType }[] = []
    for (const type of this.localTypes) {
      const last = runs[runs.length - 1]
      if (last && last.type === type) last.count++
      else runs.push({ count: 1, type })
    }
    head.u32(runs.length)
    for (const run of runs) head.u32(run.count).byte(typeCode[run.type])
    out.u32(head.length + this.entry.length + this.code.length + 1)
    out.bytes(head.view()).bytes(this.entry.view()).bytes(this.code.view()).byte(0x0b)
  }

  private nest(opcode: number, body: (label: Label) => unknown, result: ValType | undefined): this {
    this.code.byte(opcode).byte(result === undefined ? emptyBlock : typeCode[result])
    this.depth++
    body({ depth: this.depth })
    this.depth--
    this.code.byte(0x0b)
    return this
  }
}
