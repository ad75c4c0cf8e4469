/** Trees of tensors as safetensors, the format of parameters that PyTorch and JAX users have (huggingface.co/docs/safetensors). */

import type { Either } from 'fp-ts/lib/Either.js'
import { shown } from '../core/errors/check-arguments.js'
import { left, right } from '../core/errors/either.js'
import { badInput } from '../core/errors/explain.js'
import { reading } from '../core/errors/language.js'
import { type OptionsFor, readOptions, untouched } from '../core/errors/options.js'
import { type AdError, isAdException, raise, type Shape, type Spec, type Tensor, tensor, treeMap } from '../index.js'
import { readable, written } from './dtypes.js'
import { isRecord, reasonOf } from './given.js'
import { type Entry, type Fault, headerOf, LONGEST } from './header.js'
import { type Named, namedLeaves, tensorOf } from './names.js'

/** What a file says of itself besides its tensors. */
export type Metadata = Readonly<Record<string, string>>
/** Tensors by their names in a file. */
export type Flat = Readonly<Record<string, Tensor>>
/** What a template gets: tensors for declared inputs, and its own kinds of leaves elsewhere. */
export type Like<T> =
  T extends Spec<infer S, infer D>
    ? Tensor<{ -readonly [K in keyof S]: S[K] extends number ? S[K] : number } extends infer N extends Shape ? N : Shape, D>
    : T extends number
      ? number
      : T extends boolean
        ? boolean
        : T extends Tensor | Float64Array | Float32Array | Int32Array | Uint8Array | { readonly _tag: 'NoTangent' }
          ? T
          : { -readonly [K in keyof T]: Like<T[K]> }
/** 'declared', if there is a declared input in T. Asked in this direction TypeScript leaves it open of a parameter. */
type DeclaredIn<T> = T extends Spec
  ? 'declared'
  : T extends number | boolean | Tensor | Float64Array | Float32Array | Int32Array | Uint8Array | { readonly _tag: 'NoTangent' }
    ? never
    : { [K in keyof T]: DeclaredIn<T[K]> }[keyof T]
/** Takes a template without declared inputs, which is what it gets; also one whose type is a parameter. */
export type Whole<T> = (['declared'] extends [DeclaredIn<T>] ? { readonly given: never } : { readonly given: unknown })['given']
/** Takes a template with declared inputs. */
export type Declaring<T> = (['declared'] extends [DeclaredIn<T>] ? { readonly given: unknown } : { readonly given: never })['given']
/** What a file holds. */
export interface Loaded<out T> {
  readonly tensors: T
  readonly metadata: Metadata
}
/** How a file is read. */
export interface LoadOptions<T> {
  /** A tree whose leaves (tensors, declared inputs, numbers, arrays) are to be read, each by its name, shape and dtype. */
  readonly like: T
}
export const loadOptions = { like: untouched() } satisfies OptionsFor<LoadOptions<unknown>>

const isLittleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1
const checkOrder = (): void => {
  if (!isLittleEndian) raise({ _tag: 'Unsupported', backend: 'safetensors', what: 'a machine that is not little-endian' })
}

/** The order of UTF-8: that of code points, where JavaScript's is that of UTF-16. */
const byCodePoint = (a: string, b: string): number => {
  const [x, y] = [[...a], [...b]]
  for (let i = 0; i < Math.min(x.length, y.length); i++) if (x[i] !== y[i]) return x[i]!.codePointAt(0)! - y[i]!.codePointAt(0)!
  return x.length - y.length
}

const metadataOf = (given: Metadata | undefined, where: string): Metadata | undefined =>
  given === undefined
    ? undefined
    : reading(`${where}: metadata`, () => {
        const read = isRecord(given) ? { ...given } : badInput(where, `the metadata is ${shown(given)}.`, METADATA)
        return Object.values(read).every((x) => typeof x === 'string')
          ? read
          : badInput(where, 'the metadata has other values than strings.', METADATA)
      })
const METADATA = "give strings by name: { model: 'lenet' }."

/** Half of a surrogate pair is text in JavaScript alone: JSON would write an escape that no other reader of the format takes. */
const isWellFormed = (text: string): boolean =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(text)) === text

/** The header's JSON and the tensors in the order of their bytes. */
const laidOut = (
  tree: unknown,
  metadata: Metadata | undefined,
  where: string,
): { readonly json: string; readonly tensors: readonly Tensor[]; readonly size: number } => {
  const rank = (t: Tensor): number => written.findIndex(([dtype]) => dtype === t.dtype)
  const named = namedLeaves(tree, where)
    .map((leaf) => ({ name: leaf.name, t: tensorOf(leaf, where) }))
    .sort((a, b) => rank(a.t) - rank(b.t) || byCodePoint(a.name, b.name))
  for (const text of [...named.map(({ name }) => name), ...Object.entries(metadata ?? {}).flat()])
    if (!isWellFormed(text)) badInput(where, 'a name or the metadata has half of a surrogate pair.', 'use well-formed text.')
  let size = 0
  const entries = named.map(({ name, t }): [string, unknown] => {
    if (name === '__metadata__') badInput(where, 'a tensor cannot have the name __metadata__: the format has it for itself.')
    const begin = size
    size += t.data.byteLength
    return [name, { dtype: written[rank(t)]![1], shape: t.shape, data_offsets: [begin, size] }]
  })
  const json = `{${[...(metadata === undefined ? [] : [['__metadata__', metadata] as const]), ...entries]
    .map(([name, x]) => `${JSON.stringify(name)}:${JSON.stringify(x)}`)
    .join(',')}}`
  return { json, tensors: named.map(({ t }) => t), size }
}

/** As `encodeSafetensors`; errors name the function `where`. */
export const encoded = (tree: unknown, metadata: Metadata | undefined, where: string): Uint8Array<ArrayBuffer> => {
  checkOrder()
  const { json, tensors, size } = laidOut(tree, metadataOf(metadata, where), where)
  const head = new TextEncoder().encode(json)
  const length = Math.ceil(head.length / 8) * 8
  if (length > LONGEST) badInput(where, `the names would need ${length} bytes, more than the ${LONGEST} of the format.`)
  let bytes: Uint8Array<ArrayBuffer>
  try {
    bytes = new Uint8Array(8 + length + size)
  } catch {
    return badInput(where, `this engine has no array of ${8 + length + size} bytes.`, 'save the tree in parts.')
  }
  new DataView(bytes.buffer).setBigUint64(0, BigInt(length), true)
  bytes.fill(0x20, 8, 8 + length) // spaces, so that the data is aligned
  bytes.set(head, 8)
  let at = 8 + length
  for (const { data } of tensors) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at)
    at += data.byteLength
  }
  return bytes
}

/**
 * A tree of tensors as the bytes of a safetensors file: f64, f32, i32 and bool as F64, F32, I32 and BOOL, under names such as 'layer.0.w'.
 *
 * Numbers and arrays at leaves are saved as the tensors that `tensor` makes of them; `metadata` is strings by name. The bytes are those of
 * the format's own library for the same tensors.
 * Errors  BadInput if two leaves have the same name ('a.b' is { a: { b } } and { 'a.b' }), or if a leaf is not an array or is on a device.
 * @example encodeSafetensors({ w: tensor([1, 2], [2], 'f32') }).length   // 72
 */
export const encodeSafetensors = (tree: unknown, metadata?: Metadata): Uint8Array<ArrayBuffer> =>
  encoded(tree, metadata, 'encodeSafetensors')

/** The bytes of a file; raises where they are none. */
export const bytesOf = (given: unknown, where: string): Uint8Array =>
  reading(where, () =>
    given instanceof Uint8Array
      ? given
      : given instanceof ArrayBuffer
        ? new Uint8Array(given)
        : badInput(where, `${shown(given)} where the bytes of a file must be.`, 'pass a Uint8Array or an ArrayBuffer.'),
  )

const decodeFailed = (faults: readonly Fault[]): never =>
  raise({
    _tag: 'Decode',
    errors: faults.length <= 20 ? faults : [...faults.slice(0, 20), { path: '...', reason: `and ${faults.length - 20} more.` }],
  })

/** The tensor of an entry, in memory of its own. */
const tensorAt = (bytes: Uint8Array, start: number, { stored, shape, begin, end }: Entry): Tensor | string => {
  const type = readable[stored]!
  try {
    const t = tensor(0, shape, type.dtype) as Tensor
    return type.read(bytes.subarray(start + begin, start + end), t.data) ?? t
  } catch (e) {
    if (isAdException(e)) return reasonOf(e)
    throw e
  }
}

/** What a leaf of a template wants of the file. */
interface Wanted {
  readonly shape: readonly (number | string)[]
  readonly dtype: string
  /** The leaf from its tensor. */
  readonly back: (t: Tensor) => unknown
}
const wantedOf = (named: Named, where: string): Wanted => {
  const { leaf } = named
  if (isRecord(leaf) && leaf._tag === 'Spec') return { ...(leaf as unknown as Spec), back: (t) => t }
  const { shape, dtype } = tensorOf(named, where)
  const back =
    typeof leaf === 'number'
      ? (t: Tensor) => Number(t.item())
      : typeof leaf === 'boolean'
        ? (t: Tensor) => Boolean(t.item())
        : Array.isArray(leaf)
          ? (t: Tensor) => t.toArray()
          : ArrayBuffer.isView(leaf)
            ? (t: Tensor) => t.data
            : (t: Tensor) => t
  return { shape, dtype, back }
}

/** The tensors of a file at the leaves of a template. */
const onto = (like: unknown, tensors: ReadonlyMap<string, Tensor>, where: string): unknown => {
  const leaves = namedLeaves(like, `${where}: like`).map((leaf) => ({ name: leaf.name, ...wantedOf(leaf, `${where}: like`) }))
  const faults: Fault[] = []
  for (const { name, shape, dtype } of leaves) {
    const t = tensors.get(name)
    if (t === undefined) faults.push({ path: name, reason: `is missing: ${dtype} [${shape.join(', ')}] is wanted.` })
    else if (t.shape.length !== shape.length || shape.some((d, i) => typeof d === 'number' && d !== t.shape[i]))
      faults.push({ path: name, reason: `has shape [${t.shape.join(', ')}], not [${shape.join(', ')}].` })
    else if (t.dtype !== dtype) faults.push({ path: name, reason: `is ${t.dtype}, not ${dtype}.` })
  }
  const names = new Set(leaves.map(({ name }) => name))
  for (const name of tensors.keys())
    if (!names.has(name)) faults.push({ path: name, reason: 'is in the file, and not in the tree it is read onto.' })
  if (faults.length > 0) decodeFailed(faults)
  let next = 0
  return treeMap(() => {
    const { name, back } = leaves[next++]!
    return back(tensors.get(name)!)
  }, like)
}

/** As `decodeSafetensors`, raising its errors; they name the function `where`. */
export const decoded = (given: unknown, options: { readonly like?: unknown } | undefined, where: string): Loaded<unknown> => {
  checkOrder()
  const bytes = bytesOf(given, where)
  const { like } = readOptions(loadOptions, options, where)
  const { entries, metadata, start, faults } = headerOf(bytes)
  if (faults.length > 0) return decodeFailed(faults)
  const wrong: Fault[] = []
  const tensors = new Map<string, Tensor>()
  for (const entry of entries) {
    const t = tensorAt(bytes, start, entry)
    if (typeof t === 'string') wrong.push({ path: entry.name, reason: t })
    else tensors.set(entry.name, t)
  }
  if (wrong.length > 0) return decodeFailed(wrong)
  // fromEntries defines properties: a tensor of the name __proto__ is one like any other.
  return { tensors: like === undefined ? Object.fromEntries(tensors) : onto(like, tensors, where), metadata }
}

/** What `f` gives as a Right; an AdError as a Left. */
export const either = <A>(f: () => A): Either<AdError, A> => {
  try {
    return right(f())
  } catch (e) {
    if (isAdException(e)) return left(e.error)
    throw e
  }
}

/** decodeSafetensors(bytes, { like? }). */
export interface DecodeSafetensors {
  <T>(bytes: Uint8Array | ArrayBuffer, options: LoadOptions<T> & Whole<T>): Either<AdError, Loaded<T>>
  <T>(bytes: Uint8Array | ArrayBuffer, options: LoadOptions<T> & Declaring<T>): Either<AdError, Loaded<Like<T>>>
  (bytes: Uint8Array | ArrayBuffer): Either<AdError, Loaded<Flat>>
}

/**
 * The tensors and the metadata of a safetensors file: a record by name, or the tree `like` with the file's values at its leaves.
 *
 * Dtypes  F64, F32, I32, BOOL as they are; F16 and BF16 as f32; U8, I8, U16, I16 as i32; U32, I64, U64 as i32 where it holds every entry.
 * Errors  Left of a Decode that names each tensor that is wrong: of another shape or dtype than `like` has, missing or unexpected; offsets
 *         that overlap, leave bytes out or leave the file; keys given twice. The bytes need not be trusted: it never throws.
 * @example
 * const bytes = encodeSafetensors({ layers: [{ w: tensor([1, 2], [2], 'f32') }] })
 * decodeSafetensors(bytes)   // Right({ tensors: ..., metadata: {} })
 * decodeSafetensors(bytes, { like: { layers: [{ w: f32(2) }] } })   // Right({ tensors: { layers: [{ w: [1, 2] }] }, metadata: {} })
 * decodeSafetensors(bytes, { like: { w: f32(2) } })   // Left({ _tag: 'Decode', errors: [{ path: 'w', reason: 'is missing: ...' }, ...] })
 */
export const decodeSafetensors = ((bytes: unknown, options?: { readonly like?: unknown }) =>
  either(() => decoded(bytes, options, 'decodeSafetensors'))) as DecodeSafetensors // the overloads say what `like` gives
