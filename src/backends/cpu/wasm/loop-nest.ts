/** The loops around the innermost one: addresses of the operands, strips, folded outputs that begin and end, rows walked at once. */
import type { LoopKernel } from '../../plan/kernel.js'
import { LoopRecord } from '../records.js'
import { chunkedOutputs, emitChunkRows } from './chunks.js'
import type { FunctionBuilder, Local, Operand } from './encoder.js'
import { FoldEmitter } from './fold.js'
import * as OP from './opcodes.js'
import { foldsOf, STRIP, Totals } from './totals.js'

export class LoopNest {
  readonly folds: readonly (FoldEmitter | undefined)[]
  /** Totals in scratch, of the folds that have them there. */
  readonly totals: readonly (Totals | undefined)[]
  /** Rows of the axis around the innermost one that are walked at once. */
  readonly jam: number
  /** Where each operand's elements of the row begin that the nest has reached. */
  readonly pointers: readonly Local[]
  /** Length of the strip of the innermost axis that the nest walks; absent where it walks all of it. */
  private readonly span: Local | undefined
  /** The same of the outermost axis, where that is walked in chunks. */
  private readonly chunk: Local | undefined
  private readonly record: Local
  private readonly at: LoopRecord
  private readonly inputs: number

  /** `rows`: how many rows of the axis around the innermost one are walked at once, where folds allow it; `points`: of a chunk. */
  constructor(
    private readonly f: FunctionBuilder,
    private readonly k: LoopKernel,
    lanes: 2 | 4,
    unroll: number,
    rows: number,
    private readonly points: number,
  ) {
    const { rank, outputs } = k
    this.chunk = chunkedOutputs(k) > 0 ? f.local('i32') : undefined
    this.inputs = k.body.inputs.length
    this.record = f.param(0)
    this.at = new LoopRecord(rank, this.inputs + outputs.length)
    this.pointers = [...k.body.inputs, ...outputs].map(() => f.local('i32'))
    const { strips, axes } = foldsOf(k)
    this.span = strips ? f.local('i32') : undefined
    this.folds = outputs.map((o, i) => (axes[i] === undefined ? undefined : new FoldEmitter(f, o, axes[i], lanes, unroll)))
    this.totals = outputs.map((o, i) => {
      if (axes[i]?.deep !== true) return undefined
      const stride = (axis: number): Operand => this.stride(this.inputs + i, axis)
      return new Totals({ f, lanes, rank, size: (a) => this.size(a), stride }, this.folds[i]!, o, axes[i].level)
    })
    // Rows can be added up first where every total of theirs is over them, and none is along them.
    const over = outputs.every((o, i) => axes[i]?.deep !== true || o.fold!.axes[rank - 2]!)
    this.jam = outputs.every((o) => o.fold === undefined) || (strips && over && axes.every((a) => a?.inner !== true)) ? rows : 1
  }

  private word(index: number): Operand {
    return () => this.f.get(this.record).i32Load(4 * index)
  }
  /** A loop of rank 0 is one of rank 1 with one point. */
  private length(axis: number): Operand {
    return this.k.rank === 0 ? 1 : this.word(this.at.size(axis))
  }
  /** What the nest walks of an axis. */
  size(axis: number): Operand {
    if (this.chunk !== undefined && axis === 0) return this.chunk
    return this.span !== undefined && axis === this.k.rank - 1 ? this.span : this.length(axis)
  }
  /** Bytes between neighbours of an operand along an axis. */
  stride(operand: number, axis: number): Operand {
    return this.k.rank === 0 ? 0 : this.word(this.at.stride(operand, axis))
  }
  /** Every folded output, with the address that its loop has reached. */
  eachFold(body: (s: FoldEmitter, p: Local, output: number) => void): void {
    this.folds.forEach((s, i) => {
      if (s !== undefined) body(s, this.pointers[this.inputs + i]!, i)
    })
  }

  /** The whole loop; `inner` is the innermost one, of as many rows as it is told. `kept`: the totals of chunks go where the word behind the scratch says, and into no result. */
  emit(inner: (rows: number) => void, kept = false): void {
    const { f } = this
    this.pointers.forEach((p, i) => {
      f.set(p, this.word(this.at.address(i)))
    })
    this.placeTotals()
    this.eachFold((s, p, i) => {
      if (s.whole) {
        if (this.chunk === undefined) s.start(p, s.accumulate)
        else if (!kept) s.startAll(p)
      } else if (!s.deep && (s.partial || !s.inner) && !s.accumulate) this.fill(i)
    })
    this.eachTotals(-1, (t, p) => t.begin(p))
    if (this.chunk !== undefined) this.chunks(this.chunk, inner, kept)
    else if (this.span === undefined) this.nest(0, inner)
    else this.strips(this.span, inner)
    this.eachTotals(-1, (t, p) => t.end(p))
    if (kept) return
    this.eachFold((s, p) => {
      if (s.whole && this.chunk === undefined) s.store(p)
      else if (s.whole) s.storeAll(p)
    })
  }
  private get rowsOfChunk(): Operand {
    return emitChunkRows(
      this.f,
      Array.from({ length: this.k.rank }, (_, axis) => this.length(axis)),
      this.points,
    )
  }
  /** The nest over the outermost axis, a chunk at a time. */
  private chunks(chunk: Local, inner: (rows: number) => void, kept: boolean): void {
    const { f } = this
    const [left, rows, to] = f.locals('i32', 3)
    f.set(rows, this.rowsOfChunk)
    if (kept) f.set(to, this.word(this.at.kept))
    f.localTee(left, this.length(0))
    f.if(() =>
      f.loop((next) => {
        f.op(OP.select, rows, left, () => f.op(OP.i32_lt_u, rows, left)).set(chunk)
        this.eachFold((s, p) => {
          if (s.whole) s.start(p, false)
        })
        this.nest(0, inner)
        this.eachFold((s) => {
          if (!s.whole) return
          if (!kept) s.addChunk()
          else {
            s.keepChunk(to)
            f.increment(to, 8)
          }
        })
        this.move(0, chunk)
        f.op(OP.i32_sub, left, chunk).localTee(left).brIf(next)
      }),
    )
  }
  /** What is left where totals of chunks were kept: the results of all of them. */
  emitResults(): void {
    const { f } = this
    const [left, from] = f.locals('i32', 2)
    f.set(from, this.word(this.at.kept))
    const whole = (body: (s: FoldEmitter, p: Local) => void): void =>
      this.eachFold((s, p, i) => {
        if (!s.whole) return
        f.set(p, this.word(this.at.address(this.inputs + i)))
        body(s, p)
      })
    whole((s, p) => s.startAll(p))
    // As many as there are chunks: the last may be short.
    const rows = f.local('i32')
    f.set(rows, this.rowsOfChunk)
    f.op(OP.i32_div_u, () => f.op(OP.i32_sub, () => f.op(OP.i32_add, this.length(0), rows), 1), rows).localTee(left)
    f.if(() =>
      f.countDown(left, () =>
        whole((s) => {
          s.addKept(from)
          f.increment(from, 8)
        }),
      ),
    )
    whole((s, p) => s.storeAll(p))
  }
  /** The nest over the innermost axis, STRIP elements of it at a time. */
  private strips(span: Local, inner: (rows: number) => void): void {
    const { f, k } = this
    const left = f.local('i32')
    const last = k.rank - 1
    f.localTee(left, this.length(last))
    f.if(() =>
      f.loop((next) => {
        f.push(STRIP).get(left)
        f.op(OP.i32_lt_u, STRIP, left).op(OP.select).set(span)
        this.nest(0, inner)
        this.move(last, span)
        f.op(OP.i32_sub, left, span).localTee(left).brIf(next)
      }),
    )
    // Back to where the outputs begin: totals of rows end there.
    this.moveBack(last, this.length(last))
  }
  private placeTotals(): void {
    if (this.totals.every((t) => t === undefined)) return
    const { f, k } = this
    const free = f.local('i32')
    const last = k.rank - 1
    const longest = (): unknown => f.push(STRIP).push(this.length(last)).op(OP.i32_gt_u, this.length(last), STRIP).op(OP.select)
    f.set(free, this.word(this.at.scratch))
    for (const t of this.totals) t?.place(free, (a) => (a === last ? longest : this.length(a)))
  }
  /** Totals that live as long as the loop of this axis, with the address of their output. */
  private eachTotals(level: number, body: (t: Totals, p: Local) => void): void {
    this.totals.forEach((t, i) => {
      if (t?.level === level) body(t, this.pointers[this.inputs + i]!)
    })
  }

  private nest(axis: number, inner: (rows: number) => void): void {
    const { f, k, jam } = this
    if (axis >= k.rank - 1) {
      inner(1)
      return
    }
    this.eachTotals(axis, (t, p) => t.begin(p))
    const count = f.local('i32')
    const walk = (times: Operand, rows: number): void => {
      f.localTee(count, times)
      f.if(() =>
        f.countDown(count, () => {
          if (axis === k.rank - 2) inner(rows)
          else this.nest(axis + 1, inner)
          this.move(axis, rows)
        }),
      )
    }
    if (axis === k.rank - 2 && jam > 1) {
      walk(() => f.op(OP.i32_div_u, this.size(axis), jam), jam)
      walk(() => f.op(OP.i32_rem_u, this.size(axis), jam), 1)
    } else walk(this.size(axis), 1)
    this.moveBack(axis, this.size(axis))
    this.eachTotals(axis, (t, p) => t.end(p))
  }
  /** An operand that no outer axis moves: only known for totals. */
  private still(operand: number): boolean {
    const s = operand >= this.inputs ? this.folds[operand - this.inputs] : undefined
    return s?.whole === true
  }
  /** Moves every address along an axis. */
  private move(axis: number, times: number | Local): void {
    const { f } = this
    const far = (step: Operand): Operand => (times === 1 ? step : () => f.op(OP.i32_mul, step, times))
    this.pointers.forEach((p, i) => {
      if (!this.still(i)) f.increment(p, far(this.stride(i, axis)))
    })
    for (const t of this.totals) {
      const step = t?.stride(axis)
      if (step !== undefined) f.increment(t!.at, far(step))
    }
  }
  /** Moves every address back by so many units of an axis. */
  private moveBack(axis: number, units: Operand): void {
    const { f } = this
    const back = (p: Local, step: Operand): void => {
      f.op(OP.i32_sub, p, () => f.op(OP.i32_mul, units, step)).set(p)
    }
    this.pointers.forEach((p, i) => {
      if (!this.still(i)) back(p, this.stride(i, axis))
    })
    for (const t of this.totals) {
      const step = t?.stride(axis)
      if (step !== undefined) back(t!.at, step)
    }
  }

  /** Writes the fold's identity over the kept axes of an output. */
  private fill(output: number): void {
    const { f, k } = this
    const o = k.outputs[output]!
    const p = this.pointers[this.inputs + output]!
    const go = (axis: number): void => {
      if (axis === k.rank) {
        this.folds[output]!.storeIdentity(p)
        return
      }
      if (o.fold!.axes[axis]) {
        go(axis + 1)
        return
      }
      const count = f.local('i32')
      f.localTee(count, this.length(axis))
      f.if(() => {
        f.countDown(count, () => {
          go(axis + 1)
          f.increment(p, this.stride(this.inputs + output, axis))
        })
        f.op(OP.i32_sub, p, () => f.op(OP.i32_mul, this.length(axis), this.stride(this.inputs + output, axis))).set(p)
      })
    }
    go(0)
  }
}
