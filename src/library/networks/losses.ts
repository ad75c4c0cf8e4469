/** What models are fitted by: the distance of predictions from targets, one for each, their mean or their sum. */
import { flagOf, integerOf, type Names, numberOf, optionsOf } from '../../core/errors/check-arguments.js'
import { raise, showShape } from '../../core/errors/explain.js'
import { asExpr, asNode, type Node } from '../../core/graph/expr.js'
import { lift, liftAll, liftFloat } from '../../core/graph/lift.js'
import { typed } from '../../core/graph/operation.js'
import { broadcastShapes, sameShape } from '../../core/graph/shape.js'
import { and, eq, ge, le, lt, ne } from '../../core/ops/compare.js'
import { add, cast, div, maximum, mul, neg, pow, sub, where, xlogy } from '../../core/ops/elementwise.js'
import { abs, exp, log, log1p, relu, sigmoid, softplus, sqrt, square } from '../../core/ops/functions.js'
import { iotaNode, liftIndices } from '../../core/ops/indexing-gather.js'
import { axisOf, axisOption, broadcastNode, reshapeNode } from '../../core/ops/layout-move.js'
import { logSoftmax } from '../../core/ops/nn.js'
import { sum } from '../../core/ops/reductions.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type {
  BceOptions,
  CosineFn,
  CosineOptions,
  CrossEntropyFn,
  CrossEntropyOptions,
  FocalOptions,
  HingeOptions,
  HuberOptions,
  KlDivOptions,
  LossFn,
  LossOptions,
  NllFn,
  SmoothL1Options,
} from '../../core/types/signatures/nn.js'
import { lossReduction } from './loss-reduction.js'

const reducing: Names<LossOptions> = { reduction: true }
/** A prediction and a target that broadcast against it. */
const pairOf = (prediction: unknown, target: unknown, op: string): readonly [AnyExpr, AnyExpr] => {
  const [x, t] = liftAll([prediction, target], op, 'float') as [Node, Node]
  if (!sameShape(broadcastShapes(x.shape, t.shape) ?? [], x.shape))
    raise({
      _tag: 'ShapeMismatch',
      op,
      shapes: [x.shape, t.shape],
      reason: `the target ${showShape(t.shape)} does not belong to the prediction ${showShape(x.shape)}.`,
      fix: `give one of shape ${showShape(x.shape)}, or that broadcasts against it.`,
    })
  return [asExpr(x), asExpr(t)]
}
const positive = (x: number, what: string, op: string): number =>
  x > 0 ? x : raise({ _tag: 'BadInput', where: op, reason: `${what} is ${x}.`, fix: 'give a number above 0.' })

const crossEntropyOptions: Names<CrossEntropyOptions> = {
  ...axisOption,
  reduction: true,
  labelSmoothing: true,
  weight: true,
  ignoreIndex: true,
}
/** The share of a target that is spread over all classes. */
const smoothingOf = (given: number | undefined, op: string): number => {
  const share = given === undefined ? 0 : numberOf(given, 'labelSmoothing', op)
  return share >= 0 && share <= 1
    ? share
    : raise({ _tag: 'BadInput', where: op, reason: `labelSmoothing is ${share}.`, fix: 'give a share from 0 to 1.' })
}
/** One number for each class, along the axis of x. */
const classWeights = (given: unknown, x: Node, axis: number, op: string): AnyExpr => {
  const n = lift(given, op, x.dtype)
  if (!sameShape(n.shape, [x.shape[axis]!]))
    raise({
      _tag: 'ShapeMismatch',
      op,
      shapes: [n.shape, x.shape],
      reason: `the weight ${showShape(n.shape)} does not belong to ${x.shape[axis]} classes.`,
      fix: `give one number for each class: shape [${x.shape[axis]}].`,
    })
  const along = x.shape.map((d, i) => (i === axis ? d : 1))
  return asExpr(reshapeNode(asNode(liftFloat(asExpr(n), op)), along))
}
/** Losses, and how much each counts in their mean, where that is not 1. */
interface Weighed {
  readonly losses: AnyExpr
  readonly shares?: AnyExpr
}
/** -sum(weight target log p) along an axis, of probabilities or classes. */
const entropyOf = (logP: AnyExpr, targets: unknown, axis: number, options: CrossEntropyOptions, op: string): Weighed => {
  const n = asNode(logP)
  const given = lift(targets, op, n.dtype)
  const without = n.shape.filter((_, i) => i !== axis)
  const classes = given.shape.length === without.length
  if (!sameShape(given.shape, classes ? without : n.shape))
    raise({
      _tag: 'ShapeMismatch',
      op,
      shapes: [n.shape, given.shape],
      reason: `targets ${showShape(given.shape)} do not belong to logits ${showShape(n.shape)}.`,
      fix: unfitTargets(given.shape, n.shape, axis, without),
    })
  const smoothing = smoothingOf(options.labelSmoothing, op)
  const weight = options.weight === undefined ? undefined : classWeights(options.weight, n, axis, op)
  const scaled = weight === undefined ? logP : mul(weight, logP)
  if (classes) return classEntropy(scaled, liftIndices(targets, op), axis, smoothing, weight, options.ignoreIndex, op)
  if (options.ignoreIndex !== undefined)
    raise({ _tag: 'BadInput', where: op, reason: 'ignoreIndex is for classes.', fix: 'give targets of probabilities that are 0 there.' })
  const target = smoothing === 0 ? asExpr(given) : add(mul(asExpr(given), 1 - smoothing), smoothing / n.shape[axis]!)
  return { losses: mul(-1, sum(mul(target, scaled), { axis })) }
}
/** Of logarithms [..., k, ...], weighted, and classes without that axis. */
const classEntropy = (
  logP: AnyExpr,
  classes: Node,
  axis: number,
  smoothing: number,
  weight: AnyExpr | undefined,
  ignored: unknown,
  op: string,
): Weighed => {
  const { shape, dtype } = asNode(logP)
  const k = shape[axis]!
  const index = asExpr(reshapeNode(classes, [...classes.shape.slice(0, axis), 1, ...classes.shape.slice(axis)]))
  const isClass = eq(index, asExpr(iotaNode([k, ...shape.slice(axis + 1).map(() => 1)], 0, 'i32')))
  const counts = ignored === undefined ? undefined : ne(index, integerOf(ignored, 'ignoreIndex', op))
  const taken = (x: AnyExpr | number, also?: AnyExpr): AnyExpr =>
    where(counts === undefined ? (also ?? isClass) : and(also ?? isClass, counts), x as AnyExpr, 0)
  const spread = smoothing / k
  const terms =
    smoothing === 0
      ? taken(logP)
      : taken(mul(where(isClass, 1 - smoothing + spread, spread), logP), and(ge(index, 0), lt(index, k)) as AnyExpr)
  const losses = mul(-1, sum(terms, { axis }))
  if (weight !== undefined) return { losses, shares: sum(taken(weight), { axis }) }
  return counts === undefined ? { losses } : { losses, shares: cast(asExpr(reshapeNode(asNode(counts), classes.shape)), dtype) }
}
/** What to give for targets of another shape; PyTorch has the classes in axis 1. */
const unfitTargets = (targets: readonly number[], logits: readonly number[], axis: number, without: readonly number[]): string => {
  const other = logits.findIndex((_, i) => i !== axis && sameShape(targets, [...logits.slice(0, i), ...logits.slice(i + 1)]))
  const hint = other < 0 ? '' : `, or { axis: ${other} } where the classes of the logits stand there`
  return `give classes ${showShape(without)} or probabilities ${showShape(logits)}${hint}.`
}
/** Losses that are weighed as one: their mean is by the shares. */
const weighed = (op: string, { reduction, ...options }: CrossEntropyOptions, of: (o: CrossEntropyOptions) => Weighed): AnyExpr => {
  const reduced = lossReduction(op, reduction)
  const { losses, shares } = of(options)
  return shares === undefined || (reduction ?? 'mean') !== 'mean' ? reduced(losses) : div(sum(losses), sum(shares))
}
/**
 * -sum(target log softmax(logits)) along an axis (the last by default), and its mean over everything else.
 * Targets are probabilities of the logits' rank, or i32 classes without the axis; a class out of range adds 0. `labelSmoothing` spreads that share of each target evenly over all classes.
 *
 * `weight`, one number for each class, multiplies its terms; classes of `ignoreIndex` (none unless given) add nothing. With classes the mean is by their weights: the sum over that of the weights, without those that are ignored.
 *
 * Shapes  logits: [..., k], targets: [..., k] or [...], weight: [k] -> [], or [...] without a reduction.   Source  Goodfellow et al. 2016, 6.2; PyTorch cross_entropy, whose classes are in axis 1.
 * Rule    of logSoftmax; classes have no tangent.
 * Errors  ShapeMismatch when targets or weight do not belong to the logits, DTypeMismatch for classes that are not i32, BadInput for another reduction or share, or ignoreIndex with probabilities.
 * @example
 * crossEntropy([[0, 0]], [1])   // 0.6931471805599453
 * crossEntropy([[0, 0], [5, 0]], [1, -100], { ignoreIndex: -100 })   // 0.6931471805599453
 */
export const crossEntropy: CrossEntropyFn = typed((logits: unknown, targets: unknown, options?: CrossEntropyOptions): AnyExpr => {
  const x = asExpr(liftFloat(logits, 'crossEntropy'))
  const { axis: named = -1, ...rest } = optionsOf(options, crossEntropyOptions, 'crossEntropy')
  const axis = axisOf(named, x.shape.length, 'crossEntropy')
  return weighed('crossEntropy', rest, (o) => entropyOf(logSoftmax(x, { axis }), targets, axis, o, 'crossEntropy'))
})
/**
 * As `crossEntropy`, of log probabilities: -logP at the class, and its mean.
 *
 * Shapes  logP: [..., k], targets: [..., k] or [...], weight: [k] -> [], or [...] without a reduction.   Source  PyTorch nll_loss.
 * Rule    linear in logP; classes have no tangent.   Errors  as crossEntropy.
 * @example nllLoss([[-1, -2]], [1])   // 2
 */
export const nllLoss: NllFn = typed((logP: unknown, targets: unknown, options?: CrossEntropyOptions): AnyExpr => {
  const x = asExpr(liftFloat(logP, 'nllLoss'))
  const { axis: named = -1, ...rest } = optionsOf(options, crossEntropyOptions, 'nllLoss')
  const axis = axisOf(named, x.shape.length, 'nllLoss')
  return weighed('nllLoss', rest, (o) => entropyOf(x, targets, axis, o, 'nllLoss'))
})

/** A loss of single numbers, reduced. */
const lossOf = <O extends LossOptions>(
  op: string,
  names: Names<O>,
  loss: (x: AnyExpr, t: AnyExpr, options: O) => AnyExpr,
): ((prediction: unknown, target: unknown, options?: O) => AnyExpr) => {
  const all = { ...names, ...reducing } as Names<O>
  return (prediction, target, options) => {
    const given = optionsOf(options, all, op)
    const reduced = lossReduction(op, given.reduction)
    return reduced(loss(...pairOf(prediction, target, op), given))
  }
}
/**
 * (x - t)^2, and its mean.
 *
 * Shapes  the target broadcasts against x -> [], or x's without a reduction.   Rule  2 (x - t) dx.
 * Errors  ShapeMismatch for a target of another shape, BadInput for another reduction.
 * @example mseLoss([1, 3], [1, 1])   // 2
 */
export const mseLoss: LossFn<'mseLoss'> = typed(lossOf('mseLoss', reducing, (x, t) => square(sub(x, t))))
/**
 * |x - t|, and its mean.
 *
 * Shapes  as mseLoss.   Rule  sign(x - t) dx; 0 where they are equal.   Errors  as mseLoss.
 * @example l1Loss([1, 3], [1, 1])   // 1
 */
export const l1Loss: LossFn<'l1Loss'> = typed(lossOf('l1Loss', reducing, (x, t) => abs(sub(x, t))))
/**
 * d^2 / 2 where |d| <= delta (1 unless given), delta (|d| - delta / 2) elsewhere, d = x - t; and its mean.
 *
 * Shapes  as mseLoss.   Rule  d dx, or delta sign(d) dx.   Source  Huber 1964.   Errors  as mseLoss; BadInput for a delta that is not positive.
 * @example huberLoss([1, 4], [1, 1])   // 1.25
 */
export const huberLoss: LossFn<'huberLoss', HuberOptions> = typed(
  lossOf<LossOptions & HuberOptions>('huberLoss', { ...reducing, delta: true }, (x, t, { delta: given = 1 }) => {
    const delta = positive(numberOf(given, 'delta', 'huberLoss'), 'delta', 'huberLoss')
    const d = sub(x, t)
    return where(le(abs(d), delta), mul(square(d), 0.5), mul(sub(abs(d), delta / 2), delta))
  }),
)
/**
 * d^2 / (2 beta) where |d| < beta (1 unless given), |d| - beta / 2 elsewhere, d = x - t; and its mean. Huber's loss divided by beta.
 *
 * Shapes  as mseLoss.   Rule  d dx / beta, or sign(d) dx.   Source  Girshick 2015.   Errors  as mseLoss; BadInput for a beta that is not positive.
 * @example smoothL1Loss([1, 4], [1, 1])   // 1.25
 */
export const smoothL1Loss: LossFn<'smoothL1Loss', SmoothL1Options> = typed(
  lossOf<LossOptions & SmoothL1Options>('smoothL1Loss', { ...reducing, beta: true }, (x, t, { beta: given = 1 }) => {
    const beta = positive(numberOf(given, 'beta', 'smoothL1Loss'), 'beta', 'smoothL1Loss')
    const d = sub(x, t)
    return where(lt(abs(d), beta), mul(square(d), 0.5 / beta), sub(abs(d), beta / 2))
  }),
)
/**
 * -t log s(x) - (1 - t) log(1 - s(x)), s the logistic function, without overflow; and its mean. `posWeight` multiplies the first term.
 *
 * Shapes  as mseLoss; posWeight broadcasts against x.   Rule  (s(x) - t) dx.   Source  PyTorch binary_cross_entropy_with_logits.   Errors  as mseLoss.
 * @example bceWithLogits([0, 100], [1, 0])   // 50.34657359027997
 */
export const bceWithLogits: LossFn<'bceWithLogits', BceOptions> = typed(
  lossOf<LossOptions & BceOptions>('bceWithLogits', { ...reducing, posWeight: true }, (x, t, { posWeight }) => {
    if (posWeight === undefined) return sub(softplus(x), mul(x, t))
    const weight = asExpr(lift(posWeight, 'bceWithLogits', asNode(x).dtype))
    return add(mul(sub(1, t), x), mul(add(1, mul(sub(weight, 1), t)), softplus(neg(x))))
  }),
)
/** A logarithm that stays finite, as PyTorch's losses have it. */
const bounded = (x: AnyExpr): AnyExpr => maximum(x, -100)
/**
 * -t log p - (1 - t) log(1 - p) of probabilities p, each logarithm at least -100; and its mean. Of logits bceWithLogits is more accurate, and never flat.
 *
 * Shapes  as mseLoss.   Rule  (p - t) / (p (1 - p)) dp; 0 through a logarithm that is bounded.   Source  PyTorch binary_cross_entropy.   Errors  as mseLoss. NaN for p out of [0, 1].
 * @example binaryCrossEntropy([0.5, 1], [1, 0])   // 50.34657359027997
 */
export const binaryCrossEntropy: LossFn<'binaryCrossEntropy'> = typed(
  lossOf('binaryCrossEntropy', reducing, (p, t) => neg(add(mul(t, bounded(log(p))), mul(sub(1, t), bounded(log1p(neg(p))))))),
)
/**
 * (1 - p_t)^gamma times bceWithLogits, p_t the probability of the target; with alpha (0.25 unless given, null for none) weights of alpha for ones and 1 - alpha for zeros; and its mean.
 *
 * Shapes  as mseLoss.   Rule  by composition.   Source  Lin et al. 2017; gamma 2.   Errors  as mseLoss; BadInput for a negative gamma or an alpha out of [0, 1].
 * @example focalLoss([0], [1])   // 0.04332169878499658
 */
export const focalLoss: LossFn<'focalLoss', FocalOptions> = typed(
  lossOf<LossOptions & FocalOptions>('focalLoss', { ...reducing, gamma: true, alpha: true }, (x, t, { gamma: g = 2, alpha: a = 0.25 }) => {
    const gamma = numberOf(g, 'gamma', 'focalLoss')
    const alpha = a === null ? null : numberOf(a, 'alpha', 'focalLoss')
    if (gamma < 0 || (alpha !== null && !(alpha >= 0 && alpha <= 1)))
      raise({
        _tag: 'BadInput',
        where: 'focalLoss',
        reason: `gamma is ${gamma}, alpha ${alpha}.`,
        fix: 'give gamma from 0, and alpha in [0, 1] or null.',
      })
    const p = sigmoid(x)
    const other = add(mul(p, sub(1, t)), mul(sigmoid(neg(x)), t))
    const loss = mul(pow(other, gamma), sub(softplus(x), mul(x, t)))
    return alpha === null ? loss : mul(add(mul(t, alpha), mul(sub(1, t), 1 - alpha)), loss)
  }),
)
/**
 * max(0, margin - t x) of targets -1 and 1, and its mean; the margin is 1 unless given; `squared` squares it.
 *
 * Shapes  as mseLoss.   Rule  -t dx inside of the margin.   Source  Cortes and Vapnik 1995.   Errors  as mseLoss.
 * @example hingeLoss([0.5, 2], [1, -1])   // 1.75
 */
export const hingeLoss: LossFn<'hingeLoss', HingeOptions> = typed(
  lossOf<LossOptions & HingeOptions>('hingeLoss', { ...reducing, margin: true, squared: true }, (x, t, { margin = 1, squared }) => {
    const y = relu(sub(numberOf(margin, 'margin', 'hingeLoss'), mul(t, x)))
    return flagOf(squared, 'squared', 'hingeLoss') ? square(y) : y
  }),
)
/**
 * t (log t - logP), 0 where t is 0, of log probabilities logP; and its mean. With `logTarget` the target is log t.
 *
 * Shapes  as mseLoss.   Rule  -t dlogP.   Source  PyTorch kl_div; `batchmean` there is the sum over the number of examples.   Errors  as mseLoss.
 * @example klDivLoss([-1, -2], [0, 1], { reduction: 'sum' })   // 2
 */
export const klDivLoss: LossFn<'klDivLoss', KlDivOptions> = typed(
  lossOf<LossOptions & KlDivOptions>('klDivLoss', { ...reducing, logTarget: true }, (x, t, { logTarget }) =>
    flagOf(logTarget, 'logTarget', 'klDivLoss') ? mul(exp(t), sub(t, x)) : sub(xlogy(t, t), mul(t, x)),
  ),
)

const cosineOptions: Names<CosineOptions> = { ...axisOption, eps: true }
/**
 * The cosine of the angle between a and b along an axis (the last by default): a b / (|a| |b|), each length at least eps (1e-8 unless given).
 *
 * Shapes  a, b: [..., n], which broadcast -> [...].   Rule  by composition; 0 for a vector shorter than eps.   Source  PyTorch cosine_similarity.
 * Errors  BadInput for an axis out of range or an eps that is not positive, ShapeMismatch when a and b do not broadcast.
 * @example cosineSimilarity([[1, 0], [1, 1]], [1, 1])   // [0.7071, 1.000]
 */
export const cosineSimilarity: CosineFn = typed((a: unknown, b: unknown, options?: CosineOptions): AnyExpr => {
  const [x, y] = liftAll([a, b], 'cosineSimilarity', 'float').map(asExpr) as [AnyExpr, AnyExpr]
  const { axis: named = -1, eps: given = 1e-8 } = optionsOf(options, cosineOptions, 'cosineSimilarity')
  const eps = positive(numberOf(given, 'eps', 'cosineSimilarity'), 'eps', 'cosineSimilarity')
  const product = mul(x, y)
  const axis = axisOf(named, product.shape.length, 'cosineSimilarity')
  const size = (z: AnyExpr): AnyExpr => sqrt(maximum(sum(square(asExpr(broadcastNode(asNode(z), product.shape))), { axis }), eps * eps))
  return div(sum(product, { axis }), mul(size(x), size(y)))
})
