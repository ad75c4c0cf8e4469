/** Values as data for the page, cut where they are large. */
import { evaluate, isAdException, isExpr, isTensor, show, type Tensor } from '../../src/index.js'
import type { Printed } from './messages.js'

/** Elements of a tensor, and entries of a tree, that are sent. */
const MOST_ELEMENTS = 10_000
const MOST_ENTRIES = 100
const DEEPEST = 6

/** The name of the program in stacks and messages, without the place that a worker gives it. */
export const withoutPlaces = (text: string): string => text.replaceAll(/https:\/\/codual\.invalid\/program\.ts:(\d+)(:\d+)?/g, 'line $1')

const text = (text: string): Printed => ({ kind: 'text', text })
const tensorPrinted = (t: Tensor): Printed => ({
  kind: 'tensor',
  dtype: t.dtype,
  shape: [...t.shape],
  data: Array.from(t.data.subarray(0, MOST_ELEMENTS)),
  size: t.data.length,
})

/** An array of numbers, or of rows of as many numbers, as a tensor prints. */
const nested = (x: readonly unknown[]): Printed | undefined => {
  const shape: number[] = []
  for (let a: unknown = x; Array.isArray(a); a = a[0]) shape.push(a.length)
  if (shape.includes(0) || shape.length > 4) return undefined
  const data: number[] = []
  const fits = (a: unknown, axis: number): boolean => {
    if (axis === shape.length) return typeof a === 'number' && data.push(a) > 0
    return Array.isArray(a) && a.length === shape[axis] && a.every((b) => fits(b, axis + 1))
  }
  return fits(x, 0) ? { kind: 'tensor', dtype: 'numbers', shape, data: data.slice(0, MOST_ELEMENTS), size: data.length } : undefined
}

export const printed = (x: unknown, depth = 0): Printed => {
  if (isTensor(x)) return tensorPrinted(x)
  if (isExpr(x)) {
    try {
      return tensorPrinted(evaluate(x) as Tensor)
    } catch {
      return text(show(x))
    }
  }
  if (isAdException(x) || x instanceof Error) return text(withoutPlaces(x.message))
  if (typeof x === 'string') return text(x)
  if (typeof x === 'function') return text(`function ${x.name}`.trim())
  if (ArrayBuffer.isView(x) && !(x instanceof DataView)) {
    const data = Array.from(x as unknown as ArrayLike<number>)
    return { kind: 'tensor', dtype: x.constructor.name, shape: [data.length], data: data.slice(0, MOST_ELEMENTS), size: data.length }
  }
  if (typeof x !== 'object' || x === null) return text(Object.is(x, -0) ? '-0' : String(x))
  if ('_tag' in x && x._tag === 'Spec' && 'shape' in x && 'dtype' in x)
    return text(`${x.dtype} [${(x.shape as readonly unknown[]).join(', ')}]`)
  const numbers = Array.isArray(x) ? nested(x) : undefined
  if (numbers !== undefined) return numbers
  if (depth >= DEEPEST) return text('...')
  const pairs = x instanceof Map ? [...x].map(([k, v]) => [String(k), v] as const) : Object.entries(x)
  const label = Array.isArray(x) ? `${x.length} values` : x.constructor === Object || x.constructor === undefined ? '' : x.constructor.name
  const entries = pairs.slice(0, MOST_ENTRIES).map(([k, v]) => [k, printed(v, depth + 1)] as const)
  const rest = pairs.length - entries.length
  return { kind: 'tree', label, entries: rest > 0 ? [...entries, ['...', text(`${rest} more`)]] : entries }
}
