/** Images as PNG files (www.w3.org/TR/png): every type of pixel, interlaced or not, unpacked by the platform. */

import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { type AdError, raise, type Tensor, tensor } from '../index.js'
import { bytesOf, either } from './safetensors.js'
import { crcOf, inflated } from './zip.js'

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
/** Samples of a pixel and their sizes in bits, by the type of colour: grey, colour, palette, grey and alpha, colour and alpha. */
const types: Readonly<Record<number, { readonly samples: number; readonly depths: readonly number[] }>> = {
  0: { samples: 1, depths: [1, 2, 4, 8, 16] },
  2: { samples: 3, depths: [8, 16] },
  3: { samples: 1, depths: [1, 2, 4, 8] },
  4: { samples: 2, depths: [8, 16] },
  6: { samples: 4, depths: [8, 16] },
}
/** First row and column of each image of an interlaced one, and the steps between its rows and columns. */
const interlaced = [[0, 0, 8, 8], [0, 4, 8, 8], [4, 0, 8, 4], [0, 2, 4, 4], [2, 0, 4, 2], [0, 1, 2, 2], [1, 0, 2, 1]] as const // biome-ignore format: a table
const fault = (reason: string): never => raise({ _tag: 'Decode', errors: [{ path: '', reason }] })

interface Png {
  readonly width: number
  readonly height: number
  readonly depth: number
  readonly colour: number
  readonly isInterlaced: boolean
  readonly palette: Uint8Array | undefined
  readonly transparent: Uint8Array | undefined
  /** The pixels, as they are packed. */
  readonly packed: Uint8Array
}
/** The chunks of a file; those that do not belong to its pixels are left out. */
const chunksIn = (bytes: Uint8Array): Png => {
  if (SIGNATURE.some((x, i) => bytes[i] !== x)) return fault('is not a PNG file: it does not begin with \\x89PNG.')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const parts: Uint8Array[] = []
  const found = new Map<string, Uint8Array>()
  for (let at = 8; !found.has('IEND'); ) {
    if (at + 12 > bytes.length || at + 12 + view.getUint32(at) > bytes.length) return fault(`was cut off in the chunk at byte ${at}.`)
    const length = view.getUint32(at)
    const name = String.fromCharCode(...bytes.subarray(at + 4, at + 8))
    if (crcOf(bytes.subarray(at + 4, at + 8 + length)) !== view.getUint32(at + 8 + length))
      fault(`is damaged in the chunk at byte ${at}: its checksum is another.`)
    const content = bytes.subarray(at + 8, at + 8 + length)
    if (at === 8 && (name !== 'IHDR' || length !== 13)) fault('has no header, IHDR.')
    if (name === 'IDAT') parts.push(content)
    else found.set(name, content)
    at += 12 + length
  }
  const [width, height] = [view.getUint32(16), view.getUint32(20)]
  const [depth, colour, compression, filter, interlace] = bytes.subarray(24, 29) as unknown as readonly [
    number,
    number,
    number,
    number,
    number,
  ]
  if (!types[colour]?.depths.includes(depth)) fault(`has pixels of the type ${colour} with ${depth} bits, which the format does not have.`)
  if (compression !== 0 || filter !== 0 || interlace > 1) fault('is packed in a way that the format does not have.')
  if (width === 0 || height === 0) fault(`has no pixels: ${width} x ${height}.`)
  const packed = new Uint8Array(parts.reduce((n, p) => n + p.length, 0))
  let at = 0
  for (const p of parts) {
    packed.set(p, at)
    at += p.length
  }
  const palette = found.get('PLTE')
  if (colour === 3 && palette === undefined) fault('has no palette, PLTE.')
  return { width, height, depth, colour, isInterlaced: interlace === 1, palette, transparent: found.get('tRNS'), packed }
}
/** A row as it was before its filter, in place: what lies `step` bytes before, above, and both. */
const unfiltered = (kind: number, row: Uint8Array, above: Uint8Array, step: number): void => {
  if (kind > 4) fault(`has a row of the filter ${kind}, which the format does not have.`)
  for (let i = 0; i < row.length; i++) {
    const a = i < step ? 0 : row[i - step]!
    const b = above[i]!
    const c = i < step ? 0 : above[i - step]!
    let guess = kind === 1 ? a : kind === 2 ? b : kind === 3 ? (a + b) >> 1 : 0
    if (kind === 4) {
      const [pa, pb, pc] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)]
      guess = pa <= pb && pa <= pc ? a : pb <= pc ? b : c
    }
    row[i] = row[i]! + guess
  }
}
const pngIn = async (bytes: Uint8Array): Promise<Tensor<[number, number, number], 'i32'>> => {
  const { width, height, depth, colour, isInterlaced, palette, transparent, packed } = chunksIn(bytes)
  const { samples } = types[colour]!
  const images = (isInterlaced ? interlaced : ([[0, 0, 1, 1]] as const))
    .map(([y, x, dy, dx]) => ({ y, x, dy, dx, rows: Math.ceil((height - y) / dy), columns: Math.ceil((width - x) / dx) }))
    .filter(({ rows, columns }) => rows > 0 && columns > 0)
  const lengthOf = (columns: number): number => Math.ceil((columns * samples * depth) / 8)
  const size = images.reduce((n, { rows, columns }) => n + rows * (1 + lengthOf(columns)), 0)
  const data = await inflated(packed, size, '', 'deflate', 'decodePng')
  const hasAlpha = transparent !== undefined && colour !== 4 && colour !== 6
  const channels = (colour === 3 ? 3 : samples) + (hasAlpha ? 1 : 0)
  const out = new Int32Array(width * height * channels)
  const most = depth === 16 ? 65_535 : 255
  const scale = depth < 8 && colour !== 3 ? 255 / (2 ** depth - 1) : 1
  /** The colour that stands for no pixel, as samples. */
  const none =
    hasAlpha && colour !== 3 ? Array.from({ length: samples }, (_, k) => (transparent[2 * k]! << 8) | transparent[2 * k + 1]!) : []
  const step = Math.max(1, (samples * depth) >> 3)
  const pixel = new Int32Array(samples)
  let at = 0
  for (const { y, x, dy, dx, rows, columns } of images) {
    const length = lengthOf(columns)
    let above = new Uint8Array(length)
    for (let r = 0; r < rows; r++) {
      const row = data.subarray(at + 1, at + 1 + length)
      unfiltered(data[at]!, row, above, step)
      above = row as Uint8Array<ArrayBuffer>
      at += 1 + length
      for (let c = 0; c < columns; c++) {
        for (let k = 0; k < samples; k++) {
          const i = c * samples + k
          const bit = i * depth
          pixel[k] =
            depth === 8
              ? row[i]!
              : depth === 16
                ? (row[2 * i]! << 8) | row[2 * i + 1]!
                : (row[bit >> 3]! >> (8 - depth - (bit & 7))) & (2 ** depth - 1)
        }
        const to = ((y + r * dy) * width + x + c * dx) * channels
        if (palette !== undefined && colour === 3) {
          const index = pixel[0]!
          if (3 * index + 3 > palette.length) fault(`has a pixel of colour ${index}, and a palette of ${Math.floor(palette.length / 3)}.`)
          for (let k = 0; k < 3; k++) out[to + k] = palette[3 * index + k]!
          if (hasAlpha) out[to + 3] = transparent[index] ?? 255
        } else {
          for (let k = 0; k < samples; k++) out[to + k] = pixel[k]! * scale
          if (hasAlpha) out[to + samples] = none.every((v, k) => v === pixel[k]) ? 0 : most
        }
      }
    }
  }
  return tensor(out, [height, width, channels], 'i32')
}

/**
 * The image in the bytes of a PNG file: its rows, columns and channels.
 *
 * Shapes  [height, width, channels]: 1 of grey, 3 of colour, and one more where pixels are transparent; those of a palette are colours.
 * Dtypes  i32: 0 to 255, and 0 to 65535 where the file has 16 bits.   A task, since the platform unpacks the pixels piece by piece.
 * Errors  Left of a Decode for invalid bytes; of Unsupported where the runtime cannot inflate. Bytes may come from anyone: it never throws.
 * @example await decodePng(new Uint8Array(3))()   // Left({ _tag: 'Decode', errors: [{ path: '', reason: 'is not a PNG file: ...' }] })
 */
export const decodePng =
  (bytes: Uint8Array | ArrayBuffer): TaskEither<AdError, Tensor<[number, number, number], 'i32'>> =>
  async () => {
    const settled = await Promise.resolve()
      .then(() => pngIn(bytesOf(bytes, 'decodePng')))
      .then(
        (value) => () => value,
        (e: unknown) => (): Tensor<[number, number, number], 'i32'> => {
          throw e
        },
      )
    return either(settled)
  }
