/** What models are fitted by: the distance of predictions from targets, one for each, their mean or their sum. */
import { badInput, badShape, showShape } from '../../core/errors/explain.js'
import { flag, integer, kind, number, type Options, type OptionsOf, type ReadOf, raw } from '../../core/errors/options.js'
import { broadcastShapes, sameShape } from '../../core/graph/shape.js'
import { add, cast, div, maximum, mul, sub, where } from '../../core/ops/arithmetic.js'
import { arrayOf, indicesOf, positions } from '../../core/ops/arrays.js'
import { and, eq, ge, le, lt, ne } from '../../core/ops/compare.js'
import { broadcastTo, reshape } from '../../core/ops/layout/layout.js'
import { axisOf } from '../../core/ops/layout/move.js'
import { axisOptions, floats, laterAxis, operation } from '../../core/ops/operation.js'
import { sum } from '../../core/ops/reductions.js'
import { abs, neg, relu, sqrt, square } from '../../core/ops/unary.js'
import type { AnyExpr, Arg } from '../../core/types/expr.js'
import type { CosineFn, CrossEntropyFn, LossFn } from '../../core/types/signatures/nn.js'
import { exp, log, log1p, pow, sigmoid, softplus, xlogy } from '../../families/exponentials.js'
import { logSoftmax } from './layers.js'
import { type LossOptions, lossOptions, type Reduction, reductions } from './loss-reduction.js'

/** The target must broadcast against the prediction. */
const belongs = (x: AnyExpr, t: AnyExpr, op: string): void => {
  if (!sameShape(broadcastShapes(x.shape, t.shape) ?? [], x.shape))
    badShape(
      op,
      [x.shape, t.shape],
      `the target ${showShape(t.shape)} does not fit the prediction ${showShape(x.shape)}.`,
      `give one of shape ${showShape(x.shape)}, or that broadcasts against it.`,
    )
}

const entropyOptions = {
  ...axisOptions,
  ...lossOptions,
  /** The share of each target that is spread evenly over all classes. */
  labelSmoothing: number(0, { from: 0, to: 1 }),
  /** One number for each class. */
  weight: raw<Arg>(),
  /** The class of positions that add nothing, and do not count in the mean. */
  ignoreIndex: integer(),
}
/** Options of `crossEntropy` and `nllLoss`. */
interface CrossEntropyOptions extends OptionsOf<typeof entropyOptions> {}
type Entropy = ReadOf<typeof entropyOptions>
/** One number for each class, along the axis of x. */
const classWeights = (given: unknown, x: AnyExpr, along: number, op: string): AnyExpr => {
  const w = arrayOf(given, op, 'any', x.dtype)
  if (!sameShape(w.shape, [x.shape[along]!]))
    badShape(
      op,
      [w.shape, x.shape],
      `the weight ${showShape(w.shape)} does not fit ${x.shape[along]} classes.`,
      `give one number for each class: shape [${x.shape[along]}].`,
    )
  return reshape(
    arrayOf(w, op, 'float'),
    x.shape.map((d, i) => (i === along ? d : 1)),
  )
}
/** Losses, and how much each counts in their mean, where that is not 1. */
interface Weighed {
  readonly losses: AnyExpr
  readonly shares?: AnyExpr
}
/** -sum(weight target log p) along an axis, of classes without that axis. */
const classEntropy = (logP: AnyExpr, classes: AnyExpr, o: Entropy, weight: AnyExpr | undefined): Weighed => {
  const { axis: along, labelSmoothing, ignoreIndex } = o
  const k = logP.shape[along]!
  const index = reshape(classes, [...classes.shape.slice(0, along), 1, ...classes.shape.slice(along)])
  const isClass = eq(index, positions([k, ...logP.shape.slice(along + 1).map(() => 1)], 0))
  const counts = ignoreIndex === undefined ? undefined : ne(index, ignoreIndex)
  const taken = (x: AnyExpr, of: AnyExpr = isClass): AnyExpr => where(counts === undefined ? of : and(of, counts), x, 0)
  const scaled = weight === undefined ? logP : mul(weight, logP)
  const spread = labelSmoothing / k
  const terms =
    labelSmoothing === 0
      ? taken(scaled)
      : taken(mul(where(isClass, 1 - labelSmoothing + spread, spread), scaled), and(ge(index, 0), lt(index, k)) as AnyExpr)
  const losses = mul(-1, sum(terms, { axis: along }))
  if (weight !== undefined) return { losses, shares: sum(taken(weight), { axis: along }) }
  return counts === undefined ? { losses } : { losses, shares: cast(reshape(counts, classes.shape), logP.dtype) }
}
/** The same, of probabilities or classes. */
const entropyOf = (logP: AnyExpr, targets: unknown, o: Entropy, op: string): Weighed => {
  const { axis: along, labelSmoothing } = o
  const { shape, dtype } = logP
  const given = arrayOf(targets, op, 'any', dtype)
  const without = shape.filter((_, i) => i !== along)
  const classes = given.shape.length === without.length
  if (!sameShape(given.shape, classes ? without : shape))
    badShape(
      op,
      [shape, given.shape],
      `targets ${showShape(given.shape)} do not fit logits ${showShape(shape)}.`,
      unfitTargets(given.shape, shape, along, without),
    )
  const weight = o.weight === undefined ? undefined : classWeights(o.weight, logP, along, op)
  if (classes) return classEntropy(logP, indicesOf(targets, op), o, weight)
  if (o.ignoreIndex !== undefined) badInput(op, 'ignoreIndex is for classes.', 'give targets of probabilities that are 0 there.')
  const target = labelSmoothing === 0 ? given : add(mul(given, 1 - labelSmoothing), labelSmoothing / shape[along]!)
  return { losses: mul(-1, sum(mul(target, weight === undefined ? logP : mul(weight, logP)), { axis: along })) }
}
/** What to give for targets of another shape; PyTorch has the classes in axis 1. */
const unfitTargets = (targets: readonly number[], logits: readonly number[], along: number, without: readonly number[]): string => {
  const other = logits.findIndex((_, i) => i !== along && sameShape(targets, [...logits.slice(0, i), ...logits.slice(i + 1)]))
  const hint = other < 0 ? '' : `, or { axis: ${other} } where the classes of the logits stand there`
  return `give classes ${showShape(without)} or probabilities ${showShape(logits)}${hint}.`
}
/** Their mean is by their shares. */
const weighed = ({ losses, shares }: Weighed, { reduction: by }: Entropy): AnyExpr =>
  shares === undefined || by !== 'mean' ? reductions[by](losses) : div(sum(losses), sum(shares))
/**
 * -sum(target log softmax(logits)) along an axis (the last by default), and its mean over everything else.
 * Targets are probabilities of the logits' rank, or i32 classes without the axis; a class out of range adds 0. `labelSmoothing` spreads that share of each target evenly over all classes.
 *
 * `weight`, one number for each class, multiplies its terms; classes of `ignoreIndex` (none unless given) add nothing. With classes the mean is weighted: the sum divided by that
 * of the weights, without those that are ignored.
 *
 * Shapes  logits: [..., k], targets: [..., k] or [...], weight: [k] -> [], or [...] without a reduction.   Source  Goodfellow et al. 2016, 6.2; PyTorch cross_entropy, whose classes are in axis 1.
 * Rule    of logSoftmax; classes have no tangent.
 * Errors  ShapeMismatch when targets or weight do not fit the logits, DTypeMismatch for classes that are not i32, BadInput for an unknown reduction, an invalid share, or
 *         ignoreIndex with probabilities.
 * @example
 * crossEntropy([[0, 0]], [1])   // 0.6931471805599453
 * crossEntropy([[0, 0], [5, 0]], [1, -100], { ignoreIndex: -100 })   // 0.6931471805599453
 */
export const crossEntropy: CrossEntropyFn<CrossEntropyOptions> = operation(
  'crossEntropy',
  { logits: floats, targets: raw() },
  entropyOptions,
  ({ logits, targets }, o, op) => weighed(entropyOf(logSoftmax(logits, { axis: o.axis }), targets, o, op), o),
)
/**
 * As `crossEntropy`, of log probabilities: -logP at the class, and its mean.
 *
 * Shapes  logP: [..., k], targets: [..., k] or [...], weight: [k] -> [], or [...] without a reduction.   Source  PyTorch nll_loss.
 * Rule    linear in logP; classes have no tangent.   Errors  as crossEntropy.
 * @example nllLoss([[-1, -2]], [1])   // 2
 */
export const nllLoss: CrossEntropyFn<CrossEntropyOptions> = operation(
  'nllLoss',
  { logP: floats, targets: raw() },
  entropyOptions,
  ({ logP, targets }, o, op) => weighed(entropyOf(logP, targets, o, op), o),
)

/** A loss of single numbers, reduced. */
const lossOf = <F, O extends Options>(name: string, options: O, loss: (x: AnyExpr, t: AnyExpr, o: ReadOf<O>) => AnyExpr): F =>
  operation(name, { prediction: floats, target: floats }, { ...options, ...lossOptions }, ({ prediction, target }, o, op) => {
    belongs(prediction, target, op)
    return reductions[o.reduction as Reduction](loss(prediction, target, o as ReadOf<O>))
  })
/**
 * (x - t)^2, and its mean.
 *
 * Shapes  the target broadcasts against x -> [], or x's without a reduction.   Rule  2 (x - t) dx.
 * Errors  ShapeMismatch for a target of another shape, BadInput for an unknown reduction.
 * @example mseLoss([1, 3], [1, 1])   // 2
 */
export const mseLoss: LossFn<'mseLoss', LossOptions> = lossOf('mseLoss', {}, (x, t) => square(sub(x, t)))
/**
 * |x - t|, and its mean.
 *
 * Shapes  as mseLoss.   Rule  sign(x - t) dx; 0 where they are equal.   Errors  as mseLoss.
 * @example l1Loss([1, 3], [1, 1])   // 1
 */
export const l1Loss: LossFn<'l1Loss', LossOptions> = lossOf('l1Loss', {}, (x, t) => abs(sub(x, t)))
const huberOptions = { delta: number(1, { above: 0 }) }
interface HuberOptions extends LossOptions, OptionsOf<typeof huberOptions> {}
/**
 * d^2 / 2 where |d| <= delta (1 unless given), delta (|d| - delta / 2) elsewhere, d = x - t; and its mean.
 *
 * Shapes  as mseLoss.   Rule  d dx, or delta sign(d) dx.   Source  Huber 1964.   Errors  as mseLoss; BadInput for a delta that is not positive.
 * @example huberLoss([1, 4], [1, 1])   // 1.25
 */
export const huberLoss: LossFn<'huberLoss', HuberOptions> = lossOf('huberLoss', huberOptions, (x, t, { delta }) => {
  const d = sub(x, t)
  return where(le(abs(d), delta), mul(square(d), 0.5), mul(sub(abs(d), delta / 2), delta))
})
const smoothOptions = { beta: number(1, { above: 0 }) }
interface SmoothL1Options extends LossOptions, OptionsOf<typeof smoothOptions> {}
/**
 * d^2 / (2 beta) where |d| < beta (1 unless given), |d| - beta / 2 elsewhere, d = x - t; and its mean. Huber's loss divided by beta.
 *
 * Shapes  as mseLoss.   Rule  d dx / beta, or sign(d) dx.   Source  Girshick 2015.   Errors  as mseLoss; BadInput for a beta that is not positive.
 * @example smoothL1Loss([1, 4], [1, 1])   // 1.25
 */
export const smoothL1Loss: LossFn<'smoothL1Loss', SmoothL1Options> = lossOf('smoothL1Loss', smoothOptions, (x, t, { beta }) => {
  const d = sub(x, t)
  return where(lt(abs(d), beta), mul(square(d), 0.5 / beta), sub(abs(d), beta / 2))
})
const bceOptions = { posWeight: raw<Arg>() }
interface BceOptions extends LossOptions, OptionsOf<typeof bceOptions> {}
/**
 * -t log s(x) - (1 - t) log(1 - s(x)), s the logistic function, without overflow; and its mean. `posWeight` multiplies the first term.
 *
 * Shapes  as mseLoss; posWeight broadcasts against x.   Rule  (s(x) - t) dx.   Source  PyTorch binary_cross_entropy_with_logits.   Errors  as mseLoss.
 * @example bceWithLogits([0, 100], [1, 0])   // 50.34657359027997
 */
export const bceWithLogits: LossFn<'bceWithLogits', BceOptions> = lossOf('bceWithLogits', bceOptions, (x, t, { posWeight }) => {
  if (posWeight === undefined) return sub(softplus(x), mul(x, t))
  const weight = arrayOf(posWeight, 'bceWithLogits', 'any', x.dtype)
  return add(mul(sub(1, t), x), mul(add(1, mul(sub(weight, 1), t)), softplus(neg(x))))
})
/** A logarithm that stays finite, as PyTorch's losses have it. */
const bounded = (x: AnyExpr): AnyExpr => maximum(x, -100)
/**
 * -t log p - (1 - t) log(1 - p) of probabilities p, each logarithm at least -100; and its mean. For logits, `bceWithLogits` is more accurate, and never flat.
 *
 * Shapes  as mseLoss.   Rule  (p - t) / (p (1 - p)) dp; 0 through a logarithm that is bounded.   Source  PyTorch binary_cross_entropy.   Errors  as mseLoss. NaN for p out of [0, 1].
 * @example binaryCrossEntropy([0.5, 1], [1, 0])   // 50.34657359027997
 */
export const binaryCrossEntropy: LossFn<'binaryCrossEntropy', LossOptions> = lossOf('binaryCrossEntropy', {}, (p, t) =>
  neg(add(mul(t, bounded(log(p))), mul(sub(1, t), bounded(log1p(neg(p)))))),
)
const share = number(0.25, { from: 0, to: 1 })
const focalOptions = {
  gamma: number(2, { from: 0 }),
  alpha: kind<number | null, number | null>((given = 0.25, what, where, shape) =>
    given === null ? null : share.read(given, what, where, shape),
  ),
}
interface FocalOptions extends LossOptions, OptionsOf<typeof focalOptions> {}
/**
 * (1 - p_t)^gamma times bceWithLogits, p_t the probability of the target; with alpha (0.25 unless given, null for none) weights of alpha for ones and 1 - alpha for zeros; and its mean.
 *
 * Shapes  as mseLoss.   Rule  by composition.   Source  Lin et al. 2017; gamma 2.   Errors  as mseLoss; BadInput for a negative gamma or an alpha out of [0, 1].
 * @example focalLoss([0], [1])   // 0.04332169878499658
 */
export const focalLoss: LossFn<'focalLoss', FocalOptions> = lossOf('focalLoss', focalOptions, (x, t, { gamma, alpha }) => {
  const p = sigmoid(x)
  const other = add(mul(p, sub(1, t)), mul(sigmoid(neg(x)), t))
  const loss = mul(pow(other, gamma), sub(softplus(x), mul(x, t)))
  return alpha === null ? loss : mul(add(mul(t, alpha), mul(sub(1, t), 1 - alpha)), loss)
})
const hingeOptions = { margin: number(1), squared: flag() }
interface HingeOptions extends LossOptions, OptionsOf<typeof hingeOptions> {}
/**
 * max(0, margin - t x) of targets -1 and 1, and its mean; the margin is 1 unless given; `squared` squares it.
 *
 * Shapes  as mseLoss.   Rule  -t dx inside of the margin.   Source  Cortes and Vapnik 1995.   Errors  as mseLoss.
 * @example hingeLoss([0.5, 2], [1, -1])   // 1.75
 */
export const hingeLoss: LossFn<'hingeLoss', HingeOptions> = lossOf('hingeLoss', hingeOptions, (x, t, { margin, squared }) => {
  const y = relu(sub(margin, mul(t, x)))
  return squared ? square(y) : y
})
const klOptions = { logTarget: flag() }
interface KlDivOptions extends LossOptions, OptionsOf<typeof klOptions> {}
/**
 * t (log t - logP), 0 where t is 0, of log probabilities logP; and its mean. With `logTarget` the target is log t.
 *
 * Shapes  as mseLoss.   Rule  -t dlogP.   Source  PyTorch kl_div; `batchmean` there is the sum divided by the number of examples.   Errors  as
 *         mseLoss.
 * @example klDivLoss([-1, -2], [0, 1], { reduction: 'sum' })   // 2
 */
export const klDivLoss: LossFn<'klDivLoss', KlDivOptions> = lossOf('klDivLoss', klOptions, (x, t, { logTarget }) =>
  logTarget ? mul(exp(t), sub(t, x)) : sub(xlogy(t, t), mul(t, x)),
)

const cosineOptions = { axis: laterAxis(-1), eps: number(1e-8, { above: 0 }) }
interface CosineOptions extends OptionsOf<typeof cosineOptions> {}
/**
 * The cosine of the angle between a and b along an axis (the last by default): a b / (|a| |b|), each length at least eps (1e-8 unless given).
 *
 * Shapes  a, b: [..., n], which broadcast -> [...].   Rule  by composition; 0 for a vector shorter than eps.   Source  PyTorch cosine_similarity.
 * Errors  BadInput for an axis out of range or an eps that is not positive, ShapeMismatch when a and b do not broadcast.
 * @example cosineSimilarity([[1, 0], [1, 1]], [1, 1])   // [0.7071, 1.000]
 */
export const cosineSimilarity: CosineFn<CosineOptions> = operation(
  'cosineSimilarity',
  { a: floats, b: floats },
  cosineOptions,
  ({ a, b }, { axis: along, eps }, op) => {
    const product = mul(a, b)
    const axis = axisOf(along, product.shape.length, op)
    const size = (z: AnyExpr): AnyExpr => sqrt(maximum(sum(square(broadcastTo(z, product.shape)), { axis }), eps * eps))
    return div(sum(product, { axis }), mul(size(a), size(b)))
  },
)
