/** Several arrays as NumPy's .npz files: a zip archive of .npy files (APPNOTE.TXT of PKWARE). */

import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { badInput } from '../core/errors/explain.js'
import { type AdError, raise, type Tensor } from '../index.js'
import { namedLeaves, tensorOf } from './names.js'
import { npyIn, npyOf } from './npy.js'
import { bytesOf, either, type Flat } from './safetensors.js'
import { CENTRAL, crcOf, END, type Entry, entriesOf, inflated, LOCAL } from './zip.js'

const fault = (path: string, reason: string): never => raise({ _tag: 'Decode', errors: [{ path, reason }] })

const arrayOf = async ({ name, method, crc, size, bytes }: Entry): Promise<Tensor> => {
  if (method !== 0 && method !== 8) fault(name, `is packed by method ${method}; stored and deflated files are read.`)
  const whole = method === 0 ? bytes : await inflated(bytes, size, name, 'deflate-raw', 'decodeNpz')
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
        for (const entry of entriesOf(bytesOf(bytes, 'decodeNpz'), 'no .npz file')) {
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
