/** A step of a model and its evaluation, as functions to compile. */

import { shown } from '../../core/errors/check-arguments.js'
import { badInput, badShape } from '../../core/errors/explain.js'
import {
  type AnyExpr,
  bceWithLogits,
  binaryCrossEntropy,
  cast,
  crossEntropy,
  div,
  eq,
  full,
  huberLoss,
  l1Loss,
  mseLoss,
  mul,
  reshape,
  sum,
  valueAndGrad,
  where,
} from '../../index.js'
import { applyUpdates } from '../../optim/index.js'
import type { FitOptions, FitRanks, Fittable, LossName, Optimizer } from './types.js'

/** The losses that have a name. */
export const losses: { readonly [N in LossName]: unknown } = { mseLoss, l1Loss, huberLoss, crossEntropy, bceWithLogits, binaryCrossEntropy }
type Loss = (prediction: unknown, target: unknown, more?: unknown) => unknown
/** A mask with the axes of an array: over those that it has none for it is constant. */
const spread = (mask: AnyExpr, x: AnyExpr, name: string): AnyExpr =>
  mask.shape.every((d, i) => d === x.shape[i] || d === 1)
    ? (reshape(mask, [...mask.shape, ...x.shape.slice(mask.shape.length).map(() => 1)]) as AnyExpr)
    : badInput(
        name,
        `the mask [${mask.shape.join(', ')}] does not fit [${x.shape.join(', ')}].`,
        'give one element for each row, or for each number of the loss.',
      )
/**
 * The mean of a loss by the weights of a mask, sum(w loss) / sum(w) over its numbers; 0 where all w are 0. What has the weight 0 has no say in it, nor in a
 * derivative, whatever the prediction and the target hold.
 */
const weightedMean =
  (name: LossName, loss: Loss): Loss =>
  (prediction, target, given) => {
    const y = prediction as AnyExpr
    const mask = cast(given as AnyExpr, y.dtype) as AnyExpr
    const each = loss(where(eq(spread(mask, y, name), 0), 0, y), target, { reduction: 'none' }) as AnyExpr
    const w = mul(spread(mask, each, name), full(each.shape, 1, each.dtype))
    const total = sum(w)
    return div(sum(where(eq(w, 0), 0, mul(w, each))), where(eq(total, 0), 1, total))
  }
/** The step reads parameters, the optimiser's state, a key and a batch, on several ranks a part of one and its weight; the test reads parameters and a batch. */
export const programsOf = (
  model: Fittable,
  given: FitOptions<unknown>['loss'],
  optimizer: Optimizer,
  stateful: boolean,
  ranks: Pick<FitRanks, 'shard'> | undefined,
) => {
  const apply = (params: unknown, x: unknown, run: object): readonly [unknown, unknown] => {
    const y = (model as { apply(...xs: unknown[]): unknown }).apply(params, x, run)
    if (!stateful) return [y, undefined]
    return Array.isArray(y) && y.length === 2
      ? [y[0], y[1]]
      : badInput('the model', 'it has a state, and its apply gave no pair.', 'give [y, state], or leave out `state`.')
  }
  const loss = (typeof given === 'string' ? losses[given] : given) as Loss
  const masked = typeof given === 'string' ? weightedMean(given, loss) : loss
  const lossOf = (y: unknown, target: unknown, mask: unknown): AnyExpr => {
    const value = (mask === undefined ? loss(y, target) : masked(y, target, mask)) as AnyExpr | null | undefined
    if (typeof value !== 'object' || value === null || !Array.isArray(value.shape))
      return badInput('the loss', `it gave ${shown(value)}.`, 'give a scalar expression: mean(square(sub(prediction, target))).')
    return value.shape.length === 0
      ? value
      : badShape('the loss', [value.shape], `it gave the shape [${value.shape.join(', ')}].`, 'give a scalar: the mean over the batch.')
  }
  return {
    step: (now: Readonly<Record<string, unknown>>) => {
      const { params, optimizer: held, running, weight, ...batch } = now
      const of = (inputs: Readonly<Record<string, unknown>>): unknown => {
        const [out, next] = apply(inputs.params, inputs.x, { training: true, key: inputs.key, ...(stateful && { state: inputs.running }) })
        const value = lossOf(out, inputs.y, inputs.mask)
        return stateful ? [value, next] : value
      }
      const data = { x: 0, y: 0, ...('mask' in batch && { mask: 0 }) }
      const whole = (ranks === undefined ? of : ranks.shard(of as never, { data, weight: () => weight })) as typeof of
      const at = (p: unknown): unknown => whole({ ...batch, params: p, ...(stateful && { running }) })
      const { value, grad, aux } = valueAndGrad(at as never, { aux: stateful } as never)(params as never) as unknown as Record<
        string,
        never
      >
      const { updates, state } = optimizer.update(grad as never, held as never, params as never)
      return {
        params: applyUpdates(params as never, updates as never),
        optimizer: state,
        ...(stateful && { running: aux }),
        loss: value,
      }
    },
    test: ({ params, running, x, y, mask }: Readonly<Record<string, unknown>>) => {
      const [out] = apply(params, x, { training: false, ...(stateful && { state: running }) })
      return { out, loss: lossOf(out, y, mask) }
    },
  }
}
type Results = Readonly<Record<string, unknown>>
type Call = (given: object) => Results | PromiseLike<Results>
export type Program = Call & { readonly into: (results: object) => Call }
