/** The wire format of protobuf, read by the schema of onnx.proto: every fault has its path in the file, nothing is copied but texts and numbers. */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { type Field, schema } from './schema.js'

/** A message: its fields by name, lists where they are repeated. `bytes` are views of the file. */
export type Message = Readonly<Record<string, unknown>>
/** Numbers of a tensor that are stored packed: views of the file, to be read once it is known how many there must be. */
export interface Packed {
  readonly kind: string
  readonly parts: readonly (Uint8Array | number | bigint)[]
}
/** What is wrong with a file, and where in it. */
export class Fault extends Error {
  readonly path: string
  constructor(path: string, reason: string) {
    super(reason)
    this.path = path
  }
}

/** How deep messages may stand in one another: a graph in a branch of a graph takes four. */
const DEPTH = 100
/** Fields that no reading here looks at: they are passed over, whatever is in them. */
const UNREAD = new Set(['value_info', 'quantization_annotation', 'doc_string', 'metadata_props', 'training_info', 'denotation', 'segment'])
/** Numbers that are read only when a tensor is. */
const isLate = (message: string, field: string): boolean =>
  message === 'TensorProto' && field.endsWith('_data') && !/string|external/.test(field)

const wireOf: Readonly<Record<string, WireType>> = {
  double: WireType.Bit64,
  float: WireType.Bit32,
  int64: WireType.Varint,
  uint64: WireType.Varint,
  int32: WireType.Varint,
  bool: WireType.Varint,
}
const utf8 = /*#__PURE__*/ new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** One number of a kind. 64-bit integers beyond 2^53 are the nearest double. */
export const numberIn = (reader: BinaryReader, kind: string): number => {
  switch (kind) {
    case 'double':
      return reader.double()
    case 'float':
      return reader.float()
    case 'int64':
      return Number(reader.int64())
    case 'uint64':
      return Number(reader.uint64())
    default:
      return reader.int32()
  }
}

interface Reading {
  /** Messages that are still allowed: bounded by the length of the file. */
  left: number
}

/** The message of a type in these bytes. */
export const decode = (bytes: Uint8Array, type: string): Message =>
  messageIn(bytes, type, '', 0, { left: 10_000 + Math.floor(bytes.length / 8) })

const messageIn = (bytes: Uint8Array, type: string, path: string, depth: number, reading: Reading): Message => {
  if (depth > DEPTH) throw new Fault(path, `messages stand in one another more than ${DEPTH} deep.`)
  if (reading.left-- <= 0) throw new Fault(path, 'there are more messages than a file of this length has.')
  const fields = schema[type]!
  const found: Record<string, unknown> = {} // the names are the schema's
  const reader = new BinaryReader(bytes)
  while (reader.pos < bytes.length) {
    let at = path
    try {
      const [number, wire] = reader.tag()
      const field = fields[number]
      if (field !== undefined && !UNREAD.has(field[0])) {
        if (field[2] !== undefined && found[field[0]] === undefined) found[field[0]] = []
        const many = field[2] === undefined ? undefined : (found[field[0]] as unknown[])
        at = `${path === '' ? '' : `${path}.`}${field[0]}${many === undefined ? '' : `[${many.length}]`}`
      }
      if (field === undefined || UNREAD.has(field[0])) skipped(reader, wire, bytes.length)
      else fieldIn(reader, wire, type, field, at, depth, reading, found)
    } catch (e) {
      if (e instanceof Fault) throw e
      throw new Fault(at, e instanceof RangeError ? 'the file ends within it.' : reasonOf(e))
    }
  }
  return found
}
const reasonOf = (e: unknown): string => {
  const said = e instanceof Error ? e.message : String(e)
  return `is not what the format has: ${said}${/[.!?]$/.test(said) ? '' : '.'}`
}

/** A field that the schema does not have, of a later version: left out. Groups are of none. */
const skipped = (reader: BinaryReader, wire: WireType, length: number): void => {
  if (wire === WireType.StartGroup || wire === WireType.EndGroup) throw new Error('a group, which no version of ONNX has')
  reader.skip(wire)
  if (reader.pos > length) throw new RangeError('end')
}

const fieldIn = (
  reader: BinaryReader,
  wire: WireType,
  type: string,
  [name, kind, many]: Field,
  path: string,
  depth: number,
  reading: Reading,
  found: Record<string, unknown>,
): void => {
  const list = many === undefined ? undefined : (found[name] as unknown[])
  const put = (x: unknown): void => {
    if (list === undefined) found[name] = x
    else list.push(x)
  }
  const scalar = wireOf[kind]
  if (scalar === undefined) {
    if (wire !== WireType.LengthDelimited) throw new Error(`wire type ${wire} for ${kind}`)
    const part = reader.bytes()
    if (kind === 'bytes') put(part)
    else if (kind === 'string') put(textOf(part))
    else put(messageIn(part, kind, path, depth + 1, reading))
  } else if (wire === scalar) put(numberIn(reader, kind))
  else if (wire === WireType.LengthDelimited && many !== undefined) {
    const part = reader.bytes()
    if (isLate(type, name)) put(part)
    else for (const r = new BinaryReader(part); r.pos < part.length; ) put(numberIn(r, kind))
  } else throw new Error(`wire type ${wire} for ${kind}`)
}
const textOf = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new Error('a text that is not UTF-8')
  }
}
