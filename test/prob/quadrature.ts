/** Sums over a support: of floats by the trapezoidal rule in a coordinate in which densities vanish fast on both sides, of whole numbers by all that matter. */
import { type AnyExpr, add, concat, evaluate, exp, flip, linspace, sub, type Tensor } from '../../src/index.js'
import { bijectorTo, type Distribution } from '../../src/prob/index.js'

export const numbers = (x: unknown): number[] => Array.from((evaluate(x as AnyExpr) as Tensor).data as unknown as number[])
const END = 90
const POINTS = 8001
/** Places and the logarithms of their weights. */
export const grid = (d: Distribution): { readonly x: Tensor; readonly logWeights: readonly number[] } => {
  const { support } = d
  if (support.discrete) {
    let [low, high] = [Number(numbers(support.lower)[0]), support.upper === undefined ? 3000 : Number(numbers(support.upper)[0])]
    if (high - low > 1e5 && d.mean !== undefined && d.variance !== undefined) {
      // Sixty standard deviations, and what small means have beside them.
      const [mean, away] = [numbers(d.mean())[0]!, 60 * Math.sqrt(numbers(d.variance())[0]!) + 60]
      low = Math.max(low, Math.floor(mean - away))
      high = Math.min(high, Math.ceil(mean + away))
    }
    const x = linspace(low, high, high - low + 1)
    return { x: evaluate(x) as Tensor, logWeights: new Array<number>(high - low + 1).fill(0) }
  }
  const u = linspace(-END, END, POINTS) as AnyExpr
  const step = Math.log((2 * END) / (POINTS - 1))
  if (support.kind === 'real') {
    // Both sides of the location by themselves: there may be a kink.
    const centre = d.parameters.loc ?? d.parameters.mean ?? 0
    const away = exp(u)
    const logs = numbers(add(u, step))
    return {
      x: evaluate(concat([sub(centre, flip(away)), add(centre, away)] as never)) as Tensor,
      logWeights: [...[...logs].reverse(), ...logs],
    }
  }
  const map = bijectorTo(support)
  return { x: evaluate(map.forward(u)) as Tensor, logWeights: numbers(add(map.logDet(u), step)) }
}
/** The expectation of f under d, by values at the grid. */
export const expectation = (d: Distribution, f?: (x: Tensor) => unknown): number => {
  const { x, logWeights } = grid(d)
  const logs = numbers(d.logProb(x))
  const values = f === undefined ? undefined : numbers(f(x))
  let sum = 0
  for (const [i, lp] of logs.entries()) {
    const w = Math.exp(lp + logWeights[i]!)
    // Where a density has a pole x may have been rounded onto it.
    if (w > 0 && w < Number.POSITIVE_INFINITY) sum += w * (values?.[i] ?? 1)
  }
  return sum
}
