/** Names of the leaves of a tree: record keys and places in lists, joined by dots, as users of PyTorch and JAX name parameters: 'layer.0.w'. */
import { shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { isAdException, isTensor, raise, type Tensor, tensor, treeMap } from '../index.js'
import { isRecord, reasonOf } from './given.js'

/** A leaf and its name. */
export interface Named {
  readonly name: string
  readonly leaf: unknown
}

const isPlain = (x: object): boolean => {
  const proto: unknown = Object.getPrototypeOf(x)
  return proto === Object.prototype || proto === null
}
/** The numbers in an object of a registered class, by their paths in it. */
const partsOf = (x: object): { readonly parts: readonly (readonly [string, unknown])[] } => {
  const parts: (readonly [string, unknown])[] = []
  treeMap((leaf: unknown, path) => {
    parts.push([path, leaf])
  }, x as unknown)
  return { parts }
}
/** The leaves of a tree in its order, with their names; raises where two have one name. */
export const namedLeaves = (tree: unknown, where: string): readonly Named[] => {
  const leaves: unknown[] = []
  // With numbers for leaves the structure can be read from the tree itself.
  const numbered: unknown = treeMap((leaf) => leaves.push(leaf) - 1, tree)
  const names = new Map<string, string>()
  const out = new Array<Named>(leaves.length)
  const walk = (x: unknown, name: string | undefined, path: string): void => {
    const below = (key: string | number): string => (name === undefined ? String(key) : `${name}.${key}`)
    // Nothing is nothing in a file; what else is no array is not left out in silence.
    if (x === null || x === undefined) return
    if (typeof x === 'string' || typeof x === 'function')
      badInput(
        `${where}: ${name ?? 'the tree'}`,
        `${shown(x)} is not a number, an array or a tensor.`,
        'a file holds arrays alone: take out what is none.',
      )
    if (Array.isArray(x)) for (const [i, y] of x.entries()) walk(y, below(i), `${path}[${i}]`)
    else if (typeof x === 'object' && x !== null && !isPlain(x)) {
      const { parts } = partsOf(x)
      for (const [key, y] of parts)
        walk(y, key === '' ? name : name === undefined ? key : `${name}.${key}`, `${path}[${JSON.stringify(key)}]`)
    } else if (isRecord(x)) {
      if (x._tag !== 'NoTangent') for (const [key, y] of Object.entries(x)) walk(y, below(key), `${path}[${JSON.stringify(key)}]`)
    } else {
      const other = names.get(name ?? '')
      if (other !== undefined)
        badInput(where, `tree${other} and tree${path} have one name, ${name}.`, 'rename a key: a dot in a key is like one between keys.')
      names.set(name ?? '', path)
      // At the leaf's own place: JavaScript walks a record's whole-number keys first, treeMap its keys in order.
      out[x as number] = { name: name ?? '', leaf: leaves[x as number] }
    }
  }
  walk(numbered, undefined, '')
  return out
}

/** The tensor of a leaf: itself, or numbers and arrays as `tensor` takes them. Errors name it. */
export const tensorOf = ({ name, leaf }: Named, where: string): Tensor => {
  try {
    const t = isTensor(leaf) ? leaf : (tensor(leaf as number) as Tensor)
    if (t.data.length !== t.shape.reduce((n, d) => n * d, 1))
      throw badInput(where, 'the tensor has lost its elements: its ArrayBuffer was transferred.')
    return t
  } catch (e) {
    if (!isAdException(e)) throw e
    return raise({
      _tag: 'BadInput',
      where: `${where}: ${name}`,
      reason: reasonOf(e),
      ...('fix' in e.error && e.error.fix !== undefined && { fix: e.error.fix }),
    })
  }
}
