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
import type { Collector } from './findings.js'
import { derivative, derivatives, type Estimate, oneSided } from './finite-differences.js'
import { type Derived, dense, drawLike, evaluate, flat, inner, movedBy, place, pullFrom, total } from './subject.js'

/** Jacobians of at most this many rows and columns are compared entry by entry. */
const SMALL = 64
/** Programs over more numbers are looked at from both sides only where something disagrees. */
export const LARGE = 1024
/** Larger relative errors of the differences mean a kink, or that they say nothing. */
const NOISE = 1e-5

/** Holds a derivative against differences; where the two sides differ, against the interval between them. */
const against = (
  d: Derived,
  check: 'jvp' | 'vjp' | 'jacobian',
  path: string,
  got: number,
  f: (t: number) => number,
  difference: Estimate,
  out: Collector,
): void => {
  const size = Math.max(1, Math.abs(difference.value))
  const allowed = Math.max(d.tolerance, (4 * difference.error) / size)
  const steady = difference.error <= NOISE * size
  const agrees = steady && Math.abs(got - difference.value) <= allowed * size
  // Central differences do not see a symmetric kink, such as that of abs: the two sides do.
  if (agrees && (check !== 'jvp' || total(d.inputs) > LARGE || near(d) === '')) {
    out.comparisons++
    return
  }
  const [right, left] = [oneSided(f, 1, d.scale), oneSided(f, -1, d.scale)]
  const big = Math.max(1, Math.abs(right.value), Math.abs(left.value))
  const slack = Math.max(1e-4 * big, 4 * (right.error + left.error))
  const [low, high] = [Math.min(right.value, left.value), Math.max(right.value, left.value)]
  if (slack < 0.1 * big && high - low > slack) {
    out.comparisons++
    if (got >= low - slack && got <= high + slack)
      out.kinks.push(`${out.prefix}${path}: ${got.toPrecision(6)} between ${low.toPrecision(6)} and ${high.toPrecision(6)}${near(d)}`)
    else out.note('kink', path, 0, `between ${low} and ${high}`, got, slack)
  } else if (steady) out.near(check, path, [got / size], [difference.value / size], allowed)
  else if (slack < 0.1 * big) out.near(check, path, [got / big], [(high + low) / 2 / big], slack / big)
  else out.note('inconclusive', path, 0, `a difference with an error below ${NOISE}`, difference.error)
}
/** The primitives that have kinks, for a reader who wonders where the kink comes from. */
const near = (d: Derived): string => {
  const names = [...new Set(linearize(d.ys).nodes.flatMap((n) => (n.prim !== null && n.prim.kinks.length > 0 ? [n.prim.name] : [])))]
  return names.length === 0 ? '' : ` (${names.join(', ')})`
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
  d.dys.forEach((t, i) => {
    one(t, d.outs[i]!, `dy ${i}`)
  })
  d.xBars.forEach((t, i) => {
    one(t, d.wrt[i]!, `xBar of ${d.paths[d.active[i]!]}`)
  })
  return [...d.dys, ...d.xBars].every((t) => t._tag === 'Expr' || t._tag === 'ZeroTangent')
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

/** jvp and vjp along random directions; then, if it is small, the whole Jacobian in both modes. */
export const checkDifferences = (d: Derived, directions: number, next: () => number, out: Collector): void => {
  const dys = dense(d.dys, d.outs)
  const xBars = dense(d.xBars, d.wrt)
  const names = d.active.map((i) => d.paths[i]!)
  for (let k = 0; k < directions; k++) {
    // One input at a time first, then all together: a finding names its argument.
    const only = d.wrt.length > 1 && k < Math.min(d.wrt.length, directions - 1) ? k : -1
    const path = only >= 0 || d.wrt.length === 1 ? names[Math.max(0, only)]! : 'all arguments'
    const dx = drawLike(d.wrt, next).map((v, j) => (only < 0 || only === j ? v : { ...v, data: new Float64Array(v.data.length) }))
    const yBar = drawLike(d.outs, next)
    const full = withAll(withAll(d.env, d.tangents, dx), d.seeds, yBar)
    const weight = flat(yBar)
    const f = (t: number): number => inner(flat(evaluate(d.outs, movedBy(d, dx, t))), weight)
    const difference = derivative(f, d.scale)
    const forward = inner(flat(evaluate(dys, full)), weight)
    const reverse = inner(flat(evaluate(xBars, full)), flat(dx))
    if (out.on('jvp')) against(d, 'jvp', path, forward, f, difference, out)
    if (out.on('vjp')) against(d, 'vjp', path, reverse, f, difference, out)
    const size = Math.max(1, Math.abs(forward))
    if (out.on('adjoint')) out.near('adjoint', `${path}: <yBar, J dx> and <J' yBar, dx>`, [reverse / size], [forward / size], 1e-11)
  }
  const [n, m] = [total(d.wrt), total(d.outs)]
  if (!out.on('jacobian', n <= SMALL && m <= SMALL)) return
  const rows = Array.from({ length: m }, (_, j) => flat(evaluate(xBars, withAll(d.env, d.seeds, basis(d.outs, j)))))
  for (let i = 0; i < n; i++) {
    const dx = basis(d.wrt, i)
    const column = flat(evaluate(dys, withAll(d.env, d.tangents, dx)))
    const at = (t: number): Float64Array => flat(evaluate(d.outs, movedBy(d, dx, t)))
    const wanted = derivatives(at, d.scale)
    for (let j = 0; j < m; j++) {
      const path = `dy[${j}] / d${place(d.wrt, names, i)}`
      against(d, 'jacobian', `${path}, forward`, column[j]!, (t) => at(t)[j]!, wanted[j]!, out)
      out.near('jacobian', `${path}, reverse and forward`, [rows[j]![i]!], [column[j]!], 1e-11)
    }
  }
}

/** Mixed mode against reverse. */
export const checkModes = (d: Derived, next: () => number, out: Collector): void => {
  if (!out.on('modes')) return
  const mixed = pullback(d.registry, regionized(d.outs, d.wrt), d.seeds.map(asExpr), d.wrt).cotangents
  const env = withAll(d.env, d.seeds, drawLike(d.outs, next))
  const [a, b] = [evaluate(dense(mixed, d.wrt), env), evaluate(dense(d.xBars, d.wrt), env)]
  a.forEach((v, j) => {
    out.near('modes', `xBar of ${d.paths[d.active[j]!]}, mixed and reverse`, v.data, b[j]!.data, 1e-11)
  })
}

const combine = (a: NDArray, b: NDArray, s: number): NDArray => ({ ...a, data: Float64Array.from(a.data, (v, i) => v + s * b.data[i]!) })
const zero = (n: Node): NDArray => ({ shape: n.shape, dtype: n.dtype, data: new Float64Array(n.aval.size) })

/** J (a - 3 b) = J a - 3 J b, the same for cotangents; tangents of zero are exactly zero. */
export const checkLinear = (d: Derived, next: () => number, out: Collector): void => {
  if (!out.on('linear')) return
  const sides = [
    ['dy', dense(d.dys, d.outs), d.tangents],
    ['xBar', dense(d.xBars, d.wrt), d.seeds],
  ] as const
  for (const [name, programs, symbols] of sides) {
    const [a, b] = [drawLike(symbols, next), drawLike(symbols, next)]
    const at = (v: readonly NDArray[]): NDArray[] => evaluate(programs, withAll(d.env, symbols, v))
    const [pa, pb] = [at(a), at(b)]
    at(a.map((v, i) => combine(v, b[i]!, -3))).forEach((v, i) => {
      const want = Float64Array.from(pa[i]!.data, (x, k) => x - 3 * pb[i]!.data[k]!)
      const big = Math.max(1, ...pa[i]!.data.map(Math.abs), ...pb[i]!.data.map(Math.abs))
      out.near('linear', `${name} ${i} of a - 3 b`, v.data, want, 1e-11 * big)
    })
    at(symbols.map(zero)).forEach((v, i) => {
      out.near('linear', `${name} ${i} of zero`, v.data, new Float64Array(v.data.length), 0)
    })
  }
}

/** Every form of seed gives what a dense one gives; zeros build nothing; a thunk is forced once. */
export const checkSeeds = (d: Derived, next: () => number, out: Collector): void => {
  if (!out.on('seed')) return
  const values = drawLike(d.outs, next)
  const env = withAll(d.env, d.seeds, values)
  const want = evaluate(dense(d.xBars, d.wrt), env)
  const same = (form: string, seeds: readonly Tangent[], against_ = want, at: ReadonlyMap<Node, NDArray> = env): void => {
    const pulled = pullback(d.registry, d.outs, seeds, d.wrt).cotangents
    evaluate(dense(pulled, d.wrt), at).forEach((v, j) => {
      out.near('seed', `${form} seed, xBar of ${d.paths[d.active[j]!]}`, v.data, against_[j]!.data, 1e-12)
    })
  }
  let forced = 0
  const counted = (s: Node) => (): Tangent => {
    forced++
    return asExpr(s)
  }
  same(
    'thunk',
    d.seeds.map((s): Tangent => ({ _tag: 'Thunk', force: counted(s) })),
  )
  if (out.on('thunk')) out.is('thunk', 'times that the thunks of the seeds were forced', forced <= d.seeds.length, true)
  same(
    'in-place thunk',
    d.seeds.map((s) =>
      inplaceableThunk(
        () => asExpr(s),
        (acc) => add(acc, asExpr(s)),
      ),
    ),
  )
  const half = d.outs.map((y) => broadcastNode(constant(0.5, y.dtype), y.shape))
  const halves = new Map(env)
  d.seeds.forEach((s) => {
    halves.set(s, { shape: s.shape, dtype: s.dtype, data: new Float64Array(s.aval.size).fill(0.5) })
  })
  same('broadcast', half.map(asExpr), evaluate(dense(d.xBars, d.wrt), halves))
  for (const t of pullback(
    d.registry,
    d.outs,
    d.outs.map(() => ZeroTangent),
    d.wrt,
  ).cotangents)
    out.is('seed', 'zero seed', t._tag, 'ZeroTangent')
}

/** Every subset of the inputs (of the first six): its cotangents are those of all. */
export const checkActivity = (d: Derived, next: () => number, out: Collector): void => {
  const n = Math.min(6, d.wrt.length)
  if (n < 2 || !out.on('activity')) return
  const env = withAll(d.env, d.seeds, drawLike(d.outs, next))
  const all = evaluate(dense(d.xBars, d.wrt), env)
  const dx = drawLike(d.wrt, next)
  for (let mask = 1; mask < 2 ** n - 1; mask++) {
    const chosen = d.wrt.map((_, j) => j).filter((j) => j < n && (mask >> j) % 2 === 1)
    const some = chosen.map((j) => d.wrt[j]!)
    const names = chosen.map((j) => d.paths[d.active[j]!]).join(', ')
    const pulled = pullFrom(d.registry, d.outs, new Map(d.outs.map((y, i) => [y, asExpr(d.seeds[i]!)])), some).cotangents
    evaluate(dense(pulled, some), env).forEach((v, k) => {
      out.near('activity', `xBar of ${d.paths[d.active[chosen[k]!]!]} among ${names}`, v.data, all[chosen[k]!]!.data, 1e-12)
    })
    const pushed = pushforward(d.registry, d.outs, new Map(some.map((x, k) => [x, d.tangents[chosen[k]!]!]))).tangents
    const only = withAll(
      d.env,
      d.tangents,
      dx.map((v, j) => (chosen.includes(j) ? v : zero(d.wrt[j]!))),
    )
    const want = evaluate(dense(d.dys, d.outs), only)
    evaluate(
      pushed.map((t, i) => instantiate(t, d.outs[i]!.aval)),
      only,
    ).forEach((v, i) => {
      out.near('activity', `dy ${i} along ${names}`, v.data, want[i]!.data, 1e-12)
    })
  }
}

/** The same program again, over the same inputs, as other nodes. */
const again = (roots: readonly Node[]): readonly Node[] => rewrite(roots, { apply: (n, args) => applyAny(n.prim!, args, n.payload) })

/** What arrives at one argument from several places adds up: three uses of the program, and one argument in two places. */
export const checkFanOut = (d: Derived, next: () => number, out: Collector): void => {
  if (!out.on('accumulate')) return
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
  const single = bars.map((b) => evaluate(dense(d.xBars, d.wrt), withAll(d.env, d.seeds, b)))
  evaluate(dense(pulled, d.wrt), env).forEach((v, j) => {
    const want = Float64Array.from(v.data, (_, i) => single.reduce((s, p) => s + p[j]!.data[i]!, 0))
    out.near('accumulate', `three uses, xBar of ${names[j]}`, v.data, want, 1e-12)
  })
  const twin = d.wrt.findIndex((x, j) => j > 0 && sameAval(x.aval, d.wrt[0]!.aval))
  if (twin < 1) return
  const [x, other] = [d.wrt[0]!, d.wrt[twin]!]
  const same = withAll(d.env, d.seeds, bars[0]!).set(other, d.env.get(x)!)
  const ys = substitute(d.outs, new Map([[other, x]]))
  const both = pullback(d.registry, ys, d.seeds.map(asExpr), [x]).cotangents
  const [a, b] = evaluate(dense([d.xBars[0]!, d.xBars[twin]!], [x, other]), same)
  const want = Float64Array.from(a!.data, (v, i) => v + b!.data[i]!)
  out.near('accumulate', `${names[0]} in the place of ${names[twin]} too`, evaluate(dense(both, [x]), same)[0]!.data, want, 1e-12)
}
