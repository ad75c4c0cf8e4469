/** What transforms are given: pairs, lengths, last axes. */
import { badInput, badShape } from '../../core/errors/explain.js'
import { reading } from '../../core/errors/language.js'
import { type Kind, kind } from '../../core/errors/options.js'
import { arrayOf, arraysOf, part } from '../../core/ops/arrays.js'
import { pad } from '../../core/ops/layout/layout.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { Parts } from './fft-core.js'

/** What is given, where it is a pair: read once. */
const pairIn = (given: unknown, op: string): { readonly re: unknown; readonly im: unknown } | undefined =>
  typeof given !== 'object' || given === null
    ? undefined
    : reading(op, () =>
        're' in given || 'im' in given ? { re: (given as { re?: unknown }).re, im: (given as { im?: unknown }).im } : undefined,
      )
/** A pair or a real array, in one float dtype. */
export const complex: Kind<Parts, unknown> = kind((given, _what, op) => {
  const pair = pairIn(given, op)
  if (pair === undefined) return { re: arrayOf(given, op, 'float') }
  if (pair.re === undefined || pair.im === undefined)
    badInput(op, `it has no ${pair.re === undefined ? 're' : 'im'}.`, 'give { re, im }, or a real array.')
  const [re, im] = arraysOf([pair.re, pair.im], op, 'float') as [AnyExpr, AnyExpr]
  if (`${re.shape}` !== `${im.shape}`)
    badShape(op, [re.shape, im.shape], 'the real and the imaginary part have different shapes.', 'give both in one shape.')
  return { re, im }
})
/** A real array. */
export const real: Kind<AnyExpr, unknown> = kind((given, _what, op) => {
  const pair = pairIn(given, op)
  if (pair?.re !== undefined && pair.im !== undefined) badInput(op, 'it is a complex pair.', `give a real array, or call ${op.slice(1)}.`)
  return arrayOf(given, op, 'float')
})
/** The first n elements along the axis, with zeros behind where there are fewer. */
export const resized = (x: AnyExpr, axis: number, n: number): AnyExpr => {
  const more = n - x.shape[axis]!
  return more <= 0
    ? part(x, axis, 0, n)
    : pad(
        x,
        x.shape.map((_, i): [number, number] => [0, i === axis ? more : 0]),
      )
}
/** `size` elements of the last axis. */
export const lastPart = (x: AnyExpr, start: number, size: number): AnyExpr => part(x, x.shape.length - 1, start, size)
/** Its length. */
export const hasLast = (x: AnyExpr, op: string, what: string): number => {
  const n = x.shape.at(-1)
  if (n === undefined || n === 0)
    badInput(op, `${what} ${n === 0 ? 'has no element along its last axis' : 'is a number'}.`, 'give at least one sample.')
  return n!
}
