// Taylor series of arrays in one direction, in plain loops: what derivatives of any order are held against. It shares nothing with src.

/** Number of coefficients: value and three derivatives. */
const TERMS = 4
/** One series: c[k] is the k-th derivative over k!. */
type Series = readonly number[]

const zip = (f: (k: number) => number): Series => Array.from({ length: TERMS }, (_, k) => f(k))
export const still = (value: number): Series => zip((k) => (k === 0 ? value : 0))
export const plus = (a: Series, b: Series): Series => zip((k) => a[k]! + b[k]!)
export const minus = (a: Series, b: Series): Series => zip((k) => a[k]! - b[k]!)
export const times = (a: Series, b: Series): Series =>
  zip((k) => {
    let s = 0
    for (let j = 0; j <= k; j++) s += a[j]! * b[k - j]!
    return s
  })
export const over = (a: Series, b: Series): Series => {
  const c: number[] = []
  for (let k = 0; k < TERMS; k++) {
    let s = a[k]!
    for (let j = 1; j <= k; j++) s -= b[j]! * c[k - j]!
    c.push(s / b[0]!)
  }
  return c
}
/** y with y' = x' g, where g is made from the terms of y that are known: exp, log, tanh ... */
const integrate = (y0: number, x: Series, g: (y: readonly number[]) => Series): Series => {
  const y = [y0]
  for (let k = 1; k < TERMS; k++) {
    const padded = zip((j) => y[j] ?? 0)
    const slope = g(padded)
    let s = 0
    for (let j = 1; j <= k; j++) s += j * x[j]! * slope[k - j]!
    y.push(s / k)
  }
  return y
}
export const exp = (x: Series): Series => integrate(Math.exp(x[0]!), x, (y) => y)
export const log = (x: Series): Series => integrate(Math.log(x[0]!), x, () => over(still(1), x))
export const tanh = (x: Series): Series => integrate(Math.tanh(x[0]!), x, (y) => minus(still(1), times(y, y)))
export const power = (x: Series, p: number): Series => integrate(x[0]! ** p, x, (y) => over(times(still(p), y), x))
export const sin = (x: Series): Series => {
  const s = [Math.sin(x[0]!)]
  const c = [Math.cos(x[0]!)]
  for (let k = 1; k < TERMS; k++) {
    let ds = 0
    let dc = 0
    for (let j = 1; j <= k; j++) {
      ds += j * x[j]! * c[k - j]!
      dc -= j * x[j]! * s[k - j]!
    }
    s.push(ds / k)
    c.push(dc / k)
  }
  return s
}

/** A matrix of series. */
export interface Jet {
  readonly shape: readonly [number, number]
  readonly at: readonly Series[]
}
export const jet = (shape: readonly [number, number], f: (i: number, j: number) => Series): Jet => ({
  shape,
  at: Array.from({ length: shape[0] * shape[1] }, (_, k) => f(Math.floor(k / shape[1]), k % shape[1])),
})
/** Element (i, j); axes of length 1 repeat. */
export const get = (x: Jet, i: number, j: number): Series => x.at[(x.shape[0] === 1 ? 0 : i) * x.shape[1] + (x.shape[1] === 1 ? 0 : j)]!
const wide = (...xs: readonly Jet[]): readonly [number, number] => [
  Math.max(...xs.map((x) => x.shape[0])),
  Math.max(...xs.map((x) => x.shape[1])),
]
export const each = (f: (...xs: readonly Series[]) => Series, ...xs: readonly Jet[]): Jet =>
  jet(wide(...xs), (i, j) => f(...xs.map((x) => get(x, i, j))))
/** The k-th derivative of a series. */
export const derivative = (x: Series, k: number): number => x[k]! * [1, 1, 2, 6][k]!
