// W7, W8, W9 by hand: the inputs of all steps go through one product; the steps keep what their pullback reads.
import { type FloatArray, like, type Prepare, take } from '../../peer.js'
import type { Loops } from './loops.js'

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x))

/** The state before each step and after the last, of `T` steps: [T + 1][size], the first one zero. */
const states = (x: FloatArray, T: number, size: number): readonly FloatArray[] => Array.from({ length: T + 1 }, () => like(x, size))

export const W7 =
  ({ addMatmul, addMatmulTA, addMatmulTB, fillRows, addColumnSums, sumOfSquares }: Loops): Prepare =>
  (inputs) => {
    const [T, m, k, h] = [64, 64, 64, 128]
    const xs = take(inputs, 'xs').data
    const Wx = take(inputs, 'Wx').data
    const Wh = take(inputs, 'Wh').data
    const b = take(inputs, 'b').data
    const hs = states(xs, T, m * h)
    const z = like(xs, T * m * h)
    const zBar = like(xs, T * m * h)
    const steps = Array.from({ length: T }, (_, t) => ({
      z: z.subarray(t * m * h, (t + 1) * m * h),
      zBar: zBar.subarray(t * m * h, (t + 1) * m * h),
    }))
    const hBar = like(xs, m * h)
    const bar = { Wx: like(xs, k * h), Wh: like(xs, h * h), b: like(xs, h) }
    const run = () => {
      fillRows(z, b, T * m, h)
      addMatmul(z, xs, Wx, T * m, k, h)
      for (let t = 0; t < T; t++) {
        const zt = steps[t]!.z
        const next = hs[t + 1]!
        addMatmul(zt, hs[t]!, Wh, m, h, h)
        for (let i = 0; i < zt.length; i++) next[i] = Math.tanh(zt[i]!)
      }
      const value = sumOfSquares(hBar, hs[T]!)
      for (const g of Object.values(bar)) g.fill(0)
      for (let t = T - 1; t >= 0; t--) {
        const d = steps[t]!.zBar
        const y = hs[t + 1]!
        for (let i = 0; i < d.length; i++) d[i] = hBar[i]! * (1 - y[i]! * y[i]!)
        addMatmulTA(bar.Wh, hs[t]!, d, h, m, h)
        hBar.fill(0)
        addMatmulTB(hBar, d, Wh, m, h, h)
      }
      addMatmulTA(bar.Wx, xs, zBar, k, T * m, h)
      addColumnSums(bar.b, zBar, T * m, h)
      return { value, ...bar }
    }
    return { run }
  }

export const W8 =
  ({ addMatmul, addMatmulTA, addMatmulTB, fillRows, addColumnSums, sumOfSquares }: Loops): Prepare =>
  (inputs) => {
    const [T, m, k, h] = [32, 256, 64, 64]
    const n = 4 * h
    const xs = take(inputs, 'xs').data
    const Wi = take(inputs, 'Wi').data
    const Wh = take(inputs, 'Wh').data
    const b = take(inputs, 'b').data
    const hs = states(xs, T, m * h)
    const cs = states(xs, T, m * h)
    const gates = like(xs, T * m * n)
    const gatesBar = like(xs, T * m * n)
    const hBar = like(xs, m * h)
    const cBar = like(xs, m * h)
    const bar = { Wi: like(xs, k * n), Wh: like(xs, h * n), b: like(xs, n) }
    const at = (all: FloatArray) => Array.from({ length: T }, (_, t) => all.subarray(t * m * n, (t + 1) * m * n))
    const gatesAt = at(gates)
    const gatesBarAt = at(gatesBar)

    const step = (g: FloatArray, c: FloatArray, next: { h: FloatArray; c: FloatArray }): void => {
      for (let r = 0; r < m; r++) {
        for (let j = 0; j < h; j++) {
          const p = r * n + j
          const q = r * h + j
          const i = sigmoid(g[p]!)
          const f = sigmoid(g[p + h]!)
          const u = Math.tanh(g[p + 2 * h]!)
          const o = sigmoid(g[p + 3 * h]!)
          g[p] = i
          g[p + h] = f
          g[p + 2 * h] = u
          g[p + 3 * h] = o
          next.c[q] = f * c[q]! + i * u
          next.h[q] = o * Math.tanh(next.c[q]!)
        }
      }
    }
    const stepPullback = (gBar: FloatArray, g: FloatArray, c: FloatArray, nextC: FloatArray): void => {
      for (let r = 0; r < m; r++) {
        for (let j = 0; j < h; j++) {
          const p = r * n + j
          const q = r * h + j
          const i = g[p]!
          const f = g[p + h]!
          const u = g[p + 2 * h]!
          const o = g[p + 3 * h]!
          const tc = Math.tanh(nextC[q]!)
          const d = cBar[q]! + hBar[q]! * o * (1 - tc * tc)
          gBar[p] = d * u * i * (1 - i)
          gBar[p + h] = d * c[q]! * f * (1 - f)
          gBar[p + 2 * h] = d * i * (1 - u * u)
          gBar[p + 3 * h] = hBar[q]! * tc * o * (1 - o)
          cBar[q] = d * f
        }
      }
    }
    const run = () => {
      fillRows(gates, b, T * m, n)
      addMatmul(gates, xs, Wi, T * m, k, n)
      for (let t = 0; t < T; t++) {
        addMatmul(gatesAt[t]!, hs[t]!, Wh, m, h, n)
        step(gatesAt[t]!, cs[t]!, { h: hs[t + 1]!, c: cs[t + 1]! })
      }
      const value = sumOfSquares(hBar, hs[T]!)
      cBar.fill(0)
      for (const g of Object.values(bar)) g.fill(0)
      for (let t = T - 1; t >= 0; t--) {
        stepPullback(gatesBarAt[t]!, gatesAt[t]!, cs[t]!, cs[t + 1]!)
        addMatmulTA(bar.Wh, hs[t]!, gatesBarAt[t]!, h, m, n)
        hBar.fill(0)
        addMatmulTB(hBar, gatesBarAt[t]!, Wh, m, n, h)
      }
      addMatmulTA(bar.Wi, xs, gatesBar, k, T * m, n)
      addColumnSums(bar.b, gatesBar, T * m, n)
      return { value, ...bar }
    }
    return { run }
  }

export const W9 =
  ({ addMatmul, addMatmulTA, addMatmulTB, fillRows, addColumnSums, sumOfSquares }: Loops): Prepare =>
  (inputs) => {
    const [T, m, k, h] = [32, 256, 64, 64]
    const n = 3 * h
    const xs = take(inputs, 'xs').data
    const Wi = take(inputs, 'Wi').data
    const Wh = take(inputs, 'Wh').data
    const b = take(inputs, 'b').data
    const hs = states(xs, T, m * h)
    const fromX = like(xs, T * m * n)
    const fromXBar = like(xs, T * m * n)
    const fromH = like(xs, T * m * n)
    const fromHBar = like(xs, m * n)
    const hBar = like(xs, m * h)
    const bar = { Wi: like(xs, k * n), Wh: like(xs, h * n), b: like(xs, n) }
    const at = (all: FloatArray) => Array.from({ length: T }, (_, t) => all.subarray(t * m * n, (t + 1) * m * n))
    const fromXAt = at(fromX)
    const fromXBarAt = at(fromXBar)
    const fromHAt = at(fromH)

    /** Leaves r, z and the candidate in gx, and keeps the third part of gh. */
    const step = (gx: FloatArray, gh: FloatArray, state: FloatArray, next: FloatArray): void => {
      for (let row = 0; row < m; row++) {
        for (let j = 0; j < h; j++) {
          const p = row * n + j
          const q = row * h + j
          const r = sigmoid(gx[p]! + gh[p]!)
          const z = sigmoid(gx[p + h]! + gh[p + h]!)
          const u = Math.tanh(gx[p + 2 * h]! + r * gh[p + 2 * h]!)
          gx[p] = r
          gx[p + h] = z
          gx[p + 2 * h] = u
          next[q] = (1 - z) * u + z * state[q]!
        }
      }
    }
    const stepPullback = (gxBar: FloatArray, gx: FloatArray, gh: FloatArray, state: FloatArray): void => {
      for (let row = 0; row < m; row++) {
        for (let j = 0; j < h; j++) {
          const p = row * n + j
          const q = row * h + j
          const d = hBar[q]!
          const r = gx[p]!
          const z = gx[p + h]!
          const u = gx[p + 2 * h]!
          const uBar = d * (1 - z) * (1 - u * u)
          const rBar = uBar * gh[p + 2 * h]! * r * (1 - r)
          const zBar = d * (state[q]! - u) * z * (1 - z)
          gxBar[p] = rBar
          gxBar[p + h] = zBar
          gxBar[p + 2 * h] = uBar
          fromHBar[p] = rBar
          fromHBar[p + h] = zBar
          fromHBar[p + 2 * h] = uBar * r
          hBar[q] = d * z
        }
      }
    }
    const run = () => {
      fillRows(fromX, b, T * m, n)
      addMatmul(fromX, xs, Wi, T * m, k, n)
      fromH.fill(0)
      for (let t = 0; t < T; t++) {
        addMatmul(fromHAt[t]!, hs[t]!, Wh, m, h, n)
        step(fromXAt[t]!, fromHAt[t]!, hs[t]!, hs[t + 1]!)
      }
      const value = sumOfSquares(hBar, hs[T]!)
      for (const g of Object.values(bar)) g.fill(0)
      for (let t = T - 1; t >= 0; t--) {
        stepPullback(fromXBarAt[t]!, fromXAt[t]!, fromHAt[t]!, hs[t]!)
        addMatmulTA(bar.Wh, hs[t]!, fromHBar, h, m, n)
        addMatmulTB(hBar, fromHBar, Wh, m, n, h)
      }
      addMatmulTA(bar.Wi, xs, fromXBar, k, T * m, n)
      addColumnSums(bar.b, fromXBar, T * m, n)
      return { value, ...bar }
    }
    return { run }
  }
