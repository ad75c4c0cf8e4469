/** Random elementwise programs whose regions meet and join, with scans between them: mixed mode against reverse mode. */
import { random } from '../../../../src/check/index.js'
import * as cd from '../../../../src/index.js'
import { type Laws, o } from './law.js'

const { sum, mul, add, sub, sin, exp, tanh, square, cumsum, cast, broadcastTo } = o

const SHAPES: readonly (readonly number[])[] = [[2, 3], [3], []]
/** Values made of arrays of all shapes, in f64 and f32: the last three of `steps` operations, of values made before, the newest most often. */
const made =
  (seed: number, steps: number) =>
  (...xs: readonly cd.AnyExpr[]): readonly cd.AnyExpr[] => {
    const next = random(seed)
    const values = [...xs]
    // Half of the programs hold no more than few values, so that regions of them join.
    const few = next() < 0.5 ? 3 : 8
    const at = (): cd.AnyExpr => values[Math.max(0, values.length - 1 - Math.floor(few * next() ** 2 * 2))]!
    const like = (v: cd.AnyExpr, u: cd.AnyExpr): cd.AnyExpr => (v.dtype === u.dtype ? v : cast(v, u.dtype))
    for (let k = 0; k < steps; k++) {
      const u = at()
      const v = like(at(), u)
      const r = next()
      const rank = u.shape.length
      if (r < 0.5) values.push(mul([add, mul, sub][Math.floor(3 * next())]!(u, v), 0.5))
      else if (r < 0.8) values.push([sin, tanh, square, (w: unknown) => exp(sin(w))][Math.floor(4 * next())]!(u))
      else if (r < 0.85) values.push(cast(u, u.dtype === 'f64' ? 'f32' : 'f64'))
      else if (r < 0.95 && rank > 0) values.push(mul(cumsum(u, { axis: rank - 1 }), 0.5))
      else if (rank > 0) values.push(sum(u, { axis: 0 }))
      else values.push(broadcastTo(u, [3]))
    }
    return values.slice(-3)
  }

/** The sum of values, each times what it moves the result by. */
const total = (values: readonly cd.AnyExpr[], bars: readonly unknown[]): cd.AnyExpr =>
  values.reduce<cd.AnyExpr>((s, v, i) => add(s, cast(sum(mul(v, cast(bars[i], v.dtype))), 'f64')), cd.tensor(0) as unknown as cd.AnyExpr)

const inputs = (next: () => number): readonly cd.Tensor[] =>
  SHAPES.flatMap((shape) =>
    (['f64', 'f32'] as const).map((dtype) =>
      cd.tensor(
        Array.from({ length: shape.reduce((n, d) => n * d, 1) }, () => 2 * next() - 1),
        shape,
        dtype,
      ),
    ),
  ) as unknown as readonly cd.Tensor[]

export const joined: Laws = {
  'regions that join': function* () {
    const c = cd.makeCodual(cd.coreRegistry, cd.reference()) as unknown as typeof o
    for (let seed = 1; seed <= 60; seed++) {
      const xs = inputs(random(seed + 1000))
      const values = made(seed, 6 + (seed % 20))
      const f = (...a: readonly cd.AnyExpr[]): cd.AnyExpr => {
        const ys = values(...a)
        return total(
          ys.map(sin),
          ys.map(() => 1),
        )
      }
      const by = (mode: string): unknown => c.grad((...a: readonly cd.AnyExpr[]) => f(...a), { wrt: xs.map((_, i) => i), mode })(...xs)
      // Half of it is in f32, and scans add up in another order.
      yield [by('mixed'), by('reverse'), 1e-4]
      // Of several results: what vjp goes back from, and what a sum of them does.
      const ys = c.jvp((...a: readonly cd.AnyExpr[]) => values(...a))(xs, xs) as readonly [readonly unknown[], unknown]
      const bars = ys[0]
      const [, pulled] = c.vjp((...a: readonly cd.AnyExpr[]) => values(...a))(xs, bars) as readonly [unknown, unknown]
      const summed = c.grad((...a: readonly cd.AnyExpr[]) => total(values(...a), bars), { wrt: xs.map((_, i) => i), mode: 'reverse' })(
        ...xs,
      )
      yield [pulled, summed, 1e-4]
    }
  },
  'regions that are alike': () => {
    const c = cd.makeCodual(cd.coreRegistry, cd.reference()) as unknown as typeof o
    const wave = (a: unknown) => mul(sin(a), exp(a))
    const f = (x: cd.AnyExpr) => sum(cumsum(wave(cumsum(cast(cumsum(wave(x)), x.dtype === 'f64' ? 'f32' : 'f64')))))
    return (['f64', 'f32'] as const).map((dtype) => {
      const x = cd.tensor([0.3, -0.7, 1.1], [3], dtype)
      return [c.grad(f, { mode: 'mixed' })(x), c.grad(f, { mode: 'reverse' })(x), 1e-4] as const
    })
  },
  'regions of which other arguments move': function* () {
    const c = cd.makeCodual(cd.coreRegistry, cd.reference()) as unknown as typeof o
    const k = cd.tensor([0.4, -0.9, 0.2])
    const wave = (a: unknown, b: unknown) => sin(mul(add(a, b), exp(add(a, b))))
    const f = (x: cd.AnyExpr, y: cd.AnyExpr) => sum(cumsum(add(wave(k, cumsum(wave(x, k))), cumsum(wave(cumsum(y), cumsum(x))))))
    for (const wrt of [0, 1, [0, 1]]) {
      const by = (mode: string): unknown => c.grad(f, { wrt, mode })([0.3, -0.7, 1.1], [0.5, 1.2, -0.4])
      yield [by('mixed'), by('reverse')]
      yield [by('forward'), by('reverse')]
    }
  },
}
