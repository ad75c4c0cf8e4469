/** A model as data: graphs of nodes, held against what ONNX says of them before anything is computed. */
import { type External, type Stored, storedOf, type TensorSource } from './tensors.js'
import { Fault, type Message } from './wire.js'

/** What a node is told beside its inputs. */
export type Attribute =
  | { readonly tag: 'int' | 'float'; readonly value: number }
  | { readonly tag: 'ints' | 'floats'; readonly value: readonly number[] }
  | { readonly tag: 'text'; readonly value: string }
  | { readonly tag: 'texts'; readonly value: readonly string[] }
  | { readonly tag: 'tensor'; readonly value: Stored }
  | { readonly tag: 'graph'; readonly value: Graph }
  | { readonly tag: 'type'; readonly value: Message }
  /** One of the function around it. */
  | { readonly tag: 'reference'; readonly value: string }
  /** What no operator here reads. */
  | { readonly tag: 'other'; readonly value: string }
export type Attributes = ReadonlyMap<string, Attribute>

export interface Node {
  readonly op: string
  readonly domain: string
  readonly name: string
  /** Names of values; '' is one that is left out. */
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
  readonly attributes: Attributes
  readonly path: string
}
/** An input or an output of a graph, as the file declares it. */
export interface Declared {
  readonly name: string
  /** What it is; undefined for what codual has not (maps, sparse tensors). */
  readonly kind: 'tensor' | 'sequence' | 'optional' | undefined
  /** The number of the element type of its tensors. */
  readonly elements: number
  /** Sizes, names of sizes, and null for what is not known; undefined where the rank is not known. */
  readonly shape: readonly (number | string | null)[] | undefined
}
export interface Graph {
  readonly name: string
  readonly nodes: readonly Node[]
  readonly initializers: ReadonlyMap<string, Stored>
  readonly inputs: readonly Declared[]
  readonly outputs: readonly Declared[]
}
/** A function of the model's own. */
export interface Routine {
  readonly name: string
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
  readonly nodes: readonly Node[]
  /** Attributes it has where a call does not give them. */
  readonly standards: Attributes
  readonly opsets: ReadonlyMap<string, number>
}
/** A model file. */
export interface ModelData {
  readonly graph: Graph
  /** All tensors of the file. */
  readonly tensors: readonly Stored[]
  readonly opsets: ReadonlyMap<string, number>
  readonly routines: ReadonlyMap<string, Routine>
  readonly producer: string
  readonly irVersion: number
}

const list = (x: unknown): readonly Message[] => (x ?? []) as readonly Message[]
const texts = (x: unknown): readonly string[] => (x ?? []) as readonly string[]
const text = (x: unknown): string => (x ?? '') as string
const latin = (bytes: unknown): string => new TextDecoder().decode(bytes as Uint8Array)
/** The domain of ONNX itself has two names. */
export const domainOf = (x: unknown): string => (x === 'ai.onnx' ? '' : text(x))
/** How an operator or a function is found: its domain and its name. */
export const keyOf = (domain: string, op: string): string => (domain === '' ? op : `${domain}.${op}`)

/** AttributeProto.type, by the field that has the value. */
const KINDS = ['', 'f', 'i', 's', 't', 'g', 'floats', 'ints', 'strings', 'tensors', 'graphs'] as const

const attributeOf = (m: Message, path: string, source: TensorSource): Attribute => {
  if (text(m.ref_attr_name) !== '') return { tag: 'reference', value: text(m.ref_attr_name) }
  // Files of IR version 1 have no type: then the field that is there says it.
  const kind = KINDS[Number(m.type ?? 0)] || KINDS.find((k) => k !== '' && m[k] !== undefined) || (m.tp === undefined ? '' : 'tp')
  switch (kind) {
    case 'f':
      return { tag: 'float', value: Number(m.f ?? 0) }
    case 'i':
      return { tag: 'int', value: Number(m.i ?? 0) }
    case 's':
      return { tag: 'text', value: latin(m.s) }
    case 't':
      if (m.t === undefined) throw new Fault(path, 'has no tensor.')
      if ((m.t as Message).data_type === 8) return { tag: 'other', value: 'a tensor of strings' }
      return { tag: 'tensor', value: storedOf(m.t as Message, `${path}.t`, source) }
    case 'g':
      if (m.g === undefined) throw new Fault(path, 'has no graph.')
      return { tag: 'graph', value: graphOf(m.g as Message, `${path}.g`, source) }
    case 'floats':
      return { tag: 'floats', value: (m.floats ?? []) as readonly number[] }
    case 'ints':
      return { tag: 'ints', value: (m.ints ?? []) as readonly number[] }
    case 'strings':
      return { tag: 'texts', value: ((m.strings ?? []) as readonly unknown[]).map(latin) }
    case 'tp':
      return { tag: 'type', value: m.tp as Message }
    default:
      return m.tp === undefined ? { tag: 'other', value: kind || 'nothing' } : { tag: 'type', value: m.tp as Message }
  }
}
const attributesOf = (given: unknown, path: string, source: TensorSource): Attributes => {
  const found = new Map<string, Attribute>()
  for (const [i, m] of list(given).entries()) {
    const name = text(m.name)
    const at = `${path}.attribute[${i}]`
    if (found.has(name)) throw new Fault(at, `is a second attribute ${JSON.stringify(name)}.`)
    found.set(name, attributeOf(m, at, source))
  }
  return found
}
const nodeOf = (m: Message, path: string, source: TensorSource): Node => ({
  op: text(m.op_type),
  domain: domainOf(m.domain),
  name: text(m.name),
  inputs: texts(m.input),
  outputs: texts(m.output),
  attributes: attributesOf(m.attribute, path, source),
  path,
})
const nodesOf = (m: Message, path: string, source: TensorSource): readonly Node[] =>
  list(m.node).map((node, i) => nodeOf(node, `${path}.node[${i}]`, source))

const dimOf = (d: Message): number | string | null =>
  typeof d.dim_value === 'number' && Number.isSafeInteger(d.dim_value) && d.dim_value >= 0 ? d.dim_value : text(d.dim_param) || null
const declaredOf = (m: Message): Declared => {
  const type = (m.type ?? {}) as Message
  const kind =
    type.tensor_type !== undefined
      ? 'tensor'
      : type.sequence_type !== undefined
        ? 'sequence'
        : type.optional_type !== undefined
          ? 'optional'
          : undefined
  const inner = tensorIn(type)
  const shape = kind === 'tensor' ? (inner.shape as Message | undefined) : undefined
  return {
    name: text(m.name),
    kind,
    elements: Number(inner.elem_type ?? 0),
    shape: shape === undefined ? undefined : list(shape.dim).map(dimOf),
  }
}
/** The type of the tensors in a type: of a sequence or an optional, those of its elements. */
const tensorIn = (type: Message): Message => {
  const inner = (type.sequence_type ?? type.optional_type) as Message | undefined
  return inner === undefined ? ((type.tensor_type ?? {}) as Message) : tensorIn((inner.elem_type ?? {}) as Message)
}

/** The graph of a message: unique names, no name before it is made. */
export const graphOf = (m: Message, path: string, source: TensorSource): Graph => {
  const initializers = new Map<string, Stored>()
  for (const [i, t] of list(m.initializer).entries()) {
    const at = `${path}.initializer[${i}]`
    const stored = storedOf(t, at, source)
    if (stored.name === '') throw new Fault(at, 'has no name.')
    if (initializers.has(stored.name)) throw new Fault(at, `is a second initializer ${JSON.stringify(stored.name)}.`)
    initializers.set(stored.name, stored)
  }
  if (list(m.sparse_initializer).length > 0)
    throw new Fault(`${path}.sparse_initializer[0]`, 'is a sparse tensor, which codual does not read.')
  const named = (field: 'input' | 'output'): readonly Declared[] =>
    list(m[field]).map((v, i) => {
      const declared = declaredOf(v)
      if (declared.name === '') throw new Fault(`${path}.${field}[${i}]`, 'has no name.')
      return declared
    })
  return { name: text(m.name), nodes: nodesOf(m, path, source), initializers, inputs: named('input'), outputs: named('output') }
}

/** Does a graph around have this name? */
type Known = (name: string) => boolean
/** Every name of a graph is made once, and before it is read: what goes round in a circle is read before it is made. */
export const checkNames = (graph: Graph, path: string, outer: Known = () => false): void => {
  const made = new Set(graph.initializers.keys())
  const inputs = new Set<string>()
  for (const { name } of graph.inputs) {
    if (inputs.has(name)) throw new Fault(`${path}.input`, `has ${JSON.stringify(name)} twice.`)
    inputs.add(name)
    made.add(name)
  }
  checkNodes(graph.nodes, made, outer)
  for (const { name } of graph.outputs)
    if (!made.has(name) && !outer(name)) throw new Fault(`${path}.output`, `has ${JSON.stringify(name)}, which no node makes.`)
}
const checkNodes = (nodes: readonly Node[], made: Set<string>, outer: Known): void => {
  const later = new Set(nodes.flatMap((n) => n.outputs))
  for (const node of nodes) {
    for (const name of node.inputs)
      if (name !== '' && !made.has(name) && !outer(name))
        throw new Fault(
          `${node.path}.input`,
          `${JSON.stringify(name)} ${later.has(name) ? 'is read before it is made: the graph goes round in a circle, or is out of order' : 'is made by nothing'}.`,
        )
    for (const [name, attribute] of node.attributes)
      if (attribute.tag === 'graph') checkNames(attribute.value, `${node.path}.${name}`, (x) => made.has(x) || outer(x))
    for (const name of node.outputs) {
      if (name === '') continue
      if (made.has(name)) throw new Fault(`${node.path}.output`, `${JSON.stringify(name)} is made twice.`)
      made.add(name)
    }
  }
}

const opsetsOf = (given: unknown): ReadonlyMap<string, number> =>
  new Map(list(given).map((o) => [domainOf(o.domain), Number(o.version ?? 1)]))

const routineOf = (m: Message, path: string, source: TensorSource): Routine => {
  const standards = new Map(attributesOf(m.attribute_proto, path, source))
  const nodes = nodesOf(m, path, source)
  checkNodes(nodes, new Set(texts(m.input)), () => false)
  return { name: text(m.name), inputs: texts(m.input), outputs: texts(m.output), nodes, standards, opsets: opsetsOf(m.opset_import) }
}

/** A model of a message, checked. */
export const modelOf = (m: Message, external?: External): ModelData => {
  const source: TensorSource = { external, made: [] }
  if (m.graph === undefined) throw new Fault('graph', 'is missing: these bytes are not a model.')
  const graph = graphOf(m.graph as Message, 'graph', source)
  checkNames(graph, 'graph')
  const routines = new Map<string, Routine>()
  for (const [i, f] of list(m.functions).entries()) {
    const routine = routineOf(f, `functions[${i}]`, source)
    routines.set(keyOf(domainOf(f.domain), routine.name), routine)
  }
  const opsets = opsetsOf(m.opset_import)
  return {
    graph,
    tensors: source.made,
    opsets: opsets.size === 0 ? new Map([['', 1]]) : opsets,
    routines,
    producer: text(m.producer_name),
    irVersion: Number(m.ir_version ?? 0),
  }
}
