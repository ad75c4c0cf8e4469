/** Arrays as NumPy's .npy files: a header that is a literal of Python, and the elements (numpy.lib.format). Nothing of Python is run: pickled objects are refused. */

import type { Either } from 'fp-ts/lib/Either.js'
import { shown } from '../core/errors/check-arguments.js'
import { type AdError, isAdException, raise, type Tensor, tensor } from '../index.js'
import { readable, written } from './dtypes.js'
import { reasonOf } from './given.js'
import { tensorOf } from './names.js'
import { bytesOf, either } from './safetensors.js'

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59] // \x93NUMPY
/** Headers of NumPy have some hundred bytes: of arrays of records more. */
const LONGEST = 65_536
/** NumPy's names of dtypes behind the byte order, and the format's. */
const types: Readonly<Record<string, string>> = {
  f8: 'F64',
  f4: 'F32',
  f2: 'F16',
  b1: 'BOOL',
  i1: 'I8',
  i2: 'I16',
  i4: 'I32',
  i8: 'I64',
  u1: 'U8',
  u2: 'U16',
  u4: 'U32',
  u8: 'U64',
}
const names: Readonly<Record<string, string>> = { F64: '<f8', F32: '<f4', I32: '<i4', BOOL: '|b1' }

const fault = (path: string, reason: string): never => raise({ _tag: 'Decode', errors: [{ path, reason }] })
interface Header {
  readonly descr: string
  readonly fortran: boolean
  readonly shape: readonly number[]
  /** Where the elements begin. */
  readonly start: number
}
const HEADER = /^\{\s*'descr':\s*(.+?),\s*'fortran_order':\s*(True|False),\s*'shape':\s*\(([\d,\sL]*)\),?\s*\}\s*$/s
const headerOf = (bytes: Uint8Array, path: string): Header => {
  if (bytes.length < 10 || MAGIC.some((x, i) => bytes[i] !== x)) fault(path, 'is no .npy file: it does not begin with \\x93NUMPY.')
  const [major, minor] = [bytes[6]!, bytes[7]!]
  if (major < 1 || major > 3) fault(path, `is of version ${major}.${minor} of the format; 1.0, 2.0 and 3.0 are read.`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const before = major === 1 ? 10 : 12
  if (bytes.length < before) fault(path, 'ends in its header.')
  const length = major === 1 ? view.getUint16(8, true) : view.getUint32(8, true)
  if (length > LONGEST || before + length > bytes.length) fault(path, `has a header of ${length} bytes, and the file has ${bytes.length}.`)
  const text = new TextDecoder('latin1').decode(bytes.subarray(before, before + length))
  const found = HEADER.exec(text)
  if (found === null) return fault(path, `has another header than NumPy writes: ${shown(text.trim().slice(0, 80))}.`)
  const shape = found[3]!
    .split(',')
    .map((d) => d.trim().replace(/L$/, ''))
    .filter((d) => d !== '')
    .map(Number)
  return { descr: found[1]!, fortran: found[2] === 'True', shape, start: before + length }
}
/** Elements whose bytes are in the other order, turned. */
export const turned = (bytes: Uint8Array, size: number): Uint8Array => {
  const out = new Uint8Array(bytes.length)
  for (let i = 0; i < bytes.length; i++) out[i] = bytes[i - (i % size) + size - 1 - (i % size)]!
  return out
}
/** Elements whose first axis runs fastest, in row-major order. */
const rowMajor = (data: Tensor['data'], shape: readonly number[]): void => {
  const from = data.slice()
  const strides = shape.map((_, i) => shape.slice(0, i).reduce((n, d) => n * d, 1))
  const at = shape.map(() => 0)
  let place = 0
  for (let k = 0; k < data.length; k++) {
    data[k] = from[place]!
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      place += strides[axis]!
      if (++at[axis]! < shape[axis]!) break
      place -= strides[axis]! * shape[axis]!
      at[axis] = 0
    }
  }
}

/** The array in the bytes of a .npy file, `path` in errors; raises a Decode. */
export const npyIn = (bytes: Uint8Array, path: string): Tensor => {
  const { descr, fortran, shape, start } = headerOf(bytes, path)
  const name = /^'([<>|=])([a-z]\d)'$/.exec(descr)
  const stored = name === null ? undefined : types[name[2]!]
  if (name === null || stored === undefined)
    return fault(
      path,
      /O/.test(descr)
        ? 'holds pickled objects of Python, which are not read: a pickle runs code.'
        : `has elements of the type ${descr.slice(0, 60)}, which codual does not have.`,
    )
  const type = readable[stored]!
  let size = 1
  for (const d of shape) size *= d
  if (!Number.isSafeInteger(size) || size > 2 ** 32) fault(path, `has more elements than an array can have: [${shape.join(', ')}].`)
  const raw = bytes.subarray(start)
  if (raw.length !== size * type.bytes)
    fault(path, `has ${raw.length} bytes of elements where its shape [${shape.join(', ')}] has ${size * type.bytes}.`)
  try {
    const t = tensor(0, shape as number[], type.dtype) as Tensor
    const wrong = type.read(name[1] === '>' ? turned(raw, type.bytes) : raw, t.data)
    if (wrong !== undefined) return fault(path, wrong)
    if (fortran && shape.length > 1) rowMajor(t.data, shape)
    return t
  } catch (e) {
    if (isAdException(e) && e.error._tag !== 'Decode') return fault(path, reasonOf(e))
    throw e
  }
}
/** The bytes of an array as a .npy file. */
export const npyOf = (t: Tensor): Uint8Array<ArrayBuffer> => {
  const [, stored] = written.find(([dtype]) => dtype === t.dtype)!
  const shape = `(${t.shape.join(', ')}${t.shape.length === 1 ? ',' : ''})`
  const text = `{'descr': '${names[stored]}', 'fortran_order': False, 'shape': ${shape}, }`
  const start = Math.ceil((10 + text.length + 1) / 64) * 64
  const bytes = new Uint8Array(start + t.data.byteLength)
  bytes.set(MAGIC)
  bytes[6] = 1
  new DataView(bytes.buffer).setUint16(8, start - 10, true)
  bytes.fill(0x20, 10, start)
  bytes.set(new TextEncoder().encode(text), 10)
  bytes[start - 1] = 0x0a
  bytes.set(new Uint8Array(t.data.buffer, t.data.byteOffset, t.data.byteLength), start)
  return bytes
}

/**
 * An array as the bytes of a .npy file, which numpy.load reads: f64, f32, i32 and bool as '<f8', '<f4', '<i4' and '|b1', row by row.
 *
 * Errors  BadInput for what is not an array, or is on a device.
 * @example encodeNpy(tensor([[1, 2]], 'f32')).length   // 136
 */
export const encodeNpy = (array: unknown): Uint8Array<ArrayBuffer> => npyOf(tensorOf({ name: 'the array', leaf: array }, 'encodeNpy'))

/**
 * The array in the bytes of a .npy file, as numpy.save writes it.
 *
 * Dtypes  f8, f4, i4 and b1 as they are; f2 as f32; u1, i1, u2, i2 as i32; u4, i8, u8 as i32 where it holds every entry. Either byte order, rows or columns first.
 * Errors  Left of a Decode for invalid bytes, and for pickled objects, texts, dates, complex numbers and records. Bytes may come from anyone: it never throws.
 * @example
 * decodeNpy(encodeNpy([[1, 2], [3, 4]]))   // Right([[1, 2], [3, 4]])
 * decodeNpy(new Uint8Array(3))             // Left({ _tag: 'Decode', errors: [{ path: '', reason: 'is no .npy file: ...' }] })
 */
export const decodeNpy = (bytes: Uint8Array | ArrayBuffer): Either<AdError, Tensor> => either(() => npyIn(bytesOf(bytes, 'decodeNpy'), ''))
