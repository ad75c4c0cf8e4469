/*
 * The inner loops of a blocked matrix product: tiles of C in registers, down one panel of columns.
 */

import type { FuncRef, FunctionBuilder, Local, Module, Op } from './encoder.js'
import { address, type Float, type Multiply, multiplyAdd, zeroVector } from './float.js'
import { loadPartial, storeResult } from './gemm-pack.js'
import * as OP from './opcodes.js'

/** Rows of C that a tile holds. */
export const rowsPerTile = 4

/** Widths of column panels, widest first: two vectors, one vector, and every fraction of a vector. */
export const panelWidths = (F: Float): number[] => [2 * F.lanes, ...Array.from({ length: F.lanes }, (_, i) => F.lanes - i)]

/**
 * sweep(kb, rows, a, ars, acs, tileStep, b, ldb, c, ldc, acc): one column panel of C, all its rows, tiles of 4, 2 and 1 rows.
 * `tileStep` is the distance between tiles of 4 rows, which differs from 4 ars when A is packed. With acc, C is joined with them.
 */
export function emitSweep(module: Module, F: Float, by: Multiply, width: number): FuncRef {
  const f = module.func(undefined, new Array(11).fill('i32'))
  new Sweep(f, F, by, width).emit()
  return f
}

const givenTo = (f: FunctionBuilder) => f.namedParameters('kb rows a ars acs tileStep b ldb c ldc acc')

class Sweep {
  private readonly given: ReturnType<typeof givenTo>
  private readonly vectors: number
  /** Columns in the last vector. */
  private readonly lastLanes: number
  private readonly results: readonly Local[]
  private readonly columns: readonly Local[]
  private readonly splat: Local
  private readonly rowPointers: readonly Local[]
  private readonly bp: Local
  private readonly cp: Local
  private readonly count: Local

  constructor(
    private readonly f: FunctionBuilder,
    private readonly F: Float,
    private readonly by: Multiply,
    width: number,
  ) {
    this.given = givenTo(f)
    this.vectors = Math.ceil(width / F.lanes)
    this.lastLanes = width % F.lanes || F.lanes
    this.results = f.locals('v128', rowsPerTile * this.vectors)
    this.columns = f.locals('v128', this.vectors)
    this.splat = f.local('v128')
    this.rowPointers = f.locals('i32', rowsPerTile)
    ;[this.bp, this.cp, this.count] = f.locals('i32', 3)
  }

  emit(): void {
    const { f } = this
    const i32 = address(f)
    const { rows, a, ars, tileStep, c, ldc } = this.given
    f.block((done) =>
      f.loop((next) => {
        f.op(OP.i32_lt_u, rows, rowsPerTile).brIf(done)
        this.tile(rowsPerTile)
        f.increment(a, tileStep).increment(c, i32.mul(ldc, rowsPerTile))
        f.set(rows, i32.sub(rows, rowsPerTile)).br(next)
      }),
    )
    for (let height = rowsPerTile / 2; height >= 1; height /= 2) {
      f.ifThen(i32.and(rows, height), () => {
        this.tile(height)
        f.increment(a, i32.mul(ars, height)).increment(c, i32.mul(ldc, height))
      })
    }
  }

  private tile(height: number): void {
    const { f, bp, count, rowPointers, results, vectors } = this
    const i32 = address(f)
    const { kb, a, ars, acs, b, ldb, acc } = this.given
    for (let r = 0; r < height; r++) f.set(rowPointers[r]!, r === 0 ? a : i32.add(rowPointers[r - 1]!, ars))
    for (let v = 0; v < height * vectors; v++) zeroVector(f).set(results[v]!)
    f.set(bp, b).set(count, kb)
    f.ifThen(count, () =>
      f.countDown(count, () => {
        this.step(height)
        this.advance(height, acs, ldb)
      }),
    )
    f.ifThen(
      acc,
      () => this.store(height, this.by.subtract ? this.F.vsub : this.F.vadd),
      () => this.store(height, undefined),
    )
  }
  private step(height: number): void {
    const { f, F, bp, columns, lastLanes } = this
    columns.forEach((column, v) => {
      const at = v * 16
      if (lastLanes === F.lanes) f.get(bp).v128Load(at)
      else loadPartial(f, F, bp, lastLanes, at)
      f.set(column)
    })
    for (let r = 0; r < height; r++) {
      F.loadSplat(f.get(this.rowPointers[r]!), 0).set(this.splat)
      columns.forEach((column, v) => {
        multiplyAdd(f, F, this.by.madd, this.results[r * this.vectors + v]!, this.splat, column)
      })
    }
  }
  private advance(height: number, aBytes: Local | number, bBytes: Local | number): void {
    for (let r = 0; r < height; r++) this.f.increment(this.rowPointers[r]!, aBytes)
    this.f.increment(this.bp, bBytes)
  }
  private store(height: number, join: Op | undefined): void {
    const { f, F, cp, vectors } = this
    const { c, ldc } = this.given
    f.set(cp, c)
    for (let r = 0; r < height; r++) {
      for (let v = 0; v < vectors; v++) storeResult(f, F, cp, this.results[r * vectors + v]!, this.lastLanes, v * 16, join)
      if (r < height - 1) f.increment(cp, ldc)
    }
  }
}
