/** Checks the rules of one primitive at its samples, and the derivative that it declares at its kinks. */
import { evaluateNodes } from '../backends/reference/index.js'
import type { Registry } from '../core/calculus/rule.js'
import { aval, isFloat } from '../core/graph/aval.js'
import { applyAny, asExpr, input } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import type { AnyPrimitive, Sample } from '../core/graph/primitive.js'
import { instantiate } from '../modes/common.js'
import { pullback, pushforward } from '../modes/transform.js'
import { checkTangentKinds } from './derivative.js'
import { drawArray, random } from './draw.js'
import { type Checked, Collector } from './findings.js'
import { type CheckOptions, checkFloat32, checkProgram } from './program.js'
import { checkFruleAlone, checkRruleAlone } from './raw.js'
import { bind, derive, liftedSubject, type Subject } from './subject.js'

/** Options of `checkRule`. */
export type RuleOptions = CheckOptions

/** A primitive applied at a sample; floats without a dtype are `float`. */
const subjectOf = (
  registry: Registry,
  prim: AnyPrimitive,
  sample: Sample,
  options: RuleOptions,
  next: () => number,
  float: 'f64' | 'f32' = 'f64',
): Subject => {
  const avals = sample.args.map((a) => aval(a.shape, a.dtype ?? float))
  const draw = (): readonly NDArray[] =>
    avals.map((a, i) => {
      const { values, domain } = sample.args[i]!
      const drawn = drawArray(a, next, domain)
      values?.forEach((v, k) => {
        drawn.data[k] = v
      })
      return drawn
    })
  const inputs = avals.map((a) => input(a))
  return {
    registry,
    inputs,
    ys: applyAny(prim, inputs, sample.params),
    values: draw(),
    captured: new Map(),
    paths: inputs.map((_, i) => `argument ${i}`),
    active: inputs.flatMap((x, i) => (isFloat(x.dtype) && prim.args[prim.variadic ? 0 : i] === 'float' ? [i] : [])),
    draw,
    tolerance: options.tolerance ?? prim.tolerance?.relative ?? 1e-9,
    scale: options.scale ?? scaleOf(sample),
  }
}

/** Differences stay inside narrow domains. */
const scaleOf = (sample: Sample): number =>
  Math.min(1, ...sample.args.map((a) => (a.domain === undefined || a.dtype !== undefined ? 1 : (a.domain[1] - a.domain[0]) / 8)))

/** Everything that must hold of a primitive's rules at one sample. */
export const checkSample = (registry: Registry, prim: AnyPrimitive, sample: Sample, options: RuleOptions = {}, name = ''): Checked => {
  const seed = options.seed ?? 1
  const next = random(seed)
  const out = new Collector(prim.name, seed, options.checks, name)
  const s = subjectOf(registry, prim, sample, options, next)
  const called = { registry, prim, params: sample.params, inputs: s.inputs, ys: s.ys }
  const keeps = out.keeps('argument', s.values)
  const floats = s.ys.some((y) => isFloat(y.dtype))
  // The modes ask no rule about integers and booleans.
  if (floats) {
    checkFruleAlone(called, out)
    checkRruleAlone(called, bind(s.inputs, s.values), next, out)
  }
  // An alias is an identity with a rule of its own: differences of its value say nothing of it.
  const differentiable = floats && s.active.length > 0 && prim.alias !== true
  keeps()
  checkProgram(differentiable ? s : { ...s, active: [] }, options, next, out)
  if (differentiable) checkInF32(registry, prim, sample, options, next, out)
  return out.result()
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
  let s: Subject
  try {
    s = subjectOf(registry, prim, sample, options, next, 'f32')
  } catch {
    return // a sample whose parameters or other arguments want f64
  }
  out.prefix = `${out.prefix}f32: `
  checkFruleAlone({ registry, prim, params: sample.params, inputs: s.inputs, ys: s.ys }, out)
  const own = derive(s)
  if (checkTangentKinds(own, out)) checkFloat32(own, derive(liftedSubject(s)), next, out)
}

/** At every kink that the primitive declares, both modes give the declared partials, exactly; a zero seed gives zero. */
export const checkKinks = (registry: Registry, prim: AnyPrimitive, options: RuleOptions = {}): Checked => {
  const out = new Collector(prim.name, options.seed ?? 1, options.checks)
  if (out.on('kink'))
    for (const kink of prim.kinks) {
      const inputs = kink.at.map(() => input(aval([], 'f64')))
      const number = (v: number): NDArray => ({ shape: [], dtype: 'f64', data: Float64Array.of(v) })
      const ys = applyAny(prim, inputs, prim.samples[0]?.params ?? {})
      const seed = input(ys[0]!.aval)
      const env = bind([...inputs, seed], [...kink.at, 1].map(number))
      const zero = bind([...inputs, seed], [...kink.at, 0].map(number))
      const pulled = pullback(registry, ys, [asExpr(seed)], inputs).cotangents
      inputs.forEach((x, i) => {
        const pushed = pushforward(registry, ys, new Map([[x, seed]])).tangents[0]!
        const both = [instantiate(pulled[i]!, x.aval), instantiate(pushed, ys[0]!.aval)]
        const path = (k: number): string => `${k === 0 ? 'vjp' : 'jvp'} at (${kink.at.join(', ')}), argument ${i}: ${kink.why}`
        evaluateNodes(both, env).forEach((v, k) => {
          out.near('kink', path(k), v.data, [kink.partials[i]!], 0)
        })
        if (kink.at.every(Number.isFinite) && out.on('non-finite'))
          evaluateNodes(both, zero).forEach((v, k) => {
            out.near('non-finite', `zero seed, ${path(k)}`, v.data, [0], 0)
          })
      })
    }
  return out.result()
}
