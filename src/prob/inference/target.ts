/** Models and log densities alike as targets. */
import { functionOf } from '../../core/errors/check-arguments.js'
import { type Target, targetOf } from './density.js'
import { isModel, targetOfModel } from './model.js'

export const targetIn = (given: unknown, start: unknown, op: string): Target => {
  if (isModel(given)) return targetOfModel(given, start, op)
  functionOf(given as (x: unknown) => unknown, 'the log density', op)
  return targetOf(given as (x: unknown) => unknown, start, op)
}
