// A funnel, and a way around it. `npm run example:funnel`
//
// v ~ N(0, 3) is the logarithm of the variance of nine numbers x ~ N(0, exp(v / 2)) (Neal 2003). Where v is small, the x are confined to a neck that a sampler with one step size cannot enter: its trajectories diverge,
// and its draws miss small v. Written as x = exp(v / 2) z with z ~ N(0, 1), the same density has no neck.

import { type AnyExpr, add, at, div, exp, mul, square, sum, type Tensor } from '../src/index.js'
import { model, normal, nuts, summary } from '../src/prob/index.js'
import { key } from '../src/random/index.js'
import { expectThat, type Log, start } from './entry.js'
import { plot } from './plot.js'

export interface FunnelOptions {
  /** Draws of each of four chains. */
  readonly draws?: number
  readonly seed?: number
  readonly out?: string
}

/** The log density of [v, x], but for a constant. */
const centred = (q: AnyExpr): AnyExpr => {
  const [v, x] = [at(q, 0), at(q, '1:')] as readonly [AnyExpr, AnyExpr]
  const spread = sum(mul(exp(mul(-1, v)), square(x)) as AnyExpr)
  return mul(-0.5, add(add(square(div(v, 3)), spread), mul(9, v))) as AnyExpr
}
const nonCentred = model((s) => {
  const v = s.sample('v', normal(0, 3))
  const z = s.sample('z', normal(0, 1), [9])
  return { v, x: mul(exp(div(v, 2)), z) }
})
const numbers = (x: Tensor): readonly number[] => Array.from(x.data, Number)

export const main = async (log: Log, { draws = 1000, seed = 0, out = 'out' }: FunnelOptions = {}) => {
  const narrow = nuts(key(seed), centred, { start: new Array(10).fill(0) as number[], draws })
  const wide = nuts(key(seed), nonCentred, { draws })
  const direct = numbers(narrow.draws as unknown as Tensor)
  const points = {
    centred: Array.from({ length: 4 * draws }, (_, i) => [direct[10 * i + 1]!, direct[10 * i]!]),
    'non-centred': numbers(wide.draws.v).map((v, i) => [Number(wide.draws.x.data[9 * i]), v]),
  }
  const below = (pairs: readonly (readonly number[])[]) => pairs.filter(([, v]) => v! < -5).length / pairs.length
  const shares = { centred: below(points.centred), nonCentred: below(points['non-centred']) }
  const [v] = summary({ v: wide.draws.v }).rows
  for (const { message } of narrow.warnings) log(`centred: ${message}`)
  log(`share of draws with v < -5, which is 0.048: ${shares.centred.toFixed(4)} centred, ${shares.nonCentred.toFixed(4)} non-centred`)
  log(`non-centred: v has mean ${v!.mean.toFixed(3)}, standard deviation ${v!.sd.toFixed(3)}, R-hat ${v!.rhat.toFixed(4)}`)
  expectThat(narrow.stats.divergences > 0, 'trajectories that diverge in the neck')
  expectThat(wide.stats.divergences === 0, 'none without a neck')

  const some = (pairs: readonly (readonly number[])[]) => pairs.filter(([x], i) => i % 4 === 0 && Math.abs(x!) < 20)
  const file = await plot(out, 'funnel', {
    title: 'Draws of a funnel, as it is and non-centred',
    x: 'x',
    y: 'v',
    points: { 'non-centred': some(points['non-centred']), centred: some(points.centred) },
  })
  log(`picture: ${file}`)
  return { divergences: [narrow.stats.divergences, wide.stats.divergences] as const, shares, v: v!, file }
}

start(import.meta.url, main)
