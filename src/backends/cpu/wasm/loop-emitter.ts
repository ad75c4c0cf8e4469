/** The code of one loop: the nest, the innermost loop with its vectors and its tail, loads, the body, stores and folds. */
import type { DType } from '../../../core/types/dtype.js'
import type { BodyOp, LoopKernel, LoopOutput } from '../../plan/kernel.js'
import { viaMeaning } from '../elementwise.js'
import type { CpuFacets } from '../facets.js'
import { type FuncRef, type FunctionBuilder, type Local, OP, type Operand } from './encoder.js'
import { FoldEmitter } from './fold.js'
import { bytesOf, Lanes, Registers } from './lanes.js'
import { Vec } from './vec.js'

export class LoopEmitter {
  private readonly lanes: Lanes
  private readonly regs: Registers
  private readonly f32: Vec
  private readonly f64: Vec
  private readonly L: 2 | 4
  private readonly record: Local
  private readonly pointers: Local[]
  private readonly dtypes: readonly DType[]
  private readonly inputs: number
  private readonly hoisted = new Map<number, Local>()
  private readonly folds: readonly (FoldEmitter | undefined)[]
  private readonly unroll: number
  /** Addresses inside the innermost loop. */
  private readonly cursors: Local[]
  /** Body values that depend on no axis of the innermost loop. */
  private readonly fixed: Uint8Array
  private spare: Local | undefined

  constructor(
    private readonly f: FunctionBuilder,
    private readonly k: LoopKernel,
    private readonly meaning: (o: BodyOp) => FuncRef,
    private readonly facets: CpuFacets,
  ) {
    this.dtypes = [...k.body.inputs, ...k.outputs.map((o) => o.dtype)]
    this.inputs = k.body.inputs.length
    this.L = [...this.dtypes, ...k.body.ops.map((o) => o.dtype)].includes('f64') ? 2 : 4
    this.lanes = new Lanes(f, this.L)
    this.regs = new Registers(f)
    this.f32 = new Vec(f, this.regs, 'f32')
    this.f64 = new Vec(f, this.regs, 'f64')
    this.record = f.param(0)
    this.pointers = this.dtypes.map(() => f.local('i32'))
    this.cursors = this.dtypes.map(() => f.local('i32'))
    const last = k.rank - 1
    const foldsInner = k.outputs.some((o) => o.fold?.axes[last])
    this.unroll = foldsInner && k.body.ops.length <= 4 ? 4 : 1
    this.folds = k.outputs.map((o) => (o.fold === undefined ? undefined : new FoldEmitter(f, o, k.rank, this.L, this.unroll)))
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
  private size(axis: number): Operand {
    return this.k.rank === 0 ? 1 : this.word(axis)
  }
  private stride(operand: number, axis: number): Operand {
    return this.k.rank === 0 ? 0 : this.word(this.k.rank + operand * (this.k.rank + 1) + 1 + axis)
  }

  emit(): void {
    const { f, k } = this
    this.pointers.forEach((p, i) => {
      f.set(p, this.word(k.rank + i * (k.rank + 1)))
    })
    this.eachFold((s, p, i) => {
      if (s.whole) s.start(p)
      else if ((s.partial || !s.inner) && !s.accumulate) this.fill(i)
    })
    this.nest(0)
    this.eachFold((s, p) => {
      if (s.whole) s.store(p)
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
    f.localTee(count, this.size(axis))
    f.if(() => {
      f.countDown(count, () => {
        this.nest(axis + 1)
        this.pointers.forEach((p, i) => {
          if (!this.still(i)) f.op(OP.i32_add, p, this.stride(i, axis)).set(p)
        })
      })
      this.pointers.forEach((p, i) => {
        if (!this.still(i)) f.op(OP.i32_sub, p, () => f.op(OP.i32_mul, this.size(axis), this.stride(i, axis))).set(p)
      })
    })
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
      f.localTee(count, this.size(axis))
      f.if(() => {
        f.countDown(count, () => {
          go(axis + 1)
          f.op(OP.i32_add, p, this.stride(this.inputs + output, axis)).set(p)
        })
        f.op(OP.i32_sub, p, () => f.op(OP.i32_mul, this.size(axis), this.stride(this.inputs + output, axis))).set(p)
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
    this.eachFold((s, p) => {
      if (!s.inner) return
      if (!s.whole) s.start(p, s.partial || s.accumulate)
      s.reset()
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
      // Blocks of 1024 elements, each added to an f64 total.
      const per = Math.max(1, 1024 / width)
      f.block((done) =>
        f.loop((again) => {
          f.op(OP.i32_eqz, left).brIf(done)
          f.push(per).get(left)
          f.op(OP.i32_lt_u, per, left).op(OP.select).set(block)
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
    this.flush()
    this.eachFold((s, p) => {
      if (s.inner && !s.whole) s.store(p)
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
      if (a === 'unit') f.op(OP.i32_add, c, elements * bytesOf[this.dtypes[i]!]).set(c)
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

  // ---- operations -------------------------------------------------------------------------------------------------------

  private op(o: BodyOp, x: readonly Local[], count: number): void {
    const from = o.args.map((a) => this.dtypeOf(a))
    const working = o.dtype === 'f64' || from[0] === 'f64' || (o.dtype === 'bool' && from[from.length - 1] === 'f64') ? this.f64 : this.f32
    const kernel = this.facets.scalar(o.prim) ?? viaMeaning
    kernel({
      v: working,
      wide: this.f64,
      lanes: this.lanes,
      x,
      from,
      to: o.dtype,
      params: o.params,
      viaMeaning: () => this.callMeaning(o, x, from, count),
    })
  }
  /** One i32 local for values that are read at once. */
  private word32(): Local {
    this.spare ??= this.f.local('i32')
    return this.spare
  }
  private dtypeOf(value: number): DType {
    return value < this.inputs ? this.k.body.inputs[value]! : this.k.body.ops[value - this.inputs]!.dtype
  }

  /** The meaning, lane by lane, in f64. */
  private callMeaning(o: BodyOp, x: readonly Local[], from: readonly DType[], count: number): void {
    const { f, regs, L } = this
    const out = regs.take()
    f.i32x4Const(0).set(out)
    const f_ = this.meaning(o)
    for (let l = 0; l < count; l++) {
      f.get(out)
      x.forEach((r, i) => {
        f.get(r)
        const d = from[i]!
        if (d === 'f64') f.f64x2ExtractLane(l)
        else if (d === 'f32') f.f32x4ExtractLane(l).op(OP.f64_promote_f32)
        else if (d === 'i32') f.i32x4ExtractLane(l).op(OP.f64_convert_i32_s)
        else
          f.i32x4ExtractLane(L === 4 ? l : 2 * l)
            .i32Const(1)
            .op(OP.i32_and)
            .op(OP.f64_convert_i32_s)
      })
      f.call(f_)
      if (o.dtype === 'f64') f.f64x2ReplaceLane(l)
      else if (o.dtype === 'f32') f.op(OP.f32_demote_f64).f32x4ReplaceLane(l)
      else if (o.dtype === 'i32') f.op(OP.i32_trunc_sat_f64_s).i32x4ReplaceLane(l)
      else {
        const m = this.word32()
        f.op(OP.i32_trunc_sat_f64_s).set(m)
        f.op(OP.i32_sub, 0, m).set(m)
        if (L === 4) f.get(m).i32x4ReplaceLane(l)
        else
          f.get(m)
            .i32x4ReplaceLane(2 * l)
            .get(m)
            .i32x4ReplaceLane(2 * l + 1)
      }
      f.set(out)
    }
    f.get(out)
    regs.give(out)
  }
}
