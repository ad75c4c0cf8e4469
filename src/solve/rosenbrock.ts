/** Steps for stiff equations: linearly implicit Runge-Kutta, whose stages are linear systems with the Jacobian of f. */
import {
  type AnyExpr,
  add,
  div,
  eye,
  jacfwd,
  jvp,
  lu,
  mul,
  reshape,
  sparseJacobian,
  sparsity,
  sub,
  take,
  toDense,
  triangularSolve,
} from '../index.js'
import type { Method, OdeMethod } from './runge-kutta.js'

const as = (x: unknown): AnyExpr => x as AnyExpr
/** w_0 x_0 + w_1 x_1 + ...; a weight of 0 costs nothing. */
const combined = (weights: readonly number[], xs: readonly AnyExpr[]): AnyExpr | undefined => {
  const terms = weights.flatMap((w, i) => (w === 0 ? [] : [as(w === 1 ? xs[i] : mul(w, xs[i]!))]))
  return terms.length === 0 ? undefined : terms.reduce((a, b) => as(add(a, b)))
}
const plus = (x: AnyExpr, more: AnyExpr | undefined): AnyExpr => (more === undefined ? x : as(add(x, more)))

/** The coefficients of Rodas5P, of order 5 with an error of order 4 and an interpolant of order 4, L-stable and stiffly accurate.   Source  Steinebach 2023. */
const GAMMA = 0.21193756319429014
const A: readonly (readonly number[])[] = [
  [],
  [3.0],
  [2.849394379747939, 0.45842242204463923],
  [-6.954028509809101, 2.489845061869568, -10.358996098473584],
  [2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641],
  [-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946],
]
const C: readonly (readonly number[])[] = [
  [],
  [-14.155112264123755],
  [-17.97296035885952, -2.859693295451294],
  [147.12150275711716, -1.41221402718213, 71.68940251302358],
  [165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306],
  [24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471],
  [30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623, -28.087943162872662],
  [37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002, -54.66780262877968, -9.48861652309627],
]
const NODES = [0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1, 1, 1]
/** Of the slope in time. */
const D = [0.21193756319429014, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734, 2.325825639765069, 0, 0, 0]
const H: readonly (readonly number[])[] = [
  [25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204, 0.524948541321073, 1.1241088310450404, 0.4272876194431874, -0.17202221070155493],
  [-9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796, 20.176138334709044, 15.98066361424651, -6.789040303419874, -6.710236069923372],
  [11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643, -52.072871366152654, -59.78993625266729, -0.15582684282751913, 4.883087185713722],
] // biome-ignore format: a row of weights

/** The Jacobian of f in y: by one product for each colour of its columns where these are fewer than its columns. */
const jacobianOf = (f: (y: AnyExpr) => AnyExpr, y: AnyExpr): AnyExpr => {
  const n = y.shape[0]!
  const { colours } = sparsity(f as never)(y as never) as unknown as { readonly colours: number }
  return as(
    colours < n ? toDense(sparseJacobian(f as never)(y as never) as never) : (jacfwd(f as never) as unknown as (y: AnyExpr) => AnyExpr)(y),
  )
}

const step: Method = (f, t, y, k, h) => {
  const n = y.shape[0]!
  const jacobian = jacobianOf((x) => f(t, x), y)
  const inTime = (jvp(((s: AnyExpr) => f(s, y)) as never) as unknown as (t: AnyExpr, dt: AnyExpr) => readonly [AnyExpr, AnyExpr])(t, as(add(mul(0, t), 1)))[1] // biome-ignore format: one product
  const identity = as(mul(div(1, mul(GAMMA, h)), as(eye(n, y.dtype as 'f64'))))
  const { p, l, u } = lu(as(sub(identity, jacobian)) as never) as unknown as Readonly<Record<'p' | 'l' | 'u', AnyExpr>>
  const column = (x: AnyExpr): AnyExpr => as(reshape(x, [n, 1]))
  const solved = (b: AnyExpr): AnyExpr =>
    as(
      reshape(
        triangularSolve(u as never, triangularSolve(l as never, column(as(take(b, p as never))) as never, { lower: true }) as never, {
          lower: false,
        }),
        [n],
      ),
    )
  const ks: AnyExpr[] = []
  let state = y
  for (let i = 0; i < C.length; i++) {
    // The last stages go on from the one before: of the last of all, what it adds is the error.
    state = i < A.length ? plus(y, combined(A[i]!, ks)) : as(add(state, ks[i - 1]!))
    const slope = i === 0 ? k : f(as(add(t, mul(NODES[i]!, h))), state)
    const moved = combined(C[i]!, ks)
    const whole = plus(slope, moved === undefined ? undefined : as(div(moved, h)))
    ks.push(solved(D[i] === 0 ? whole : as(add(whole, mul(mul(D[i]!, h), inTime)))))
  }
  const error = ks[ks.length - 1]!
  const next = as(add(state, error))
  const row = (x: AnyExpr): AnyExpr => as(reshape(x, [1, n]))
  return {
    y: next,
    error,
    slope: f(as(add(t, h)), next),
    between: (theta) => {
      const s = as(reshape(theta, [-1, 1]))
      const rest = as(sub(1, s))
      const [d1, d2, d3] = H.map((weights) => row(combined(weights, ks)!)) as [AnyExpr, AnyExpr, AnyExpr]
      const inside = add(d1, mul(s, add(d2, mul(s, d3))))
      return as(add(mul(rest, row(y)), mul(s, add(row(next), mul(rest, inside)))))
    },
  }
}
/**
 * The method for stiff equations: Rodas5P, of order 5 with an interpolant of order 4, L-stable and stiffly accurate. Each step solves eight linear systems with the exact Jacobian of f, a full matrix.
 *
 * Source  Steinebach 2023.
 * @example
 * // y' = -1000 (y - 1), in long steps
 * evaluate(odeint((_t, y) => mul(-1000, sub(y, 1)), tensor(0), [0, 10], {}, { method: rodas5P }).ys)   // [0, 1]
 */
export const rodas5P: OdeMethod = { _tag: 'OdeMethod', name: 'rodas5P', step }
