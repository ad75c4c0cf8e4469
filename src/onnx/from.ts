/** `fromONNX`: the bytes of a model as a function of codual. */

import type { Either } from 'fp-ts/lib/Either.js'
import { shown } from '../core/errors/check-arguments.js'
import { left, right } from '../core/errors/either.js'
import { badInput } from '../core/errors/explain.js'
import { reading as guarded } from '../core/errors/language.js'
import { readOptions } from '../core/errors/options.js'
import {
  type AdError,
  type AnyExpr,
  type DType,
  type Expr,
  type Fn,
  fn,
  isAdException,
  type Shape,
  type Spec,
  type Tensor,
  tensor,
} from '../index.js'
import { cut } from './cut.js'
import { type Declared, keyOf, modelOf, type Node } from './graph.js'
import { weightsOf } from './needed.js'
import { reasons, table } from './operators/index.js'
import { type Constant, type OnnxOptions, onnxOptions } from './options.js'
import { isPacked, widened } from './packed.js'
import { checkOperators, type Reading, runModel } from './run.js'
import { type ElementType, elementTypes, typeName } from './types.js'
import { constant, type Item, value } from './value.js'
import { decode, Fault } from './wire.js'
import { fileTypes, placeOf } from './write/types.js'
import type { FileType } from './write/writer.js'

/** What the file says of an input or an output: its element type in ONNX, the dtype of its values here, and its shape as far as it is known. */
export interface OnnxType {
  readonly type: string
  readonly dtype: DType | undefined
  readonly shape: readonly (number | string | null)[] | undefined
}
/** Tensors by the names of the file. */
export type OnnxParams = Readonly<Record<string, Tensor>>
type Specs = Readonly<Record<string, Spec<Shape, DType>>>
/** What a model gives by the names of its outputs: an expression, and a list of them for a sequence. */
export type OnnxOutputs = Readonly<Record<string, AnyExpr>>
/** The function of a model: of its parameters and its inputs, each by name, to its outputs by name. */
export type OnnxFn = Fn<[{ readonly params: Specs; readonly inputs: Specs }], OnnxOutputs>
/** A model that was read; it has the form of a layer of codual/nn. */
export interface OnnxModel {
  /** f({ params, inputs }): its outputs by name. */
  readonly f: OnnxFn
  /** Its weights, by the names of the file: initializers of floats, and constants of several. Those that shapes follow from, and integers, are constants of `f`. */
  readonly params: OnnxParams
  /** The declaration of `params`. */
  readonly declared: Specs
  /** `params`, whatever the key is. */
  readonly init: () => OnnxParams
  /** The output of a model that has one, of its input where it has one, or of a record of them by name. */
  apply(params: Readonly<Record<string, Expr>>, x: Expr | Readonly<Record<string, Expr>>): AnyExpr
  readonly inputs: Readonly<Record<string, OnnxType>>
  readonly outputs: Readonly<Record<string, OnnxType>>
  /** How each weight is stored in the file: 'float', 'float16'. */
  readonly stored: Readonly<Record<string, string>>
  /** Options of `toONNX` with which `f` is written as the file had it: names and element types of its weights, inputs and outputs. */
  readonly written: { readonly names: Readonly<Record<string, string>>; readonly types: Readonly<Record<string, FileType>> }
  readonly about: {
    /** The memory that the weights take, packed ones included. */
    readonly weightBytes: number
    readonly producer: string
    readonly irVersion: number
    /** Versions of the operator sets by domain; '' is ONNX's own. */
    readonly opsets: Readonly<Record<string, number>>
    /** How many nodes of each operator there are, those of graphs inside nodes and of functions included. */
    readonly operators: Readonly<Record<string, number>>
  }
}

const WHERE = 'fromONNX'
const bytesOf = (given: unknown): Uint8Array =>
  guarded(WHERE, () =>
    given instanceof Uint8Array
      ? given
      : given instanceof ArrayBuffer
        ? new Uint8Array(given)
        : badInput(WHERE, `${shown(given)} where the bytes of a model must be.`, 'pass a Uint8Array or an ArrayBuffer.'),
  )

const typeIn = (d: Declared): OnnxType => ({
  type: d.kind === 'tensor' ? typeName(d.elements) : `${d.kind ?? 'neither tensor nor sequence'} of ${typeName(d.elements)}`,
  dtype: elementTypes[d.elements]?.dtype,
  shape: d.shape,
})
/** A record of entries, whatever their names are: a tensor called __proto__ is one like any other. */
const named = <T>(entries: Iterable<readonly [string, T]>): Readonly<Record<string, T>> => Object.fromEntries(entries)

/** An input of the function: its declaration, and its type. */
interface Input {
  readonly spec: Spec<Shape, DType>
  readonly type: ElementType
}
const inputOf = (d: Declared, given: Spec<Shape, DType> | undefined): Input => {
  const type = elementTypes[d.elements]
  if (d.kind !== 'tensor')
    return badInput(
      WHERE,
      `the input ${JSON.stringify(d.name)} is ${d.kind === undefined ? 'neither a tensor nor a sequence' : `a ${d.kind}, whose length must be known`}.`,
      `give its value: fromONNX(bytes, { constants: { ${/^\w+$/.test(d.name) ? d.name : JSON.stringify(d.name)}: [tensor([1, 2])] } }).`,
    )
  if (type === undefined)
    return badInput(WHERE, `the input ${JSON.stringify(d.name)} is of ${typeName(d.elements)}, which codual does not compute.`)
  if (given !== undefined) {
    if (given.dtype !== type.dtype)
      badInput(
        WHERE,
        `the input ${JSON.stringify(d.name)} is declared ${given.dtype}, and is ${type.name} in the file.`,
        `declare it with ${type.dtype}.`,
      )
    return { spec: given, type }
  }
  if (d.shape === undefined)
    return badInput(
      WHERE,
      `the file does not say the shape of the input ${JSON.stringify(d.name)}.`,
      `declare it: fromONNX(bytes, { inputs: { ${/^\w+$/.test(d.name) ? d.name : JSON.stringify(d.name)}: ${type.dtype}('n', 3) } }).`,
    )
  // A size without a name is one of its own.
  const shape = d.shape.map((dim, i) => dim ?? `${d.name}.${i}`)
  return { spec: Object.freeze({ _tag: 'Spec', shape: Object.freeze(shape), dtype: type.dtype }) as unknown as Spec<Shape, DType>, type }
}
const specOf = (t: Tensor): Spec<Shape, DType> =>
  Object.freeze({ _tag: 'Spec', shape: t.shape, dtype: t.dtype }) as unknown as Spec<Shape, DType>

/** A value that is known beforehand, in the type that the file declares. */
const constantOf = (d: Declared, given: Constant): Item => {
  const type =
    elementTypes[d.elements] ??
    badInput(WHERE, `the constant ${JSON.stringify(d.name)} is of ${typeName(d.elements)}, which codual does not compute.`)
  if (d.kind === 'optional')
    return {
      tag: 'optional',
      item: given === null ? undefined : Array.isArray(given) ? listOf(d, given) : constantOf({ ...d, kind: 'tensor' }, given),
    }
  if (d.kind === 'sequence') return listOf(d, given)
  const t = ((given as { readonly _tag?: unknown } | null)?._tag === 'Tensor' ? given : tensor(given as never, type.dtype)) as Tensor
  return constant(type, t)
}
const listOf = (d: Declared, given: Constant): Item =>
  Array.isArray(given)
    ? { tag: 'sequence', items: (given as readonly Constant[]).map((x) => constantOf({ ...d, kind: 'tensor' }, x)) }
    : badInput(WHERE, `the constant ${JSON.stringify(d.name)} is a sequence, and no list is given.`)
const exprOf = (v: Item, name: string): unknown =>
  v.tag === 'tensor'
    ? v.x
    : v.tag === 'sequence'
      ? v.items.map((x) => exprOf(x, name))
      : v.item === undefined
        ? badInput(WHERE, `the output ${JSON.stringify(name)} is an optional that has nothing.`)
        : exprOf(v.item, name)

const countOf = (reading: Reading): Readonly<Record<string, number>> => {
  const found = new Map<string, number>()
  const count = (nodes: readonly Node[]): void => {
    for (const node of nodes) {
      const key = keyOf(node.domain, node.op)
      found.set(key, (found.get(key) ?? 0) + 1)
      for (const a of node.attributes.values()) if (a.tag === 'graph') count(a.value.nodes)
    }
  }
  count(reading.model.graph.nodes)
  for (const routine of reading.model.routines.values()) count(routine.nodes)
  return named([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}

const read = (file: unknown, options: OnnxOptions | undefined): OnnxModel => {
  const bytes = bytesOf(file)
  const {
    constants = {},
    inputs: specs = {},
    outputs,
    operators = {},
    external,
    weights: form,
  } = readOptions(onnxOptions, options, WHERE) as OnnxOptions
  const whole = modelOf(decode(bytes, 'ModelProto'), external)
  const model = outputs === undefined ? whole : { ...whole, graph: cut(whole.graph, outputs) }
  const reading: Reading = { model, table, own: operators, reasons }
  checkOperators(reading)
  const { graph } = model
  const given = whole.graph.inputs.filter(({ name }) => !whole.graph.initializers.has(name))
  for (const name of [...Object.keys(constants), ...Object.keys(specs)])
    if (!given.some((d) => d.name === name))
      badInput(WHERE, `the model has no input ${JSON.stringify(name)}.`, `its inputs: ${given.map((d) => d.name).join(', ') || 'none'}.`)
  const free = given.filter(({ name }) => graph.inputs.some((d) => d.name === name))
  const known = new Map(free.filter(({ name }) => Object.hasOwn(constants, name)).map((d) => [d.name, constantOf(d, constants[d.name]!)]))
  const open = free.filter(({ name }) => !known.has(name))
  const inputs = new Map(open.map((d) => [d.name, inputOf(d, Object.hasOwn(specs, d.name) ? specs[d.name] : undefined)]))
  // Whatever is wrong with the file was said above. From here on its bytes are not held.
  const packed = form === 'stored' ? [...weightsOf(reading, isPacked)].map(([name, s]) => [name, s, s.words!()] as const) : []
  const stays = new Map(packed.map(([name, s]) => [name, s]))
  const weights = [...weightsOf(reading)].filter(([name]) => !stays.has(name))
  const kept = new Set(stays.values())
  if (outputs === undefined) for (const stored of model.tensors) if (!kept.has(stored)) void stored.tensor
  const types = new Map(weights.map(([name, s]) => [name, s.type]))
  const params = named(weights.map(([name, s]) => [name, s.tensor]))
  const declared = named(weights.map(([name, s]) => [name, specOf(s.tensor)]))

  const body = (x: { readonly params: OnnxOutputs; readonly inputs: OnnxOutputs }): OnnxOutputs => {
    const values = new Map<string, Item>(known)
    for (const [name, { type }] of inputs) values.set(name, value(type, x.inputs[name]!))
    const params = new Map([...types].map(([name, type]) => [name, value(type, x.params[name]!)]))
    for (const [name, { type, shape, size }, words] of packed) params.set(name, value(type, widened(words, type, shape, size)))
    const out = runModel(reading, values, params)
    return named(graph.outputs.map(({ name }, i) => [name, exprOf(out[i]!, name) as AnyExpr]))
  }
  const name = graph.name === '' ? 'onnx' : graph.name
  const f = fn({ params: declared, inputs: named([...inputs].map(([n, { spec }]) => [n, spec])) }, body as never, {
    name,
  }) as unknown as OnnxFn
  return {
    f,
    params,
    declared,
    init: () => params,
    apply: (given, x) => applied(f, open, graph.outputs, given, x),
    inputs: named(open.map((d) => [d.name, { ...typeIn(d), shape: inputs.get(d.name)!.spec.shape as OnnxType['shape'] }])),
    outputs: named(graph.outputs.map((d) => [d.name, typeIn(d)])),
    stored: named([...types, ...[...stays].map(([n, s]) => [n, s.type] as const)].map(([n, t]) => [n, t.name])),
    written: writtenAs(types, inputs, graph.outputs),
    about: {
      weightBytes: [...weights.map(([, s]) => s.tensor), ...packed.map(([, , words]) => words)].reduce((n, t) => n + t.data.byteLength, 0),
      producer: model.producer,
      irVersion: model.irVersion,
      opsets: named(model.opsets),
      operators: countOf(reading),
    },
  }
}
/** The names and types of a file by the places of its tensors in the arguments and the result of its function. */
const writtenAs = (
  weights: ReadonlyMap<string, ElementType>,
  inputs: ReadonlyMap<string, Input>,
  outputs: readonly Declared[],
): OnnxModel['written'] => {
  const entries = [
    ...[...weights].map(([name, type]) => ['params', name, type.name] as const),
    ...[...inputs].map(([name, { type }]) => ['inputs', name, type.name] as const),
    ...outputs.flatMap((d) => (d.kind === 'tensor' ? [['', d.name, typeName(d.elements)] as const] : [])),
  ]
  const at = (group: string, name: string): string => (group === '' ? placeOf(name) : placeOf(group, name))
  return {
    // A weight that is an output too has its name from that.
    names: named(
      entries
        .filter(([group, name]) => group !== '' && !outputs.some((d) => d.name === name))
        .map(([group, name]) => [at(group, name), name]),
    ),
    types: named(
      entries.flatMap(([group, name, type]) =>
        (fileTypes as readonly string[]).includes(type) ? [[at(group, name), type as FileType] as const] : [],
      ),
    ),
  }
}
const applied: (
  f: OnnxFn,
  inputs: readonly Declared[],
  outputs: readonly Declared[],
  params: Readonly<Record<string, Expr>>,
  x: Expr | Readonly<Record<string, Expr>>,
) => AnyExpr = (f, inputs, outputs, params, x) => {
  if (outputs.length !== 1)
    return badInput(
      'apply',
      `the model has ${outputs.length} outputs: ${outputs.map((o) => o.name).join(', ')}.`,
      'call model.f({ params, inputs }), which gives all of them by name.',
    )
  const tag = (x as { readonly _tag?: unknown } | null | undefined)?._tag
  const isArray = tag === 'Expr' || tag === 'Tensor' || Array.isArray(x) || typeof x === 'number'
  if (isArray && inputs.length !== 1)
    return badInput(
      'apply',
      `the model has ${inputs.length} inputs, and one array is given.`,
      `give a record: { ${inputs.map((d) => d.name).join(', ')} }.`,
    )
  const given = isArray ? named([[inputs[0]!.name, x]]) : x
  return (f({ params, inputs: given } as never) as unknown as OnnxOutputs)[outputs[0]!.name]!
}

/**
 * The model in the bytes of an ONNX file: a pure function of its weights and inputs, to be run, differentiated, batched and saved as any other.
 *
 * Dtypes  float, double and bool as f32, f64 and bool; float16 and bfloat16 as f32, rounded where the model casts to them; integers as i32: those of 8
 * and 16 bits wrap as ONNX's do, constants that an i32 does not hold are f64. Shapes and sizes are folded when a call is traced.
 * Errors  Left of a Decode with the path in the file for bytes that are not a model; of a BadInput that names the node for an operator, an attribute or an
 * input that is not computed. Bytes may come from anyone: it never throws, runs nothing and reads nothing but them.
 * @example
 * fromONNX(new Uint8Array([8, 7]))   // Left({ _tag: 'Decode', errors: [{ path: 'graph', reason: 'is missing: ...' }] })
 */
export const fromONNX = (bytes: Uint8Array | ArrayBuffer, options?: OnnxOptions): Either<AdError, OnnxModel> => {
  try {
    return right(read(bytes, options))
  } catch (e) {
    if (isAdException(e)) return left(e.error)
    const reason = e instanceof Error ? e.message : 'something was thrown that is not an error.'
    return left({ _tag: 'Decode', errors: [{ path: e instanceof Fault ? e.path : 'external', reason }] })
  }
}
