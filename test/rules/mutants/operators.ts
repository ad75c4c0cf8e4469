/** Operators held against each other: each of them is a few ways of asking for the same numbers. */
import * as cd from '../../../src/index.js'
import { draws } from './laws/draws.js'
import { eager } from './laws/eager.js'
import { far } from './laws/far.js'
import { held } from './laws/held.js'
import { joined } from './laws/joined.js'
import { dot, type Laws, numbers, o, same } from './laws/law.js'
import { loops } from './laws/loops.js'
import { matrices } from './laws/matrices.js'
import { points } from './laws/points.js'
import { refused } from './laws/refused.js'
import { transforms } from './laws/transforms.js'
import { unknowns } from './laws/unknown.js'

type F = (...xs: readonly unknown[]) => unknown
const { sum, mul, add, sin, exp, square, matmul } = o

/** Rows of a matrix given as numbers. */
const rows = (m: readonly number[], n: number): number[][] => Array.from({ length: m.length / n }, (_, i) => m.slice(i * n, (i + 1) * n))

const x = [0.3, -0.7, 1.1]
const y = [0.5, -0.2]
const [dx, dy] = [
  [0.4, -1, 0.6],
  [-0.3, 0.8],
]
const yBar = [0.7, -0.4, 1.3]
/** [3], [2] to [3] and a number. */
const f = (a: cd.AnyExpr, b: cd.AnyExpr) => [mul(sin(a), add(sum(b), a)), sum(mul(exp(b), sum(square(a))))] as const
const first = (a: cd.AnyExpr, b: cd.AnyExpr) => f(a, b)[0]
const loss = (a: cd.AnyExpr, b: cd.AnyExpr) => add(sum(square(first(a, b))), f(a, b)[1])
const pairs = (t: unknown): readonly [unknown, unknown] => t as readonly [unknown, unknown]

/** Each pair must be equal numbers. */
const own: Laws = {
  'a Jacobian in both modes, whole and in chunks': () =>
    [undefined, 'all', 1].flatMap((wrt) => {
      const by = wrt === undefined ? {} : { wrt: wrt === 'all' ? [0, 1] : wrt }
      const whole = numbers(o.jacrev(first, by)(x, y))
      return [o.jacfwd(first, by)(x, y), o.jacfwd(first, { ...by, chunk: 2 })(x, y), o.jacrev(first, { ...by, chunk: 2 })(x, y)].map(
        (j) => [numbers(j), whole] as const,
      )
    }),
  'Jacobians of two results': () => [[numbers(o.jacfwd(f)(x, y)), numbers(o.jacrev(f)(x, y))]],
  'Jacobians of matrices': () => {
    const products = (m: cd.AnyExpr, v: cd.AnyExpr) => ({ p: sin(matmul(m, v)), q: [mul(m, sum(v)), exp(v)] })
    const m = [x, x.map((v) => v + 0.5)]
    return [0, 1, [0, 1]].flatMap((wrt) => [[o.jacfwd(products, { wrt })(m, x), o.jacrev(products, { wrt })(m, x)] as const])
  },
  'a gradient is like its argument': () => {
    const [u, v] = [cd.tensor(x, [3], 'f32'), cd.tensor([0.5, 0.1, 0.7, -0.2], [2, 2], 'f32')]
    const unused = (a: cd.AnyExpr, _b: cd.AnyExpr) => sum(sin(a))
    const zeros = cd.tensor([0, 0, 0, 0], [2, 2], 'f32')
    return [
      ...['mixed', 'reverse', 'forward'].map((mode) => [o.grad(unused, { wrt: 1, mode })(u, v), zeros] as const),
      [pairs(o.jvp((a: cd.AnyExpr, b: cd.AnyExpr) => [sin(a), mul(b, 2)], { wrt: 0 })([u, v], u))[1], [pairs(o.jvp(sin)(u, u))[1], zeros]],
    ]
  },
  'a Jacobian times a tangent': () => {
    const j = rows(numbers(o.jacfwd(first)(x, y)), 3)
    const [, dy0] = pairs(o.jvp((a: cd.AnyExpr) => first(a, cd.tensor(y) as unknown as cd.AnyExpr))(x, dx))
    return [[j.map((row) => dot(row, dx!)), numbers(dy0)]]
  },
  'a tangent and a cotangent': () => {
    const [, dys] = pairs(o.jvp(f)([x, y], [dx, dy]))
    const [, bars] = pairs(o.vjp(f)([x, y], [cd.tensor(yBar), cd.tensor(0.9)]))
    return [[[dot(numbers(dys), [...yBar, 0.9])], [dot(numbers(bars), [...dx!, ...dy!])]]]
  },
  'a gradient in three modes, with a seed': () => {
    const by = (mode: string, wrt: unknown, seed?: number) =>
      numbers(o.grad(loss, { mode, wrt, ...(seed !== undefined && { seed }) })(x, y))
    return [0, 1, [0, 1], [1, 0]].flatMap((wrt) => [
      [by('forward', wrt), by('reverse', wrt)] as const,
      [by('mixed', wrt, 2.5), by('reverse', wrt).map((v) => 2.5 * v)] as const,
      [by('forward', wrt, 2.5), by('reverse', wrt, 2.5)] as const,
    ])
  },
  'a gradient along a tangent': () => {
    const [, d] = pairs(o.jvp(loss)([x, y], [dx, dy]))
    return [[[dot(numbers(o.grad(loss, { wrt: [0, 1] })(x, y)), [...dx!, ...dy!])], numbers(d)]]
  },
  'a Hessian, its product, and the Jacobian of the gradient': () => {
    const h = (wrt: number) => numbers(o.hessian(loss, { wrt })(x, y))
    const products = numbers(o.hvp(loss, { wrt: [0, 1] })([x, y], { 0: dx, 1: dy }))
    const ofGrad = numbers(pairs(o.jvp(o.grad(loss, { wrt: [0, 1] }))([x, y], [dx, dy]))[1])
    return [
      [h(0), numbers(o.jacfwd(o.grad(loss))(x, y))],
      [h(1), numbers(o.jacrev(o.grad(loss, { wrt: 1 }), { wrt: 1 })(x, y))],
      [products, ofGrad],
    ]
  },
  'a linearized function and jvp': () => {
    const [, derivative] = pairs(o.linearize(f)([x, y]))
    const [, dys] = pairs(o.jvp(f)([x, y], [dx, dy]))
    return [[numbers((derivative as F)([dx, dy])), numbers(dys)]]
  },
  'vmap of no example': () => {
    const pair = (a: cd.AnyExpr, b: cd.AnyExpr) => [a, mul(sum(a), 2), b, cd.tensor(y)]
    const shapes = (rows: number): readonly (readonly number[])[] => {
      const xs = cd.tensor(new Array<number>(3 * rows).fill(1), [rows, 3])
      return (o.vmap(pair, { inAxes: [0, null] })(xs, y) as readonly { readonly shape: readonly number[] }[]).map((r) => r.shape)
    }
    return [[shapes(0).flat(), shapes(1).flatMap(([, ...one]) => [0, ...one])]]
  },
  'vmap and a loop': () => {
    const wide = [x, x.map((v) => v + 1)]
    const each = (g: F): number[] => wide.flatMap((row) => numbers(g(row)))
    return [
      [numbers(o.vmap((a: cd.AnyExpr, b: cd.AnyExpr) => first(a, b), { inAxes: [0, null] })(wide, y)), each((row) => first_(row, y))],
      [numbers(o.vmap((b: cd.AnyExpr, a: cd.AnyExpr) => first(a, b), { inAxes: [null, 0] })(y, wide)), each((row) => first_(row, y))],
      [numbers(o.vmap(o.grad(loss), { inAxes: [0, null] })(wide, y)), each((row) => o.grad(loss)(row, y))],
    ]
  },
  'vmap over any axis': () => {
    const a = cd.evaluate(cd.reshape(cd.arange(24), [2, 3, 4]))
    const g = (p: { readonly a: cd.AnyExpr; readonly b: cd.AnyExpr }) => ({ y: cd.add(cd.mul(p.a, 2), p.b), z: cd.sin(p.a) })
    const moved = (t: unknown, ...perm: readonly number[]) => cd.evaluate(cd.transpose(t as cd.AnyExpr, perm))
    return [1, 2, -1].map((axis) => {
      const b = cd.evaluate(cd.arange(a.shape.at(axis)!))
      const { y, z } = o.vmap(g, { inAxes: { a: axis, b: 0 }, outAxes: { y: -1, z: 1 } })({ a, b }) as Readonly<Record<string, cd.Tensor>>
      const front = axis === 1 ? [1, 0, 2] : [2, 0, 1]
      const want = o.vmap(g)({ a: moved(a, ...front), b }) as Readonly<Record<string, cd.Tensor>>
      return [numbers([y, z]), numbers([moved(want.y, 1, 2, 0), moved(want.z, 1, 0, 2)])] as const
    })
  },
}
/** The function at numbers. */
const first_: F = (a, b) => pairs(o.jvp(first)([a, b], [a, b]))[0]

const laws: Laws = {
  ...own,
  ...eager,
  ...held,
  ...joined,
  ...loops,
  ...matrices,
  ...draws,
  ...transforms,
  ...far,
  ...points,
  ...refused,
  ...unknowns,
}
/** The first law (of this name) that does not hold. */
export const brokenLaw = (only?: string): string | undefined => {
  for (const [name, law] of Object.entries(laws)) {
    if (only !== undefined && !name.includes(only)) continue
    try {
      const at = [...law()].findIndex(([a, b, tolerance]) => !same(a, b, tolerance))
      if (at >= 0) return `${name}, ${at}`
    } catch (e) {
      return `${name} throws: ${String((e as Error).message).split('\n')[0]!}`
    }
  }
  return undefined
}
