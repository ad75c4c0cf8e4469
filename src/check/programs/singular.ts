/** Where functions of one number are singular or have kinks: points that random inputs rarely hit, and guards are written for. */
import { aval } from '../../core/graph/aval.js'
import { evaluateNodes } from '../../core/graph/evaluate.js'
import { isScalarProgram } from '../../core/graph/expand.js'
import { applyAny, asExpr, constant, input } from '../../core/graph/expr.js'
import type { AnyPrimitive, Kink, SampleArg } from '../../core/graph/primitive.js'
import { instantiate } from '../../modes/common.js'
import { pullback } from '../../modes/transform.js'
import type { Candidate, Setting } from './options.js'

/** A function of one number that is regular on one side of a point and singular there. */
export interface Singular {
  readonly primitive: AnyPrimitive
  readonly params: unknown
  readonly arg: SampleArg
  readonly at: number
  /** A point of its domain. */
  readonly safe: number
}

const number = (v: number) => ({ shape: [], dtype: 'f64' as const, data: Float64Array.of(v) })

/** Value and derivative at a number; undefined where the rule gives none. */
const jet = (s: Setting, primitive: AnyPrimitive, params: unknown, x: number): readonly number[] | undefined => {
  try {
    const u = input(aval([], 'f64'))
    const ys = applyAny(primitive, [u], params)
    const { cotangents } = pullback(s.registry, ys, [asExpr(constant(1, 'f64'))], [u])
    const nodes = [...ys, ...cotangents.map((t) => instantiate(t, u.aval))]
    return evaluateNodes(nodes, new Map([[u, number(x)]])).map((v) => v.data[0]!)
  } catch {
    return undefined // it has no derivative, or takes no f64: then there is nothing to guard
  }
}

/** Elementwise primitives of one float, that are finite inside of their domain and not at 0, an extreme or a kink beside it. */
export const singularOf = (s: Setting, { primitive, rule }: Candidate): readonly Singular[] => {
  const [sample] = primitive.samples
  const arg = sample?.args[0]
  const derived = rule.frule !== undefined && rule.rrule !== undefined
  if (primitive.class !== 'elementwise' || isScalarProgram(primitive) || primitive.variadic || !derived) return []
  if (primitive.args.length !== 1 || arg === undefined || arg.dtype !== undefined || primitive.multi) return []
  const [low, high] = arg.domain ?? [-2, 2]
  const safe = (low + high) / 2
  const finite = (x: number): boolean => jet(s, primitive, sample!.params, x)?.every(Number.isFinite) === true
  if (![low + 0.1 * (high - low), safe, low + 0.9 * (high - low)].every(finite)) return []
  const points = [0, ...primitive.extremes, ...primitive.kinks.map((k) => k.at[0]!)]
  return [...new Set(points)]
    .filter((x) => Math.abs(x) <= 100 && (x <= low || x >= high) && jet(s, primitive, sample!.params, x) !== undefined && !finite(x))
    .map((at) => ({ primitive, params: sample!.params, arg, at, safe }))
}

/** Declared kinks where the point and the partials are finite. */
export const kinksOf = (p: AnyPrimitive): readonly Kink[] =>
  p.class === 'elementwise' && !p.multi && p.samples.length > 0
    ? p.kinks.filter((k) => k.at.length === p.args.length && [...k.at, ...k.partials].every(Number.isFinite))
    : []
