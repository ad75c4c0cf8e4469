/** Reading a graph: each node becomes expressions of its inputs, in the order of the file. */
import { badInput } from '../core/errors/explain.js'
import { type AnyExpr, isAdException, tensor } from '../index.js'
import { type Call, callOf, type Operator, placeOf, type Table } from './call.js'
import { type Attribute, type Attributes, type Graph, keyOf, type ModelData, type Node, type Routine } from './graph.js'
import { typeOfDtype } from './types.js'
import { constant, folded, type Item, type Value, value } from './value.js'

/** An operator that a user gives: expressions of its inputs (undefined where one is left out) and its attributes as plain data to an expression, or a list of them. */
export type OwnOperator = (
  args: readonly (AnyExpr | undefined)[],
  attributes: Readonly<Record<string, unknown>>,
) => AnyExpr | readonly AnyExpr[]
/** Operators of a user's by name; of another domain by 'domain.Name'. */
export type OwnOperators = Readonly<Record<string, OwnOperator>>

/** More nodes than this are not read: functions that call functions could have any number. */
const MOST_NODES = 1_000_000
/** How deep functions may call functions. */
const MOST_CALLS = 64
/** The latest operator set whose meanings are here. */
export const LATEST = 28

/** What reading needs beside a graph. */
export interface Reading {
  readonly model: ModelData
  readonly table: Table
  readonly own: OwnOperators
  /** Why operators have no row, by name. */
  readonly reasons?: Readonly<Record<string, string>>
}
/** Names of a graph, those of the graphs around it among them. */
interface Scope {
  readonly values: Map<string, Item>
  readonly outer: Scope | undefined
  readonly opsets: ReadonlyMap<string, number>
  /** Attributes of the function around it, where there is one. */
  readonly attributes: (name: string) => Attribute | undefined
  /** Weights by name, which stand for what the file has; none in functions, whose names are their own. */
  readonly weights: ReadonlyMap<string, Value>
  readonly depth: number
  readonly count: { left: number }
}
const lookUp = (scope: Scope | undefined, name: string): Item | undefined =>
  scope === undefined ? undefined : (scope.values.get(name) ?? lookUp(scope.outer, name))

/** What an operator is in the file: a user's, a function of the model, a row of the table, or unknown. */
export const operatorOf = (
  { model, table, own }: Reading,
  node: Node,
): { readonly own: OwnOperator } | { readonly routine: Routine } | { readonly row: Operator } | undefined => {
  const key = keyOf(node.domain, node.op)
  if (Object.hasOwn(own, key)) return { own: own[key]! }
  const routine = model.routines.get(key)
  if (routine !== undefined) return { routine }
  return Object.hasOwn(table, key) ? { row: table[key]! } : undefined
}
/** The version of the operator set that a node's domain has. */
const versionOf = (opsets: ReadonlyMap<string, number>, node: Node): number => opsets.get(node.domain) ?? (node.domain === '' ? LATEST : 1)

/** An operator that has no row: why, and which attributes it would have to read. */
const unknown = ({ reasons = {} }: Reading, { domain, op, attributes }: Node): string => {
  const key = keyOf(domain, op)
  const why = Object.hasOwn(reasons, key) ? `: ${reasons[key]}` : ''
  return `${key}${why}${attributes.size === 0 ? '' : ` (its attributes: ${[...attributes.keys()].join(', ')})`}`
}
/** Raises unless every node of a graph, of those inside it and of the functions is known. */
export const checkOperators = (reading: Reading): void => {
  const check = (nodes: readonly Node[], opsets: ReadonlyMap<string, number>): void => {
    for (const node of nodes) {
      const found = operatorOf(reading, node)
      const version = versionOf(opsets, node)
      if (found === undefined)
        badInput(
          placeOf(node),
          `codual has no operator ${unknown(reading, node)}.`,
          `give one: fromONNX(bytes, { operators: { ${/^\w+$/.test(keyOf(node.domain, node.op)) ? node.op : JSON.stringify(keyOf(node.domain, node.op))}: ([x], attributes) => ... } }).`,
        )
      if (found !== undefined && 'row' in found && version < found.row.since[0]!)
        badInput(
          placeOf(node),
          `it is read from operator set ${found.row.since[0]} on, and the file has ${version}.`,
          "convert the model: onnx.version_converter.convert_version(model, 13) in Python's onnx.",
        )
      for (const attribute of node.attributes.values()) if (attribute.tag === 'graph') check(attribute.value.nodes, opsets)
    }
  }
  const { model } = reading
  const latest = model.opsets.get('') ?? 1
  if (latest > LATEST)
    badInput(
      'fromONNX',
      `the model has operator set ${latest}, and the meanings here are those up to ${LATEST}.`,
      `export it with opset ${LATEST} or lower.`,
    )
  check(model.graph.nodes, model.opsets)
  for (const routine of model.routines.values()) check(routine.nodes, routine.opsets.size === 0 ? model.opsets : routine.opsets)
}

/** The outputs of the model's graph, of its inputs and its weights by name; of a weight that is not given what the file has. */
export const runModel = (
  reading: Reading,
  inputs: ReadonlyMap<string, Item>,
  weights: ReadonlyMap<string, Value> = new Map(),
): readonly Item[] => {
  const scope: Scope = {
    values: new Map(),
    outer: undefined,
    opsets: reading.model.opsets,
    attributes: () => undefined,
    weights,
    depth: 0,
    count: { left: MOST_NODES },
  }
  return runGraph(reading, reading.model.graph, inputs, scope)
}
const runGraph = (reading: Reading, graph: Graph, inputs: ReadonlyMap<string, Item>, scope: Scope): readonly Item[] => {
  for (const [name, stored] of graph.initializers) scope.values.set(name, scope.weights.get(name) ?? constant(stored.type, stored.tensor))
  for (const [name, v] of inputs) scope.values.set(name, v)
  runNodes(reading, graph.nodes, scope)
  return graph.outputs.map(({ name }) => lookUp(scope, name) ?? badInput('fromONNX', `the output ${JSON.stringify(name)} has no value.`))
}
const runNodes = (reading: Reading, nodes: readonly Node[], scope: Scope): void => {
  for (const node of nodes) {
    if (scope.count.left-- <= 0) badInput('fromONNX', `more than ${MOST_NODES} nodes are to be read.`)
    const given = node.inputs.map((name) => (name === '' ? undefined : lookUp(scope, name)))
    const results = resultsOf(reading, node, given, scope)
    for (const [i, name] of node.outputs.entries()) {
      const result = results[i]
      if (name === '') continue
      if (result === undefined) badInput(placeOf(node), `output ${i} is not computed.`)
      else scope.values.set(name, result)
    }
  }
}
/** An attribute of a node: in a function it may be one of the call's. */
const attributeIn = (scope: Scope, attributes: Attributes, name: string): Attribute | undefined => {
  const found = attributes.get(name)
  return found?.tag === 'reference' ? scope.attributes(found.value) : found
}

const resultsOf = (reading: Reading, node: Node, given: readonly (Item | undefined)[], scope: Scope): readonly (Item | undefined)[] => {
  const found = operatorOf(reading, node)!
  if ('routine' in found) return runRoutine(reading, found.routine, node, given, scope)
  const weight = node.op === 'Constant' ? scope.weights.get(node.outputs[0] ?? '') : undefined
  if (weight !== undefined) return [weight]
  const run: Call['run'] = (graph, inputs) => {
    const inner: Scope = { ...scope, values: new Map(), outer: scope, depth: scope.depth + 1 }
    const missing = graph.inputs.slice(inputs.length).find(({ name }) => !graph.initializers.has(name))
    if (missing !== undefined)
      badInput(placeOf(node), `its graph ${JSON.stringify(graph.name)} wants the input ${JSON.stringify(missing.name)}.`)
    if (inputs.length > graph.inputs.length)
      badInput(
        placeOf(node),
        `its graph ${JSON.stringify(graph.name)} takes ${graph.inputs.length} inputs, and ${inputs.length} are given.`,
      )
    return runGraph(reading, graph, new Map(inputs.map((x, i) => [graph.inputs[i]!.name, x])), inner)
  }
  const call = callOf(node, versionOf(scope.opsets, node), given, (name) => attributeIn(scope, node.attributes, name), run)
  try {
    const results = 'own' in found ? ownResults(found.own, node, given, scope) : found.row.read(call)
    const all = (Array.isArray(results) ? results : [results]) as readonly (Item | undefined)[]
    // What is made of known values alone is known; a graph inside may read others, and has said of its own what is known.
    const holdsGraph = [...node.attributes.values()].some(({ tag }) => tag === 'graph')
    return !holdsGraph && given.every(isKnown) ? all.map((x) => (x?.tag === 'tensor' && given.length > 0 ? folded(x) : x)) : all
  } catch (e) {
    throw placed(e, node)
  }
}
const isKnown = (x: Item | undefined): boolean =>
  x === undefined || (x.tag === 'tensor' ? x.known !== undefined : x.tag === 'sequence' ? x.items.every(isKnown) : isKnown(x.item))

/** An error within a node, told where it is in the model. */
const placed = (e: unknown, node: Node): unknown => {
  if (!isAdException(e) || ('where' in e.error && e.error.where.startsWith('fromONNX'))) return e
  const { error } = e
  const said = 'reason' in error ? `${'op' in error ? `${error.op}: ` : ''}${error.reason}` : e.message
  try {
    return badInput(placeOf(node), said, 'fix' in error ? error.fix : undefined)
  } catch (named) {
    return named
  }
}

const runRoutine = (
  reading: Reading,
  routine: Routine,
  node: Node,
  given: readonly (Item | undefined)[],
  scope: Scope,
): readonly (Item | undefined)[] => {
  if (scope.depth >= MOST_CALLS) badInput(placeOf(node), `functions call one another more than ${MOST_CALLS} deep.`)
  const values = new Map<string, Item>()
  for (const [i, name] of routine.inputs.entries()) if (given[i] !== undefined) values.set(name, given[i])
  const inner: Scope = {
    values,
    outer: undefined,
    opsets: routine.opsets.size === 0 ? scope.opsets : routine.opsets,
    attributes: (name) => attributeIn(scope, node.attributes, name) ?? routine.standards.get(name),
    weights: new Map(),
    depth: scope.depth + 1,
    count: scope.count,
  }
  runNodes(reading, routine.nodes, inner)
  return routine.outputs.map((name) => values.get(name))
}

/** An attribute as plain data, for operators of users. */
const plainOf = (attribute: Attribute | undefined): unknown => {
  if (attribute === undefined) return undefined
  switch (attribute.tag) {
    case 'graph':
    case 'type':
    case 'other':
    case 'reference':
      return undefined
    case 'tensor':
      return attribute.value.tensor
    default:
      return attribute.value
  }
}
const ownResults = (own: OwnOperator, node: Node, given: readonly (Item | undefined)[], scope: Scope): readonly Item[] => {
  const args = given.map((v, i) =>
    v === undefined
      ? undefined
      : v.tag === 'tensor'
        ? v.x
        : badInput(placeOf(node), `input ${i} is a ${v.tag}, which operators of your own do not take.`),
  )
  const attributes = Object.fromEntries(
    [...node.attributes.keys()].map((name) => [name, plainOf(attributeIn(scope, node.attributes, name))]),
  )
  const out: unknown = own(args, attributes)
  return (Array.isArray(out) ? (out as readonly unknown[]) : [out]).map((x): Value => {
    if (typeof x === 'number') return value(typeOfDtype('f32'), tensor(x, [], 'f32') as unknown as AnyExpr)
    const tag = (x as { readonly _tag?: unknown } | null | undefined)?._tag
    if (tag !== 'Expr' && tag !== 'Tensor') return badInput(placeOf(node), 'the operator of your own gave what is no expression.')
    const e = x as AnyExpr
    const same = given.find((v): v is Value => v?.tag === 'tensor' && v.type.dtype === e.dtype)
    return value(same?.type ?? typeOfDtype(e.dtype), e)
  })
}
