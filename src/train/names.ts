/** Names of the leaves of a tree: record keys and places in lists, joined by dots, as users of PyTorch and JAX name parameters: 'layer.0.w'. */
import { badInput } from '../core/errors/explain.js'
import { isAdException, isTensor, raise, type Tensor, tensor, treeMap } from '../index.js'
import { isRecord, reasonOf } from './given.js'

/** A leaf and its name. */
export interface Named {
  readonly name: string
  readonly leaf: unknown
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
    if (Array.isArray(x)) for (const [i, y] of x.entries()) walk(y, below(i), `${path}[${i}]`)
    else if (isRecord(x)) {
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
