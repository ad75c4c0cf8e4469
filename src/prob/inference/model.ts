/** Models: functions that draw, observe and add to a log density by names, and what handlers make of them. */
import { functionOf, shown } from '../../core/errors/check-arguments.js'
import { badDtype, badInput, badShape } from '../../core/errors/explain.js'
import { integer, type OptionsOf, readOptions } from '../../core/errors/options.js'
import {
  type AnyExpr,
  add,
  arange,
  at,
  cast,
  type Expr,
  evaluate,
  isExpr,
  isTensor,
  mul,
  ravel,
  sum,
  type Tensor,
  tensor,
  treeMap,
  vmap,
  zeros,
} from '../../index.js'
import type { NumberLists } from '../../random/given.js'
import { foldIn, type Key, permutation, splitKey } from '../../random/index.js'
import { bijectorTo } from '../bijectors/combined.js'
import type { Distribution } from '../distribution.js'
import type { Target } from './density.js'

/** A value of a model: an expression, a tensor, a number or an array of numbers. */
export type Value = AnyExpr | number | NumberLists
/** Values by the names of sites. */
export type Values = Readonly<Record<string, Value>>

/** What a model is given: it says what the model does, and a handler decides what that means. */
export interface Trace {
  /** A value drawn from a distribution, or the value that was observed in its place. `shape` has further axes in front, of independent draws. */
  readonly sample: (name: string, distribution: Distribution, shape?: readonly number[]) => AnyExpr
  /** A value that was observed, of which the distribution is the likelihood. Returns it; while predictions are made, a draw in its place. */
  readonly observe: (name: string, distribution: Distribution, value: Value) => AnyExpr
  /** A value that is computed, kept under its name beside the draws. Returns it. */
  readonly deterministic: (name: string, value: AnyExpr | number) => AnyExpr
  /** Adds to the log density. */
  readonly factor: (name: string, logWeight: AnyExpr | number) => void
  /**
   * Runs `body` for a part of `size` things that are alike. `subsample` of them are drawn without putting back, anew in every run, and what `body` samples, observes and adds counts size / subsample times
   * in the log density, so that its expectation is that of all of them. `body` is given their numbers, an i32 of [subsample]; without `subsample` all from 0 on.
   */
  readonly plate: <T>(name: string, size: number, body: (index: Expr<[number], 'i32'>) => T, options?: PlateOptions) => T
}
export const plateOptions = {
  /** How many of the things a run takes: all unless given. */
  subsample: integer(undefined, { from: 1 }),
}
/** Options of `plate`. */
export type PlateOptions = OptionsOf<typeof plateOptions>
/** A model, made by `model`: R is what it returns. */
export interface Model<out R = unknown> {
  readonly _tag: 'Model'
  readonly run: (trace: Trace) => R
}
/** Arrays by the names of sites, with `Lead` in front of their shapes: those that the model returns have types of their own. */
export type SitesOf<R, Lead extends number[]> = Readonly<Record<string, Tensor>> & Returned<R, Lead>
type Returned<R, Lead extends number[]> = [R] extends [Readonly<Record<string, AnyExpr | number>>]
  ? [R] extends [AnyExpr]
    ? unknown
    : {
        readonly [K in keyof R]: AnyExpr extends R[K]
          ? Tensor
          : R[K] extends Expr<infer S extends number[], infer D>
            ? Tensor<[...Lead, ...S], D>
            : Tensor<Lead, 'f64'>
      }
  : unknown
/**
 * A model: a function of a trace `s`, in which `s.sample(name, distribution)` draws a latent value, `s.observe(name, distribution, value)` says what was observed, `s.deterministic(name, value)` keeps what
 * is computed, `s.factor(name, logWeight)` adds to the log density, and `s.plate(name, size, body)` takes a part of many things alike. What the model returns as a record is kept too, and gives the draws their types.
 *
 * `nuts`, `hmc`, `advi` and `laplaceApproximation` take models. Latent values are sampled in an unconstrained space, with the Jacobian of the map to the support of their distribution; draws are in the support.
 * Errors  BadInput where a name is used twice, or is not a text; when a model is sampled, for latent values that are discrete.
 * @example
 * const coin = model((s) => {
 *   const p = s.sample('p', beta(1, 1))
 *   s.observe('heads', binomial(10, p), 7)
 *   return { p }
 * })
 * prior(key(0), coin, 100).p.shape   // [100]
 */
export const model = <R>(run: (trace: Trace) => R): Model<R> => {
  functionOf(run, 'the model', 'model')
  return Object.freeze({ _tag: 'Model', run })
}
export const isModel = (x: unknown): x is Model =>
  typeof x === 'object' && x !== null && (x as { readonly _tag?: unknown })._tag === 'Model'
export const modelIn = (x: unknown, op: string): Model =>
  isModel(x) ? x : badInput(op, `the model is ${shown(x)}.`, 'give what `model` returns.')

/** What a site is. */
export type SiteKind = 'sample' | 'observe' | 'deterministic' | 'factor'
/** A site of a run: its kind, its value, and its log density, a scalar, if it has one. */
export interface Site {
  readonly kind: SiteKind
  readonly distribution?: Distribution
  readonly shape: readonly number[]
  readonly value: AnyExpr
  readonly logProb: () => AnyExpr
  /** Did the model return it? */
  readonly returned?: true
}
/** Decides the values of sites. */
interface Handler {
  /** The value of a latent site, or undefined if it has none. */
  readonly latent: (name: string, d: Distribution, shape: readonly number[]) => AnyExpr
  readonly observed: (name: string, d: Distribution, value: AnyExpr, shape: readonly number[]) => AnyExpr
  /** The numbers of the things that a run takes of a plate: fewer than all. */
  readonly indices: (name: string, size: number, subsample: number) => AnyExpr
}

const asExpr = (x: unknown, what: string, op: string): AnyExpr => {
  if (isExpr(x) || isTensor(x)) return x as AnyExpr
  if (typeof x === 'number' || Array.isArray(x)) return tensor(x as never) as unknown as AnyExpr
  return badInput(op, `${what} is ${shown(x)}.`, 'give an expression, a tensor, a number or an array of numbers.')
}
/** All elements in one f64. */
export const summed = (x: AnyExpr): AnyExpr => {
  const wide = cast(x, 'f64') as AnyExpr
  return (wide.shape.length === 0 ? wide : sum(wide)) as AnyExpr
}
const logProbOf = (d: Distribution, x: AnyExpr): AnyExpr => summed(d.logProb(x as never))
const isDistribution = (d: unknown): d is Distribution =>
  typeof d === 'object' &&
  d !== null &&
  typeof (d as Distribution).logProb === 'function' &&
  typeof (d as Distribution).sample === 'function'

/** Runs a model under a handler and returns its sites by name, in order. */
export const sitesOf = (m: Model, handler: Handler, op: string): ReadonlyMap<string, Site> => {
  const sites = new Map<string, Site>()
  const plates = new Set<string>()
  /** What the log densities of sites count, within the plates that are open. */
  let weight = 1
  const weighed = (logProb: () => AnyExpr): (() => AnyExpr) => {
    const w = weight
    return w === 1 ? logProb : () => mul(w, logProb()) as AnyExpr
  }
  const fresh = (name: unknown, d?: unknown): void => {
    if (typeof name !== 'string' || name === '') badInput(op, `a site has the name ${shown(name)}.`, 'give a text that is not empty.')
    if (sites.has(name as string)) badInput(op, `two sites have the name '${name}'.`, 'give every site a name of its own.')
    if (d !== undefined && !isDistribution(d))
      badInput(op, `site '${name}' has ${shown(d)} for a distribution.`, 'give a distribution, such as normal(0, 1).')
  }
  const nothing = (): AnyExpr => tensor(0) as AnyExpr
  const returned: unknown = m.run({
    sample: (name, d, shape = []) => {
      fresh(name, d ?? null)
      const value = handler.latent(name, d, shape)
      sites.set(name, { kind: 'sample', distribution: d, shape, value, logProb: weighed(() => logProbOf(d, value)) })
      return value
    },
    observe: (name, d, given) => {
      fresh(name, d ?? null)
      const seen = asExpr(given, `the value of site '${name}'`, op)
      const value = handler.observed(name, d, seen, leadingOf(name, d, seen, op))
      sites.set(name, { kind: 'observe', distribution: d, shape: [], value, logProb: weighed(() => logProbOf(d, value)) })
      return value
    },
    deterministic: (name, given) => {
      fresh(name)
      const value = asExpr(given, `the value of site '${name}'`, op)
      sites.set(name, { kind: 'deterministic', shape: [], value, logProb: nothing })
      return value
    },
    factor: (name, given) => {
      fresh(name)
      const value = asExpr(given, `the value of site '${name}'`, op)
      sites.set(name, { kind: 'factor', shape: [], value, logProb: weighed(() => summed(value)) })
    },
    plate: (name, size, body, options) => {
      if (typeof name !== 'string' || name === '') badInput(op, `a plate has the name ${shown(name)}.`, 'give a text that is not empty.')
      if (plates.has(name)) badInput(op, `two plates have the name '${name}'.`, 'give every plate a name of its own.')
      plates.add(name)
      const { subsample = size } = readOptions(plateOptions, options, `${op}: plate '${name}'`)
      if (!Number.isInteger(size) || size < 1) badInput(op, `plate '${name}' has the size ${shown(size)}.`, 'give a whole number from 1.')
      if (subsample > size)
        badInput(op, `plate '${name}' has ${size} things, and subsample is ${subsample}.`, 'draw at most as many as there are.')
      const index = subsample === size ? arange(size, 'i32') : handler.indices(name, size, subsample)
      const outer = weight
      weight = outer * (size / subsample)
      try {
        return body(index as never)
      } finally {
        weight = outer
      }
    },
  })
  if (typeof returned !== 'object' || returned === null || Array.isArray(returned) || isExpr(returned) || isTensor(returned)) return sites
  for (const [name, x] of Object.entries(returned)) {
    const known = sites.get(name)
    if (known === undefined)
      sites.set(name, { kind: 'deterministic', shape: [], value: asExpr(x, `the returned '${name}'`, op), logProb: nothing })
    else if (known.value !== x)
      badInput(op, `the model returns another value as '${name}' than that of the site of this name.`, 'return it under a name of its own.')
    else sites.set(name, { ...known, returned: true })
  }
  return sites
}
/** The axes of an observed value in front of those of its distribution. */
const leadingOf = (name: string, d: Distribution, value: AnyExpr, op: string): readonly number[] => {
  const own = [...d.batchShape, ...d.eventShape]
  const { shape } = value as { readonly shape: readonly number[] }
  const extra = shape.length - own.length
  const fits = own.every((n, i) => {
    const at = extra + i
    return at < 0 || shape[at] === n || shape[at] === 1 || (n === 1 && i < d.batchShape.length)
  })
  if (!fits)
    badShape(
      op,
      [shape, own],
      `site '${name}' observes [${shape.join(', ')}], and a draw of its distribution is [${own.join(', ')}].`,
      'give a value of that shape, with further axes in front.',
    )
  return extra > 0 ? shape.slice(0, extra) : []
}

/** Draws every site that has no value: from the distributions, one key for each. */
const drawing = (key: Key, values: ReadonlyMap<string, AnyExpr>): Handler => {
  let count = 0
  const draw = (d: Distribution, shape: readonly number[]): AnyExpr => d.sample(foldIn(key as never, count++) as never, shape)
  return {
    latent: (name, d, shape) => values.get(name) ?? draw(d, shape),
    observed: (_name, d, _value, shape) => draw(d, shape),
    indices: drawnIndices(key),
  }
}
/** The numbers of things in a plate, drawn without putting back: those of a name stay the same for a key. */
export const drawnIndices = (key: Key): Handler['indices'] => {
  const known = new Map<string, AnyExpr>()
  // Keys of sites are counted from 0 on.
  return (name, size, subsample) => {
    const found =
      known.get(name) ??
      (at(permutation(foldIn(key as never, 2 ** 30 + known.size) as never, size) as AnyExpr, `:${subsample}` as never) as AnyExpr)
    known.set(name, found)
    return found
  }
}
const wholly =
  (op: string): Handler['indices'] =>
  (name) =>
    badInput(op, `plate '${name}' takes a part of its things, and the log density is asked for.`, 'leave out subsample; svi takes it.')
/** The values of latent sites, given. */
const given = (values: ReadonlyMap<string, AnyExpr>, op: string, indices?: Handler['indices']): Handler => ({
  latent: (name) => values.get(name) ?? badInput(op, `there is no value for site '${name}'.`, `give values for all latent sites.`),
  observed: (_name, _d, value) => value,
  indices: indices ?? wholly(op),
})

/** Values by name, as expressions. */
const valuesIn = (values: unknown, what: string, op: string): ReadonlyMap<string, AnyExpr> => {
  if (typeof values !== 'object' || values === null || Array.isArray(values) || isExpr(values) || isTensor(values))
    return badInput(op, `${what} is ${shown(values)}.`, 'give an object with a value for each name.')
  return new Map(Object.entries(values).map(([name, x]) => [name, asExpr(x, `${what}.${name}`, op)]))
}
const unknownName = (names: Iterable<string>, known: readonly string[]): string | undefined => [...names].find((n) => !known.includes(n))
const listOfNames = (names: readonly string[]): string =>
  names.length === 0 ? 'it has none' : `they are ${names.map((n) => `'${n}'`).join(', ')}`

/**
 * A model in which some latent values are observed: the sites of these names have these values.
 *
 * Errors  BadInput, when the model runs, for a name that no latent site has.
 * @example
 * const line = model((s) => { s.sample('y', normal(s.sample('mu', normal(0, 1)), 1), [3]) })
 * evaluate(logJoint(condition(line, { y: [1, 2, 3] }), { mu: 2 }))   // -6.676
 */
export const condition = <R>(m: Model<R>, values: Values): Model<R> => {
  const op = 'condition'
  const { run } = modelIn(m, op) as Model<R>
  const data = valuesIn(values, 'values', op)
  return model((s): R => {
    const names: string[] = []
    const result = run({
      ...s,
      sample: (name, d, shape) => {
        names.push(name)
        const value = data.get(name)
        return value === undefined ? s.sample(name, d, shape) : s.observe(name, d, value as never)
      },
    })
    const lost = unknownName(data.keys(), names)
    if (lost !== undefined) badInput(op, `no latent site has the name '${lost}': ${listOfNames(names)}.`)
    return result
  })
}

/**
 * The joint log density of a model at values of its latent sites, in their supports: log p(values, observations), a scalar in f64.
 *
 * It is an expression, so it may be differentiated; no Jacobian is added.
 * Errors  BadInput for a latent site without a value, and for a name that no latent site has.
 * @example evaluate(logJoint(model((s) => { s.sample('x', normal(0, 1)) }), { x: 0 }))   // -0.9189
 */
export const logJoint = (m: Model, values: Values): AnyExpr => {
  const op = 'logJoint'
  const known = valuesIn(values, 'values', op)
  const sites = sitesOf(modelIn(m, op), given(known, op), op)
  checkLatent(sites, known.keys(), op)
  return totalOf(sites)
}
export const totalOf = (sites: ReadonlyMap<string, Site>): AnyExpr =>
  [...sites.values()].filter((s) => s.kind !== 'deterministic').reduce((t, s) => add(t, s.logProb()) as AnyExpr, tensor(0) as AnyExpr)
const checkLatent = (sites: ReadonlyMap<string, Site>, names: Iterable<string>, op: string): void => {
  const known = [...sites].filter(([, s]) => s.kind === 'sample').map(([n]) => n)
  const lost = unknownName(names, known)
  if (lost !== undefined) badInput(op, `no latent site has the name '${lost}': ${listOfNames(known)}.`)
}
/** The sites of a model at given values of all latent ones, for guides. */
export const sitesAt = (
  m: Model,
  values: ReadonlyMap<string, AnyExpr>,
  op: string,
  indices?: Handler['indices'],
): ReadonlyMap<string, Site> => sitesOf(m, given(values, op, indices), op)
/** The sites of a model with everything drawn. */
export const sitesDrawn = (m: Model, key: Key, op: string, indices?: Handler['indices']): ReadonlyMap<string, Site> =>
  sitesOf(m, { ...drawing(key, new Map()), ...(indices === undefined ? {} : { indices }) }, op)

/** What is kept of a run: everything but factors. */
const keptOf = (sites: ReadonlyMap<string, Site>): Record<string, AnyExpr> =>
  Object.fromEntries([...sites].filter(([, s]) => s.kind !== 'factor').map(([name, s]) => [name, s.value]))

/**
 * Draws of everything in a model from its prior, the observed sites too: a record of [draws, ...].
 *
 * Errors  BadInput unless `draws` is a whole number from 1.
 * @example prior(key(0), model((s) => ({ x: s.sample('x', normal(0, 1), [3]) })), 100).x.shape   // [100, 3]
 */
export const prior = <R>(key: Key, m: Model<R>, draws: number): SitesOf<R, [number]> => {
  const op = 'prior'
  modelIn(m, op)
  if (!Number.isInteger(draws) || draws < 1) badInput(op, `draws is ${shown(draws)}.`, 'give a whole number from 1.')
  const one = (k: AnyExpr): unknown => keptOf(sitesOf(m, drawing(k, new Map()), op))
  return evaluate((vmap(one as never) as unknown as (k: AnyExpr) => unknown)(splitKey(key as never, draws) as AnyExpr) as never) as never
}

/**
 * Predictions: for each draw of the latent sites, draws of the observed ones, and of latent ones without a value, and what the model computes. A record of [chains, draws, ...].
 *
 * `draws` is what a sampler returned. The model may be another one, with other data: sites of the same names take the values.
 * Errors  BadInput for a name in `draws` that the model has not.
 * @example predictive(key(1), model((s) => ({ y: s.observe('y', normal(s.sample('mu', normal(0, 1)), 1), [3]) })), { mu: [[0, 1, 2]] }).y.shape   // [1, 3, 1]
 */
export const predictive = <R>(key: Key, m: Model<R>, draws: Values): SitesOf<R, [number, number]> => {
  const op = 'predictive'
  modelIn(m, op)
  const leaves = [...valuesIn(draws, 'draws', op)]
  if (leaves.length === 0) badInput(op, 'draws holds nothing.', 'give the draws of a sampler.')
  const [chains, count] = leaves[0]![1].shape as readonly number[]
  const all: [string, Tensor][] = leaves.map(([name, x]) => {
    const { shape } = x as { readonly shape: readonly number[] }
    if (shape.length < 2 || shape[0] !== chains || shape[1] !== count)
      badShape(
        op,
        [shape],
        `draws.${name} is [${shape.join(', ')}].`,
        `give [chains, draws, ...], the same for all: [${chains}, ${count}, ...].`,
      )
    const t = (isTensor(x) ? x : evaluate(x)) as Tensor
    return [name, tensor(t.data as never, [chains! * count!, ...shape.slice(2)] as never, t.dtype as never) as unknown as Tensor]
  })
  const one = (k: AnyExpr, values: Record<string, AnyExpr>): unknown => {
    const sites = sitesOf(m, drawing(k, new Map(Object.entries(values))), op)
    const lost = unknownName(Object.keys(values), [...sites.keys()])
    if (lost !== undefined) badInput(op, `no site has the name '${lost}': ${listOfNames([...sites.keys()])}.`)
    return Object.fromEntries(
      Object.entries(keptOf(sites)).filter(([name]) => sites.get(name)!.kind !== 'sample' || !Object.hasOwn(values, name)),
    )
  }
  const keys = splitKey(key as never, chains! * count!) as AnyExpr
  const made = evaluate(
    (vmap(one as never) as unknown as (k: AnyExpr, v: unknown) => unknown)(keys, Object.fromEntries(all)) as never,
  ) as unknown
  return treeMap((leaf: unknown) => {
    const t = leaf as Tensor
    return tensor(t.data as never, [chains!, count!, ...t.shape.slice(1)] as never, t.dtype as never)
  }, made as AnyExpr) as never
}

/** The latent sites of a model as a target: unconstrained values, and what they stand for. */
export const targetOfModel = (m: Model, start: unknown, op: string): Target => {
  // Shapes alone are of interest: nothing of this is evaluated.
  const shapes = new Map<string, AnyExpr>()
  for (const [name, s] of sitesDrawn(m, tensor([0, 0], [2], 'i32') as unknown as Key, op)) {
    if (s.kind !== 'sample') continue
    const { dtype, support } = s.distribution!
    if ((dtype !== 'f64' && dtype !== 'f32') || support.discrete)
      badDtype(
        op,
        [dtype],
        `the latent site '${name}' is discrete (${s.distribution!.name})`,
        'sum over its values in the density, or observe it.',
      )
    shapes.set(name, zeros(bijectorTo(support).shapeBefore(s.value.shape as readonly number[]) as number[], dtype) as AnyExpr)
  }
  if (shapes.size === 0) badInput(op, 'the model has no latent sites.', 'draw at least one value with s.sample.')
  const template = evaluate(Object.fromEntries(shapes) as never) as unknown
  const [flat, unravel] = ravel(template as AnyExpr) as unknown as readonly [AnyExpr, (v: AnyExpr) => Readonly<Record<string, AnyExpr>>]
  const size = (flat.shape as readonly number[])[0]!
  /** A run at an unconstrained vector: the sites, and the logarithms of the Jacobians' determinants. */
  const runAt = (x: AnyExpr): readonly [ReadonlyMap<string, Site>, ReadonlyMap<string, AnyExpr>] => {
    const free = unravel(x)
    const jacobians = new Map<string, AnyExpr>()
    const sites = sitesOf(
      m,
      {
        latent: (name, d) => {
          const bijector = bijectorTo(d.support)
          const at = free[name]!
          jacobians.set(name, summed(bijector.logDet(at)))
          return bijector.forward(at)
        },
        observed: (_name, _d, value) => value,
        indices: wholly(op),
      },
      op,
    )
    return [sites, jacobians]
  }
  return {
    size,
    start: start === undefined ? new Float64Array(size) : startOf(m, start, [...shapes.keys()], op),
    tree: (x) => {
      const [sites] = runAt(x)
      return Object.fromEntries(
        [...sites].filter(([, s]) => s.kind === 'sample' || s.kind === 'deterministic' || s.returned).map(([name, s]) => [name, s.value]),
      )
    },
    logDensity: (x) => {
      const [sites, jacobians] = runAt(x)
      return [...jacobians.values()].reduce((t, j) => add(t, j) as AnyExpr, totalOf(sites))
    },
    parts: (x) => {
      const [sites] = runAt(x)
      return Object.fromEntries([...sites].filter(([, s]) => s.kind !== 'deterministic').map(([name, s]) => [name, s.logProb()]))
    },
  }
}
/** Where chains begin, from values in the supports. */
const startOf = (m: Model, start: unknown, names: readonly string[], op: string): Float64Array => {
  const values = valuesIn(start, 'start', op)
  const lost = unknownName(values.keys(), names)
  if (lost !== undefined) badInput(op, `start has '${lost}', which no latent site has: ${listOfNames(names)}.`)
  const missing = names.find((n) => !values.has(n))
  if (missing !== undefined) badInput(op, `start has no value for '${missing}'.`, 'give one for each latent site, or no start.')
  const free: Record<string, AnyExpr> = {}
  for (const [name, s] of sitesAt(m, values, op)) if (s.kind === 'sample') free[name] = bijectorTo(s.distribution!.support).inverse(s.value)
  const [flat] = ravel(evaluate(free as never) as AnyExpr) as unknown as readonly [AnyExpr]
  const numbers = Float64Array.from((evaluate(cast(flat, 'f64') as AnyExpr) as Tensor).data, Number)
  const wrong = numbers.find((v) => !Number.isFinite(v))
  if (wrong !== undefined) badInput(op, 'start has a value outside or on the edge of its support.', 'begin inside of the supports.')
  return numbers
}
