/** What the lines of an example say that they give: a comment of JSON at the end of a statement. */
import type { Printed } from '../../site/run/messages.js'

export interface Expected {
  readonly line: number
  readonly value: unknown
}

export const expectedOf = (text: string): readonly Expected[] =>
  text.split('\n').flatMap((line, i): Expected[] => {
    const comment = /\S.* \/\/ ([-[{"\dtf].*)$/.exec(line)?.[1]
    if (comment === undefined) return []
    try {
      return [{ line: i + 1, value: JSON.parse(comment) }]
    } catch {
      return []
    }
  })

/** A printed value as plain JSON. */
export const plain = (value: Printed): unknown => {
  if (value.kind === 'text')
    return value.text === 'true'
      ? true
      : value.text === 'false'
        ? false
        : Number.isNaN(Number(value.text))
          ? value.text
          : Number(value.text)
  if (value.kind === 'tree') return Object.fromEntries(value.entries.map(([k, v]) => [k, plain(v)]))
  const fold = (shape: readonly number[], from: number): unknown => {
    const [n, ...rest] = shape
    if (n === undefined) return value.dtype === 'bool' ? value.data[from] !== 0 : value.data[from]
    const size = rest.reduce((a, b) => a * b, 1)
    return Array.from({ length: n }, (_, i) => fold(rest, from + i * size))
  }
  return fold(value.shape, 0)
}

/** One unit of the last digit that a number is written with; of whole numbers a millionth. */
const unit = (written: number): number => {
  const digits = /\.(\d+)$/.exec(String(written))?.[1]?.length
  return digits === undefined ? 1e-6 : 10 ** -digits
}
/** Whether a value agrees with what a comment says, to the digits that it writes. */
export const agrees = (wanted: unknown, got: unknown): boolean => {
  if (typeof wanted === 'number') return typeof got === 'number' && Math.abs(wanted - got) <= unit(wanted)
  if (Array.isArray(wanted)) return Array.isArray(got) && got.length === wanted.length && wanted.every((w, i) => agrees(w, got[i]))
  return wanted === got
}
