/** One folded output of a loop: vector accumulators inside, a scalar total outside, f64 for sums of floats. */
import type { DType } from '../../../core/types/dtype.js'
import type { Fold, LoopOutput } from '../../plan/kernel.js'
import { type FunctionBuilder, type Local, OP, type Op } from './encoder.js'

export class FoldEmitter {
  /** All axes folded: the total lives through the whole nest. */
  readonly whole: boolean
  /** Innermost axis folded. */
  readonly inner: boolean
  /** An axis outside the innermost is folded (and not all of them): memory holds partial results. */
  readonly partial: boolean
  readonly accumulate: boolean
  /** A sum of f32, whose accumulators are emptied into an f64 total every 1024 elements. */
  readonly blocked: boolean
  /** Accumulators, one per unrolled copy (innermost axis folded). */
  private readonly vectors: readonly Local[]
  private readonly total: Local
  private readonly op: Fold
  private readonly dtype: DType
  /** Totals of float sums are f64. */
  private readonly totalType: 'f64' | 'f32' | 'i32'
  private spare: Local | undefined

  constructor(
    private readonly f: FunctionBuilder,
    o: LoopOutput,
    rank: number,
    private readonly lanes: 2 | 4,
    unroll: number,
  ) {
    const { axes, op, accumulate } = o.fold!
    this.op = op
    this.dtype = o.dtype
    this.accumulate = accumulate
    this.inner = rank === 0 || axes[rank - 1]!
    this.whole = axes.every((x) => x)
    this.partial = !this.whole && axes.slice(0, rank - 1).some((x) => x)
    this.blocked = this.inner && o.dtype === 'f32' && op === 'sum'
    const floatSum = op === 'sum' && (o.dtype === 'f32' || o.dtype === 'f64')
    this.totalType = o.dtype === 'f64' || floatSum ? 'f64' : o.dtype === 'f32' ? 'f32' : 'i32'
    this.vectors = this.inner ? f.locals('v128', unroll) : []
    this.total = f.local(this.totalType)
  }

  // ---- the total --------------------------------------------------------------------------------------------------------

  /** Stores the identity at `p`. */
  storeIdentity(p: Local): void {
    this.f.get(p)
    this.pushIdentity(this.dtype)
    this.storeScalar()
  }
  /** The total begins with what lies at `p`, or with the identity. */
  start(p: Local, fromMemory = this.accumulate): void {
    const { f, dtype, totalType } = this
    if (!fromMemory) this.pushIdentity(totalType)
    else {
      f.get(p)
      if (dtype === 'f64') f.f64Load()
      else if (dtype === 'f32') f.f32Load()
      else f.i32Load()
      if (dtype === 'f32' && totalType === 'f64') f.op(OP.f64_promote_f32)
    }
    f.set(this.total)
  }
  /** Stores the total at `p`. */
  store(p: Local): void {
    this.f.get(p).get(this.total)
    if (this.dtype === 'f32' && this.totalType === 'f64') this.f.op(OP.f32_demote_f64)
    this.storeScalar()
  }
  private storeScalar(): void {
    if (this.dtype === 'f64') this.f.f64Store()
    else if (this.dtype === 'f32') this.f.f32Store()
    else this.f.i32Store()
  }
  private pushIdentity(type: DType): void {
    const x = identity(this.op, type)
    if (type === 'f64') this.f.f64Const(x)
    else if (type === 'f32') this.f.f32Const(x)
    else this.f.i32Const(x)
  }
  /** Folds lane l of v into the total. */
  addLane(v: Local, l: number): void {
    const { f, op, dtype, total, totalType } = this
    const lane = (): void => {
      f.get(v)
      if (dtype === 'f64') f.f64x2ExtractLane(l)
      else if (dtype === 'f32') f.f32x4ExtractLane(l)
      else f.i32x4ExtractLane(l)
      if (dtype === 'f32' && totalType === 'f64') f.op(OP.f64_promote_f32)
    }
    if (totalType !== 'i32' || op === 'sum' || op === 'prod') {
      f.op(scalarFold(op, totalType), total, lane).set(total)
      return
    }
    // Integer maximum and minimum have no scalar instruction.
    this.spare ??= f.local('i32')
    const x = this.spare
    f.set(x, lane)
    f.op(OP.select, total, x, () => f.op(op === 'max' ? OP.i32_gt_s : OP.i32_lt_s, total, x)).set(total)
  }

  // ---- the accumulators -------------------------------------------------------------------------------------------------

  /** Empties the accumulators. */
  reset(): void {
    for (const v of this.vectors) this.resetOne(v)
  }
  private resetOne(v: Local): void {
    const x = identity(this.op, this.dtype)
    if (this.dtype === 'f64') this.f.f64x2Const(x)
    else if (this.dtype === 'f32') this.f.f32x4Const(x)
    else this.f.i32x4Const(x)
    this.f.set(v)
  }
  /** Folds a vector into accumulator `copy`. */
  addVector(v: Local, copy: number): void {
    this.combine(this.vectors[copy]!, v)
  }
  /** target = target folded with v, lane by lane. */
  combine(target: Local, v: Local): void {
    this.f.op(vectorFold(this.op, this.dtype), target, v).set(target)
  }
  /** Folds the accumulators into the total and empties them. */
  flush(): void {
    const [first, ...rest] = this.vectors as readonly [Local, ...Local[]]
    for (const v of rest) this.combine(first, v)
    const lanes = this.dtype === 'f64' ? 2 : this.lanes
    for (let l = 0; l < lanes; l++) this.addLane(first, l)
    this.reset()
  }
}

const identity = (op: Fold, dtype: DType): number => {
  if (op === 'sum') return 0
  if (op === 'prod') return 1
  if (dtype === 'i32') return op === 'max' ? -2147483648 : 2147483647
  return op === 'max' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
}
const vectorFold = (op: Fold, dtype: DType): Op => {
  if (dtype === 'i32' || dtype === 'bool') return { sum: OP.i32x4_add, prod: OP.i32x4_mul, max: OP.i32x4_max_s, min: OP.i32x4_min_s }[op]
  return dtype === 'f64'
    ? { sum: OP.f64x2_add, prod: OP.f64x2_mul, max: OP.f64x2_max, min: OP.f64x2_min }[op]
    : { sum: OP.f32x4_add, prod: OP.f32x4_mul, max: OP.f32x4_max, min: OP.f32x4_min }[op]
}
const scalarFold = (op: Fold, type: 'f64' | 'f32' | 'i32'): Op => {
  if (type === 'i32') return op === 'sum' ? OP.i32_add : OP.i32_mul
  return type === 'f64'
    ? { sum: OP.f64_add, prod: OP.f64_mul, max: OP.f64_max, min: OP.f64_min }[op]
    : { sum: OP.f32_add, prod: OP.f32_mul, max: OP.f32_max, min: OP.f32_min }[op]
}
