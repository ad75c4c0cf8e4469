/**
 * What a rule returned, held against what belongs there: lists of the right length, expressions and zeros, shapes and dtypes. Each mistake is
 * one error that names the primitive, the facet and the place. Constant work for each call of a rule: nothing is forced that nobody asked for.
 */

import { shown } from '../core/errors/check-arguments.js'
import { badDtype, badInput, badShape, raise } from '../core/errors/explain.js'
import { type Aval, isFloat, sameAval, showAval } from '../core/graph/aval.js'
import { asExpr, isExpr, type Node } from '../core/graph/expr.js'
import type { AnyPrimitive } from '../core/graph/primitive.js'
import { sameShape } from '../core/graph/shape.js'
import type { Tangent } from '../core/graph/tangent.js'
import { isTensor } from '../core/graph/tensor.js'
import { beside } from '../core/graph/weak.js'

/** A facet of a primitive's rule, as messages name it. */
export type Facet = 'frule' | 'rrule' | 'pullback' | 'batch rule'
const nameOf = (prim: AnyPrimitive, facet: Facet): string => `the ${facet} of ${prim.name}`
const bad = (prim: AnyPrimitive, facet: Facet, reason: string, fix: string): never => badInput(nameOf(prim, facet), reason, fix)

/** A tensor is an expression to users: here it becomes a constant. */
const lifted = (x: unknown): unknown => (isTensor(x) ? asExpr(x.node) : x)

/** The place of an argument or a result in words: its number, where there are several. */
const placed = (what: string, k: number, count: number, noun: string): string => (count === 1 ? what : `${what} of ${noun} ${k}`)

/** A list with one item for each argument or result. */
export const listFrom = <A>(
  prim: AnyPrimitive,
  facet: Facet,
  given: readonly A[],
  count: number,
  what: string,
  each: string,
): readonly A[] => {
  if (Array.isArray(given) && given.length === count) return given
  return bad(
    prim,
    facet,
    `it returned ${Array.isArray(given) ? `${given.length} ${what}s` : `${shown(given)} as its list of ${what}s`}, there ${count === 1 ? `is 1 ${each}` : `are ${count} ${each}s`}.`,
    `return a list with one ${what} for each ${each}${each === 'argument' ? ': ZeroTangent where it does not depend on it, NoTangent for integers' : ''}.`,
  )
}

/** The pullback that an rrule returned. */
export const functionFrom = <F>(prim: AnyPrimitive, facet: Facet, given: F): F =>
  typeof given === 'function'
    ? given
    : bad(prim, facet, `its pullback is ${shown(given)}.`, 'return [y, pullback], the pullback a function of yBar.')

/** An aval beside the one that belongs there: nothing where they are the same. */
const mismatch = (prim: AnyPrimitive, facet: Facet, what: string, found: Aval, want: Aval, fix: string): void => {
  if (sameAval(found, want)) return
  const op = nameOf(prim, facet)
  const reason = `${what} is ${showAval(found)}, it must be ${showAval(want)}.`
  if (sameShape(found.shape, want.shape)) badDtype(op, [found.dtype, want.dtype], reason, 'cast it.')
  badShape(op, [found.shape, want.shape], reason, fix)
}

/** The values that a rule returned: expressions of the avals of the primitive's results. */
export const valuesFrom = (prim: AnyPrimitive, facet: Facet, given: readonly unknown[], want: readonly Node[]): readonly Node[] => {
  const list = listFrom(prim, facet, given, want.length, 'value', 'result')
  if (list.every((y, r) => y === want[r])) return want
  return list.map((returned, r) => {
    const y = lifted(returned)
    const own = want[r]!
    if (y === own) return own
    const what = placed('the value', r, want.length, 'result')
    if (!isExpr(y))
      return bad(
        prim,
        facet,
        `${what} is ${shown(y)}, it must be an expression, ${showAval(own.aval)}.`,
        'return y as the rule is given it.',
      )
    const n = beside(y, own.dtype)
    mismatch(prim, facet, what, n.aval, own.aval, 'return y as the rule is given it.')
    return n
  })
}

const tags: ReadonlySet<unknown> = new Set<Tangent['_tag']>(['NoTangent', 'ZeroTangent', 'NotImplemented', 'Thunk', 'InplaceableThunk'])
/** Is it an expression, a zero, a thunk, or a derivative that is not known? */
const isTangent = (x: unknown): x is Tangent =>
  isExpr(x) || (typeof x === 'object' && x !== null && tags.has((x as { readonly _tag?: unknown })._tag))

/** What a rule returned as the tangent of result k, or as the cotangent of argument k. */
export const tangentFrom = (prim: AnyPrimitive, facet: Facet, returned: unknown, of: Aval, k: number, count: number): Tangent => {
  const given = lifted(returned)
  const forward = facet === 'frule'
  const what = (): string => placed(forward ? 'the tangent' : 'the cotangent', k, count, forward ? 'result' : 'argument')
  if (!isTangent(given))
    return bad(
      prim,
      facet,
      `${what()} is ${shown(given)}, it must be an expression, ${showAval(of)}.`,
      'return an expression, a thunk of one, or ZeroTangent where it does not move.',
    )
  if (given._tag === 'NoTangent' && isFloat(of.dtype))
    return bad(
      prim,
      facet,
      `${what()} is NoTangent, but ${forward ? 'the result' : 'the argument'} is ${showAval(of)}.`,
      'NoTangent is for integers and booleans; return ZeroTangent where it does not move.',
    )
  return given
}

/** A (co)tangent that is neither of its place's space nor projected onto it. */
export const wrongSpace = (prim: AnyPrimitive, facet: Facet, found: Aval, want: Aval, k: number, count: number): never => {
  const forward = facet === 'frule'
  mismatch(
    prim,
    facet,
    placed(forward ? 'the tangent' : 'the cotangent', k, count, forward ? 'result' : 'argument'),
    found,
    want,
    forward ? 'give it the shape of the result.' : 'give it the shape of the argument: broadcastTo, or sum over what was broadcast.',
  )
  return raise({ _tag: 'InternalLaw', law: 'what is wrong differs from what belongs there', detail: showAval(found) })
}

/** The results of a batch rule: those of one example, with the axis in front. */
export const batchFrom = (
  prim: AnyPrimitive,
  facet: Facet,
  given: readonly unknown[],
  want: readonly Aval[],
  size: number,
): readonly Node[] =>
  listFrom(prim, facet, given, want.length, 'value', 'result').map((returned, r) => {
    const y = lifted(returned)
    const { shape, dtype } = want[r]!
    const what = placed('the value', r, want.length, 'result')
    const wide = `${dtype} [${[size, ...shape].join(', ')}]`
    if (!isExpr(y)) return bad(prim, facet, `${what} is ${shown(y)}, it must be an expression, ${wide}.`, 'return an expression.')
    const n = beside(y, dtype)
    const fits = n.shape.length === shape.length + 1 && n.shape[0] === size && shape.every((d, i) => n.shape[i + 1] === d)
    if (fits && n.dtype === dtype) return n
    const reason = `${what} is ${showAval(n.aval)}, it must be ${wide}: the batch axis of ${size} in front of one example's.`
    return fits
      ? badDtype(nameOf(prim, facet), [n.dtype, dtype], reason, 'cast it.')
      : badShape(
          nameOf(prim, facet),
          [n.shape, [size, ...shape]],
          reason,
          'arguments with batched[i] have the axis in front, the others do not: batchAll gives it to all.',
        )
  })
