// Pictures made of pixels, one below the other with their titles, as an SVG file: what the examples on models of others show.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32, deflateSync } from 'node:zlib'
import { svg } from './plot.js'

/** A pixel from 0 to 1: grey, or red, green and blue. */
export type Pixel = number | readonly [number, number, number]
/** What an axis says: its name, and where it ends; it begins at 0. */
export interface Axis {
  readonly name: string
  readonly end: number
}
export interface Panel {
  readonly title: string
  /** The first row is on top. */
  readonly rows: readonly (readonly Pixel[])[]
  readonly x?: Axis
  readonly y?: Axis
  /** In the picture; without axes it is as the rows are. */
  readonly height?: number
}

const chunk = (name: string, data: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}
/** The address of a PNG of these pixels, which holds all of it. */
const pngOf = (rows: Panel['rows']): string => {
  const [height, width] = [rows.length, rows[0]!.length]
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2], 8) // 8 bits of red, green and blue
  const byte = (x: number): number => Math.round(255 * Math.min(1, Math.max(0, x)))
  const lines = rows.flatMap((row) => [0, ...row.flatMap((p) => (typeof p === 'number' ? [byte(p), byte(p), byte(p)] : p.map(byte)))])
  const png = [
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Uint8Array.from(lines))),
    chunk('IEND', new Uint8Array()),
  ]
  return `data:image/png;base64,${Buffer.concat(png).toString('base64')}`
}

/** Writes panels, one below the other, to FOLDER/NAME.svg and gives that path. */
export const pictures = async (
  folder: string,
  name: string,
  { title, panels, width = 480 }: { readonly title: string; readonly panels: readonly Panel[]; readonly width?: number },
): Promise<string> => {
  const axisOf = (axis: Axis | undefined) =>
    ({ type: 'quantitative', title: axis?.name ?? null, axis: axis === undefined ? null : {}, scale: { domain: [0, axis?.end ?? 1] as number[], nice: false } }) as const // biome-ignore format: one encoding
  const parts = panels.map(
    ({ title, rows, x, y, height = x === undefined ? Math.round((width * rows.length) / rows[0]!.length) : 160 }) => {
      return {
        width,
        height,
        title,
        data: { values: [{ url: pngOf(rows), left: 0, top: y?.end ?? 1 }] },
        mark: { type: 'image', width, height, align: 'left', baseline: 'top', aspect: false } as const,
        encoding: { url: { field: 'url' }, x: { field: 'left', ...axisOf(x) }, y: { field: 'top', ...axisOf(y) } } as const,
      }
    },
  )
  const text = await svg({ title, background: 'white', vconcat: parts, config: { aria: false, axis: { grid: false } } })
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${name}.svg`)
  writeFileSync(file, text)
  return file
}
