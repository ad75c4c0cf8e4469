/** `toONNX`: a function of codual as the bytes of a model. */
import { shown } from '../../core/errors/check-arguments.js'
import { isAdException } from '../../core/errors/error.js'
import { badInput } from '../../core/errors/explain.js'
import { readOptions } from '../../core/errors/options.js'
import { type Meta, metaOf, namedAxes, traceDeclared } from '../../core/functions/function.js'
import { preparing } from '../../core/functions/signatures.js'
import { inputName, type Node, plain } from '../../core/graph/expr.js'
import type { Program as CoreProgram } from '../../core/graph/program.js'
import { type Tensor as CoreTensor, isTensor, makeTensor } from '../../core/graph/tensor.js'
import { flatten, leafPaths } from '../../core/graph/tree.js'
import { isProgram } from '../../core/programs/encode.js'
import type { DType } from '../../core/types/dtype.js'
import type { AnyFn } from '../../core/types/fn.js'
import { type Program, type Tensor, tensor } from '../../index.js'
import { type Axis, type Draft, type Finished, giveSizes, merged, type Typed } from './merge.js'
import { bytesOf, tidy } from './model.js'
import { type ToONNXOptions, toONNXOptions } from './options.js'
import { writeNodes } from './program.js'
import { rows } from './rows/index.js'
import { probesOf } from './sizes.js'
import { computedAs, inTypes } from './types.js'
import { allNodes, type FileType, type NodeData, type Ref, renamed, type TypeName, typeNameOf, Writer } from './writer.js'

const WHERE = 'toONNX'

/** An input or an output of a file: its element type in ONNX, its dtype in codual, and its shape; a size that follows from named axes is a text. */
export interface OnnxValue {
  readonly type: string
  readonly dtype: DType
  readonly shape: readonly (number | string)[]
}
/** A file that was written. */
export interface OnnxFile {
  readonly bytes: Uint8Array
  /** In the order of the file, by name. */
  readonly inputs: Readonly<Record<string, OnnxValue>>
  readonly outputs: Readonly<Record<string, OnnxValue>>
  /** The tensors that the function captured, and the values that were given, by their names in the file. */
  readonly weights: Readonly<Record<string, Tensor>>
  /** Of each primitive for which there is no operator, how often it was written as others. */
  readonly decomposed: Readonly<Record<string, number>>
  /** How many nodes of each operator there are, those of graphs inside nodes included. */
  readonly operators: Readonly<Record<string, number>>
  readonly opset: number
}

/** What is written, at sizes of its axes. */
interface Source {
  readonly name: string
  readonly axes: ReadonlySet<string>
  readonly trace: (sizes: Readonly<Record<string, number>>) => CoreProgram
  readonly meta?: Meta
}
const sourceOf = (f: unknown): Source => {
  if (isProgram(f)) return { name: f.name, axes: new Set(), trace: () => f }
  if (typeof f !== 'function') return badInput(WHERE, `${shown(f)} is not a function.`, 'pass what fn made, or toProgram(f)(...examples).')
  const meta = metaOf(f, WHERE)
  return { name: meta.name, axes: namedAxes(meta.declared?.specs ?? []), trace: (sizes) => traceDeclared(meta, sizes, WHERE), meta }
}

/** Names of the file: of each input by its path, of each output; none twice. */
interface Names {
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
}
/** Where inputs and outputs are in the arguments and the result. */
const pathsOf = (p: CoreProgram): Names => ({
  inputs: leafPaths(p.inputTree).map((x) => inputName(x) || 'x'),
  outputs: leafPaths(p.outputTree).map((x) => x || 'y'),
})
/** Raises where a path of an option is none. */
const checkPaths = (given: object, option: string, { inputs, outputs }: Names): void => {
  const known = new Set([...inputs, ...outputs])
  for (const path of Object.keys(given))
    if (!known.has(path))
      badInput(WHERE, `${option}: there is no input or output ${JSON.stringify(path)}.`, `there are ${[...known].join(', ')}.`)
}
const namesOf = (p: CoreProgram, own: Readonly<Record<string, string>>): Names => {
  const paths = pathsOf(p)
  checkPaths(own, 'names', paths)
  const taken = new Set<string>()
  const give = (path: string, suffix: string): string => {
    let name = Object.hasOwn(own, path) ? own[path]! : path
    if (taken.has(name)) name = `${name}_${suffix}`
    while (taken.has(name)) name = `${name}_`
    taken.add(name)
    return name
  }
  return { inputs: paths.inputs.map((x) => give(x, 'in')), outputs: paths.outputs.map((x) => give(x, 'out')) }
}

/** Values of inputs, by path. */
const valuesOf = (p: CoreProgram, given: Readonly<Record<string, unknown>>): ReadonlyMap<number, CoreTensor> => {
  const { leaves, def } = flatten(given, `${WHERE}: values`)
  const at = new Map(leafPaths(p.inputTree).map((path, i) => [plain(path), i]))
  return new Map(
    leafPaths(def).map((path, k) => {
      const i =
        at.get(path) ??
        badInput(WHERE, `values: there is no input ${JSON.stringify(path)}.`, `the inputs are ${[...at.keys()].join(', ')}.`)
      const { shape, dtype } = p.inputs[i]!
      const x = leaves[k]
      const t = isTensor(x) ? x : makeTensor(x, undefined, dtype, `${WHERE}: values.${path}`)
      if (t.dtype !== dtype || t.shape.join() !== shape.join())
        badInput(WHERE, `values: ${path} is ${t.dtype} [${t.shape.join(', ')}], the input ${dtype} [${shape.join(', ')}].`)
      return [i, t as CoreTensor]
    }),
  )
}

interface Written {
  readonly draft: Draft
  /** Which of the function's inputs those of the draft are. */
  readonly kept: readonly number[]
  readonly decomposed: ReadonlyMap<string, number>
}
/** The nodes of a program as those of a graph, once. */
const draftOf = (
  inputs: readonly Node[],
  roots: readonly Node[],
  names: Names,
  values: ReadonlyMap<number, CoreTensor>,
  opset: number,
): Written => {
  const w = Writer.root(opset, [...names.inputs, ...names.outputs])
  const decomposed = new Map<string, number>()
  const tensors = new Map<CoreTensor, Ref>()
  const constantOf = (t: CoreTensor, name: string): Ref =>
    w.constant(typeNameOf[t.dtype], t.shape, t.intact(WHERE).data as ArrayLike<number>, name)
  const refs = inputs.map((n, i): Ref => {
    const t = values.get(i)
    return t === undefined ? { name: names.inputs[i]!, type: typeNameOf[n.dtype], shape: n.shape } : constantOf(t, names.inputs[i]!)
  })
  const writing = {
    rows,
    tensor: (t: CoreTensor): Ref => {
      const known = tensors.get(t) ?? constantOf(t, w.ref('weight', 'float', []).name)
      tensors.set(t, known)
      return known
    },
    decomposed: (name: string) => void decomposed.set(name, (decomposed.get(name) ?? 0) + 1),
  }
  const outputs = writeNodes(w, writing, roots, new Map(inputs.map((n, i) => [n, refs[i]!])))
  const made = w.graph('main', [], outputs).outputs
  return {
    draft: {
      inputs: refs.filter((_, i) => !values.has(i)),
      outputs: made.map((r, i) => ({ ...r, name: names.outputs[i]! })),
      nodes: renamed(w.nodes, new Map(made.map((r, i) => [r.name, names.outputs[i]!]))),
      constants: w.constants,
    },
    kept: refs.flatMap((_, i) => (values.has(i) ? [] : [i])),
    decomposed,
  }
}

/** Sizes of probes are multiples of one of these: what takes an even size alone is traced at one. */
const FACTORS = [1, 2, 8] as const
/** What is written where some axes stay named. */
const named = (
  source: Source,
  open: readonly string[],
  fixed: Readonly<Record<string, number>>,
  write: (p: CoreProgram) => Written,
  opset: number,
) => {
  let failed: unknown
  for (const factor of FACTORS) {
    const probes = probesOf(open.length, factor)
    let programs: readonly CoreProgram[]
    try {
      programs = [...probes.grid, ...probes.trials].map((sizes) =>
        source.trace({ ...fixed, ...Object.fromEntries(open.map((name, i) => [name, sizes[i]!])) }),
      )
    } catch (e) {
      failed ??= e
      continue
    }
    const all = programs.map(write)
    return {
      finished: merged(
        all.map((x) => x.draft),
        probes,
        axesOf(source, open, all[0]!.kept),
        opset,
      ),
      decomposed: all[0]!.decomposed,
    }
  }
  if (!isAdException(failed)) throw failed
  return badInput(WHERE, `${source.name} is not traced at sizes of its named axes: ${failed.message}`, giveSizes(open))
}
/** Where each named axis is found, among the inputs that are left. */
const axesOf = ({ meta }: Source, open: readonly string[], kept: readonly number[]): readonly Axis[] => {
  const specs = meta!.declared!.specs
  return open.map((name) => {
    const input = kept.findIndex((i) => specs[i]!.shape.includes(name))
    return { name, input, at: specs[kept[input]!]!.shape.indexOf(name) }
  })
}
/** The sizes that values give to named axes. */
const sizesOf = ({ meta }: Source, values: Readonly<Record<string, unknown>>): Readonly<Record<string, number>> => {
  if (meta?.declared === undefined) return {}
  const { leaves, def } = flatten(values, `${WHERE}: values`)
  const paths = leafPaths(meta.declared.def).map(plain)
  return Object.fromEntries(
    leafPaths(def).flatMap((path, k) => {
      const spec = meta.declared!.specs[paths.indexOf(path)]
      const x = leaves[k]
      const shape = isTensor(x) ? x.shape : makeTensor(x, undefined, undefined, `${WHERE}: values.${path}`).shape
      return (spec?.shape ?? []).flatMap((d, i) => (typeof d === 'string' && shape[i] !== undefined ? [[d, shape[i]] as const] : []))
    }),
  )
}

/** The types of a file by its names, from those by paths. */
const typesOf = (
  p: CoreProgram,
  own: Readonly<Record<string, string>>,
  types: Readonly<Record<string, FileType>>,
): ReadonlyMap<string, FileType> => {
  const paths = pathsOf(p)
  checkPaths(types, 'types', paths)
  const names = namesOf(p, own)
  const both = [
    ...paths.inputs.map((x, i) => [x, names.inputs[i]!] as const),
    ...paths.outputs.map((x, i) => [x, names.outputs[i]!] as const),
  ]
  return new Map(both.flatMap(([path, name]) => (Object.hasOwn(types, path) ? [[name, types[path]!] as const] : [])))
}
const dtypeOf = (type: FileType): DType => DTYPES[computedAs(type)]
const described = (list: readonly Typed[]): Readonly<Record<string, OnnxValue>> =>
  Object.fromEntries(list.map(({ name, type, shape }) => [name, { type, dtype: dtypeOf(type), shape }]))
const DTYPES: Readonly<Record<TypeName, DType>> = { float: 'f32', double: 'f64', int32: 'i32', int64: 'i32', bool: 'bool' }

const write = (f: unknown, given: ToONNXOptions | undefined): OnnxFile => {
  const { opset, names: own = {}, types = {}, weights, values: known = {}, sizes: asked = {} } = readOptions(toONNXOptions, given, WHERE)
  const source = sourceOf(f)
  const sizes = { ...sizesOf(source, known), ...asked }
  const open = [...source.axes].filter((a) => !Object.hasOwn(sizes, a))
  let first: CoreProgram | undefined
  const once = (p: CoreProgram): Written => {
    first ??= p
    const make = (): Written => draftOf(p.inputs, p.outputs, namesOf(p, own), valuesOf(p, known), opset)
    return source.meta === undefined ? make() : preparing(source.meta, p, make)
  }
  const { finished, decomposed } = open.length > 0 ? named(source, open, sizes, once, opset) : plainly(once(source.trace(sizes)))
  const model = inTypes(tidy(finished), typesOf(first!, own, types))
  const tensors = model.constants.filter((c) => c.tensor === true)
  const listed = weights === 'inputs' ? tensors : []
  const kept = { ...model, inputs: [...model.inputs, ...listed], constants: model.constants.filter((c) => !listed.includes(c)) }
  return {
    bytes: bytesOf(source.name, kept, opset),
    inputs: described(kept.inputs),
    outputs: described(kept.outputs),
    weights: Object.fromEntries(
      tensors.map((c) => [c.name, tensor(c.data as never, c.shape as never, dtypeOf(c.type)) as unknown as Tensor]),
    ),
    decomposed: sorted(decomposed),
    operators: sorted(counted(model.nodes)),
    opset,
  }
}
const counted = (nodes: readonly NodeData[]): ReadonlyMap<string, number> => {
  const count = new Map<string, number>()
  for (const { op } of allNodes(nodes)) count.set(op, (count.get(op) ?? 0) + 1)
  return count
}
const sorted = (counts: ReadonlyMap<string, number>): Readonly<Record<string, number>> =>
  Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)))

/** A program as a file that is run at once: names by position, and what there is to say of it. */
export interface ProgramFile {
  readonly bytes: Uint8Array
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
  readonly nodes: readonly NodeData[]
  readonly operators: Readonly<Record<string, number>>
  readonly hasDouble: boolean
}
/** The file of nodes over these inputs, at their sizes. */
export const fileOfNodes = (name: string, inputs: readonly Node[], outputs: readonly Node[], opset: number): ProgramFile => {
  const names: Names = { inputs: inputs.map((_, i) => `x${i}`), outputs: outputs.map((_, i) => `y${i}`) }
  const model = tidy(draftOf(inputs, outputs, names, new Map(), opset).draft)
  return {
    bytes: bytesOf(name, model, opset),
    ...names,
    nodes: allNodes(model.nodes),
    operators: sorted(counted(model.nodes)),
    hasDouble: [...model.inputs, ...model.outputs, ...model.constants].some((x) => x.type === 'double'),
  }
}
const plainly = ({ draft, decomposed }: Written): { readonly finished: Finished; readonly decomposed: ReadonlyMap<string, number> } => ({
  finished: draft,
  decomposed,
})

/**
 * The function as an ONNX file: its nodes in standard operators, gradients and loops included, captured tensors as initializers.
 *
 * Shapes  named axes stay named: sizes that follow from them are computed in the file.   Dtypes  f32, f64, i32 and bool as float, double, int32 and bool.
 * Errors  MissingKernel names a primitive that has neither an operator nor a composition, with the equation and the line; BadInput for a function
 * without declared shapes, and for one that is another program at other sizes of its named axes.
 * @example toONNX(fn({ x: f32('n') }, ({ x }) => sum(mul(x, x)))).operators   // { Mul: 1, ReduceSum: 1 }
 */
export const toONNX = (f: AnyFn | Program, options?: ToONNXOptions): OnnxFile => write(f, options)
