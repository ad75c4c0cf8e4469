/** The code of one loop: the nest, the innermost loop with its vectors and its tail, loads, the body, stores and folds. */
import type { DType } from '../../../core/types/dtype.js'
import type { BodyOp, LoopKernel, LoopOutput } from '../../plan/kernel.js'
import type { CpuFacets } from '../facets.js'
import type { FunctionBuilder, Local, Operand } from './encoder.js'
import type { FoldEmitter } from './fold.js'
import { bytesOf, Lanes, Registers, transposed } from './lanes.js'
import { BodyOps, type LoopFunctions } from './loop-body.js'
import { LoopNest } from './loop-nest.js'
import * as OP from './opcodes.js'
import { vectorsTogether } from './together.js'
import type { Totals } from './totals.js'

/** Additions that an accumulator of f32 takes before it is emptied into an f64: the error of a sum stays below CHAIN / 2 roundings. */
const CHAIN = 32

/** Rows of an outer axis that are added up before they go into totals in scratch: the totals then cost a quarter. */
const JAM = 4
/** Operations up to which a body is written out several times. */
const SHORT = 4

/** A vector of the innermost loop: which of those written out, and how many elements from the cursors. */
interface Copy {
  readonly copy: number
  readonly ahead: number
}

export class LoopEmitter {
  private readonly nest: LoopNest
  private readonly lanes: Lanes
  private readonly regs: Registers
  private readonly ops: BodyOps
  private readonly L: 2 | 4
  private readonly dtypes: readonly DType[]
  private readonly inputs: number
  private readonly hoisted: readonly Map<number, Local>[]
  private readonly folds: readonly (FoldEmitter | undefined)[]
  private readonly totals: readonly (Totals | undefined)[]
  private readonly unroll: number
  /** Vectors whose operations are written by turns. */
  private readonly together: number
  /** Addresses inside the innermost loop, of each row that is walked at once. */
  private readonly rowCursors: readonly (readonly Local[])[]
  /** The row for which code is written. */
  private row = 0
  /** Inputs that are read as blocks of as many rows as a vector has elements, and turned: the bytes between elements of a row. Only the first row has an address for them. */
  private readonly turned = new Map<number, Local>()
  /** The vectors of the block, by row, while code is written for it. */
  private readonly block = new Map<number, readonly Local[]>()
  /** Body values that depend on no axis of the innermost loop. */
  private readonly fixed: Uint8Array

  constructor(
    private readonly f: FunctionBuilder,
    private readonly k: LoopKernel,
    functions: LoopFunctions,
    facets: CpuFacets,
    chunk: number,
  ) {
    this.dtypes = [...k.body.inputs, ...k.outputs.map((o) => o.dtype)]
    this.inputs = k.body.inputs.length
    this.L = [...this.dtypes, ...k.body.ops.map((o) => o.dtype)].includes('f64') ? 2 : 4
    this.lanes = new Lanes(f, this.L)
    this.regs = new Registers(f)
    this.ops = new BodyOps(f, this.lanes, this.regs, functions, facets)
    const foldsInner = k.outputs.some((o) => o.fold?.axes[k.rank - 1])
    const short = k.body.ops.length <= SHORT && this.inputs <= SHORT
    const plain = [...k.inputs, ...k.outputs.map((o) => (o.fold === undefined ? o.access : 'any'))].every(
      (a) => a === 'unit' || a === 'zero',
    )
    k.inputs.forEach((a, i) => {
      if (a === 'turned' && bytesOf[this.dtypes[i]!] * this.L === 16) this.turned.set(i, f.local('i32'))
    })
    this.unroll = (foldsInner && k.body.ops.length <= SHORT) || (plain && short) ? 4 : 1
    // Rows of a loop that folds nothing are walked at once only where blocks are read.
    const jam = short && k.outputs.some((o) => o.fold !== undefined) ? JAM : 1
    this.nest = new LoopNest(f, k, this.L, this.unroll, this.turned.size > 0 ? this.L : jam, chunk)
    this.folds = this.nest.folds
    this.totals = this.nest.totals
    this.rowCursors = Array.from({ length: this.nest.jam }, () => this.dtypes.map(() => f.local('i32')))
    this.hoisted = this.rowCursors.map(() => new Map())
    this.fixed = new Uint8Array(this.inputs + k.body.ops.length)
    k.inputs.forEach((a, i) => {
      if (a === 'zero') this.fixed[i] = 1
    })
    k.body.ops.forEach((o, i) => {
      if (o.args.every((a) => this.fixed[a] === 1)) this.fixed[this.inputs + i] = 1
    })
    this.together = vectorsTogether(k, this.fixed)
  }
  private stride(operand: number, axis: number): Operand {
    return this.nest.stride(operand, axis)
  }
  private get cursors(): readonly Local[] {
    return this.rowCursors[this.row]!
  }
  private eachRow(rows: number, body: () => void): void {
    for (this.row = 0; this.row < rows; this.row++) body()
    this.row = 0
  }

  /** All of the loop; `kept`: but for the results that are folded in chunks. */
  emit(kept = false): void {
    this.nest.emit((rows) => this.inner(rows), kept)
  }
  /** Those results. */
  emitResults(): void {
    this.nest.emitResults()
  }

  // ---- the innermost loop -----------------------------------------------------------------------------------------------

  /** The innermost loop of this many rows of the axis outside it. */
  private inner(rows: number): void {
    const { f, k, L, nest } = this
    const n = f.local('i32')
    f.set(n, nest.size(k.rank - 1))
    this.eachRow(rows, () => {
      this.cursors.forEach((c, i) => {
        if (this.row === 0) f.set(c, nest.pointers[i]!)
        else if (!this.turned.has(i)) f.op(OP.i32_add, this.rowCursors[this.row - 1]![i]!, this.stride(i, k.rank - 2)).set(c)
      })
      // An empty loop reads nothing: its operands may have no memory at all.
      f.get(n)
      f.if(() => this.hoist())
    })
    for (const [i, bytes] of this.turned) f.set(bytes, this.stride(i, k.rank - 1))
    nest.eachFold((s, p, i) => {
      if (!s.inner) return
      if (s.deep) s.start(this.totals[i]!.at, true, 'f64')
      else if (!s.whole) s.start(p, s.partial || s.accumulate)
      s.reset()
    })
    this.totals.forEach((t, i) => {
      if (t !== undefined && !this.folds[i]!.inner) f.set(this.cursors[this.inputs + i]!, t.at)
    })
    const left = f.local('i32')
    const block = f.local('i32')
    const blocked = this.folds.some((s) => s?.blocked)
    const vectors = (u: number): void => {
      const width = L * u
      // left = floor(n / width); n -= left * width
      f.op(OP.i32_div_u, n, width).set(left)
      f.op(OP.i32_sub, n, () => f.op(OP.i32_mul, left, width)).set(n)
      const run = (count: Local): void => {
        f.countDown(count, () => {
          if (u > 1 && u === this.together) this.interleaved(u)
          else for (let c = 0; c < u; c++) this.points(rows, L, c, c * L)
          this.eachRow(rows, () => this.advance(width))
        })
      }
      if (!blocked) {
        f.get(left)
        f.if(() => run(left))
        return
      }
      f.block((done) =>
        f.loop((again) => {
          f.op(OP.i32_eqz, left).brIf(done)
          f.push(CHAIN).get(left)
          f.op(OP.i32_lt_u, CHAIN, left).op(OP.select).set(block)
          f.op(OP.i32_sub, left, block).set(left)
          run(block)
          this.flush()
          f.br(again)
        }),
      )
    }
    if (this.together > 1) vectors(this.together)
    else if (this.unroll > 1) vectors(this.unroll)
    vectors(1)
    f.get(n)
    f.if(() => {
      f.countDown(n, () => {
        this.points(rows, 1, 0, 0)
        this.eachRow(rows, () => this.advance(1))
      })
    })
    if (!blocked) this.flush()
    nest.eachFold((s, p, i) => {
      if (!s.inner) return
      if (s.deep) s.store(this.totals[i]!.at, 'f64')
      else if (!s.whole) s.store(p)
    })
  }
  private flush(): void {
    this.nest.eachFold((s) => {
      if (s.inner) s.flush()
    })
  }

  /** What is the same at every point of the innermost loop: inputs that do not move, what follows from them alone, and, as ~ of an operation, what its kernel makes of one aside. */
  private hoist(): void {
    const { f, k } = this
    const hoisted = this.hoisted[this.row]!
    k.inputs.forEach((a, i) => {
      if (a !== 'zero') return
      const r = hoisted.get(i) ?? f.local('v128')
      hoisted.set(i, r)
      this.lanes.splat(k.body.inputs[i]!, this.cursors[i]!)
      f.set(r)
    })
    k.body.ops.forEach((o, i) => {
      const id = this.inputs + i
      const hold = (key: number, value: Operand): void => {
        const r = hoisted.get(key) ?? f.local('v128')
        hoisted.set(key, r)
        f.set(r, value)
      }
      if (this.fixed[id] === 1)
        hold(id, () =>
          this.op(
            o,
            o.args.map((a) => hoisted.get(a)!),
            this.L,
          ),
        )
      else if (o.args.length === 2 && this.fixed[o.args[1]!] === 1) {
        const aside = this.ops.aside(o, hoisted.get(o.args[1]!)!)
        if (aside !== undefined) hold(~id, aside)
      }
    })
  }

  private advance(elements: number): void {
    const { f, k } = this
    const last = k.rank - 1
    const accesses = [...k.inputs, ...k.outputs.map((o) => o.access)]
    accesses.forEach((a, i) => {
      const c = this.cursors[i]!
      const s = i < this.inputs ? undefined : this.folds[i - this.inputs]
      if (s?.deep === true && !s.inner) {
        if (this.row === 0) f.increment(c, 8 * elements)
      } else if (a === 'unit') f.op(OP.i32_add, c, elements * bytesOf[this.dtypes[i]!]).set(c)
      else if (a === 'any' || a === 'turned') {
        const bytes = this.turned.get(i) ?? this.stride(i, last)
        if (this.row === 0 || !this.turned.has(i))
          f.op(OP.i32_add, c, () => (elements === 1 ? f.push(bytes) : f.op(OP.i32_mul, bytes, elements))).set(c)
      }
    })
  }

  /** Bytes from the cursor to element `ahead`, of neighbours. */
  private offset(operand: number, ahead: number): number {
    return ahead * bytesOf[this.dtypes[operand]!]
  }
  /** Address of element `ahead` from the cursor. */
  private at(operand: number, ahead: number): Operand {
    const access = operand < this.inputs ? this.k.inputs[operand]! : this.k.outputs[operand - this.inputs]!.access
    if (this.turned.has(operand)) return this.beside(operand, this.row)
    const c = this.cursors[operand]!
    if (ahead === 0 || access === 'zero') return c
    if (access === 'unit') return () => this.f.op(OP.i32_add, c, this.offset(operand, ahead))
    return () => this.f.op(OP.i32_add, c, () => this.f.op(OP.i32_mul, this.stride(operand, this.k.rank - 1), ahead))
  }

  /** Address of the element that lies as many rows below the one at the cursor of an input that is read turned. */
  private beside(operand: number, rows: number): Operand {
    return () => this.f.op(OP.i32_add, this.rowCursors[0]![operand]!, this.offset(operand, rows))
  }
  /** Reads the blocks of inputs that are read turned: a vector for each element of a row, and from these a vector for each row. */
  private readBlocks(): void {
    const { f, regs } = this
    for (const [i, bytes] of this.turned) {
      const columns = Array.from({ length: this.L }, () => regs.take())
      const rows = columns.map(() => regs.take())
      const at = f.local('i32')
      f.set(at, this.rowCursors[0]![i]!)
      columns.forEach((column, l) => {
        if (l > 0) f.increment(at, bytes)
        f.get(at).v128Load().set(column)
      })
      transposed(f, this.L === 2, columns, (r, value) => {
        value()
        f.set(rows[r]!)
      })
      for (const column of columns) regs.give(column)
      this.block.set(i, rows)
    }
  }

  /** One vector (count = L) or one element (count = 1, in lane 0) of each row, `ahead` elements from the cursors. */
  private points(rows: number, count: number, copy: number, ahead: number): void {
    const { f, regs } = this
    const held = new Map<number, Local>()
    if (rows > 1 && count > 1) this.readBlocks()
    this.eachRow(rows, () =>
      this.point(count, [{ copy, ahead }], (output, v) => {
        const s = this.folds[output]!
        const sum = held.get(output)
        if (rows === 1 || s.op !== 'sum') s.addToTotals(this.rowCursors[0]![this.inputs + output]!, 8 * ahead, v, count)
        else if (sum === undefined) {
          const first = regs.take()
          f.set(first, v)
          held.set(output, first)
        } else s.combine(sum, v)
      }),
    )
    for (const [output, v] of held) {
      this.folds[output]!.addToTotals(this.rowCursors[0]![this.inputs + output]!, 8 * ahead, v, count)
      regs.give(v)
    }
    for (const vectors of this.block.values()) vectors.forEach((v) => void regs.give(v))
    this.block.clear()
  }
  /** So many vectors of one row, each operation of all of them before the next. */
  private interleaved(vectors: number): void {
    const copies = Array.from({ length: vectors }, (_, copy) => ({ copy, ahead: copy * this.L }))
    this.point(this.L, copies, () => {})
  }
  /** The body at vectors, or at an element, of one row; `total` takes what is folded in scratch. */
  private point(count: number, copies: readonly Copy[], total: (output: number, v: Local) => void): void {
    const { f, k, regs } = this
    const hoisted = this.hoisted[this.row]!
    const last = k.rank - 1
    const values = copies.map(() => new Array<Local | undefined>(this.fixed.length))
    const uses = new Int32Array(this.fixed.length)
    for (const o of k.body.ops) for (const a of o.args) uses[a]!++
    for (const r of k.body.results) uses[r]!++
    const value = (c: number, id: number): Local => {
      const h = hoisted.get(id) ?? this.block.get(id)?.[this.row]
      if (h !== undefined) return h
      let v = values[c]![id]
      if (v === undefined) {
        v = regs.take()
        const d = k.body.inputs[id]!
        const { ahead } = copies[c]!
        if (k.inputs[id] === 'any' || k.inputs[id] === 'turned') {
          if (count === 1) this.lanes.splat(d, this.at(id, ahead))
          else this.lanes.gather(d, this.at(id, ahead), this.stride(id, last))
        } else if (count === 1) this.lanes.splat(d, this.at(id, ahead))
        else this.lanes.load(d, this.cursors[id]!, this.offset(id, ahead))
        f.set(v)
        values[c]![id] = v
      }
      return v
    }
    const release = (id: number): void => {
      if (--uses[id]! > 0 || hoisted.has(id)) return
      for (const of of values) {
        const v = of[id]
        if (v !== undefined) regs.give(v)
        of[id] = undefined
      }
    }
    k.body.ops.forEach((o, i) => {
      const id = this.inputs + i
      if (this.fixed[id] === 1 || uses[id] === 0) return
      const made = copies.map((_, c) => {
        this.op(
          o,
          o.args.map((a) => value(c, a)),
          count,
          hoisted.get(~id),
        )
        const v = regs.take()
        f.set(v)
        return v
      })
      for (const a of o.args) release(a)
      made.forEach((v, c) => {
        values[c]![id] = v
      })
    })
    // Every value is read before anything is stored, so that outputs may lie over inputs.
    const results = copies.map((_, c) => k.body.results.map((id) => value(c, id)))
    copies.forEach(({ copy, ahead }, c) => {
      k.outputs.forEach((o, i) => {
        const operand = this.inputs + i
        const v = results[c]![i]!
        const s = this.folds[i]
        if (s === undefined) {
          if (count === 1) this.lanes.storeLane(o.dtype, this.at(operand, ahead), v, 0)
          else if (o.access === 'any') this.lanes.scatter(o.dtype, this.at(operand, ahead), this.stride(operand, last), v)
          else this.lanes.store(o.dtype, this.cursors[operand]!, v, this.offset(operand, ahead))
        } else if (s.inner) {
          if (count === 1) s.addLane(v, 0)
          else s.addVector(v, copy)
        } else if (s.deep) total(i, v)
        else this.foldInto(s, o, operand, ahead, count, v)
      })
    })
    k.body.results.forEach(release)
  }

  /** Adds a vector (or lane 0) to what memory holds: the innermost axis is kept. */
  private foldInto(s: FoldEmitter, o: LoopOutput, operand: number, ahead: number, count: number, v: Local): void {
    const { f, regs } = this
    const old = regs.take()
    const at = this.at(operand, ahead)
    const stride = this.stride(operand, this.k.rank - 1)
    if (count === 1) this.lanes.splat(o.dtype, at)
    else if (o.access === 'any') this.lanes.gather(o.dtype, at, stride)
    else this.lanes.load(o.dtype, at)
    f.set(old)
    s.combine(old, v)
    if (count === 1) this.lanes.storeLane(o.dtype, at, old, 0)
    else if (o.access === 'any') this.lanes.scatter(o.dtype, at, stride, old)
    else this.lanes.store(o.dtype, at, old)
    regs.give(old)
  }

  private op(o: BodyOp, x: readonly Local[], count: number, aside?: Local): void {
    const from = o.args.map((a) => (a < this.inputs ? this.k.body.inputs[a]! : this.k.body.ops[a - this.inputs]!.dtype))
    this.ops.push(o, x, from, count, aside)
  }
}
