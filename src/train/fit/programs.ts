/** A step of a model and its evaluation, as functions to compile. */

import { shown } from '../../core/errors/check-arguments.js'
import { badInput, badShape } from '../../core/errors/explain.js'
import { type AnyExpr, bceWithLogits, binaryCrossEntropy, crossEntropy, huberLoss, l1Loss, mseLoss, valueAndGrad } from '../../index.js'
import { applyUpdates } from '../../optim/index.js'
import type { FitOptions, Fittable, LossName, Optimizer } from './types.js'

/** The losses that have a name. */
export const losses: { readonly [N in LossName]: unknown } = { mseLoss, l1Loss, huberLoss, crossEntropy, bceWithLogits, binaryCrossEntropy }
/** The step reads parameters, the optimiser's state, a key and a batch; the test reads parameters and a batch. */
export const programsOf = (model: Fittable, given: FitOptions<unknown>['loss'], optimizer: Optimizer, stateful: boolean) => {
  const apply = (params: unknown, x: unknown, run: object): readonly [unknown, unknown] => {
    const y = (model as { apply(...xs: unknown[]): unknown }).apply(params, x, run)
    if (!stateful) return [y, undefined]
    return Array.isArray(y) && y.length === 2
      ? [y[0], y[1]]
      : badInput('the model', 'it has a state, and its apply gave no pair.', 'give [y, state], or leave out `state`.')
  }
  const loss = (typeof given === 'string' ? losses[given] : given) as (y: unknown, target: unknown) => unknown
  const lossOf = (y: unknown, target: unknown): AnyExpr => {
    const value = loss(y, target) as AnyExpr | null | undefined
    if (typeof value !== 'object' || value === null || !Array.isArray(value.shape))
      return badInput('the loss', `it gave ${shown(value)}.`, 'give a scalar expression: mean(square(sub(prediction, target))).')
    return value.shape.length === 0
      ? value
      : badShape('the loss', [value.shape], `it gave the shape [${value.shape.join(', ')}].`, 'give a scalar: the mean over the batch.')
  }
  return {
    step: (now: Readonly<Record<string, unknown>>) => {
      const { params, optimizer: held, running, key, x, y } = now
      const of = (p: unknown): unknown => {
        const [out, next] = apply(p, x, { training: true, key, ...(stateful && { state: running }) })
        const value = lossOf(out, y)
        return stateful ? [value, next] : value
      }
      const { value, grad, aux } = valueAndGrad(of as never, { aux: stateful } as never)(params as never) as unknown as Record<
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
    test: ({ params, running, x, y }: Readonly<Record<string, unknown>>) => {
      const [out] = apply(params, x, { training: false, ...(stateful && { state: running }) })
      return { out, loss: lossOf(out, y) }
    },
  }
}
export type Program = (given: object) => Readonly<Record<string, unknown>> | PromiseLike<Readonly<Record<string, unknown>>>
