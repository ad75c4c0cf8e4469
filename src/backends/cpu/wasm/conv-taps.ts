/*
 * The loop behind the forward convolution and its input gradient:
 *
 *   out[channel, y, x] (+)= sum over planes r, rows s, taps t of in[r, y + s, x + t] * weight[channel, r, s, t]
 *
 * Every distance is a constant, in bytes. Output channels x vectors of x are held in registers; taps of a row are unrolled.
 */

import { leastOf } from '../../../core/errors/extremes.js'
import { repeat } from './conv-stage.js'
import type { FunctionBuilder, Local, Operand } from './encoder.js'
import { address, type Float, multiplyAdd, zeroVector } from './float.js'
import { storeResult } from './gemm-pack.js'
import * as OP from './opcodes.js'

interface Axis {
  readonly count: number
  readonly input: number
  readonly weight: number
}

/** Of the row of pixels that row 0 meets at the first y: its place, and how many rows have pixels. What is outside are zeros, of which none is read. */
interface Inside {
  readonly from: number
  readonly count: number
}

interface TapLoop {
  readonly channels: { readonly count: number; readonly weight: number; readonly output: number }
  readonly ys: { readonly count: number; readonly input: number; readonly output: number }
  /** Input pixels are neighbours; output pixels lie `output` bytes apart. */
  readonly xs: { readonly count: number; readonly output: number }
  readonly planes: Axis
  /** Rows of the input go back by one from each to the next where it is said which have pixels. */
  readonly rows: Axis & { readonly inside?: Inside }
  /** Runs of equally spaced taps; the first of a run at byte offsets `firstInput` (may be negative) and `firstWeight`. */
  readonly taps: readonly (Axis & { readonly firstInput: number; readonly firstWeight: number })[]
  readonly madd: boolean
  readonly accumulate: boolean
}

/** Eight results at a time: with more, V8 spills. */
function chooseTile(vectors: number, channels: number): { readonly block: number; readonly width: number } {
  const balanced = (limit: number): number => Math.ceil(vectors / Math.ceil(vectors / limit))
  if (channels === 1) return { block: 1, width: balanced(7) }
  if (vectors <= 3) return { block: Math.min(channels, [6, 6, 4, 2][vectors]!), width: Math.max(vectors, 1) }
  return { block: 2, width: balanced(4) }
}
/** Emits the loops; `input`, `weights` and `output` keep their values. */
export function emitTapLoop(f: FunctionBuilder, F: Float, loop: TapLoop, input: Local, weights: Local, output: Local): void {
  if (loop.channels.count * loop.ys.count * loop.xs.count > 0) new Taps(f, F, loop, input).emit(weights, output)
}

/** Addresses by level of the nest: of pixels, weights and outputs. */
const pointersOf = (f: FunctionBuilder) =>
  f.namedLocals('i32', 'inY inX inPlane inRow inTap weightBlock weightPlane weightRow weightTap outBlock outY outX out')
/** Of rows that have pixels: the place of the row that row 0 meets, the first, how many, how many are left. */
const insideOf = (f: FunctionBuilder) => f.namedLocals('i32', 'place first count left')

class Taps {
  /** Lanes of the last vector of a row. */
  private readonly lastLanes: number
  private readonly block: number
  /** Vectors of a tile, how many full tiles a row has, and the vectors of the tile after them. */
  private readonly width: number
  private readonly fullTiles: number
  private readonly lastTile: number
  /** Memory offsets are unsigned: start from the leftmost tap. */
  private readonly leftmost: number
  private readonly at: ReturnType<typeof pointersOf>
  private readonly inside: ReturnType<typeof insideOf>
  private readonly results: readonly Local[]
  private readonly held: readonly Local[]
  private readonly moving: Local

  constructor(
    private readonly f: FunctionBuilder,
    private readonly F: Float,
    private readonly loop: TapLoop,
    private readonly input: Local,
  ) {
    const { channels, xs, taps } = loop
    const partial = xs.count % F.lanes
    const vectors = Math.ceil(xs.count / F.lanes)
    const { block, width } = chooseTile(vectors, channels.count)
    this.lastLanes = partial || F.lanes
    this.block = block
    this.width = width
    this.fullTiles = Math.floor((vectors - (partial ? 1 : 0)) / width)
    this.lastTile = vectors - this.fullTiles * width
    this.leftmost = leastOf(
      taps.map((t) => Math.min(t.firstInput, t.firstInput + (t.count - 1) * t.input)),
      0,
    )
    this.at = pointersOf(f)
    this.inside = insideOf(f)
    this.results = f.locals('v128', block * width)
    this.held = f.locals('v128', Math.min(block, width))
    this.moving = f.local('v128')
  }

  emit(weights: Local, output: Local): void {
    const { f, block } = this
    const { count } = this.loop.channels
    f.set(this.at.weightBlock, weights).set(this.at.outBlock, output)
    this.channelBlocks(block, Math.floor(count / block))
    if (count % block) this.channelBlocks(count % block, 1)
  }
  private channelBlocks(height: number, count: number): void {
    const { f, F, width } = this
    const { channels, ys, xs } = this.loop
    const { inY, inX, weightBlock, outBlock, outY, outX } = this.at
    repeat(f, count, () => {
      f.op(OP.i32_add, this.input, this.leftmost).set(inY).set(outY, outBlock)
      this.beginRows()
      repeat(f, ys.count, () => {
        f.set(inX, inY).set(outX, outY)
        this.findRows()
        repeat(f, this.fullTiles, () => {
          this.tile(height, width, F.lanes)
          f.increment(inX, width * 16).increment(outX, width * F.lanes * xs.output)
        })
        if (this.lastTile > 0) this.tile(height, this.lastTile, this.lastLanes)
        f.increment(inY, ys.input).increment(outY, ys.output)
      })
      f.increment(weightBlock, height * channels.weight).increment(outBlock, height * channels.output)
    })
  }
  private tile(height: number, wide: number, lastLanes: number): void {
    const { f } = this
    const { planes, rows } = this.loop
    const { inX, inPlane, inRow, weightBlock, weightPlane, weightRow } = this.at
    for (let c = 0; c < height; c++) for (let v = 0; v < wide; v++) zeroVector(f).set(this.result(c, v))
    f.set(inPlane, inX).set(weightPlane, weightBlock)
    repeat(f, planes.count, () => {
      f.set(inRow, inPlane).set(weightRow, weightPlane)
      this.eachRow(() => {
        this.tapsOfRow(height, wide)
        f.increment(inRow, rows.input).increment(weightRow, rows.weight)
      })
      f.increment(inPlane, planes.input).increment(weightPlane, planes.weight)
    })
    this.store(height, wide, lastLanes)
  }
  private beginRows(): void {
    const { inside } = this.loop.rows
    if (inside !== undefined) this.f.set(this.inside.place, inside.from)
  }
  /** The rows that have pixels at this y, and the place at the next one. */
  private findRows(): void {
    const { f } = this
    const { rows } = this.loop
    if (rows.inside === undefined) return
    const { place, first, count } = this.inside
    const i32 = address(f)
    const [behind, last] = [rows.inside.count - 1, rows.count - 1]
    const less =
      (a: Operand, b: Operand): Operand =>
      () =>
        f.op(OP.i32_lt_s, a, b)
    f.set(first, i32.choose(less(place, behind), 0, i32.sub(place, behind)))
    f.set(count, i32.add(i32.sub(i32.choose(less(place, last), place, last), first), 1))
    f.increment(place, 1)
  }
  private eachRow(body: () => void): void {
    const { f } = this
    const { rows } = this.loop
    if (rows.inside === undefined) {
      repeat(f, rows.count, body)
      return
    }
    const { inRow, weightRow } = this.at
    const { first, count, left } = this.inside
    const i32 = address(f)
    f.increment(inRow, i32.mul(first, rows.input)).increment(weightRow, i32.mul(first, rows.weight))
    f.ifThen(
      () => f.op(OP.i32_gt_s, count, 0),
      () => f.set(left, count).countDown(left, body),
    )
  }
  private result(channel: number, vector: number): Local {
    return this.results[channel * this.width + vector]!
  }
  /** One tap at a time: unrolled taps make V8 spill the results (2x slower). */
  private tapsOfRow(height: number, wide: number): void {
    const { f } = this
    const { inRow, inTap, weightRow, weightTap } = this.at
    for (const run of this.loop.taps) {
      f.op(OP.i32_add, inRow, run.firstInput - this.leftmost).set(inTap)
      f.op(OP.i32_add, weightRow, run.firstWeight).set(weightTap)
      repeat(f, run.count, () => {
        this.tap(height, wide)
        f.increment(inTap, run.input).increment(weightTap, run.weight)
      })
    }
  }
  private tap(height: number, wide: number): void {
    const { f, F, held, moving } = this
    const { inTap, weightTap } = this.at
    const loadPixels = (v: number) => f.get(inTap).v128Load(v * 16)
    const loadWeight = (c: number) => F.loadSplat(f.get(weightTap), c * this.loop.channels.weight)
    const holdWeights = height <= wide
    const [outer, inner] = holdWeights ? [wide, height] : [height, wide]
    for (let i = 0; i < inner; i++) (holdWeights ? loadWeight(i) : loadPixels(i)).set(held[i]!)
    for (let o = 0; o < outer; o++) {
      ;(holdWeights ? loadPixels(o) : loadWeight(o)).set(moving)
      for (let i = 0; i < inner; i++)
        multiplyAdd(f, F, this.loop.madd, holdWeights ? this.result(i, o) : this.result(o, i), moving, held[i]!)
    }
  }
  private store(height: number, wide: number, lastLanes: number): void {
    const { f, F } = this
    const { channels, xs, accumulate } = this.loop
    const { outX, out } = this.at
    f.set(out, outX)
    for (let c = 0; c < height; c++) {
      for (let v = 0; v < wide; v++) {
        const lanes = v === wide - 1 ? lastLanes : F.lanes
        const offset = v * F.lanes * xs.output
        if (xs.output === F.bytes) storeResult(f, F, out, this.result(c, v), lanes, offset, accumulate ? F.vadd : undefined)
        else for (let lane = 0; lane < lanes; lane++) this.storeLane(this.result(c, v), lane, offset + lane * xs.output)
      }
      if (c < height - 1) f.increment(out, channels.output)
    }
  }
  private storeLane(value: Local, lane: number, offset: number): void {
    const { f, F } = this
    const { out } = this.at
    if (this.loop.accumulate) {
      F.load(f.get(out).get(out), offset)
      F.extractLane(f.get(value), lane).op(F.add)
      F.store(f, offset)
    } else F.storeLane(f.get(out).get(value), lane, offset)
  }
}
