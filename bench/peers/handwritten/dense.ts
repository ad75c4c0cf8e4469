// W3, W5, W6, W11, W13, W15 and M15 by hand: matrix products with their elementwise neighbours.
import { like, type Prepare, take } from '../../peer.js'
import type { Loops } from './loops.js'

const mlp = { batch: 128, inputs: 784, hidden: 32, classes: 10 } as const

export const W3 =
  ({ addMatmul, addMatmulTA, addMatmulTB, fillRows, addColumnSums, sumOfSquares }: Loops): Prepare =>
  (inputs) => {
    const { batch: m, inputs: k, hidden: h, classes: c } = mlp
    const x = take(inputs, 'x').data
    const W1 = take(inputs, 'W1').data
    const b1 = take(inputs, 'b1').data
    const W2 = take(inputs, 'W2').data
    const b2 = take(inputs, 'b2').data
    const a = like(x, m * h)
    const aBar = like(x, m * h)
    const y = like(x, m * c)
    const yBar = like(x, m * c)
    const bar = { W1: like(x, k * h), b1: like(x, h), W2: like(x, h * c), b2: like(x, c), x: like(x, m * k) }
    const run = () => {
      fillRows(a, b1, m, h)
      addMatmul(a, x, W1, m, k, h)
      for (let i = 0; i < a.length; i++) a[i] = Math.tanh(a[i]!)
      fillRows(y, b2, m, c)
      addMatmul(y, a, W2, m, h, c)
      const value = sumOfSquares(yBar, y)
      for (const g of Object.values(bar)) g.fill(0)
      addColumnSums(bar.b2, yBar, m, c)
      addMatmulTA(bar.W2, a, yBar, h, m, c)
      aBar.fill(0)
      addMatmulTB(aBar, yBar, W2, m, c, h)
      for (let i = 0; i < a.length; i++) aBar[i]! *= 1 - a[i]! * a[i]!
      addColumnSums(bar.b1, aBar, m, h)
      addMatmulTA(bar.W1, x, aBar, k, m, h)
      addMatmulTB(bar.x, aBar, W1, m, h, k)
      return { value, ...bar }
    }
    return { run }
  }

/** Forward over reverse of W3 in its parameters: every line of the gradient followed by its tangent. */
export const W13 =
  ({ addMatmul, addMatmulTA, addMatmulTB, fillRows, addColumnSums, sumOfSquares }: Loops): Prepare =>
  (inputs) => {
    const { batch: m, inputs: k, hidden: h, classes: c } = mlp
    const x = take(inputs, 'x').data
    const W1 = take(inputs, 'W1').data
    const b1 = take(inputs, 'b1').data
    const W2 = take(inputs, 'W2').data
    const b2 = take(inputs, 'b2').data
    const dW1 = take(inputs, 'vW1').data
    const db1 = take(inputs, 'vb1').data
    const dW2 = take(inputs, 'vW2').data
    const db2 = take(inputs, 'vb2').data
    const a = like(x, m * h)
    const da = like(x, m * h)
    const aBar = like(x, m * h)
    const daBar = like(x, m * h)
    const y = like(x, m * c)
    const dy = like(x, m * c)
    const yBar = like(x, m * c)
    const dyBar = like(x, m * c)
    const bar = { W1: like(x, k * h), b1: like(x, h), W2: like(x, h * c), b2: like(x, c) }
    const run = () => {
      fillRows(a, b1, m, h)
      addMatmul(a, x, W1, m, k, h)
      fillRows(da, db1, m, h)
      addMatmul(da, x, dW1, m, k, h)
      for (let i = 0; i < a.length; i++) {
        const t = Math.tanh(a[i]!)
        a[i] = t
        da[i]! *= 1 - t * t
      }
      fillRows(y, b2, m, c)
      addMatmul(y, a, W2, m, h, c)
      fillRows(dy, db2, m, c)
      addMatmul(dy, da, W2, m, h, c)
      addMatmul(dy, a, dW2, m, h, c)
      const value = sumOfSquares(yBar, y)
      for (let i = 0; i < dy.length; i++) dyBar[i] = 2 * dy[i]!
      for (const g of Object.values(bar)) g.fill(0)
      addColumnSums(bar.b2, dyBar, m, c)
      addMatmulTA(bar.W2, da, yBar, h, m, c)
      addMatmulTA(bar.W2, a, dyBar, h, m, c)
      aBar.fill(0)
      addMatmulTB(aBar, yBar, W2, m, c, h)
      daBar.fill(0)
      addMatmulTB(daBar, dyBar, W2, m, c, h)
      addMatmulTB(daBar, yBar, dW2, m, c, h)
      for (let i = 0; i < a.length; i++) {
        const t = a[i]!
        daBar[i] = daBar[i]! * (1 - t * t) - 2 * aBar[i]! * t * da[i]!
      }
      addColumnSums(bar.b1, daBar, m, h)
      addMatmulTA(bar.W1, x, daBar, k, m, h)
      return { value, ...bar }
    }
    return { run }
  }

export const W5 =
  ({ addMatmul, addMatmulTB }: Loops): Prepare =>
  (inputs) => {
    const [m, k, n] = [512, 256, 4096]
    const W = take(inputs, 'W').data
    const b = take(inputs, 'b').data
    const x = take(inputs, 'x').data
    const y = like(x, m * n)
    const bar = { W: like(x, m * k), b: like(x, m) }
    const run = () => {
      for (let i = 0; i < m; i++) y.fill(b[i]!, i * n, (i + 1) * n)
      addMatmul(y, W, x, m, k, n)
      let value = 0
      for (let i = 0; i < m; i++) {
        let row = 0
        for (let j = i * n; j < (i + 1) * n; j++) {
          const e = Math.exp(y[j]!)
          y[j] = e
          row += e
        }
        bar.b[i] = row
        value += row
      }
      bar.W.fill(0)
      addMatmulTB(bar.W, y, x, m, n, k)
      return { value, ...bar }
    }
    return { run }
  }

export const W6 =
  ({ addMatmul, addMatmulTA, addMatmulTB }: Loops): Prepare =>
  (inputs) => {
    const n = 256
    const steps = 100
    const x = take(inputs, 'x').data
    const zs = [take(inputs, 'z').data, ...Array.from({ length: steps }, () => like(x, n * n))]
    let zBar = like(x, n * n)
    let next = like(x, n * n)
    const xBar = like(x, n * n)
    const run = () => {
      for (let t = 1; t <= steps; t++) {
        const z = zs[t]!
        z.fill(0)
        addMatmul(z, x, zs[t - 1]!, n, n, n)
      }
      let value = 0
      for (const entry of zs[steps]!) value += entry
      xBar.fill(0)
      zBar.fill(1)
      for (let t = steps; t >= 1; t--) {
        addMatmulTB(xBar, zBar, zs[t - 1]!, n, n, n)
        if (t === 1) break
        next.fill(0)
        addMatmulTA(next, x, zBar, n, n, n)
        const last = zBar
        zBar = next
        next = last
      }
      return { value, x: xBar }
    }
    return { run }
  }

export const W11 = (): Prepare => (inputs) => {
  const [m, k] = [2, 8]
  const x = take(inputs, 'x').data
  const y = take(inputs, 'y').data
  const W = take(inputs, 'W').data
  const b = take(inputs, 'b').data
  const bar = { W: like(x, k), b: like(x, 1) }
  const run = () => {
    let value = 0
    bar.W.fill(0)
    bar.b[0] = 0
    for (let i = 0; i < m; i++) {
      let r = b[0]! - y[i]!
      for (let j = 0; j < k; j++) r += x[i * k + j]! * W[j]!
      value += (r * r) / m
      const rBar = (2 * r) / m
      for (let j = 0; j < k; j++) bar.W[j]! += rBar * x[i * k + j]!
      bar.b[0]! += rBar
    }
    return { value, W: bar.W, b: bar.b }
  }
  return { run }
}

export const W15 =
  ({ addMatmul, addMatmulTA, addMatmulTB, sumOfSquares }: Loops): Prepare =>
  (inputs) => {
    const n = take(inputs, 'A').shape[0]!
    const A = take(inputs, 'A').data
    const B = take(inputs, 'B').data
    const C = like(A, n * n)
    const CBar = like(A, n * n)
    const bar = { A: like(A, n * n), B: like(A, n * n) }
    const run = () => {
      C.fill(0)
      addMatmul(C, A, B, n, n, n)
      const value = sumOfSquares(CBar, C)
      bar.A.fill(0)
      addMatmulTB(bar.A, CBar, B, n, n, n)
      bar.B.fill(0)
      addMatmulTA(bar.B, A, CBar, n, n, n)
      return { value, ...bar }
    }
    return { run }
  }

export const M15 =
  ({ addMatmul }: Loops): Prepare =>
  (inputs) => {
    const n = take(inputs, 'A').shape[0]!
    const A = take(inputs, 'A').data
    const B = take(inputs, 'B').data
    const C = like(A, n * n)
    const run = () => {
      C.fill(0)
      addMatmul(C, A, B, n, n, n)
      return { C }
    }
    return { run }
  }
