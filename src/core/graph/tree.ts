/** Trees: nested records, tuples and arrays of leaves; how they are taken apart, put together, compared and addressed. */

import { badInput, raise } from '../errors/explain.js'
import { meantArray } from '../errors/hints.js'
import { reading, unreadable } from '../errors/language.js'
import { NoTangent } from './tangent.js'
import { describe, dtypeOfTypedArray } from './tensor.js'

/** Structure of a tree without its leaves. */
export type TreeDef =
  | { readonly _tag: 'Leaf' }
  /** A place without a tangent space: no leaf, rebuilt as NoTangent. */
  | { readonly _tag: 'NoTangent' }
  /** No array and no tree: null, undefined, a text, a function. It belongs to the structure: equal ones have the same there. */
  | { readonly _tag: 'Static'; readonly value: unknown }
  | { readonly _tag: 'Tuple'; readonly items: readonly TreeDef[] }
  | { readonly _tag: 'Record'; readonly keys: readonly string[]; readonly items: readonly TreeDef[] }
  /** An object of a registered class: its one part is the tree that stands for it, at the object's own path. */
  | { readonly _tag: 'Object'; readonly of: TreeClass; readonly items: readonly [TreeDef] }
/** A structure that has parts. */
export type Branch = Extract<TreeDef, { readonly items: unknown }>
/** How objects of a class are trees. */
export interface TreeClass {
  readonly name: string
  readonly toTree: (x: never) => unknown
  readonly fromTree: (tree: never) => unknown
}

export const LEAF: TreeDef = Object.freeze({ _tag: 'Leaf' })
export const ABSENT: TreeDef = Object.freeze({ _tag: 'NoTangent' })
/** At most this many levels of records and tuples. */
export const MAX_DEPTH = 200

const isTagged = (x: object): boolean => typeof (x as { _tag?: unknown })._tag === 'string'

/** Is x a leaf: an expression, a tensor, a spec, a number or an array (rectangular or not) of numbers? */
export const isLeaf = (x: unknown): boolean => {
  if (typeof x !== 'object' || x === null) return true
  if (Array.isArray(x)) return isNumeric(x)
  return (isTagged(x) && classOf(x) === undefined) || dtypeOfTypedArray(x) !== undefined
}
/** A nested array whose leaves are all numbers or booleans (an empty array is a tensor of shape [0]). */
const isNumeric = (x: readonly unknown[], depth = 0): boolean => {
  if (depth > 32) return false
  for (let i = 0; i < x.length; i++) {
    const y = x[i]
    if (typeof y === 'number' || typeof y === 'boolean') continue
    if (y === undefined && !(i in x)) return true // a hole: whoever reads the array says so, without walking all of a sparse one
    if (!(Array.isArray(y) && isNumeric(y, depth + 1))) return false
  }
  return true
}

/** What to do with something that is no leaf. */
const noLeaf = (x: unknown, where: string, declares: boolean): string =>
  x === undefined && where.startsWith('the result')
    ? 'a body in braces returns by return: (x) => { const y = ...; return y }.'
    : declares
      ? "declare each input by its dtype and shape: f64() a number, f64(2, 3), f32('batch', 3)."
      : typeof x === 'function'
        ? 'call it, and pass its result.'
        : x === null || x === undefined
          ? 'an argument is missing, or it has no value: give a number, an array, a tensor or a tree of them.'
          : typeof x === 'string'
            ? meantArray(x)
            : `give every leaf a number, an array or a tensor.`

const classes = new WeakMap<object, TreeClass>()
/** The class of an object, if it is a registered one. */
export const classOf = (x: object): TreeClass | undefined => classes.get(Object.getPrototypeOf(x) ?? x)
/**
 * Objects of a class as trees: `toTree` gives the tree of an object, and `fromTree` makes an object from such a tree with other leaves: expressions while a function is
 * traced, tensors in results, NoTangent where a gradient has none. Strings, functions and null in that tree are the object's fixed part.
 *
 * Errors  BadInput for a class that is registered already, and for anything but a class.
 * Source  JAX, jax.tree_util.register_pytree_node.
 * @example
 * class Line<A extends Arg> { constructor(readonly slope: A, readonly name: string) {} }
 * registerTree(Line<Arg>, { toTree: ({ slope, name }) => ({ slope, name }), fromTree: ({ slope, name }) => new Line(slope, name) })
 * grad((l: Line<Scalar>) => mul(l.slope, l.slope))(new Line(tensor(3), 'a'))   // { slope: 6, name: 'a' }
 */
export const registerTree = <C, T>(
  type: abstract new (...args: never[]) => C,
  as: { readonly toTree: (x: C) => T; readonly fromTree: (tree: NoInfer<T>) => C },
): void => {
  const { proto, name, toTree, fromTree } = reading('registerTree', () => ({
    proto: typeof type === 'function' ? (type.prototype as unknown) : undefined,
    name: String((type as { readonly name?: unknown } | undefined)?.name ?? ''),
    toTree: as?.toTree,
    fromTree: as?.fromTree,
  }))
  if (typeof proto !== 'object' || proto === null)
    badInput('registerTree', 'the first argument is not a class.', 'write registerTree(MyClass, { toTree, fromTree }).')
  else if (typeof toTree !== 'function' || typeof fromTree !== 'function')
    badInput('registerTree', 'toTree and fromTree must be functions.', 'write registerTree(MyClass, { toTree, fromTree }).')
  else if (proto === Object.prototype || proto === Array.prototype || classes.has(proto))
    badInput('registerTree', `objects of class ${name} are trees already.`, 'register each class once.')
  else classes.set(proto, { name, toTree, fromTree })
}

const plainKeys = (x: object, where: string): string[] => {
  const proto = Object.getPrototypeOf(x)
  if (typeof (x as { readonly then?: unknown }).then === 'function')
    badInput(where, 'a Promise; a traced function must be synchronous.', 'await outside, and pass or capture the value.')
  if (proto !== Object.prototype && proto !== null)
    badInput(
      where,
      `an object of class ${(proto as { constructor?: { name?: string } }).constructor?.name ?? '?'} is not a plain record.`,
      `${meantArray(x)} registerTree says how objects of a class are trees.`,
    )
  return Object.keys(x).sort()
}

/** Does x belong to the structure of a tree, and is no leaf of it? */
const isStatic = (x: unknown): boolean => x === null || x === undefined || typeof x === 'string' || typeof x === 'function'
/** May it stand here? Nothing may be missing from a list of arguments or results; a declaration says that there is nothing by null alone. */
const mayBeStatic = (x: unknown, inTuple: boolean, declares: boolean): boolean =>
  isStatic(x) && (x !== undefined || !inTuple) && (!declares || x === null || x === undefined)

/** The path of a part: `layers.0.w`, as `wrt` names it. */
export const below = (path: string, key: string | number): string => (path === '' ? `${key}` : `${path}.${key}`)

/** A place in an argument of `where`, in a line of readable length. */
const placeIn = (where: string, path: string): string =>
  path === '' ? where : `${where}: ${path.length > 60 ? `${path.slice(0, 60)}...` : path}`

/** Leaves in order (record keys sorted) and the structure. Errors name the leaf by its path in `where`, behind a noun: `params.w`, `argument 0.b`. What is static stands `inside`, so many levels down: an argument itself is an array or a tree. */
export const flatten = (
  tree: unknown,
  where = 'argument',
  leaf: (x: unknown) => boolean = isLeaf,
  noun = '',
  inside = 1,
): { readonly leaves: unknown[]; readonly def: TreeDef } => {
  const leaves: unknown[] = []
  let at = ''
  const here = (path: string): string => placeIn(where, path === '' ? '' : `${noun}${path}`)
  const declares = where.startsWith('the declaration')
  const go = (x: unknown, path: string, depth: number, inTuple: boolean): TreeDef => {
    at = path
    if (depth > MAX_DEPTH) badInput(here(path), `nested deeper than ${MAX_DEPTH} levels (or contains itself).`, 'pass a tree that ends.')
    if (depth >= inside && mayBeStatic(x, inTuple, declares)) return { _tag: 'Static', value: x }
    if (isStatic(x) || typeof x === 'symbol' || typeof x === 'bigint')
      badInput(
        here(path),
        `${typeof x === 'symbol' || typeof x === 'bigint' ? `a ${typeof x}` : describe(x)} is not a number, an array, a tensor or a record of them.`,
        noLeaf(x, where, declares),
      )
    if ((x as { _tag?: unknown })._tag === 'NoTangent') return ABSENT
    if (leaf(x)) {
      leaves.push(x)
      return LEAF
    }
    if (Array.isArray(x)) return { _tag: 'Tuple', items: Array.from(x, (y, i) => go(y, below(path, i), depth + 1, true)) }
    const of = classOf(x as object)
    if (of !== undefined) return { _tag: 'Object', of, items: [go(of.toTree(x as never), path, depth + 1, false)] }
    const keys = plainKeys(x as object, here(path))
    const items = keys.map((k) => {
      at = below(path, k)
      return go((x as Record<string, unknown>)[k], at, depth + 1, false)
    })
    return { _tag: 'Record', keys, items }
  }
  try {
    return { def: go(tree, '', 0, false), leaves }
  } catch (e) {
    return unreadable(e, here(at))
  }
}

const setKey = (o: Record<string, unknown>, k: string, v: unknown): void => {
  if (k === '__proto__') Object.defineProperty(o, k, { value: v, enumerable: true, configurable: true, writable: true })
  else o[k] = v
}

/** Where the next leaf is; one object, because this runs at every call. */
interface Cursor {
  at: number
}
const place = (d: TreeDef, leaves: readonly unknown[], cursor: Cursor): unknown => {
  if (d._tag === 'Leaf') return leaves[cursor.at++]
  if (d._tag === 'NoTangent') return NoTangent
  if (d._tag === 'Static') return d.value
  if (d._tag === 'Tuple') return d.items.map((item) => place(item, leaves, cursor))
  if (d._tag === 'Object') return d.of.fromTree(place(d.items[0], leaves, cursor) as never)
  const o: Record<string, unknown> = {}
  for (let i = 0; i < d.keys.length; i++) setKey(o, d.keys[i]!, place(d.items[i]!, leaves, cursor))
  return o
}

/** The tree of that structure with these leaves. */
export const unflatten = (def: TreeDef, leaves: readonly unknown[]): unknown => {
  const cursor = { at: 0 }
  const tree = place(def, leaves, cursor)
  if (cursor.at !== leaves.length)
    raise({ _tag: 'InternalLaw', law: 'unflatten uses every leaf', detail: `${cursor.at} of ${leaves.length}` })
  return tree
}

export const leafCount = (def: TreeDef): number =>
  def._tag === 'Leaf' ? 1 : hasParts(def) ? def.items.reduce((n, d) => n + leafCount(d), 0) : 0
/** Does it say anywhere that there is no array? */
export const holdsStatic = (d: TreeDef): boolean => d._tag === 'Static' || (hasParts(d) && d.items.some(holdsStatic))
/** Is it made of parts? */
export const hasParts = (d: TreeDef): d is Branch => 'items' in d
/** The path of part i of a structure that stands at a path. */
export const pathIn = (d: Branch, i: number, path: string): string =>
  d._tag === 'Object' ? path : below(path, d._tag === 'Record' ? d.keys[i]! : i)

export const sameDef = (a: TreeDef, b: TreeDef): boolean => {
  if (a === b) return true
  if (a._tag !== b._tag) return false
  if (a._tag === 'Static') return Object.is(a.value, (b as typeof a).value)
  if (!hasParts(a) || !hasParts(b)) return true
  if (a._tag === 'Object' && a.of !== (b as typeof a).of) return false
  if (a.items.length !== b.items.length) return false
  if (a._tag === 'Record' && b._tag === 'Record' && a.keys.some((k, i) => k !== b.keys[i])) return false
  return a.items.every((x, i) => sameDef(x, b.items[i]!))
}

/** The parts of x along one level of a structure, in its order; undefined where x has other parts. A list may stand for the record of its positions. */
export const partsAlong = (d: Branch, x: unknown): readonly unknown[] | undefined => {
  if (d._tag === 'Object') return typeof x === 'object' && x !== null && classOf(x) === d.of ? [d.of.toTree(x as never)] : undefined
  if (d._tag === 'Tuple') return Array.isArray(x) && x.length === d.items.length ? x : undefined
  return typeof x === 'object' && x !== null && Object.keys(x).length === d.keys.length && d.keys.every((k) => Object.hasOwn(x, k))
    ? d.keys.map((k) => (x as Record<string, unknown>)[k])
    : undefined
}
/** Whatever stands at the leaves of a structure (arrays stay whole); undefined where the tree has another one. */
export const leavesAlong = (def: TreeDef, tree: unknown): unknown[] | undefined => {
  const leaves: unknown[] = []
  const go = (d: TreeDef, x: unknown): boolean => {
    if (d._tag === 'NoTangent') return true
    if (d._tag === 'Static') return Object.is(d.value, x)
    if (d._tag === 'Leaf') return leaves.push(x) > 0
    const parts = partsAlong(d, x)
    return parts?.every((part, i) => go(d.items[i]!, part)) ?? false
  }
  return go(def, tree) ? leaves : undefined
}

/** Paths of the leaves, in order: `layers.0.w`. */
export const leafPaths = (def: TreeDef): readonly string[] => {
  const known = paths.get(def)
  if (known !== undefined) return known
  const out: string[] = []
  const go = (d: TreeDef, path: string): void => {
    if (d._tag === 'Leaf') out.push(path)
    else if (hasParts(d)) for (let i = 0; i < d.items.length; i++) go(d.items[i]!, pathIn(d, i, path))
  }
  go(def, '')
  paths.set(def, out)
  return out
}
/** Of structures that were asked for: nobody changes one. */
const paths = /*#__PURE__*/ new WeakMap<TreeDef, readonly string[]>()

/** A function's name; empty where it cannot be read. */
const nameOf = (f: object): string => {
  try {
    return String((f as { readonly name?: unknown }).name)
  } catch {
    return ''
  }
}
const showStatic = (x: unknown): string =>
  typeof x === 'function' ? `the function ${nameOf(x) || '(x) => ...'}` : typeof x === 'string' ? JSON.stringify(x) : String(x)
export const showDef = (def: TreeDef): string =>
  def._tag === 'Leaf'
    ? '*'
    : def._tag === 'NoTangent'
      ? 'NoTangent'
      : def._tag === 'Static'
        ? showStatic(def.value)
        : def._tag === 'Tuple'
          ? `[${def.items.map(showDef).join(', ')}]`
          : def._tag === 'Object'
            ? `${def.of.name} ${showDef(def.items[0])}`
            : `{ ${def.keys.map((k, i) => `${k}: ${showDef(def.items[i]!)}`).join(', ')} }`

/** Says how `got` differs from `want`: the first missing or extra entry; undefined when they are the same. */
export const explainDef = (want: TreeDef, got: TreeDef, path = ''): string | undefined => {
  const at = path === '' ? 'the argument' : path
  if (want._tag === 'Leaf')
    return got._tag === 'Leaf'
      ? undefined
      : `${at} must be an array, found ${got._tag === 'Tuple' ? 'a tuple' : got._tag === 'Record' ? 'a record' : showDef(got)}`
  if (got._tag !== want._tag) return `${at} must be ${showDef(want)}, found ${got._tag === 'Leaf' ? 'one array' : showDef(got)}`
  if (want._tag === 'NoTangent') return undefined
  if (want._tag === 'Static') return sameDef(want, got) ? undefined : `${at} must be ${showDef(want)}, found ${showDef(got)}`
  if (want._tag === 'Object' && got._tag === 'Object')
    return want.of === got.of ? explainDef(want.items[0], got.items[0], path) : `${at} must be ${showDef(want)}, found ${showDef(got)}`
  if (want._tag === 'Record' && got._tag === 'Record') {
    for (const k of want.keys) if (!got.keys.includes(k)) return `${below(path, k)} is missing`
    for (const k of got.keys) if (!want.keys.includes(k)) return `${below(path, k)} is not expected`
    for (let i = 0; i < want.keys.length; i++) {
      const d = explainDef(want.items[i]!, got.items[i]!, below(path, want.keys[i]!))
      if (d !== undefined) return d
    }
    return undefined
  }
  const w = want as Extract<TreeDef, { _tag: 'Tuple' }>
  const g = got as Extract<TreeDef, { _tag: 'Tuple' }>
  if (w.items.length !== g.items.length) return `${at} must have ${w.items.length} entries, found ${g.items.length}`
  for (let i = 0; i < w.items.length; i++) {
    const d = explainDef(w.items[i]!, g.items[i]!, below(path, i))
    if (d !== undefined) return d
  }
  return undefined
}

/** The part of a structure that a path (`params.w`, `0.b`, an index) names: where its leaves start, and its structure. */
export const selectPath = (def: TreeDef, path: string | number): { readonly start: number; readonly def: TreeDef } | undefined => {
  const steps = String(path).split('.')
  let at = def
  let start = 0
  for (const step of steps) {
    while (at._tag === 'Object') at = at.items[0]
    if (!hasParts(at)) return undefined
    const i = at._tag === 'Record' ? at.keys.indexOf(step) : Number(step)
    if (!(Number.isInteger(i) && i >= 0 && i < at.items.length)) return undefined
    for (let j = 0; j < i; j++) start += leafCount(at.items[j]!)
    at = at.items[i]!
  }
  return { start, def: at }
}

/** The same structure over other leaves, leaf by leaf. */
export const mapTree = (f: (leaf: unknown, index: number) => unknown, tree: unknown): unknown => {
  const { leaves, def } = flatten(tree)
  return unflatten(def, leaves.map(f))
}
