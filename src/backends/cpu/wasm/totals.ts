/**
 * Totals in scratch: f64, over the axes that one folded output keeps inside its first folded one.
 *
 * A sum over an outer axis adds a row to what memory holds, once for every step of that axis. In f32 each step rounds: the mean of 2^25
 * ones would be 0.5. Here the rows are promoted and added in f64, and rounded when the outer axis is done. Rows are walked in strips of
 * STRIP elements, so that the totals of one strip stay in the first cache, however long rows are. Columns held in registers down the
 * whole outer axis would need no scratch, but read one line of each page.
 */
import type { LoopKernel, LoopOutput } from '../../plan/kernel.js'
import type { FunctionBuilder, Local, Operand } from './encoder.js'
import { type FoldAxes, type FoldEmitter, foldAxes } from './fold.js'
import * as OP from './opcodes.js'

/** Elements of the innermost axis that are walked together where totals lie in scratch. */
export const STRIP = 2048

/** The folded axes of each output, and whether the innermost axis is walked in strips. */
export const foldsOf = (k: LoopKernel): { readonly strips: boolean; readonly axes: readonly (FoldAxes | undefined)[] } => {
  const along = (strips: boolean) => k.outputs.map((o) => (o.fold === undefined ? undefined : foldAxes(o, k.rank, strips)))
  const axes = along(false)
  const strips = axes.some((a) => a?.deep === true && !a.inner)
  return { strips, axes: strips ? along(true) : axes }
}

/** Bytes of scratch that a loop of these axis lengths uses. */
export const loopScratchBytes = (k: LoopKernel): ((sizes: readonly number[]) => number) => {
  const { axes } = foldsOf(k)
  const deep = k.outputs.flatMap((o, i) => (axes[i]?.deep === true ? [{ folded: o.fold!.axes, level: axes[i]!.level }] : []))
  return (sizes) =>
    deep.reduce((bytes, { folded, level }) => {
      let n = 1
      for (let a = Math.max(level, 0); a < k.rank; a++) if (!folded[a]) n *= a === k.rank - 1 ? Math.min(sizes[a]!, STRIP) : sizes[a]!
      return bytes + 8 * n
    }, 0)
}

/** The loop that the totals belong to. */
interface Around {
  readonly f: FunctionBuilder
  readonly lanes: 2 | 4
  readonly rank: number
  /** Length of an axis; of the innermost one, that of the strip. */
  readonly size: (axis: number) => Operand
  /** Bytes between neighbours of the output along an axis. */
  readonly stride: (axis: number) => Operand
}

export class Totals {
  /** The total at which the nest stands. */
  readonly at: Local
  private readonly base: Local
  private readonly strides: readonly (Local | undefined)[]
  private readonly source: Local
  private readonly target: Local

  constructor(
    private readonly around: Around,
    private readonly fold: FoldEmitter,
    private readonly o: LoopOutput,
    readonly level: number,
  ) {
    const { f, rank } = around
    this.at = f.local('i32')
    this.base = f.local('i32')
    this.source = f.local('i32')
    this.target = f.local('i32')
    const folded = o.fold!.axes
    this.strides = folded.map((x, a) => (x || a < level ? undefined : a === rank - 1 ? undefined : f.local('i32')))
  }
  private kept(axis: number): boolean {
    return axis >= this.level && !this.o.fold!.axes[axis]
  }
  /** Takes its part of the scratch from `free` on. `length` is that of an axis, the longest strip for the innermost one. */
  place(free: Local, length: (axis: number) => Operand): void {
    const { f, rank } = this.around
    f.set(this.base, free).set(this.at, free)
    const step = this.source
    f.set(step, 8)
    for (let a = rank - 1; a >= Math.max(this.level, 0); a--) {
      if (!this.kept(a)) continue
      const own = this.strides[a]
      if (own !== undefined) f.set(own, step)
      f.op(OP.i32_mul, step, length(a)).set(step)
    }
    f.increment(free, step)
  }
  /** Bytes between neighbours along an outer axis; undefined where the total stays. */
  stride(axis: number): Local | undefined {
    return this.strides[axis]
  }

  /** Starts the totals from the identity or, where the fold accumulates, from what lies at `p`. */
  begin(p: Local): void {
    const { f, lanes } = this.around
    const { fold, source, target } = this
    this.sweep(
      p,
      () => {
        for (let part = 0; part < lanes / 2; part++) {
          f.get(source)
          if (!fold.accumulate) f.f64x2Const(fold.op === 'sum' ? 0 : 1)
          else
            f.get(target)
              .v128Load64Zero(8 * part)
              .op(OP.f64x2_promote_low_f32x4)
          f.v128Store(16 * part)
        }
      },
      () => {
        f.get(source)
        if (!fold.accumulate) fold.pushIdentity('f64')
        else f.get(target).f32Load().op(OP.f64_promote_f32)
        f.f64Store()
      },
    )
  }
  /** Rounds the totals to `p`. */
  end(p: Local): void {
    const { f, lanes } = this.around
    const { source, target } = this
    this.sweep(
      p,
      () => {
        for (let part = 0; part < lanes / 2; part++) {
          f.get(target)
            .get(source)
            .v128Load(16 * part)
            .op(OP.f32x4_demote_f64x2_zero)
          f.v128Store64Lane(0, 8 * part)
        }
      },
      () => {
        f.get(target).get(source).f64Load().op(OP.f32_demote_f64).f32Store()
      },
    )
  }
  /** Every total once: `source` is its address, `target` that of the result. Whole vectors where results are neighbours. */
  private sweep(p: Local, vector: () => void, one: () => void): void {
    const { f, lanes, rank, size, stride } = this.around
    const { source, target } = this
    const last = rank - 1
    const counted = (count: Local, length: Operand, body: () => void): void => {
      f.localTee(count, length)
      f.if(() => f.countDown(count, body))
    }
    const go = (axis: number): void => {
      if (axis === rank) {
        one()
        return
      }
      if (!this.kept(axis)) {
        go(axis + 1)
        return
      }
      const count = f.local('i32')
      const unit = axis === last && this.o.access === 'unit'
      const step = (elements: number): void => {
        f.increment(target, unit ? 4 * elements : stride(axis))
        if (axis === last) f.increment(source, 8 * elements)
      }
      if (unit) {
        counted(
          count,
          () => f.op(OP.i32_div_u, size(axis), lanes),
          () => {
            vector()
            step(lanes)
          },
        )
        counted(
          count,
          () => f.op(OP.i32_and, size(axis), lanes - 1),
          () => {
            one()
            step(1)
          },
        )
      } else {
        counted(count, size(axis), () => {
          go(axis + 1)
          step(1)
          if (axis !== last) f.increment(source, this.strides[axis]!)
        })
      }
      f.op(OP.i32_sub, target, () => f.op(OP.i32_mul, size(axis), stride(axis))).set(target)
      f.op(OP.i32_sub, source, () => f.op(OP.i32_mul, size(axis), axis === last ? 8 : this.strides[axis]!)).set(source)
    }
    f.set(source, this.base).set(target, p)
    go(Math.max(this.level, 0))
  }
}
