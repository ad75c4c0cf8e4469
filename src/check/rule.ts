/** Checks the rules of one primitive: at its samples, at changes of them that mistakes hide from, and at its kinks. */
import { evaluateNodes } from '../backends/reference/index.js'
import type { Registry } from '../core/calculus/rule.js'
import { aval, isFloat } from '../core/graph/aval.js'
import { applyAny, asExpr, input, type Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import type { AnyPrimitive, Sample } from '../core/graph/primitive.js'
import { instantiate } from '../modes/common.js'
import { pullback, pushforward } from '../modes/transform.js'
import { lostZeros } from './advice.js'
import { checkOtherSizes } from './at-sizes.js'
import { checkTangentKinds } from './derivative.js'
import { drawArray, random } from './draw.js'
import { checkExpectations, flatTrees } from './expectations.js'
import { type Checked, Collector } from './findings.js'
import { checkSeeds } from './laws.js'
import { checkMasked } from './masked.js'
import { checkMaskedEnds } from './masked-elementwise.js'
import { checkAlongLine, maskedSample } from './masked-samples.js'
import { BOTH, checkFirstOrder, checkFloat32, checkProgram, hasF32, known } from './program.js'
import { checkFruleAlone, checkRruleAlone } from './raw.js'
import { type Change, type RuleOptions, samplesOf, subjectAt, subjectOf } from './sample-subject.js'
import { checkSecondOrder } from './second-order.js'
import { bind, type Derived, derive, liftedSubject, pointOf, type Subject } from './subject.js'
import { checkUnimplemented } from './unimplemented.js'
import { unlessUnknown } from './unknown.js'

/** How the points of a rule are chosen. */
const SAMPLES = 'its samples'

/** Everything that must hold of a primitive's rules at one sample. */
export const checkSample = (registry: Registry, prim: AnyPrimitive, sample: Sample, options: RuleOptions = {}, name = ''): Checked => {
  const seed = options.seed ?? 1
  const next = random(seed)
  const place = samplesOf(prim).indexOf(sample)
  const out = new Collector(prim.name, seed, options.checks, name, replayOf(prim, place, seed, options))
  out.guard('the sample', () => {
    const s = subjectOf(registry, prim, sample, options, next)
    out.point = () => pointOf(s, bind(s.inputs, s.values))
    out.place = SAMPLES
    out.advice = (how) => lostZeros(() => implemented(s), how)
    const called = { registry, prim, params: sample.params, inputs: s.inputs, ys: s.ys }
    const keeps = out.keeps('argument', s.values)
    const floats = s.ys.some((y) => isFloat(y.dtype))
    // The modes ask no rule about integers and booleans.
    if (floats) {
      if (s.modes.includes('forward')) out.guard('frule', () => checkFruleAlone(called, out))
      if (s.modes.includes('reverse')) out.guard('rrule', () => checkRruleAlone(called, bind(s.inputs, s.values), next, out))
    }
    // An alias is an identity with a rule of its own: differences of its value say nothing of it.
    const differentiable = floats && s.active.length > 0 && prim.alias !== true
    keeps()
    checkProgram(differentiable ? s : { ...s, active: [] }, options, next, out)
    if (differentiable) checkExpectations(s, options, flatTrees(s, sample.params), next, out, 'checkRule')
    if (!differentiable || out.findings.length > 0) return
    checkChanges(registry, prim, sample, options, next, out)
    const { prefix, point } = out
    checkInF32(registry, prim, sample, options, next, out)
    out.prefix = prefix
    out.point = point
    checkMaskedAt(s, prim, sample, options, next, out)
    if (out.findings.length === 0) checkUnimplemented(prim, sample, s, out)
    if (out.findings.length === 0) checkOtherSizes(registry, prim, sample, options, s, out)
  })
  return out.result()
}
const replayOf = (prim: AnyPrimitive, sample: number, seed: number, { seed: _, sample: __, backends, ...given }: RuleOptions): string => {
  const all = { ...(sample >= 0 && { sample }), seed, ...given }
  const parts = Object.entries(all).map(([key, x]) => `${key}: ${JSON.stringify(x)}`)
  if (backends !== undefined) parts.push(`backends: [${backends.map((b) => `${b.name}()`).join(', ')}]`)
  return `checkRule(${prim.name}, { ${parts.join(', ')} })`
}

/** Multiples of a half: ties, zeros and whole numbers. */
const halves = (a: NDArray): NDArray => ({ ...a, data: a.data.map((x) => Math.round(2 * x) / 2) as never })
/** Numbers that are this far apart, beside some that are not: a rule that takes what is near for equal shows. Those of several arguments lie around one number. */
const nearly = (gap: number, a: NDArray, argument: number, [low, high]: readonly [number, number] = [0, 1]): NDArray => ({
  ...a,
  data: a.data.map((x, i) => (i % 5 === 4 ? x : (low + high) / 2 + gap * ((2 * i + argument) % 5))) as never,
})
const GAPS = [1e-4, 1e-8] as const
/** Both signs, whatever the domain: where the function has no value nothing is decided. */
const WIDE: readonly [number, number] = [-3, 3]
/** From here on every number is whole: differences of floor are those of x. */
const WHOLE = 2 ** 52
const LITERALS = [3, 4, 0.5, 2, 1, 0, -1]

/** What is said of a point beyond a declared domain: there a function is checked where it has a value. */
const BEYOND = ', outside of the declared domain: NaN says that there is no value, and nothing is decided there'
/** Does a changed sample read a number outside of what its argument declares? */
const isBeyond = (s: Subject, { args }: Sample, { literals = new Map() }: Change): boolean =>
  args
    .filter((_, i) => !literals.has(i))
    .some(({ domain }, k) => domain !== undefined && Array.from(s.values[k]!.data).some((x) => x < domain[0] || x > domain[1]))

/** First derivatives where mistakes hide: at ties and whole numbers, at both signs, beside literals, at the declared extremes. */
const checkChanges = (
  registry: Registry,
  prim: AnyPrimitive,
  sample: Sample,
  options: RuleOptions,
  next: () => number,
  out: Collector,
): void => {
  const { prefix, point } = out
  const at = (what: string, change: Change, check: (s: Subject) => void, from = sample): void => {
    let s: Subject
    try {
      s = subjectOf(registry, prim, from, options, next, change)
    } catch {
      return // arguments that the primitive does not take
    }
    if (s.active.length === 0) return
    out.prefix = [prefix, what].filter((x) => x !== '').join(', ')
    out.place = what.replace(/^argument \d+ at .*/, 'declared extremes').replace(/^argument \d+ the literal .*/, 'literals')
    out.counts = false
    out.point = () => `${pointOf(s, bind(s.inputs, s.values))}${isBeyond(s, from, change) ? BEYOND : ''}`
    check(s)
    out.counts = true
    out.place = SAMPLES
    out.prefix = prefix
    out.point = point
  }
  const firstOrder = (s: Subject): void => checkFirstOrder(s, 1, next, out, true)
  at('ties', { values: halves }, firstOrder)
  const place = prim.samples.indexOf(sample)
  const first = place <= 0
  // What is linear has the same derivative at ties, and what a sample draws itself stays of its kind.
  const form = registry.ruleOf(prim)?.form?._tag
  const drawn = (i: number): boolean => sample.args[i]!.draw !== undefined
  const ties = form !== 'linear' && form !== 'bilinear' && !sample.args.every((_, i) => drawn(i))
  if (ties && (prim.class !== 'elementwise' || (first && prim.args.length > 1)))
    GAPS.forEach((gap, k) => {
      if (prim.class === 'elementwise' || prim.samples.length < 2 || place % 2 === k || place < 0)
        at(`ties ${gap} apart`, { values: (a, i) => (drawn(i) ? a : nearly(gap, a, i, sample.args[i]!.domain)) }, (s) =>
          firstOrder({ ...s, scale: Math.min(s.scale, 100 * gap) }),
        )
    })
  if (prim.class !== 'elementwise') return
  at('both signs', { values: (a) => drawArray(aval(a.shape, a.dtype), next, WIDE) }, firstOrder)
  const floats = sample.args.flatMap((a, i) => (prim.args[i] === 'float' && (a.dtype === undefined || isFloat(a.dtype)) ? [i] : []))
  at('whole numbers', { values: wholes(next) }, firstOrder)
  // A literal that is a seed of a number is known as such, and so are partials that are numbers. Where an argument is 0 a second derivative may be all that there is.
  const number = { ...sample, args: sample.args.map((a) => ({ ...a, shape: [] })) }
  const seeds = (s: Subject): void =>
    out.guard('seeds', () => {
      const d = implemented(s)
      if (d !== undefined) checkSeeds(d, next, out)
    })
  if (first && floats.length > 1 && options.order !== 1 && out.on('second order'))
    at('some zeros', { values: (a, k) => (k === floats[0] ? a : { ...a, data: a.data.map(() => 0) as never }) }, (s) =>
      out.guard('second order', () => {
        const d = implemented(hasF32(s.ys) ? liftedSubject(s) : s)
        if (d !== undefined) checkSecondOrder(d, 1, next, out)
      }),
    )
  if (sample.args.length > 1)
    for (const i of floats)
      for (const c of LITERALS) {
        const literals = new Map([[i, c]])
        if (first) at(`argument ${i} the literal ${c}, of numbers`, { literals }, seeds, number)
        at(`argument ${i} the literal ${c}`, { literals }, firstOrder)
        at(`argument ${i} the literal ${c}, both signs`, { literals, values: wholes(next) }, firstOrder)
      }
  for (const e of new Set([...prim.extremes, ...ENDS]))
    for (const i of floats)
      at(`argument ${i} at ${e}`, { values: (a, k) => (k === i ? { ...a, data: a.data.map(() => e) as never } : a) }, (s) => {
        const declared = prim.extremes.includes(e)
        if (declared && Math.abs(e) < WHOLE) firstOrder(s)
        if (declared && !Number.isNaN(e) && out.on('non-finite')) out.guard('seeds at an extreme', () => checkSeedsAt(s, out))
      })
}
/** Whole numbers of both signs, zeros often among them. */
const wholes =
  (next: () => number) =>
  (a: NDArray): NDArray => ({ ...a, data: a.data.map(() => Math.floor(5 * next()) - 2) as never })
/** Where partials of many functions are infinite. */
const ENDS = [0, 1, -1, 1000]

/** A subject with its derivatives, unless one of them is not implemented: that is counted elsewhere. */
const implemented = (s: Subject): Derived | undefined => unlessUnknown(() => known(s, () => {}))
/** What is masked away has no say, at a sample: where the primitive is singular, where it overflows, and in what it does not read itself. */
const checkMaskedAt = (s: Subject, prim: AnyPrimitive, sample: Sample, options: RuleOptions, next: () => number, out: Collector): void => {
  // Of an elementwise primitive without parameters all samples have the same points.
  const known = prim.class === 'elementwise' && prim.samples.indexOf(sample) > 0 && Object.keys(sample.params as object).length === 0
  if (known || out.findings.length > 0 || !out.on('non-finite')) return
  out.guard('what is masked', () => {
    if (prim.class === 'elementwise') {
      checkMaskedEnds(s.registry, s.modes, { prim, sample, values: s.values }, options.order === 1 ? 1 : 2, next, out)
      return
    }
    const d = implemented(s)
    if (d === undefined) return
    checkMasked(s.registry, s.modes, maskedSample(d, next), 1, next, out)
    checkAlongLine(d, out)
  })
}

/** At a point where partials may be infinite: a zero seed gives exact zeros; an infinite one gives the same in both modes, of one argument and result. */
const checkSeedsAt = (s: Subject, out: Collector): void => {
  const d = derive(s)
  if ([...(d.dys ?? []), ...(d.xBars ?? [])].some((t) => t._tag === 'NotImplemented')) return
  const fill = (nodes: readonly Node[], value: number): readonly (readonly [Node, NDArray])[] =>
    nodes.map((n) => [n, { shape: n.shape, dtype: n.dtype, data: new Float64Array(n.aval.size).fill(value) }])
  const programs = [d.dys, d.xBars].map((ts, k) => ts?.map((t, i) => instantiate(t, (k === 0 ? d.outs : d.wrt)[i]!.aval)) ?? [])
  const at = (value: number): readonly (readonly NDArray[])[] => {
    const env = new Map([...d.env, ...fill(d.tangents, value), ...fill(d.seeds, value)])
    return programs.map((p) => evaluateNodes(p, env))
  }
  at(0).forEach((results, k) => {
    results.forEach((v, i) => {
      const path = k === 0 ? `result ${i}` : d.paths[d.active[i]!]!
      const place = { shape: v.shape, how: `${k === 0 ? 'forward' : 'reverse'} mode, a zero seed` }
      out.near('non-finite', path, v.data, new Float64Array(v.data.length), 0, undefined, place)
    })
  })
  const [forward, reverse] = at(Number.POSITIVE_INFINITY)
  const [dy, xBar] = [forward![0], reverse![0]]
  if (d.wrt.length !== 1 || d.outs.length !== 1 || dy === undefined || xBar === undefined || dy.data.length !== xBar.data.length) return
  out.near('non-finite', d.paths[d.active[0]!]!, xBar.data, dy.data, 1e-11, undefined, {
    shape: dy.shape,
    how: 'an infinite seed, reverse against forward mode',
  })
}

/** The same sample with f32 in the place of f64: kinds, and derivatives to f32. */
const checkInF32 = (
  registry: Registry,
  prim: AnyPrimitive,
  sample: Sample,
  options: RuleOptions,
  next: () => number,
  out: Collector,
): void => {
  if (sample.args.every((a) => a.dtype !== undefined) || !out.on('f32')) return
  const s = subjectAt(registry, prim, sample, options, next, 'f32')
  if (s === undefined) return
  out.prefix = [out.prefix, 'in f32'].filter((x) => x !== '').join(', ')
  out.point = () => pointOf(s, bind(s.inputs, s.values))
  out.guard('in f32', () => {
    out.looking.at(prim.name, 'its samples in f32', s)
    if (s.modes.includes('forward')) checkFruleAlone({ registry, prim, params: sample.params, inputs: s.inputs, ys: s.ys }, out)
    const own = derive(s)
    if (checkTangentKinds(own, out)) checkFloat32(own, derive(liftedSubject(s)), next, out)
  })
}

/** At every kink that the primitive declares, both modes give the declared partials, exactly; a zero seed gives zero. Beside it the slopes are those of the sides. */
export const checkKinks = (registry: Registry, prim: AnyPrimitive, options: RuleOptions = {}): Checked => {
  const out = new Collector(prim.name, options.seed ?? 1, options.checks, '', `checkKinks(${prim.name})`)
  if (out.on('kink'))
    for (const kink of prim.kinks) out.guard(`kink at (${kink.at.join(', ')})`, () => checkKink(registry, prim, kink, options, out))
  return out.result()
}
const checkKink = (
  registry: Registry,
  prim: AnyPrimitive,
  kink: AnyPrimitive['kinks'][number],
  options: RuleOptions,
  out: Collector,
): void => {
  const inputs = kink.at.map(() => input(aval([], 'f64')))
  const number = (v: number): NDArray => ({ shape: [], dtype: 'f64', data: Float64Array.of(v) })
  const { params } = prim.samples[0] ?? { params: {} }
  const ys = applyAny(prim, inputs, params)
  const seed = input(ys[0]!.aval)
  const env = bind([...inputs, seed], [...kink.at, 1].map(number))
  const zero = bind([...inputs, seed], [...kink.at, 0].map(number))
  out.point = () => `(${kink.at.join(', ')}): ${kink.why}`
  const modes = options.modes ?? BOTH
  const pulled = modes.includes('reverse') ? pullback(registry, ys, [asExpr(seed)], inputs).cotangents : undefined
  inputs.forEach((x, i) => {
    const both = [
      ...(pulled === undefined ? [] : [{ mode: 'reverse', node: instantiate(pulled[i]!, x.aval) }]),
      ...(modes.includes('forward')
        ? [{ mode: 'forward', node: instantiate(pushforward(registry, ys, new Map([[x, seed]])).tangents[0]!, ys[0]!.aval) }]
        : []),
    ]
    for (const { mode, node } of both) {
      const [v] = evaluateNodes([node], env)
      out.near('kink', `argument ${i}`, v!.data, [kink.partials[i]!], 0, undefined, { how: `${mode} mode, at a declared kink` })
      if (!kink.at.every(Number.isFinite) || !out.on('non-finite')) continue
      const [z] = evaluateNodes([node], zero)
      out.near('non-finite', `argument ${i}`, z!.data, [0], 0, undefined, { how: `${mode} mode, a zero seed at a declared kink` })
    }
  })
  // From each side.
  if (prim.alias !== true)
    for (const by of [-0.01, 0.01])
      inputs.forEach((_, i) => {
        if (!kink.at.every(Number.isFinite)) return
        const values = kink.at.map((v, k) => number(k === i ? v + by : v))
        const s: Subject = {
          registry,
          inputs,
          ys,
          values,
          captured: new Map(),
          paths: inputs.map((__, k) => `argument ${k}`),
          active: inputs.map((__, k) => k),
          draw: () => values,
          tolerance: options.tolerance ?? prim.tolerance?.relative ?? 1e-9,
          scale: options.scale ?? 1,
          modes,
        }
        out.point = () => pointOf(s, bind(s.inputs, s.values))
        out.place = 'both sides of its kinks'
        checkFirstOrder(s, 0, random(1), out)
      })
}
