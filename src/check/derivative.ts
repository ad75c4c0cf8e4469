/** First derivatives of a program at a point: against finite differences, and modes, seeds and subsets against each other. */
import { sameAval, showAval } from '../core/graph/aval.js'
import { applyAny, asExpr, asNode, constant, input, linearize, type Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import { rewrite, substitute } from '../core/graph/rewrite.js'
import { type Forced, inplaceableThunk, type Tangent, ZeroTangent } from '../core/graph/tangent.js'
import { add } from '../core/ops/elementwise.js'
import { broadcastNode } from '../core/ops/layout-move.js'
import { instantiate } from '../modes/common.js'
import { regionized } from '../modes/mixed.js'
import { pullback, pushforward } from '../modes/transform.js'
import { random } from './draw.js'
import { ALL, type Collector, DIRECTION, entryOf } from './findings.js'
import { type Estimate, type Slope, slopes } from './finite-differences.js'
import { noiseOf } from './noise.js'
import { type Derived, dense, drawLike, evaluate, flat, inner, movedBy, place, pullFrom, sizesOf, total } from './subject.js'

/** Jacobians of at most this many rows and columns are compared entry by entry. */
const SMALL = 64
/** Programs over more numbers get the checks that cost a few evaluations. */
export const LARGE = 1024
/** Two ways to one derivative agree to this, but for rounding. */
const SAME = 1e-11
/** Derivatives are checked in f64: a rule that rounds to f32 is excused by nothing. */
const F64 = 2 ** -52
/** Steps of the second opinion, before a derivative is called wrong. */
const AGAIN = 0.37

/** The primitives that have kinks, for a reader who wonders where the kink comes from. */
const near = (d: Derived): string => {
  const names = [...new Set(linearize(d.ys).nodes.flatMap((n) => (n.prim !== null && n.prim.kinks.length > 0 ? [n.prim.name] : [])))]
  return names.length === 0 ? '' : ` (${names.join(', ')})`
}
/** Slopes by `scale` times the usual steps. */
export const slopesBy = (f: (t: number) => ArrayLike<number>, d: Derived, noise: (i: number) => number) => {
  const first = slopes(f, d.scale, noise)
  let second: readonly Slope[] | undefined
  return {
    first,
    again: (i: number) => (): Slope => {
      second ??= slopes(f, AGAIN * d.scale, noise)
      return second[i]!
    },
  }
}
/** A slope in other units. */
const times = (s: Slope, by: number): Slope => {
  const one = (e: Estimate): Estimate => ({ value: e.value * by, error: e.error * Math.abs(by) })
  if (s._tag === 'Unknown') return s
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
const withAll = (env: ReadonlyMap<Node, NDArray>, nodes: readonly Node[], values: readonly NDArray[]): Map<Node, NDArray> => {
  const m = new Map(env)
  nodes.forEach((n, i) => {
    m.set(n, values[i]!)
  })
  return m
}

/** A random direction, relative to the size of each entry. */
export const direction = (d: Derived, next: () => number): NDArray[] =>
  drawLike(d.wrt, next).map((v, j) => {
    const size = sizesOf(d.env.get(d.wrt[j]!)!)
    return { ...v, data: Float64Array.from(v.data, (r, i) => r * size[i]!) }
  })

/** The direction in which all entries move by the same: ties stay ties. */
const asOne = (d: Derived): NDArray[] => {
  const top = Math.max(...d.wrt.map((x) => Math.max(...sizesOf(d.env.get(x)!))))
  return d.wrt.map((x) => ({ shape: x.shape, dtype: x.dtype, data: new Float64Array(x.aval.size).fill(top) }))
}

/** jvp and vjp along random directions, against differences and each other; `together`: and along one in which all entries move as one. */
export const checkDirections = (d: Derived, directions: number, next: () => number, out: Collector, together = false): boolean => {
  let kinked = false
  const dys = d.dys && dense(d.dys, d.outs)
  const xBars = d.xBars && dense(d.xBars, d.wrt)
  const names = d.active.map((i) => d.paths[i]!)
  const rounding = flatNoise(d.outs, d.env)
  const at0 = flat(evaluate(d.outs, d.env))
  for (let k = together ? -1 : 0; k < directions; k++) {
    // One input at a time first, then all together: a finding names its argument.
    const only = k >= 0 && d.wrt.length > 1 && k < Math.min(d.wrt.length, directions - 1) ? k : -1
    const path = only >= 0 || d.wrt.length === 1 ? names[Math.max(0, only)]! : ALL
    const drawn = k < 0 ? asOne(d) : direction(d, next)
    const dx = drawn.map((v, j) => (only < 0 || only === j ? v : { ...v, data: new Float64Array(v.data.length) }))
    const yBar = drawLike(d.outs, next)
    const full = withAll(withAll(d.env, d.tangents, dx), d.seeds, yBar)
    const [weight, along] = [flat(yBar), flat(dx)]
    const f = (t: number): readonly number[] => [inner(flat(evaluate(d.moving, movedBy(d, dx, t))), weight)]
    const { first, again } = slopesBy(f, d, () => innerNoise(at0, weight, rounding))
    const one = (check: 'jvp' | 'vjp', programs: readonly Node[] | undefined, other: Float64Array) => {
      if (programs === undefined) return undefined
      const terms = flat(evaluate(programs, full))
      const value = inner(terms, other)
      const moves = (): number => innerNoise(terms, other, flatNoise(programs, full))
      // Of several kinks at once the two slopes say little, and infinite ones nothing: one entry at a time says more.
      const sides = sidesOf(first[0]!)
      const apart = first[0]!._tag === 'Kink' || (sides !== undefined && !Number.isFinite(sides[0]) && total(d.wrt) > 1)
      if (out.on(check) && apart && sides !== undefined) {
        kinked = true
        out.kinkAt(path, value, Math.min(...sides), Math.max(...sides), near(d))
      } else if (out.on(check))
        out.holds(check, path, 0, value, first[0]!, d.tolerance, {
          rounding: moves,
          again: again(0),
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
const [AROUND, POINTS] = [1e-5, 12]
/** The least and greatest slope along `step` of each result at points around this one: what a derivative at a kink may be (Clarke's, entry by entry). */
const around = (
  d: Derived,
  step: readonly NDArray[],
  noise: (j: number) => number,
): ((j: number) => readonly [number, number] | undefined) => {
  const next = random(3)
  const found = Array.from({ length: POINTS }, () => {
    const beside = { ...d, env: movedBy(d, direction(d, next), AROUND) }
    return slopes((t) => flat(evaluate(d.moving, movedBy(beside, step, t))), d.scale, noise)
  })
  return (j) => {
    const all = found.flatMap((s) => (s[j]!._tag === 'Smooth' ? [(s[j] as Estimate).value] : []))
    return all.length === 0 ? undefined : [Math.min(...all), Math.max(...all)]
  }
}
const topOf = (a: ArrayLike<number>): number => {
  let top = 0
  for (let i = 0; i < a.length; i++) if (Number.isFinite(a[i]!)) top = Math.max(top, Math.abs(a[i]!))
  return top
}
/** Numbers that differences of a whole Jacobian may compute. */
const WORK = 3e7
/** Evaluations of a program for the slopes along one direction. */
const EVALUATIONS = 27

/** Of a small program the whole Jacobian, in both modes, against differences and each other. `kinked`: the point is known to lie at a kink. */
export const checkJacobian = (d: Derived, out: Collector, kinked = false): void => {
  const [n, m] = [total(d.wrt), total(d.outs)]
  const cost = n * EVALUATIONS * linearize(d.outs).nodes.reduce((c, x) => c + x.aval.size, 0)
  if (!out.on('jacobian', (n <= SMALL || (n <= LARGE && cost <= WORK)) && m <= SMALL)) return
  const dys = d.dys && dense(d.dys, d.outs)
  const xBars = d.xBars && dense(d.xBars, d.wrt)
  const names = d.active.map((i) => d.paths[i]!)
  const rounding = flatNoise(d.outs, d.env)
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
    const { first, again } = slopesBy(at, d, (j) => rounding[j]!)
    let ranges: ReturnType<typeof around> | undefined
    const { array, index } = place(d.wrt, i)
    const { shape } = d.wrt[array]!
    const path = names[array]!
    for (let j = 0; j < m; j++) {
      const result =
        m === 1 ? '' : `, of result ${place(d.outs, j).array}${entryOf(d.outs[place(d.outs, j).array]!.shape, place(d.outs, j).index)}`
      const [f, r] = [column?.[j], rows === undefined ? undefined : rows[j]![i]]
      const slope = times(first[j]!, 1 / size)
      const moves = {
        forward: (): number => flatNoise(dys ?? [], env)[j] ?? 0,
        reverse: (): number => flatNoise(xBars ?? [], rowEnv(j))[i] ?? 0,
      }
      const holds = (value: number, mode: string, bound: () => number): void =>
        out.holds('jacobian', path, index, value, slope, d.tolerance, {
          rounding: bound,
          again: () => times(again(j)(), 1 / size),
          around: () => {
            if (!kinked && slope._tag !== 'Kink') return undefined
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
          holds(f, 'forward and reverse mode', moves.forward)
          continue
        }
        out.near('adjoint', path, [r], [f], SAME, () => [moves.forward() + moves.reverse()], {
          shape,
          how: `reverse against forward mode${result}`,
        })
      }
      if (f !== undefined) holds(f, 'forward mode', moves.forward)
      if (r !== undefined) holds(r, 'reverse mode', moves.reverse)
    }
  }
}

/** Mixed mode against reverse. */
export const checkModes = (d: Derived, next: () => number, out: Collector): void => {
  if (d.xBars === undefined || d.dys === undefined || !out.on('modes')) return
  const mixed = dense(pullback(d.registry, regionized(d.outs, d.wrt), d.seeds.map(asExpr), d.wrt).cotangents, d.wrt)
  const xBars = dense(d.xBars, d.wrt)
  const env = withAll(d.env, d.seeds, drawLike(d.outs, next))
  const [a, b] = [evaluate(mixed, env), evaluate(xBars, env)]
  const rounding = roundingOf([...mixed, ...xBars], env)
  a.forEach((v, j) => {
    const bound = (): ArrayLike<number> => added(rounding(j)(), rounding(j + a.length)())
    out.near('modes', d.paths[d.active[j]!]!, v.data, b[j]!.data, SAME, bound, { shape: v.shape, how: 'mixed against reverse mode' })
  })
}
const added = (a: ArrayLike<number>, b: ArrayLike<number>): Float64Array => Float64Array.from(a, (x, i) => x + b[i]!)

const combine = (a: NDArray, b: NDArray, s: number): NDArray => ({ ...a, data: Float64Array.from(a.data, (v, i) => v + s * b.data[i]!) })
const zero = (n: Node): NDArray => ({ shape: n.shape, dtype: n.dtype, data: new Float64Array(n.aval.size) })

/** J (a - 3 b) = J a - 3 J b, the same for cotangents; tangents of zero are exactly zero. */
export const checkLinear = (d: Derived, next: () => number, out: Collector): void => {
  if (!out.on('linear')) return
  const sides = [
    ['dy', d.dys && dense(d.dys, d.outs), d.tangents, (i: number) => `result ${i}`, 'forward'],
    ['xBar', d.xBars && dense(d.xBars, d.wrt), d.seeds, (i: number) => d.paths[d.active[i]!]!, 'reverse'],
  ] as const
  for (const [name, programs, symbols, path, mode] of sides) {
    if (programs === undefined) continue
    const [a, b] = [drawLike(symbols, next), drawLike(symbols, next)]
    const at = (v: readonly NDArray[]): NDArray[] => evaluate(programs, withAll(d.env, symbols, v))
    const both = a.map((v, i) => combine(v, b[i]!, -3))
    const [pa, pb] = [at(a), at(b)]
    const rounding = [both, a, b].map((v) => roundingOf(programs, withAll(d.env, symbols, v)))
    at(both).forEach((v, i) => {
      const [x, y] = [pa[i]!.data, pb[i]!.data]
      const want = Float64Array.from(x, (u, k) => u - 3 * y[k]!)
      // Infinite derivatives: inf - 3 inf is NaN.
      if (!want.every(Number.isFinite)) return
      const bound = (): ArrayLike<number> => {
        const [p, q, r] = rounding.map((f) => f(i)())
        return Float64Array.from(want, (_, k) => p![k]! + q![k]! + 3 * r![k]! + 2 ** -50 * (Math.abs(x[k]!) + 3 * Math.abs(y[k]!)))
      }
      out.near('linear', path(i), v.data, want, SAME, bound, { shape: v.shape, how: `${mode} mode, ${name} of a - 3 b` })
    })
    at(symbols.map(zero)).forEach((v, i) => {
      out.near('linear', path(i), v.data, new Float64Array(v.data.length), 0, undefined, {
        shape: v.shape,
        how: `${mode} mode, ${name} of zero`,
      })
    })
  }
}

/** Every form of seed gives what a dense one gives, and every subset of them; zeros build nothing; a thunk is forced once. */
export const checkSeeds = (d: Derived, next: () => number, out: Collector): void => {
  if (d.xBars === undefined || !out.on('seed')) return
  const values = drawLike(d.outs, next)
  const env = withAll(d.env, d.seeds, values)
  const xBars = dense(d.xBars, d.wrt)
  const same = (form: string, seeds: readonly Tangent[], at: ReadonlyMap<Node, NDArray> = env): void => {
    const want = evaluate(xBars, at)
    const pulled = dense(pullback(d.registry, d.outs, seeds, d.wrt).cotangents, d.wrt)
    const rounding = roundingOf([...pulled, ...xBars], at)
    evaluate(pulled, at).forEach((v, j) => {
      const bound = (): ArrayLike<number> => added(rounding(j)(), rounding(j + pulled.length)())
      out.near('seed', d.paths[d.active[j]!]!, v.data, want[j]!.data, 1e-12, bound, {
        shape: v.shape,
        how: `${form} seed against a dense one`,
      })
    })
  }
  const counts = d.seeds.map(() => 0)
  const counted = (s: Node, i: number) => (): Tangent => {
    counts[i] = counts[i]! + 1
    return asExpr(s)
  }
  same(
    'a thunk as the',
    d.seeds.map((s, i): Tangent => ({ _tag: 'Thunk', force: counted(s, i) })),
  )
  if (out.on('thunk')) out.is('thunk', 'times that the thunk of one seed was forced', Math.max(...counts) <= 1, true)
  same(
    'an in-place thunk as the',
    d.seeds.map((s) =>
      inplaceableThunk(
        () => asExpr(s),
        (acc) => add(acc, asExpr(s)),
      ),
    ),
  )
  const filled = (value: number): Map<Node, NDArray> => {
    const at = new Map(env)
    d.seeds.forEach((s) => {
      at.set(s, { shape: s.shape, dtype: s.dtype, data: new Float64Array(s.aval.size).fill(value) })
    })
    return at
  }
  for (const value of [0.5, 1, -1])
    same(
      `the literal ${value} as the`,
      d.outs.map((y) => asExpr(broadcastNode(constant(value, y.dtype), y.shape))),
      filled(value),
    )
  for (const t of pullback(
    d.registry,
    d.outs,
    d.outs.map(() => ZeroTangent),
    d.wrt,
  ).cotangents)
    out.is('seed', 'zero seed', t._tag, 'ZeroTangent')
  // Of several results each alone, and every other subset of the first four.
  const n = Math.min(4, d.outs.length)
  if (n < 2) return
  for (let mask = 1; mask < 2 ** n - 1; mask++) {
    const chosen = d.outs.map((_, i) => i < n && (mask >> i) % 2 === 1)
    const at = new Map(env)
    d.seeds.forEach((s, i) => {
      if (!chosen[i]) at.set(s, zero(s))
    })
    same(
      `results ${chosen.flatMap((c, i) => (c ? [i] : [])).join(', ')} alone have a`,
      d.seeds.map((s, i) => (chosen[i] ? asExpr(s) : ZeroTangent)),
      at,
    )
  }
}

/** Every subset of the inputs (of the first six): its cotangents are those of all. */
export const checkActivity = (d: Derived, next: () => number, out: Collector): void => {
  const n = Math.min(6, d.wrt.length)
  if (n < 2 || !out.on('activity')) return
  const env = withAll(d.env, d.seeds, drawLike(d.outs, next))
  const all = d.xBars && { nodes: dense(d.xBars, d.wrt), values: evaluate(dense(d.xBars, d.wrt), env) }
  const dx = drawLike(d.wrt, next)
  for (let mask = 1; mask < 2 ** n - 1; mask++) {
    const chosen = d.wrt.map((_, j) => j).filter((j) => j < n && (mask >> j) % 2 === 1)
    const some = chosen.map((j) => d.wrt[j]!)
    const names = chosen.map((j) => d.paths[d.active[j]!]).join(', ')
    if (all !== undefined) {
      const pulled = dense(pullFrom(d.registry, d.outs, new Map(d.outs.map((y, i) => [y, asExpr(d.seeds[i]!)])), some).cotangents, some)
      const rounding = roundingOf(pulled, env)
      evaluate(pulled, env).forEach((v, k) => {
        const place = { shape: v.shape, how: `reverse mode, of ${names} alone against all` }
        out.near('activity', d.paths[d.active[chosen[k]!]!]!, v.data, all.values[chosen[k]!]!.data, 1e-12, rounding(k), place)
      })
    }
    if (d.dys === undefined) continue
    const pushed = pushforward(d.registry, d.outs, new Map(some.map((x, k) => [x, d.tangents[chosen[k]!]!]))).tangents.map((t, i) =>
      instantiate(t, d.outs[i]!.aval),
    )
    const only = withAll(
      d.env,
      d.tangents,
      dx.map((v, j) => (chosen.includes(j) ? v : zero(d.wrt[j]!))),
    )
    const want = evaluate(dense(d.dys, d.outs), only)
    const rounding = roundingOf(pushed, only)
    evaluate(pushed, only).forEach((v, i) => {
      const place = { shape: v.shape, how: `forward mode, along ${names} alone against zeros along the others` }
      out.near('activity', `result ${i}`, v.data, want[i]!.data, 1e-12, rounding(i), place)
    })
  }
}

/** The same program again, over the same inputs, as other nodes. */
const again = (roots: readonly Node[]): readonly Node[] => rewrite(roots, { apply: (n, args) => applyAny(n.prim!, args, n.payload) })

/** What arrives at one argument from several places adds up: three uses of the program, and one argument in two places. */
export const checkFanOut = (d: Derived, next: () => number, out: Collector): void => {
  if (d.xBars === undefined || !out.on('accumulate')) return
  const xBars = dense(d.xBars, d.wrt)
  const names = d.active.map((i) => d.paths[i]!)
  const env = new Map(d.env)
  const uses = [d.outs, again(d.outs), again(d.outs)]
  const seeds = uses.map((ys) => ys.map((y) => input(y.aval)))
  const bars = uses.map(() => drawLike(d.seeds, next))
  seeds.forEach((s, k) => {
    s.forEach((n, i) => {
      env.set(n, bars[k]![i]!)
    })
  })
  const pulled = pullback(d.registry, uses.flat(), seeds.flat().map(asExpr), d.wrt).cotangents
  const single = bars.map((b) => evaluate(xBars, withAll(d.env, d.seeds, b)))
  const together = dense(pulled, d.wrt)
  const rounding = roundingOf(together, env)
  evaluate(together, env).forEach((v, j) => {
    const want = Float64Array.from(v.data, (_, i) => single.reduce((s, p) => s + p[j]!.data[i]!, 0))
    const size = (i: number): number => single.reduce((s, p) => s + Math.abs(p[j]!.data[i]!), 0)
    const bound = (): ArrayLike<number> => Float64Array.from(rounding(j)(), (x, i) => x + 2 ** -50 * size(i))
    out.near('accumulate', names[j]!, v.data, want, 1e-12, bound, { shape: v.shape, how: 'three uses in one program' })
  })
  const twin = d.wrt.findIndex((x, j) => j > 0 && sameAval(x.aval, d.wrt[0]!.aval))
  if (twin < 1) return
  const [x, other] = [d.wrt[0]!, d.wrt[twin]!]
  const same = withAll(d.env, d.seeds, bars[0]!).set(other, d.env.get(x)!)
  const ys = substitute(d.outs, new Map([[other, x]]))
  const both = pullback(d.registry, ys, d.seeds.map(asExpr), [x]).cotangents
  const [a, b] = evaluate([xBars[0]!, xBars[twin]!], same)
  const want = Float64Array.from(a!.data, (v, i) => v + b!.data[i]!)
  const ofBoth = dense(both, [x])
  const noise = roundingOf([...ofBoth, xBars[0]!, xBars[twin]!], same)
  const bound = (): ArrayLike<number> => {
    const [p, q, r] = [noise(0)(), noise(1)(), noise(2)()]
    return Float64Array.from(p, (v, i) => v + q[i]! + r[i]! + 2 ** -50 * (Math.abs(a!.data[i]!) + Math.abs(b!.data[i]!)))
  }
  const place = { shape: x.shape, how: `in the place of ${names[twin]} too` }
  out.near('accumulate', names[0]!, evaluate(ofBoth, same)[0]!.data, want, 1e-12, bound, place)
}
