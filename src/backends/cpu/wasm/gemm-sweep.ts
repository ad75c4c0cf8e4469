/*
 * The inner loops of a blocked matrix product: tiles of C in registers, down one panel of columns.
 */

import type { FuncRef, FunctionBuilder, Local, Module, Op } from './encoder.js'
import { address, type Float, type Multiply, multiplyAdd, zeroVector } from './float.js'
import { loadPartial, storeResult } from './gemm-pack.js'
import * as OP from './opcodes.js'

/**
 * Heights of tiles, tallest first. What is added to 12 vectors keeps both units for multiply-and-add busy, where 8 leave them waiting for results and for indices; without the instruction the product needs
 * a register more, and 6 rows have none left.
 */
export const tileHeights = (by: Multiply): readonly number[] => (by.madd ? [6, 4, 2, 1] : [4, 2, 1])

/** height = that of the next tile. Eight rows are two tiles of 4, whose results do not wait for each other as those of 2 do. */
export function setHeight(f: FunctionBuilder, height: Local, rows: Local, heights: readonly number[]): void {
  const i32 = address(f)
  const four = i32.choose(i32.atLeast(rows, 4), 4, i32.choose(i32.atLeast(rows, 2), 2, 1))
  f.set(height, heights[0] === 4 ? four : i32.choose(i32.and(i32.atLeast(rows, 6), i32.ne(rows, 8)), 6, four))
}

/** Widths of column panels, widest first: two vectors, one vector, and every fraction of a vector. */
export const panelWidths = (F: Float): number[] => [2 * F.lanes, ...Array.from({ length: F.lanes }, (_, i) => F.lanes - i)]

/** What is done for one of these, known when the code is made, by a value known when it runs. */
export function dispatch(f: FunctionBuilder, value: Local, among: readonly number[], body: (index: number) => void, from = 0): void {
  if (from === among.length - 1) {
    body(from)
    return
  }
  f.op(OP.i32_eq, value, among[from]!).if(
    () => body(from),
    () => dispatch(f, value, among, body, from + 1),
  )
}

/**
 * sweep(kb, rows, a, ars, acs, packed, b, ldb, c, ldc, acc): one column panel of C, all its rows, tile by tile. A packed A has each tile's
 * elements column by column, without strides. With acc, C is joined with them.
 */
export function emitSweep(module: Module, F: Float, by: Multiply, width: number): FuncRef {
  const tall = by.madd ? emitTall(module, F, by, width) : undefined
  const f = module.func(undefined, new Array(11).fill('i32'))
  const given = f.namedParameters('kb rows a ars acs packed b ldb c ldc acc')
  const { kb, rows, a, ars, acs, packed, b, ldb, c, ldc, acc } = given
  const i32 = address(f)
  const heights = tileHeights(by)
  const tile = new Tile(f, F, by, width, 4, given)
  const height = f.local('i32')
  f.ifThen(packed, () => f.set(ars, F.bytes))
  f.loop((next) => {
    setHeight(f, height, rows, heights)
    f.ifThen(packed, () => f.set(acs, i32.mul(height, F.bytes)))
    dispatch(f, height, heights, (h) => {
      if (heights[h]! <= 4) tile.emit(heights[h]!)
      else f.call(tall!, kb, a, ars, acs, b, ldb, c, ldc, acc)
    })
    f.increment(a, i32.choose(packed, i32.mul(kb, acs), i32.mul(height, ars))).increment(c, i32.mul(ldc, height))
    f.set(rows, i32.sub(rows, height)).brIf(next, rows)
  })
  return f
}

/**
 * tall(kb, a, ars, acs, b, ldb, c, ldc, acc): one tile of 6 rows. Its loop stands alone, and is too long for V8 to double there: doubled, it would need more registers than there are.
 */
function emitTall(module: Module, F: Float, by: Multiply, width: number): FuncRef {
  const f = module.func(undefined, new Array(9).fill('i32'))
  new Tile(f, F, by, width, 6, f.namedParameters('kb a ars acs b ldb c ldc acc')).emit(6)
  return f
}

type Given = Readonly<Record<'kb' | 'a' | 'ars' | 'acs' | 'b' | 'ldb' | 'c' | 'ldc' | 'acc', Local>>

class Tile {
  private readonly vectors: number
  /** Columns in the last vector. */
  private readonly lastLanes: number
  private readonly columns: readonly Local[]
  private readonly splat: Local
  private readonly bp: Local
  private readonly cp: Local
  private readonly count: Local
  private readonly results: readonly Local[]
  private readonly rowPointers: readonly Local[]

  constructor(
    private readonly f: FunctionBuilder,
    private readonly F: Float,
    private readonly by: Multiply,
    width: number,
    tallest: number,
    private readonly given: Given,
  ) {
    this.vectors = Math.ceil(width / F.lanes)
    this.lastLanes = width % F.lanes || F.lanes
    this.columns = f.locals('v128', this.vectors)
    this.splat = f.local('v128')
    this.results = f.locals('v128', tallest * this.vectors)
    this.rowPointers = f.locals('i32', tallest)
    ;[this.bp, this.cp, this.count] = f.locals('i32', 3)
  }

  emit(height: number): void {
    const { f, bp, count, vectors, results, rowPointers } = this
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
    // In the order of their results, behind the condition of `emit`: otherwise V8 up to 12 puts all loads before all products, and runs out of registers.
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
