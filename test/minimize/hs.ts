// Problems of Hock and Schittkowski: the functions; starting points, bounds, published minima and SLSQP's results are in hs.json.
import { readFileSync } from 'node:fs'
import { type AnyExpr, add, at, log, mul, pow, sin, square, sub, type Tensor } from '../../src/index.js'

/** What an operation takes. */
type Operand = AnyExpr | Tensor | number | readonly number[]
/** One problem: equations = 0, inequalities <= 0; null where a number has no bound. */
export interface HsProblem {
  readonly number: number
  readonly start: readonly number[]
  readonly minimum: number
  readonly f0: number
  readonly equal0: readonly number[]
  readonly atMost0: readonly number[]
  readonly lower: readonly (number | null)[] | null
  readonly upper: readonly (number | null)[] | null
  readonly slsqp: {
    readonly value: number
    readonly x: readonly number[]
    readonly violation: number
    readonly evaluations: number
    readonly gradients: number
    readonly success: boolean
  }
}
export const hs = JSON.parse(readFileSync(new URL('hs.json', import.meta.url), 'utf8')) as readonly HsProblem[]

type X = readonly AnyExpr[]
export interface HsFunctions {
  readonly f: (x: AnyExpr) => AnyExpr
  readonly equal?: (x: AnyExpr) => AnyExpr[]
  readonly atMost?: (x: AnyExpr) => AnyExpr[]
}
const plus = (...xs: readonly Operand[]): AnyExpr => xs.reduce((a, b) => add(a, b)) as AnyExpr
const times = (...xs: readonly Operand[]): AnyExpr => xs.reduce((a, b) => mul(a, b)) as AnyExpr
/** c_1 x_1 + c_2 x_2 + ... + constant. */
const line = (x: X, c: readonly number[], constant = 0): AnyExpr => plus(...c.flatMap((v, i) => (v === 0 ? [] : [mul(v, x[i]!)])), constant)
/** (x - centre)^2. */
const away = (x: Operand, centre: number): AnyExpr => square(sub(x, centre))
const squares = (x: X, c: readonly number[]): AnyExpr => plus(...c.map((v, i) => mul(v, square(x[i]!))))
const of = (f: (x: X) => AnyExpr, equal?: (x: X) => AnyExpr[], atMost?: (x: X) => AnyExpr[]): HsFunctions => {
  const split = (x: AnyExpr): X => Array.from({ length: x.shape[0]! }, (_, k) => at(x, k) as AnyExpr)
  return {
    f: (x) => f(split(x)),
    ...(equal === undefined ? {} : { equal: (x: AnyExpr) => equal(split(x)) }),
    ...(atMost === undefined ? {} : { atMost: (x: AnyExpr) => atMost(split(x)) }),
  }
}
const banana = of(([a, b]) => plus(mul(100, square(sub(b!, square(a!)))), away(a!, 1)))

export const hsFunctions: Readonly<Record<number, HsFunctions>> = {
  1: banana,
  2: banana,
  3: of(([a, b]) => plus(b!, mul(1e-5, square(sub(b!, a!))))),
  4: of(([a, b]) => plus(mul(1 / 3, pow(add(a!, 1), 3)), b!)),
  5: of(([a, b]) => plus(sin(add(a!, b!)), square(sub(a!, b!)), mul(-1.5, a!), mul(2.5, b!), 1)),
  6: of(
    ([a]) => away(a!, 1),
    ([a, b]) => [mul(10, sub(b!, square(a!)))],
  ),
  7: of(
    ([a, b]) => sub(log(add(1, square(a!))), b!),
    ([a, b]) => [plus(square(add(1, square(a!))), square(b!), -4)],
  ),
  10: of(
    ([a, b]) => sub(a!, b!),
    undefined,
    ([a, b]) => [plus(mul(3, square(a!)), times(-2, a!, b!), square(b!), -1)],
  ),
  21: of(
    ([a, b]) => plus(mul(0.01, square(a!)), square(b!), -100),
    undefined,
    (x) => [line(x, [-10, 1], 10)],
  ),
  22: of(
    ([a, b]) => plus(away(a!, 2), away(b!, 1)),
    undefined,
    ([a, b]) => [plus(a!, b!, -2), sub(square(a!), b!)],
  ),
  26: of(
    ([a, b, c]) => plus(square(sub(a!, b!)), pow(sub(b!, c!), 4)),
    ([a, b, c]) => [plus(mul(add(1, square(b!)), a!), pow(c!, 4), -3)],
  ),
  28: of(
    ([a, b, c]) => plus(square(add(a!, b!)), square(add(b!, c!))),
    (x) => [line(x, [1, 2, 3], -1)],
  ),
  35: of(
    (x) => plus(line(x, [-8, -6, -4], 9), squares(x, [2, 2, 1]), times(2, x[0]!, x[1]!), times(2, x[0]!, x[2]!)),
    undefined,
    (x) => [line(x, [1, 1, 2], -3)],
  ),
  39: of(
    ([a]) => mul(-1, a!),
    ([a, b, c, d]) => [plus(b!, mul(-1, pow(a!, 3)), mul(-1, square(c!))), plus(square(a!), mul(-1, b!), mul(-1, square(d!)))],
  ),
  40: of(
    (x) => times(-1, ...x),
    ([a, b, c, d]) => [plus(pow(a!, 3), square(b!), -1), sub(mul(square(a!), d!), c!), sub(square(d!), b!)],
  ),
  42: of(
    (x) => plus(...x.map((v, i) => away(v, i + 1))),
    ([a, , c, d]) => [sub(a!, 2), plus(square(c!), square(d!), -2)],
  ),
  43: of(
    (x) => plus(squares(x, [1, 1, 2, 1]), line(x, [-5, -5, -21, 7])),
    undefined,
    (x) => [
      plus(squares(x, [1, 1, 1, 1]), line(x, [1, -1, 1, -1], -8)),
      plus(squares(x, [1, 2, 1, 2]), line(x, [-1, 0, 0, -1], -10)),
      plus(squares(x, [2, 1, 1]), line(x, [2, -1, 0, -1], -5)),
    ],
  ),
  48: of(
    ([a, b, c, d, e]) => plus(away(a!, 1), square(sub(b!, c!)), square(sub(d!, e!))),
    (x) => [line(x, [1, 1, 1, 1, 1], -5), line(x, [0, 0, 1, -2, -2], 3)],
  ),
  61: of(
    (x) => plus(squares(x, [4, 2, 2]), line(x, [-33, 16, -24])),
    ([a, b, c]) => [plus(mul(3, a!), mul(-2, square(b!)), -7), plus(mul(4, a!), mul(-1, square(c!)), -11)],
  ),
  65: of(
    ([a, b, c]) => plus(square(sub(a!, b!)), mul(1 / 9, square(plus(a!, b!, -10))), away(c!, 5)),
    undefined,
    (x) => [plus(squares(x, [1, 1, 1]), -48)],
  ),
  71: of(
    ([a, b, c, d]) => plus(times(a!, d!, plus(a!, b!, c!)), c!),
    (x) => [plus(squares(x, [1, 1, 1, 1]), -40)],
    (x) => [sub(25, times(...x))],
  ),
  76: of(
    (x) => plus(squares(x, [1, 0.5, 1, 0.5]), times(-1, x[0]!, x[2]!), times(x[2]!, x[3]!), line(x, [-1, -3, 1, -1])),
    undefined,
    (x) => [line(x, [1, 2, 1, 1], -5), line(x, [3, 1, 2, -1], -4), line(x, [0, -1, -4, 0], 1.5)],
  ),
  100: of(
    (x) =>
      plus(
        plus(
          away(x[0]!, 10),
          mul(5, away(x[1]!, 12)),
          pow(x[2]!, 4),
          mul(3, away(x[3]!, 11)),
          mul(10, pow(x[4]!, 6)),
          mul(7, square(x[5]!)),
        ),
        plus(pow(x[6]!, 4), times(-4, x[5]!, x[6]!), mul(-10, x[5]!), mul(-8, x[6]!)),
      ),
    undefined,
    (x) => [
      plus(mul(2, square(x[0]!)), mul(3, pow(x[1]!, 4)), x[2]!, mul(4, square(x[3]!)), mul(5, x[4]!), -127),
      plus(line(x, [7, 3, 0, 1, -1], -282), mul(10, square(x[2]!))),
      plus(line(x, [23, 0, 0, 0, 0, 0, -8], -196), square(x[1]!), mul(6, square(x[5]!))),
      plus(squares(x, [4, 1, 2]), times(-3, x[0]!, x[1]!), line(x, [0, 0, 0, 0, 0, 5, -11])),
    ],
  ),
  113: of(
    (x) =>
      plus(
        plus(square(x[0]!), square(x[1]!), times(x[0]!, x[1]!), line(x, [-14, -16], 45), away(x[2]!, 10), mul(4, away(x[3]!, 5))),
        plus(away(x[4]!, 3), mul(2, away(x[5]!, 1)), mul(5, square(x[6]!)), mul(7, away(x[7]!, 11))),
        plus(mul(2, away(x[8]!, 10)), away(x[9]!, 7)),
      ),
    undefined,
    (x) => [
      line(x, [4, 5, 0, 0, 0, 0, -3, 9], -105),
      line(x, [10, -8, 0, 0, 0, 0, -17, 2]),
      line(x, [-8, 2, 0, 0, 0, 0, 0, 0, 5, -2], -12),
      plus(mul(3, away(x[0]!, 2)), mul(4, away(x[1]!, 3)), mul(2, square(x[2]!)), mul(-7, x[3]!), -120),
      plus(mul(5, square(x[0]!)), away(x[2]!, 6), line(x, [0, 8, 0, -2], -40)),
      plus(mul(0.5, away(x[0]!, 8)), mul(2, away(x[1]!, 4)), mul(3, square(x[4]!)), mul(-1, x[5]!), -30),
      plus(square(x[0]!), mul(2, away(x[1]!, 2)), times(-2, x[0]!, x[1]!), line(x, [0, 0, 0, 0, 14, -6])),
      plus(line(x, [-3, 6, 0, 0, 0, 0, 0, 0, 0, -7]), mul(12, away(x[8]!, 8))),
    ],
  ),
}
/** The bounds of a problem; undefined where it has none. */
export const boundsOf = ({ lower, upper }: HsProblem): { lower?: number[]; upper?: number[] } | undefined => {
  if (lower === null && upper === null) return undefined
  return {
    ...(lower === null ? {} : { lower: lower.map((v) => v ?? Number.NEGATIVE_INFINITY) }),
    ...(upper === null ? {} : { upper: upper.map((v) => v ?? Number.POSITIVE_INFINITY) }),
  }
}
