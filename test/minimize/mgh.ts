// The problems of Moré, Garbow and Hillstrom: residuals; starting points, data, the paper's minima and SciPy's results are in mgh.json.
import { readFileSync } from 'node:fs'
import {
  type AnyExpr,
  abs,
  add,
  at,
  atan,
  concat,
  cos,
  cumsum,
  div,
  exp,
  lt,
  matmul,
  mean,
  mul,
  neg,
  pow,
  prod,
  reshape,
  sin,
  sqrt,
  square,
  stack,
  sub,
  sum,
  type Tensor,
  tensor,
  where,
} from '../../src/index.js'

/** What an operation takes. */
type Operand = AnyExpr | Tensor | number | readonly number[]
/** What one of SciPy's methods reached, and how often it evaluated the function. */
export interface Reached {
  readonly value: number
  readonly evaluations: number
}
/** One problem; values are sums of squares. */
export interface MghProblem {
  readonly name: string
  readonly start: readonly number[]
  readonly residuals: readonly number[]
  /** The paper's: of the solution first, then of other local minima and limits. */
  readonly minima: readonly number[]
  readonly data?: readonly number[]
  readonly lbfgs: Reached & { readonly reached: number }
  readonly newton: Reached & { readonly gradients: number; readonly products: number }
  readonly leastsq: Reached & { readonly jacobians: number }
  readonly bounded: Reached & { readonly reached: number; readonly lower: readonly number[]; readonly upper: readonly number[] }
}
export const mgh = JSON.parse(readFileSync(new URL('mgh.json', import.meta.url), 'utf8')) as readonly MghProblem[]
const dataOf = (name: string): Tensor => tensor([...mgh.find((p) => p.name === name)!.data!])

const range = (m: number, f: (i: number) => number): Tensor<[number]> => tensor(Array.from({ length: m }, (_, k) => f(k + 1)))
const table = (m: number, n: number, f: (i: number, j: number) => number): Tensor =>
  tensor(Array.from({ length: m }, (_, i) => Array.from({ length: n }, (_, j) => f(i + 1, j + 1))))
const entries = (x: AnyExpr): AnyExpr[] => Array.from({ length: x.shape[0]! }, (_, k) => at(x, k) as AnyExpr)
const join = (...parts: Operand[]): AnyExpr => concat(parts.map((p) => reshape(p, [-1])) as AnyExpr[]) as AnyExpr
const column = (parts: readonly Operand[]): AnyExpr => reshape(stack(parts as AnyExpr[], { axis: 1 }), [-1]) as AnyExpr
/** The vector with a 0 before and after. */
const padded = (x: AnyExpr): AnyExpr => join([0], x, [0])

type Residuals = (x: AnyExpr) => AnyExpr
const of =
  (f: (x: readonly AnyExpr[]) => Operand | readonly Operand[]): Residuals =>
  (x) => {
    const r = f(entries(x))
    return Array.isArray(r) ? join(...(r as Operand[])) : (r as AnyExpr)
  }

const rosenbrock: Residuals = (x) => {
  const [odd, even] = [at(x, '::2'), at(x, '1::2')]
  return column([mul(10, sub(even, square(odd))), sub(1, odd)])
}
const powellSingular: Residuals = (x) => {
  const [a, b, c, d] = [at(x, '::4'), at(x, '1::4'), at(x, '2::4'), at(x, '3::4')]
  return column([add(a, mul(10, b)), mul(Math.sqrt(5), sub(c, d)), square(sub(b, mul(2, c))), mul(Math.sqrt(10), square(sub(a, d)))])
}
const watson: Residuals = (x) => {
  const n = x.shape[0]!
  const slopes = table(29, n, (i, j) => (j === 1 ? 0 : (j - 1) * (i / 29) ** (j - 2)))
  const powers = table(29, n, (i, j) => (i / 29) ** (j - 1))
  const [x1, x2] = [at(x, 0), at(x, 1)]
  return join(sub(sub(matmul(slopes, x), square(matmul(powers, x))), 1), x1, sub(sub(x2, square(x1)), 1))
}
const penalty1: Residuals = (x) => join(mul(Math.sqrt(1e-5), sub(x, 1)), sub(sum(square(x)), 0.25))
const penalty2: Residuals = (x) => {
  const n = x.shape[0]!
  const y = range(n - 1, (i) => Math.exp((i + 1) / 10) + Math.exp(i / 10))
  const e = exp(div(x, 10))
  const later = at(e, '1:')
  return join(
    sub(at(x, 0), 0.2),
    mul(Math.sqrt(1e-5), sub(add(later, at(e, ':-1')), y)),
    mul(Math.sqrt(1e-5), sub(later, Math.exp(-0.1))),
    sub(
      sum(
        mul(
          range(n, (i) => n - i + 1),
          square(x),
        ),
      ),
      1,
    ),
  )
}
const variablyDimensioned: Residuals = (x) => {
  const away = sub(x, 1)
  const s = sum(
    mul(
      range(x.shape[0]!, (i) => i),
      away,
    ),
  )
  return join(away, s, square(s))
}
const trigonometric: Residuals = (x) => {
  const n = x.shape[0]!
  const c = cos(x)
  return sub(
    add(
      sub(n, sum(c)),
      mul(
        range(n, (i) => i),
        sub(1, c),
      ),
    ),
    sin(x),
  )
}
const brownAlmostLinear: Residuals = (x) => join(sub(add(at(x, ':-1'), sum(x)), x.shape[0]! + 1), sub(prod(x), 1))
const boundaryValue: Residuals = (x) => {
  const n = x.shape[0]!
  const h = 1 / (n + 1)
  const p = padded(x)
  const cube = pow(
    add(
      x,
      range(n, (i) => i * h + 1),
    ),
    3,
  )
  return add(sub(mul(2, x), add(at(p, ':-2'), at(p, '2:'))), mul((h * h) / 2, cube))
}
const integralEquation: Residuals = (x) => {
  const n = x.shape[0]!
  const t = range(n, (i) => i / (n + 1))
  const cubes = pow(add(add(x, t), 1), 3)
  const below = cumsum(mul(t, cubes))
  const above = mul(sub(1, t), cubes)
  return add(x, div(add(mul(sub(1, t), below), mul(t, sub(sum(above), cumsum(above)))), 2 * (n + 1)))
}
const broydenTridiagonal: Residuals = (x) => {
  const p = padded(x)
  return add(sub(sub(mul(sub(3, mul(2, x)), x), at(p, ':-2')), mul(2, at(p, '2:'))), 1)
}
const broydenBanded: Residuals = (x) => {
  const band = table(x.shape[0]!, x.shape[0]!, (i, j) => (j !== i && j >= i - 5 && j <= i + 1 ? 1 : 0))
  return sub(add(mul(x, add(2, mul(5, square(x)))), 1), matmul(band, mul(x, add(1, x))))
}
const linearFull =
  (m: number): Residuals =>
  (x) =>
    sub(sub(join(x, new Array(m - x.shape[0]!).fill(0)), mul(2 / m, sum(x))), 1)
const linearRank1: Residuals = (x) =>
  sub(
    mul(
      range(20, (i) => i),
      sum(
        mul(
          range(x.shape[0]!, (i) => i),
          x,
        ),
      ),
    ),
    1,
  )
const linearRank1Zeros: Residuals = (x) => {
  const n = x.shape[0]!
  const weights = range(n, (j) => (j === 1 || j === n ? 0 : j))
  return sub(
    mul(
      range(20, (i) => (i === 20 ? 0 : i - 1)),
      sum(mul(weights, x)),
    ),
    1,
  )
}
const chebyquad: Residuals = (x) => {
  const y = sub(mul(2, x), 1)
  let [before, now]: [Operand, AnyExpr] = [1, y]
  const rows: AnyExpr[] = []
  for (let i = 1; i <= x.shape[0]!; i++) {
    rows.push(add(mean(now), i % 2 === 0 ? 1 / (i * i - 1) : 0))
    ;[before, now] = [now, sub(mul(mul(2, y), now), before)]
  }
  return join(...rows)
}

const tenths = (m: number): Tensor<[number]> => range(m, (i) => i / 10)
const decay = (rate: Operand, t: Operand): AnyExpr => exp(neg(mul(t, rate)))
const families: Readonly<Record<string, Residuals>> = {
  rosenbrock,
  freudensteinRoth: of(([a, b]) => [
    add(add(-13, a!), mul(sub(mul(sub(5, b!), b!), 2), b!)),
    add(add(-29, a!), mul(sub(mul(add(b!, 1), b!), 14), b!)),
  ]),
  powellBadlyScaled: of(([a, b]) => [sub(mul(mul(1e4, a!), b!), 1), sub(add(exp(neg(a!)), exp(neg(b!))), 1.0001)]),
  brownBadlyScaled: of(([a, b]) => [sub(a!, 1e6), sub(b!, 2e-6), sub(mul(a!, b!), 2)]),
  beale: of(([a, b]) => sub([1.5, 2.25, 2.625], mul(a!, sub(1, pow(b!, [1, 2, 3]))))),
  jennrichSampson: of(([a, b]) => {
    const i = range(10, (k) => k)
    return sub(add(2, mul(2, i)), add(exp(mul(i, a!)), exp(mul(i, b!))))
  }),
  helicalValley: of(([a, b, c]) => {
    const theta = add(div(atan(div(b!, a!)), 2 * Math.PI), where(lt(a!, 0), 0.5, 0))
    return [mul(10, sub(c!, mul(10, theta))), mul(10, sub(sqrt(add(square(a!), square(b!))), 1)), c!]
  }),
  bard: of(([a, b, c]) => {
    const u = range(15, (i) => i)
    const [v, w] = [range(15, (i) => 16 - i), range(15, (i) => Math.min(i, 16 - i))]
    return sub(dataOf('bard'), add(a!, div(u, add(mul(v, b!), mul(w, c!)))))
  }),
  gaussian: of(([a, b, c]) =>
    sub(
      mul(
        a!,
        exp(
          mul(
            div(b!, -2),
            square(
              sub(
                range(15, (i) => (8 - i) / 2),
                c!,
              ),
            ),
          ),
        ),
      ),
      dataOf('gaussian'),
    ),
  ),
  meyer: of(([a, b, c]) =>
    sub(
      mul(
        a!,
        exp(
          div(
            b!,
            add(
              range(16, (i) => 45 + 5 * i),
              c!,
            ),
          ),
        ),
      ),
      dataOf('meyer'),
    ),
  ),
  gulf: of(([a, b, c]) => {
    const t = range(99, (i) => i / 100)
    const y = range(99, (i) => 25 + (-50 * Math.log(i / 100)) ** (2 / 3))
    return sub(exp(neg(div(pow(abs(sub(y, b!)), c!), a!))), t)
  }),
  box3: of(([a, b, c]) => {
    const t = tenths(10)
    return sub(sub(decay(a!, t), decay(b!, t)), mul(c!, sub(decay(1, t), decay(10, t))))
  }),
  powellSingular,
  wood: of(([a, b, c, d]) => [
    mul(10, sub(b!, square(a!))),
    sub(1, a!),
    mul(Math.sqrt(90), sub(d!, square(c!))),
    sub(1, c!),
    mul(Math.sqrt(10), sub(add(b!, d!), 2)),
    div(sub(b!, d!), Math.sqrt(10)),
  ]),
  kowalikOsborne: of(([a, b, c, d]) => {
    const u = tensor([4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625])
    return sub(dataOf('kowalikOsborne'), div(mul(a!, add(square(u), mul(u, b!))), add(add(square(u), mul(u, c!)), d!)))
  }),
  brownDennis: of(([a, b, c, d]) => {
    const t = range(20, (i) => i / 5)
    return add(square(sub(add(a!, mul(t, b!)), exp(t))), square(sub(add(c!, mul(d!, sin(t))), cos(t))))
  }),
  osborne1: of(([a, b, c, d, e]) => {
    const t = range(33, (i) => 10 * (i - 1))
    return sub(dataOf('osborne1'), add(a!, add(mul(b!, decay(d!, t)), mul(c!, decay(e!, t)))))
  }),
  biggs: of(([a, b, c, d, e, f]) => {
    const t = tenths(13)
    const y = add(sub(decay(1, t), mul(5, decay(10, t))), mul(3, decay(4, t)))
    return sub(add(sub(mul(c!, decay(a!, t)), mul(d!, decay(b!, t))), mul(f!, decay(e!, t))), y)
  }),
  osborne2: of((x) => {
    const t = range(65, (i) => (i - 1) / 10)
    const bump = (a: number, b: number, c: number): AnyExpr => mul(x[a]!, decay(x[b]!, square(sub(t, x[c]!))))
    return sub(dataOf('osborne2'), add(add(mul(x[0]!, decay(x[4]!, t)), bump(1, 5, 8)), add(bump(2, 6, 9), bump(3, 7, 10))))
  }),
  watson,
  extendedRosenbrock: rosenbrock,
  extendedPowell: powellSingular,
  penalty1of: penalty1,
  penalty2of: penalty2,
  variablyDimensioned,
  trigonometric,
  brownAlmostLinear,
  boundaryValue,
  integralEquation,
  broydenTridiagonal,
  broydenBanded,
  linearFull5of: linearFull(10),
  linearFull10of: linearFull(50),
  linearRank1of: linearRank1,
  linearRank1Zeros,
  chebyquad,
}
/** The residuals of a problem; the number at the end of a name is a dimension. */
export const residualsOf = ({ name }: MghProblem): Residuals => families[name] ?? families[name.replace(/\d+$/, '')]!
