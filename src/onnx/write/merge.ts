/** One model of the same program written at several sizes: what differs among them is computed from the sizes of the inputs. */
import { badInput } from '../../core/errors/explain.js'
import { type Formula, formulaOf, inWords, type probesOf } from './sizes.js'
import { type Attribute, allNodes, type Constant, type FileType, type NodeData, type Ref, type TypeName, Writer } from './writer.js'

/** A program as it was written once. */
export interface Draft {
  readonly inputs: readonly Ref[]
  readonly outputs: readonly Ref[]
  readonly nodes: readonly NodeData[]
  readonly constants: readonly Constant[]
}
/** A size in the type of an input or an output: a number, or a name. */
export type Size = number | string
/** What is written as bytes. */
export interface Finished extends Omit<Draft, 'inputs' | 'outputs' | 'constants'> {
  readonly inputs: readonly Typed[]
  readonly outputs: readonly Typed[]
  readonly constants: readonly StoredConstant[]
}
export interface Typed {
  readonly name: string
  readonly type: FileType
  readonly shape: readonly Size[]
}
/** A constant as the file has it. */
export interface StoredConstant extends Omit<Constant, 'type'> {
  readonly type: FileType
}
/** A named axis, and the first input that has it. */
export interface Axis {
  readonly name: string
  readonly input: number
  readonly at: number
}

/** What to do where sizes cannot stay open. */
export const giveSizes = (axes: readonly string[]): string =>
  `give the sizes that it shall have: toONNX(f, { sizes: { ${axes.map((a) => `${/^\w+$/.test(a) ? a : JSON.stringify(a)}: 32`).join(', ')} } }).`
const DIFFERS = 'its operations are others at other sizes of the named axes'
/** Raised where drafts differ in more than numbers. */
class Differs extends Error {
  constructor(readonly of: string) {
    super(DIFFERS)
  }
}
const differs = (of: string): never => {
  throw new Differs(of)
}
/** Are the nodes the same but for the numbers of constants? Raises where they are not. */
const checkSame = (a: readonly NodeData[], b: readonly NodeData[]): void => {
  for (const [i, x] of a.entries()) {
    const y = b[i]
    if (y === undefined || x.op !== y.op || x.name !== y.name || x.inputs.join() !== y.inputs.join()) differs(x.of)
    for (const [name, value] of Object.entries(x.attributes)) if (!sameAttribute(value, y!.attributes[name])) differs(x.of)
  }
  if (b.length > a.length) differs(b[a.length]!.of)
}
const sameAttribute = (a: Attribute, b: Attribute | undefined): boolean => {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b
  if ('graph' in a && 'graph' in b) {
    checkSame(a.graph.nodes, b.graph.nodes)
    return true
  }
  return JSON.stringify(a) === JSON.stringify(b)
}

/** A number that is the same at all sizes, or its formula. */
type Found = number | Formula
const isFloat = (type: TypeName): boolean => type === 'float' || type === 'double'

/** The model of drafts at the probes; the axes are in the order of the sizes of a probe. */
export const merged = (drafts: readonly Draft[], probes: ReturnType<typeof probesOf>, axes: readonly Axis[], opset: number): Finished => {
  try {
    return together(drafts, probes, axes, opset)
  } catch (e) {
    if (!(e instanceof Differs)) throw e
    const names = axes.map((a) => a.name)
    return badInput('toONNX', `${DIFFERS} (${names.join(', ')}), the first of them ${e.of}.`, giveSizes(names))
  }
}
const together = (drafts: readonly Draft[], probes: ReturnType<typeof probesOf>, axes: readonly Axis[], opset: number): Finished => {
  const [first] = drafts as readonly [Draft]
  for (const d of drafts) {
    checkSame(first.nodes, d.nodes)
    if (d.constants.length !== first.constants.length) differs('the function')
  }
  const names = axes.map((a) => a.name)
  const find = (values: readonly number[], type: TypeName, of: string): Found => {
    if (values.every((v) => Object.is(v, values[0]))) return values[0]!
    const forms = isFloat(type) ? (['itself', 'reciprocal', 'root', 'reciprocal root'] as const) : (['itself'] as const)
    return (
      formulaOf(probes, values, forms, type === 'float' ? 3e-7 : type === 'double' ? 1e-12 : 0) ??
      badInput(
        'toONNX',
        `a number of ${of} follows from the sizes of ${names.join(', ')} by no formula that is found: ${values.slice(0, 3).join(', ')}, ...`,
        giveSizes(names),
      )
    )
  }
  const typed = (r: Ref, all: readonly Ref[]): Typed => ({
    name: r.name,
    type: r.type,
    shape: r.shape.map((_, i) => {
      const found = find(
        all.map((x) => x.shape[i]!),
        'int64',
        `the shape of ${r.name}`,
      )
      return typeof found === 'number' ? found : inWords(found, names)
    }),
  })
  const before = Writer.root(opset, [], 'size_')
  const sizes = axes.map(({ input, at }) => sizeOf(before, first.inputs[input]!, at))
  const constants: Constant[] = []
  for (const [i, c] of first.constants.entries()) {
    const all = drafts.map((d) => d.constants[i]!)
    if (c.tensor === true) {
      // What a function captures is the same at all sizes; what it makes of a size is not.
      if (all.some((x) => x.data !== c.data && !sameData(x, c))) differs('a tensor')
      constants.push(c)
      continue
    }
    if (all.some((x) => x.data.length !== c.data.length || x.type !== c.type)) differs('an array of numbers')
    const found = Array.from(c.data, (_, k) =>
      find(
        all.map((x) => x.data[k]!),
        c.type,
        userOf(first.nodes, c.name),
      ),
    )
    if (found.every((x) => typeof x === 'number')) constants.push(c)
    else computed(before, sizes, c, found)
  }
  return {
    inputs: first.inputs.map((r, i) =>
      typed(
        r,
        drafts.map((d) => d.inputs[i]!),
      ),
    ),
    outputs: first.outputs.map((r, i) =>
      typed(
        r,
        drafts.map((d) => d.outputs[i]!),
      ),
    ),
    nodes: [...before.nodes, ...first.nodes],
    constants: [...before.constants, ...constants],
  }
}
const sameData = (a: Constant, b: Constant): boolean => {
  if (a.shape.join() !== b.shape.join()) return false
  for (let i = 0; i < a.data.length; i++) if (!Object.is(a.data[i], b.data[i])) return false
  return true
}
/** What reads a constant, for a message. */
const userOf = (nodes: readonly NodeData[], name: string): string =>
  allNodes(nodes).find((n) => n.inputs.includes(name))?.of ?? 'the function'

/** The size of an axis of an input, as int64 of no axes. */
const sizeOf = (w: Writer, x: Ref, at: number): Ref => {
  const shape = w.node('Shape', [x], {}, { type: 'int64', shape: [x.shape.length] })
  return w.node('Gather', [shape, w.constant('int64', [], [at])], { axis: 0 }, { shape: [] })
}
const number = (w: Writer, n: number): Ref => w.constant('int64', [], [n])
/** The value of a formula from the sizes, of a type. */
const fromSizes = (w: Writer, sizes: readonly Ref[], { terms, over, form }: Formula, type: TypeName): Ref => {
  const products = terms.map(({ powers, factor }) => {
    const factors = powers.flatMap((e, i) => new Array<Ref>(e).fill(sizes[i]!))
    return [...factors, ...(factor === 1 && factors.length > 0 ? [] : [number(w, factor)])].reduce((a, b) => w.each('Mul', a, b))
  })
  const sum = products.reduce((a, b) => w.each('Add', a, b))
  if (!isFloat(type)) return w.cast(over === 1 ? sum : w.each('Div', sum, number(w, over)), type)
  const real = w.cast(sum, 'double')
  const value = over === 1 ? real : w.each('Div', real, w.scalar('double', over))
  const root = form.endsWith('root') ? w.each('Sqrt', value) : value
  return w.cast(form.startsWith('reciprocal') ? w.each('Reciprocal', root) : root, type)
}
/** A constant of which some numbers are computed, by its name. */
const computed = (w: Writer, sizes: readonly Ref[], c: Constant, found: readonly Found[]): void => {
  const parts = found.map((x) => (typeof x === 'number' ? w.constant(c.type, [1], [x]) : w.reshape(fromSizes(w, sizes, x, c.type), [1])))
  const line = parts.length === 1 ? parts[0]! : w.concat(parts, 0)
  w.node('Reshape', [line, w.ints(c.shape)], {}, { shape: c.shape })
  w.nodes.push({ ...w.nodes.pop()!, outputs: [c.name] })
}
