/** Optimisers that know matrices: adafactor, muon and shampoo. Other leaves are taken number by number. */
import { type OptionsOf, or, readOptions } from '../core/errors/options.js'
import {
  type AnyExpr,
  add,
  div,
  eigh,
  eye,
  matmul,
  maximum,
  mean,
  minimum,
  mul,
  pow,
  reshape,
  rsqrt,
  sqrt,
  square,
  sum,
  transpose,
} from '../index.js'
import { adamOptions, averaged, common, moments } from './optimisers.js'
import { amount, type Rate, rateOf, share, upToOne, whole } from './rate.js'
import { type ShapeFor, shapedBy } from './shaped.js'
import type { Count, LikeParams, LikeShapes } from './state.js'
import { down, leafwiseAs, type Slot, type Transformation } from './transformation.js'

const isMatrix = (shape: readonly number[]): boolean => shape.length === 2
/** The root of the mean of squares. */
const rms = (x: AnyExpr): AnyExpr => sqrt(mean(square(x)))
/** `shapeFor` of leaves that take part, a scalar for the others: it stays 0. */
const onlyOf = (takes: (shape: readonly number[]) => boolean, shapeFor: ShapeFor): Slot =>
  shapedBy((shape) => (takes(shape) ? shapeFor(shape) : []))

export const adafactorOptions = {
  /** A number, a scalar expression, or a schedule: min(0.01, 1 / sqrt(t)) unless given. */
  learningRate: or<unknown, undefined, Rate>(undefined, rateOf),
  /** How fast the means of squares forget: they keep 1 - t^-decay; 0.8 unless given. */
  decay: amount(0.8),
  /** Added to squares: 1e-30 unless given. */
  eps: amount(1e-30),
  /** The least size of parameters by which the rate is scaled: 1e-3 unless given. */
  minScale: amount(1e-3),
  /** The largest root mean square of a step before its rate: 1 unless given. */
  clip: amount(1),
  /** Decoupled weight decay:  0 unless given. */
  weightDecay: amount(0),
}
/** Options of `adafactor`. */
export interface AdafactorOptions extends OptionsOf<typeof adafactorOptions> {}
/** The state of `adafactor`: the means of squares of rows and columns, and of each number where a leaf is not factored. */
export interface AdafactorState {
  readonly count: Count
  readonly rows: LikeShapes
  readonly columns: LikeShapes
  readonly v: LikeShapes
}
const factored = (shape: readonly number[]): boolean => shape.length >= 2
/**
 * Adafactor: Adam with the mean of squares approximated by those of each row and each column, so that a matrix [n, m] keeps n + m numbers: V = R C /
 * mean(R), U = g / sqrt(V), p' = p - rate max(minScale, rms(p)) U / max(1, rms(U) / clip). For leaves of rank 2 and more the last two axes are factored.
 *
 * Source  Shazeer and Stern 2018, algorithms 4 and 5, with their defaults.
 * @example evaluate(adafactor({ learningRate: 0.5 }).update(tensor([[3, 3]]), adafactor().init(tensor([[2, 2]])), tensor([[2, 2]])).updates)   // [[-1, -1]]
 */
export const adafactor = (options?: AdafactorOptions): Transformation<AdafactorState> => {
  const o = readOptions(adafactorOptions, options, 'adafactor')
  const slots = {
    rows: onlyOf(factored, (s) => s.slice(0, -1)),
    columns: onlyOf(factored, (s) => [...s.slice(0, -2), s.at(-1)!]),
    v: onlyOf(
      (s) => !factored(s),
      (s) => s,
    ),
  }
  return leafwiseAs<AdafactorState, keyof typeof slots>('adafactor', slots, (at) => {
    const { g, slots: held } = at
    const steps = at.rate((count: AnyExpr) => add(count, 1))
    const rate = o.learningRate === undefined ? minimum(0.01, rsqrt(steps)) : at.rate(o.learningRate)
    const fresh = pow(steps, -o.decay)
    const squares = add(square(g), o.eps)
    const next = (before: AnyExpr, x: AnyExpr): AnyExpr => add(before, mul(fresh, add(x, mul(-1, before))))
    const step = (u: AnyExpr): AnyExpr => {
      const p = at.p()
      const size = mul(rate, maximum(o.minScale, rms(p)))
      const update = down(div(size, maximum(1, div(rms(u), o.clip))), u)
      return o.weightDecay === 0 ? update : add(update, down(mul(rate, o.weightDecay), p))
    }
    if (!factored(g.shape)) {
      const v = next(held.v, squares)
      return { update: step(div(g, sqrt(v))), slots: { ...held, v } }
    }
    const rows = next(held.rows, mean(squares, { axis: -1 }))
    const columns = next(held.columns, mean(squares, { axis: -2 }))
    // Roots first: the product of two means may be below what f32 holds.
    const rowRoot = sqrt(div(rows, mean(rows, { axis: -1, keepdims: true })))
    const u = div(div(g, expandLast(rowRoot)), expandRow(sqrt(columns)))
    return { update: step(u), slots: { ...held, rows, columns } }
  })
}
const expandLast = (x: AnyExpr): AnyExpr => reshape(x, [...x.shape, 1])
const expandRow = (x: AnyExpr): AnyExpr => reshape(x, [...x.shape.slice(0, -1), 1, x.shape.at(-1)!])

export const muonOptions = {
  ...common,
  /** The share of the momentum that stays: 0.95 unless given. */
  momentum: share(0.95),
  /** Steps of Newton's iteration: 5 unless given. */
  iterations: whole(1, 5),
  /** Decoupled weight decay:  0 unless given. */
  weightDecay: amount(0),
  /** The rate for leaves that are not matrices, which take the step of adamw: `learningRate` unless given. */
  adamLearningRate: or<unknown, undefined, Rate>(undefined, rateOf),
  b1: adamOptions.b1,
  b2: adamOptions.b2,
  eps: adamOptions.eps,
}
/** Options of `muon`. */
export interface MuonOptions extends OptionsOf<typeof muonOptions> {}
/** The state of `muon`: the momentum, and the mean of squares for a leaf that is not a matrix. */
export interface MuonState {
  readonly count: Count
  readonly m: LikeParams
  readonly v: LikeShapes
}
/** About U V^T of a matrix U S V^T: singular values between 0.7 and 1.2, by an odd polynomial of degree 5 (Jordan 2024). */
const orthogonalised = (g: AnyExpr, iterations: number): AnyExpr => {
  const tall = g.shape[0]! > g.shape[1]!
  const wide = tall ? transpose(g) : g
  let x = div(wide, add(sqrt(sum(square(wide))), 1e-7))
  for (let i = 0; i < iterations; i++) {
    const a = matmul(x, transpose(x))
    x = add(mul(3.4445, x), matmul(add(mul(-4.775, a), mul(2.0315, matmul(a, a))), x))
  }
  return tall ? transpose(x) : x
}
/**
 * Muon: momentum whose steps are made orthogonal: m' = momentum m + g, p' = p - learningRate (sqrt(max(1, rows / columns)) O(g + momentum m') + weightDecay p), O(X) approximately
 * U V^T of X = U S V^T, by Newton's iteration, which needs only products. It is for matrices; leaves of other ranks (and embeddings, by `masked`) take the step of adamw.
 *
 * Source  Jordan et al. 2024, "Muon: an optimizer for hidden layers".
 * @example evaluate(muon({ learningRate: 0.1, eps: 0 }).update(tensor([5, -2]), muon({ learningRate: 0.1 }).init(tensor([0, 0])), tensor([0, 0])).updates)   // [-0.1, 0.1]
 */
export const muon = (options: MuonOptions): Transformation<MuonState> => {
  const o = readOptions(muonOptions, options, 'muon')
  return leafwiseAs<MuonState, 'm' | 'v'>(
    'muon',
    {
      m: 0,
      v: onlyOf(
        (s) => !isMatrix(s),
        (s) => s,
      ),
    },
    (at) => {
      const { g, slots } = at
      const decayed = (rate: AnyExpr, update: AnyExpr): AnyExpr =>
        o.weightDecay === 0 ? update : add(update, down(mul(rate, o.weightDecay), at.p()))
      if (!isMatrix(g.shape)) {
        const rate = at.rate(o.adamLearningRate ?? o.learningRate)
        const { slots: next, ratio, scale } = moments(at, g, { ...o, weightDecay: 0 })
        return { update: decayed(rate, down(div(rate, scale), ratio)), slots: next }
      }
      const rate = at.rate(o.learningRate)
      const m = add(mul(o.momentum, slots.m), g)
      const [rows, columns] = [g.shape[0]!, g.shape[1]!]
      const factor = Math.sqrt(Math.max(1, rows / columns))
      const direction = orthogonalised(add(g, mul(o.momentum, m)), o.iterations)
      return { update: decayed(rate, down(mul(rate, factor), direction)), slots: { m, v: slots.v } }
    },
  )
}

export const shampooOptions = {
  ...common,
  /** The decay of the preconditioners: 1 unless given, sums as in the paper; below 1 they are means. */
  decay: upToOne(1),
  /** The share of the velocity that stays: 0 unless given. */
  momentum: share(0),
  /** What preconditioners have on their diagonal before the first gradient: 1e-4 unless given. */
  eps: amount(1e-4),
  /** L2 regularisation: 0 unless given. */
  weightDecay: amount(0),
}
/** Options of `shampoo`. */
export interface ShampooOptions extends OptionsOf<typeof shampooOptions> {}
/** The state of `shampoo`: the preconditioners of rows and of columns, sums of squares for a leaf that is not a matrix, and the velocity. */
export interface ShampooState {
  readonly count: Count
  readonly left: LikeShapes
  readonly right: LikeShapes
  readonly v: LikeShapes
  readonly velocity: LikeParams
}
/** (A + eps I)^(-1/4) of a symmetric A that is not negative. */
const inverseFourthRoot = (a: AnyExpr, eps: number): AnyExpr => {
  const { w, v } = eigh(add(a, mul(eps, eye(a.shape[0]!, a.dtype))))
  // Rounding may make the smallest eigenvalues less than eps, and than 0.
  return matmul(mul(v, pow(maximum(w, eps), -0.25)), transpose(v))
}
/**
 * Shampoo: L' = L + g g^T, R' = R + g^T g, u = (L' + eps)^(-1/4) g (R' + eps)^(-1/4), p' = p - learningRate u: AdaGrad with the correlations of rows and of columns.
 * It is for matrices; for leaves of other ranks it is AdaGrad, g / sqrt(sum g^2 + eps). With `momentum` v' = momentum v + u is the step.
 *
 * Each step takes the eigenvalues of two symmetric matrices, of the sizes of the rows and of the columns.   Source  Gupta, Koren and Singer 2018, algorithm 1.
 * @example evaluate(shampoo({ learningRate: 0.5, eps: 0 }).update(tensor([3, -4]), shampoo({ learningRate: 0.5 }).init(tensor([0, 0]))).updates)   // [-0.5, 0.5]
 */
export const shampoo = (options: ShampooOptions): Transformation<ShampooState> => {
  const o = readOptions(shampooOptions, options, 'shampoo')
  const slots = {
    left: onlyOf(isMatrix, ([n]) => [n!, n!]),
    right: onlyOf(isMatrix, ([, m]) => [m!, m!]),
    v: onlyOf(
      (s) => !isMatrix(s),
      (s) => s,
    ),
    velocity: 0,
  }
  const next = (before: AnyExpr, x: AnyExpr): AnyExpr => (o.decay === 1 ? add(before, x) : averaged(o.decay, before, x))
  return leafwiseAs<ShampooState, keyof typeof slots>('shampoo', slots, (at) => {
    const rate = at.rate(o.learningRate)
    const held = at.slots
    const g = o.weightDecay === 0 ? at.g : add(at.g, mul(o.weightDecay, at.p()))
    const made = (u: AnyExpr, kept: Partial<typeof held>) => {
      const velocity = o.momentum === 0 ? held.velocity : add(mul(o.momentum, held.velocity), u)
      return { update: down(rate, o.momentum === 0 ? u : velocity), slots: { ...held, ...kept, velocity } }
    }
    if (!isMatrix(g.shape)) {
      const v = next(held.v, square(g))
      return made(div(g, sqrt(add(v, o.eps))), { v })
    }
    const left = next(held.left, matmul(g, transpose(g)))
    const right = next(held.right, matmul(transpose(g), g))
    return made(matmul(matmul(inverseFourthRoot(left, o.eps), g), inverseFourthRoot(right, o.eps)), { left, right })
  })
}
