/** The arguments of transforms: what `wrt` selects of them, and the tangents that go along with them. */

import { badInput, badShape, raise } from '../core/errors/explain.js'
import { calledAs } from '../core/errors/hints.js'
import { flag, type Kind, type OptionsFor, type OptionsOf, oneOf, or, refused } from '../core/errors/options.js'
import { type Meta, readArgs } from '../core/functions/function.js'
import { isFloat, showAval } from '../core/graph/aval.js'
import { castNode } from '../core/graph/cast.js'
import { asExpr, type Node } from '../core/graph/expr.js'
import { lift } from '../core/graph/lift.js'
import type { NDArray } from '../core/graph/ndarray.js'
import { liftList } from '../core/graph/program.js'
import { sizeOf } from '../core/graph/shape.js'
import type { Spec } from '../core/graph/spec.js'
import { NoTangent, type Tangent } from '../core/graph/tangent.js'
import { ABSENT, flatten, hasParts, leafCount, leafPaths, sameDef, selectPath, showDef, type TreeDef } from '../core/graph/tree.js'
import { beside } from '../core/graph/weak.js'
import type * as signatures from '../core/types/signatures/transforms.js'

export type WrtPath = string | number
export type Wrt = WrtPath | readonly WrtPath[] | undefined

const isPath = (x: unknown): x is WrtPath => typeof x === 'string' || Number.isSafeInteger(x)
/** A whole number from 1. */
export const fromOne = (most = Number.POSITIVE_INFINITY): Kind<number | undefined, number> =>
  or<number, undefined>(undefined, (given, what, where) =>
    Number.isSafeInteger(given) && (given as number) > 0 && (given as number) <= most
      ? (given as number)
      : refused(given, what, where, `give a whole number from 1${most < Number.POSITIVE_INFINITY ? ` to ${most}` : ''}.`),
  )
/** Options of transforms, checked once, when the transform is made. */
export const wrtOptions = {
  /** A path, an index or a list of them; what it names is looked up at the call. */
  wrt: or<Exclude<Wrt, undefined>, undefined>(undefined, (given, what, where) =>
    isPath(given) || (Array.isArray(given) && given.every(isPath))
      ? given
      : refused(given, what, where, "give a path such as 'params.w', the index of an argument, or an array of them."),
  ),
} satisfies OptionsFor<signatures.WrtOptions<readonly unknown[], unknown>>
export type WrtOptions = OptionsOf<typeof wrtOptions>
/** What is checked where it is used. */
const unread: Kind<unknown> = { read: (given) => given }
export const gradOptions = {
  ...wrtOptions,
  mode: oneOf('mixed', 'reverse', 'forward'),
  seed: unread,
  aux: flag(),
} satisfies OptionsFor<signatures.GradOptions<readonly unknown[], unknown, unknown>>
export type GradOptions = OptionsOf<typeof gradOptions>
/** `chunk` says how many rows of the basis run at once; all where it is not given. */
export const jacOptions = { ...wrtOptions, chunk: fromOne() } satisfies OptionsFor<signatures.JacOptions<readonly unknown[], unknown>>
export type JacOptions = OptionsOf<typeof jacOptions>

/** What wrt selects: leaves of the argument list, and the tree in which their gradients are given. */
export interface Selection {
  /** Positions among the leaves of all arguments. */
  readonly at: readonly number[]
  readonly def: TreeDef
}

/** Raises where a transform of a function was called without arguments: there is nothing to differentiate or to map. */
export const needsArguments = (count: number, op: string): void => {
  if (count === 0) badInput(op, 'the function was called without arguments.', 'give it at least one.')
}

/** Has it a rest parameter? Then its arguments are a list, also where there is one: primals, (co)tangents and wrt are of the list. */
const hasRest = (m: Meta): boolean => m.declared === undefined && m.most?.() === Number.POSITIVE_INFINITY

export const select = (m: Meta, def: TreeDef, wrt: Wrt, op: string): Selection => {
  const items = (def as Extract<TreeDef, { _tag: 'Tuple' }>).items
  needsArguments(items.length, op)
  const base = { start: 0, def: primalsDef(m, def) }
  const single = base.def !== def
  const one = (path: WrtPath): { readonly start: number; readonly def: TreeDef } => {
    const direct = selectPath(base.def, path)
    if (direct !== undefined) return direct
    if (single && Number(path) === 0) return base
    return badInput(
      op,
      `wrt '${path}' names nothing in ${showDef(base.def)}.`,
      base.def._tag === 'Leaf' ? 'the argument is one array: leave wrt out.' : `use one of ${leafPaths(base.def).slice(0, 6).join(', ')}.`,
    )
  }
  const span = (s: { readonly start: number; readonly def: TreeDef }): number[] =>
    Array.from({ length: leafCount(s.def) }, (_, i) => s.start + i)
  if (wrt === undefined) {
    const first = items[0]!
    return { at: span({ start: 0, def: first }), def: first }
  }
  if (Array.isArray(wrt)) {
    const parts = (wrt as readonly WrtPath[]).map((p) => ({ key: String(p), ...one(p) }))
    // Record keys are kept sorted, as everywhere in trees.
    parts.sort((a, b) => (a.key < b.key ? -1 : 1))
    return { at: parts.flatMap(span), def: { _tag: 'Record', keys: parts.map((p) => p.key), items: parts.map((p) => p.def) } }
  }
  const s = one(wrt as WrtPath)
  return { at: span(s), def: s.def }
}

/** The tree of `primals`, of that of an argument list, which is a tuple: one argument stands for itself. */
export const primalsDef = (m: Meta, def: TreeDef): TreeDef =>
  (def as Extract<TreeDef, { _tag: 'Tuple' }>).items.length === 1 && !hasRest(m) ? onlyItem(def) : def
const onlyItem = (def: TreeDef): TreeDef => (def as Extract<TreeDef, { _tag: 'Tuple' }>).items[0]!
/** What wrt selects; all arguments without it. */
export const chosen = (m: Meta, def: TreeDef, wrt: Wrt, op: string): Selection =>
  wrt === undefined ? { at: Array.from({ length: leafCount(def) }, (_, i) => i), def: primalsDef(m, def) } : select(m, def, wrt, op)
/**
 * Primals of a function as its argument list: of one parameter its argument; of several, or of a rest parameter, the list of them. With
 * defaults both may be meant, and an array would be taken for one of them in silence: an error.
 */
export const spread = (m: Meta, primals: unknown): readonly unknown[] => {
  const most = m.declared === undefined ? (m.most?.() ?? m.arity) : 1
  if (most <= 1 && m.arity === most) return [primals]
  const listed = Array.isArray(primals)
  // A list of one argument and an argument that is an array look the same.
  const rest = hasRest(m)
  if (m.arity <= 1 && !rest && !listed) return [primals]
  if (m.arity <= 1 && !rest)
    return badInput(
      m.name,
      'it has parameters with defaults: an array may be its first argument or the list of its arguments.',
      'write (x) => f(x), or (x, y) => f(x, y), or pass a tensor.',
    )
  if (!listed || primals.length < m.arity || primals.length > most)
    return badInput(
      m.name,
      `takes ${rest ? `${m.arity} or more` : most > m.arity ? `${m.arity} to ${most}` : m.arity} arguments; primals must be their tuple.`,
      'give an array with one entry for each argument.',
    )
  return primals
}
/** The primals that vary: those that `wrt` names, or all of them. */
export const varied = (
  m: Meta,
  list: readonly unknown[],
  wrt: Wrt,
  op: string,
): { readonly nodes: readonly Node[]; readonly def: TreeDef } => {
  const { nodes, def } = liftList(list, 'primals')
  const s = chosen(m, def, wrt, op)
  return { nodes: wrt === undefined ? nodes : activeLeaves(nodes, s, op, true), def: s.def }
}

/** Reads primals as m's own arguments; then tangents of those that vary (all of them, or the first for hvp), or a cotangent of anything. */
export const readPair =
  (m: Meta, op: string, wrt: Wrt, second: 'tangents' | 'cotangent'): NonNullable<Meta['read']> =>
  (args) => {
    const name = `${op}(${m.name})`
    if (args.length !== 2)
      return badInput(
        name,
        `takes 2 arguments, got ${args.length}.`,
        `the point, then ${second === 'cotangent' ? 'a cotangent of the result' : 'a tangent of it'}: ${calledAs(op)}.`,
      )
    const p = readArgs(m, spread(m, args[0]))
    const s = op === 'hvp' ? select(m, p.def, wrt, op) : chosen(m, p.def, wrt, op)
    const t = readArgs(
      second === 'cotangent'
        ? { name, arity: 1, noun: 'the cotangent', body: () => undefined }
        : tangentMeta(
            name,
            s.def,
            s.at.map((i) => p.leaves[i]!),
          ),
      [args[1]],
    )
    return { leaves: [...p.leaves, ...t.leaves], def: { _tag: 'Tuple', items: [primalsDef(m, p.def), onlyItem(t.def)] } }
  }

/** A function of tangents of leaves in a tree, declared: of their shapes and dtypes, NoTangent where there is no tangent space. */
export const tangentMeta = (name: string, def: TreeDef, leaves: readonly (Node | NDArray)[]): Meta => {
  const floats = leaves.map((l) => isFloat(l.dtype))
  let at = 0
  const without = (d: TreeDef): TreeDef =>
    d._tag === 'Leaf' ? (floats[at++] ? d : ABSENT) : hasParts(d) ? ({ ...d, items: d.items.map(without) } as TreeDef) : d
  const specs = leaves.filter((_, i) => floats[i]).map((l): Spec => ({ _tag: 'Spec', shape: l.shape, dtype: l.dtype }))
  return { name, arity: 1, noun: 'the tangent', declared: { def: { _tag: 'Tuple', items: [without(def)] }, specs }, body: () => undefined }
}

export const activeLeaves = (leaves: readonly Node[], s: Selection, op: string, explicit: boolean): Node[] => {
  const chosen = s.at.map((i) => leaves[i]!)
  if (!chosen.some((n) => isFloat(n.dtype)))
    raise({
      _tag: 'NotDifferentiable',
      op,
      reason:
        chosen.length === 0
          ? explicit
            ? 'wrt selects no array.'
            : 'the first argument holds no array.'
          : `${explicit ? 'wrt selects' : 'the first argument has'} only ${[...new Set(chosen.map((n) => n.dtype))].join(' and ')} leaves.`,
    })
  return chosen
}

/** What a transform pushes or pulls, and what it belongs to, as messages call them. */
interface Words {
  readonly one: string
  readonly many: string
  readonly of: string
  readonly ofs: string
}
const TANGENT: Words = { one: 'the tangent', many: 'tangents', of: 'the primal', ofs: 'primals' }
const COTANGENT: Words = { one: 'the cotangent', many: 'cotangents', of: 'the result', ofs: 'results' }

/**
 * Tangents of the primals' leaves: same tree; NoTangent (or nothing) where there is no tangent space. `where` is the transform with its
 * function. `anyFloat`: of another float dtype too.
 */
const tangentLeaves = (
  p: { readonly nodes: readonly Node[]; readonly def: TreeDef },
  tangents: unknown,
  where: string,
  anyFloat = false,
  words = TANGENT,
): (Node | undefined)[] => {
  const got = flatten(tangents, `${where}: ${words.many}`)
  const floats = p.nodes.filter((n) => isFloat(n.dtype)).length
  const full = sameDef(got.def, p.def)
  if (!full && leafCount(got.def) !== floats)
    badInput(
      where,
      `${words.many} are ${showDef(got.def)}, ${words.ofs} ${showDef(p.def)}.`,
      `give ${words.many} in the tree of the ${words.ofs} (NoTangent at integers).`,
    )
  const paths = leafPaths(p.def)
  let k = 0
  return p.nodes.map((x, i) => {
    if (!isFloat(x.dtype)) return undefined
    const leaf = full ? got.leaves[i] : got.leaves[k++]
    const path = paths[i]
    const given = beside(lift(leaf, `${where}: ${words.one}${path === '' ? '' : ` at ${path}`}`, x.dtype), x.dtype)
    const d = anyFloat && isFloat(given.dtype) ? castNode(given, x.dtype) : given
    if (sizeOf(d.shape) !== x.aval.size || d.shape.join() !== x.shape.join() || d.dtype !== x.dtype)
      badShape(
        where,
        [d.shape, x.shape],
        `${words.one}${path === '' ? '' : ` at ${path}`} is ${showAval(d.aval)}, ${words.of} ${showAval(x.aval)}.`,
        `${words.many} have the shape and dtype of the ${words.ofs}.`,
      )
    return d
  })
}
/** The tangents as seeds of forward mode. */
export const tangentSeeds = (
  p: { readonly nodes: readonly Node[]; readonly def: TreeDef },
  tangents: unknown,
  where: string,
): ReadonlyMap<Node, Node> =>
  new Map(tangentLeaves(p, tangents, where).flatMap((d, i) => (d === undefined ? [] : [[p.nodes[i]!, d] as const])))
export const cotangentLeaves = (out: { readonly nodes: readonly Node[]; readonly def: TreeDef }, yBar: unknown, where: string): Tangent[] =>
  tangentLeaves(out, yBar, where, true, COTANGENT).map((d) => (d === undefined ? NoTangent : asExpr(d)))
