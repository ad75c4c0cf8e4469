/** Arrays as idx files, the format of MNIST (yann.lecun.com/exdb/mnist): type, number of axes and sizes, then the elements, the highest byte first. */

import type { Either } from 'fp-ts/lib/Either.js'
import { type AdError, isAdException, raise, type Tensor, tensor } from '../index.js'
import { readable } from './dtypes.js'
import { reasonOf } from './given.js'
import { turned } from './npy.js'
import { bytesOf, either } from './safetensors.js'

/** The format's codes of types, and the dtypes of safetensors. */
const types: Readonly<Record<number, string>> = { 8: 'U8', 9: 'I8', 11: 'I16', 12: 'I32', 13: 'F32', 14: 'F64' }

const fault = (reason: string): never => raise({ _tag: 'Decode', errors: [{ path: '', reason }] })
const idxIn = (bytes: Uint8Array): Tensor => {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b)
    return fault("is compressed by gzip: unpack it first, by gunzipSync of node:zlib or by new DecompressionStream('gzip').")
  if (bytes.length < 4 || bytes[0] !== 0 || bytes[1] !== 0)
    return fault('is not an idx file: it does not begin with two zero bytes, a type and a number of axes.')
  const [code, rank] = [bytes[2]!, bytes[3]!]
  if (!Object.hasOwn(types, code)) return fault(`has elements of the type ${code}, which the format does not have.`)
  const type = readable[types[code]!]!
  const start = 4 + 4 * rank
  if (start > bytes.length)
    return fault(`ends in its header: ${rank} axes have ${4 * rank} bytes of sizes, and ${bytes.length - 4} are there.`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const shape = Array.from({ length: rank }, (_, i) => view.getUint32(4 + 4 * i))
  const size = shape.reduce((n, d) => n * d, type.bytes)
  if (size !== bytes.length - start)
    return fault(`has ${bytes.length - start} bytes of elements where its shape [${shape.join(', ').slice(0, 60)}] has ${size}.`)
  try {
    const t = tensor(0, shape, type.dtype) as Tensor
    const raw = bytes.subarray(start)
    const wrong = type.read(type.bytes === 1 ? raw : turned(raw, type.bytes), t.data)
    return wrong === undefined ? t : fault(wrong)
  } catch (e) {
    if (isAdException(e) && e.error._tag !== 'Decode') return fault(reasonOf(e))
    throw e
  }
}

/**
 * The array in the bytes of an idx file, as MNIST is distributed: images [n, 28, 28] and labels [n].
 *
 * Dtypes  f64, f32 and i32 as they are; u8, i8 and i16 as i32.   A file packed by gzip has to be unpacked first.
 * Errors  Left of a Decode for invalid bytes. Bytes may come from anyone: it never throws.
 * @example
 * decodeIdx(Uint8Array.from([0, 0, 8, 1, 0, 0, 0, 3, 7, 2, 255]))   // Right([7, 2, 255])
 * decodeIdx(new Uint8Array(3))   // Left({ _tag: 'Decode', errors: [{ path: '', reason: 'is not an idx file: ...' }] })
 */
export const decodeIdx = (bytes: Uint8Array | ArrayBuffer): Either<AdError, Tensor> => either(() => idxIn(bytesOf(bytes, 'decodeIdx')))
