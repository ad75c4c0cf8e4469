/** Which dtypes the arguments of a primitive have, and how they stand to each other: declared once, checked for every way in. */

import { badDtype } from '../errors/explain.js'
import type { DType } from '../types/dtype.js'
import type { Aval } from './aval.js'

/**
 * What one argument takes: `float` (f64, f32), `number` (those and i32) or `any` dtype, and then all such arguments have one dtype; or `i32`,
 * `bool`, `discrete` (either of these), whatever the others are.
 */
export type Takes = 'float' | 'number' | 'any' | 'i32' | 'bool' | 'discrete'
/** What each argument takes, of a variadic primitive the last for all that follow; `own` where the shape rule says it. */
export type DTypeRule = readonly Takes[] | 'own'

const taken: Readonly<Record<Takes, readonly DType[]>> = {
  float: ['f64', 'f32'],
  number: ['f64', 'f32', 'i32'],
  any: ['f64', 'f32', 'i32', 'bool'],
  i32: ['i32'],
  bool: ['bool'],
  discrete: ['i32', 'bool'],
}
export const isTakes = (x: unknown): x is Takes => typeof x === 'string' && Object.hasOwn(taken, x)
const alone = (t: Takes): boolean => t === 'i32' || t === 'bool' || t === 'discrete'

/** Raises DTypeMismatch where the arguments are not what the rule says. */
export const checkDTypes = (op: string, rule: readonly Takes[], args: readonly Aval[]): void => {
  let common: DType | undefined
  for (let i = 0; i < args.length; i++) {
    const takes = rule[i < rule.length ? i : rule.length - 1]!
    const { dtype } = args[i]!
    if (!taken[takes].includes(dtype))
      wrong(op, args, `${nth(rule, i)} is ${dtype}, ${op} takes ${taken[takes].join(' or ')} there`, 'cast it.')
    if (alone(takes)) continue
    if (common !== undefined && common !== dtype) wrong(op, args, `${op} takes one dtype`, 'cast one of them.')
    common = dtype
  }
}
const nth = (rule: readonly Takes[], i: number): string => (rule.length === 1 ? 'the argument' : `argument ${i}`)
const wrong = (op: string, args: readonly Aval[], reason: string, fix: string): never =>
  badDtype(
    op,
    args.map((a) => a.dtype),
    reason,
    fix,
  )
