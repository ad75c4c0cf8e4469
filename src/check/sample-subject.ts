/** A primitive applied at a sample, as it is or changed: the subject of the checks. */

import { evaluateNodes } from '../backends/reference/index.js'
import type { Registry } from '../core/calculus/rule.js'
import { badInput } from '../core/errors/explain.js'
import { leastOf } from '../core/errors/extremes.js'
import { holds } from '../core/errors/language.js'
import { integer, type Kind, kind } from '../core/errors/options.js'
import { aval, isFloat } from '../core/graph/aval.js'
import { applyAny, constant, input } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import type { AnyPrimitive, Sample } from '../core/graph/primitive.js'
import { drawArray } from './draw.js'
import { type Expectations, expectations } from './expectations.js'
import { BOTH, type CheckOptions, checkOptions } from './program.js'
import { bind, type Subject } from './subject.js'

/** Options of `checkRule`. */
export interface RuleOptions extends CheckOptions, Expectations {
  /** One sample alone, by its position, or one of your own: with the seed of a finding it is that check again. */
  readonly sample?: number | Sample | undefined
}
const position = integer()
const sampleKind = kind<number | Sample | undefined>((given, what, where, shape) => {
  if (typeof given !== 'object' || given === null) return position.read(given, what, where, shape)
  return holds(() => Array.isArray((given as Partial<Sample>).args))
    ? (given as Sample)
    : badInput(where, 'this is not a sample.', 'give { args: [{ shape }], params }, or the position of one of primitive.samples.')
})
export const ruleOptions: typeof checkOptions & typeof expectations & { readonly sample: Kind<number | Sample | undefined> } = {
  ...checkOptions,
  ...expectations,
  sample: sampleKind,
}

/** All samples that the checker looks at. */
export const samplesOf = (prim: AnyPrimitive): readonly Sample[] => [...prim.samples, ...prim.hard]

/** How a sample is changed: what mistakes hide from at plain values. */
export interface Change {
  readonly float?: 'f64' | 'f32'
  /** The values of a float argument, in place of those drawn. */
  readonly values?: (drawn: NDArray, argument: number) => NDArray
  /** Arguments that are literals. */
  readonly literals?: ReadonlyMap<number, number>
}

/** Draws that are tried until every result is finite. */
const TRIES = 30

const copied = (a: NDArray): NDArray => ({ ...a, data: a.data.slice() as never })

/** A primitive applied at a sample; floats without a dtype are `float`. */
export const subjectOf = (
  registry: Registry,
  prim: AnyPrimitive,
  sample: Sample,
  options: RuleOptions,
  next: () => number,
  { float = 'f64', values: change, literals = new Map() }: Change = {},
): Subject => {
  const avals = sample.args.map((a) => aval(a.shape, a.dtype ?? float))
  const args = avals.map((a, i) => (literals.has(i) ? constant(literals.get(i)!, a.dtype) : input(a)))
  const places = avals.flatMap((_, i) => (literals.has(i) ? [] : [i]))
  const inputs = places.map((i) => args[i]!)
  const ys = applyAny(prim, args, sample.params)
  const once = (): readonly NDArray[] =>
    places.map((i) => {
      const a = avals[i]!
      const { values, domain, draw } = sample.args[i]!
      const drawn = drawArray(a, next, domain)
      if (draw !== undefined) drawn.data.set(Array.from(draw(next, a.shape)))
      values?.forEach((v, k) => {
        drawn.data[k] = v
      })
      return change === undefined || !isFloat(a.dtype) ? drawn : change(drawn, i)
    })
  // Where no domain is declared, it is found: values whose results are finite.
  const draw = (): readonly NDArray[] => {
    let best = once()
    for (let k = 0, least = Number.POSITIVE_INFINITY; k < TRIES && change === undefined; k++) {
      const values = k === 0 ? best : once()
      const lost = evaluateNodes(ys, bind(inputs, values.map(copied))).reduce(
        (n, y) => n + Array.from(y.data).filter((v) => !Number.isFinite(v)).length,
        0,
      )
      if (lost < least) [best, least] = [values, lost]
      if (least === 0) break
    }
    return best
  }
  return {
    registry,
    inputs,
    ys,
    values: draw(),
    captured: new Map(),
    paths: places.map((i) => `argument ${i}`),
    active: places.flatMap((i, k) => (isFloat(avals[i]!.dtype) && prim.args[prim.variadic ? 0 : i] === 'float' ? [k] : [])),
    draw,
    tolerance: options.tolerance ?? prim.tolerance?.relative ?? 1e-9,
    scale: options.scale ?? scaleOf(sample),
    modes: options.modes ?? BOTH,
  }
}

/** A primitive at a sample, its floats without a dtype in `float`; where the sample wants f64, nothing in f32. */
export const subjectAt = (
  registry: Registry,
  prim: AnyPrimitive,
  sample: Sample,
  options: RuleOptions,
  next: () => number,
  float: 'f64' | 'f32' = 'f64',
): Subject | undefined => {
  if (float === 'f64') return subjectOf(registry, prim, sample, options, next)
  try {
    return subjectOf(registry, prim, sample, options, next, { float })
  } catch {
    return undefined // a sample whose parameters or other arguments want f64
  }
}

/** Differences stay inside narrow domains. */
const scaleOf = (sample: Sample): number =>
  leastOf(
    sample.args.map((a) => (a.domain === undefined || a.dtype !== undefined ? 1 : (a.domain[1] - a.domain[0]) / 8)),
    sample.scale ?? 1,
  )
