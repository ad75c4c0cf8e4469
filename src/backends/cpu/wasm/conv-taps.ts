/*
 * The loop behind the forward convolution and its input gradient:
 *
 *   out[channel, y, x] (+)= sum over planes r, rows s, taps t of in[r, y + s, x + t] * weight[channel, r, s, t]
 *
 * Every distance is a constant, in bytes. Output channels x vectors of x are held in registers; taps of a row are unrolled.
 */

import { repeat } from './conv-stage.js'
import { type FunctionBuilder, type Local, OP } from './encoder.js'
import { type Float, multiplyAdd, zeroVector } from './float.js'
import { loadPartial, storePartial } from './gemm-pack.js'

interface Axis {
  readonly count: number
  readonly input: number
  readonly weight: number
}

export interface TapLoop {
  readonly channels: { readonly count: number; readonly weight: number; readonly output: number }
  readonly ys: { readonly count: number; readonly input: number; readonly output: number }
  /** Input pixels are neighbours; output pixels lie `output` bytes apart. */
  readonly xs: { readonly count: number; readonly output: number }
  readonly planes: Axis
  readonly rows: Axis
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
  const { channels, ys, xs, planes, rows, taps, madd, accumulate } = loop
  if (channels.count * ys.count * xs.count === 0) return
  const partial = xs.count % F.lanes
  const vectors = Math.ceil(xs.count / F.lanes)
  const { block, width } = chooseTile(vectors, channels.count)
  const fullTiles = Math.floor((vectors - (partial ? 1 : 0)) / width)
  const lastTile = vectors - fullTiles * width
  // Memory offsets are unsigned: start from the leftmost tap.
  const leftmost = Math.min(0, ...taps.map((t) => Math.min(t.firstInput, t.firstInput + (t.count - 1) * t.input)))

  const [inY, inX, inPlane, inRow, inTap] = f.locals('i32', 5)
  const [weightBlock, weightPlane, weightRow, weightTap] = f.locals('i32', 4)
  const [outBlock, outY, outX, out] = f.locals('i32', 4)
  const results = f.locals('v128', block * width)
  const held = f.locals('v128', Math.min(block, width))
  const moving = f.local('v128')

  const tap = (height: number, wide: number): void => {
    const loadPixels = (v: number) => f.get(inTap).v128Load(v * 16)
    const loadWeight = (c: number) => F.loadSplat(f.get(weightTap), c * channels.weight)
    const holdWeights = height <= wide
    const [outer, inner] = holdWeights ? [wide, height] : [height, wide]
    for (let i = 0; i < inner; i++) (holdWeights ? loadWeight(i) : loadPixels(i)).set(held[i]!)
    for (let o = 0; o < outer; o++) {
      ;(holdWeights ? loadPixels(o) : loadWeight(o)).set(moving)
      for (let i = 0; i < inner; i++) {
        const result = holdWeights ? results[i * width + o]! : results[o * width + i]!
        multiplyAdd(f, F, madd, result, moving, held[i]!)
      }
    }
  }

  // One tap at a time: unrolled taps make V8 spill the results (2x slower).
  const tapsOfRow = (height: number, wide: number): void => {
    for (const run of taps) {
      f.op(OP.i32_add, inRow, run.firstInput - leftmost).set(inTap)
      f.op(OP.i32_add, weightRow, run.firstWeight).set(weightTap)
      repeat(f, run.count, () => {
        tap(height, wide)
        f.increment(inTap, run.input).increment(weightTap, run.weight)
      })
    }
  }

  const store = (height: number, wide: number, lastLanes: number): void => {
    f.set(out, outX)
    for (let c = 0; c < height; c++) {
      for (let v = 0; v < wide; v++) {
        const lanes = v === wide - 1 ? lastLanes : F.lanes
        storePixels(f, F, out, v * F.lanes * xs.output, xs.output, results[c * width + v]!, lanes, accumulate)
      }
      if (c < height - 1) f.increment(out, channels.output)
    }
  }

  const tile = (height: number, wide: number, lastLanes: number): void => {
    for (let c = 0; c < height; c++) for (let v = 0; v < wide; v++) zeroVector(f).set(results[c * width + v]!)
    f.set(inPlane, inX).set(weightPlane, weightBlock)
    repeat(f, planes.count, () => {
      f.set(inRow, inPlane).set(weightRow, weightPlane)
      repeat(f, rows.count, () => {
        tapsOfRow(height, wide)
        f.increment(inRow, rows.input).increment(weightRow, rows.weight)
      })
      f.increment(inPlane, planes.input).increment(weightPlane, planes.weight)
    })
    store(height, wide, lastLanes)
  }

  const channelBlocks = (height: number, count: number): void => {
    repeat(f, count, () => {
      f.op(OP.i32_add, input, leftmost).set(inY).set(outY, outBlock)
      repeat(f, ys.count, () => {
        f.set(inX, inY).set(outX, outY)
        repeat(f, fullTiles, () => {
          tile(height, width, F.lanes)
          f.increment(inX, width * 16).increment(outX, width * F.lanes * xs.output)
        })
        if (lastTile > 0) tile(height, lastTile, partial || F.lanes)
        f.increment(inY, ys.input).increment(outY, ys.output)
      })
      f.increment(weightBlock, height * channels.weight).increment(outBlock, height * channels.output)
    })
  }
  f.set(weightBlock, weights).set(outBlock, output)
  channelBlocks(block, Math.floor(channels.count / block))
  if (channels.count % block) channelBlocks(channels.count % block, 1)
}

/** Writes, or adds, the first `lanes` lanes of a vector to elements `stride` bytes apart. */
function storePixels(
  f: FunctionBuilder,
  F: Float,
  out: Local,
  offset: number,
  stride: number,
  value: Local,
  lanes: number,
  accumulate: boolean,
): void {
  if (stride === F.bytes && lanes === F.lanes) {
    f.get(out)
    if (accumulate) f.op(F.vadd, () => f.get(out).v128Load(offset), value)
    else f.get(value)
    f.v128Store(offset)
  } else if (stride === F.bytes) {
    if (accumulate) {
      loadPartial(f, F, out, lanes, offset)
      f.get(value).op(F.vadd).set(value)
    }
    storePartial(f, F, out, value, lanes, offset)
  } else {
    for (let lane = 0; lane < lanes; lane++) {
      const at = offset + lane * stride
      if (accumulate) {
        F.load(f.get(out).get(out), at)
        F.extractLane(f.get(value), lane).op(F.add)
        F.store(f, at)
      } else F.storeLane(f.get(out).get(value), lane, at)
    }
  }
}
