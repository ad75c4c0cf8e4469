/** The files of a zip archive (APPNOTE.TXT of PKWARE), as NumPy and PyTorch write them: stored or deflated, in one part, up to the sizes of zip64. */
import { raise } from '../index.js'

/** What headers of files, entries of the directory and its end begin with. */
export const LOCAL = 0x04034b50
export const CENTRAL = 0x02014b50
export const END = 0x06054b50
const END64 = 0x06064b50
const fault = (path: string, reason: string): never => raise({ _tag: 'Decode', errors: [{ path, reason }] })

const crcTable = /*#__PURE__*/ Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1
  return c
})
/** CRC-32 of bytes. */
export const crcOf = (bytes: Uint8Array): number => {
  let c = 0xffffffff
  for (const byte of bytes) c = crcTable[(c ^ byte) & 255]! ^ (c >>> 8)
  return (c ^ 0xffffffff) >>> 0
}

/** A file in an archive, its bytes as they are stored. */
export interface Entry {
  readonly name: string
  readonly method: number
  readonly crc: number
  readonly size: number
  readonly bytes: Uint8Array
}
/** A count of 64 bits: where it is too large for the file, larger than every file. */
const long = (view: DataView, at: number): number => Number(view.getBigUint64(at, true))

/** Where the directory begins and how many entries it has: in the last record, or in that of zip64 before it. */
const directoryOf = (view: DataView, what: string): { readonly count: number; readonly from: number; readonly end: number } => {
  let end = view.byteLength - 22
  while (end >= 0 && end > view.byteLength - 22 - 65_536 && view.getUint32(end, true) !== END) end--
  if (end < 0 || view.getUint32(end, true) !== END) return fault('', `is ${what}: it has no directory of an archive.`)
  const [count, from] = [view.getUint16(end + 10, true), view.getUint32(end + 16, true)]
  if (count !== 0xffff && from !== 0xffffffff) return { count, from, end }
  const at = end < 20 ? -1 : long(view, end - 12)
  if (at < 0 || at + 56 > end || view.getUint32(at, true) !== END64) return fault('', 'has no directory of zip64 where one is announced.')
  return { count: long(view, at + 32), from: long(view, at + 48), end }
}
/** Sizes and place of a file, which zip64 has behind the name where 32 bits do not hold them. */
const placed = (view: DataView, at: number, extra: number, length: number): readonly [size: number, packed: number, start: number] => {
  const found = [24, 20, 42].map((k) => view.getUint32(at + k, true)) as [number, number, number]
  let field = extra
  while (field + 4 <= extra + length && view.getUint16(field, true) !== 1) field += 4 + view.getUint16(field + 2, true)
  let next = field + 4
  const last = Math.min(next, extra + length) + (next <= extra + length ? view.getUint16(field + 2, true) : 0)
  for (const [i, x] of found.entries())
    if (x === 0xffffffff && next + 8 <= Math.min(last, extra + length)) {
      found[i] = long(view, next)
      next += 8
    }
  return found
}

/** The files of an archive, by its directory; `what` it is said to be where it is none. */
export const entriesOf = (bytes: Uint8Array, what: string): readonly Entry[] => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const { count, from, end } = directoryOf(view, what)
  const entries: Entry[] = []
  let at = from
  let whole = 0
  for (let i = 0; i < count; i++) {
    const path = `entry ${i}`
    if (at + 46 > end || view.getUint32(at, true) !== CENTRAL) return fault(path, 'is not in the directory where it must be.')
    const flags = view.getUint16(at + 8, true)
    const lengths = [28, 30, 32].map((k) => view.getUint16(at + k, true)) as [number, number, number]
    const next = at + 46 + lengths[0] + lengths[1] + lengths[2]
    if (next > end) return fault(path, 'is not in the directory where it must be.')
    const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + lengths[0]))
    const [size, packed, start] = placed(view, at, at + 46 + lengths[0], lengths[1])
    if ((flags & 1) !== 0) fault(name, 'is encrypted.')
    if (start + 30 > bytes.length || view.getUint32(start, true) !== LOCAL) fault(name, 'is not where the directory says.')
    const data = start + 30 + view.getUint16(start + 26, true) + view.getUint16(start + 28, true)
    if (data + packed > bytes.length) fault(name, 'ends behind the file.')
    whole += packed
    if (whole > bytes.length) fault(name, 'lies over other files of the archive.')
    entries.push({
      name,
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      size,
      bytes: bytes.subarray(data, data + packed),
    })
    at = next
  }
  return entries
}
/** What deflate makes of nothing at most. */
const RATIO = 1032
/** Deflated bytes, of which there must be so many. */
export const inflated = async (
  bytes: Uint8Array,
  size: number,
  name: string,
  format: 'deflate' | 'deflate-raw',
  where: string,
): Promise<Uint8Array> => {
  if (size > RATIO * bytes.length + 64) fault(name, `is said to have ${size} bytes, more than ${bytes.length} deflated ones can hold.`)
  if (typeof DecompressionStream === 'undefined')
    raise({
      _tag: 'Unsupported',
      backend: where,
      what: 'deflated files in a runtime without DecompressionStream',
      ...(where === 'decodeNpz' && { fix: 'write the file with numpy.savez.' }),
    })
  const out = new Uint8Array(size)
  let at = 0
  const reader = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream(format)).getReader()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (at + part.value.length > size) {
        await reader.cancel()
        return fault(name, `has more than the ${size} bytes that it is said to have.`)
      }
      out.set(part.value, at)
      at += part.value.length
    }
  } catch (e) {
    if ((e as { readonly _tag?: unknown })._tag === 'AdException') throw e
    return fault(name, 'is not well deflated.')
  }
  return at === size ? out : fault(name, `has ${at} bytes where it is said to have ${size}.`)
}
