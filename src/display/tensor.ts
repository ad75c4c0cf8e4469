/** A tensor as tables: one for each slice of its last two axes, with the middle of long axes left out. */
import { about, type Child, element, folded, GAP, joined, type Markup, table } from './html.js'
import { elementText, number } from './numbers.js'

/** What is looked at of a tensor, of this copy of codual or another. */
export interface TensorLike {
  readonly shape: readonly number[]
  readonly dtype: string
  readonly data: ArrayLike<number>
}
const DTYPES = ['f64', 'f32', 'i32', 'bool']
export const isTensorLike = (x: unknown): x is TensorLike => {
  const t = x as TensorLike | null
  return (
    typeof t === 'object' &&
    t !== null &&
    (t as { readonly _tag?: unknown })._tag === 'Tensor' &&
    Array.isArray(t.shape) &&
    DTYPES.includes(t.dtype) &&
    ArrayBuffer.isView(t.data)
  )
}

/** Slices of an array of more than two axes, at most. */
const MOST_SLICES = 4
/** Arrays of more elements than that are not read for a summary. */
const MOST_READ = 2 ** 22

export const typeText = ({ dtype, shape }: Pick<TensorLike, 'dtype' | 'shape'>): string => `${dtype} [${shape.join(', ')}]`
const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1)

/** Least, mean and greatest of the numbers, and how many are none. */
export const summaryOf = ({ dtype, data }: TensorLike): string => {
  if (data.length === 0 || data.length > MOST_READ) return ''
  let [least, greatest, sum, nans] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0]
  for (let i = 0; i < data.length; i++) {
    const x = data[i]!
    if (Number.isNaN(x)) nans++
    else {
      least = Math.min(least, x)
      greatest = Math.max(greatest, x)
      sum += x
    }
  }
  if (dtype === 'bool') return `${sum} of ${data.length} true`
  const some = data.length - nans
  return [
    ...(some === 0 ? [] : [`from ${number(least)} to ${number(greatest)}, mean ${number(sum / some)}`]),
    ...(nans === 0 ? [] : [`${nans} NaN`]),
  ].join('; ')
}

/** Rows and columns from an offset on, with their places. */
const slice = (x: TensorLike, offset: number, rows: number, columns: number, most: number): Markup => {
  const across = folded(columns, most)
  const line = (i: number | undefined): readonly Child[] => [
    element('span', { style: 'opacity:.65' }, i === undefined ? GAP : i),
    ...across.map((j) => (i === undefined || j === undefined ? GAP : elementText(x.data[offset + i * columns + j]!, x.dtype))),
  ]
  return table(['', ...across.map((j) => (j === undefined ? GAP : String(j)))], folded(rows, most).map(line))
}
/** The place of slice k along the leading axes, as it is indexed. */
const placeOf = (k: number, leading: readonly number[]): string => {
  const at: number[] = []
  let rest = k
  for (let d = leading.length - 1; d >= 0; d--) {
    at.unshift(rest % leading[d]!)
    rest = Math.floor(rest / leading[d]!)
  }
  return `[${at.join(', ')}, :, :]`
}

/** `most` rows and columns of each slice are shown. */
export const tensorHTML = (x: TensorLike, most: number): Markup => {
  const { shape, data } = x
  const size = sizeOf(shape)
  if (data.length !== size) return about(`${typeText(x)} without its elements: its buffer was given away`)
  if (size === 0) return about(`${typeText(x)}, no elements`)
  if (shape.length === 0) return joined([about(typeText(x)), elementText(data[0]!, x.dtype)])
  const summary = size > most ? summaryOf(x) : ''
  const head = about(summary === '' ? typeText(x) : `${typeText(x)}, ${summary}`)
  const [rows, columns] = shape.length === 1 ? [1, shape[0]!] : [shape.at(-2)!, shape.at(-1)!]
  if (shape.length === 1) {
    const across = folded(columns, most)
    const cells = across.map((j) => (j === undefined ? GAP : elementText(data[j]!, x.dtype)))
    return joined([
      head,
      table(
        across.map((j) => (j === undefined ? GAP : String(j))),
        [cells],
      ),
    ])
  }
  const leading = shape.slice(0, -2)
  const parts = folded(sizeOf(leading), MOST_SLICES).flatMap((k) =>
    k === undefined
      ? [about(GAP)]
      : [...(leading.length === 0 ? [] : [about(placeOf(k, leading))]), slice(x, k * rows * columns, rows, columns, most)],
  )
  return joined([head, ...parts])
}
