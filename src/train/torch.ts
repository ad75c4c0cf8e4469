/** Files of PyTorch: what torch.save writes since PyTorch 1.6, a zip archive of a pickle, which is read as data (pickle.ts), and of the elements of tensors. */

import type { Either } from 'fp-ts/lib/Either.js'
import { shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { type OptionsOf, or, readOptions } from '../core/errors/options.js'
import { type AdError, isAdException, raise, type Tensor, tensor } from '../index.js'
import { readable } from './dtypes.js'
import { reasonOf } from './given.js'
import { turned } from './npy.js'
import { nameOf, type Pickled, unpickled, View } from './pickle.js'
import { bytesOf, either, type Flat } from './safetensors.js'
import { crcOf, type Entry, entriesOf } from './zip.js'

/** A value in a file of PyTorch: dicts are records, lists, tuples and sets are lists. */
export type TorchValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Tensor
  | readonly TorchValue[]
  | { readonly [name: string]: TorchValue }
/** What a file of PyTorch holds. */
export interface LoadedTorch {
  /** Every tensor by its name: keys and places in lists, joined by dots. */
  readonly tensors: Flat
  /** What was saved, as it is nested. */
  readonly value: TorchValue
}
export const torchFileOptions = {
  /** The key of the saved dict whose value alone is read, such as 'state_dict': what else is in the file may be anything. */
  part: or<string, undefined>(undefined, (x, _what, where) =>
    typeof x === 'string' ? x : badInput(where, `the part must be a string, not ${shown(x)}.`),
  ),
}
/** What of a file of PyTorch is read. */
export interface TorchFileOptions extends OptionsOf<typeof torchFileOptions> {}

const fault = (path: string, reason: string): never => raise({ _tag: 'Decode', errors: [{ path, reason }] })
/** The deepest nesting of what was saved, and the longest name of a tensor. */
const DEEPEST = 64
const LONGEST = 1000
/** Elements that tensors of a file may have beyond four for each byte: views can repeat what is stored, which must not fill the memory. */
const REPEATED = 2 ** 22

/** The files of an archive by their names in its folder. */
interface Archive {
  readonly file: (name: string, path: string) => Uint8Array
  readonly isLittle: boolean
  readonly size: number
}
const archiveOf = (bytes: Uint8Array): Archive => {
  if (bytes[0] === 0x80)
    fault('', 'is no zip archive: PyTorch before 1.6 wrote it. Load it with torch.load, and save it with torch.save again.')
  const entries = new Map<string, Entry>()
  let folder: string | undefined
  for (const entry of entriesOf(bytes, 'not a file of torch.save')) {
    if (entries.has(entry.name)) fault(entry.name, 'is there twice.')
    entries.set(entry.name, entry)
    if (/^[^/]*\/data\.pkl$/.test(entry.name)) folder ??= entry.name.slice(0, -8)
  }
  if (folder === undefined) return fault('', 'is not a file of torch.save: the archive has no data.pkl.')
  const read = new Map<string, Uint8Array>()
  const file = (name: string, path: string): Uint8Array => {
    const known = read.get(name)
    if (known !== undefined) return known
    const entry = entries.get(folder + name) ?? fault(path, `its file ${name.slice(0, 60)} is not in the archive.`)
    if (entry.method !== 0) fault(path, `its file ${name} is packed by method ${entry.method}; torch.save stores files as they are.`)
    if (entry.bytes.length !== entry.size || crcOf(entry.bytes) !== entry.crc)
      fault(path, `its file ${name} is damaged: its checksum is another.`)
    read.set(name, entry.bytes)
    return entry.bytes
  }
  const isLittle = !entries.has(`${folder}byteorder`) || file('byteorder', 'byteorder')[0] === 0x6c // l of little
  return { file, isLittle, size: bytes.length }
}

/** The bytes of the elements of a view, row by row. */
const gathered = (bytes: Uint8Array, { offset, shape, strides }: View, count: number, size: number): Uint8Array => {
  let run = 1
  let isRowMajor = true
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    if (shape[axis] !== 1 && strides[axis] !== run) isRowMajor = false
    run *= shape[axis]!
  }
  if (isRowMajor || count === 0) return bytes.subarray(offset * size, (offset + count) * size)
  const out = new Uint8Array(count * size)
  const at = shape.map(() => 0)
  let place = offset
  for (let k = 0; k < count; k++) {
    for (let b = 0; b < size; b++) out[k * size + b] = bytes[place * size + b]!
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      place += strides[axis]!
      if (++at[axis]! < shape[axis]!) break
      place -= strides[axis]! * shape[axis]!
      at[axis] = 0
    }
  }
  return out
}

/** Reads the tensors of an archive, each once, until they have more elements than a file of its size can mean. */
const reader = (archive: Archive): ((view: View, path: string) => Tensor) => {
  const known = new Map<View, Tensor>()
  let room = 4 * archive.size + REPEATED
  return (view, path) => {
    const found = known.get(view)
    if (found !== undefined) return found
    const { storage, offset, shape, strides } = view
    const type = readable[storage.stored]!
    const count = shape.includes(0) ? 0 : shape.reduce((n, d) => n * d, 1)
    const last = count === 0 ? -1 : shape.reduce((n, d, i) => n + (d - 1) * strides[i]!, offset)
    if (!(last < storage.count)) fault(path, `reaches element ${last} of a storage of ${storage.count}.`)
    const raw = archive.file(`data/${storage.key}`, path)
    if (raw.length !== storage.count * type.bytes)
      fault(path, `has ${raw.length} bytes of elements where its storage of ${storage.count} has ${storage.count * type.bytes}.`)
    room -= count
    if (!(room >= 0))
      fault(path, `has ${count} elements, and the tensors of the file more than ${4 * archive.size + REPEATED} in all: save their clones.`)
    try {
      const t = tensor(0, shape as number[], type.dtype) as Tensor
      const bytes = gathered(raw, view, count, type.bytes)
      const wrong = type.read(archive.isLittle ? bytes : turned(bytes, type.bytes), t.data)
      if (wrong !== undefined) return fault(path, wrong)
      known.set(view, t)
      return t
    } catch (e) {
      if (isAdException(e) && e.error._tag !== 'Decode') return fault(path, reasonOf(e))
      throw e
    }
  }
}

const valuesOf = (root: Pickled, size: number, read: (view: View, path: string) => Tensor): LoadedTorch => {
  const tensors = new Map<string, Tensor>()
  // A pickle has a byte for every value at least, unless one is in many places.
  let room = size
  const walk = (x: Pickled, name: string | undefined, depth: number): TorchValue => {
    const path = name ?? ''
    if (room-- <= 0) return fault(path, 'is the same value in so many places that they are more than the bytes of the pickle.')
    if (depth > DEEPEST) return fault(path.slice(0, 60), `is nested deeper than ${DEEPEST} levels, or in itself.`)
    const below = (key: string): string => {
      const long = name === undefined ? key : `${name}.${key}`
      return long.length <= LONGEST ? long : fault(long.slice(0, 60), `has a name of more than ${LONGEST} characters.`)
    }
    if (x instanceof View) {
      const t = read(x, path)
      if (tensors.has(path)) fault(path, 'is the name of two tensors: a dot in a key is like one between keys.')
      tensors.set(path, t)
      return t
    }
    if (Array.isArray(x)) return (x as readonly Pickled[]).map((y, i) => walk(y, below(String(i)), depth + 1))
    if (x instanceof Map) {
      const entries = new Map<string, TorchValue>()
      for (const [key, y] of x) {
        if (typeof key !== 'string' && typeof key !== 'number') return fault(path, 'has a key that is neither a string nor a number.')
        if (entries.has(String(key))) return fault(path, `has the key ${shown(String(key))} twice.`)
        entries.set(String(key), walk(y, below(String(key)), depth + 1))
      }
      // fromEntries defines properties: a key of the name __proto__ is one like any other.
      return Object.fromEntries(entries)
    }
    const type = nameOf(x)
    if (type === undefined) return x as TorchValue // numbers, texts and the like
    if (/^torch\.(bool|(b?float|u?int|complex)\d+)$/.test(type)) return type // a dtype, by its name
    return fault(
      path,
      /Storage$/.test(type)
        ? `has the elements of a ${type}, which codual does not have.`
        : `is made by ${type.slice(0, 100)}, which is not called: nothing of a pickle runs. Save model.state_dict(), or read one key of the file by the option part.`,
    )
  }
  const value = walk(root, undefined, 0)
  return { tensors: Object.fromEntries(tensors), value }
}

/** As `decodeTorch`, raising its errors; they name the function `where`. */
export const decodedTorch = (given: unknown, options: TorchFileOptions | undefined, where: string): LoadedTorch => {
  const bytes = bytesOf(given, where)
  const { part } = readOptions(torchFileOptions, options, where)
  const archive = archiveOf(bytes)
  const pickle = archive.file('data.pkl', 'data.pkl')
  const whole = unpickled(pickle, 'data.pkl')
  const read = reader(archive)
  if (part === undefined) return valuesOf(whole, pickle.length, read)
  if (!(whole instanceof Map)) return fault(part, 'is not in the file: what was saved is not a dict.')
  const keys = [...whole.keys()].slice(0, 20).map((key) => shown(key))
  return whole.has(part)
    ? valuesOf(whole.get(part)!, pickle.length, read)
    : fault(part, `is not in the file, which has ${keys.join(', ')}.`)
}

/**
 * The tensors in the bytes of a file that torch.save wrote (PyTorch 1.6 and later): of a state dict by name, and of nested dicts and lists.
 *
 * `tensors` is what `fromTorch` of codual/nn takes; `value` has everything in its place, also numbers and texts.  `part: 'state_dict'` reads
 * the value of one key alone. Nothing runs: the pickle in the file is read as data, and what another class or function would make is an error.
 * Dtypes  as decodeSafetensors. Views of a shared storage become tensors of their own; strides and offsets are as in PyTorch.
 * Errors  Left of a Decode for invalid bytes, for other objects than tensors, dicts, lists, numbers and texts, and for complex, sparse and
 *         quantised tensors; of BadInput for invalid options. Bytes may come from anyone: it never throws.
 * @example decodeTorch(new Uint8Array(3))   // Left({ _tag: 'Decode', errors: [{ path: '', reason: 'is not a file of torch.save: ...' }] })
 */
export const decodeTorch = (bytes: Uint8Array | ArrayBuffer, options?: TorchFileOptions): Either<AdError, LoadedTorch> =>
  either(() => decodedTorch(bytes, options, 'decodeTorch'))
