/** Runge-Kutta steps: classical of order 4, and Dormand and Prince's of order 5 with its error and its interpolant. */
import { type AnyExpr, add, concat, matmul, mul, reshape } from '../index.js'

/** dy/dt at a time and a state. */
export type Slope = (t: AnyExpr, y: AnyExpr) => AnyExpr

const plus = (x: AnyExpr | number, y: AnyExpr): AnyExpr => add(x, y) as AnyExpr
const times = (a: AnyExpr | number, x: AnyExpr | number): AnyExpr => mul(a, x) as AnyExpr
/** y + h sum w_i k_i; a weight of 0 costs nothing. */
const moved = (y: AnyExpr, h: AnyExpr, weights: readonly number[], ks: readonly AnyExpr[]): AnyExpr => {
  const terms = weights.flatMap((w, i) => (w === 0 ? [] : [times(w, ks[i]!)]))
  return terms.length === 0
    ? y
    : plus(
        y,
        times(
          h,
          terms.reduce((a, b) => plus(a, b)),
        ),
      )
}

/** A method whose steps are as long as their error allows, as a value, so that a bundle has those that its program names. */
export interface OdeMethod {
  readonly _tag: 'OdeMethod'
  readonly name: string
  /** Of expressions that are vectors. */
  readonly step: Method
}

/** The classical method of order 4. */
export const rk4 = (f: Slope, t: AnyExpr, y: AnyExpr, h: AnyExpr): AnyExpr => {
  const half = plus(t, times(0.5, h))
  const k1 = f(t, y)
  const k2 = f(half, moved(y, h, [0.5], [k1]))
  const k3 = f(half, moved(y, h, [0.5], [k2]))
  const k4 = f(plus(t, h), moved(y, h, [1], [k3]))
  return moved(y, h, [1 / 6, 1 / 3, 1 / 3, 1 / 6], [k1, k2, k3, k4])
}

/** The nodes and weights of Dormand and Prince's pair.   Source  Hairer, Norsett and Wanner 1993, II.5. */
const nodes = [0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1]
const stages: readonly (readonly number[])[] = [
  [],
  [1 / 5],
  [3 / 40, 9 / 40],
  [44 / 45, -56 / 15, 32 / 9],
  [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
  [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
]
const weights = [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]
/** The weights of order 5 less those of order 4. */
const errors = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]
/** The interpolant's weights: of each slope a polynomial from theta to theta^4.   Source  Shampine 1986. */
const interpolant: readonly (readonly number[])[] = [
  [1, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
  [0, 0, 0, 0],
  [0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
  [0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
  [0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
  [0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
  [0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423],
]

/** A step whose error is known: where it leads, the slope there, its error, and the states at shares theta [T] of it, [T, n]. */
export interface Step {
  readonly y: AnyExpr
  readonly slope: AnyExpr
  readonly error: AnyExpr
  readonly between: (theta: AnyExpr) => AnyExpr
}
/** A step from y, where the slope k is known. */
export type Method = (f: Slope, t: AnyExpr, y: AnyExpr, k: AnyExpr, h: AnyExpr) => Step
/** A step of Dormand and Prince, of order 5. */
export const dopri5: Method = (f, t, y, k, h) => {
  const ks: AnyExpr[] = [k]
  for (let i = 1; i < stages.length; i++) ks.push(f(plus(t, times(nodes[i]!, h)), moved(y, h, stages[i]!, ks)))
  const next = moved(y, h, weights, ks)
  const slope = f(plus(t, h), next)
  ks.push(slope)
  const zero = times(0, y)
  return { y: next, slope, error: moved(zero, h, errors, ks), between: (theta) => between(y, ks, h, theta) }
}
/** Between the ends of a step: at the shares theta [T] of it, the states [T, n]; of order 4. */
const between = (y: AnyExpr, ks: readonly AnyExpr[], h: AnyExpr, theta: AnyExpr): AnyExpr => {
  const [count, n] = [theta.shape[0]!, y.shape[0]!]
  const used = ks.map((k, i) => ({ k, coefficients: interpolant[i]! })).filter(({ coefficients }) => coefficients.some((c) => c !== 0))
  const weightsAt = used.map(({ coefficients }) => {
    const p = coefficients.reduceRight<AnyExpr | undefined>((sum, c) => times(theta, sum === undefined ? c : plus(c, sum)), undefined)
    return reshape(p!, [count, 1]) as AnyExpr
  })
  const slopes = used.map(({ k }) => reshape(k, [1, n]) as AnyExpr)
  const moves = matmul(concat(weightsAt as never, { axis: 1 }) as AnyExpr, concat(slopes as never) as AnyExpr) as AnyExpr
  return plus(reshape(y, [1, n]) as AnyExpr, times(h, moves))
}
