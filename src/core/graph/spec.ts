/** Declared inputs: `f32(2, 3)`, `f32('batch', 3)`; and how arguments are held against a declaration. */

import { shown } from '../errors/check-arguments.js'
import { badDtype, badInput, badShape, showShape } from '../errors/explain.js'
import { meantArray } from '../errors/hints.js'
import { holds, unreadable } from '../errors/language.js'
import type { DType } from '../types/dtype.js'
import type { Spec as PublicSpec } from '../types/expr.js'
import type { Dim } from '../types/shape.js'
import { type Aval, aval, isFloat, itemBytes } from './aval.js'
import { isExpr, type Node } from './expr.js'
import type { NDArray } from './ndarray.js'
import { sameShape, sizeOf } from './shape.js'
import { describe, dtypeOfTypedArray, intactArray, isTensor, makeTensor, shapeOfNested } from './tensor.js'
import { flatten, isLeaf, type TreeDef } from './tree.js'
import { declared, isWeak } from './weak.js'

/** A declared input; named dimensions are bound at each call. */
export interface Spec {
  readonly _tag: 'Spec'
  readonly shape: readonly Dim[]
  readonly dtype: DType
  /** What to do where an argument does not fit, if there is more to say than that. */
  readonly fix?: string
}
/** A spec is plain data: what has its parts is one, whoever wrote it. */
export const isSpec = (x: unknown): x is Spec => {
  if (typeof x !== 'object' || x === null) return false
  const { _tag, shape, dtype } = x as Readonly<Record<string, unknown>>
  return _tag === 'Spec' && Array.isArray(shape) && shape.every(isDim) && Object.hasOwn(itemBytes, dtype as PropertyKey)
}
const isDim = (d: unknown): d is Dim => (typeof d === 'string' ? d !== '' : Number.isInteger(d) && (d as number) >= 0)

const spec =
  <D extends DType>(dtype: D) =>
  <const S extends Dim[]>(...shape: S): PublicSpec<S, D> => {
    for (const d of shape)
      if (!isDim(d))
        badInput(
          dtype,
          `${shown(d)} is not a dimension.`,
          holds(() => Array.isArray(d)) ? `give sizes one by one: ${dtype}(2, 3).` : 'give a non-negative integer or a name.',
        )
    return Object.freeze({ _tag: 'Spec', shape: Object.freeze([...shape]), dtype }) as unknown as PublicSpec<S, D>
  }

/** A declared f64 input. @example f64('batch', 3)   // { _tag: 'Spec', shape: ['batch', 3], dtype: 'f64' } */
export const f64 = /*#__PURE__*/ spec('f64')
/** A declared f32 input. @example f32(2, 3).shape   // [2, 3] */
export const f32 = /*#__PURE__*/ spec('f32')
/** A declared i32 input: never differentiated. @example i32('batch').dtype   // 'i32' */
export const i32 = /*#__PURE__*/ spec('i32')
/** A declared boolean input: never differentiated. @example bool(3).dtype   // 'bool' */
export const bool = /*#__PURE__*/ spec('bool')

/** A declaration taken apart: a spec at each leaf. `where` is what it is given to. */
export const readDeclaration = (declaration: unknown, where: string): { readonly specs: readonly Spec[]; readonly def: TreeDef } => {
  const { leaves, def } = flatten(declaration, `the declaration of ${where}`, (x) => isSpec(x) || (isLeaf(x) && !Array.isArray(x)))
  const specs = leaves.map((s) =>
    isSpec(s)
      ? s
      : badInput(where, `a leaf of the declaration is not a dtype with a shape: ${shown(s)}.`, "use f64(2, 3), f32('batch', 3), ..."),
  )
  return { specs, def }
}

/** Sizes of named dimensions, by name. */
export type Sizes = Map<string, { readonly size: number; readonly path: string }>

/** The aval of a declared input under a binding of names; an unbound name is an error. */
export const resolveSpec = (s: Spec, names: Sizes | undefined, where: string): Aval =>
  aval(
    s.shape.map((d) =>
      typeof d === 'number' ? d : (names?.get(d)?.size ?? badInput(where, `the size of '${d}' is not known.`, `give { ${d}: n }.`)),
    ),
    s.dtype,
  )

/** Holds a shape against a declaration, binding names; raises ShapeMismatch naming both. */
export const matchShape = (shape: readonly number[], s: Spec, names: Sizes, path: string): void => {
  const clash = (reason: string): never =>
    badShape(
      path,
      [shape, s.shape.map((d) => (typeof d === 'number' ? d : (names.get(d)?.size ?? -1)))],
      reason,
      s.fix ?? `pass ${s.dtype} [${s.shape.join(', ')}].`,
    )
  if (shape.length !== s.shape.length) clash(`got ${showShape(shape)}, declared ${showShape(s.shape)}.`)
  s.shape.forEach((d, i) => {
    if (typeof d === 'number') {
      if (d !== shape[i]) clash(`got ${showShape(shape)}, declared ${showShape(s.shape)} (${shape[i]} is not ${d}).`)
      return
    }
    const bound = names.get(d)
    if (bound === undefined) names.set(d, { size: shape[i]!, path })
    else if (bound.size !== shape[i]) clash(`'${d}' is ${shape[i]} here and ${bound.size} in ${bound.path}.`)
  })
}

const arrayOf: Readonly<Record<DType, string>> = { f64: 'Float64Array', f32: 'Float32Array', i32: 'Int32Array', bool: 'Uint8Array' }
/** The declared shape of an array that comes without one; the size of one axis may follow from its length. Undefined where it does not fill it. */
const shapeOfFlat = (length: number, s: Spec, names: Sizes): readonly number[] | undefined => {
  const sizes = s.shape.map((d) => (typeof d === 'number' ? d : names.get(d)?.size))
  const open = sizes.indexOf(undefined)
  if (open < 0) return sizeOf(sizes as number[]) === length ? (sizes as number[]) : undefined
  sizes[open] = 1
  if (sizes.includes(undefined)) return undefined
  const rest = sizeOf(sizes as number[])
  sizes[open] = length / rest
  if (rest === 0 || !Number.isInteger(sizes[open])) return undefined
  return sizes as number[]
}
/** A leaf of an argument: an expression, or a concrete array (converted to the declared dtype). */
export const readLeaf = (x: unknown, s: Spec | undefined, names: Sizes, path: string): Node | NDArray => {
  try {
    return leafOf(x, s, names, path)
  } catch (e) {
    return unreadable(e, path)
  }
}
const leafOf = (x: unknown, s: Spec | undefined, names: Sizes, path: string): Node | NDArray => {
  if (isExpr(x) || isTensor(x)) {
    if (isTensor(x)) x.intact(path)
    else if (s !== undefined && isFloat(s.dtype) && isWeak(x)) return leafOf(declared(x, s.dtype), s, names, path)
    if (s !== undefined) {
      if (x.dtype !== s.dtype)
        badDtype(
          path,
          [x.dtype, s.dtype],
          `got ${x.dtype}, declared ${s.dtype}`,
          `${isTensor(x) ? `make it ${s.dtype} where it is made: tensor(data, shape, '${s.dtype}'); or` : 'write'} cast(x, '${s.dtype}')${isTensor(x) ? ' in a function' : ''}; or declare ${x.dtype}.`,
        )
      matchShape(x.shape, s, names, path)
    }
    return x
  }
  const typed = dtypeOfTypedArray(x)
  if (typed !== undefined) {
    const data = intactArray(x as NDArray['data'], path)
    if (s === undefined) return { shape: [data.length], dtype: typed, data }
    if (typed !== s.dtype)
      badDtype(
        path,
        [typed, s.dtype],
        `got a ${(x as object).constructor.name}, declared ${s.dtype}`,
        `write tensor(data, shape, '${s.dtype}')${s.dtype === 'bool' ? '' : `, or ${arrayOf[s.dtype]}.from(x)`}; or declare ${typed}.`,
      )
    const shape = shapeOfFlat(data.length, s, names) ?? [data.length]
    matchShape(shape, s, names, path)
    return { shape, dtype: typed, data }
  }
  if (ArrayBuffer.isView(x))
    return badInput(
      path,
      `a ${(x as object).constructor.name} has no dtype here.`,
      `use Float64Array, Float32Array, Int32Array, or Uint8Array for bool.`,
    )
  if (typeof x !== 'number' && typeof x !== 'boolean' && !Array.isArray(x))
    return badInput(
      path,
      `${describe(x)} is not a number, an array or a tensor.`,
      typeof x === 'bigint' || typeof x === 'symbol' ? 'pass numbers, nested arrays or tensors.' : meantArray(x),
    )
  const shape = shapeOfNested(x, path)
  if (s !== undefined) {
    if (s.shape.length === shape.length) matchShape(shape, s, names, path)
    else if (
      !(
        shape.length === 1 &&
        s.shape.every((d) => typeof d === 'number' || names.has(d)) &&
        sizeOf(resolveSpec(s, names, path).shape) === shape[0]
      )
    )
      matchShape(shape, s, names, path)
    const to = resolveSpec(s, names, path)
    return makeTensor(x, sameShape(shape, to.shape) ? undefined : to.shape, s.dtype, path)
  }
  return makeTensor(x, undefined, undefined, path)
}
