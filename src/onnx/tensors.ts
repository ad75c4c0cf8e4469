/** Tensors of a file: TensorProto as tensors of codual, each size held against what is there before memory is taken. */
import { BinaryReader } from '@bufbuild/protobuf/wire'
import { evaluate, type Tensor, tensor } from '../index.js'
import { widened, wordsOf } from './packed.js'
import { type ElementType, elementTypes, typeName } from './types.js'
import { Fault, type Message, numberIn } from './wire.js'

/** The bytes of a file beside the model, which external data names: its path there, relative to the model. */
export type External = (location: string) => Uint8Array
/** A tensor of a file. Its elements, in the dtype that holds them, are read when they are first asked for: a file with a mistake elsewhere has taken no memory for them. */
export interface Stored {
  readonly name: string
  readonly type: ElementType
  readonly shape: readonly number[]
  readonly size: number
  readonly tensor: Tensor
  /** Its bytes as words, in place of `tensor`; undefined where the file has numbers in fields. */
  readonly words: (() => Tensor) | undefined
}
/** Where elements may be beside the message, and all tensors that were found. */
export interface TensorSource {
  readonly external: External | undefined
  readonly made: Stored[]
}

const isLittleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1
/** More elements than any array has here. */
const MOST = 2 ** 32

/** The shape of a message, and how many elements it has. */
const shapeOf = (message: Message, path: string): { readonly shape: readonly number[]; readonly size: number } => {
  const shape = (message.dims ?? []) as readonly number[]
  let size = 1
  for (const [i, d] of shape.entries()) {
    if (!Number.isSafeInteger(d) || d < 0) throw new Fault(`${path}.dims[${i}]`, `is ${d}, which is no size.`)
    size *= d
    if (size > MOST) throw new Fault(`${path}.dims`, `has more elements than an array can have: [${shape.join(', ')}].`)
  }
  return { shape, size }
}

type Parts = readonly (Uint8Array | number)[]
const fixed: Readonly<Record<string, readonly [kind: string, bytes: number]>> = { float_data: ['float', 4], double_data: ['double', 8] }
const varint: Readonly<Record<string, string>> = { int32_data: 'int32', int64_data: 'int64', uint64_data: 'uint64' }
/** How many numbers a packed part has. */
const countOf = (part: Uint8Array | number, field: string, path: string): number => {
  if (typeof part === 'number') return 1
  const size = fixed[field]?.[1]
  if (size !== undefined) {
    if (part.length % size !== 0) throw new Fault(`${path}.${field}`, `has ${part.length} bytes, which are no whole numbers.`)
    return part.length / size
  }
  let n = 0
  for (const byte of part) if (byte < 128) n++
  return n
}

/** The bytes of external data. */
const externalOf = (message: Message, path: string, read: External | undefined): Uint8Array => {
  const entries = Object.fromEntries(
    ((message.external_data ?? []) as readonly Message[]).map((e) => [String(e.key), String(e.value ?? '')]),
  ) as Readonly<Record<string, string | undefined>>
  const { location } = entries
  const at = `${path}.external_data`
  if (location === undefined) throw new Fault(at, 'has no location.')
  if (/^([/\\]|[a-z]:)|(^|[/\\])\.\.([/\\]|$)/i.test(location))
    throw new Fault(at, `has the location ${JSON.stringify(location)}, which leaves the model's folder.`)
  if (read === undefined)
    throw new Fault(at, `the elements are in the file ${JSON.stringify(location)}: give { external: (location) => bytes }.`)
  const bytes: unknown = read(location)
  if (!(bytes instanceof Uint8Array)) throw new Fault(at, `external(${JSON.stringify(location)}) gave no Uint8Array.`)
  const offset = Number(entries.offset ?? 0)
  const length = entries.length === undefined ? bytes.length - offset : Number(entries.length)
  if (!(Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= 0 && length >= 0 && offset + length <= bytes.length))
    throw new Fault(
      at,
      `bytes ${entries.offset ?? 0} to ${offset + length} are not in ${JSON.stringify(location)}, which has ${bytes.length}.`,
    )
  return bytes.subarray(offset, offset + length)
}

/** Numbers beyond i32 are of 64 bits, or unsigned: such a tensor is f64, exact up to 2^53. */
const holding = (type: ElementType, size: number, at: (i: number) => number): Tensor['dtype'] => {
  if (type.range === undefined || (type.range[0] >= -(2 ** 31) && type.range[1] < 2 ** 31)) return type.dtype
  for (let i = 0; i < size; i++) {
    const x = at(i)
    if (x > 2147483647 || x < -2147483648) return 'f64'
  }
  return 'i32'
}

/** The elements of a message, once somebody asks for them. */
type Elements = () => (i: number) => number
/** The tensor of a message: it is checked that it has as many elements as its shape says. */
export const storedOf = (message: Message, path: string, source?: TensorSource): Stored => {
  const { shape, size } = shapeOf(message, path)
  const type = elementTypes[Number(message.data_type ?? 0)]
  if (type === undefined)
    throw new Fault(`${path}.data_type`, `is ${typeName(Number(message.data_type ?? 0))}, which codual does not compute.`)
  const raw = message.data_location === 1 ? externalOf(message, path, source?.external) : (message.raw_data as Uint8Array | undefined)
  const elements = raw === undefined ? inFields(message, type, size, path) : inBytes(raw, type, size, path)
  // When the tensor or the words are made, nothing of the file is held.
  let file: InFile | undefined = inFile(elements, raw, type, shape, size, path)
  let made: Tensor | undefined
  let words: Tensor | undefined
  const stored: Stored = {
    name: String(message.name ?? ''),
    type,
    shape,
    size,
    get tensor(): Tensor {
      made ??= file === undefined ? (evaluate(widened(words!, type, shape, size)) as unknown as Tensor) : file.tensor()
      file = undefined
      return made
    },
    words:
      raw === undefined
        ? undefined
        : () => {
            words ??= file!.words()
            file = undefined
            return words
          },
  }
  source?.made.push(stored)
  return stored
}
/** What is made of the bytes of a file; a function of its own, whose variables are gone with it. */
interface InFile {
  readonly tensor: () => Tensor
  readonly words: () => Tensor
}
const inFile = (...[elements, raw, type, shape, size, path]: Parameters<typeof tensorOf>): InFile => ({
  tensor: () => tensorOf(elements, raw, type, shape, size, path),
  words: () => wordsOf(raw!),
})
const tensorOf = (
  elements: Elements,
  raw: Uint8Array | undefined,
  type: ElementType,
  shape: readonly number[],
  size: number,
  path: string,
): Tensor => {
  const at = elements()
  const dtype = holding(type, size, at)
  let made: Tensor
  try {
    made = tensor(0, shape, dtype) as Tensor
  } catch {
    throw new Fault(path, `this engine has no array of ${size} elements.`)
  }
  const out = made.data
  if (raw !== undefined && isLittleEndian && out.byteLength === raw.length && type.name !== 'bool' && dtype === type.dtype)
    new Uint8Array(out.buffer, out.byteOffset, out.byteLength).set(raw)
  else for (let i = 0; i < size; i++) out[i] = at(i)
  return made
}

const inBytes = (raw: Uint8Array, type: ElementType, size: number, path: string): Elements => {
  if (raw.length !== Math.ceil(size * type.bytes))
    throw new Fault(
      `${path}.raw_data`,
      `has ${raw.length} bytes where ${size} elements of ${type.name} have ${Math.ceil(size * type.bytes)}.`,
    )
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength)
  return () => (i) => type.read(view, i)
}
const inFields = (message: Message, type: ElementType, size: number, path: string): Elements => {
  const field = type.field
  const parts = (message[field] ?? []) as Parts
  const count = parts.reduce<number>((n, part) => n + countOf(part, field, path), 0)
  if (count !== (type.bytes < 1 ? Math.ceil(size * type.bytes) : size))
    throw new Fault(`${path}.${field}`, `has ${count} numbers where the shape has ${size} elements.`)
  return () => numbersIn(parts, field, count, type)
}
const numbersIn = (parts: Parts, field: string, count: number, type: ElementType): ((i: number) => number) => {
  const numbers = new Float64Array(count)
  let k = 0
  const kind = fixed[field]?.[0] ?? varint[field]!
  for (const part of parts) {
    if (typeof part === 'number') numbers[k++] = part
    else for (const r = new BinaryReader(part); r.pos < part.length && k < count; ) numbers[k++] = numberIn(r, kind)
  }
  if (type.bytes < 1) {
    const view = new DataView(Uint8Array.from(numbers).buffer)
    return (i) => type.read(view, i)
  }
  const { of } = type
  return of === undefined ? (i) => numbers[i]! : (i) => of(numbers[i]!)
}
