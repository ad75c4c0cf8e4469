/** From what a user writes (expressions, tensors, numbers, nested arrays) to nodes; one place for promotion of literals. */

import { raise } from '../errors/explain.js'
import { meantArray } from '../errors/hints.js'
import { unreadable } from '../errors/language.js'
import type { DType } from '../types/dtype.js'
import { isFloat, promote } from './aval.js'
import { asNode, constant, isExpr, type Node } from './expr.js'
import { describe, dtypeOfTypedArray, int32, isTensor, makeTensor } from './tensor.js'
import { arrayOf, beside, isWeak, numberOf, promoted } from './weak.js'

/** What every operation accepts as an argument. */
export type Liftable = unknown

/** A node for one argument; a bare number or array takes `dtype` (where none is given it is f64, and nobody has declared that). */
export const lift = (x: Liftable, op: string, dtype?: DType): Node => {
  if (isExpr(x)) return asNode(x)
  if (typeof x === 'number') {
    if (dtype === 'i32' && x !== (x | 0)) return notInt(x, op)
    return dtype === undefined ? numberOf(x) : constant(x, dtype)
  }
  if (typeof x === 'boolean') return constant(x ? 1 : 0, 'bool')
  if (isTensor(x)) return x.node
  try {
    return liftArray(x, op, dtype)
  } catch (e) {
    return unreadable(e, op)
  }
}
const liftArray = (x: unknown, op: string, dtype: DType | undefined): Node => {
  const typed = dtypeOfTypedArray(x)
  if (typed !== undefined) return makeTensor(x, undefined, typed, op).node
  if (Array.isArray(x)) return arrayOf(makeTensor(x, undefined, dtype, op))
  return raise({
    _tag: 'BadInput',
    where: op,
    reason: `${describe(x)} is not an expression, a tensor, a number or an array.`,
    fix: meantArray(x),
  })
}
const notInt = (x: number, op: string): never =>
  Number.isInteger(x) || !Number.isFinite(x)
    ? (int32(x, op, () => 'a number beside an i32') as never)
    : raise({
        _tag: 'DTypeMismatch',
        op,
        dtypes: ['i32'],
        reason: `the fraction ${x} beside an i32`,
        fix: `cast the i32 to f32 or f64 first.`,
      })

const isBare = (x: unknown): boolean => typeof x === 'number' || Array.isArray(x)

/**
 * Dtype that the typed operands among xs agree on by promotion; undefined when all are bare numbers. Beside an f32, an f64 that nobody
 * declared has no say.
 */
const commonDType = (xs: readonly Liftable[]): DType | undefined => {
  let d: DType | undefined
  let f32 = false
  for (const x of xs) {
    if (isBare(x)) continue
    const own: DType | undefined = isExpr(x) || isTensor(x) ? x.dtype : typeof x === 'boolean' ? 'bool' : dtypeOfTypedArray(x)
    if (own === 'f32') f32 = true
    if (own !== undefined) d = d === undefined ? own : promote(d, own)
  }
  return d === 'f64' && f32 && !xs.some(isDeclaredF64) ? 'f32' : d
}
const isDeclaredF64 = (x: Liftable): boolean =>
  isExpr(x) ? x.dtype === 'f64' && !isWeak(asNode(x)) : isTensor(x) ? x.dtype === 'f64' : x instanceof Float64Array

const dtypeAmong = (xs: readonly Liftable[], op: string): DType | undefined => {
  try {
    return commonDType(xs)
  } catch (e) {
    return unreadable(e, op)
  }
}

/** All arguments as nodes of one dtype: promoted, numbers resolved against their siblings; `least` promotes further (e.g. 'f32' for means). */
export const liftAll = (xs: readonly Liftable[], op: string, least?: DType): Node[] => {
  const common = dtypeAmong(xs, op)
  const d = common === undefined ? 'f64' : least === undefined ? common : promote(common, least)
  return xs.map((x) => promoted(common === undefined && typeof x === 'number' ? lift(x, op) : lift(x, op, d), d))
}

/** One argument that must be a float: i32 and bool become f64. */
export const liftFloat = (x: Liftable, op: string): Node => {
  const n = lift(x, op)
  return isFloat(n.dtype) ? n : promoted(n, 'f64')
}

/** An array and what is put into it: an array without a dtype takes that of the floats put into it. */
export const liftInto = (x: Liftable, values: Liftable, op: string): readonly [Node, Node] => {
  const n = lift(x, op)
  const v = lift(values, op, n.dtype)
  const into = isFloat(v.dtype) && !isWeak(v) ? beside(n, v.dtype) : n
  return [into, beside(v, into.dtype)]
}

/** Two arguments for an elementwise binary operation: the fast path of building. */
export const liftPair = (a: Liftable, b: Liftable, op: string): readonly [Node, Node] => {
  if (isExpr(a)) {
    if (isExpr(b)) {
      if (a.aval.dtype === b.aval.dtype) return [asNode(a), asNode(b)]
    } else if (typeof b === 'number') return [asNode(a), lift(b, op, a.aval.dtype)]
  }
  const [x, y] = liftAll([a, b], op)
  return [x!, y!]
}
