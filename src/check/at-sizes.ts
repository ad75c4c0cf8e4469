/** The rules of a primitive at other sizes than those of its samples: what is wrong of no element, of one, of more than there were. */
import type { Registry } from '../core/calculus/rule.js'
import { isFloat } from '../core/graph/aval.js'
import type { AnyPrimitive, Sample } from '../core/graph/primitive.js'
import { checkBatchSizes } from './batches.js'
import { checkDirections, checkJacobian } from './derivative.js'
import { random } from './draw.js'
import type { Collector } from './findings.js'
import { checkModes } from './laws.js'
import { hasF32, known } from './program.js'
import { checkRruleAlone } from './raw.js'
import { type RuleOptions, subjectOf } from './sample-subject.js'
import { type Resized, rankedSamples, resizedSamples } from './sizes.js'
import { bind, evaluate, liftedSubject, pointOf, type Subject, total } from './subject.js'

/** Of at most so many arguments and results the whole Jacobian is compared. */
const FEW = 12
/** Which other sizes each sample of a primitive stands for: what an earlier one is tried at too is left out. */
const plans = new WeakMap<AnyPrimitive, ReadonlyMap<Sample, readonly Resized[]>>()
const keyOf = ({ args, params }: Sample): string =>
  JSON.stringify([args.map((a) => [a.shape, a.dtype]), params], (_, x: unknown) =>
    typeof x === 'object' && x !== null && 'outputs' in x ? undefined : typeof x === 'function' ? undefined : x,
  )
const planOf = (prim: AnyPrimitive): ReadonlyMap<Sample, readonly Resized[]> => {
  let plan = plans.get(prim)
  if (plan === undefined) {
    const seen = new Set(prim.samples.map(keyOf))
    plan = new Map(
      prim.samples.map((s) => [s, allOf(prim, s).filter(({ sample }) => !seen.has(keyOf(sample)) && seen.add(keyOf(sample)))] as const),
    )
    plans.set(prim, plan)
  }
  return plan
}
const allOf = (prim: AnyPrimitive, s: Sample): readonly Resized[] => {
  const few = prim.class === 'elementwise'
  return few && prim.samples.indexOf(s) > 0 && Object.keys(s.params as object).length === 0
    ? []
    : [...resizedSamples(prim, s, few), ...rankedSamples(prim, s)]
}

/** Values and first derivatives at the sizes and ranks that the shape rule takes beside those of the sample; batches of 0, 1, 2 and 5. */
export const checkOtherSizes = (
  registry: Registry,
  prim: AnyPrimitive,
  sample: Sample,
  options: RuleOptions,
  own: Subject,
  out: Collector,
): void => {
  if (!out.on('sizes')) return
  const { prefix, point, counts } = out
  const next = random((options.seed ?? 1) + 1000)
  const turn = Math.max(0, prim.samples.indexOf(sample))
  out.guard('batches of other sizes', () => checkBatchSizes(hasF32(own.ys) ? liftedSubject(own) : own, turn, out))
  const others = planOf(prim).get(sample) ?? (prim.hard.includes(sample) ? [] : allOf(prim, sample))
  for (const [k, { sample: other, what }] of others.entries()) {
    if (out.findings.length > 0) break
    let s: Subject
    try {
      s = subjectOf(registry, prim, other, options, next)
    } catch {
      continue // a meaning that refuses, or values that are drawn for other sizes
    }
    // A row of no rows, the largest of nothing: a meaning that has no number there.
    if (!evaluate(s.ys, bind(s.inputs, s.values)).every((v) => Array.from(v.data).every(Number.isFinite))) continue
    out.counts = false
    out.prefix = [prefix, what].filter((x) => x !== '').join(', ')
    out.point = () => pointOf(s, bind(s.inputs, s.values))
    out.under('sizes', undefined, () => out.guard('other sizes', () => checkAt(prim, other, s, turn + k, next, out)))
  }
  out.counts = counts
  out.prefix = prefix
  out.point = point
}
const checkAt = (prim: AnyPrimitive, sample: Sample, s: Subject, turn: number, next: () => number, out: Collector): void => {
  const differentiable = s.active.length > 0 && prim.alias !== true && s.ys.some((y) => isFloat(y.dtype))
  const inF64 = hasF32(s.ys) ? liftedSubject(s) : s
  if (differentiable) {
    const called = { registry: s.registry, prim, params: sample.params, inputs: s.inputs, ys: s.ys }
    if (s.modes.includes('reverse') && prim.class !== 'elementwise') checkRruleAlone(called, bind(s.inputs, s.values), next, out)
    const d = known(inF64, () => {})
    if (d.outs.length > 0 && d.wrt.length > 0) {
      if (total(d.wrt) <= FEW && total(d.outs) <= FEW) checkJacobian(d, out)
      else checkDirections(d, 1, next, out)
      checkModes(d, next, out)
    }
  }
  checkBatchSizes(inF64, turn, out)
}
