/** A graph of ONNX while it is written: its nodes in order, and the constants that all graphs of a model share. */
import { greatestOf } from '../../core/errors/extremes.js'
import type { DType } from '../../core/types/dtype.js'

/** Element types that are written. */
export type TypeName = 'float' | 'double' | 'int32' | 'int64' | 'bool'
/** Element types of inputs, outputs and weights: those that operators compute, and those that are cast at the edges of a graph. */
export type FileType = TypeName | 'float16' | 'bfloat16' | 'int8' | 'uint8' | 'int16' | 'uint16' | 'uint32' | 'uint64'
export const typeNameOf: Readonly<Record<DType, TypeName>> = { f32: 'float', f64: 'double', i32: 'int32', bool: 'bool' }
/** A value of a graph: its name, its element type and its shape. */
export interface Ref {
  readonly name: string
  readonly type: TypeName
  readonly shape: readonly number[]
}
/** An attribute: a whole number, a text, whole numbers, a float, or a graph. */
export type Attribute = number | string | readonly number[] | { readonly float: number } | { readonly graph: GraphData }
export type Attributes = Readonly<Record<string, Attribute>>
export interface NodeData {
  readonly op: string
  readonly name: string
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
  readonly attributes: Attributes
  /** The primitive that it is part of, for messages. */
  readonly of: string
}
/** A graph inside a node. */
export interface GraphData {
  readonly name: string
  readonly nodes: readonly NodeData[]
  readonly inputs: readonly Ref[]
  readonly outputs: readonly Ref[]
}
/** Numbers of the model: those of a shape, a literal of the program, or a tensor that it captured. */
export interface Constant extends Ref {
  readonly data: ArrayLike<number>
  /** A tensor of the user's: it is never compared, and keeps its name. */
  readonly tensor?: boolean
}
interface Shared {
  readonly constants: Constant[]
  readonly opset: number
  /** Names that are not given to others. */
  readonly taken: ReadonlySet<string>
  readonly prefix: string
  count: number
}
const broadcast = (shapes: readonly (readonly number[])[]): readonly number[] => {
  const rank = greatestOf(
    shapes.map((s) => s.length),
    0,
  )
  return Array.from({ length: rank }, (_, i) =>
    shapes.reduce((d, s) => {
      const own = s[s.length - rank + i] ?? 1
      return d === 1 ? own : d
    }, 1),
  )
}
type Like = { readonly type?: TypeName; readonly shape?: readonly number[] }

/** What writes nodes of one graph. Names are unique in the whole model. */
export class Writer {
  readonly nodes: NodeData[] = []
  /** The primitive that is written now. */
  of = ''
  private constructor(private readonly shared: Shared) {}
  static root(opset: number, taken: Iterable<string> = [], prefix = ''): Writer {
    return new Writer({ constants: [], opset, taken: new Set(taken), prefix, count: 0 })
  }
  /** A writer of a graph inside a node. */
  inner(): Writer {
    const w = new Writer(this.shared)
    w.of = this.of
    return w
  }
  get opset(): number {
    return this.shared.opset
  }
  get constants(): readonly Constant[] {
    return this.shared.constants
  }
  private fresh(stem: string): string {
    const name = `${this.shared.prefix}${stem}_${this.shared.count++}`
    return this.shared.taken.has(name) || this.shared.taken.has(`${name}_out`) ? this.fresh(stem) : name
  }
  /** A name for a value, as of an input of a graph inside a node. */
  ref(stem: string, type: TypeName, shape: readonly number[]): Ref {
    return { name: this.fresh(stem), type, shape }
  }
  constant(type: TypeName, shape: readonly number[], data: ArrayLike<number>, name?: string): Ref {
    const made: Constant = { name: name ?? this.fresh('constant'), type, shape, data, ...(name !== undefined && { tensor: true }) }
    this.shared.constants.push(made)
    return made
  }
  /** Whole numbers of a shape, places or sizes. */
  ints(data: readonly number[]): Ref {
    return this.constant('int64', [data.length], data)
  }
  scalar(type: TypeName, value: number): Ref {
    return this.constant(type, [], [value])
  }

  /** A node with these results; an input that is left out is undefined. */
  all(op: string, inputs: readonly (Ref | undefined)[], attributes: Attributes, results: readonly Required<Like>[]): readonly Ref[] {
    const name = this.fresh(op)
    const refs = results.map(({ type, shape }, i): Ref => ({ name: i === 0 ? `${name}_out` : `${name}_out${i}`, type, shape }))
    this.nodes.push({ op, name, inputs: inputs.map((x) => x?.name ?? ''), outputs: refs.map((r) => r.name), attributes, of: this.of })
    return refs
  }
  /** A node with one result, of the first input's type and shape unless it is said. */
  node(op: string, inputs: readonly (Ref | undefined)[], attributes: Attributes = {}, like: Like = {}): Ref {
    const [first] = inputs
    return this.all(op, inputs, attributes, [{ type: like.type ?? first!.type, shape: like.shape ?? first!.shape }])[0]!
  }
  /** An operator at every index, of the first input's type. */
  each(op: string, ...xs: readonly Ref[]): Ref {
    return this.node(op, xs, {}, { shape: broadcast(xs.map((x) => x.shape)) })
  }
  /** A comparison at every index. */
  test(op: string, ...xs: readonly Ref[]): Ref {
    return this.node(op, xs, {}, { type: 'bool', shape: broadcast(xs.map((x) => x.shape)) })
  }
  where(condition: Ref, a: Ref, b: Ref): Ref {
    return this.node('Where', [condition, a, b], {}, { type: a.type, shape: broadcast([condition.shape, a.shape, b.shape]) })
  }
  /** The same numbers in another type, none of which it does not hold. */
  cast(x: Ref, type: TypeName): Ref {
    return x.type === type ? x : this.node('Cast', [x], { to: NUMBERS[type] }, { type })
  }
  reshape(x: Ref, shape: readonly number[]): Ref {
    return same(x.shape, shape) ? x : this.node('Reshape', [x, this.ints(shape)], { allowzero: 1 }, { shape })
  }
  expand(x: Ref, shape: readonly number[]): Ref {
    return same(x.shape, shape) ? x : this.node('Expand', [x, this.ints(shape)], {}, { shape })
  }
  transpose(x: Ref, perm: readonly number[]): Ref {
    return perm.every((p, i) => p === i) ? x : this.node('Transpose', [x], { perm }, { shape: perm.map((p) => x.shape[p]!) })
  }
  concat(xs: readonly Ref[], axis: number): Ref {
    const size = xs.reduce((n, x) => n + x.shape[axis]!, 0)
    return this.node('Concat', xs, { axis }, { shape: xs[0]!.shape.map((d, i) => (i === axis ? size : d)) })
  }
  /** 0, 1, ... up to `size`. */
  range(size: number, type: TypeName): Ref {
    return this.node('Range', [this.sized(type, 0), this.sized(type, size), this.sized(type, 1)], {}, { type, shape: [size] })
  }
  /** A size as a scalar of a type. */
  private sized(type: TypeName, n: number): Ref {
    return this.scalar(type, n)
  }
  /** A graph inside a node, with outputs that its own nodes make. */
  graph(name: string, inputs: readonly Ref[], outputs: readonly Ref[]): GraphData {
    const made = new Set(this.nodes.flatMap((n) => n.outputs))
    const seen = new Set<string>()
    const own = outputs.map((o) => {
      const isOwn = made.has(o.name) && !seen.has(o.name)
      seen.add(o.name)
      return isOwn ? o : this.node('Identity', [o])
    })
    return { name, nodes: this.nodes, inputs, outputs: own }
  }
}
/** Nodes with other names for values, those of graphs inside them too. */
export const renamed = (nodes: readonly NodeData[], names: ReadonlyMap<string, string>): readonly NodeData[] => {
  const to = (name: string): string => names.get(name) ?? name
  return nodes.map((n) => ({
    ...n,
    inputs: n.inputs.map(to),
    outputs: n.outputs.map(to),
    attributes: Object.fromEntries(
      Object.entries(n.attributes).map(([key, a]) => [
        key,
        typeof a === 'object' && 'graph' in a
          ? {
              graph: {
                ...a.graph,
                nodes: renamed(a.graph.nodes, names),
                outputs: a.graph.outputs.map((o) => ({ ...o, name: to(o.name) })),
              },
            }
          : a,
      ]),
    ),
  }))
}
/** All nodes, those of graphs inside nodes too. */
export const allNodes = (nodes: readonly NodeData[]): readonly NodeData[] =>
  nodes.flatMap((n) => [
    n,
    ...Object.values(n.attributes).flatMap((a) => (typeof a === 'object' && 'graph' in a ? allNodes(a.graph.nodes) : [])),
  ])
const same = (a: readonly number[], b: readonly number[]): boolean => a.length === b.length && a.every((d, i) => d === b[i])

/** TensorProto.DataType. */
export const NUMBERS: Readonly<Record<FileType, number>> = {
  float: 1,
  uint8: 2,
  int8: 3,
  uint16: 4,
  int16: 5,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  double: 11,
  uint32: 12,
  uint64: 13,
  bfloat16: 16,
}
