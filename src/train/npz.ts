/** Several arrays as NumPy's .npz files: a zip archive of .npy files (APPNOTE.TXT of PKWARE). */

import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { badInput } from '../core/errors/explain.js'
import { type AdError, raise, type Tensor } from '../index.js'
import { namedLeaves, tensorOf } from './names.js'
import { npyIn, npyOf } from './npy.js'
import { bytesOf, either, type Flat } from './safetensors.js'

/** What headers of files, entries of the directory and its end begin with. */
const LOCAL = 0x04034b50
const CENTRAL = 0x02014b50
const END = 0x06054b50
/** What deflate makes of nothing at most. */
const RATIO = 1032
const fault = (path: string, reason: string): never => raise({ _tag: 'Decode', errors: [{ path, reason }] })

const crcTable = /*#__PURE__*/ Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1
  return c
})
/** CRC-32 of bytes. */
const crcOf = (bytes: Uint8Array): number => {
  let c = 0xffffffff
  for (const byte of bytes) c = crcTable[(c ^ byte) & 255]! ^ (c >>> 8)
  return (c ^ 0xffffffff) >>> 0
}

/** A file in an archive, its bytes as they are stored. */
interface Entry {
  readonly name: string
  readonly method: number
  readonly crc: number
  readonly size: number
  readonly bytes: Uint8Array
}
/** The files of an archive, by its directory. */
const entriesOf = (bytes: Uint8Array): readonly Entry[] => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let end = bytes.length - 22
  while (end >= 0 && end > bytes.length - 22 - 65_536 && view.getUint32(end, true) !== END) end--
  if (end < 0 || view.getUint32(end, true) !== END) return fault('', 'is no .npz file: it has no directory of an archive.')
  const [count, from] = [view.getUint16(end + 10, true), view.getUint32(end + 16, true)]
  const entries: Entry[] = []
  let at = from
  for (let i = 0; i < count; i++) {
    const path = `entry ${i}`
    if (at + 46 > end || view.getUint32(at, true) !== CENTRAL) return fault(path, 'is not in the directory where it must be.')
    const flags = view.getUint16(at + 8, true)
    const [packed, size] = [view.getUint32(at + 20, true), view.getUint32(at + 24, true)]
    const lengths = [28, 30, 32].map((k) => view.getUint16(at + k, true)) as [number, number, number]
    const start = view.getUint32(at + 42, true)
    const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + lengths[0]))
    if ((flags & 1) !== 0) fault(name, 'is encrypted.')
    if (packed === 0xffffffff || size === 0xffffffff || start === 0xffffffff) fault(name, 'has more than 4 GiB.')
    if (start + 30 > bytes.length || view.getUint32(start, true) !== LOCAL) fault(name, 'is not where the directory says.')
    const data = start + 30 + view.getUint16(start + 26, true) + view.getUint16(start + 28, true)
    if (data + packed > bytes.length) fault(name, 'ends behind the file.')
    entries.push({
      name,
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      size,
      bytes: bytes.subarray(data, data + packed),
    })
    at += 46 + lengths[0] + lengths[1] + lengths[2]
  }
  return entries
}
/** Deflated bytes, of which there must be so many. */
const inflated = async (bytes: Uint8Array, size: number, name: string): Promise<Uint8Array> => {
  if (size > RATIO * bytes.length + 64) fault(name, `is said to have ${size} bytes, more than ${bytes.length} deflated ones can hold.`)
  if (typeof DecompressionStream === 'undefined')
    raise({
      _tag: 'Unsupported',
      backend: 'decodeNpz',
      what: 'deflated files in a runtime without DecompressionStream',
      fix: 'write the file with numpy.savez.',
    })
  const out = new Uint8Array(size)
  let at = 0
  const reader = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (at + part.value.length > size) {
        await reader.cancel()
        return fault(name, `has more than the ${size} bytes that the directory says.`)
      }
      out.set(part.value, at)
      at += part.value.length
    }
  } catch (e) {
    if ((e as { readonly _tag?: unknown })._tag === 'AdException') throw e
    return fault(name, 'is not well deflated.')
  }
  return at === size ? out : fault(name, `has ${at} bytes where the directory says ${size}.`)
}
const arrayOf = async ({ name, method, crc, size, bytes }: Entry): Promise<Tensor> => {
  if (method !== 0 && method !== 8) fault(name, `is packed by method ${method}; stored and deflated files are read.`)
  const whole = method === 0 ? bytes : await inflated(bytes, size, name)
  if (whole.length !== size || crcOf(whole) !== crc) fault(name, 'is damaged: its checksum is another.')
  return npyIn(whole, name)
}

/**
 * The arrays in the bytes of a .npz file by name, as numpy.savez and numpy.savez_compressed write them.
 *
 * Dtypes  as decodeNpy.   A task, since the platform unpacks deflated files piece by piece.
 * Errors  Left of a Decode with the name of the array; of Unsupported where the runtime cannot inflate. Bytes may come from anyone: it never throws.
 * @example await decodeNpz(encodeNpz({ w: [1, 2], b: 3 }))()   // Right({ b: 3, w: [1, 2] })
 */
export const decodeNpz =
  (bytes: Uint8Array | ArrayBuffer): TaskEither<AdError, Flat> =>
  async () => {
    const settled = await Promise.resolve()
      .then(async (): Promise<Flat> => {
        const found = new Map<string, Tensor>()
        for (const entry of entriesOf(bytesOf(bytes, 'decodeNpz'))) {
          const name = entry.name.replace(/\.npy$/, '')
          if (name === entry.name) fault(entry.name, 'is no .npy file.')
          if (found.has(name)) fault(entry.name, 'is there twice.')
          found.set(name, await arrayOf(entry))
        }
        return Object.fromEntries(found)
      })
      .then(
        (value) => () => value,
        (e: unknown) => (): Flat => {
          throw e
        },
      )
    return either(settled)
  }

/**
 * Arrays of a tree as the bytes of a .npz file, which numpy.load reads: names are those of encodeSafetensors, such as 'layer.0.w', dtypes those of encodeNpy.
 *
 * The files are stored as they are, not deflated.
 * Errors  BadInput where two leaves have one name, or a leaf is not an array or is on a device.
 * @example encodeNpz({ w: tensor([1, 2], 'f32') }).length   // 244
 */
export const encodeNpz = (tree: unknown): Uint8Array<ArrayBuffer> => {
  const files = namedLeaves(tree, 'encodeNpz').map((leaf) => {
    const bytes = npyOf(tensorOf(leaf, 'encodeNpz'))
    return { name: new TextEncoder().encode(`${leaf.name}.npy`), bytes, crc: crcOf(bytes) }
  })
  const size = files.reduce((n, f) => n + 76 + 2 * f.name.length + f.bytes.length, 22)
  if (size >= 2 ** 32 || files.length >= 65_535)
    badInput('encodeNpz', `${files.length} arrays of ${size} bytes are more than an archive has.`, 'save the tree in parts.')
  const out = new Uint8Array(size)
  const view = new DataView(out.buffer)
  /** What both headers of a file have: version 2.0, names in UTF-8, stored, the first day there is. */
  const common = (at: number, f: (typeof files)[number]): void => {
    view.setUint16(at, 20, true)
    view.setUint16(at + 2, 0x800, true)
    view.setUint16(at + 8, 0x21, true)
    view.setUint32(at + 10, f.crc, true)
    view.setUint32(at + 14, f.bytes.length, true)
    view.setUint32(at + 18, f.bytes.length, true)
    view.setUint16(at + 22, f.name.length, true)
  }
  let at = 0
  const starts = files.map((f) => {
    const start = at
    view.setUint32(at, LOCAL, true)
    common(at + 4, f)
    out.set(f.name, at + 30)
    out.set(f.bytes, at + 30 + f.name.length)
    at += 30 + f.name.length + f.bytes.length
    return start
  })
  const directory = at
  for (const [i, f] of files.entries()) {
    view.setUint32(at, CENTRAL, true)
    view.setUint16(at + 4, 20, true)
    common(at + 6, f)
    view.setUint32(at + 42, starts[i]!, true)
    out.set(f.name, at + 46)
    at += 46 + f.name.length
  }
  view.setUint32(at, END, true)
  view.setUint16(at + 8, files.length, true)
  view.setUint16(at + 10, files.length, true)
  view.setUint32(at + 12, at - directory, true)
  view.setUint32(at + 16, directory, true)
  return out
}
