/** Whether chains agree, and what their draws are worth: R-hat, effective sample sizes and Monte Carlo errors by Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021). */

import { shown } from '../../core/errors/check-arguments.js'
import { badInput, badShape } from '../../core/errors/explain.js'
import { greatestOf, leastOf } from '../../core/errors/extremes.js'
import { choice, type OptionsOf, readOptions } from '../../core/errors/options.js'
import { type AnyExpr, type Expr, evaluate, isExpr, isTensor, ndtri, type Tensor, tensor, treeMap } from '../../index.js'

/** Draws of one number: a row for each chain. */
export type Rows = readonly Float64Array[]

const meanOf = (x: Float64Array): number => {
  let s = 0
  for (const v of x) s += v
  return s / x.length
}
const varianceOf = (x: Float64Array, mean = meanOf(x)): number => {
  let s = 0
  for (const v of x) s += (v - mean) ** 2
  return s / (x.length - 1)
}
const flat = (rows: Rows): Float64Array => {
  const out = new Float64Array(rows.reduce((s, r) => s + r.length, 0))
  let at = 0
  for (const r of rows) {
    out.set(r, at)
    at += r.length
  }
  return out
}
/** A quantile of sorted numbers, linear between them. */
const quantileOf = (sorted: Float64Array, p: number): number => {
  const at = p * (sorted.length - 1)
  const i = Math.floor(at)
  return i + 1 < sorted.length ? sorted[i]! + (at - i) * (sorted[i + 1]! - sorted[i]!) : sorted[i]!
}
/** Each chain as its two halves; of an odd number the draw in the middle is left out. */
const halves = (rows: Rows): Rows => {
  const half = rows[0]!.length >> 1
  return [...rows.map((r) => r.subarray(0, half)), ...rows.map((r) => r.subarray(r.length - half))]
}
const unstacked = (all: Float64Array, rows: Rows): Rows => {
  const n = rows[0]!.length
  return rows.map((_, c) => all.subarray(c * n, (c + 1) * n))
}

/** Ranks from 1, the mean rank where numbers are equal. */
const ranksOf = (x: Float64Array): Float64Array => {
  const order = Uint32Array.from(x, (_, i) => i).sort((a, b) => x[a]! - x[b]!)
  const ranks = new Float64Array(x.length)
  for (let i = 0; i < order.length; ) {
    let j = i
    while (j + 1 < order.length && x[order[j + 1]!] === x[order[i]!]) j++
    for (let k = i; k <= j; k++) ranks[order[k]!] = (i + j) / 2 + 1
    i = j + 1
  }
  return ranks
}
/** Normal numbers of the same ranks. */
const normalised = (rows: Rows): Rows => {
  const all = flat(rows)
  const shares = ranksOf(all).map((r) => (r - 0.375) / (all.length + 0.25))
  return unstacked((evaluate(ndtri(tensor(shares) as AnyExpr) as AnyExpr) as Tensor).data as Float64Array, rows)
}

const constant = (rows: Rows): boolean => {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const r of rows)
    for (const v of r) {
      if (v < low) low = v
      if (v > high) high = v
    }
  return high - low < 1e-15
}
const anyBad = (rows: Rows): boolean => rows.some((r) => r.some((v) => !Number.isFinite(v)))

/** The effective sample size of numbers as they are: by the autocorrelations up to where pairs of them are no longer positive, made decreasing (Geyer 1992). */
const plainEss = (rows: Rows): number => {
  const [m, n] = [rows.length, rows[0]!.length]
  if (n < 4 || anyBad(rows)) return Number.NaN
  if (constant(rows)) return m * n
  const means = Float64Array.from(rows, (r) => meanOf(r))
  const centred = rows.map((r, c) => r.map((v) => v - means[c]!))
  // The mean over chains of the autocovariance at a lag, with weight 1 / n.
  const covariance = (lag: number): number => {
    let s = 0
    for (const r of centred) for (let i = 0; i + lag < n; i++) s += r[i]! * r[i + lag]!
    return s / (n * m)
  }
  const within = (covariance(0) * n) / (n - 1)
  const total = (within * (n - 1)) / n + (m > 1 ? varianceOf(means) : 0)
  const rho = [1, 1 - (within - covariance(1)) / total]
  let [even, odd] = [1, rho[1]!]
  let t = 1
  while (t < n - 3 && even + odd > 0) {
    even = 1 - (within - covariance(t + 1)) / total
    odd = 1 - (within - covariance(t + 2)) / total
    if (even + odd >= 0) {
      rho[t + 1] = even
      rho[t + 2] = odd
    }
    t += 2
  }
  const last = t - 2
  if (even > 0) rho[last + 1] = even
  for (let k = 1; k <= last - 2; k += 2) {
    if (rho[k + 1]! + rho[k + 2]! > rho[k - 1]! + rho[k]!) {
      rho[k + 1] = (rho[k - 1]! + rho[k]!) / 2
      rho[k + 2] = rho[k + 1]!
    }
  }
  let tau = -1 + (rho[last + 1] ?? 0)
  for (let k = 0; k <= last; k++) tau += 2 * (rho[k] ?? 0)
  return (m * n) / Math.max(tau, 1 / Math.log10(m * n))
}
const plainRhat = (rows: Rows): number => {
  const n = rows[0]!.length
  const between = n * varianceOf(Float64Array.from(rows, (r) => meanOf(r)))
  const within = meanOf(Float64Array.from(rows, (r) => varianceOf(r)))
  return Math.sqrt((between / within + n - 1) / n)
}

export const essOf = (rows: Rows, kind: 'bulk' | 'tail' | 'mean'): number => {
  if (rows[0]!.length < 4 || anyBad(rows)) return Number.NaN
  if (kind === 'mean') return plainEss(halves(rows))
  if (kind === 'bulk') return plainEss(normalised(halves(rows)))
  const sorted = flat(rows).sort()
  return leastOf(
    [0.05, 0.95].map((p) => {
      const q = quantileOf(sorted, p)
      return plainEss(halves(rows.map((r) => r.map((v) => (v <= q ? 1 : 0)))))
    }),
  )
}
export const rhatOf = (rows: Rows): number => {
  if (rows[0]!.length < 4 || anyBad(rows)) return Number.NaN
  const split = halves(rows)
  const middle = quantileOf(flat(split).sort(), 0.5)
  return Math.max(plainRhat(normalised(split)), plainRhat(normalised(split.map((r) => r.map((v) => Math.abs(v - middle))))))
}

/** The draws of each element of a leaf [chains, draws, ...]: rows of one element after the other. */
export const elementsOf = (leaf: Tensor): readonly Rows[] => {
  const [chains, draws, ...shape] = leaf.shape as readonly number[]
  const size = shape.reduce((a, b) => a * b, 1)
  const data = leaf.data as unknown as ArrayLike<number>
  return Array.from({ length: size }, (_, e) =>
    Array.from({ length: chains! }, (_, c) => Float64Array.from({ length: draws! }, (_, d) => Number(data[(c * draws! + d) * size + e]))),
  )
}
/** Draws as given, checked: the tree of tensors with two leading axes. */
export const drawsIn = (draws: unknown, op: string): unknown =>
  treeMap((leaf: unknown, path) => {
    if (leaf === null || typeof leaf === 'string' || typeof leaf === 'function') return leaf
    const what = path === '' ? 'draws' : `draws.${path}`
    const x = isTensor(leaf)
      ? (leaf as Tensor)
      : isExpr(leaf)
        ? (evaluate(leaf as AnyExpr) as Tensor)
        : Array.isArray(leaf)
          ? (tensor(leaf as never) as unknown as Tensor)
          : badInput(op, `${what} is ${shown(leaf)}.`, 'give a tree of tensors [chains, draws, ...], as samplers return.')
    if (x.shape.length < 2 || x.shape[0] === 0)
      return badShape(op, [x.shape], `${what} is [${x.shape.join(', ')}].`, 'give tensors [chains, draws, ...], as samplers return.')
    return x
  }, draws as AnyExpr) as unknown

/** For each leaf [chains, draws, ...] of draws: a tensor of the remaining shape. */
export type PerElement<D> =
  D extends Expr<[number, number, ...infer S extends number[]], infer _T>
    ? Tensor<S, 'f64'>
    : D extends Expr
      ? Tensor
      : D extends readonly (readonly number[])[]
        ? Tensor<[], 'f64'>
        : { readonly [K in keyof D]: PerElement<D[K]> }
const perElement = <D>(draws: D, op: string, of: (rows: Rows) => number): PerElement<D> =>
  treeMap((leaf: unknown) => {
    if (!isTensor(leaf)) return leaf
    const x = leaf as Tensor
    return tensor(Float64Array.from(elementsOf(x), of), x.shape.slice(2) as never)
  }, drawsIn(draws, op) as AnyExpr) as unknown as PerElement<D>

export const essOptions = {
  /** 'bulk' (unless given) is for means and medians, 'tail' for the quantiles 5 % and 95 %; 'mean' is that of the numbers as they are, not of their ranks. */
  kind: choice(['bulk', 'tail', 'mean'], 'bulk'),
}
/** Options of `ess`. */
export type EssOptions = OptionsOf<typeof essOptions>
/**
 * The effective sample size of each element: how many independent draws would have the same Monte Carlo error.
 *
 * `draws` is a tree of [chains, draws, ...], as samplers return; the result is a tree of [...]. Chains are split in halves, and numbers are replaced by normal numbers of the same ranks. NaN of fewer than
 * 4 draws, and of draws that are not finite.
 * Errors  ShapeMismatch for a leaf of fewer than two axes.
 * Source  Vehtari and others 2021; Geyer 1992.
 * @example ess([[1, 2, 3, 4, 5, 6, 7, 8], [8, 3, 6, 1, 4, 7, 2, 5]])   // 19.266
 */
export const ess = <D>(draws: D, options?: EssOptions): PerElement<D> => {
  const { kind } = readOptions(essOptions, options, 'ess')
  return perElement(draws, 'ess', (rows) => essOf(rows, kind))
}
/**
 * R-hat of each element: the larger of that of the ranks and that of the ranks of distances from the median. Draws of chains that agree have less than 1.01.
 *
 * `draws` is a tree of [chains, draws, ...], as samplers return; the result is a tree of [...]. Chains are split in halves, so a single chain has one too. NaN of fewer than 4 draws, of draws that are
 * not finite, and of constant ones.
 * Errors  ShapeMismatch for a leaf of fewer than two axes.
 * Source  Vehtari and others 2021.
 * @example rhat([[1, 2, 3, 4, 5, 6, 7, 8], [8, 3, 6, 1, 4, 7, 2, 5]])   // 1.1328
 */
export const rhat = <D>(draws: D): PerElement<D> => perElement(draws, 'rhat', rhatOf)

/** What a row of a summary says. */
export interface SummaryRow {
  /** The path of the leaf and the index of the element, as 'theta[3]'. */
  readonly name: string
  readonly mean: number
  readonly sd: number
  readonly q5: number
  readonly median: number
  readonly q95: number
  /** The Monte Carlo error of the mean. */
  readonly mcse: number
  readonly essBulk: number
  readonly essTail: number
  readonly rhat: number
}
/** A summary: rows, and a table of them as text. */
export interface Summary {
  readonly rows: readonly SummaryRow[]
  readonly toString: () => string
}
const summaryRow = (name: string, rows: Rows): SummaryRow => {
  const all = flat(rows)
  const mean = meanOf(all)
  const sd = Math.sqrt(varianceOf(all, mean))
  const sorted = all.slice().sort()
  return {
    name,
    mean,
    sd,
    q5: quantileOf(sorted, 0.05),
    median: quantileOf(sorted, 0.5),
    q95: quantileOf(sorted, 0.95),
    mcse: sd / Math.sqrt(essOf(rows, 'mean')),
    essBulk: essOf(rows, 'bulk'),
    essTail: essOf(rows, 'tail'),
    rhat: rhatOf(rows),
  }
}
/** The name of each element of a leaf. */
export const namesOf = (path: string, shape: readonly number[]): readonly string[] => {
  const size = shape.reduce((a, b) => a * b, 1)
  if (shape.length === 0) return [path === '' ? 'x' : path]
  return Array.from({ length: size }, (_, e) => {
    const index: number[] = []
    let rest = e
    for (const n of shape.slice().reverse()) {
      index.unshift(rest % n)
      rest = Math.floor(rest / n)
    }
    return `${path === '' ? 'x' : path}[${index.join(', ')}]`
  })
}
/** The elements of a tree of draws, with their names. */
export const namedElements = (draws: unknown, op: string): readonly (readonly [string, Rows])[] => {
  const out: (readonly [string, Rows])[] = []
  treeMap((leaf: unknown, path) => {
    if (isTensor(leaf)) {
      const names = namesOf(path, (leaf as Tensor).shape.slice(2) as readonly number[])
      for (const [e, rows] of elementsOf(leaf as Tensor).entries()) out.push([names[e]!, rows])
    }
    return leaf
  }, drawsIn(draws, op) as AnyExpr)
  return out
}
const digits = (x: number): string =>
  Number.isFinite(x)
    ? x
        .toPrecision(4)
        .replace(/(\.\d*?)0+(e|$)/, '$1$2')
        .replace(/\.(e|$)/, '$1')
    : String(x)
/**
 * A table of draws: for each element its mean, standard deviation, quantiles, Monte Carlo error, effective sample sizes and R-hat.
 *
 * `draws` is a tree of [chains, draws, ...], as samplers return. The result has `rows`, and is a table as text.
 * Errors  ShapeMismatch for a leaf of fewer than two axes.
 * @example summary({ mu: [[1, 2, 3, 4, 5, 6, 7, 8], [8, 3, 6, 1, 4, 7, 2, 5]] }).rows[0]?.mean   // 4.5
 */
export const summary = (draws: unknown): Summary => {
  const rows = namedElements(draws, 'summary').map(([name, r]) => summaryRow(name, r))
  const heads = ['', 'mean', 'sd', '5 %', 'median', '95 %', 'mcse', 'ess bulk', 'ess tail', 'r-hat']
  const table = (): string => {
    const cells = rows.map((r) => [
      r.name,
      ...[r.mean, r.sd, r.q5, r.median, r.q95, r.mcse].map(digits),
      ...[r.essBulk, r.essTail].map((x) => (Number.isFinite(x) ? x.toFixed(0) : String(x))),
      Number.isFinite(r.rhat) ? r.rhat.toFixed(4) : String(r.rhat),
    ])
    const widths = heads.map((head, k) =>
      greatestOf(
        cells.map((row) => row[k]!.length),
        head.length,
      ),
    )
    return [heads, ...cells]
      .map((row) => row.map((c, k) => (k === 0 ? c.padEnd(widths[k]!) : c.padStart(widths[k]!))).join('  '))
      .join('\n')
  }
  return { rows, toString: table }
}
