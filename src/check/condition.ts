/** What excuses a derivative that is not the slope: its condition. */
import { leastOf } from '../core/errors/extremes.js'
import { numeral, type Slope } from './finite-differences.js'

/** How sensitive a number is to its arguments. */
export interface Condition {
  /** How far it moves from one point beside the arguments to another on the same side. */
  readonly moves: number
  /** The greatest relative change of the number for a relative change of the arguments. */
  readonly number: number
}

/** A derivative is not decided where it moves by this part of its difference from what is true. */
const PART = 0.1
/** How far a derivative is from a slope, or from the nearer one of two sides. */
export const offBy = (given: number, slope: Slope): number => {
  if (slope._tag === 'Unknown') return Number.POSITIVE_INFINITY
  const values = slope._tag === 'Kink' ? [slope.left.value, slope.right.value] : [slope.value]
  return leastOf(values.map((v) => Math.abs(given - v)))
}
/** Why a derivative that is not this slope is not wrong: undefined where it is well conditioned. */
export const illConditioned = (given: number, slope: Slope, condition: () => Condition): string | undefined =>
  excusedBy(given, offBy(given, slope), condition)
/** The same of a derivative that is off by so much. */
export const excusedBy = (given: number, off: number, condition: () => Condition): string | undefined => {
  if (!Number.isFinite(given)) return undefined
  const { moves, number } = condition()
  if (!(moves >= PART * off)) return undefined
  const how = numeral(Number(moves.toPrecision(2)))
  return `condition number ${number.toPrecision(2)}: arguments within 1e-9 of their size of these move the derivative by ${how}, and it is ${numeral(given)}`
}
