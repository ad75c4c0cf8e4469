/** Importance weights, smoothed by a generalized Pareto distribution of the largest ones (Vehtari, Simpson, Gelman, Yao and Gabry 2024). */
import { badInput, badShape } from '../../core/errors/explain.js'
import { type AnyExpr, evaluate, isExpr, isTensor, type Tensor, tensor } from '../../index.js'

/** Weights of draws, and whether to trust them. */
export interface ImportanceWeights {
  /** Smoothed weights, which sum to 1: of the shape that the logarithms had. */
  readonly weights: Tensor<[number], 'f64'>
  /** The shape parameter of the tail of the weights. Up to 0.7, estimates can be trusted; above 1, the weights have no mean. Infinity for fewer than five weights in the tail. */
  readonly k: number
  /** 1 / sum of squared weights: how many draws of equal weight would be as good. */
  readonly ess: number
}

/** The shape and scale of a generalized Pareto distribution of rising numbers above 0 (Zhang and Stephens 2009), the shape with a weak prior around 0.5. */
const paretoFit = (x: Float64Array): { readonly k: number; readonly sigma: number } => {
  const n = x.length
  const m = 30 + Math.floor(Math.sqrt(n))
  const quarter = x[Math.floor(n / 4 + 0.5) - 1]!
  const shape = (b: number): number => x.reduce((s, v) => s + Math.log1p(-b * v), 0) / n
  const bs = Array.from({ length: m }, (_, i) => (1 - Math.sqrt(m / (i + 0.5))) / (3 * quarter) + 1 / x[n - 1]!)
  const logLikelihoods = bs.map((b) => {
    const k = shape(b)
    return n * (Math.log(-(b / k)) - k - 1)
  })
  const most = logLikelihoods.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  const raw = logLikelihoods.map((l) => Math.exp(l - most))
  const total = raw.reduce((s, w) => s + w, 0)
  // Weights below the precision are left out.
  const weights = raw.map((w) => (w / total >= 10 * Number.EPSILON ? w / total : 0))
  const b = weights.reduce((s, w, i) => s + w * bs[i]!, 0) / weights.reduce((s, w) => s + w, 0)
  const k = shape(b)
  return { k: (n * k + 5) / (n + 10), sigma: -k / b }
}
const paretoQuantile = (p: number, k: number, sigma: number): number =>
  sigma * (Math.abs(k) < Number.EPSILON ? -Math.log1p(-p) : Math.expm1(-k * Math.log1p(-p)) / k)

/**
 * Importance weights from logarithms of ratios, log p(x) - log q(x) for draws x of q: the largest are replaced by quantiles of a fitted Pareto distribution.
 *
 * The ratios may lack a constant. The result is { weights, k, ess }: an expectation under p is the sum of weights times values, if k is at most 0.7.
 * Errors  ShapeMismatch unless the ratios are a vector; BadInput if it is empty, holds NaN, or holds no finite number.
 * Source  Vehtari and others 2024.
 * @example importanceWeights([0, 0, 0, 0]).weights   // [0.25, 0.25, 0.25, 0.25]
 */
export const importanceWeights = (logRatios: AnyExpr | readonly number[]): ImportanceWeights => {
  const op = 'importanceWeights'
  const given = (isTensor(logRatios)
    ? logRatios
    : isExpr(logRatios)
      ? evaluate(logRatios as AnyExpr)
      : tensor(logRatios as number[])) as unknown as Tensor
  if (given.shape.length !== 1)
    badShape(op, [given.shape], `logRatios is [${given.shape.join(', ')}].`, 'give a vector, a number for each draw.')
  const x = Float64Array.from(given.data, Number)
  const n = x.length
  if (n === 0) badInput(op, 'logRatios is empty.', 'give a number for each draw.')
  const most = x.reduce((a, v) => (v > a || Number.isNaN(v) ? v : a), Number.NEGATIVE_INFINITY)
  if (!Number.isFinite(most))
    badInput(op, `the largest of logRatios is ${most}.`, 'give logarithms that are below Infinity, and finite for at least one draw.')
  for (let i = 0; i < n; i++) x[i] = x[i]! - most
  const order = Uint32Array.from(x, (_, i) => i).sort((a, b) => x[a]! - x[b]!)
  const tail = Math.ceil(Math.min(n / 5, 3 * Math.sqrt(n)))
  const cut = Math.max(x[order[n - tail - 1] ?? 0]!, Math.log(2.2250738585072014e-308))
  const members = Array.from(order).filter((i) => x[i]! > cut)
  let k = Number.POSITIVE_INFINITY
  if (members.length > 4) {
    const fit = paretoFit(Float64Array.from(members, (i) => Math.exp(x[i]!) - Math.exp(cut)))
    k = fit.k
    if (Number.isFinite(k))
      for (const [r, i] of members.entries())
        x[i] = Math.min(0, Math.log(paretoQuantile((r + 0.5) / members.length, k, fit.sigma) + Math.exp(cut)))
  }
  const weights = x.map(Math.exp)
  const total = weights.reduce((s, w) => s + w, 0)
  for (let i = 0; i < n; i++) weights[i] = weights[i]! / total
  return { weights: tensor(weights) as unknown as Tensor<[number], 'f64'>, k, ess: 1 / weights.reduce((s, w) => s + w * w, 0) }
}
