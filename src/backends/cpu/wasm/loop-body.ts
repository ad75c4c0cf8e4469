/** The operations of a loop's body, on registers: each by its vector form, or by its meaning lane by lane. */
import type { DType } from '../../../core/types/dtype.js'
import type { BodyOp } from '../../plan/kernel.js'
import type { CpuFacets } from '../facets.js'
import { viaMeaning } from '../forms.js'
import type { FuncRef, FunctionBuilder, Local, Operand } from './encoder.js'
import type { Lanes, Registers } from './lanes.js'
import * as OP from './opcodes.js'
import { Vec } from './vec.js'

/** Functions that a module imports for the operations of its loops. */
export interface LoopFunctions {
  readonly meaning: (o: BodyOp) => FuncRef
  readonly math: (o: BodyOp) => FuncRef
}

export class BodyOps {
  private readonly f32: Vec
  private readonly f64: Vec
  private spare: Local | undefined

  constructor(
    private readonly f: FunctionBuilder,
    private readonly lanes: Lanes,
    private readonly regs: Registers,
    private readonly functions: LoopFunctions,
    private readonly facets: CpuFacets,
  ) {
    this.f32 = new Vec(f, regs, 'f32')
    this.f64 = new Vec(f, regs, 'f64')
  }

  /** What a kernel makes once of a second argument that stays the same. */
  aside(o: BodyOp, y: Local): Operand | undefined {
    const form = this.facets.scalar(o.prim)?.aside
    return o.dtype === 'i32' ? undefined : form?.(o.dtype === 'f64' ? this.f64 : this.f32, y)
  }
  /** Pushes the value of an operation on `x`, of dtypes `from`; only the first `count` lanes are asked for. */
  push(o: BodyOp, x: readonly Local[], from: readonly DType[], count: number, aside: Local | undefined): void {
    const working = o.dtype === 'f64' || from[0] === 'f64' || (o.dtype === 'bool' && from[from.length - 1] === 'f64') ? this.f64 : this.f32
    const kernel = this.facets.scalar(o.prim) ?? viaMeaning
    kernel({
      aside,
      v: working,
      wide: this.f64,
      lanes: this.lanes,
      x,
      from,
      to: o.dtype,
      params: o.params,
      viaMeaning: () => this.eachLane(this.functions.meaning(o), o, x, from, count),
      viaMath: () => this.eachLane(this.functions.math(o), o, x, from, count),
    })
  }

  /** One i32 local for values that are read at once. */
  private word32(): Local {
    this.spare ??= this.f.local('i32')
    return this.spare
  }

  /** A function of numbers, lane by lane, in f64. */
  private eachLane(called: FuncRef, o: BodyOp, x: readonly Local[], from: readonly DType[], count: number): void {
    const { f, regs } = this
    const L = this.lanes.lanes
    const out = regs.take()
    f.i32x4Const(0).set(out)
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
      f.call(called)
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
