/** Numbers that are drawn, and what they move with: their place in the distribution stays, and the distribution is a function of its own. */
import * as cd from '../../../../src/index.js'
import * as random from '../../../../src/random/index.js'
import { type Laws, numbers, o } from './law.js'

type E = cd.AnyExpr
const { gammainc, lgamma } = cd as unknown as Readonly<Record<'gammainc' | 'lgamma', (...xs: readonly unknown[]) => E>>
const key = random.key(9)
const [shape, step] = [[12], 1e-4] as const
/** P(a, x) by a, by differences of the fourth order, over the density. */
const slope = (a: number, x: number): number => {
  const at = (k: number): number => numbers(cd.evaluate(gammainc(a + k * step * a, x)))[0]!
  const byShape = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * step * a)
  return -byShape / Math.exp((a - 1) * Math.log(x) - x - numbers(cd.evaluate(lgamma(a)))[0]!)
}
const moved = (f: (a: E) => unknown, a: number): readonly (readonly number[])[] =>
  (o.jvp(f)(a, 1) as readonly unknown[]).map((y) => numbers(y))
const keys = () => [0, 1].map((i) => random.foldIn(key, i)) as unknown as readonly [typeof key, typeof key]
type F3 = (u: unknown, v: unknown) => E
const div = cd.div as unknown as (x: unknown, y: unknown) => E
const drawn = (a: E): E => random.gamma(key, a, { shape }) as E

export const draws: Laws = {
  'gamma numbers keep their place': function* () {
    for (const a of [0.4, 1.7, 9]) {
      const [xs, dxs] = moved(drawn, a)
      yield [xs!.map((x) => slope(a, x)), dxs, 1e-6]
    }
  },
  'both modes of gamma numbers': () =>
    [0.4, 3].map((a) => [[moved(drawn, a)[1]!.reduce((s, x) => s + x, 0)], numbers(o.grad((b: E) => o.sum(drawn(b)))(a))] as const),
  'large gamma numbers in f32': () => {
    const a = 2000
    const one = (x: number): unknown => cd.tensor(x, [], 'f32')
    const [xs, dxs] = (o.jvp(drawn)(one(a), one(1)) as readonly unknown[]).map((y) => numbers(y))
    return [[xs!.map((x) => slope(a, x)), dxs, 1e-5]]
  },
  'beta numbers are one gamma number over the sum of two': function* () {
    const [k, l] = keys()
    const ratio = (x: E, y: E): E => div(x, cd.add(x, y) as E)
    for (const [a, b] of [
      [0.6, 2.5],
      [3, 1.5],
    ] as const)
      for (const f of [(x: E, g: F3) => g(x, b), (x: E, g: F3) => g(b, x)]) {
        const [ys, dys] = moved((x) => f(x, (u, v) => random.beta(key, u as E, v as E, { shape }) as E), a)
        const gammas: F3 = (u, v) => ratio(random.gamma(k, u as E, { shape }) as E, random.gamma(l, v as E, { shape }) as E)
        const [zs, dzs] = moved((x) => f(x, gammas), a)
        yield [ys, zs]
        yield [dys, dzs, 1e-8]
      }
  },
  "Student's numbers are normal ones over the root of a gamma number": function* () {
    const [k, l] = keys()
    for (const n of [1.5, 7]) {
      const [ys, dys] = moved((x) => random.studentT(key, x, { shape }), n)
      const over = (x: E): E => {
        const h = div(x, 2)
        return o.mul(random.normal(k, shape, { dtype: 'f64' }), cd.sqrt(div(h, random.gamma(l, h, { shape }) as E)))
      }
      const [zs, dzs] = moved(over, n)
      yield [ys, zs]
      yield [dys, dzs, 1e-8]
    }
  },
  'Dirichlet numbers are gamma numbers over their sum': function* () {
    for (const a of [0.4, 3]) {
      const parameters = (b: E): E => o.stack([b, cd.full([], 2)])
      const dirichlet = (b: E): E => random.dirichlet(key, parameters(b), { shape }) as E
      const gammas = (b: E): E => random.gamma(key, parameters(b), { shape: [...shape, 2] }) as E
      const over = (b: E): E => (cd.div as unknown as (x: E, y: E) => E)(gammas(b), cd.sum(gammas(b), { axis: 1, keepdims: true }) as E)
      const [[ys, dys], [zs, dzs]] = [moved(dirichlet, a), moved(over, a)]
      yield [ys, zs]
      yield [dys, dzs, 1e-8]
    }
  },
}
