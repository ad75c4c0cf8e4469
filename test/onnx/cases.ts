/** The backend tests of ONNX as data (cases.py): models, inputs, and what they give. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { type Tensor, tensor } from '../../src/index.js'
import { type Graph, type ModelData, modelOf } from '../../src/onnx/graph.js'
import { neededOf } from '../../src/onnx/needed.js'
import { table } from '../../src/onnx/operators/index.js'
import { type Stored, storedOf } from '../../src/onnx/tensors.js'
import { elementTypes } from '../../src/onnx/types.js'
import { decode } from '../../src/onnx/wire.js'

type Range = readonly [from: number, to: number]
/** Where a value is: of a sequence where its elements are, null where there is nothing. */
type Place = Range | null | { readonly list: readonly Place[] }
/** The bytes of a value. */
export type File = Uint8Array | null | readonly File[]
export interface Case {
  readonly name: string
  readonly model: Uint8Array
  readonly inputs: readonly File[]
  readonly outputs: readonly File[]
}
/** Cases of a version of ONNX. */
export interface Cases {
  readonly cases: readonly Case[]
  /** Cases whose files are too large to be kept here. */
  readonly leftOut: readonly string[]
}
export const casesOf = (version: '1.12' | '1.23'): Cases => {
  const bytes = gunzipSync(readFileSync(new URL(`cases-${version}.bin.gz`, import.meta.url)))
  const length = bytes.readUInt32LE(0)
  const index = JSON.parse(bytes.subarray(4, 4 + length).toString()) as {
    readonly leftOut: readonly string[]
    readonly cases: readonly {
      readonly name: string
      readonly model: Range
      readonly inputs: readonly Place[]
      readonly outputs: readonly Place[]
    }[]
  }
  const at = ([from, to]: Range): Uint8Array => new Uint8Array(bytes.subarray(4 + length + from, 4 + length + to))
  const fileAt = (place: Place): File => (place === null ? null : 'list' in place ? place.list.map(fileAt) : at(place))
  const cases = index.cases.map((c) => ({ name: c.name, model: at(c.model), inputs: c.inputs.map(fileAt), outputs: c.outputs.map(fileAt) }))
  return { cases, leftOut: index.leftOut }
}
/** A value of a case: a tensor, a list of them for a sequence, null for an optional that has nothing. */
export type Given = Stored | null | readonly Given[]
/** The value of such a file. Tests of bfloat16 keep its bits as uint16. */
export const givenIn = (file: File, elements?: number): Given => {
  if (file === null) return null
  if (Array.isArray(file)) return (file as readonly File[]).map((f) => givenIn(f))
  const stored = storedOf(decode(file as Uint8Array, 'TensorProto'), '')
  if (elements !== 16 || stored.type.name !== 'uint16') return stored
  return {
    ...stored,
    type: elementTypes[16]!,
    tensor: tensor(Array.from(stored.tensor.data, elementTypes[16]!.of!), stored.tensor.shape, 'f32') as Tensor,
  }
}
export const dataOf = (c: Case): ModelData => modelOf(decode(c.model, 'ModelProto'))
/** Inputs that no initializer has, in order. */
export const openInputs = (graph: Graph): Graph['inputs'] => graph.inputs.filter(({ name }) => !graph.initializers.has(name))
/** The inputs of a case whose numbers its shapes depend on. */
export const neededInputs = (model: ModelData): ReadonlySet<string> => neededOf({ model, table, own: {} })
