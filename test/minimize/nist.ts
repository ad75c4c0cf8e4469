// NIST's nonlinear regression problems (StRD): the models; data, starting values and certified values are in nist.json.
import { readFileSync } from 'node:fs'
import { type AnyExpr, add, at, atan, cos, div, exp, mul, neg, pow, sin, square, sub } from '../../src/index.js'

/** One problem. SciPy's results are those of MINPACK's lmder with tolerances of 1e-15. */
export interface NistProblem {
  readonly name: string
  readonly x: readonly (number | readonly number[])[]
  readonly y: readonly number[]
  readonly starts: readonly (readonly number[])[]
  readonly certified: readonly number[]
  readonly deviations: readonly number[]
  readonly squares: number
  readonly scipy: readonly { readonly digits: number; readonly residuals: number; readonly jacobians: number }[]
}
export const nist = JSON.parse(readFileSync(new URL('nist.json', import.meta.url), 'utf8')) as readonly NistProblem[]

type Model = (b: AnyExpr, x: AnyExpr) => AnyExpr
const of =
  (f: (b: readonly AnyExpr[], x: AnyExpr) => unknown): Model =>
  (b, x) =>
    f(
      Array.from({ length: b.shape[0]! }, (_, k) => at(b, k) as AnyExpr),
      x,
    ) as AnyExpr
const decay = (a: AnyExpr, b: AnyExpr, x: AnyExpr): AnyExpr => mul(a, exp(neg(mul(b, x))))
const bump = (a: AnyExpr, centre: AnyExpr, width: AnyExpr, x: AnyExpr): AnyExpr =>
  mul(a, exp(neg(div(square(sub(x, centre)), square(width)))))
/** c_0 + c_1 x + c_2 x^2 ... */
const polynomial = (c: readonly (AnyExpr | number)[], x: AnyExpr): AnyExpr =>
  c.reduceRight((s: AnyExpr | number, v) => add(v, mul(x, s)), 0) as AnyExpr
const rise = of(([b1, b2], x) => mul(b1!, sub(1, exp(neg(mul(b2!, x))))))
const chwirut = of(([b1, b2, b3], x) => div(exp(neg(mul(b1!, x))), add(b2!, mul(b3!, x))))
const gauss = of(([b1, b2, b3, b4, b5, b6, b7, b8], x) => add(decay(b1!, b2!, x), add(bump(b3!, b4!, b5!, x), bump(b6!, b7!, b8!, x))))
const lanczos = of(([b1, b2, b3, b4, b5, b6], x) => add(decay(b1!, b2!, x), add(decay(b3!, b4!, x), decay(b5!, b6!, x))))
const cubic = of((b, x) => div(polynomial(b.slice(0, 4), x), polynomial([1, ...b.slice(4)], x)))
const season = (c: AnyExpr, s: AnyExpr, period: AnyExpr | number, x: AnyExpr): AnyExpr => {
  const angle = div(mul(2 * Math.PI, x), period)
  return add(mul(c, cos(angle)), mul(s, sin(angle)))
}

export const models: Readonly<Record<string, Model>> = {
  Bennett5: of(([b1, b2, b3], x) => mul(b1!, pow(add(b2!, x), div(-1, b3!)))),
  BoxBOD: rise,
  Chwirut1: chwirut,
  Chwirut2: chwirut,
  DanWood: of(([b1, b2], x) => mul(b1!, pow(x, b2!))),
  ENSO: of(([b1, b2, b3, b4, b5, b6, b7, b8, b9], x) =>
    add(b1!, add(season(b2!, b3!, 12, x), add(season(b5!, b6!, b4!, x), season(b8!, b9!, b7!, x)))),
  ),
  Eckerle4: of(([b1, b2, b3], x) => mul(div(b1!, b2!), exp(mul(-0.5, square(div(sub(x, b3!), b2!)))))),
  Gauss1: gauss,
  Gauss2: gauss,
  Gauss3: gauss,
  Hahn1: cubic,
  Kirby2: of((b, x) => div(polynomial(b.slice(0, 3), x), polynomial([1, ...b.slice(3)], x))),
  Lanczos1: lanczos,
  Lanczos2: lanczos,
  Lanczos3: lanczos,
  MGH09: of(([b1, b2, b3, b4], x) => div(mul(b1!, add(square(x), mul(x, b2!))), add(add(square(x), mul(x, b3!)), b4!))),
  MGH10: of(([b1, b2, b3], x) => mul(b1!, exp(div(b2!, add(x, b3!))))),
  MGH17: of(([b1, b2, b3, b4, b5], x) => add(b1!, add(decay(b2!, b4!, x), decay(b3!, b5!, x)))),
  Misra1a: rise,
  Misra1b: of(([b1, b2], x) => mul(b1!, sub(1, pow(add(1, div(mul(b2!, x), 2)), -2)))),
  Misra1c: of(([b1, b2], x) => mul(b1!, sub(1, pow(add(1, mul(2, mul(b2!, x))), -0.5)))),
  Misra1d: of(([b1, b2], x) => div(mul(mul(b1!, b2!), x), add(1, mul(b2!, x)))),
  Nelson: of(([b1, b2, b3], x) => sub(b1!, mul(mul(b2!, at(x, ':', 0)), exp(neg(mul(b3!, at(x, ':', 1))))))),
  Rat42: of(([b1, b2, b3], x) => div(b1!, add(1, exp(sub(b2!, mul(b3!, x)))))),
  Rat43: of(([b1, b2, b3, b4], x) => div(b1!, pow(add(1, exp(sub(b2!, mul(b3!, x)))), div(1, b4!)))),
  Roszman1: of(([b1, b2, b3, b4], x) => sub(sub(b1!, mul(b2!, x)), div(atan(div(b3!, sub(x, b4!))), Math.PI))),
  Thurber: cubic,
}
/** What is fitted: Nelson's model is of the logarithm. */
export const targetOf = ({ name, y }: NistProblem): readonly number[] => (name === 'Nelson' ? y.map(Math.log) : y)
export const digits = (found: ArrayLike<number>, certified: readonly number[]): number =>
  Math.min(...certified.map((c, k) => -Math.log10(Math.max(1e-16, Math.abs((found[k]! - c) / c)))))
