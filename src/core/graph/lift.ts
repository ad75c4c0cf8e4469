/** From what a user writes (expressions, tensors, numbers, nested arrays) to nodes; one place for promotion of literals. */

import { badDtype, badInput } from '../errors/explain.js'
import { meantArray } from '../errors/hints.js'
import { unreadable } from '../errors/language.js'
import type { DType } from '../types/dtype.js'
import { isFloat, promote } from './aval.js'
import { castNode } from './cast.js'
import { asNode, constant, isExpr, type Node } from './expr.js'
import { describe, dtypeOfTypedArray, int32, isBooleans, isTensor, makeTensor } from './tensor.js'
import { arrayOf, beside, isWeak, numberOf, promoted } from './weak.js'

/** What every operation accepts as an argument. */
export type Liftable = unknown

/**
 * What an operation computes in, whatever it is given: any dtype; an order, which is among numbers beside plain numbers (`maximum(mask, 2)`); numbers, where
 * bool counts as i32; or floats, where i32 and bool become f64. The one place that says so.
 */
export type Computes = 'any' | 'order' | 'number' | 'float'
const computed = (dtype: DType, computes: Computes, plain: boolean): DType =>
  computes === 'any' || isFloat(dtype)
    ? dtype
    : computes === 'float'
      ? 'f64'
      : dtype === 'bool' && (computes === 'number' || plain)
        ? 'i32'
        : dtype

/** A node for one argument; a bare number or array takes `dtype` (where none is given it is f64, and nobody has declared that). */
export const lift = (x: Liftable, op: string, dtype?: DType): Node => {
  if (isExpr(x)) return asNode(x)
  if (typeof x === 'number') {
    if (dtype === 'i32' && x !== (x | 0)) return notInt(x, op)
    if (dtype === 'bool' && x !== 0 && x !== 1) return notBool(x, op)
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
  if (Array.isArray(x)) {
    const made = makeTensor(x, undefined, dtype, op)
    if (dtype === 'bool' && !isBooleans(x)) {
      const other = makeTensor(x, undefined, 'f64', op).data.find((v) => v !== 0 && v !== 1)
      if (other !== undefined) return notBool(other, op)
    }
    return arrayOf(made)
  }
  return badInput(op, `${describe(x)} is not an expression, a tensor, a number or an array.`, meantArray(x))
}
const notInt = (x: number, op: string): never =>
  Number.isInteger(x) || !Number.isFinite(x)
    ? (int32(x, op, () => 'a number beside an i32') as never)
    : badDtype(op, ['i32'], `the fraction ${x} beside an i32`, `cast the i32 to f32 or f64 first; booleans count as i32.`)

const notBool = (x: number, op: string): never =>
  badDtype(
    op,
    ['bool'],
    `the number ${x} beside booleans`,
    `cast the booleans to i32, f32 or f64 first; or compare the numbers with 0, ne(x, 0).`,
  )

/** A number or numbers, which take the dtype of what stands beside them. */
const isBare = (x: unknown): boolean => typeof x === 'number' || (Array.isArray(x) && !isBooleans(x))

/**
 * Dtype that the typed operands among xs agree on by promotion; undefined when all are bare numbers. Beside an f32, an f64 that nobody
 * declared has no say.
 */
const commonDType = (xs: readonly Liftable[]): DType | undefined => {
  let d: DType | undefined
  let f32 = false
  for (const x of xs) {
    if (isBare(x)) continue
    const own: DType | undefined =
      isExpr(x) || isTensor(x) ? x.dtype : typeof x === 'boolean' || Array.isArray(x) ? 'bool' : dtypeOfTypedArray(x)
    if (own === 'f32') f32 = true
    if (own !== undefined) d = d === undefined ? own : promote(d, own)
  }
  return d === 'f64' && f32 && !xs.some(isDeclaredF64) ? 'f32' : d
}
const isDeclaredF64 = (x: Liftable): boolean =>
  isExpr(x) ? x.dtype === 'f64' && !isWeak(asNode(x)) : isTensor(x) ? x.dtype === 'f64' : x instanceof Float64Array

/** The dtype that an operation computes in, of these arguments; undefined when all are bare numbers. */
const dtypeAmong = (xs: readonly Liftable[], op: string, computes: Computes): DType | undefined => {
  try {
    const common = commonDType(xs)
    return common === undefined ? undefined : computed(common, computes, xs.some(isBare))
  } catch (e) {
    return unreadable(e, op)
  }
}

/** All arguments as nodes of one dtype, in which the operation computes: promoted, numbers resolved against their siblings. */
export const liftAll = (xs: readonly Liftable[], op: string, computes: Computes = 'any'): Node[] => {
  const d = dtypeAmong(xs, op, computes)
  if (d === undefined) return xs.map((x) => lift(x, op, typeof x === 'number' ? undefined : 'f64'))
  return xs.map((x) => promoted(lift(x, op, d), d))
}

/** One argument of i32 or bool, or of others that the caller refuses: bare numbers are i32. */
export const liftDiscrete = (x: Liftable, op: string): Node => {
  try {
    return lift(x, op, isBare(x) ? 'i32' : undefined)
  } catch (e) {
    return unreadable(e, op)
  }
}
/** Booleans as i32; others as they are. */
export const counted = (n: Node): Node => (n.dtype === 'bool' ? castNode(n, 'i32') : n)
/** One argument as a number: bool becomes i32. */
export const liftNumber = (x: Liftable, op: string): Node => counted(lift(x, op))
/** One argument that must be a float: i32 and bool become f64. */
export const liftFloat = (x: Liftable, op: string): Node => {
  const n = lift(x, op)
  return isFloat(n.dtype) ? n : promoted(n, 'f64')
}

/** An array and what is put into it: an array without a dtype takes that of the floats put into it. Floats do not go into integers, nor numbers into booleans. */
export const liftInto = (x: Liftable, values: Liftable, op: string): readonly [Node, Node] => {
  const n = lift(x, op)
  const v = lift(values, op, n.dtype)
  const into = isFloat(v.dtype) && !isWeak(v) ? beside(n, v.dtype) : n
  return [into, fitted(into.dtype, beside(v, into.dtype), op)]
}
/** Values as the dtype of the array that they are put into. */
export const fitted = (dtype: DType, v: Node, op: string): Node => {
  if (v.dtype !== dtype && !isFloat(dtype) && promote(v.dtype, dtype) !== dtype)
    badDtype(op, [dtype, v.dtype], `${v.dtype} values in an array of ${dtype}`, 'cast one of them.')
  return castNode(v, dtype)
}

/** Two arguments for an elementwise binary operation: the fast path of building. */
export const liftPair = (a: Liftable, b: Liftable, op: string, computes: Computes = 'any'): readonly [Node, Node] => {
  if (isExpr(a)) {
    const { dtype } = a.aval
    if (isExpr(b)) {
      if (dtype === b.aval.dtype && computed(dtype, computes, false) === dtype) return [asNode(a), asNode(b)]
    } else if (typeof b === 'number' && computed(dtype, computes, true) === dtype) return [asNode(a), lift(b, op, dtype)]
  }
  const [x, y] = liftAll([a, b], op, computes)
  return [x!, y!]
}
