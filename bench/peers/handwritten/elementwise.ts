// W1, W2, W10, W12, W14, W14h by hand: one pass over the data each.
import { like, type Prepare, take } from '../../peer.js'
import type { Loops } from './loops.js'

export const W1 =
  (loops: Loops): Prepare =>
  (inputs) => {
    const x = take(inputs, 'x').data
    const xBar = like(x, x.length)
    return { run: () => ({ value: loops.sumOfSquares(xBar, x), x: xBar }) }
  }

export const W2 = (): Prepare => (inputs) => {
  const x = take(inputs, 'x').data
  const xBar = like(x, x.length)
  const run = () => {
    let value = 0
    for (let i = 0; i < x.length; i++) {
      const u = x[i]!
      value += Math.atan2(u, 2)
      xBar[i] = 2 / (u * u + 4)
    }
    return { value, x: xBar }
  }
  return { run }
}

export const W10 = (): Prepare => (inputs) => {
  const a = take(inputs, 'a').data
  const b = take(inputs, 'b').data
  const aBar = like(a, a.length)
  const bBar = like(b, b.length)
  const run = () => {
    let value = 0
    for (let i = 0; i < a.length; i++) {
      const t = Math.tanh(a[i]!)
      const s = 1 / (1 + Math.exp(-b[i]!))
      value += t * s
      aBar[i] = (1 - t * t) * s
      bBar[i] = t * s * (1 - s)
    }
    return { value, a: aBar, b: bBar }
  }
  return { run }
}

export const W12 = (): Prepare => (inputs) => {
  const x = take(inputs, 'x').data
  const xBar = like(x, 1)
  const run = () => {
    xBar[0] = Math.exp(x[0]!)
    return { value: xBar[0]!, x: xBar }
  }
  return { run }
}

export const W14 = (): Prepare => (inputs) => {
  const x = take(inputs, 'x').data
  const n = x.length
  const xBar = like(x, n)
  const run = () => {
    let value = 0
    xBar.fill(0)
    for (let i = 0; i + 1 < n; i++) {
      const u = x[i]!
      const d = x[i + 1]! - u * u
      const e = 1 - u
      value += 100 * d * d + e * e
      xBar[i]! -= 400 * d * u + 2 * e
      xBar[i + 1]! += 200 * d
    }
    return { value, x: xBar }
  }
  return { run }
}

export const W14h = (): Prepare => (inputs) => {
  const x = take(inputs, 'x').data
  const n = x.length
  const hessian = like(x, n * n)
  const run = () => {
    let value = 0
    hessian.fill(0)
    for (let i = 0; i + 1 < n; i++) {
      const u = x[i]!
      const v = x[i + 1]!
      const d = v - u * u
      value += 100 * d * d + (1 - u) * (1 - u)
      hessian[i * n + i]! += 1200 * u * u - 400 * v + 2
      hessian[(i + 1) * n + i + 1]! += 200
      hessian[i * n + i + 1] = -400 * u
      hessian[(i + 1) * n + i] = -400 * u
    }
    return { value, x: hessian }
  }
  return { run }
}
