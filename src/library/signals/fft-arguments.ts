/** What transforms are given: pairs, lengths, last axes. */
import { integerOf } from '../../core/errors/check-arguments.js'
import { raise } from '../../core/errors/explain.js'
import { reading } from '../../core/errors/language.js'
import { asExpr, asNode } from '../../core/graph/expr.js'
import { liftFloat } from '../../core/graph/lift.js'
import { slice } from '../../core/ops/layout.js'
import { broadcastAvals, liftFloats } from '../../core/ops/lifted.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { Parts } from './fft-core.js'

/** What is given, where it is a pair: read once. */
export const pairIn = (given: unknown, op: string): { readonly re: unknown; readonly im: unknown } | undefined =>
  typeof given !== 'object' || given === null
    ? undefined
    : reading(op, () =>
        're' in given || 'im' in given ? { re: (given as { re?: unknown }).re, im: (given as { im?: unknown }).im } : undefined,
      )
/** A pair or a real array, in one float dtype. */
export const complexOf = (given: unknown, op: string): Parts => {
  const pair = pairIn(given, op)
  if (pair === undefined) return { re: asExpr(liftFloat(given as never, op)) }
  if (pair.re === undefined || pair.im === undefined)
    raise({
      _tag: 'BadInput',
      where: op,
      reason: `it has no ${pair.re === undefined ? 're' : 'im'}.`,
      fix: 'give { re, im }, or a real array.',
    })
  const [re, im] = liftFloats([pair.re, pair.im], op, false)
  if (broadcastAvals([re!.aval, im!.aval], op).length >= 0 && `${re!.shape}` !== `${im!.shape}`)
    raise({
      _tag: 'ShapeMismatch',
      op,
      shapes: [re!.shape, im!.shape],
      reason: 'the real and the imaginary part have different shapes.',
      fix: 'give both in one shape.',
    })
  return { re: asExpr(re!), im: asExpr(im!) }
}
/** A positive whole number. */
export const positive = (n: unknown, op: string, what = 'n'): number => {
  const given = integerOf(n, what, op)
  return given > 0 ? given : raise({ _tag: 'BadInput', where: op, reason: `${what} is ${given}.`, fix: 'give a positive whole number.' })
}
export const shapeOf = (x: AnyExpr): readonly number[] => asNode(x).shape
/** Elements from..to of the last axis. */
export const lastPart = (x: AnyExpr, from: number, to: number): AnyExpr => {
  const shape = shapeOf(x)
  const last = shape.length - 1
  return slice(
    x,
    shape.map((_, i) => (i === last ? from : 0)),
    shape.map((d, i) => (i === last ? to : d)),
  ) as AnyExpr
}
/** Its length. */
export const hasLast = (x: AnyExpr, op: string, what: string): number => {
  const n = shapeOf(x).at(-1)
  if (n === undefined || n === 0)
    raise({
      _tag: 'BadInput',
      where: op,
      reason: `${what} ${n === 0 ? 'has no element along its last axis' : 'is a number'}.`,
      fix: 'give at least one sample.',
    })
  return n!
}
