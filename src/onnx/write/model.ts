/** A finished graph as the bytes of a model. */
import { bitsOf, narrowFormats } from '../narrow.js'
import type { Finished, Size, StoredConstant, Typed } from './merge.js'
import { encode, type Fields } from './wire.js'
import { type Attribute, allNodes, type FileType, type GraphData, type NodeData, NUMBERS, type Ref, renamed } from './writer.js'

const INT = 2
const TEXT = 3
const FLOAT = 1
const GRAPH = 5
const INTS = 7
const utf8 = /*#__PURE__*/ new TextEncoder()

const attributeOf = ([name, a]: readonly [string, Attribute]): Fields => {
  if (typeof a === 'number') return { name, i: a, type: INT }
  if (typeof a === 'string') return { name, s: utf8.encode(a), type: TEXT }
  if ('graph' in a) return { name, g: graphOf(a.graph), type: GRAPH }
  if ('float' in a) return { name, f: a.float, type: FLOAT }
  return { name, ints: a, type: INTS }
}
const nodeOf = ({ op, name, inputs, outputs, attributes }: NodeData): Fields => ({
  input: inputs,
  output: outputs,
  name,
  op_type: op,
  attribute: Object.entries(attributes).map(attributeOf),
})
const infoOf = ({ name, type, shape }: { readonly name: string; readonly type: FileType; readonly shape: readonly Size[] }): Fields => ({
  name,
  type: {
    tensor_type: {
      elem_type: NUMBERS[type],
      shape: { dim: shape.map((d) => (typeof d === 'number' ? { dim_value: d } : { dim_param: d })) },
    },
  },
})
/** Of a value inside a node the type and how many axes it has: their sizes follow. */
const typeOnly = ({ name, type, shape }: Ref): Fields => ({
  name,
  type: { tensor_type: { elem_type: NUMBERS[type], shape: { dim: shape.map(() => ({})) } } },
})
const graphOf = ({ name, nodes, inputs, outputs }: GraphData): Fields => ({
  node: nodes.map(nodeOf),
  name,
  input: inputs.map(typeOnly),
  output: outputs.map(typeOnly),
})

const isLittleEndian = /*#__PURE__*/ new Uint8Array(new Uint32Array([1]).buffer)[0] === 1
type Store = (view: DataView, i: number, x: number) => void
const narrow = (name: 'float16' | 'bfloat16'): readonly [2, Store] => [
  2,
  (v, i, x) => v.setUint16(2 * i, bitsOf(narrowFormats[name]!, x), true),
]
const long: readonly [8, Store] = [8, (v, i, x) => v.setBigInt64(8 * i, BigInt(x), true)]
const short: readonly [2, Store] = [2, (v, i, x) => v.setUint16(2 * i, x, true)]
const word: readonly [4, Store] = [4, (v, i, x) => v.setInt32(4 * i, x, true)]
const byte: readonly [1, Store] = [1, (v, i, x) => v.setUint8(i, x)]
/** Bytes of an element, and how one is stored. */
const stores: Readonly<Record<FileType, readonly [bytes: number, store: Store]>> = {
  float: [4, (v, i, x) => v.setFloat32(4 * i, x, true)],
  double: [8, (v, i, x) => v.setFloat64(8 * i, x, true)],
  float16: narrow('float16'),
  bfloat16: narrow('bfloat16'),
  int64: long,
  uint64: long,
  int32: word,
  uint32: word,
  int16: short,
  uint16: short,
  int8: byte,
  uint8: byte,
  bool: byte,
}
/** The types whose elements lie in memory as a typed array of codual has them. */
const asTheyAre: readonly FileType[] = ['float', 'double', 'int32', 'bool']
/** Elements as raw data has them: in order of bytes from the lowest. */
const rawOf = (type: FileType, data: ArrayLike<number>): Uint8Array => {
  const [bytes, store] = stores[type]
  if (isLittleEndian && asTheyAre.includes(type) && ArrayBuffer.isView(data) && data.byteLength === data.length * bytes)
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  const view = new DataView(new ArrayBuffer(data.length * bytes))
  for (let i = 0; i < data.length; i++) store(view, i, data[i]!)
  return new Uint8Array(view.buffer)
}
const tensorOf = ({ name, type, shape, data }: StoredConstant): Fields => ({
  dims: shape,
  data_type: NUMBERS[type],
  name,
  raw_data: rawOf(type, data),
})

/** So many numbers at most are compared with those of other constants. */
const SMALL = 16
/** The same with one of equal constants, and without those that nobody reads. */
export const tidy = (f: Finished): Finished => {
  const names = new Map<string, string>()
  const first = new Map<string, string>()
  for (const c of f.constants) {
    if (c.tensor === true || c.data.length > SMALL) continue
    const key = `${c.type} ${c.shape.join()} ${Array.from(c.data, (x) => (Object.is(x, -0) ? '-0' : x)).join()}`
    const known = first.get(key)
    if (known === undefined) first.set(key, c.name)
    else names.set(c.name, known)
  }
  const nodes = living(renamed(f.nodes, names), f.outputs)
  const read = new Set(allNodes(nodes).flatMap((n) => n.inputs))
  return { ...f, nodes, constants: f.constants.filter((c) => !names.has(c.name) && read.has(c.name)) }
}
/** The nodes that outputs are made of. */
const living = (nodes: readonly NodeData[], outputs: readonly Typed[]): readonly NodeData[] => {
  const read = new Set(outputs.map((o) => o.name))
  const kept: NodeData[] = []
  for (const n of [...nodes].reverse()) {
    if (!n.outputs.some((o) => read.has(o))) continue
    kept.push(n)
    for (const inner of allNodes([n])) for (const name of inner.inputs) read.add(name)
    for (const a of Object.values(n.attributes))
      if (typeof a === 'object' && 'graph' in a) for (const o of a.graph.outputs) read.add(o.name)
  }
  return kept.reverse()
}

/** The version of the format that came with an operator set. */
const formatOf = (opset: number): number => (opset < 19 ? 8 : opset < 21 ? 9 : opset < 23 ? 10 : 11)
/** The bytes of a model. */
export const bytesOf = (name: string, f: Finished, opset: number): Uint8Array =>
  encode('ModelProto', {
    ir_version: formatOf(opset),
    producer_name: 'codual',
    opset_import: [{ domain: '', version: opset }],
    graph: {
      node: f.nodes.map(nodeOf),
      name,
      initializer: f.constants.map(tensorOf),
      input: f.inputs.map(infoOf),
      output: f.outputs.map(infoOf),
    },
  })
