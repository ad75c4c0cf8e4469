/** The axes of vmap: which axis of each argument is mapped, and where it stands in each result. */

import { recordOf, shown } from '../core/errors/check-arguments.js'
import { badInput, badShape, showShape } from '../core/errors/explain.js'
import { reading } from '../core/errors/language.js'
import { type Kind, kind, type OptionsFor, type OptionsOf, readOptions } from '../core/errors/options.js'
import type { Meta } from '../core/functions/function.js'
import { type Aval, aval, showAval } from '../core/graph/aval.js'
import type { Node } from '../core/graph/expr.js'
import { normalizeAxis, range } from '../core/graph/shape.js'
import type { Spec } from '../core/graph/spec.js'
import { type Branch, below, hasParts, leafCount, leafPaths, MAX_DEPTH, partsAlong, pathIn, type TreeDef } from '../core/graph/tree.js'
import { transposeNode } from '../core/ops/layout/move.js'
import type * as signatures from '../core/types/signatures/vmap.js'
import { needsArguments } from './arguments.js'

/** An axis (null: none) for all leaves, or a list or record of these: a prefix of a tree. */
export type Axes = number | null | readonly Axes[] | { readonly [key: string]: Axes }
const refuse = (reason: string, fix: string, where = 'vmap'): never => badInput(where, reason, fix)
const at = (path: string): string => (path === '' ? '' : ` at ${path}`)
const KINDS =
  'give the number of an axis (0 the first, -1 the last), null (the same for every example), or a list or record of these, a beginning of the tree'

/** The axes as they were given, read once: each a whole number or null. */
const readAxes = (given: unknown, which: string, where: string): Axes => {
  const read = (x: unknown, path: string, depth: number): Axes => {
    if (x === null || (typeof x === 'number' && Number.isSafeInteger(x))) return x
    if (typeof x !== 'object' || depth > MAX_DEPTH) return refuse(`${which}${at(path)} is ${shown(x)}.`, `${KINDS}.`, where)
    if (Array.isArray(x)) return Array.from(x, (y, i) => read(y, below(path, i), depth + 1))
    const record = recordOf(x as Readonly<Record<string, unknown>>, `${which}${at(path)}`, where)
    return Object.fromEntries(Object.entries(record).map(([k, y]) => [k, read(y, below(path, k), depth + 1)]))
  }
  return reading(`${where}: ${which}`, () => read(given, '', 0))
}
/** Does any part of a tree have an axis? */
const some = (axes: Axes): boolean =>
  typeof axes === 'number' || (axes !== null && (Array.isArray(axes) ? (axes as readonly Axes[]) : Object.values(axes)).some(some))

const axes: Kind<Axes, Axes> = kind((given = 0, what, where) => readAxes(given, what, where))
export const vmapOptions = { inAxes: axes, outAxes: axes } satisfies OptionsFor<
  signatures.VmapOptions<readonly unknown[], unknown, unknown, unknown>
>
export type VmapOptions = OptionsOf<typeof vmapOptions>
/** Options of vmap, checked once, when the transform is made. */
export const vmapAxes = (given: VmapOptions | undefined): { readonly inAxes: Axes; readonly outAxes: Axes } => {
  const read = readOptions(vmapOptions, given, 'vmap')
  return some(read.inAxes) ? read : refuse('inAxes maps no argument: it is null everywhere.', 'give the axis of at least one.')
}

const inWords = (axes: Axes): string =>
  typeof axes !== 'object' || axes === null
    ? shown(axes)
    : Array.isArray(axes)
      ? `a list of ${axes.length}`
      : `a record of ${Object.keys(axes).join(', ') || 'nothing'}`
const partInWords = (d: TreeDef): string =>
  d._tag === 'Tuple' ? `a list of ${d.items.length}` : d._tag === 'Record' ? `a record of ${d.keys.join(', ') || 'nothing'}` : 'one array'

/** The parts of axes along a structure: what has no leaves needs no axis. */
const partsWithLeaves = (d: Branch, axes: object): readonly unknown[] | undefined => {
  const keys = d._tag === 'Record' ? d.keys.filter((_, i) => leafCount(d.items[i]!) > 0) : []
  return d._tag === 'Record' && keys.every((k) => Object.hasOwn(axes, k)) && Object.keys(axes).every((k) => d.keys.includes(k))
    ? d.keys.map((k) => (Object.hasOwn(axes, k) ? (axes as Readonly<Record<string, unknown>>)[k] : null))
    : partsAlong(d, axes)
}
/** The axis of each leaf of a tree, by a beginning of that tree. `of` is what the tree belongs to. */
const axesAlong = (def: TreeDef, axes: Axes, which: string, of: string): readonly (number | null)[] => {
  const leaves: (number | null)[] = []
  const go = (d: TreeDef, x: Axes, path: string): void => {
    if (typeof x !== 'object' || x === null) {
      for (let n = leafCount(d); n > 0; n--) leaves.push(x)
      return
    }
    if (d._tag === 'Object') {
      go(d.items[0], x, path)
      return
    }
    const parts = hasParts(d) ? (partsWithLeaves(d, x) as readonly Axes[] | undefined) : undefined
    if (d._tag !== 'Leaf' && !hasParts(d)) return
    if (d._tag === 'Leaf' || parts === undefined) {
      refuse(`${which}${at(path)} is ${inWords(x)}; the ${of} there is ${partInWords(d)}.`, `${KINDS} of ${of}s.`)
      return
    }
    d.items.forEach((item, i) => {
      go(item, parts[i]!, pathIn(d, i, path))
    })
  }
  go(def, axes, '')
  return leaves
}

/** The arguments' tree as `inAxes` and messages have it: an only argument stands for itself, unless axes are listed by argument. */
const only = (def: TreeDef): TreeDef => {
  const { items } = def as Extract<TreeDef, { _tag: 'Tuple' }>
  return items.length === 1 ? items[0]! : def
}
const argumentAxes = (def: TreeDef, inAxes: Axes): readonly (number | null)[] => {
  const { items } = def as Extract<TreeDef, { _tag: 'Tuple' }>
  needsArguments(items.length, 'vmap')
  const listed = Array.isArray(inAxes)
  const several = items.length !== 1
  if (typeof inAxes === 'object' && inAxes !== null && (listed ? inAxes.length !== items.length : several))
    refuse(
      `inAxes is ${listed ? shown(inAxes) : inWords(inAxes)} for ${items.length} argument${several ? 's' : ''}.`,
      `give a list with one entry for each argument${several ? '' : '; of an only one that is a list itself, [[0, null]]'}.`,
    )
  return axesAlong(listed ? def : only(def), inAxes, 'inAxes', 'argument')
}
/** What a leaf of the arguments is called. */
const placesOf = (def: TreeDef): readonly string[] =>
  leafPaths(only(def)).map((p) => (p === '' ? 'the argument' : only(def) === def ? `argument ${p}` : p))

/** An `inAxes` with null at one leaf: what would map the others. */
const without = (def: TreeDef, axes: readonly (number | null)[], leaf: number): string => {
  let next = 0
  const go = (d: TreeDef): string => {
    const mine = axes.slice(next, next + leafCount(d)).map((a, i) => (next + i === leaf ? null : a))
    if (mine.every((a) => a === mine[0])) {
      next += mine.length
      return String(mine[0] ?? null)
    }
    if (d._tag === 'Object') return go(d.items[0])
    const { items } = d as Branch
    return d._tag === 'Record' ? `{ ${d.keys.map((k, i) => `${k}: ${go(items[i]!)}`).join(', ')} }` : `[${items.map(go).join(', ')}]`
  }
  const { items } = def as Extract<TreeDef, { _tag: 'Tuple' }>
  const written = items.length === 1 && items[0]!._tag === 'Record' ? go(items[0]!) : `[${items.map(go).join(', ')}]`
  return written.length < 100 && axes.some((a, i) => a !== null && i !== leaf)
    ? `what is the same for every example has the axis null: vmap(f, { inAxes: ${written} }).`
    : 'what is mapped has an entry for each example; what is the same for all has the axis null in inAxes, or is captured.'
}

/** How the arguments of one call are mapped. */
export interface MappedArguments {
  /** The mapped axis of each leaf, counted from the front. */
  readonly axes: readonly (number | null)[]
  /** How many examples there are. */
  readonly size: number
}
/** Holds arguments against `inAxes`: every axis is there, and all have one size. */
export const mappedArguments = (def: TreeDef, nodes: readonly Node[], inAxes: Axes): MappedArguments => {
  const given = argumentAxes(def, inAxes)
  const places = placesOf(def)
  const clash = (leaves: readonly number[], reason: string): never =>
    badShape(
      'vmap',
      leaves.map((i) => nodes[i]!.shape),
      reason,
      without(def, given, leaves.at(-1)!),
    )
  const axes = given.map((axis, i) => {
    if (axis === null) return null
    const { aval, shape } = nodes[i]!
    return normalizeAxis(axis, shape.length) ?? clash([i], `${places[i]} is ${showAval(aval)}: it has no axis ${axis} to map.`)
  })
  const first = axes.findIndex((axis) => axis !== null)
  if (first < 0) return refuse('no argument is mapped: there is no leaf with an axis.', 'give the axis of at least one in inAxes.')
  const sizeAt = (i: number): number => nodes[i]!.shape[axes[i]!]!
  const examples = (i: number): string => `${sizeAt(i)} example${sizeAt(i) === 1 ? '' : 's'} (${showAval(nodes[i]!.aval)}, axis ${axes[i]})`
  axes.forEach((axis, i) => {
    if (axis !== null && sizeAt(i) !== sizeAt(first))
      clash([first, i], `the mapped axes differ: ${places[first]} has ${examples(first)}, ${places[i]} ${examples(i)}.`)
  })
  return { axes, size: sizeAt(first) }
}

const removed = <X>(xs: readonly X[], i: number): readonly X[] => [...xs.slice(0, i), ...xs.slice(i + 1)]
const inserted = <X>(xs: readonly X[], i: number, x: X): readonly X[] => [...xs.slice(0, i), x, ...xs.slice(i)]

/** The aval of one example. */
export const unbatched = (a: Aval, axis: number): Aval => aval(removed(a.shape, axis), a.dtype)
/** x with an axis brought in front. */
export const inFront = (x: Node, axis: number): Node => transposeNode(x, [axis, ...removed(range(x.shape.length), axis)])
/** x with its leading axis brought to another place. */
const broughtTo = (x: Node, axis: number): Node => transposeNode(x, inserted(range(x.shape.length).slice(1), axis, 0))

/** A result over all examples, with the leading axis where it depends on them (`wide`). */
interface Result {
  readonly node: Node
  readonly wide: boolean
}
/** Results with the mapped axis where `outAxes` says; `spread` gives the axis to what does not depend on it. */
export const placed = (def: TreeDef, results: readonly Result[], outAxes: Axes, spread: (r: Result) => Node): Node[] => {
  const axes = axesAlong(def, outAxes, 'outAxes', 'result')
  const place = (i: number): string => {
    const path = leafPaths(def)[i]!
    return path === '' ? 'the result' : `the result at ${path}`
  }
  return results.map((r, i) => {
    const given = axes[i]!
    if (given === null)
      return r.wide
        ? refuse(`outAxes is null at ${place(i)}, which differs from example to example.`, 'give it an axis, 0 for the leading one.')
        : r.node
    const one = r.wide ? r.node.shape.slice(1) : r.node.shape
    const axis =
      normalizeAxis(given, one.length + 1) ??
      refuse(
        `outAxes is ${given} at ${place(i)}, ${showShape(one)} for one example.`,
        `with the mapped axis it has the axes ${-one.length - 1} to ${one.length}.`,
      )
    return broughtTo(spread(r), axis)
  })
}

/** A declaration with the mapped axes, under a name that is not used yet. */
export const batchedDeclaration = ({ def, specs }: NonNullable<Meta['declared']>, inAxes: Axes): NonNullable<Meta['declared']> => {
  const used = new Set(specs.flatMap((s) => s.shape))
  let name = 'vmap'
  while (used.has(name)) name += "'"
  const given = argumentAxes(def, inAxes)
  const places = placesOf(def)
  const batched = (s: Spec, i: number): Spec => {
    const axis = given[i]!
    if (axis === null) return s
    const rank = s.shape.length
    const where =
      normalizeAxis(axis, rank + 1) ??
      refuse(
        `inAxes is ${axis} at ${places[i]}, which is declared ${s.dtype} ${showShape(s.shape)}.`,
        `with the mapped axis it has the axes ${-rank - 1} to ${rank}.`,
      )
    return { ...s, shape: inserted(s.shape, where, name), fix: without(def, given, i) }
  }
  return { def, specs: specs.map(batched) }
}
