/** Derivatives at kinks and ties: along every direction, also one that keeps the ties, the derivative lies between the slopes around the point. */
import { isFloat } from '../core/graph/aval.js'
import { expandAll } from '../core/graph/expand.js'
import { applyAny, input, linearize, type Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import { dependents, inline } from '../core/graph/program.js'
import { type CustomParams, customPrimitive } from '../core/ops/custom.js'
import { stopGradient } from '../core/ops/elementwise.js'
import { type Condition, excusedBy } from './condition.js'
import { conditionOf } from './conditioning.js'
import { checkDirections, checkJacobian, flatNoise, innerNoise, topOf, withAll } from './derivative.js'
import { random } from './draw.js'
import { type Collector, INSIDE, shownNumbers } from './findings.js'
import { numeral } from './finite-differences.js'
import { isEndless } from './kinks.js'
import { ALL } from './mistakes.js'
import { JUMPS, roughness } from './roughness.js'
import { type Derived, dense, drawLike, evaluate, flat, inner, known, movedBy, sizesOf, total } from './subject.js'

/** How far around the point slopes are looked at, and the steps of their differences, relative to each entry. */
const AROUND = 1e-5
const STEP = 1e-8
/** Points around: at most so many before a derivative is outside of all slopes. */
const POINTS = 160
/** Gradients around the point that span the directions in which they differ. */
const GRADIENTS = 48
/** Beyond the slopes that were seen, relative to how far these are apart, and to the terms of the derivative. */
const WIDER = 0.1
const SLACK = 1e-4
/** Slopes are excused up to this many of what rounding may do. */
const ROUNDINGS = 8
/** What differs by less, relative to the gradient, is curvature. */
const SEEN = 1e-3

/** A derivative that is no slope around the point. */
interface Outside {
  readonly mode: string
  readonly given: number
  readonly low: number
  readonly high: number
  /** The direction, relative to the size of each entry. */
  readonly along: Float64Array
  readonly condition: () => Condition
  /** May rounding inside the function account for that? */
  readonly inside: () => boolean
}

/** <yBar, f> over all entries in one vector, each relative to its size. */
interface Weighted {
  readonly d: Derived
  readonly yBar: readonly NDArray[]
  readonly size: Float64Array
  /** How far rounding may move a slope. */
  readonly noise: number
  readonly at: (v: ArrayLike<number>) => NDArray[]
  readonly slope: (u: ArrayLike<number>, v: ArrayLike<number>) => number
  /** How far what the function rounds inside may move a slope along v. */
  readonly rough: (v: ArrayLike<number>) => number
  readonly pulled: (u: ArrayLike<number>) => Float64Array | undefined
  readonly pushed: (v: ArrayLike<number>, env?: ReadonlyMap<Node, NDArray>) => number | undefined
  readonly pulledAlong: (v: ArrayLike<number>, env: ReadonlyMap<Node, NDArray>) => number | undefined
}
const weighted = (d: Derived, next: () => number): Weighted => {
  const [around, step] = [AROUND * Math.min(1, d.scale), STEP * Math.min(1, d.scale)]
  const yBar = drawLike(d.outs, next)
  const weight = flat(yBar)
  const size = flat(d.wrt.map((x) => ({ shape: x.shape, dtype: 'f64' as const, data: sizesOf(d.env.get(x)!) })))
  const at = (v: ArrayLike<number>): NDArray[] => {
    let from = 0
    return d.wrt.map((x) => {
      const data = Float64Array.from({ length: x.aval.size }, (_, i) => v[from + i]! * size[from + i]!)
      from += x.aval.size
      return { shape: x.shape, dtype: x.dtype, data }
    })
  }
  const noise = innerNoise(flat(evaluate(d.outs, d.env)), weight, flatNoise(d.outs, d.env)) / step
  const value = (beside: Derived, dx: readonly NDArray[], t: number): number =>
    inner(flat(evaluate(d.moving, movedBy(beside, dx, t))), weight)
  const xBars = d.xBars && dense(d.xBars, d.wrt)
  const dys = d.dys && dense(d.dys, d.outs)
  return {
    d,
    yBar,
    size,
    noise,
    at,
    slope: (u, v) => {
      const beside = { ...d, env: movedBy(d, at(u), around) }
      const dx = at(v)
      return (value(beside, dx, step) - value(beside, dx, -step)) / (2 * step)
    },
    rough: (v) => {
      const dx = at(v)
      return (JUMPS * roughness((t) => value(d, dx, t), step, 1 / Math.min(1, topOf(flat(dx))))) / step
    },
    pulled: (u) => xBars && flat(evaluate(xBars, withAll(movedBy(d, at(u), around), d.seeds, yBar))).map((x, i) => x * size[i]!),
    pushed: (v, env = d.env) => dys && inner(flat(evaluate(dys, withAll(env, d.tangents, at(v)))), weight),
    pulledAlong: (v, env) => xBars && inner(flat(evaluate(xBars, withAll(env, d.seeds, yBar))), flat(at(v))),
  }
}

const randomVector = (n: number, next: () => number): Float64Array => Float64Array.from({ length: n }, () => 2 * next() - 1)
const normal = (v: Float64Array): Float64Array => {
  const top = v.reduce((m, x) => Math.max(m, Math.abs(x)), 0)
  return top === 0 ? v : v.map((x) => x / top)
}
/** Where to look along v: towards both of its ends, where a convex function has its extreme slopes, in the order of entries, by which ties are broken, and anywhere. */
const offset = (k: number, v: Float64Array, next: () => number): Float64Array => {
  if (k < 2) return v.map((x) => (k === 0 ? x : -x))
  if (k === 4 || k === 5) return v.map((_, i) => ((k === 4 ? 1 : -1) * (i + 1)) / v.length)
  return randomVector(v.length, next)
}
/** The slopes around the point along v, unless `given` is among them. */
const outside = (g: Weighted, v: Float64Array, given: number, terms: number, next: () => number): readonly [number, number] | undefined => {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  let seen = 0
  for (let k = 0; k < POINTS; k++) {
    const slope = g.slope(offset(k, v, next), v)
    if (!Number.isFinite(slope)) continue
    seen++
    low = Math.min(low, slope)
    high = Math.max(high, slope)
    const slack = WIDER * (high - low) + SLACK * Math.max(terms, Math.abs(low), Math.abs(high)) + ROUNDINGS * g.noise
    if (given >= low - slack && given <= high + slack) return undefined
  }
  return seen < POINTS / 4 ? undefined : [low, high]
}

const dot = (a: Float64Array, b: Float64Array): number => a.reduce((s, x, i) => s + x * b[i]!, 0)
const lengthOf = (a: Float64Array): number => Math.sqrt(dot(a, a))
const minus = (a: Float64Array, b: Float64Array, by: number): Float64Array => a.map((x, i) => x - by * b[i]!)
/** What the gradient has beside all that those around it differ by: a direction in which they agree, and it does not. */
const apart = (g: Weighted, gradient: Float64Array, next: () => number): Float64Array | undefined => {
  const n = gradient.length
  const first = g.pulled(randomVector(n, next))
  if (first === undefined || !first.every(Number.isFinite)) return undefined
  const scale = Math.max(lengthOf(first), lengthOf(gradient))
  const spanned: Float64Array[] = []
  let rest = minus(gradient, first, 1)
  for (let k = 0; k < Math.min(n + 4, GRADIENTS) && lengthOf(rest) > SEEN * scale; k++) {
    const other = g.pulled(randomVector(n, next))!
    if (!other.every(Number.isFinite)) continue
    let left = minus(other, first, 1)
    for (const b of spanned) left = minus(left, b, dot(left, b))
    const size = lengthOf(left)
    if (size <= SEEN * scale) continue
    const unit = left.map((x) => x / size)
    spanned.push(unit)
    rest = minus(rest, unit, dot(rest, unit))
  }
  return lengthOf(rest) > SEEN * scale ? normal(rest) : undefined
}
/** A direction in which entries of one size move as one, those of one sign in one direction or all of them: what ties stays tied. */
const keeping = (g: Weighted, signed: boolean, next: () => number): Float64Array | undefined => {
  const x = flat(g.d.wrt.map((w) => g.d.env.get(w)!))
  const by = new Map<number, number>()
  x.forEach((v) => {
    if (!by.has(Math.abs(v))) by.set(Math.abs(v), 0.5 + next())
  })
  if (by.size === x.length) return undefined
  return normal(x.map((v, i) => (by.get(Math.abs(v))! * (signed && v < 0 ? -1 : 1)) / g.size[i]!))
}

/** A direction along which a derivative of either mode is none of the slopes around the point, nor between them. */
export const outsideOf = (d: Derived, next: () => number): Outside | undefined => {
  const g = weighted(d, next)
  const n = total(d.wrt)
  const gradient = g.pulled(new Float64Array(n))
  if (gradient !== undefined && !gradient.every(Number.isFinite)) return undefined
  const proposals = [
    () => keeping(g, false, next),
    () => keeping(g, true, next),
    () => gradient && apart(g, gradient, next),
    () => gradient && normal(gradient),
    () => randomVector(n, next),
    () => randomVector(n, next),
  ]
  for (const propose of proposals) {
    const v = propose()
    if (v === undefined || lengthOf(v) === 0) continue
    const terms = gradient === undefined ? 0 : gradient.reduce((s, x, i) => s + Math.abs(x * v[i]!), 0)
    const pulled = gradient && dot(gradient, v)
    const pushed = g.pushed(v)
    const same = pulled !== undefined && pushed !== undefined && Math.abs(pulled - pushed) <= 1e-9 * Math.max(terms, Math.abs(pushed))
    const modes = [
      ...(pulled === undefined ? [] : [{ mode: same ? 'forward and reverse mode' : 'reverse mode', given: pulled }]),
      ...(pushed === undefined || same ? [] : [{ mode: 'forward mode', given: pushed }]),
    ]
    for (const { mode, given } of modes) {
      if (!Number.isFinite(given)) continue
      const range = outside(g, v, given, terms, next)
      const derivative = mode === 'forward mode' ? g.pushed : g.pulledAlong
      if (range !== undefined)
        return {
          mode,
          given,
          low: range[0],
          high: range[1],
          along: v,
          condition: () => conditionOf(d, (env) => derivative(v, env) ?? Number.NaN, true),
          inside: () => Math.max(range[0] - given, given - range[1]) <= ROUNDINGS * g.rough(v),
        }
    }
  }
  return undefined
}

/** What is made of others in their place, but for what has rules of its own: one application after the other. */
const expandedOf = (outs: readonly Node[]): readonly Node[] =>
  expandAll(outs, (n) => (n.prim === customPrimitive || isEndless(n.prim!, n.payload) ? undefined : n.prim!.expand), 'the checker', 64)
/** Each application of a program that moves with its arguments, as a program by itself at the same point. */
const applications = (d: Derived, outs: readonly Node[]): readonly (() => Derived)[] => {
  const order = linearize(outs)
  const moves = dependents(order, d.wrt)
  const isMoving = (n: Node): boolean => moves[order.index.get(n)] === 1
  const all = order.nodes.filter((n) => n.prim !== null && isMoving(n) && n.prim.class !== 'layout' && n.prim !== stopGradient.primitive)
  const args = [...new Set(all.flatMap((n) => n.args))]
  const values = evaluate(args, d.env)
  const valueAt = new Map(args.map((a, i) => [a, values[i]!]))
  return all.flatMap((node) => {
    const active = node.args.flatMap((a, i) => (isMoving(a) && isFloat(a.dtype) ? [i] : []))
    if (active.length === 0) return []
    return () => {
      const inputs = node.args.map((a) => input(a.aval))
      const at = node.args.map((a) => valueAt.get(a)!)
      const ys = applyAny(node.prim!, inputs, node.payload)
      return known(
        { ...d, inputs, ys, values: at, captured: new Map(), paths: inputs.map((_, i) => `argument ${i}`), active, draw: () => at },
        () => {},
      )
    }
  })
}
/** The derivative that the parts of a function with rules of its own have, by theirs. */
const byParts = (d: Derived): Derived | undefined => {
  const [only, more] = linearize(d.outs).nodes.filter((n) => n.prim !== null)
  if (more !== undefined || only?.prim !== customPrimitive) return undefined
  const ys = inline((only.payload as CustomParams).program, only.args)
  return known({ ...d, ys, values: d.inputs.map((x) => d.env.get(x)!) }, () => {})
}
/** The first application whose own derivative is no slope of its own. What has rules of its own may have those of its parts: then each of these is asked. */
const guiltyIn = (d: Derived, levels: number, next: () => number): string | undefined => {
  const expanded = expandedOf(d.outs)
  for (const alone of applications(d, expanded)) {
    const one = alone()
    if (one.outs.length === 0 || one.wrt.length === 0 || (outsideOf(one, next)?.inside() ?? true)) continue
    const { prim, payload } = linearize(one.outs).nodes.find((n) => n.prim !== null)!
    const name = prim!.showParams?.(payload as never) ?? prim!.name
    const parts = byParts(one)
    if (parts === undefined || levels === 0 || !sameGradient(one, parts)) return prim === customPrimitive ? name : prim!.name
    const guilty = guiltyIn(parts, levels - 1, next)
    if (guilty !== undefined) return guilty
  }
  return undefined
}
/** Do both have one gradient? */
const sameGradient = (a: Derived, b: Derived): boolean => {
  const yBar = drawLike(a.outs, random(5))
  const [p, q] = [a, b].map((d) => d.xBars && flat(evaluate(dense(d.xBars, d.wrt), withAll(d.env, d.seeds, yBar))))
  return (
    p !== undefined && q !== undefined && p.length === q.length && p.every((x, i) => Math.abs(x - q[i]!) <= 1e-9 * Math.max(1, Math.abs(x)))
  )
}

/**
 * At a kink: along every direction, above all along one that keeps what is tied, the derivative is between the slopes around the point. Of several kinks the whole may have
 * none, minimum(x, relu(x)) at 0: it is wrong only where one application by itself is.
 */
export const checkTies = (d: Derived, next: () => number, out: Collector): void => {
  if (!out.on('kink')) return
  out.comparisons++
  const found = outsideOf(d, next)
  if (found === undefined) return
  const { mode, given, low, high, along } = found
  const ill = excusedBy(given, given < low ? low - given : given - high, found.condition)
  const path = d.wrt.length === 1 ? d.paths[d.active[0]!]! : ALL
  if (ill !== undefined) return void out.undecidedAt(path, ill)
  if (found.inside()) return void out.undecidedAt(path, INSIDE)
  const apps = linearize(d.outs).nodes.filter((n) => n.prim !== null)
  const single = apps.length === 1 && apps[0]!.prim !== customPrimitive
  const guilty = single ? apps[0]!.prim!.name : guiltyIn(d, LEVELS, next)
  const how = `${mode}, along ${shownNumbers(Array.from(along, (x) => Number(x.toPrecision(3))))}, where slopes around the point are from ${numeral(low)} to ${numeral(high)}`
  if (guilty === undefined) out.conventionAt(path, `${numeral(given)} ${how}: several kinks, each by its convention`)
  else
    out.note('kink', path, 0, low === high ? numeral(low) : `between ${numeral(low)} and ${numeral(high)}`, given, WIDER, {
      how: single ? how : `${how}; of ${guilty}`,
    })
}
/** Rules within rules. */
const LEVELS = 4

/** Derivatives along directions and entry by entry; where there is a kink, along directions that keep ties too. */
export const checkSlopes = (
  d: Derived,
  directions: number,
  next: () => number,
  out: Collector,
  together = false,
  beside?: { readonly entries: boolean },
): void => {
  const before = out.findings.length
  const along = checkDirections(d, directions, next, out, together)
  if (beside?.entries === false) return
  const kinked = checkJacobian(d, out, along, beside !== undefined)
  // Of what is wrong in one entry nothing more is said.
  if (kinked && out.findings.length === before) checkTies(d, next, out)
}
