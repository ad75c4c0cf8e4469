/** The header of a safetensors file, read from bytes that anyone may have made: every entry is checked against the bytes that are there. */

import { shown } from '../core/errors/check-arguments.js'
import { readable } from './dtypes.js'
import { isRecord } from './given.js'

/** Where a tensor lies in the bytes after the header. */
export interface Entry {
  readonly name: string
  readonly stored: string
  readonly shape: readonly number[]
  readonly begin: number
  readonly end: number
}
/** What is wrong at a path. */
export interface Fault {
  readonly path: string
  readonly reason: string
}
/** A header, or what is wrong with it. */
export interface Header {
  readonly entries: readonly Entry[]
  readonly metadata: Readonly<Record<string, string>>
  /** Where the tensors' bytes begin. */
  readonly start: number
  readonly faults: readonly Fault[]
}

/** The longest header, in bytes, as the format's own reader has it. */
export const LONGEST = 100_000_000
/** Why a header is refused as a whole. */
class Refused extends Error {}
const refuse = (reason: string): never => {
  throw new Refused(reason)
}

/** Where the string that begins at `at` ends: at the next quote that no backslash escapes, or never. */
const endOfString = (json: string, at: number): number => {
  for (let end = json.indexOf('"', at + 1); ; end = json.indexOf('"', end + 1)) {
    if (end < 0) return json.length
    let first = end
    while (json[first - 1] === '\\') first--
    if ((end - first) % 2 === 0) return end
  }
}
/** The deepest nesting of a header: what the format says has three levels. */
const DEEPEST = 32
/** What JSON.parse would not say of a text: a key that stands twice in one object, of which it keeps the last, and nesting that takes it long. */
const faultOf = (json: string): string | undefined => {
  const open: (Set<string> | undefined)[] = []
  let text = ''
  // By hand: a regular expression runs out of stack on strings of many megabytes.
  for (let i = 0; i < json.length; i++) {
    const c = json[i]
    if (c === '{' || c === '[') {
      if (open.push(c === '{' ? new Set() : undefined) > DEEPEST) return `is nested deeper than ${DEEPEST} levels`
    } else if (c === '}' || c === ']') open.pop()
    else if (c === '"') {
      const end = endOfString(json, i)
      text = json.slice(i, end + 1)
      i = end
    } else if (c === ':') {
      const key = text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1)
      const keys = open.at(-1)
      if (keys?.has(key)) return `has the key ${shown(key)} twice`
      keys?.add(key)
    }
  }
  return undefined
}

const textOf = (bytes: Uint8Array): { readonly json: string; readonly start: number } => {
  if (bytes.length < 8) return refuse(`${bytes.length} bytes are not a safetensors file: the first 8 say how long its header is.`)
  const size = new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true)
  if (size > LONGEST) return refuse(`the header would have ${size} bytes, more than ${LONGEST}: this is not a safetensors file.`)
  const start = 8 + Number(size)
  if (start > bytes.length) return refuse(`the header has ${size} bytes, of which ${bytes.length - 8} are there: the file was cut off.`)
  try {
    return { json: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes.slice(8, start)), start }
  } catch {
    return refuse('the header is not UTF-8.')
  }
}

const parsed = (json: string): Readonly<Record<string, unknown>> => {
  if (!json.startsWith('{')) return refuse('the header does not begin with {.')
  let fault: string | undefined
  try {
    fault = faultOf(json)
    if (fault === undefined) return JSON.parse(json) as Readonly<Record<string, unknown>>
  } catch (e) {
    return refuse(`the header is not JSON: ${(e as Error).message.slice(0, 100)}.`)
  }
  return refuse(`the header ${fault}.`)
}

const isCount = (x: unknown): x is number => Number.isSafeInteger(x) && (x as number) >= 0
/** Names are the file's: own properties alone. */
const own = (x: Readonly<Record<string, unknown>>, name: string): unknown => (Object.hasOwn(x, name) ? x[name] : undefined)

const entryOf = (name: string, given: unknown, length: number): Entry | string => {
  if (!isRecord(given)) return `is ${shown(given)}, not { dtype, shape, data_offsets }.`
  const [stored, shape, offsets] = [own(given, 'dtype'), own(given, 'shape'), own(given, 'data_offsets')]
  if (typeof stored !== 'string' || !Object.hasOwn(readable, stored))
    return `its dtype is ${shown(stored)}; what can be read: ${Object.keys(readable).join(', ')}.`
  if (!Array.isArray(shape) || !shape.every(isCount)) return 'its shape is not an array of sizes.'
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isCount)) return 'its data_offsets are not [begin, end].'
  const [begin, end] = offsets as unknown as readonly [number, number]
  if (begin > end || end > length) return `its data_offsets [${begin}, ${end}] are not within the ${length} bytes of data.`
  const wanted = shape.includes(0) ? 0 : shape.reduce((n: number, d) => n * d, readable[stored]!.bytes)
  if (wanted !== end - begin)
    return `${stored} [${shape.join(', ').slice(0, 60)}] needs ${wanted} bytes, its data_offsets have ${end - begin}.`
  return { name, stored, shape, begin, end }
}

/** Tensors that overlap, and bytes that belong to none. */
const gaps = (entries: readonly Entry[], length: number): readonly Fault[] => {
  const faults: Fault[] = []
  let from = 0
  let before = ''
  for (const { name, begin, end } of [...entries].sort((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (begin < from) faults.push({ path: name, reason: `overlaps ${before}: it begins at byte ${begin}, before ${from}.` })
    if (begin > from) faults.push({ path: name, reason: `begins at byte ${begin}; bytes ${from} to ${begin} belong to no tensor.` })
    from = Math.max(from, end)
    before = name
  }
  return from === length ? faults : [...faults, { path: 'data', reason: `${length - from} bytes after the last tensor belong to none.` }]
}

/** The header of a file, with all that is wrong with it. */
export const headerOf = (bytes: Uint8Array): Header => {
  try {
    const { json, start } = textOf(bytes)
    const length = bytes.length - start
    const entries: Entry[] = []
    const faults: Fault[] = []
    let metadata: Readonly<Record<string, string>> = {}
    for (const [name, given] of Object.entries(parsed(json))) {
      if (name === '__metadata__') {
        if (isRecord(given) && Object.values(given).every((x) => typeof x === 'string'))
          metadata = given as Readonly<Record<string, string>>
        else faults.push({ path: name, reason: 'is not a record of strings.' })
        continue
      }
      const entry = entryOf(name, given, length)
      if (typeof entry === 'string') faults.push({ path: name, reason: entry })
      else entries.push(entry)
    }
    return { entries, metadata, start, faults: faults.length > 0 ? faults : gaps(entries, length) }
  } catch (e) {
    if (!(e instanceof Refused)) throw e
    return { entries: [], metadata: {}, start: 0, faults: [{ path: 'header', reason: e.message }] }
  }
}
