/** Nonlinear least squares: Gauss-Newton and Levenberg-Marquardt, their linear problems solved by QR in the same program. */
import { badInput } from '../core/errors/explain.js'
import { type OptionsOf, readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  add,
  concat,
  diag,
  div,
  eq,
  expandDims,
  type Float,
  jacfwd,
  jacrev,
  lt,
  minimum,
  mul,
  neg,
  reshape,
  slice,
  sqrt,
  square,
  sub,
  sum,
  where,
  zeros,
} from '../index.js'
import { type Accepted, type Flat, flat, type Minimiser, sizeOfFloats, typedMinimiser } from './minimiser.js'
import { amount } from './rate.js'
import { type Count, countOf, type FloatArray, filled, kindOf } from './state.js'
import { countIn, partOf } from './transformation.js'

const column = (x: AnyExpr, rows: number, from: number, to: number): AnyExpr => slice(x, [0, from], [rows, to])

/**
 * The x that makes |A x - b| least, by modified Gram-Schmidt on [A | b], which is backward stable for least squares; a column that is 0
 * (or becomes it) gets x_j = 0. One step for each column, and all of a step at once.   Source  Bjorck 1967.
 */
export const leastSquares = (a: AnyExpr, b: AnyExpr): AnyExpr => {
  const [rows, n] = a.shape as [number, number]
  let rest = concat([a, reshape(b, [rows, 1])], { axis: 1 }) as AnyExpr
  const r: { readonly norm: AnyExpr; readonly row: AnyExpr }[] = []
  for (let j = 0; j < n; j++) {
    const width = n - j
    const head = reshape(column(rest, rows, 0, 1), [rows])
    const tail = column(rest, rows, 1, width + 1)
    const norm = sqrt(sum(square(head))) as AnyExpr
    const q = expandDims(div(head, where(eq(norm, 0), 1, norm)), 1) as AnyExpr
    const row = sum(mul(q, tail), { axis: 0 }) as AnyExpr
    r.push({ norm, row })
    rest = sub(tail, mul(q, expandDims(row, 0))) as AnyExpr
  }
  let x = zeros([0], a.dtype) as AnyExpr
  for (let j = n - 1; j >= 0; j--) {
    const { norm, row } = r[j]!
    const width = n - 1 - j
    const right = sub(reshape(slice(row, [width], [width + 1]), []), sum(mul(slice(row, [0], [width]), x)))
    const xj = where(eq(norm, 0), 0, div(right, where(eq(norm, 0), 1, norm)))
    x = concat([reshape(xj, [1]), x]) as AnyExpr
  }
  return x
}

/** The residual as a vector, its Jacobian in the cheaper direction, and half its square. */
const linearised = (at: Flat, op: string) => {
  const residual = (v: AnyExpr): AnyExpr => reshape(at.f(v), [-1])
  const r = residual(at.at)
  const [m, n] = [r.shape[0]!, at.at.shape[0]!]
  if (n === 0) badInput(op, 'the parameters hold no floats.')
  const j = (n <= m ? jacfwd : jacrev)(residual)(at.at) as AnyExpr
  return { residual, r, j, value: half(r) }
}
const half = (r: AnyExpr): AnyExpr => mul(0.5, sum(square(r)))

/** The state of `gaussNewton`. */
export interface GaussNewtonState {
  readonly count: Count
}
/**
 * Gauss-Newton for residuals r(params): p' = p + dp, where dp minimises |J dp + r|; `value` is |r|^2 / 2.
 *
 * J is dense, and the program has a step for each parameter: use it for tens of parameters, not for thousands. J should have full column
 * rank; `levenbergMarquardt` does not require that.   Source  Nocedal and Wright 2006, 10.3.
 * @example evaluate(gaussNewton().step((x) => sub(mul(2, x), [2, 6]), tensor([0, 0]), gaussNewton().init(tensor([0, 0]))).params)   // [1, 3]
 */
export const gaussNewton = (): Minimiser<GaussNewtonState, AnyExpr> =>
  typedMinimiser<GaussNewtonState, AnyExpr>({
    init: (params) => ({ count: countOf(kindOf(params, 'gaussNewton')) }),
    step: (f, params, state) => {
      const count = countIn(state, 'gaussNewton')
      const at = flat(f, params, 'gaussNewton')
      const { r, j, value } = linearised(at, 'gaussNewton')
      return { params: at.back(add(at.at, leastSquares(j, neg(r)))), state: { count: add(count, 1) }, value }
    },
  })

export const levenbergMarquardtOptions = {
  /** The damping to begin with: 1e-3 unless given. */
  damping: amount(1e-3),
  /** A step that does not lower the value multiplies the damping by this: 10 unless given. */
  dampingIncrease: amount(10, 1),
  /** A step that does divides it by this: 10 unless given. */
  dampingDecrease: amount(10, 1),
}
/** The damping beyond which a step would be lost in the rounding of the parameters, and with it the way back once the residuals are others: eps^-0.8. */
const MOST = { f64: 3e12, f32: 3e5 } as const
/** Options of `levenbergMarquardt`. */
export type LevenbergMarquardtOptions = OptionsOf<typeof levenbergMarquardtOptions>
/** The state of `levenbergMarquardt`. */
export interface LevenbergMarquardtState {
  readonly count: Count
  readonly damping: FloatArray<[]>
}
/**
 * Levenberg-Marquardt for residuals r(params): dp minimises |J dp + r|^2 + damping |D dp|^2, D the norms of J's columns (1 for 0).
 *
 * If the step lowers |r|^2 it is taken, and the damping is lowered; otherwise the parameters stay, and the damping is raised: `accepted` tells the two cases apart. At the minimum
 * no step is taken any more, and the damping ends at eps^-0.8. `value` is |r|^2 / 2 at the given parameters. J is dense, as in `gaussNewton`.   Source  Marquardt 1963; More 1978.
 * @example evaluate(levenbergMarquardt({ damping: 0 }).step((x) => sub(mul(2, x), [2, 6]), tensor([0, 0]), levenbergMarquardt({ damping: 0 }).init(tensor([0, 0]))).params)   // [1, 3]
 */
export const levenbergMarquardt = (options?: LevenbergMarquardtOptions): Minimiser<LevenbergMarquardtState, AnyExpr, Accepted> => {
  const op = 'levenbergMarquardt'
  const { damping: first, dampingIncrease: up, dampingDecrease: less } = readOptions(levenbergMarquardtOptions, options, op)
  return typedMinimiser<LevenbergMarquardtState, AnyExpr, Accepted>({
    init: (params) => {
      const kind = kindOf(params, op)
      return { count: countOf(kind), damping: filled(kind, [], first, sizeOfFloats(params, kind, op).dtype) }
    },
    step: (f, params, state) => {
      const count = countIn(state, op)
      const damping = partOf(state, 'damping', op) as AnyExpr
      const at = flat(f, params, op)
      const { residual, r, j, value } = linearised(at, op)
      const norms = sqrt(sum(square(j), { axis: 0 })) as AnyExpr
      const d = mul(sqrt(damping), where(eq(norms, 0), 1, norms)) as AnyExpr
      const n = norms.shape[0]!
      const dp = leastSquares(concat([j, diag(d)]) as AnyExpr, concat([neg(r), zeros([n], r.dtype as Float)]) as AnyExpr)
      const there = add(at.at, dp) as AnyExpr
      const better = lt(half(residual(there)), value)
      return {
        params: at.back(where(better, there, at.at)),
        state: { count: add(count, 1), damping: where(better, div(damping, less), minimum(mul(damping, up), MOST[r.dtype as Float])) },
        value,
        accepted: better,
      }
    },
  })
}
