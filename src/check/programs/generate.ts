/** The program of a seed: primitives of the registry at their samples, in programs of programs, behind guards and on kinks. */
import { composedRules } from '../../core/extend/decompose.js'
import { aval, isFloat } from '../../core/graph/aval.js'
import { isScalarProgram, programsOf } from '../../core/graph/expand.js'
import { applyAny, asExpr, asNode, input, type Node } from '../../core/graph/expr.js'
import { allocate, emptyArray, type NDArray } from '../../core/graph/ndarray.js'
import type { AnyPrimitive, Sample } from '../../core/graph/primitive.js'
import { flatProgram } from '../../core/graph/program.js'
import { sizeOf } from '../../core/graph/shape.js'
import type { CustomParams } from '../../core/ops/custom.js'
import type { AnyExpr } from '../../core/types/expr.js'
import { configOf } from '../../modes/transform.js'
import { random } from '../draw.js'
import { type Resized, rankedSamples, resizedSamples } from '../sizes.js'
import { Drawing, type Value } from './drawing.js'
import { argument, inDomain } from './fit.js'
import { type Candidate, isShipped, type Setting } from './options.js'
import { built, type RandomProgram } from './program.js'
import { kinksOf, type Singular, singularOf } from './singular.js'

/** What a setting's programs are drawn from, found once. */
export interface Sources {
  readonly setting: Setting
  readonly total: number
  readonly singular: readonly (Singular & { readonly weight: number })[]
  readonly kinked: readonly Candidate[]
}
export const sourcesOf = (setting: Setting): Sources => {
  const drawn = setting.candidates.filter((c) => c.weight > 0)
  return {
    setting,
    total: drawn.reduce((sum, c) => sum + c.weight, 0),
    singular: drawn.flatMap((c) => singularOf(setting, c).map((s) => ({ ...s, weight: c.weight }))),
    kinked: drawn.filter((c) => kinksOf(c.primitive).length > 0),
  }
}

/** One of these, by weight. */
const weighted = <A extends { readonly weight: number }>(d: Drawing, from: readonly A[]): A => {
  let x = d.next() * from.reduce((sum, c) => sum + c.weight, 0)
  for (const c of from) {
    x -= c.weight
    if (x < 0) return c
  }
  return from.findLast((c) => c.weight > 0)!
}

/** The dtype of a sample's argument in this program: a sample's f64 is f32 where there is no f64. */
const dtypeIn = (d: Drawing, dtype: Sample['args'][number]['dtype'], swap: boolean) =>
  dtype === undefined || (swap && isFloat(dtype)) ? d.float : dtype

/**
 * A primitive that has no derivative reads inputs that nobody differentiates (tensors where it has no batch rule either), with the values
 * that it would have read: the rest of the program is still differentiated.
 */
const heldStill = (d: Drawing, { rule }: Candidate, args: readonly Value[]): readonly Value[] =>
  rule.frule !== undefined && rule.rrule !== undefined
    ? args
    : args.map((v) => (isFloat(v.aval.dtype) ? d.give(v.array, rule.batch === undefined ? 'captured' : 'input', 'near', false) : v))

/** Samples of more elements are left to the tests of their primitive. */
const MOST = 512

/** The arguments of one application: of a sample's shapes or, for an elementwise primitive, of some value's. */
const drawArguments = (d: Drawing, { primitive }: Candidate, sample: Sample): readonly Value[] => {
  const elementwise = primitive.class === 'elementwise' && primitive.programs === undefined
  const floats = d.pool.filter((v) => isFloat(v.aval.dtype) && v.aval.size <= d.setting.size)
  const shape = elementwise && floats.length > 0 && d.chance(0.6) ? d.of(floats).aval.shape : undefined
  const swap = !d.setting.dtypes.includes('f64') || d.chance(0.5)
  const args: Value[] = []
  for (const arg of sample.args) {
    const free = shape !== undefined && arg.values === undefined
    args.push(argument(d, arg, free ? shape : arg.shape, dtypeIn(d, arg.dtype, swap), args, shape !== undefined))
  }
  return args
}

/** A step of a sample, as it is. */
const plainStep = (d: Drawing, c: Candidate, sample: Sample): readonly Value[] | undefined =>
  d.apply(c.primitive, heldStill(d, c, drawArguments(d, c, sample)), sample.params)

/** The same step within customRule, whose rules are those of the step. */
const customStep = (d: Drawing, c: Candidate, sample: Sample): readonly Value[] | undefined => {
  const custom = d.shipped('customRule')
  // What stands still inside differences do not hold: no alias (stopGradient) there.
  const fits = c.primitive.alias !== true && c.rule.frule !== undefined && c.rule.rrule !== undefined
  if (custom === undefined || !fits) return plainStep(d, c, sample)
  const args = drawArguments(d, c, sample)
  if (args.length === 0 || args.some((v) => !isFloat(v.aval.dtype))) return d.apply(c.primitive, heldStill(d, c, args), sample.params)
  if (d.apply(c.primitive, args, sample.params) === undefined) return undefined
  return d.apply(custom, args, customOf(d.setting, c.primitive, sample.params, args))
}
/** customRule of one application, with the rules that it has. */
const customOf = ({ registry }: Setting, primitive: AnyPrimitive, params: unknown, args: readonly Value[]): CustomParams => {
  const on = (xs: readonly Node[]): readonly AnyExpr[] => applyAny(primitive, xs, params).map(asExpr)
  const rules = composedRules((xs) => on(xs.map(asNode)))
  const context = (xs: readonly Node[]) => {
    const ys = on(xs)
    return { y: ys[0]!, ys, active: xs.map(() => true), config: configOf(registry) }
  }
  const inputs = args.map((v) => input(v.aval))
  return {
    name: primitive.name,
    program: flatProgram(primitive.name, inputs, on(inputs).map(asNode)),
    arity: inputs.length,
    stopped: [],
    estimates: false,
    frule: (xs, dxs) => {
      const { ys, dys } = rules.frule(xs.map(asExpr), dxs, {} as never, context(xs))
      return { ys: ys.map(asNode), dys }
    },
    rrule: (xs) => {
      const made = rules.rrule(xs.map(asExpr), {} as never, context(xs))
      return { ys: made.ys.map(asNode), pullback: made.pullback }
    },
  }
}

/** The program of a scalar primitive such as map, drawn anew: elementwise primitives over the arguments, then the same of scalars. */
const scalarStep = (d: Drawing, primitive: AnyPrimitive, sample: Sample): readonly Value[] | undefined => {
  const [declared] = programsOf(primitive, sample.params)
  const own = new Drawing(d.setting, d.next, d.float)
  const shape = d.of(d.pool)?.aval.shape ?? [3]
  const size = sizeOf(shape)
  if (size === 0 || size > d.setting.size || declared === undefined) return undefined
  const args = declared.inputs.map(() => argument(d, { shape }, shape, d.float, [], false))
  for (const v of args) own.give(v.array, 'input', 'same')
  // Differences do not hold what stands still within a program of scalars, so no alias is drawn there.
  const elementwise = d.setting.candidates.filter(
    ({ primitive: p, rule, weight }) =>
      p.class === 'elementwise' &&
      p.alias !== true &&
      !p.multi &&
      !p.variadic &&
      p.programs === undefined &&
      weight > 0 &&
      rule.frule &&
      rule.rrule,
  )
  if (elementwise.length === 0) return undefined
  const made: Value[] = []
  for (let tries = 0; tries < 12 && made.length < 2 + declared.outputs.length; tries++) {
    const c = weighted(d, elementwise)
    const s = d.of(c.primitive.samples)
    const xs = s.args.map((arg) => {
      const of = own.pool.filter((v) => v.aval.dtype === (arg.dtype === undefined || isFloat(arg.dtype) ? d.float : arg.dtype))
      if (of.length === 0) return undefined
      return isFloat(of[0]!.aval.dtype) ? inDomain(own, d.of(of), arg.domain) : d.of(of)
    })
    if (xs.includes(undefined)) continue
    const y = own.apply(c.primitive, xs as readonly Value[], s.params)?.[0]
    if (y !== undefined && y.aval.dtype === d.float && y.aval.size === size) made.push(y)
  }
  if (made.length < declared.outputs.length) return undefined
  const drawn = own.program(made.slice(-declared.outputs.length))
  const scalar = (a: NDArray): NDArray => ({ shape: [], dtype: a.dtype, data: allocate(a.dtype, 1) })
  // Inputs that the program does not read stay: they are the arguments.
  const { inputs, ys } = built({ ...drawn, given: own.given.map((g) => ({ ...g, value: g.kind === 'input' ? scalar(g.value) : g.value })) })
  return d.apply(primitive, args, primitive.withPrograms!(sample.params, [flatProgram('map', inputs, ys)]))
}

/** What stands between a singular function and its guard. */
const BETWEEN = ['sin', 'tanh', 'neg', 'square', 'mul'] as const
/** where(gt(x, s), f(x), other) with x at s: f is singular there, and nothing of it is seen; nor of what is made of it before the guard. */
const guardedStep = (d: Drawing, from: Sources['singular']): readonly Value[] | undefined => {
  const { primitive, params, arg, at, safe } = weighted(d, from)
  const shape = d.of([[], [3], [2, 3]])
  const x = argument(d, { ...arg, values: undefined as never }, shape, d.float, [], false)
  const array = emptyArray(x.aval)
  for (let i = 0; i < array.data.length; i++) array.data[i] = d.chance(0.4) ? at : x.array.data[i]!
  const u = d.give(array, 'input', 'same')
  const condition = d.one(at < safe ? 'gt' : 'lt', [u, d.literal(at, d.float)])
  if (condition === undefined || d.shipped('where') === undefined) return undefined
  let inner = d.apply(primitive, [u], params, { condition: condition.id, safe })?.[0]
  for (let more = d.below(3); more > 0 && inner !== undefined; more--) {
    const name = d.of(BETWEEN)
    const own = d.shipped(name)
    const args: readonly Value[] = name === 'mul' ? [inner, inner] : [inner]
    if (own !== undefined) inner = d.apply(own, args, {}, { condition: condition.id, safe: 0.5 })?.[0]
  }
  if (inner === undefined) return undefined
  const other = d.chance(0.5) ? d.literal(0, d.float) : argument(d, { shape }, shape, d.float, [], true)
  return d.apply(d.shipped('where'), [condition, inner, other], {})
}

/** An elementwise primitive at a declared kink, at some of its indices. */
const kinkStep = (d: Drawing, from: readonly Candidate[]): readonly Value[] | undefined => {
  const { primitive } = weighted(d, from)
  const kink = d.of(kinksOf(primitive))
  const sample = primitive.samples[0]!
  const shape = d.of([[], [3], [2, 2]])
  const on = Array.from({ length: sizeOf(shape) }, () => d.chance(0.5))
  const args = sample.args.map((arg, k) => {
    const dtype = dtypeIn(d, arg.dtype, !d.setting.dtypes.includes('f64'))
    const drawn = argument(d, arg, shape, dtype, [], false)
    const array = emptyArray(aval(shape, dtype))
    on.forEach((here, i) => {
      array.data[i] = here ? kink.at[k]! : drawn.array.data[i]!
    })
    return d.give(array, d.chance(0.2) ? 'captured' : 'input', 'same')
  })
  return d.apply(primitive, args, sample.params)
}

const others = new WeakMap<Sample, readonly Resized[]>()
/** A sample as it is or, as often as not, at other sizes that its shape rule takes. What is not shipped may take too much: `checkRule` tells that plainly. */
const resized = (d: Drawing, { primitive, rule }: Candidate, sample: Sample): Sample => {
  if (!isShipped(rule) || primitive.class === 'elementwise' || primitive.programs !== undefined || d.chance(0.5)) return sample
  let list = others.get(sample)
  if (list === undefined) {
    list = [...resizedSamples(primitive, sample), ...rankedSamples(primitive, sample)]
    others.set(sample, list)
  }
  return list.length === 0 ? sample : d.of(list).sample
}
const drawStep = (d: Drawing, { setting, singular, kinked }: Sources): readonly Value[] | undefined => {
  if (singular.length > 0 && d.chance(0.06)) return guardedStep(d, singular)
  if (kinked.length > 0 && d.chance(0.06)) return kinkStep(d, kinked)
  const c = weighted(d, setting.candidates)
  const samples = c.primitive.samples.filter((s) => s.args.every((a) => sizeOf(a.shape) <= MOST))
  if (samples.length === 0) return undefined
  const sample = resized(d, c, d.of(samples))
  // Empty arrays now and then: little depends on them.
  if (sample.args.some((a) => sizeOf(a.shape) === 0) && d.chance(0.7)) return undefined
  if (isScalarProgram(c.primitive) && d.pool.length > 0 && d.chance(0.8)) return scalarStep(d, c.primitive, sample)
  return d.chance(0.05) ? customStep(d, c, sample) : plainStep(d, c, sample)
}

/** The program of a seed. */
export const generate = (sources: Sources, seed: number): RandomProgram => {
  const { setting } = sources
  const next = random(Math.imul(seed, 0x9e3779b1))
  const drawing = new Drawing(setting, next, setting.dtypes[Math.floor(next() * setting.dtypes.length)]!)
  const wanted = 1 + drawing.below(setting.steps)
  const results: Value[] = []
  for (let made = 0, tries = 0; made < wanted && tries < 6 * wanted + 20; tries++) {
    const ys = drawStep(drawing, sources)
    if (ys === undefined) continue
    made++
    results.push(...ys)
  }
  const read = new Set(drawing.steps.flatMap((s) => s.args))
  const open = results.filter((v) => !read.has(v.id))
  const some = open.filter((_, i) => i === open.length - 1 || drawing.chance(0.6))
  const more = results.filter((v) => read.has(v.id) && drawing.chance(0.1))
  return drawing.program([...some, ...more].slice(-4))
}
