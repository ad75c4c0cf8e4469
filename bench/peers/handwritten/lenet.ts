// W4 by hand: conv 5x5, relu, max-pool 2x2, twice; three dense layers, relu between them.
import { type FloatArray, like, type Prepare, take } from '../../peer.js'
import type { Loops } from './loops.js'

interface Conv {
  readonly batch: number
  readonly ci: number
  readonly co: number
  readonly size: number
  readonly window: number
}

/** y[n, o] = c[o] + sum over i of x[n, i] * K[o, i], valid */
const conv = (y: FloatArray, x: FloatArray, K: FloatArray, c: FloatArray, { batch, ci, co, size, window }: Conv): void => {
  const out = size - window + 1
  for (let n = 0; n < batch; n++) {
    for (let o = 0; o < co; o++) {
      const y0 = (n * co + o) * out * out
      y.fill(c[o]!, y0, y0 + out * out)
      for (let i = 0; i < ci; i++) {
        const x0 = (n * ci + i) * size * size
        for (let u = 0; u < window; u++) {
          for (let v = 0; v < window; v++) {
            const w = K[((o * ci + i) * window + u) * window + v]!
            for (let r = 0; r < out; r++) {
              const xr = x0 + (r + u) * size + v
              const yr = y0 + r * out
              for (let s = 0; s < out; s++) y[yr + s]! += w * x[xr + s]!
            }
          }
        }
      }
    }
  }
}

/** Adds into all three cotangents of conv. */
const convPullback = (
  bars: { x: FloatArray; K: FloatArray; c: FloatArray },
  yBar: FloatArray,
  x: FloatArray,
  K: FloatArray,
  at: Conv,
): void => {
  const { batch, ci, co, size, window } = at
  const out = size - window + 1
  const xBar = bars.x
  for (let n = 0; n < batch; n++) {
    for (let o = 0; o < co; o++) {
      const y0 = (n * co + o) * out * out
      let total = 0
      for (let j = y0; j < y0 + out * out; j++) total += yBar[j]!
      bars.c[o]! += total
      for (let i = 0; i < ci; i++) {
        const x0 = (n * ci + i) * size * size
        for (let u = 0; u < window; u++) {
          for (let v = 0; v < window; v++) {
            const k = ((o * ci + i) * window + u) * window + v
            const w = K[k]!
            let wBar = 0
            for (let r = 0; r < out; r++) {
              const xr = x0 + (r + u) * size + v
              const yr = y0 + r * out
              for (let s = 0; s < out; s++) {
                const g = yBar[yr + s]!
                wBar += g * x[xr + s]!
                xBar[xr + s]! += w * g
              }
            }
            bars.K[k]! += wBar
          }
        }
      }
    }
  }
}

/** Relu, then the maximum of each 2x2 window of `planes` images; `from` keeps where it came from, -1 if relu cut it. */
const reluPool = (p: FloatArray, from: Int32Array, y: FloatArray, planes: number, size: number): void => {
  const half = size / 2
  let j = 0
  for (let n = 0; n < planes; n++) {
    for (let r = 0; r < half; r++) {
      for (let s = 0; s < half; s++, j++) {
        const top = n * size * size + 2 * r * size + 2 * s
        let best = top
        if (y[top + 1]! > y[best]!) best = top + 1
        if (y[top + size]! > y[best]!) best = top + size
        if (y[top + size + 1]! > y[best]!) best = top + size + 1
        const positive = y[best]! > 0
        p[j] = positive ? y[best]! : 0
        from[j] = positive ? best : -1
      }
    }
  }
}

const reluPoolPullback = (yBar: FloatArray, pBar: FloatArray, from: Int32Array): void => {
  yBar.fill(0)
  for (let j = 0; j < pBar.length; j++) if (from[j]! >= 0) yBar[from[j]!] = pBar[j]!
}

export const W4 =
  ({ addMatmul, addMatmulTA, addMatmulTB, fillRows, addColumnSums, sumOfSquares }: Loops): Prepare =>
  (inputs) => {
    const m = 128
    const data = (name: string): FloatArray => take(inputs, name).data
    const x = data('x')
    const [K1, c1, K2, c2] = [data('K1'), data('c1'), data('K2'), data('c2')]
    const layers = [
      { W: data('D1'), b: data('d1'), k: 256, n: 120 },
      { W: data('D2'), b: data('d2'), k: 120, n: 84 },
      { W: data('D3'), b: data('d3'), k: 84, n: 10 },
    ].map((layer) => ({
      ...layer,
      y: like(x, m * layer.n),
      yBar: like(x, m * layer.n),
      WBar: like(x, layer.k * layer.n),
      bBar: like(x, layer.n),
    }))
    const conv1: Conv = { batch: m, ci: 1, co: 6, size: 28, window: 5 }
    const conv2: Conv = { batch: m, ci: 6, co: 16, size: 12, window: 5 }
    const [y1, y1Bar] = [like(x, m * 6 * 24 * 24), like(x, m * 6 * 24 * 24)]
    const [p1, p1Bar, from1] = [like(x, m * 6 * 12 * 12), like(x, m * 6 * 12 * 12), new Int32Array(m * 6 * 12 * 12)]
    const [y2, y2Bar] = [like(x, m * 16 * 8 * 8), like(x, m * 16 * 8 * 8)]
    const [p2, p2Bar, from2] = [like(x, m * 256), like(x, m * 256), new Int32Array(m * 256)]
    const bar = { K1: like(x, K1.length), c1: like(x, 6), K2: like(x, K2.length), c2: like(x, 16), x: like(x, x.length) }
    const [dense1, dense2, dense3] = layers as [(typeof layers)[0], (typeof layers)[0], (typeof layers)[0]]

    const run = () => {
      conv(y1, x, K1, c1, conv1)
      reluPool(p1, from1, y1, m * 6, 24)
      conv(y2, p1, K2, c2, conv2)
      reluPool(p2, from2, y2, m * 16, 8)
      let input = p2
      for (const { W, b, k, n, y } of layers) {
        fillRows(y, b, m, n)
        addMatmul(y, input, W, m, k, n)
        if (y !== dense3.y) for (let i = 0; i < y.length; i++) if (!(y[i]! > 0)) y[i] = 0
        input = y
      }
      const value = sumOfSquares(dense3.yBar, dense3.y)

      for (let l = layers.length - 1; l >= 0; l--) {
        const { W, k, n, yBar, WBar, bBar } = layers[l]!
        const below = l === 0 ? { y: p2, yBar: p2Bar } : layers[l - 1]!
        bBar.fill(0)
        addColumnSums(bBar, yBar, m, n)
        WBar.fill(0)
        addMatmulTA(WBar, below.y, yBar, k, m, n)
        below.yBar.fill(0)
        addMatmulTB(below.yBar, yBar, W, m, n, k)
        if (l > 0) for (let i = 0; i < below.y.length; i++) if (!(below.y[i]! > 0)) below.yBar[i] = 0
      }
      for (const g of Object.values(bar)) g.fill(0)
      reluPoolPullback(y2Bar, p2Bar, from2)
      p1Bar.fill(0)
      convPullback({ x: p1Bar, K: bar.K2, c: bar.c2 }, y2Bar, p1, K2, conv2)
      reluPoolPullback(y1Bar, p1Bar, from1)
      convPullback({ x: bar.x, K: bar.K1, c: bar.c1 }, y1Bar, x, K1, conv1)
      const [D1, d1, D2, d2, D3, d3] = [dense1.WBar, dense1.bBar, dense2.WBar, dense2.bBar, dense3.WBar, dense3.bBar]
      return { value, ...bar, D1, d1, D2, d2, D3, d3 }
    }
    return { run }
  }
