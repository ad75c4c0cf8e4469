/** The code of one loop: the nest, the innermost loop with its vectors and its tail, loads, the body, stores and folds. */
import type { DType } from '../../../core/types/dtype.js'
import type { BodyOp, LoopKernel, LoopOutput } from '../../plan/kernel.js'
import type { CpuFacets } from '../facets.js'
import { type FuncRef, type FunctionBuilder, type Local, OP, type Operand } from './encoder.js'
import { FoldEmitter } from './fold.js'
import { bytesOf, Lanes, Registers } from './lanes.js'
import { BodyOps } from './loop-body.js'
import { foldsOf, STRIP, Totals } from './totals.js'

/** Additions that an accumulator of f32 takes before it is emptied into an f64: the error of a sum stays below CHAIN / 2 roundings. */
const CHAIN = 32

export class LoopEmitter {
  private readonly lanes: Lanes
  private readonly regs: Registers
  private readonly ops: BodyOps
  private readonly L: 2 | 4
  private readonly record: Local
  private readonly pointers: Local[]
  private readonly dtypes: readonly DType[]
  private readonly inputs: number
  private readonly hoisted = new Map<number, Local>()
  private readonly folds: readonly (FoldEmitter | undefined)[]
  /** Totals in scratch, of the folds that have them there. */
  private readonly totals: readonly (Totals | undefined)[]
  /** Length of the strip of the innermost axis that the nest walks; absent where it walks all of it. */
  private readonly span: Local | undefined
  private readonly unroll: number
  /** Addresses inside the innermost loop. */
  private readonly cursors: Local[]
  /** Body values that depend on no axis of the innermost loop. */
  private readonly fixed: Uint8Array

  constructor(
    private readonly f: FunctionBuilder,
    private readonly k: LoopKernel,
    meaning: (o: BodyOp) => FuncRef,
    facets: CpuFacets,
  ) {
    this.dtypes = [...k.body.inputs, ...k.outputs.map((o) => o.dtype)]
    this.inputs = k.body.inputs.length
    this.L = [...this.dtypes, ...k.body.ops.map((o) => o.dtype)].includes('f64') ? 2 : 4
    this.lanes = new Lanes(f, this.L)
    this.regs = new Registers(f)
    this.ops = new BodyOps(f, this.lanes, this.regs, meaning, facets)
    this.record = f.param(0)
    this.pointers = this.dtypes.map(() => f.local('i32'))
    this.cursors = this.dtypes.map(() => f.local('i32'))
    const last = k.rank - 1
    const foldsInner = k.outputs.some((o) => o.fold?.axes[last])
    this.unroll = foldsInner && k.body.ops.length <= 4 ? 4 : 1
    const { strips, axes } = foldsOf(k)
    this.span = strips ? f.local('i32') : undefined
    this.folds = k.outputs.map((o, i) => (axes[i] === undefined ? undefined : new FoldEmitter(f, o, axes[i], this.L, this.unroll)))
    this.totals = k.outputs.map((o, i) => {
      if (axes[i]?.deep !== true) return undefined
      const stride = (axis: number): Operand => this.stride(this.inputs + i, axis)
      return new Totals({ f, lanes: this.L, rank: k.rank, size: (a) => this.size(a), stride }, this.folds[i]!, o, axes[i].level)
    })
    this.fixed = new Uint8Array(this.inputs + k.body.ops.length)
    k.inputs.forEach((a, i) => {
      if (a === 'zero') this.fixed[i] = 1
    })
    k.body.ops.forEach((o, i) => {
      if (o.args.every((a) => this.fixed[a] === 1)) this.fixed[this.inputs + i] = 1
    })
  }

  private word(index: number): Operand {
    return () => this.f.get(this.record).i32Load(4 * index)
  }
  /** A loop of rank 0 is one of rank 1 with one point. */
  private length(axis: number): Operand {
    return this.k.rank === 0 ? 1 : this.word(axis)
  }
  /** What the nest walks of an axis. */
  private size(axis: number): Operand {
    return this.span !== undefined && axis === this.k.rank - 1 ? this.span : this.length(axis)
  }
  private stride(operand: number, axis: number): Operand {
    return this.k.rank === 0 ? 0 : this.word(this.k.rank + operand * (this.k.rank + 1) + 1 + axis)
  }

  emit(): void {
    const { f, k } = this
    this.pointers.forEach((p, i) => {
      f.set(p, this.word(k.rank + i * (k.rank + 1)))
    })
    this.placeTotals()
    this.eachFold((s, p, i) => {
      if (s.whole) s.start(p, s.accumulate)
      else if (!s.deep && (s.partial || !s.inner) && !s.accumulate) this.fill(i)
    })
    this.eachTotals(-1, (t, p) => t.begin(p))
    if (this.span === undefined) this.nest(0)
    else this.strips(this.span)
    this.eachTotals(-1, (t, p) => t.end(p))
    this.eachFold((s, p) => {
      if (s.whole) s.store(p)
    })
  }
  /** The nest over the innermost axis, STRIP elements of it at a time. */
  private strips(span: Local): void {
    const { f, k } = this
    const left = f.local('i32')
    const last = k.rank - 1
    f.localTee(left, this.length(last))
    f.if(() =>
      f.loop((next) => {
        f.push(STRIP).get(left)
        f.op(OP.i32_lt_u, STRIP, left).op(OP.select).set(span)
        this.nest(0)
        this.pointers.forEach((p, i) => {
          if (!this.still(i)) f.increment(p, () => f.op(OP.i32_mul, span, this.stride(i, last)))
        })
        f.op(OP.i32_sub, left, span).localTee(left).brIf(next)
      }),
    )
    // Back to where the outputs begin: totals of rows end there.
    this.pointers.forEach((p, i) => {
      if (!this.still(i)) f.op(OP.i32_sub, p, () => f.op(OP.i32_mul, this.length(last), this.stride(i, last))).set(p)
    })
  }
  private placeTotals(): void {
    if (this.totals.every((t) => t === undefined)) return
    const { f, k } = this
    const free = f.local('i32')
    const last = k.rank - 1
    const longest = (): unknown => f.push(STRIP).push(this.length(last)).op(OP.i32_gt_u, this.length(last), STRIP).op(OP.select)
    f.set(free, this.word(k.rank + this.dtypes.length * (k.rank + 1)))
    for (const t of this.totals) t?.place(free, (a) => (a === last ? longest : this.length(a)))
  }
  /** Totals that live as long as the loop of this axis, with the address of their output. */
  private eachTotals(level: number, body: (t: Totals, p: Local) => void): void {
    this.totals.forEach((t, i) => {
      if (t?.level === level) body(t, this.pointers[this.inputs + i]!)
    })
  }
  /** Every folded output, with the address that its loop has reached. */
  private eachFold(body: (s: FoldEmitter, p: Local, output: number) => void): void {
    this.folds.forEach((s, i) => {
      if (s !== undefined) body(s, this.pointers[this.inputs + i]!, i)
    })
  }

  // ---- loops over the outer axes ----------------------------------------------------------------------------------------

  private nest(axis: number): void {
    const { f, k } = this
    if (axis >= k.rank - 1) {
      this.inner()
      return
    }
    const count = f.local('i32')
    this.eachTotals(axis, (t, p) => t.begin(p))
    f.localTee(count, this.size(axis))
    f.if(() => {
      f.countDown(count, () => {
        this.nest(axis + 1)
        this.pointers.forEach((p, i) => {
          if (!this.still(i)) f.op(OP.i32_add, p, this.stride(i, axis)).set(p)
        })
        for (const t of this.totals) {
          const step = t?.stride(axis)
          if (step !== undefined) f.increment(t!.at, step)
        }
      })
      this.pointers.forEach((p, i) => {
        if (!this.still(i)) f.op(OP.i32_sub, p, () => f.op(OP.i32_mul, this.size(axis), this.stride(i, axis))).set(p)
      })
      for (const t of this.totals) {
        const step = t?.stride(axis)
        if (step !== undefined) f.op(OP.i32_sub, t!.at, () => f.op(OP.i32_mul, this.size(axis), step)).set(t!.at)
      }
    })
    this.eachTotals(axis, (t, p) => t.end(p))
  }
  /** An operand that no outer axis moves: only known for totals. */
  private still(operand: number): boolean {
    const s = operand >= this.inputs ? this.folds[operand - this.inputs] : undefined
    return s?.whole === true
  }

  /** Writes the fold's identity over the kept axes. */
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
          f.op(OP.i32_add, p, this.stride(this.inputs + output, axis)).set(p)
        })
        f.op(OP.i32_sub, p, () => f.op(OP.i32_mul, this.length(axis), this.stride(this.inputs + output, axis))).set(p)
      })
    }
    go(0)
  }

  // ---- the innermost loop -----------------------------------------------------------------------------------------------

  private inner(): void {
    const { f, k, L } = this
    const last = k.rank - 1
    const n = f.local('i32')
    f.set(n, this.size(last))
    this.cursors.forEach((c, i) => {
      f.set(c, this.pointers[i]!)
    })
    // An empty loop reads nothing: its operands may have no memory at all.
    f.get(n)
    f.if(() => this.hoist())
    this.eachFold((s, p, i) => {
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
          for (let c = 0; c < u; c++) this.point(L, c, c * L)
          this.advance(width)
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
    if (this.unroll > 1) vectors(this.unroll)
    vectors(1)
    f.get(n)
    f.if(() => {
      f.countDown(n, () => {
        this.point(1, 0, 0)
        this.advance(1)
      })
    })
    if (!blocked) this.flush()
    this.eachFold((s, p, i) => {
      if (!s.inner) return
      if (s.deep) s.store(this.totals[i]!.at, 'f64')
      else if (!s.whole) s.store(p)
    })
  }
  private flush(): void {
    this.eachFold((s) => {
      if (s.inner) s.flush()
    })
  }

  /** What is the same at every point of the innermost loop: inputs that do not move, and what follows from them alone. */
  private hoist(): void {
    const { f, k } = this
    k.inputs.forEach((a, i) => {
      if (a !== 'zero') return
      const r = this.hoisted.get(i) ?? f.local('v128')
      this.hoisted.set(i, r)
      this.lanes.splat(k.body.inputs[i]!, this.pointers[i]!)
      f.set(r)
    })
    k.body.ops.forEach((o, i) => {
      const id = this.inputs + i
      if (this.fixed[id] === 0) return
      const r = this.hoisted.get(id) ?? f.local('v128')
      this.hoisted.set(id, r)
      this.op(
        o,
        o.args.map((a) => this.hoisted.get(a)!),
        this.L,
      )
      f.set(r)
    })
  }

  private advance(elements: number): void {
    const { f, k } = this
    const last = k.rank - 1
    const accesses = [...k.inputs, ...k.outputs.map((o) => o.access)]
    accesses.forEach((a, i) => {
      const c = this.cursors[i]!
      const s = i < this.inputs ? undefined : this.folds[i - this.inputs]
      if (s?.deep === true && !s.inner) f.increment(c, 8 * elements)
      else if (a === 'unit') f.op(OP.i32_add, c, elements * bytesOf[this.dtypes[i]!]).set(c)
      else if (a === 'any')
        f.op(OP.i32_add, c, () => (elements === 1 ? f.push(this.stride(i, last)) : f.op(OP.i32_mul, this.stride(i, last), elements))).set(c)
    })
  }

  /** Address of element `ahead` from the cursor. */
  private at(operand: number, ahead: number): Operand {
    const access = operand < this.inputs ? this.k.inputs[operand]! : this.k.outputs[operand - this.inputs]!.access
    const c = this.cursors[operand]!
    if (ahead === 0 || access === 'zero') return c
    if (access === 'unit') return () => this.f.op(OP.i32_add, c, ahead * bytesOf[this.dtypes[operand]!])
    return () => this.f.op(OP.i32_add, c, () => this.f.op(OP.i32_mul, this.stride(operand, this.k.rank - 1), ahead))
  }

  /** One vector (count = L) or one element (count = 1, in lane 0) of the body, `ahead` elements from the cursors. */
  private point(count: number, copy: number, ahead: number): void {
    const { f, k, regs } = this
    const last = k.rank - 1
    const values: (Local | undefined)[] = new Array<Local | undefined>(this.fixed.length)
    const uses = new Int32Array(this.fixed.length)
    for (const o of k.body.ops) for (const a of o.args) uses[a]!++
    for (const r of k.body.results) uses[r]!++
    const value = (id: number): Local => {
      const h = this.hoisted.get(id)
      if (h !== undefined) return h
      let v = values[id]
      if (v === undefined) {
        v = regs.take()
        const d = k.body.inputs[id]!
        if (k.inputs[id] === 'any') {
          if (count === 1) this.lanes.splat(d, this.at(id, ahead))
          else this.lanes.gather(d, this.at(id, ahead), this.stride(id, last))
        } else if (count === 1) this.lanes.splat(d, this.at(id, ahead))
        else this.lanes.load(d, this.at(id, ahead))
        f.set(v)
        values[id] = v
      }
      return v
    }
    const release = (id: number): void => {
      if (--uses[id]! > 0 || this.hoisted.has(id)) return
      const v = values[id]
      if (v !== undefined) regs.give(v)
      values[id] = undefined
    }
    k.body.ops.forEach((o, i) => {
      const id = this.inputs + i
      if (this.fixed[id] === 1 || uses[id] === 0) return
      const xs = o.args.map(value)
      this.op(o, xs, count)
      for (const a of o.args) release(a)
      const v = regs.take()
      f.set(v)
      values[id] = v
    })
    // Every value is read before anything is stored, so that outputs may lie over inputs.
    const results = k.body.results.map(value)
    k.outputs.forEach((o, i) => {
      const operand = this.inputs + i
      const v = results[i]!
      const s = this.folds[i]
      if (s === undefined) {
        if (count === 1) this.lanes.storeLane(o.dtype, this.at(operand, ahead), v, 0)
        else if (o.access === 'any') this.lanes.scatter(o.dtype, this.at(operand, ahead), this.stride(operand, last), v)
        else this.lanes.store(o.dtype, this.at(operand, ahead), v)
      } else if (s.inner) {
        if (count === 1) s.addLane(v, 0)
        else s.addVector(v, copy)
      } else this.foldInto(s, o, operand, ahead, count, v)
    })
    k.body.results.forEach(release)
  }

  /** Adds a vector (or lane 0) to what memory holds: the innermost axis is kept. */
  private foldInto(s: FoldEmitter, o: LoopOutput, operand: number, ahead: number, count: number, v: Local): void {
    const { f, regs } = this
    if (s.deep) {
      s.addToTotals(this.cursors[operand]!, 8 * ahead, v, count)
      return
    }
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

  private op(o: BodyOp, x: readonly Local[], count: number): void {
    const from = o.args.map((a) => (a < this.inputs ? this.k.body.inputs[a]! : this.k.body.ops[a - this.inputs]!.dtype))
    this.ops.push(o, x, from, count)
  }
}
