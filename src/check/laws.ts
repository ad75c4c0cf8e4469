/** Laws of first derivatives: modes, seeds, subsets and uses held against each other, without differences. */

import { greatestOf } from '../core/errors/extremes.js'
import { sameAval } from '../core/graph/aval.js'
import { applyAny, asExpr, constant, input, type Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import { rewrite, substitute } from '../core/graph/rewrite.js'
import { inplaceableThunk, type Tangent, ZeroTangent } from '../core/graph/tangent.js'
import { add } from '../core/ops/elementwise.js'
import { broadcastNode } from '../core/ops/layout/move.js'
import { instantiate } from '../modes/common.js'
import { regionized } from '../modes/mixed.js'
import { pullback, pushforward } from '../modes/transform.js'
import { roundingOf, SAME, withAll } from './derivative.js'
import type { Collector } from './findings.js'
import { type Derived, dense, drawLike, evaluate, pullFrom } from './subject.js'

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
  if (out.on('thunk')) out.is('thunk', 'times that the thunk of one seed was forced', greatestOf(counts) <= 1, true)
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
