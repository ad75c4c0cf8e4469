/** Derivatives of third and fourth order, each against differences of the one below. */
import { isAdException } from '../core/errors/error.js'
import type { Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import { checkDirections } from './derivative.js'
import type { Collector } from './findings.js'
import { kinkAmong } from './kinks.js'
import { type Derived, dense, derive, direction, drawLike, type Mode, type Subject, stopsOf, total } from './subject.js'

const F = 'forward'
const R = 'reverse'
/** The modes of the derivatives below, the innermost first: of order 3 all, of order 4 those that differ most. The last one is taken in both. */
const words: Readonly<Record<number, readonly (readonly Mode[])[]>> = {
  3: [[F, F], [R, F], [F, R], [R, R]], // biome-ignore format: words
  4: [[F, F, F], [R, F, F], [F, R, F], [R, R, R]], // biome-ignore format: words
}

/** The derivative of a subject in one mode, along one direction or for one cotangent, as a function of the same arguments. */
const below = (s: Subject, mode: Mode, stops: ReadonlySet<Node> | undefined, next: () => number): Subject => {
  const d = derive({ ...s, modes: [mode] }, stops)
  const seeds = mode === F ? d.tangents : d.seeds
  const drawn: readonly NDArray[] =
    mode === F
      ? direction(d, next)
      : total(d.outs) === 1
        ? drawLike(d.outs, next).map((v) => ({ ...v, data: new Float64Array(v.data.length).fill(1) }))
        : drawLike(d.outs, next)
  const ys = mode === F ? dense(d.dys!, d.outs) : dense(d.xBars!, d.wrt)
  return {
    ...s,
    ys,
    inputs: [...s.inputs, ...seeds],
    values: [...s.values, ...drawn],
    paths: [...s.paths, ...seeds.map(() => `a seed of order ${mode}`)],
    tolerance: 10 * s.tolerance,
  }
}
const named = (word: readonly Mode[]): string => [...word].reverse().join(' over ')

/** Derivatives of order 3, and 4, of a program in words of modes: forward and reverse mode over each against differences of what that word gives. */
export const checkHigherOrders = (d: Derived, order: number, directions: number, next: () => number, out: Collector): void => {
  const kink = kinkAmong(d)
  const excuse = kink === undefined ? undefined : `${kink.name} lies on a kink, where a derivative is a convention`
  const { prefix } = out
  const stops = stopsOf(d)
  const subject: Subject = { ...d, values: d.inputs.map((x) => d.env.get(x)!) }
  out.under('higher order', excuse, () => {
    for (let k = 3; k <= order; k++)
      for (const word of words[k]!) {
        if (!word.every((mode) => d.modes.includes(mode))) continue
        const before = out.findings.length
        try {
          const lower = word.reduce((s, mode) => below(s, mode, stops, next), subject)
          out.prefix = [prefix, `order ${k}: over ${named(word)}`].filter((x) => x !== '').join(', ')
          checkDirections(derive(lower, stops), directions, next, out)
        } catch (e) {
          if (!isAdException(e) || e.error._tag !== 'NotImplemented') throw e
          out.notImplemented.push(`${e.error.rule}, order ${k}: ${e.error.reason}`)
        } finally {
          out.prefix = prefix
        }
        if (out.findings.length > before) return
      }
  })
}
