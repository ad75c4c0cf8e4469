/** Inputs, outputs and weights in other element types than operators compute: cast where they come in and where they go out. */
import { badInput } from '../../core/errors/explain.js'
import { flatten, leafPaths } from '../../core/graph/tree.js'
import { narrowFormats } from '../narrow.js'
import type { Finished, StoredConstant, Typed } from './merge.js'
import { type FileType, type NodeData, NUMBERS, renamed, type TypeName } from './writer.js'

/** The smallest and the largest number of an integer type. */
const bounds: Partial<Record<FileType, readonly [low: number, high: number]>> = {
  int8: [-128, 127],
  uint8: [0, 255],
  int16: [-32768, 32767],
  uint16: [0, 65535],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint32: [0, 2 ** 32 - 1],
  int64: [-(2 ** 63), 2 ** 63],
  uint64: [0, 2 ** 64],
}
const kindOf = (type: FileType): 'integers' | 'floats' | 'truths' => (type === 'bool' ? 'truths' : type in bounds ? 'integers' : 'floats')
/** May numbers of one type be stored as another? */
const checkKind = (name: string, from: FileType, to: FileType): void => {
  if (kindOf(from) !== kindOf(to))
    badInput('toONNX', `types: ${name} is ${from}, which has ${kindOf(from)}, and ${to} has ${kindOf(to)}.`, 'cast it in the function.')
}
const cast = (from: string, to: string, type: FileType, of: string): NodeData => ({
  op: 'Cast',
  name: `${to}_cast`,
  inputs: [from],
  outputs: [to],
  attributes: { to: NUMBERS[type] },
  of,
})
const stored = (c: StoredConstant, type: FileType): StoredConstant => {
  const [low, high] = bounds[type] ?? []
  for (let i = 0; low !== undefined && i < c.data.length; i++)
    if (c.data[i]! < low || c.data[i]! > high!)
      badInput('toONNX', `types: ${c.name} has ${c.data[i]}, which ${type} does not hold.`, 'give it a wider type.')
  return { ...c, type }
}

/** The model with these types by the names of its inputs, outputs and weights. */
export const inTypes = (model: Finished, types: ReadonlyMap<string, FileType>): Finished => {
  const names = new Map<string, string>()
  const before: NodeData[] = []
  const after: NodeData[] = []
  const taken = new Set([
    ...model.nodes.flatMap((n) => n.outputs),
    ...[...model.inputs, ...model.outputs, ...model.constants].map((x) => x.name),
  ])
  const inner = (name: string): string => {
    let made = `${name}_computed`
    while (taken.has(made)) made = `${made}_`
    taken.add(made)
    names.set(name, made)
    return made
  }
  const isOther = (x: { readonly name: string; readonly type: FileType }): FileType | undefined => {
    const type = types.get(x.name)
    if (type === undefined || type === x.type) return undefined
    checkKind(x.name, x.type, type)
    return type
  }
  const comingIn = <X extends Typed | StoredConstant>(x: X, store: (x: X, type: FileType) => X): X => {
    const type = isOther(x)
    if (type === undefined) return x
    before.push(cast(x.name, inner(x.name), x.type, x.name))
    return store(x, type)
  }
  const inputs = model.inputs.map((x) => comingIn(x, (y, type) => ({ ...y, type })))
  const constants = model.constants.map((c) => (c.tensor === true ? comingIn(c, stored) : c))
  const outputs = model.outputs.map((x) => {
    const type = isOther(x)
    if (type === undefined) return x
    after.push(cast(inner(x.name), x.name, type, x.name))
    return { ...x, type }
  })
  return names.size === 0 ? model : { inputs, constants, outputs, nodes: [...before, ...renamed(model.nodes, names), ...after] }
}

/** The types that `types` may name. */
export const fileTypes: readonly FileType[] = Object.keys(NUMBERS) as FileType[]
/** The type that is computed where a file has this one. */
export const computedAs = (type: FileType): TypeName => (type in narrowFormats ? 'float' : type in bounds ? 'int32' : (type as TypeName))

/** How options call the place of a tensor in the arguments or the result of a function: the keys to it. */
export const placeOf = (...keys: readonly string[]): string =>
  leafPaths(
    flatten(
      keys.reduceRight<unknown>((tree, key) => ({ [key]: tree }), 0),
      'toONNX',
    ).def,
  )[0]!
