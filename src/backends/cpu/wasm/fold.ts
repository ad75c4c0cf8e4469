/** One folded output of a loop: vector accumulators inside, a scalar total outside. Sums and products of f32 are totalled in f64. */
import type { DType } from '../../../core/types/dtype.js'
import { type Fold, identityOf, type LoopOutput } from '../../plan/kernel.js'
import type { FunctionBuilder, Local, Op, Operand } from './encoder.js'
import * as OP from './opcodes.js'

/** How the axes of a loop stand to a folded output. */
export interface FoldAxes {
  /** All axes folded: the total lives through the whole nest. */
  readonly whole: boolean
  /** Innermost axis folded. */
  readonly inner: boolean
  /** The innermost axis and another, but not all: the total of a row is one part of a result. */
  readonly partial: boolean
  /** Totals lie in scratch in f64 (totals.ts): an f32 in memory would be rounded at every step of the outer axis. */
  readonly deep: boolean
  /** The first axis that is folded, -1 where the innermost alone is and is walked in strips; totals in scratch live as long as its loop. */
  readonly level: number
}
/** `strips`: the innermost axis is walked in parts, so that its rows are parts of results too. */
export const foldAxes = (o: LoopOutput, rank: number, strips: boolean): FoldAxes => {
  const { axes, op } = o.fold!
  const inner = rank === 0 || axes[rank - 1]!
  const whole = axes.every((x) => x)
  const outer = axes.slice(0, rank - 1).some((x) => x)
  const partial = inner && !whole && (outer || strips)
  const deep = o.dtype === 'f32' && (op === 'sum' || op === 'prod') && !whole && (partial || outer)
  return { whole, inner, partial, deep, level: inner && strips ? -1 : axes.indexOf(true) }
}

export class FoldEmitter {
  readonly whole: boolean
  readonly inner: boolean
  readonly partial: boolean
  readonly deep: boolean
  readonly accumulate: boolean
  /** A sum of f32, whose accumulators are emptied into f64 totals after 32 additions. */
  readonly blocked: boolean
  /** Accumulators of the innermost axis, one per unrolled copy; two of f64 for a vector of four f32 that is multiplied. */
  private readonly vectors: readonly Local[]
  /** What a blocked sum's accumulators are emptied into: two f64. */
  private readonly pair: Local | undefined
  private readonly total: Local
  /** Of a loop in chunks: the total of those before. */
  private readonly grand: Local
  /** Of an extreme of floats: lanes that have met a NaN, and the sign that a zero has in them. */
  private readonly extreme: { readonly nan: Local; readonly signs: Local } | undefined
  readonly op: Fold
  readonly dtype: DType
  /** Dtype of the accumulators. */
  private readonly inside: DType
  private readonly totalType: 'f64' | 'f32' | 'i32'
  private spare: Local | undefined

  constructor(
    private readonly f: FunctionBuilder,
    o: LoopOutput,
    axes: FoldAxes,
    private readonly lanes: 2 | 4,
    unroll: number,
  ) {
    const { op, accumulate } = o.fold!
    this.op = op
    this.dtype = o.dtype
    this.accumulate = accumulate
    this.whole = axes.whole
    this.inner = axes.inner
    this.partial = axes.partial
    this.deep = axes.deep
    this.blocked = this.inner && o.dtype === 'f32' && op === 'sum'
    // A product is wrong by as much as all its roundings together, so that f32 would not do for any length.
    this.inside = o.dtype === 'f32' && op === 'prod' ? 'f64' : o.dtype
    const single = o.dtype === 'f32' && (op === 'max' || op === 'min')
    this.totalType = o.dtype === 'f64' ? 'f64' : o.dtype === 'f32' ? (single ? 'f32' : 'f64') : 'i32'
    this.vectors = this.inner ? f.locals('v128', unroll * this.parts) : []
    this.pair = this.blocked ? f.local('v128') : undefined
    this.total = f.local(this.totalType)
    this.grand = f.local(this.totalType)
    this.extreme = this.inner && (op === 'max' || op === 'min') && o.dtype.startsWith('f') ? f.namedLocals('v128', 'nan signs') : undefined
  }
  /** Registers that a vector of the loop fills as accumulators. */
  private get parts(): number {
    return this.inside !== this.dtype && this.lanes === 4 ? 2 : 1
  }

  // ---- the total --------------------------------------------------------------------------------------------------------

  /** Stores the identity at `p`. */
  storeIdentity(p: Local): void {
    this.f.get(p)
    this.pushIdentity(this.dtype)
    this.storeScalar(this.dtype)
  }
  /** The total begins with what lies at `p` (with `dtype`), or with the identity. */
  start(p: Local, fromMemory: boolean, dtype: DType = this.dtype): void {
    this.pushStart(p, fromMemory, dtype)
    this.f.set(this.total)
    if (this.pair !== undefined) this.f.f64x2Const(0).set(this.pair)
  }
  private pushStart(p: Local, fromMemory: boolean, dtype: DType): void {
    const { f, totalType } = this
    if (!fromMemory) this.pushIdentity(totalType)
    else {
      f.get(p)
      if (dtype === 'f64') f.f64Load()
      else if (dtype === 'f32') f.f32Load()
      else f.i32Load()
      if (dtype === 'f32' && totalType === 'f64') f.op(OP.f64_promote_f32)
    }
  }
  /** Stores the total at `p` (with `dtype`). */
  store(p: Local, dtype: DType = this.dtype): void {
    this.f.get(p)
    this.pushTotal()
    if (dtype === 'f32' && this.totalType === 'f64') this.f.op(OP.f32_demote_f64)
    this.storeScalar(dtype)
  }
  private pushTotal(): void {
    const { f, pair } = this
    f.get(this.total)
    if (pair !== undefined) f.get(pair).f64x2ExtractLane(0).get(pair).f64x2ExtractLane(1).op(OP.f64_add).op(OP.f64_add)
  }
  private storeScalar(dtype: DType): void {
    if (dtype === 'f64') this.f.f64Store()
    else if (dtype === 'f32') this.f.f32Store()
    else this.f.i32Store()
  }
  pushIdentity(type: DType): void {
    const x = identityOf(this.op, type)
    if (type === 'f64') this.f.f64Const(x)
    else if (type === 'f32') this.f.f32Const(x)
    else this.f.i32Const(x)
  }
  /** Folds lane l of v, a vector of `dtype`, into the total. */
  addLane(v: Local, l: number, dtype: DType = this.dtype): void {
    const { f, total, totalType } = this
    const lane = (): void => {
      f.get(v)
      if (dtype === 'f64') f.f64x2ExtractLane(l)
      else if (dtype === 'f32') f.f32x4ExtractLane(l)
      else f.i32x4ExtractLane(l)
      if (dtype === 'f32' && totalType === 'f64') f.op(OP.f64_promote_f32)
    }
    this.foldScalar(total, lane)
  }
  /** target = target folded with a number of the totals' type. */
  private foldScalar(target: Local, number: Operand): void {
    const { f, op, totalType } = this
    if (totalType !== 'i32' || op === 'sum' || op === 'prod') {
      f.op(scalarFold(op, totalType), target, number).set(target)
      return
    }
    // Integer maximum and minimum have no scalar instruction.
    this.spare ??= f.local('i32')
    const x = this.spare
    f.set(x, number)
    f.op(OP.select, target, x, () => f.op(op === 'max' ? OP.i32_gt_s : OP.i32_lt_s, target, x)).set(target)
  }

  // ---- chunks -----------------------------------------------------------------------------------------------------------

  /** The total of all chunks begins with what lies at `p`, where the fold accumulates, or with the identity. */
  startAll(p: Local): void {
    this.pushStart(p, this.accumulate, this.dtype)
    this.f.set(this.grand)
  }
  /** Folds the total of a chunk into that of all. */
  addChunk(): void {
    this.foldScalar(this.grand, () => this.pushTotal())
  }
  /** Keeps the total of a chunk at `p`, in 8 bytes. */
  keepChunk(p: Local): void {
    this.f.get(p)
    this.pushTotal()
    this.storeScalar(this.totalType)
  }
  /** Folds one that was kept into the total of all. */
  addKept(p: Local): void {
    const { f, totalType } = this
    this.foldScalar(this.grand, () => {
      f.get(p)
      if (totalType === 'f64') f.f64Load()
      else if (totalType === 'f32') f.f32Load()
      else f.i32Load()
    })
  }
  /** Stores the total of all chunks at `p`. */
  storeAll(p: Local): void {
    this.f.get(p).get(this.grand)
    if (this.dtype === 'f32' && this.totalType === 'f64') this.f.op(OP.f32_demote_f64)
    this.storeScalar(this.dtype)
  }

  // ---- the accumulators -------------------------------------------------------------------------------------------------

  /** Empties the accumulators. */
  reset(): void {
    for (const v of this.vectors) this.resetOne(v)
    if (this.extreme === undefined) return
    this.f.i32x4Const(0).set(this.extreme.nan)
    this.f.i32x4Const(this.op === 'max' ? -1 : 0).set(this.extreme.signs)
  }
  private resetOne(v: Local): void {
    const x = identityOf(this.op, this.inside)
    if (this.inside === 'f64') this.f.f64x2Const(x)
    else if (this.inside === 'f32') this.f.f32x4Const(x)
    else this.f.i32x4Const(x)
    this.f.set(v)
  }
  /** Folds a vector into accumulator `copy`. */
  addVector(v: Local, copy: number): void {
    if (this.extreme !== undefined) {
      // Engines take eight instructions for a maximum that keeps NaN and tells zeros apart, and four for this.
      const { nan, signs } = this.extreme
      const wide = this.inside === 'f64'
      this.choose(this.vectors[copy]!, v)
      this.f.op(OP.v128_or, nan, () => this.f.op(wide ? OP.f64x2_ne : OP.f32x4_ne, v, v)).set(nan)
      // Where the maximum is a zero no number is above, so that its sign is set where all signs are; where the minimum is one, where any is.
      this.f.op(this.op === 'max' ? OP.v128_and : OP.v128_or, signs, v).set(signs)
      return
    }
    if (this.inside === this.dtype) {
      this.combine(this.vectors[copy]!, v)
      return
    }
    for (let part = 0; part < this.parts; part++) {
      const target = this.vectors[this.parts * copy + part]!
      this.f.op(vectorFold(this.op, 'f64'), target, () => pushPair(this.f, v, part)).set(target)
    }
  }
  /** target = target folded with v, lane by lane. */
  combine(target: Local, v: Local): void {
    const { f, op, inside } = this
    if ((op === 'max' || op === 'min') && inside.startsWith('f')) extremeOf(f, op, inside, target, v)
    else f.op(vectorFold(op, inside), target, v)
    f.set(target)
  }
  /** The better of the target, which is no NaN, and v; the target where v is NaN. */
  private choose(target: Local, v: Local): void {
    this.f.op(better(this.op, this.inside), target, v).set(target)
  }
  /** Folds the accumulators into the total and empties them. */
  flush(): void {
    const { f, pair, extreme } = this
    // In a tree: a chain would add as many roundings again.
    for (let n = this.vectors.length; n > 1; n /= 2)
      for (let i = 0; i < n / 2; i++) {
        const [a, b] = [this.vectors[i]!, this.vectors[i + n / 2]!]
        if (extreme === undefined) this.combine(a, b)
        else this.choose(a, b)
      }
    const first = this.vectors[0]!
    if (extreme !== undefined) {
      const wide = this.inside === 'f64'
      const zero = (): unknown => f.op(wide ? OP.f64x2_eq : OP.f32x4_eq, first, () => f.i32x4Const(0))
      const sign = (): unknown => f.op(OP.v128_and, extreme.signs, () => (wide ? f.f64x2Const(-0) : f.f32x4Const(-0)))
      f.op(OP.v128_or, () => f.op(OP.v128_bitselect, sign, first, zero), extreme.nan).set(first)
    }
    if (pair !== undefined) {
      for (let part = 0; part < this.lanes / 2; part++) f.op(OP.f64x2_add, pair, () => pushPair(f, first, part)).set(pair)
    } else {
      const lanes = this.inside === 'f64' ? 2 : this.lanes
      for (let l = 0; l < lanes; l++) this.addLane(first, l, this.inside)
    }
    this.reset()
  }

  // ---- totals in f64 ----------------------------------------------------------------------------------------------------

  /** Folds a vector of f32 (or its lane 0) into f64 totals that follow each other from `p` on, `ahead` bytes further. */
  addToTotals(p: Local, ahead: number, v: Local, count: number): void {
    const { f, op } = this
    if (count === 1) {
      f.get(p).op(
        scalarFold(op, 'f64'),
        () => f.get(p).f64Load(ahead),
        () => f.get(v).f32x4ExtractLane(0).op(OP.f64_promote_f32),
      )
      f.f64Store(ahead)
      return
    }
    for (let part = 0; part < count / 2; part++) {
      const at = ahead + 16 * part
      f.get(p).op(
        vectorFold(op, 'f64'),
        () => f.get(p).v128Load(at),
        () => pushPair(f, v, part),
      )
      f.v128Store(at)
    }
  }
}

/** Pushes two lanes of a vector of f32 as f64: the low ones (part 0) or the high ones. */
export const pushPair = (f: FunctionBuilder, v: Local, part: number): void => {
  f.get(v)
  if (part === 1) f.get(v).i32x4Shuffle(2, 3, 2, 3)
  f.op(OP.f64x2_promote_low_f32x4)
}

/** The instruction that gives its first argument where the second is not better. */
const better = (op: Fold, type: DType): Op =>
  op === 'max' ? (type === 'f64' ? OP.f64x2_pmax : OP.f32x4_pmax) : type === 'f64' ? OP.f64x2_pmin : OP.f32x4_pmin
/** The maximum or minimum that keeps NaN and tells zeros apart: both orders of that instruction, which differ in a NaN and in the signs of two zeros. Engines take 8 instructions for it. */
export const extremeOf = (f: FunctionBuilder, op: Fold, type: DType, a: Local, b: Local): void => {
  const [p, q] = [() => f.op(better(op, type), a, b), () => f.op(better(op, type), b, a)]
  const either = (): unknown => f.op(OP.v128_or, p, q)
  if (op === 'min') either()
  // -0 - -0 is 0 where one is 0.
  else f.op(type === 'f64' ? OP.f64x2_sub : OP.f32x4_sub, either, () => f.op(OP.v128_xor, p, q))
}
/** Not of extremes of floats. */
const vectorFold = (op: Fold, dtype: DType): Op => {
  if (dtype === 'i32' || dtype === 'bool') return { sum: OP.i32x4_add, prod: OP.i32x4_mul, max: OP.i32x4_max_s, min: OP.i32x4_min_s }[op]
  if (op === 'prod') return dtype === 'f64' ? OP.f64x2_mul : OP.f32x4_mul
  return dtype === 'f64' ? OP.f64x2_add : OP.f32x4_add
}
const scalarFold = (op: Fold, type: 'f64' | 'f32' | 'i32'): Op => {
  if (type === 'i32') return op === 'sum' ? OP.i32_add : OP.i32_mul
  return type === 'f64'
    ? { sum: OP.f64_add, prod: OP.f64_mul, max: OP.f64_max, min: OP.f64_min }[op]
    : { sum: OP.f32_add, prod: OP.f32_mul, max: OP.f32_max, min: OP.f32_min }[op]
}
