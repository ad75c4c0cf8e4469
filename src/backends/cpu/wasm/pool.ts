/*
 * 2-D max and average pooling and their gradients, as kernels for one shape; x is any number of height x width planes, which the record tells.
 *
 * A window is clipped to the plane: padding never wins a maximum. Outputs whose windows lie inside a row are computed a vector at a
 * time, those at the sides one by one; rows are clipped as they come.
 */

import { repeat } from './conv-stage.js'
import type { FunctionBuilder, Local, Module, Op, Operand } from './encoder.js'
import { address, type Float, type FloatName, floats, zeroVector } from './float.js'
import { pushPair } from './fold.js'
import * as OP from './opcodes.js'
import { pointers } from './pointers.js'

export interface PoolShape {
  readonly height: number
  readonly width: number
  readonly window: readonly [number, number]
  readonly stride: readonly [number, number]
  /** [[top, bottom], [left, right]] */
  readonly padding: readonly [readonly [number, number], readonly [number, number]]
}

export interface PoolOptions {
  readonly type: FloatName
  readonly shape: PoolShape
}

export interface AvgPoolOptions extends PoolOptions {
  /** Divide by the whole window, padding counted as zeros, instead of by the part inside the plane. Default false. */
  readonly countIncludePad?: boolean
}

/** [oh, ow]; zero where the window does not fit. */
export function poolOutput({ height, width, window, stride, padding }: PoolShape): readonly [number, number] {
  const size = (axis: 0 | 1, extent: number): number =>
    Math.max(0, Math.floor((extent + padding[axis][0] + padding[axis][1] - window[axis]) / stride[axis]) + 1)
  return [size(0, height), size(1, width)]
}

/** The clipped window of the outputs at hand. */
interface Window {
  /** Outputs computed together: a vector or one. */
  readonly lanes: number
  /** Address of its first pixel, and that pixel's place in the plane. */
  readonly pixels: Local
  readonly place: Local
  readonly rows: Local
  readonly columns: Operand
  /** rows * columns; zero when the window lies in the padding. */
  readonly cells: Local
}

/** Walks the outputs in order: planes, rows, then inside a row side, middle by vectors, side. `visit` emits the code of one window. */
function eachWindow(
  f: FunctionBuilder,
  F: Float,
  shape: PoolShape,
  x: Local,
  planes: Local,
  vectors: boolean,
  visit: (w: Window) => void,
): void {
  const e = F.bytes
  const { height, width, window, stride, padding } = shape
  const [oh, ow] = poolOutput(shape)
  const i32 = address(f)
  const [top, left, firstRow, rows, firstColumn, columns] = f.locals('i32', 6)
  const [pixels, place, cells] = f.locals('i32', 3)
  const signed =
    (op: Op, a: Operand, b: Operand): Operand =>
    () =>
      f.op(OP.select, a, b, () => f.op(op, a, b))
  /** start = max(from, 0), count = max(min(from + size, extent) - start, 0) */
  const clip = (start: Local, count: Local, from: Local, size: number, extent: number): void => {
    f.set(start, signed(OP.i32_gt_s, from, 0))
    f.set(count, i32.sub(signed(OP.i32_lt_s, i32.add(from, size), extent), start))
    f.set(count, signed(OP.i32_gt_s, count, 0))
  }
  const at = (column: Operand): void => {
    f.set(place, i32.add(i32.mul(firstRow, width), column))
    f.set(pixels, i32.add(x, i32.mul(place, e)))
  }
  // outputs [low, high) have windows inside the row
  const low = Math.min(ow, Math.ceil(padding[1][0] / stride[1]))
  const high = width < window[1] ? low : Math.max(low, Math.min(ow, Math.floor((width - window[1] + padding[1][0]) / stride[1]) + 1))
  const middle = (lanes: number, count: number): void => {
    repeat(f, count, () => {
      at(left)
      f.set(cells, i32.mul(rows, window[1]))
      visit({ lanes, pixels, place, rows, columns: window[1], cells })
      f.increment(left, lanes * stride[1])
    })
  }
  const side = (count: number): void => {
    repeat(f, count, () => {
      clip(firstColumn, columns, left, window[1], width)
      at(firstColumn)
      f.set(cells, i32.mul(rows, columns))
      visit({ lanes: 1, pixels, place, rows, columns, cells })
      f.increment(left, stride[1])
    })
  }
  repeat(f, planes, () => {
    f.set(top, -padding[0][0])
    repeat(f, oh, () => {
      clip(firstRow, rows, top, window[0], height)
      f.set(left, -padding[1][0])
      side(low)
      const lanes = vectors ? F.lanes : 1
      middle(lanes, Math.floor((high - low) / lanes))
      middle(1, (high - low) % lanes)
      side(ow - high)
      f.increment(top, stride[0])
    })
    f.increment(x, height * width * e)
  })
}

/** Visits the cells of a window: `visit` sees the address of the cell of the first lane. */
function eachCell(f: FunctionBuilder, F: Float, width: number, w: Window, visit: (cell: Local) => void, nextRow: () => unknown): void {
  const [row, cell, rowsLeft, columnsLeft] = f.locals('i32', 4)
  f.set(row, w.pixels).set(rowsLeft, w.rows)
  f.ifThen(w.cells, () =>
    f.countDown(rowsLeft, () => {
      f.set(cell, row)
      const each = (): void => {
        visit(cell)
        f.increment(cell, F.bytes)
      }
      if (typeof w.columns === 'number') repeat(f, w.columns, each)
      else f.set(columnsLeft, w.columns).countDown(columnsLeft, each)
      f.increment(row, width * F.bytes)
      nextRow()
    }),
  )
}

/** Pushes the cells of `lanes` neighbouring windows, `stride` elements apart; reads nothing between or beyond. */
function loadCells(f: FunctionBuilder, F: Float, cell: Local, lanes: number, stride: number): void {
  const e = F.bytes
  if (lanes === 1) F.loadOne(f.get(cell))
  else if (stride === 1) f.get(cell).v128Load()
  else if (stride === 2 && F.name === 'f32')
    f.get(cell)
      .v128Load()
      .get(cell)
      .v128Load(3 * e)
      .i32x4Shuffle(0, 2, 5, 7)
  else if (F.name === 'f64')
    f.get(cell)
      .get(cell)
      .v128Load64Zero()
      .v128Load64Lane(1, stride * e)
  else {
    for (let lane = 3; lane > 0; lane--) f.get(cell)
    f.get(cell).v128Load32Zero()
    for (let lane = 1; lane < 4; lane++) f.v128Load32Lane(lane, lane * stride * e)
  }
}

/**
 * Adds max pooling; record [Y, INDEX, X, _, planes]. INDEX is the i32 place, in its plane, of the first maximum; the first NaN beats every number.
 * A window that lies in the padding gives -Infinity and -1.
 */
export function emitMaxPool(module: Module, { type, shape }: PoolOptions, name?: string): FunctionBuilder {
  const F = floats[type]
  const f = module.kernel(name)
  const [y, index, x, , planes] = pointers(f, 5)
  const wide = type === 'f32'
  const [best, bestPlace, value, place, firstInRow, better, one, rowStep] = f.locals('v128', 8)
  const constant = (n: number) => (wide ? f.i32x4Const(n) : f.i64x2Const(BigInt(n)))
  const addPlaces = wide ? OP.i32x4_add : OP.i64x2_add
  const [eq, le] = wide ? [OP.f32x4_eq, OP.f32x4_le] : [OP.f64x2_eq, OP.f64x2_le]
  constant(1).set(one)
  constant(shape.width).set(rowStep)
  eachWindow(f, F, shape, x, planes, true, (w) => {
    // places of the windows' first cells: place, place + stride, ...
    f.get(w.place)
    if (wide) f.op(OP.i32x4_splat)
    else f.op(OP.i64_extend_i32_u).op(OP.i64x2_splat)
    laneOffsets(f, F, shape.stride[1]).op(addPlaces).set(firstInRow)
    if (wide) f.f32x4Const(Number.NEGATIVE_INFINITY).set(best)
    else f.f64x2Const(Number.NEGATIVE_INFINITY).set(best)
    // -Infinity itself never beats the start, so the first cell is the answer from the beginning
    f.set(bestPlace, firstInRow).set(place, firstInRow)
    f.get(w.cells)
      .op(OP.i32_eqz)
      .if(() => constant(-1).set(bestPlace))
    eachCell(
      f,
      F,
      shape.width,
      w,
      (cell) => {
        loadCells(f, F, cell, w.lanes, shape.stride[1])
        f.set(value)
        // better = the best is a number, and the value is greater or NaN
        f.op(eq, best, best).op(le, value, best).op(OP.v128_andnot).set(better)
        f.op(OP.v128_bitselect, value, best, better).set(best)
        f.op(OP.v128_bitselect, place, bestPlace, better).set(bestPlace)
        f.op(addPlaces, place, one).set(place)
      },
      () => f.op(addPlaces, firstInRow, rowStep).localTee(firstInRow).set(place),
    )
    if (w.lanes === 1) {
      F.storeLane(f.get(y).get(best), 0)
      f.get(index).get(bestPlace).v128Store32Lane(0)
    } else {
      f.get(y).get(best).v128Store()
      if (wide) f.get(index).get(bestPlace).v128Store()
      else f.get(index).get(bestPlace).get(bestPlace).i32x4Shuffle(0, 2, 0, 2).v128Store64Lane(0)
    }
    f.increment(y, w.lanes * F.bytes).increment(index, w.lanes * 4)
  })
  return f
}

/** Pushes 0, stride, 2 stride ... by lane. */
function laneOffsets(f: FunctionBuilder, F: Float, stride: number): FunctionBuilder {
  const bytes = new Uint8Array(16)
  const view = new DataView(bytes.buffer)
  for (let lane = 0; lane < F.lanes; lane++) view.setInt32(lane * F.bytes, lane * stride, true)
  return f.v128Const(bytes)
}

/** Adds the gradient of max pooling; record [DX, DY, INDEX, _, planes]. */
export function emitMaxPoolGradient(module: Module, { type, shape }: PoolOptions, name?: string): FunctionBuilder {
  const F = floats[type]
  const e = F.bytes
  const f = module.kernel(name)
  const [dX, dY, index, , planes] = pointers(f, 5)
  const i32 = address(f)
  const pixels = shape.height * shape.width
  const [oh, ow] = poolOutput(shape)
  const [place, target] = [f.local('i32'), f.local('i32')]
  f.get(dX)
    .i32Const(0)
    .push(i32.mul(planes, pixels * e))
    .memoryFill()
  repeat(f, planes, () => {
    repeat(f, oh * ow, () => {
      f.get(index)
        .i32Load()
        .localTee(place)
        .i32Const(pixels)
        .op(OP.i32_lt_u)
        .if(() => {
          f.set(target, i32.add(dX, i32.mul(place, e)))
          F.load(f.get(target).get(target))
          F.load(f.get(dY)).op(F.add)
          F.store(f)
        })
      f.increment(index, 4).increment(dY, e)
    })
    f.increment(dX, pixels * e)
  })
  return f
}

/** Cells that are added in f32. */
const longestSum = 64

/** Adds average pooling; record [Y, X, _, planes]. */
export function emitAvgPool(module: Module, { type, shape, countIncludePad = false }: AvgPoolOptions, name?: string): FunctionBuilder {
  const F = floats[type]
  const f = module.kernel(name)
  const [y, x, , planes] = pointers(f, 4)
  const sum = f.local('v128')
  // Sums of many f32 go to two f64 totals, after each row of the window or, where rows are long, each cell.
  const totals = type === 'f32' && shape.window[0] * shape.window[1] > longestSum ? f.locals('v128', 2) : []
  const total = (): void => {
    for (const [part, t] of totals.entries()) f.op(OP.f64x2_add, t, () => pushPair(f, sum, part)).set(t)
    zeroVector(f).set(sum)
  }
  const [eachOne, eachLine] = totals.length === 0 ? [false, false] : [shape.window[1] > longestSum, shape.window[1] <= longestSum]
  eachWindow(f, F, shape, x, planes, true, (w) => {
    zeroVector(f).set(sum)
    for (const t of totals) zeroVector(f).set(t)
    eachCell(
      f,
      F,
      shape.width,
      w,
      (cell) => {
        f.get(sum)
        loadCells(f, F, cell, w.lanes, shape.stride[1])
        f.op(F.vadd).set(sum)
        if (eachOne) total()
      },
      () => eachLine && total(),
    )
    f.get(y)
    const [low, high] = totals
    if (low === undefined || high === undefined) f.get(sum)
    else f.op(OP.f32x4_demote_f64x2_zero, low).op(OP.f32x4_demote_f64x2_zero, high).i64x2Shuffle(0, 2)
    divisor(f, F, shape, w, countIncludePad)
    if (type === 'f32') f.op(OP.f32x4_splat).op(OP.f32x4_div)
    else f.op(OP.f64x2_splat).op(OP.f64x2_div)
    if (w.lanes === 1) F.storeLane(f, 0)
    else f.v128Store()
    f.increment(y, w.lanes * F.bytes)
  })
  return f
}

/** Pushes the number of cells to divide by, as a float. */
function divisor(f: FunctionBuilder, F: Float, { window }: PoolShape, w: Window, countIncludePad: boolean): void {
  if (countIncludePad) F.constant(f, window[0] * window[1])
  else f.op(F.name === 'f32' ? OP.f32_convert_i32_u : OP.f64_convert_i32_u, w.cells)
}

/** Adds the gradient of average pooling; record [DX, DY, _, planes]. */
export function emitAvgPoolGradient(
  module: Module,
  { type, shape, countIncludePad = false }: AvgPoolOptions,
  name?: string,
): FunctionBuilder {
  const F = floats[type]
  const f = module.kernel(name)
  const [dX, dY, , planes] = pointers(f, 4)
  const share = f.local(type)
  f.get(dX)
    .i32Const(0)
    .push(address(f).mul(planes, shape.height * shape.width * F.bytes))
    .memoryFill()
  eachWindow(f, F, shape, dX, planes, false, (w) => {
    F.load(f.get(dY))
    divisor(f, F, shape, w, countIncludePad)
    f.op(F.div).set(share)
    eachCell(
      f,
      F,
      shape.width,
      w,
      (cell) => {
        F.load(f.get(cell).get(cell)).get(share).op(F.add)
        F.store(f)
      },
      () => undefined,
    )
    f.increment(dY, F.bytes)
  })
  return f
}
