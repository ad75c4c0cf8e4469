/** The wire format of protobuf, written by the schema of onnx.proto: the twin of wire.ts of the reader. */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { schema } from '../schema.js'

/** What a message holds: its fields by name, lists where they are repeated; what is undefined is left out. */
export type Fields = Readonly<Record<string, unknown>>

const numbers: Readonly<Record<string, readonly [wire: WireType, write: (w: BinaryWriter, x: number) => unknown]>> = {
  double: [WireType.Bit64, (w, x) => w.double(x)],
  float: [WireType.Bit32, (w, x) => w.float(x)],
  int64: [WireType.Varint, (w, x) => w.int64(BigInt(x))],
  uint64: [WireType.Varint, (w, x) => w.uint64(BigInt(x))],
  int32: [WireType.Varint, (w, x) => w.int32(x)],
  bool: [WireType.Varint, (w, x) => w.bool(x !== 0)],
}

const one = (w: BinaryWriter, number: number, kind: string, x: unknown): void => {
  const scalar = numbers[kind]
  if (scalar !== undefined) scalar[1](w.tag(number, scalar[0]), x as number)
  else if (kind === 'string') w.tag(number, WireType.LengthDelimited).string(x as string)
  else if (kind === 'bytes') w.tag(number, WireType.LengthDelimited).bytes(x as Uint8Array)
  else {
    written(w.tag(number, WireType.LengthDelimited).fork(), kind, x as Fields)
    w.join()
  }
}
const written = (w: BinaryWriter, type: string, fields: Fields): void => {
  for (const [number, [name, kind, many]] of Object.entries(schema[type]!)) {
    const value = fields[name]
    if (value === undefined) continue
    if (many === undefined) one(w, Number(number), kind, value)
    else for (const x of value as readonly unknown[]) one(w, Number(number), kind, x)
  }
}

/** The bytes of a message of a type. */
export const encode = (type: string, fields: Fields): Uint8Array => {
  const w = new BinaryWriter()
  written(w, type, fields)
  return w.finish()
}
