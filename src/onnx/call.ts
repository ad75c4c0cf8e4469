/** What the reading of an operator is given: its inputs, its attributes, and the words for what it refuses. */
import { badInput } from '../core/errors/explain.js'
import { type AnyExpr, type Tensor, tensor } from '../index.js'
import { type Attribute, type Graph, keyOf, type Node } from './graph.js'
import type { Stored } from './tensors.js'
import { type ElementType, elementTypes, typeName, typeOf } from './types.js'
import { constant, type Item, type Sequence, type Value, value } from './value.js'

/** The sizes of an array's axes. */
export type Sizes = readonly number[]
/** Runs a graph of a node on these inputs: what it makes of them, in order. */
export type RunGraph = (graph: Graph, inputs: readonly Item[]) => readonly Item[]
/** One node that is being read. */
export interface Call {
  readonly node: Node
  /** The version of the operator set that says what the node means. */
  readonly version: number
  /** How many inputs and outputs it names. */
  readonly count: number
  readonly results: number
  /** Is output i wanted? */
  readonly wants: (i: number) => boolean
  /** Is input i there? */
  readonly isGiven: (i: number) => boolean
  /** Input i, any kind. */
  readonly item: (i: number) => Item
  /** Input i, a tensor; raises where it is left out or is none. */
  readonly in: (i: number) => Value
  readonly maybe: (i: number) => Value | undefined
  readonly sequence: (i: number) => Sequence
  /** All inputs, tensors. */
  readonly all: () => readonly Value[]
  /** The numbers of input i, which must be known when the graph is read. */
  readonly numbers: (i: number) => readonly number[]
  /** The numbers of a value, if they are known. */
  readonly known: (v: Value | undefined) => readonly number[] | undefined
  readonly has: (name: string) => boolean
  readonly int: (name: string, standard?: number) => number
  readonly ints: (name: string, standard?: readonly number[]) => readonly number[]
  readonly float: (name: string, standard?: number) => number
  readonly floats: (name: string, standard?: readonly number[]) => readonly number[]
  readonly text: (name: string, standard?: string) => string
  readonly texts: (name: string, standard?: readonly string[]) => readonly string[]
  readonly stored: (name: string) => Stored
  readonly graph: (name: string) => Graph
  /** The element type of an attribute that names one. */
  readonly typeAt: (name: string, standard?: ElementType) => ElementType
  readonly run: RunGraph
  /** Raises: why this node is not computed. */
  readonly refuse: (reason: string, fix?: string) => never
}
/** What an operator gives: one tensor, or as many as it has. */
export type Read = (c: Call) => Item | readonly (Item | undefined)[]
/** A row of the table of operators. */
export interface Operator {
  /** The versions of the operator set at which its meaning, or what it takes, changed, from the first that is read. */
  readonly since: readonly number[]
  /** Inputs whose numbers must be known when the graph is read: initializers that they come from are no parameters. */
  readonly known?: readonly number[]
  readonly read: Read
}
/** Operators by name; those of another domain by `domain.Name`. */
export type Table = Readonly<Record<string, Operator>>

/** How errors name a node. */
export const placeOf = (node: Node): string =>
  `fromONNX: node ${node.name === '' ? `that makes ${JSON.stringify(node.outputs.find((o) => o !== '') ?? '')}` : JSON.stringify(node.name)} (${keyOf(node.domain, node.op)})`

const words = { int: 'an integer', float: 'a number', ints: 'integers', floats: 'numbers', text: 'a text', texts: 'texts' } as const

/** The call of a node on its inputs. */
export const callOf = (
  node: Node,
  version: number,
  given: readonly (Item | undefined)[],
  attributes: (name: string) => Attribute | undefined,
  run: RunGraph,
): Call => {
  const where = placeOf(node)
  const refuse = (reason: string, fix?: string): never => badInput(where, reason, fix)
  const isThere = (i: number): boolean => given[i] !== undefined
  const item = (i: number): Item => given[i] ?? refuse(`input ${i} is left out.`)
  const tensorAt = (i: number): Value => {
    const v = item(i)
    return v.tag === 'tensor' ? v : refuse(`input ${i} is ${v.tag === 'sequence' ? 'a sequence' : 'an optional'} where a tensor must be.`)
  }
  const attribute = <T>(name: string, tags: readonly Attribute['tag'][], said: string, standard: T | undefined): T => {
    const found = attributes(name)
    if (found === undefined) return standard ?? refuse(`the attribute ${name} is missing: ${said} must be there.`)
    if (!tags.includes(found.tag)) return refuse(`the attribute ${name} is of another kind (${found.tag}) than ${said}.`)
    return found.value as T
  }
  const numbersOf = (v: Value | undefined): readonly number[] | undefined =>
    v?.known === undefined ? undefined : Array.from(v.known().data, Number)
  return {
    node,
    version,
    count: given.length,
    results: node.outputs.length,
    wants: (i) => (node.outputs[i] ?? '') !== '',
    isGiven: isThere,
    item,
    in: tensorAt,
    maybe: (i) => (isThere(i) ? tensorAt(i) : undefined),
    sequence: (i) => {
      const v = item(i)
      return v.tag === 'sequence' ? v : refuse(`input ${i} is no sequence.`)
    },
    all: () => given.map((_, i) => tensorAt(i)),
    known: numbersOf,
    numbers: (i) =>
      numbersOf(tensorAt(i)) ??
      refuse(
        `input ${i}, ${JSON.stringify(node.inputs[i])}, decides shapes, and its numbers depend on data.`,
        'if it is an input of the model, give its value: fromONNX(bytes, { constants: { name: [1, 2] } }).',
      ),
    has: (name) => attributes(name) !== undefined,
    int: (name, standard) => attribute(name, ['int'], words.int, standard),
    ints: (name, standard) => {
      const found = attribute<readonly number[]>(name, ['ints', 'floats'], words.ints, standard)
      return found.every(Number.isInteger) ? found : refuse(`the attribute ${name} has what is no integer.`)
    },
    float: (name, standard) => attribute(name, ['float', 'int'], words.float, standard),
    floats: (name, standard) => attribute(name, ['floats', 'ints'], words.floats, standard),
    text: (name, standard) => attribute(name, ['text'], words.text, standard),
    texts: (name, standard) => attribute(name, ['texts'], words.texts, standard),
    stored: (name) => attribute<Stored>(name, ['tensor'], 'a tensor', undefined),
    graph: (name) => attribute<Graph>(name, ['graph'], 'a graph', undefined),
    typeAt: (name, standard) => {
      const found = attributes(name)
      if (found === undefined) return standard ?? refuse(`the attribute ${name} is missing: an element type must be there.`)
      const number = attribute<number>(name, ['int'], 'an element type', undefined)
      return elementTypes[number] ?? refuse(`${name} is ${typeName(number)}, which codual does not compute.`)
    },
    run,
    refuse,
  }
}

/** Integers that are known: the result of an operator about shapes. */
export const integers = (numbers: readonly number[], shape: Sizes = [numbers.length], type = 'int64'): Value =>
  constant(typeOf(type), tensor(numbers as number[], shape, numbers.every((x) => x === (x | 0)) ? 'i32' : 'f64') as Tensor)
/** A value of another's type. */
export const like = (v: Value, x: AnyExpr): Value => value(v.type, x)
/** The place of an axis, from the front. */
export const axisIn = (c: Call, axis: number, rank: number, name = 'axis'): number =>
  axis >= -rank && axis < Math.max(rank, 1) ? (axis < 0 ? axis + rank : axis) : c.refuse(`${name} is ${axis} of ${rank} axes.`)
/** Places of axes, from the front. */
export const axesIn = (c: Call, axes: readonly number[], rank: number): readonly number[] => axes.map((a) => axisIn(c, a, rank, 'an axis'))
/** A number of entries that are listed while the graph is read: not more than so many. */
export const counted = (c: Call, n: number): number =>
  Number.isInteger(n) && n >= 0 && n <= 2 ** 24 ? n : c.refuse(`${n} entries are not listed: at most 2^24 are.`)
/** How many elements a shape has. */
export const sizeOf = (shape: Sizes): number => shape.reduce((n, d) => n * d, 1)
