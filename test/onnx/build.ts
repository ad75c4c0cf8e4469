/** Models for tests, written as messages of onnx.proto by its schema. */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { schema } from '../../src/onnx/schema.js'

const wires: Readonly<Record<string, WireType>> = {
  double: WireType.Bit64,
  float: WireType.Bit32,
  int64: WireType.Varint,
  uint64: WireType.Varint,
  int32: WireType.Varint,
}
/** The bytes of a message. */
export const encode = (message: object, type: string): Uint8Array => {
  const writer = new BinaryWriter()
  for (const [number, [name, kind, many]] of Object.entries(schema[type]!)) {
    const given = (message as Readonly<Record<string, unknown>>)[name]
    if (given === undefined) continue
    for (const x of many === undefined ? [given] : (given as readonly unknown[])) {
      writer.tag(Number(number), wires[kind] ?? WireType.LengthDelimited)
      if (kind === 'string') writer.string(x as string)
      else if (kind === 'bytes') writer.bytes(x as Uint8Array)
      else if (wires[kind] === undefined) writer.bytes(encode(x as object, kind))
      else writer[kind as 'int64'](x as number)
    }
  }
  return writer.finish()
}

const FLOAT = 1
const types: Readonly<Record<string, number>> = {
  float: FLOAT,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  string: 8,
  bool: 9,
  float16: 10,
  double: 11,
  bfloat16: 16,
}
/** A tensor of numbers, as raw data of 4 bytes, or of 8 for int64. */
export const tensorOf = (name: string, numbers: readonly number[], shape: readonly number[] = [numbers.length], type = 'float'): object => {
  const raw =
    type === 'int64' ? BigInt64Array.from(numbers.map(BigInt)) : type === 'float' ? Float32Array.from(numbers) : Int32Array.from(numbers)
  return { name, dims: shape, data_type: types[type], raw_data: new Uint8Array(raw.buffer) }
}
/** An input or an output: its name, its shape, its type. */
export const ioOf = (name: string, shape?: readonly (number | string)[], type = 'float'): object => ({
  name,
  type: {
    tensor_type: {
      elem_type: types[type],
      ...(shape !== undefined && { shape: { dim: shape.map((d) => (typeof d === 'number' ? { dim_value: d } : { dim_param: d })) } }),
    },
  },
})
export const attributeOf = (name: string, x: unknown): object => {
  if (typeof x === 'number') return Number.isInteger(x) ? { name, type: 2, i: x } : { name, type: 1, f: x }
  if (typeof x === 'string') return { name, type: 3, s: new TextEncoder().encode(x) }
  if (Array.isArray(x)) return { name, type: 7, ints: x }
  const message = x as Readonly<Record<string, unknown>>
  if (message.ref !== undefined) return { name, type: 1, ref_attr_name: message.ref }
  return message.dims === undefined ? { name, type: 5, g: x } : { name, type: 4, t: x }
}
/** A node: its operator, inputs and outputs by name, attributes. */
export const nodeOf = (
  op: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: object = {},
  more: object = {},
): object => ({
  op_type: op,
  input: inputs,
  output: outputs,
  attribute: Object.entries(attributes).map(([name, x]) => attributeOf(name, x)),
  ...more,
})
/** The bytes of a model of one graph. */
export const modelOf = (
  graph: object,
  { opset = 17, ...more }: { readonly opset?: number; readonly functions?: readonly object[] } = {},
): Uint8Array =>
  encode(
    { ir_version: 8, opset_import: [{ version: opset }, { domain: 'own', version: 1 }], graph: { name: 'g', ...graph }, ...more },
    'ModelProto',
  )
