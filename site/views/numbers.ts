/** Numbers as text. */
import type { Printed } from '../run/messages.js'

const plain = new Intl.NumberFormat('en', { maximumSignificantDigits: 5, useGrouping: false })
const small = new Intl.NumberFormat('en', { notation: 'scientific', maximumSignificantDigits: 4 })
/** Counts, with their thousands apart. */
export const count = new Intl.NumberFormat('en')

export const numberText = (x: number): string => {
  if (!Number.isFinite(x)) return String(x)
  if (Object.is(x, -0)) return '-0'
  const size = Math.abs(x)
  return size !== 0 && (size < 1e-4 || size >= 1e7) ? small.format(x) : plain.format(x)
}

/** An element of a tensor: of booleans true or false. */
export const elementText = (x: number, dtype: string): string => (dtype === 'bool' ? String(x !== 0) : numberText(x))

const SHORT = 60
const nested = (data: readonly number[], shape: readonly number[], dtype: string, from = 0): string => {
  const [n, ...rest] = shape
  if (n === undefined) return elementText(data[from]!, dtype)
  const size = rest.reduce((a, b) => a * b, 1)
  const items: string[] = []
  for (let i = 0, length = 0; i < n; i++) {
    if (length > SHORT || from + i * size >= data.length) return `[${items.join(', ')}, ...]`
    const item = nested(data, rest, dtype, from + i * size)
    length += item.length + 2
    items.push(item)
  }
  return `[${items.join(', ')}]`
}
/** A value in a few words, beside a line of the program. */
export const short = (value: Printed): string => {
  const text =
    value.kind === 'text'
      ? value.text.split('\n')[0]!
      : value.kind === 'tensor'
        ? nested(value.data, value.shape, value.dtype)
        : `{ ${value.entries.map(([k, v]) => `${k}: ${short(v)}`).join(', ')} }`
  return text.length > SHORT + 20 ? `${text.slice(0, SHORT + 16)} ...` : text
}
