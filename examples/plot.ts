// Pictures of the examples: curves and points as an SVG file, drawn without a page by vega-lite.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, View } from 'vega'
import { compile, type TopLevelSpec } from 'vega-lite'

/** A vega-lite specification as SVG text. */
export const svg = async (spec: TopLevelSpec): Promise<string> => {
  const view = new View(parse(compile(spec).spec), { renderer: 'none' })
  const text = await view.toSVG()
  view.finalize()
  return text
}

/** Places in the plane, one after the other: [x, y]. */
export type Path = readonly (readonly number[])[]

/** What a picture shows: curves, points and bands by name. */
export interface Picture {
  readonly title: string
  readonly x: string
  readonly y: string
  readonly lines?: Readonly<Record<string, Path>>
  readonly points?: Readonly<Record<string, Path>>
  /** Filled between two curves: [x, low, high]. */
  readonly bands?: Readonly<Record<string, Path>>
  /** Powers of ten along y. */
  readonly logY?: boolean
  /** The same scale along both axes, from -extent to extent. */
  readonly extent?: number
}

const rows = (paths: Readonly<Record<string, Path>> = {}) =>
  Object.entries(paths).flatMap(([name, path]) => path.map(([x, y, high], i) => ({ name, i, x, y, high })))

/** Writes text to FOLDER/NAME.svg and gives that path. */
const written = (folder: string, name: string, text: string): string => {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${name}.svg`)
  writeFileSync(file, text)
  return file
}

/** Writes a matrix as a picture, the first row on top, darker where it is larger. */
export const heat = async (
  folder: string,
  name: string,
  {
    title,
    x,
    y,
    rows,
    axes = true,
  }: {
    readonly title: string
    readonly x: string
    readonly y: string
    readonly rows: readonly (readonly number[])[]
    readonly axes?: boolean
  },
): Promise<string> => {
  const values = rows.flatMap((row, i) => row.map((value, j) => ({ i, j, value })))
  const text = await svg({
    width: 360,
    height: 360,
    title,
    background: 'white',
    data: { values },
    mark: 'rect',
    encoding: {
      x: { field: 'j', type: 'ordinal', title: x, ...(!axes && { axis: null }) },
      y: { field: 'i', type: 'ordinal', title: y, ...(!axes && { axis: null }) },
      color: { field: 'value', type: 'quantitative', title: null, scale: { scheme: 'blues' } },
    },
    config: { aria: false },
  })
  return written(folder, name, text)
}

/** Writes a picture to FOLDER/NAME.svg and gives that path. */
export const plot = async (
  folder: string,
  name: string,
  { title, x, y, lines, points, bands, logY = false, extent }: Picture,
): Promise<string> => {
  const bounds = extent === undefined ? { zero: false } : { domain: [-extent, extent] }
  const encoding = {
    x: { field: 'x', type: 'quantitative', title: x, scale: bounds, axis: { format: '.4~g' } },
    y: { field: 'y', type: 'quantitative', title: y, scale: logY ? ({ type: 'log' } as const) : bounds },
    color: { field: 'name', type: 'nominal', title: null, sort: null },
  } as const
  const text = await svg({
    width: extent === undefined ? 520 : 400,
    height: extent === undefined ? 300 : 400,
    title,
    background: 'white',
    layer: [
      { data: { values: rows(bands) }, mark: { type: 'area', opacity: 0.3 }, encoding: { ...encoding, y2: { field: 'high' } } },
      { data: { values: rows(points) }, mark: { type: 'point', filled: true, size: 30 }, encoding },
      {
        data: { values: rows(lines) },
        mark: { type: 'line', strokeWidth: 1.5, clip: true },
        encoding: { ...encoding, order: { field: 'i', type: 'quantitative' } },
      },
    ],
    config: { aria: false },
  })
  return written(folder, name, text)
}
