/** The io-ts codec of declared inputs: numbers, nested and typed arrays, tensors or their JSON into tensors, every error with its path. */

import type * as t from 'io-ts'
import { listOf, shown } from '../errors/check-arguments.js'
import type { AdError, AdException } from '../errors/error.js'
import { badInput, explain, showShape } from '../errors/explain.js'
import { holds, unreadable } from '../errors/language.js'
import { allocate, type TypedArray } from '../graph/ndarray.js'
import { numberFromJSON } from '../graph/numbers.js'
import { typed } from '../graph/operation.js'
import { sizeOf } from '../graph/shape.js'
import { readDeclaration, type Sizes, type Spec } from '../graph/spec.js'
import { describe, dtypeOfTypedArray, intactArray, isTensor, nestedJSON, Tensor } from '../graph/tensor.js'
import { flatten, leafCount, showDef, type TreeDef, unflatten } from '../graph/tree.js'
import type { DType } from '../types/dtype.js'
import type { CodecFn } from '../types/signatures/run.js'
import { ioTs } from './io-ts.js'

/** At most this many errors are listed for one leaf; one more says how many follow. */
const LISTED = 100

/** Where a value lies: the keys and indices that lead to it. */
type Path = readonly (string | number)[]
/** `params.w.2`. */
const showPath = (path: Path): string => path.join('.') || 'input'

/** Collects errors; `at` records one. */
interface Report {
  readonly errors: t.ValidationError[]
  readonly at: (path: Path, value: unknown, reason: string) => void
}
const report = (context: t.Context, codec: t.Decoder<unknown, unknown>): Report => {
  const errors: t.ValidationError[] = []
  return {
    errors,
    at: (path, value, reason) => {
      const steps: t.ContextEntry[] = path.map((key) => ({ key: String(key), type: codec }))
      errors.push({ value, context: [...context, ...steps], message: `${showPath(path)}: ${reason}` })
    },
  }
}

/** The number an entry stands for, or why it is none. JSON has no NaN, infinities and -0: they are written as text. */
const entry = (x: unknown, dtype: DType): number | string => {
  const n = dtype === 'bool' && typeof x === 'boolean' ? Number(x) : numberFromJSON(x)
  if (n === undefined) return `${describe(x)} is not ${dtype === 'bool' ? 'a boolean' : 'a number'}`
  if (dtype === 'bool' && n !== 0 && n !== 1) return `${n} is not a boolean`
  if (dtype === 'i32' && n !== (n | 0)) return `${n} is not an i32`
  if (dtype === 'f32' && Number.isFinite(n) && !Number.isFinite(Math.fround(n))) return `${n} is beyond f32`
  return n
}

/** An array as it came: its shape, and its entries in row-major order. */
interface Found {
  readonly shape: readonly number[]
  readonly entries: ArrayLike<unknown>
  /** The path of entry i. */
  readonly path: (i: number) => Path
}

/** Nested arrays of at most `rank` levels; undefined, with errors reported, where they are ragged or too deep. */
const nested = (x: unknown, rank: number, path: Path, r: Report): Found | undefined => {
  const shape: number[] = []
  for (let y = x; Array.isArray(y) && shape.length <= rank; y = y[0]) shape.push(y.length)
  if (shape.length > rank) {
    r.at(path, x, `nested deeper than ${rank} level${rank === 1 ? '' : 's'}`)
    return undefined
  }
  const entries: unknown[] = []
  let bad = 0
  const wrong = (at: Path, value: unknown, reason: string): void => {
    if (++bad <= LISTED) r.at(at, value, reason)
  }
  const at: number[] = []
  const go = (y: unknown, depth: number): void => {
    if (depth === shape.length) {
      if (Array.isArray(y)) wrong([...path, ...at], y, `ragged: found ${describe(y)} where its neighbours are numbers`)
      else entries.push(y)
    } else if (!Array.isArray(y)) wrong([...path, ...at], y, `ragged: expected an array of ${shape[depth]}, found ${describe(y)}`)
    else if (y.length !== shape[depth]) wrong([...path, ...at], y, `ragged: expected ${shape[depth]} entries, found ${y.length}`)
    else {
      let holes = 0
      for (let i = 0; i < y.length; i++) {
        // A sparse array may have any length, and no entries.
        if (!(i in y) && ++holes > LISTED) {
          wrong([...path, ...at.slice(0, depth)], y, `sparse: more than ${LISTED} of its ${y.length} entries are holes`)
          break
        }
        at[depth] = i
        go(y[i], depth + 1)
      }
      at.length = depth
    }
  }
  go(x, 0)
  if (bad > LISTED) r.at(path, x, `and ${bad - LISTED} more errors`)
  return bad > 0 ? undefined : { shape, entries, path: (i) => [...path, ...indices(i, shape)] }
}
/** The indices of the i-th entry. */
const indices = (i: number, shape: readonly number[]): number[] => {
  const out: number[] = []
  let rest = i
  for (let d = shape.length - 1; d >= 0; d--) {
    out.unshift(rest % shape[d]!)
    rest = Math.floor(rest / shape[d]!)
  }
  return out
}

const isShape = (x: unknown): x is readonly number[] =>
  Array.isArray(x) && x.length <= 32 && x.every((d) => Number.isInteger(d) && d >= 0) && Number.isSafeInteger(sizeOf(x))

/** The array at a leaf; undefined, with errors reported, where there is none. */
const foundAt = (x: unknown, s: Spec, path: Path, r: Report): Found | undefined => {
  const typed = (data: TypedArray, shape: readonly number[], dtype: DType | undefined): Found | undefined => {
    if (dtype === s.dtype) return { shape, entries: data, path: (i) => [...path, ...indices(i, shape)] }
    r.at(path, x, `is ${dtype}, declared ${s.dtype}`)
    return undefined
  }
  if (isTensor(x)) return typed(x.intact(showPath(path)).data, x.shape, x.dtype)
  const dtype = dtypeOfTypedArray(x)
  if (dtype !== undefined) return typed(intactArray(x as TypedArray, showPath(path)), [(x as TypedArray).length], dtype)
  if (typeof x !== 'object' || x === null || Array.isArray(x)) return nested(x, s.shape.length, path, r)
  const json = x as Record<string, unknown>
  if (!(Object.hasOwn(json, 'shape') && Object.hasOwn(json, 'dtype') && Object.hasOwn(json, 'data'))) {
    r.at(path, x, `${describe(x)} is not a number, an array or { shape, dtype, data }`)
    return undefined
  }
  if (!isShape(json.shape)) r.at([...path, 'shape'], json.shape, 'is not a shape')
  else if (json.dtype !== s.dtype) r.at([...path, 'dtype'], json.dtype, `is ${describe(json.dtype)}, declared ${s.dtype}`)
  else {
    const { shape } = json
    const f = nested(json.data, Math.max(1, shape.length), [...path, 'data'], r)
    if (f === undefined) return undefined
    const same = f.shape.length === shape.length && f.shape.every((d, i) => d === shape[i])
    const flat = f.shape.length === 1 && f.entries.length === sizeOf(shape)
    if (same || flat) return { ...f, shape }
    r.at([...path, 'data'], json.data, `is ${showShape(f.shape)}, which does not fill ${showShape(shape)}`)
  }
  return undefined
}

/** Holds a shape against the declaration, binding names. */
const fits = (shape: readonly number[], s: Spec, names: Sizes, path: Path, x: unknown, r: Report): boolean => {
  const got = `got ${showShape(shape)}, declared ${showShape(s.shape)}`
  if (shape.length !== s.shape.length) {
    r.at(path, x, got)
    return false
  }
  let good = true
  s.shape.forEach((d, i) => {
    const bound = typeof d === 'string' ? names.get(d) : undefined
    if (typeof d === 'string' && bound === undefined) names.set(d, { size: shape[i]!, path: showPath(path) })
    else if (bound !== undefined && bound.size !== shape[i]) {
      r.at(path, x, `'${d}' is ${shape[i]} here and ${bound.size} in ${bound.path}`)
      good = false
    } else if (typeof d === 'number' && d !== shape[i]) {
      r.at(path, x, `${got} (${shape[i]} is not ${d})`)
      good = false
    }
  })
  return good
}

const decodeLeaf = (x: unknown, s: Spec, names: Sizes, path: Path, r: Report): Tensor | undefined => {
  try {
    return leafFrom(x, s, names, path, r)
  } catch (e) {
    r.at(path, x, unread(e))
    return undefined
  }
}
/** Why a part of an input could not be read: a getter that throws, a buffer that is gone. */
const unread = (e: unknown): string => {
  try {
    return unreadable(e, 'codec')
  } catch (x) {
    return (x as AdException).error._tag === 'BadInput'
      ? ((x as AdException).error as { readonly reason: string }).reason
      : explain((x as AdException).error)
  }
}
const leafFrom = (x: unknown, s: Spec, names: Sizes, path: Path, r: Report): Tensor | undefined => {
  const found = foundAt(x, s, path, r)
  if (found === undefined) return undefined
  // A flat typed array fills a declared shape whose sizes are all known.
  const sizes = s.shape.map((d) => (typeof d === 'number' ? d : names.get(d)?.size))
  const flat = dtypeOfTypedArray(x) !== undefined && sizes.every((d) => d !== undefined) && sizeOf(sizes) === found.entries.length
  const shape = flat ? (sizes as number[]) : found.shape
  if (!fits(shape, s, names, path, x, r)) return undefined
  const data = allocate(s.dtype, found.entries.length)
  let bad = 0
  for (let i = 0; i < data.length; i++) {
    const n = entry(found.entries[i], s.dtype)
    if (typeof n === 'number') data[i] = n
    else if (++bad <= LISTED) r.at(found.path(i), found.entries[i], n)
  }
  if (bad > LISTED) r.at(path, x, `and ${bad - LISTED} more errors`)
  return bad > 0 ? undefined : new Tensor(Object.freeze([...shape]), s.dtype, data)
}

/** The leaves of an input along the declaration, with their paths; what is missing or extra is reported. */
const walk = (def: TreeDef, input: unknown, r: Report, leaf: (x: unknown, index: number, path: Path) => void): void => {
  /** Walks a part whose first leaf has this index: the index after its last. */
  const go = (d: TreeDef, x: unknown, path: Path, index: number): number => {
    const after = index + leafCount(d)
    if (d._tag === 'Leaf') leaf(x, index, path)
    else if (d._tag === 'Tuple') {
      if (!Array.isArray(x)) r.at(path, x, `expected ${d.items.length} entries, found ${describe(x)}`)
      else if (x.length !== d.items.length) r.at(path, x, `expected ${d.items.length} entries, found ${x.length}`)
      else d.items.reduce((at, item, i) => go(item, x[i], [...path, i], at), index)
    } else if (d._tag === 'Static') {
      if (!Object.is(d.value, x)) r.at(path, x, `expected ${showDef(d)}, found ${describe(x)}`)
    } else if (d._tag === 'Record') {
      if (typeof x !== 'object' || x === null || Array.isArray(x) || isTensor(x) || ArrayBuffer.isView(x)) {
        r.at(path, x, `expected a record of ${d.keys.join(', ')}, found ${describe(x)}`)
        return after
      }
      let at = index
      for (const [i, k] of d.keys.entries()) {
        const item = d.items[i]!
        if (Object.hasOwn(x, k)) go(item, (x as Record<string, unknown>)[k], [...path, k], at)
        else r.at([...path, k], undefined, 'is missing')
        at += leafCount(item)
      }
      for (const k of Object.keys(x)) if (!d.keys.includes(k)) r.at([...path, k], (x as Record<string, unknown>)[k], 'is not expected')
    }
    return after
  }
  try {
    go(def, input, [], 0)
  } catch (e) {
    r.at([], input, unread(e))
  }
}

/** A tensor as JSON keeps it: its entries, where they tell its shape. */
const encodeLeaf = (x: Tensor): unknown => (x.data.length === 0 && x.shape.length > 1 ? x.toJSON() : nestedJSON(x))

/**
 * The io-ts codec of the inputs a function declares.
 *
 * Decodes numbers, nested arrays, typed arrays, tensors and their JSON into fresh tensors; named sizes must agree between leaves.
 * Encodes to nested arrays that JSON keeps bit for bit. Every error has its path; `decodeError` makes one AdError of them.
 * @example codec({ x: f64('n', 2) }).decode({ x: [[1, 2]] })   // Right({ x: Tensor f64 [1, 2] [[1, 2]] })
 */
export const codec: CodecFn = typed((declaration: unknown): t.Type<unknown> => {
  const { specs, def } = readDeclaration(declaration, 'codec')
  const read = (input: unknown, r: Report, only: (x: unknown) => boolean): readonly (Tensor | undefined)[] => {
    const names: Sizes = new Map()
    const out = new Array<Tensor | undefined>(specs.length)
    walk(def, input, r, (x, i, path) => {
      if (only(x)) out[i] = decodeLeaf(x, specs[i]!, names, path, r)
      else r.at(path, x, 'is not a tensor')
    })
    return out
  }
  const io = ioTs()
  const type: t.Type<unknown> = new io.Type(
    'Inputs',
    (x): x is unknown => {
      const r = report([], type)
      read(x, r, isTensor)
      return r.errors.length === 0
    },
    (x, context) => {
      const r = report(context, type)
      const tensors = read(x, r, () => true)
      return r.errors.length > 0 ? io.failures(r.errors) : io.success(unflatten(def, tensors))
    },
    (x) => {
      const tree = flatten(x, 'codec')
      return unflatten(
        tree.def,
        tree.leaves.map((l) => (isTensor(l) ? encodeLeaf(l) : badInput('codec', `${shown(l)} is not a tensor.`))),
      )
    },
  )
  return type
})

const isValidationError = (x: unknown): x is t.ValidationError => {
  const { context, message } = (typeof x === 'object' && x !== null ? x : {}) as Partial<t.ValidationError>
  const isEntry = (c: unknown): boolean => typeof (c as Partial<t.ContextEntry> | null | undefined)?.key === 'string'
  return Array.isArray(context) && context.every(isEntry) && (message === undefined || typeof message === 'string')
}
/** Path and reason of one error. The codec may be a part of a larger one: then its message tells the last steps of the path only. */
const decoded = (e: t.ValidationError): { readonly path: string; readonly reason: string } => {
  const keys = e.context.map((c) => c.key).filter((k) => k !== '')
  for (let i = 0; i <= keys.length; i++) {
    const own = `${showPath(keys.slice(i))}: `
    if (e.message?.startsWith(own)) return { path: showPath(keys), reason: e.message.slice(own.length) }
  }
  return { path: showPath(keys), reason: e.message ?? `${describe(e.value)} is not valid` }
}

/**
 * The errors of a codec as one AdError with the path of each.
 *
 * @example
 * import { mapLeft } from 'fp-ts/lib/Either.js'
 * mapLeft(decodeError)(codec({ x: f64(2) }).decode({ x: 'a' }))   // Left({ _tag: 'Decode', errors: [{ path: 'x', ... }] })
 */
export const decodeError = (errors: t.Errors): AdError => ({
  _tag: 'Decode',
  errors: (listOf(errors, 'the errors', 'decodeError') as t.Errors).map((e) =>
    holds(() => isValidationError(e))
      ? decoded(e)
      : badInput('decodeError', `${shown(e)} is not an error of io-ts.`, 'give what decode has in Left.'),
  ),
})
