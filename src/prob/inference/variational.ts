/** Variational inference: the parameters of a simpler distribution by which the evidence is bounded best. */
import { functionOf } from '../../core/errors/check-arguments.js'
import { badInput } from '../../core/errors/explain.js'
import { choice, func, integer, number, type OptionsOf, raw, readOptions } from '../../core/errors/options.js'
import {
  type AnyExpr,
  add,
  compile,
  evaluate,
  exp,
  isTensor,
  matmul,
  mean,
  mul,
  neg,
  sub,
  sum,
  type Tensor,
  tensor,
  treeMap,
  tril,
  valueAndGrad,
  vmap,
} from '../../index.js'
import type { Found } from '../../minimize/types.js'
import { adam, applyUpdates, cosineDecaySchedule } from '../../optim/index.js'
import { foldIn, type Key, normal, splitKey } from '../../random/index.js'
import type { Target } from './density.js'
import { type Approximation, gaussianOf } from './gaussian.js'
import { drawnIndices, type Model, model, modelIn, type SitesOf, sitesAt, sitesDrawn, type Trace, totalOf, type Values } from './model.js'
import type { Start } from './samplers.js'
import { targetIn } from './target.js'
import type { Draws, LogDensity } from './types.js'

/** What `onStep` is told. */
export interface VariationalStep {
  /** The number of steps taken. */
  readonly step: number
  /** The estimate of the bound in this step. */
  readonly elbo: number
}
const fitOptions = {
  /** Steps of Adam: 2000 unless given. */
  steps: integer(2000, { from: 1 }),
  /** Draws for each estimate of the gradient: 8 unless given. */
  samples: integer(8, { from: 1 }),
  /** The first step length of Adam, which falls to 0 by a half cosine: 0.05 unless given. */
  learningRate: number(0.05, { above: 0 }),
  /** Called after each step; it ends the search by returning false. */
  onStep: func<(info: VariationalStep) => unknown, undefined>(undefined),
}
export const adviOptions = {
  ...fitOptions,
  /** 'meanField' unless given, which has no correlations; 'fullRank' has all of them. */
  family: choice(['meanField', 'fullRank'], 'meanField'),
}
/** Options of `advi`. */
export type AdviOptions = OptionsOf<typeof adviOptions>
export const sviOptions = {
  ...fitOptions,
  /** The parameters of the guide: a tree of floats. */
  params: raw<unknown, undefined>(undefined),
}
type SviRead = OptionsOf<typeof sviOptions>
/** Options of `svi`. */
export interface SviOptions<P> extends Omit<SviRead, 'params'> {
  readonly params: P
}

interface Fit<P> {
  readonly params: P
  readonly elbo: readonly number[]
}
/** Maximises an estimate of the bound over a tree of tensors. */
const fit = <P>(
  bound: (params: P, key: AnyExpr) => AnyExpr,
  start: P,
  key: Key,
  {
    steps,
    samples,
    learningRate,
    onStep,
  }: { readonly steps: number; readonly samples: number; readonly learningRate: number; readonly onStep: unknown },
  op: string,
): Fit<P> => {
  const optimiser = adam({ learningRate: cosineDecaySchedule({ initValue: learningRate, decaySteps: steps }) as never })
  const state = optimiser.init(start as never)
  const loss = (params: P, k: AnyExpr): AnyExpr =>
    neg(
      mean(
        (vmap(((one: AnyExpr) => bound(params, one)) as never) as unknown as (k: AnyExpr) => AnyExpr)(
          splitKey(k as never, samples) as AnyExpr,
        ),
      ),
    )
  const step = compile(((params: P, state: unknown, k: AnyExpr, i: AnyExpr) => {
    const { value, grad } = (
      valueAndGrad(((p: P) => loss(p, foldIn(k as never, i as never) as AnyExpr)) as never) as unknown as (p: P) => {
        value: AnyExpr
        grad: unknown
      }
    )(params)
    const { updates, state: next } = optimiser.update(grad as never, state as never, params as never)
    return { params: applyUpdates(params as never, updates as never), state: next, value }
  }) as never) as unknown as (params: unknown, state: unknown, k: unknown, i: unknown) => { params: P; state: unknown; value: Tensor }
  const k = evaluate(key as AnyExpr)
  const elbo: number[] = []
  let now: { readonly params: P; readonly state: unknown } = { params: start, state }
  for (let i = 0; i < steps; i++) {
    const done = step(now.params, now.state, k, tensor(i, [], 'i32'))
    const value = -done.value.item()
    if (!Number.isFinite(value) && (i === 0 || !finite(done.params)))
      badInput(
        op,
        `the bound is ${value} in step ${i}.`,
        i === 0 ? 'start where the log density is finite.' : 'take a smaller learningRate, or more samples.',
      )
    elbo.push(value)
    now = done
    if ((onStep as ((info: VariationalStep) => unknown) | undefined)?.({ step: i + 1, elbo: value }) === false) break
  }
  return { params: now.params, elbo }
}
const finite = (tree: unknown): boolean => {
  let yes = true
  treeMap((leaf: unknown) => {
    if (isTensor(leaf)) yes &&= Array.from((leaf as Tensor).data, Number).every((v) => Number.isFinite(v))
    return leaf
  }, tree as AnyExpr)
  return yes
}

/** A variational approximation: a normal one, and the course of its bound. */
export interface Variational<D, P> extends Approximation<D, P> {
  /** The estimates of the bound, step by step. */
  readonly elbo: readonly number[]
}
interface AdviFn {
  <R>(key: Key, model: Model<R>, options?: Partial<Start<Values>> & AdviOptions): Variational<SitesOf<R, [number, number]>, SitesOf<R, []>>
  <X>(key: Key, logDensity: LogDensity<X>, options: Start<X> & AdviOptions): Variational<Draws<X>, Found<X>>
}
/** log 0.1: the logarithm of the standard deviations in the beginning. */
const NARROW = -Math.LN10
const gaussianBound =
  (target: Target, full: boolean) =>
  ({ m, d, w }: { readonly m: AnyExpr; readonly d: AnyExpr; readonly w: AnyExpr }, key: AnyExpr): AnyExpr => {
    const noise = normal(key as never, [target.size]) as AnyExpr
    const scaled = mul(exp(d), noise) as AnyExpr
    const x = add(m, full ? add(scaled, matmul(tril(w as never, -1) as AnyExpr, noise)) : scaled) as AnyExpr
    return add(target.logDensity(x), sum(d)) as AnyExpr
  }
/**
 * Automatic differentiation variational inference: the normal distribution in the unconstrained space that maximises the evidence lower bound, E[log p(x) - log q(x)].
 *
 * The gradient is estimated by draws that move with the parameters, and Adam follows it. The result is { mean, covariance, logEvidence, sample, elbo }; `logEvidence` is the mean of the last tenth of `elbo`.
 * Variances of 'meanField' are too small where parameters are correlated: the `k` of `sample` says whether its weights can correct that.
 * Errors  BadInput if the log density is not finite where the search begins, or becomes so.
 * Source  Kucukelbir and others 2017.
 * @example Math.abs(advi(key(0), (x) => mul(-2, square(sub(x, 1))), { start: 0 }).mean.item() - 1) < 0.05   // true
 */
export const advi: AdviFn = ((key: Key, density: unknown, options: unknown): unknown => {
  const op = 'advi'
  const { start, ...rest } = (options ?? {}) as { readonly start?: unknown }
  const target = targetIn(density, start, op)
  const { family, ...read } = readOptions(adviOptions, rest, op)
  const n = target.size
  const full = family === 'fullRank'
  const entropy = n * (0.5 + 0.9189385332046728)
  const first = {
    m: tensor(target.start.slice()),
    d: tensor(new Float64Array(n).fill(NARROW)),
    w: tensor(new Float64Array(full ? n * n : 0), (full ? [n, n] : [0]) as never),
  }
  const { params, elbo } = fit(gaussianBound(target, full) as never, first, key, read, op)
  const factor = new Float64Array(n * n)
  for (let i = 0; i < n; i++) {
    if (full) for (let j = 0; j < i; j++) factor[i * n + j] = (params.w.data as Float64Array)[i * n + j]!
    factor[i * n + i] = Math.exp((params.d.data as Float64Array)[i]!)
  }
  const bounds = elbo.map((e) => e + entropy)
  const last = bounds.slice(-Math.max(1, Math.floor(bounds.length / 10)))
  const evidence = last.reduce((s, e) => s + e, 0) / last.length
  return { ...gaussianOf(target, Float64Array.from(params.m.data, Number), factor, evidence, op), elbo: bounds }
}) as AdviFn

/** What `svi` returns. */
export interface Svi<P> {
  readonly params: Found<P>
  /** The estimates of the bound, step by step. */
  readonly elbo: readonly number[]
  /** Draws of the guide with these parameters: a record of [1, draws, ...]. */
  readonly sample: (key: Key, draws: number) => Readonly<Record<string, Tensor>>
}
/** A model of the latent values with parameters. */
export type Guide<P> = (trace: Trace, params: { readonly [K in keyof P]: AnyExpr }) => unknown
/**
 * Stochastic variational inference: the parameters of a guide that maximise the evidence lower bound of a model, E[log p(latents, observations) - log q(latents; params)].
 *
 * A guide is a function of a trace and of a tree of parameters, which are floats without bounds. It samples every latent site of the model by its name, from a distribution whose draws move with its parameters.
 * Plates of the same name with `subsample` take the same things in the guide and in the model, others in every step: the bound is then an unbiased estimate.
 * Errors  BadInput if a latent site of the model is missing in the guide or the other way round, or for a bound that is not finite in the beginning.
 * Source  Hoffman and others 2013; Ranganath, Gerrish and Blei 2014.
 * @example
 * const coin = model((s) => { s.observe('heads', binomial(10, s.sample('p', beta(1, 1))), 7) })
 * const { params } = svi(key(0), coin, (s, p) => s.sample('p', beta(exp(p.a), exp(p.b))), { params: { a: 0, b: 0 }, steps: 500 })
 * Math.exp(params.a.item()) > 4   // true: the posterior is beta(8, 4)
 */
export const svi = <P>(key: Key, m: Model, guide: Guide<P>, options: SviOptions<P>): Svi<P> => {
  const op = 'svi'
  modelIn(m, op)
  functionOf(guide as unknown as (x: never) => unknown, 'the guide', op)
  const { params, ...read } = readOptions(sviOptions, options, op)
  if (params === undefined) badInput(op, 'params is not given.', 'give a tree of floats for the guide.')
  const start = treeMap(
    (leaf: unknown) => (isTensor(leaf) ? leaf : typeof leaf === 'number' || Array.isArray(leaf) ? tensor(leaf as number) : leaf),
    params as AnyExpr,
  )
  const at = (p: unknown): Model => model((s) => guide(s, p as never))
  const drawn = (p: unknown, k: AnyExpr, indices = drawnIndices(k as never)) => {
    const sites = sitesDrawn(at(p), k as never, op, indices)
    return [sites, new Map([...sites].filter(([, s]) => s.kind === 'sample').map(([name, s]) => [name, s.value]))] as const
  }
  const bound = (p: unknown, k: AnyExpr): AnyExpr => {
    // The guide and the model take the same part of a plate.
    const indices = drawnIndices(k as never)
    const [q, values] = drawn(p, k, indices)
    const joint = sitesAt(m, values, op, indices)
    const lost = [...values.keys()].find((name) => joint.get(name)?.kind !== 'sample')
    if (lost !== undefined) badInput(op, `the guide has the site '${lost}', which the model has not.`)
    return sub(totalOf(joint), totalOf(q)) as AnyExpr
  }
  const fitted = fit(bound, start as unknown, key, read, op)
  return {
    params: fitted.params as Found<P>,
    elbo: fitted.elbo,
    sample: (k, draws) => {
      if (!Number.isInteger(draws) || draws < 1) badInput(`${op}: sample`, `draws is ${draws}.`, 'give a whole number from 1.')
      const one = (each: AnyExpr): unknown => Object.fromEntries(drawn(fitted.params, each)[1])
      const made = evaluate(
        (vmap(one as never) as unknown as (k: AnyExpr) => unknown)(splitKey(k as never, draws) as AnyExpr) as never,
      ) as unknown
      return treeMap((leaf: unknown) => {
        const t = leaf as Tensor
        return tensor(t.data as never, [1, ...t.shape] as never, t.dtype as never)
      }, made as AnyExpr) as unknown as Readonly<Record<string, Tensor>>
    },
  }
}
