/** First derivatives of a program at a point: both modes against finite differences and each other, and how far rounding may move them. */

import { greatestOf, leastOf } from '../core/errors/extremes.js'
import { sameAval, showAval } from '../core/graph/aval.js'
import { asNode, linearize, type Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import type { Forced } from '../core/graph/tangent.js'
import type { Condition } from './condition.js'
import { conditionOf } from './conditioning.js'
import { random } from './draw.js'
import { type Collector, entryOf } from './findings.js'
import { type Estimate, FIRST, type Slope, slopes } from './finite-differences.js'
import { kinkAmong } from './kinks.js'
import { ALL, DIRECTION } from './mistakes.js'
import { noiseOf } from './noise.js'
import { JUMPS, largestRounding, roughness } from './roughness.js'
import { type Derived, dense, direction, drawLike, evaluate, flat, inner, movedBy, place, sizesOf, total } from './subject.js'
import { LARGE } from './work.js'

/** Jacobians of at most this many rows and columns are compared entry by entry. */
const SMALL = 64
/** Two ways to one derivative agree to this, but for rounding. */
export const SAME = 1e-11
/** Derivatives are checked in f64: a rule that rounds to f32 is excused by nothing. */
const F64 = 2 ** -52
/** Steps of the second opinion, before a derivative is called wrong. */
const AGAIN = 0.37

/** The primitives that have kinks, for a reader who wonders where the kink comes from. */
const near = (d: Derived): string => {
  const names = [...new Set(linearize(d.ys).nodes.flatMap((n) => (n.prim !== null && n.prim.kinks.length > 0 ? [n.prim.name] : [])))]
  return names.length === 0 ? '' : ` (${names.join(', ')})`
}
/** Slopes by `scale` times the usual steps. `size`: how far the arguments move as t goes from 0 to 1. */
export const slopesBy = (f: (t: number) => ArrayLike<number>, d: Derived, noise: (i: number) => number, size: number) => {
  const first = slopes(f, d.scale, noise)
  let second: readonly Slope[] | undefined
  const step = FIRST * d.scale
  return {
    first,
    again: (i: number) => (): Slope => {
      second ??= slopes(f, AGAIN * d.scale, noise)
      return second[i]!
    },
    rough:
      (i: number) =>
      (off: number): Slope | undefined => {
        const value = Math.abs(f(0)[i]!)
        if (off * step > FAR_BEYOND * largestRounding(value)) return undefined
        const rough = JUMPS * roughness((t) => f(t)[i]!, step, 1 / Math.min(1, size))
        return rough <= noise(i) ? undefined : slopes(f, d.scale, (j) => Math.max(noise(j), j === i ? rough : 0))[i]
      },
  }
}
/** What is off by so many of the largest roundings is so by none. */
const FAR_BEYOND = 2 ** 10
/** A slope in other units. */
const times = (s: Slope, by: number): Slope => {
  const one = (e: Estimate): Estimate => ({ value: e.value * by, error: e.error * Math.abs(by) })
  if (s._tag === 'Unknown') return s
  if (!Number.isFinite(by)) return { _tag: 'Unknown', reason: 'the argument is nearly 0: steps of its size are not representable' }
  if (s._tag !== 'Kink') return { _tag: s._tag, ...one(s) }
  const [left, right] = [one(s.left), one(s.right)]
  return { ...s, left, right }
}
/** The slopes of both sides. */
const sidesOf = (s: Slope): readonly [number, number] | undefined =>
  s._tag === 'Unknown' ? undefined : s._tag === 'Kink' ? [s.left.value, s.right.value] : [s.value, s.value]
/** How far rounding may move sum of a b, of terms that are each moved by `moves`. */
export const innerNoise = (a: ArrayLike<number>, b: ArrayLike<number>, moves: ArrayLike<number>): number => {
  let s = 0
  for (let i = 0; i < a.length; i++) s += Math.abs(b[i]!) * (moves[i]! + 2 ** -50 * Math.abs(a[i]!))
  return s
}
export const flatNoise = (nodes: readonly Node[], env: ReadonlyMap<Node, NDArray>): Float64Array =>
  flat(noiseOf(nodes, env, F64).map((data) => ({ shape: [data.length], dtype: 'f64' as const, data })))
/** How far rounding may move the float results. */
const valueNoise = (d: Derived): Float64Array => {
  const here = flatNoise(d.outs, d.env)
  if (d.chosen !== true) return here
  const moved = flatNoise(d.outs, movedBy(d, direction(d, random(5)), OFF))
  return here.map((x, i) => Math.max(x, Number.isFinite(moved[i]!) ? moved[i]! : 0))
}
/** How far from a chosen point rounding is looked at, relative to each entry. */
const OFF = 2 ** -20
/** How far rounding may move each entry of one result, computed once for all where it is asked for. */
export const roundingOf = (
  nodes: readonly Node[],
  env: ReadonlyMap<Node, NDArray>,
  ulp: number | 'own' = F64,
): ((result: number) => () => ArrayLike<number>) => {
  let all: readonly Float64Array[] | undefined
  return (result) => () => {
    all ??= noiseOf(nodes, env, ulp)
    return all[result]!
  }
}

/** Kind, dtype and shape of every tangent and cotangent; what is not implemented is noted as such. False: nothing to compare. */
export const checkTangentKinds = (d: Derived, out: Collector): boolean => {
  const one = (t: Forced, like: Node, path: string): void => {
    if (t._tag === 'NotImplemented') out.notImplemented.push(`${t.rule}, ${path}: ${t.reason}`)
    else if (t._tag === 'NoTangent') out.note('tangent', path, 0, 'ZeroTangent or a value', 'NoTangent')
    else if (t._tag === 'Expr' && !sameAval(asNode(t).aval, like.aval))
      out.note(asNode(t).dtype === like.dtype ? 'shape' : 'dtype', path, 0, showAval(like.aval), showAval(asNode(t).aval))
    else out.comparisons++
  }
  d.dys?.forEach((t, i) => {
    one(t, d.outs[i]!, `dy ${i}`)
  })
  d.xBars?.forEach((t, i) => {
    one(t, d.wrt[i]!, `xBar of ${d.paths[d.active[i]!]}`)
  })
  return [...(d.dys ?? []), ...(d.xBars ?? [])].every((t) => t._tag === 'Expr' || t._tag === 'ZeroTangent')
}

const basis = (nodes: readonly Node[], k: number): NDArray[] => {
  let at = k
  return nodes.map((n) => {
    const data = new Float64Array(n.aval.size)
    if (at >= 0 && at < n.aval.size) data[at] = 1
    at -= n.aval.size
    return { shape: n.shape, dtype: n.dtype, data }
  })
}
export const withAll = (env: ReadonlyMap<Node, NDArray>, nodes: readonly Node[], values: readonly NDArray[]): Map<Node, NDArray> => {
  const m = new Map(env)
  nodes.forEach((n, i) => {
    m.set(n, values[i]!)
  })
  return m
}

/** The direction in which all entries move by the same: ties stay ties. */
const asOne = (d: Derived): NDArray[] => {
  const top = greatestOf(d.wrt.map((x) => greatestOf(sizesOf(d.env.get(x)!))))
  return d.wrt.map((x) => ({ shape: x.shape, dtype: x.dtype, data: new Float64Array(x.aval.size).fill(top) }))
}

/** jvp and vjp along random directions, against differences and each other; `together`: and along one in which all entries move as one. */
export const checkDirections = (d: Derived, directions: number, next: () => number, out: Collector, together = false): boolean => {
  let kinked = false
  const dys = d.dys && dense(d.dys, d.outs)
  const xBars = d.xBars && dense(d.xBars, d.wrt)
  const names = d.active.map((i) => d.paths[i]!)
  const rounding = valueNoise(d)
  const at0 = flat(evaluate(d.outs, d.env))
  for (let k = together ? -1 : 0; k < directions; k++) {
    // One input at a time first, then all together: a finding names its argument.
    const only = k >= 0 && d.wrt.length > 1 && k < Math.min(d.wrt.length, directions - 1) ? k : -1
    const path = only >= 0 || d.wrt.length === 1 ? names[Math.max(0, only)]! : ALL
    const drawn = k < 0 ? asOne(d) : direction(d, next)
    const dx = drawn.map((v, j) => (only < 0 || only === j ? v : { ...v, data: new Float64Array(v.data.length) }))
    const yBar = drawLike(d.outs, next)
    const seeded = (env: ReadonlyMap<Node, NDArray>): Map<Node, NDArray> => withAll(withAll(env, d.tangents, dx), d.seeds, yBar)
    const full = seeded(d.env)
    const [weight, along] = [flat(yBar), flat(dx)]
    const f = (t: number): readonly number[] => [inner(flat(evaluate(d.moving, movedBy(d, dx, t))), weight)]
    const { first, again, rough } = slopesBy(f, d, () => innerNoise(at0, weight, rounding), topOf(along))
    const one = (check: 'jvp' | 'vjp', programs: readonly Node[] | undefined, other: Float64Array) => {
      if (programs === undefined) return undefined
      const terms = flat(evaluate(programs, full))
      const value = inner(terms, other)
      const moves = (): number => innerNoise(terms, other, flatNoise(programs, full))
      // Of several kinks at once the two slopes say little, and infinite ones nothing: one entry at a time says more.
      const sides = sidesOf(first[0]!)
      const apart = first[0]!._tag === 'Kink' || (sides !== undefined && !Number.isFinite(sides[0]) && total(d.wrt) > 1)
      if (apart) kinked = true
      else if (out.on(check))
        out.holds(check, path, 0, value, first[0]!, d.tolerance, {
          rounding: moves,
          condition: () => conditionOf(d, (env) => inner(flat(evaluate(programs, seeded(env))), other)),
          kink: () => {
            const on = kinkAmong(d)
            kinked ||= on?.several === true
            return on
          },
          again: again(0),
          rough: rough(0),
          // Near several kinks slopes differ from point to point.
          elsewhere: () => {
            const [low, high] = around(d, dx, () => 0, weight)(0) ?? [0, 0]
            const differ = high - low > 1e-3 * Math.max(Math.abs(low), Math.abs(high))
            kinked ||= differ
            return differ
          },
          place: { how: `${check === 'jvp' ? 'forward' : 'reverse'} mode, ${DIRECTION}` },
          near: near(d),
        })
      return { value, moves }
    }
    const forward = one('jvp', dys, weight)
    const reverse = one('vjp', xBars, along)
    if (forward === undefined || reverse === undefined || !out.on('adjoint')) continue
    // An infinite derivative times a seed is infinite or NaN, as the terms come.
    if (!Number.isFinite(forward.value) && !Number.isFinite(reverse.value)) continue
    out.near('adjoint', path, [reverse.value], [forward.value], SAME, () => [forward.moves() + reverse.moves()], {
      how: "<J' yBar, dx> (reverse) against <yBar, J dx> (forward)",
    })
  }
  return kinked
}

/** How far around a kink slopes are looked at, relative to each entry, and how often. */
const AROUND = 1e-5
const POINTS = 12
/** A step of differences that is small beside that. */
const CLOSE = 1e-8
/** The least and greatest slope along `step` of each result at points around this one: what a derivative at a kink may be (Clarke's, entry by entry). */
const around = (
  d: Derived,
  step: readonly NDArray[],
  noise: (j: number) => number,
  weight?: ArrayLike<number>,
): ((j: number) => readonly [number, number] | undefined) => {
  const next = random(3)
  const found = Array.from({ length: POINTS }, () => {
    const beside = { ...d, env: movedBy(d, direction(d, next), AROUND) }
    const values = (t: number): Float64Array => flat(evaluate(d.moving, movedBy(beside, step, t)))
    const f = (t: number): ArrayLike<number> => (weight === undefined ? values(t) : [inner(values(t), weight)])
    const smooth = slopes((t) => Array.from(f(t)), d.scale, noise)
    // Kinks may lie as close together as the steps of differences.
    const [after, before] = [f(CLOSE), f(-CLOSE)]
    return smooth.map((s, j) => (s._tag === 'Smooth' ? s.value : (after[j]! - before[j]!) / (2 * CLOSE)))
  })
  return (j) => {
    const all = found.flatMap((s) => (Number.isFinite(s[j]!) ? [s[j]!] : []))
    return all.length === 0 ? undefined : [leastOf(all), greatestOf(all)]
  }
}
/** The largest of the finite ones. */
export const topOf = (a: ArrayLike<number>): number => {
  let top = 0
  for (let i = 0; i < a.length; i++) if (Number.isFinite(a[i]!)) top = Math.max(top, Math.abs(a[i]!))
  return top
}
/** How far an entry moves by rounding, and with its arguments. */
interface Stability {
  readonly rounding: () => number
  readonly condition: () => Condition
}
/** Numbers that differences of a whole Jacobian may compute. */
const WORK = 3e7
/** Evaluations of a program for the slopes along one direction. */
const EVALUATIONS = 31

/** Of a small program the whole Jacobian, in both modes, against differences and each other. `kinked`: the point is known to lie at a kink; gives whether it is. `chosen`: the check chose the point, which may tie what the function tells apart. */
export const checkJacobian = (d: Derived, out: Collector, kinked = false, chosen = false): boolean => {
  const [n, m] = [total(d.wrt), total(d.outs)]
  const cost = n * EVALUATIONS * linearize(d.outs).nodes.reduce((c, x) => c + x.aval.size, 0)
  if (!out.on('jacobian', (n <= SMALL || (n <= LARGE && cost <= WORK)) && m <= SMALL)) return kinked
  let kinks = kinked
  const dys = d.dys && dense(d.dys, d.outs)
  const xBars = d.xBars && dense(d.xBars, d.wrt)
  const names = d.active.map((i) => d.paths[i]!)
  const rounding = valueNoise(d)
  const rowEnv = (j: number): Map<Node, NDArray> => withAll(d.env, d.seeds, basis(d.outs, j))
  const rows = xBars && Array.from({ length: m }, (_, j) => flat(evaluate(xBars, rowEnv(j))))
  const sizes = flat(d.wrt.map((x) => ({ shape: x.shape, dtype: 'f64' as const, data: sizesOf(d.env.get(x)!) })))
  for (let i = 0; i < n; i++) {
    const unit = basis(d.wrt, i)
    const size = sizes[i]!
    const step = unit.map((v) => ({ ...v, data: Float64Array.from(v.data, (x) => x * size) }))
    const env = withAll(d.env, d.tangents, unit)
    const column = dys && flat(evaluate(dys, env))
    const at = (t: number): Float64Array => flat(evaluate(d.moving, movedBy(d, step, t)))
    const { first, again, rough } = slopesBy(at, d, (j) => rounding[j]!, size)
    let ranges: ReturnType<typeof around> | undefined
    const { array, index } = place(d.wrt, i)
    const { shape } = d.wrt[array]!
    const path = names[array]!
    for (let j = 0; j < m; j++) {
      const result =
        m === 1 ? '' : `, of result ${place(d.outs, j).array}${entryOf(d.outs[place(d.outs, j).array]!.shape, place(d.outs, j).index)}`
      const [f, r] = [column?.[j], rows === undefined ? undefined : rows[j]![i]]
      const slope = times(first[j]!, 1 / size)
      kinks ||= slope._tag === 'Kink'
      const forward: Stability = {
        rounding: () => flatNoise(dys ?? [], env)[j] ?? 0,
        condition: () => conditionOf(d, (at) => flat(evaluate(dys ?? [], withAll(at, d.tangents, unit)))[j]!),
      }
      const reverse: Stability = {
        rounding: () => flatNoise(xBars ?? [], rowEnv(j))[i] ?? 0,
        condition: () => conditionOf(d, (at) => flat(evaluate(xBars ?? [], withAll(at, d.seeds, basis(d.outs, j))))[i]!),
      }
      const holds = (value: number, mode: string, stability: Stability): void =>
        out.holds('jacobian', path, index, value, slope, d.tolerance, {
          ...stability,
          kink: () => {
            const on = kinkAmong(d)
            kinks ||= on?.several === true
            return on
          },
          again: () => times(again(j)(), 1 / size),
          rough: (off) => {
            const s = rough(j)(off * size)
            return s && times(s, 1 / size)
          },
          around: () => {
            if (!kinked && !chosen && slope._tag !== 'Kink') return undefined
            kinks = true
            ranges ??= around(d, step, (k) => rounding[k]!)
            const range = ranges(j)
            return range && [range[0] / size, range[1] / size]
          },
          place: { shape, how: `${mode}${result}` },
          near: near(d),
        })
      if (f !== undefined && r !== undefined) {
        // Relative to the entry, but for what rounding may leave of the largest beside it.
        const left = 2 ** -48 * Math.max(topOf(column!), topOf(rows![j]!))
        const same = Object.is(f, r) || f === r || Math.abs(f - r) <= SAME * Math.max(Math.abs(f), Math.abs(r)) + left
        if (same) {
          holds(f, 'forward and reverse mode', forward)
          continue
        }
        out.near('adjoint', path, [r], [f], SAME, () => [forward.rounding() + reverse.rounding()], {
          shape,
          how: `reverse against forward mode${result}`,
        })
      }
      if (f !== undefined) holds(f, 'forward mode', forward)
      if (r !== undefined) holds(r, 'reverse mode', reverse)
    }
  }
  return kinks
}
