/** Trees leaf by leaf: the leaves of a gradient, and beside each what other trees of its structure have there. */
import { badDtype, badInput, badShape, raise } from '../core/errors/explain.js'
import { type AnyExpr, type DType, isAdException, isExpr, isTensor, NoTangent, treeFlatten, treeMap, treeZip } from '../index.js'
import { isFloat } from './state.js'

/** A tree's leaves with their paths, and the way back. */
export interface Leaves {
  readonly leaves: readonly AnyExpr[]
  readonly paths: readonly string[]
  readonly put: (leaves: readonly unknown[]) => unknown
  /** What another tree of this structure has at each leaf; undefined where that is NoTangent. `what` is what it is called. */
  readonly beside: (tree: unknown, what: string) => readonly (AnyExpr | undefined)[]
}

/** Where an error is: an operation and a leaf. */
const placeOf = (op: string, path: string): string => (path === '' ? op : `${op}: ${path}`)
const shapeOf = (x: unknown): readonly number[] => (x as AnyExpr).shape
const shown = (x: unknown): string => `${(x as AnyExpr).dtype} [${shapeOf(x).join(', ')}]`

/** Raises where two leaves that belong together differ in shape or dtype: they would broadcast, or be promoted, in silence. */
export const alike = (a: AnyExpr, b: AnyExpr, op: string, path: string, what: string): void => {
  const shapes = [shapeOf(a), shapeOf(b)]
  const where = placeOf(op, path)
  if (shapes[0]!.length !== shapes[1]!.length || shapes[0]!.some((d, i) => d !== shapes[1]![i]))
    badShape(where, shapes, `${what} is ${shown(b)} beside ${shown(a)}.`, 'give trees that belong to the same parameters.')
  const dtypes: DType[] = [(a as AnyExpr).dtype, (b as AnyExpr).dtype]
  if (dtypes[0] !== dtypes[1]) badDtype(where, dtypes, `${what} is ${shown(b)} beside ${shown(a)}`, 'cast one of them.')
}

/** An error of a map over trees, told by the operation that asked for it. */
const told = <A>(op: string, what: string, f: () => A): A => {
  try {
    return f()
  } catch (e) {
    if (isAdException(e) && e.error._tag === 'BadInput' && e.error.where === 'treeZip')
      return raise({ ...e.error, where: op, reason: `${what}: ${e.error.reason}` })
    throw e
  }
}

/** A leaf that is an array. */
export const leafOf = (x: unknown, op: string, path: string): AnyExpr =>
  isExpr(x) || isTensor(x)
    ? (x as AnyExpr)
    : badInput(placeOf(op, path), 'is neither an expression nor a tensor.', 'make it a tensor: tensor(data).')

/** The leaves of a tree of expressions or tensors. */
export const leavesOf = (tree: unknown, op: string): Leaves => {
  const paths: string[] = []
  const leaves: AnyExpr[] = []
  const marks = treeMap((x: unknown, path) => {
    paths.push(path)
    return { _tag: 'Leaf', at: leaves.push(leafOf(x, op, path)) - 1 }
  }, tree)
  const beside = (other: unknown, what: string): readonly (AnyExpr | undefined)[] => {
    const found = new Array<AnyExpr | undefined>(leaves.length).fill(undefined)
    told(op, what, () =>
      treeZip(
        (mark: unknown, x: unknown) => {
          const { at } = mark as { readonly at: number }
          found[at] = leafOf(x, op, `${what} at ${paths[at]}`)
        },
        marks as unknown,
        other,
      ),
    )
    return found
  }
  return { leaves, paths, put: treeFlatten(marks as unknown)[1] as Leaves['put'], beside }
}

/** The leaves of a gradient: floats, integers have no gradient. */
export const gradientOf = (gradient: unknown, op: string): Leaves => {
  const all = leavesOf(gradient, op)
  all.leaves.forEach((g, i) => {
    if (!isFloat(g)) badDtype(placeOf(op, all.paths[i]!), [g.dtype], 'a gradient is a float, or NoTangent', 'give what grad gives.')
  })
  return all
}

/** A tree's leaves beside those of a gradient, each of its shape and dtype. */
export const fitting = (to: Leaves, tree: unknown, what: string, op: string): readonly AnyExpr[] =>
  to.beside(tree, what).map((x, i) => {
    if (x === undefined)
      return badInput(
        placeOf(op, to.paths[i]!),
        `${what} has NoTangent where the gradient has a leaf.`,
        'give trees that belong to the same parameters.',
      )
    alike(to.leaves[i]!, x, op, to.paths[i]!, what)
    return x
  })

/** The tree, NoTangent at integers. */
export const floatsOf = (tree: unknown): unknown => treeMap((x: unknown) => (isFloat(x) ? x : NoTangent), tree)
/** The first tree, with what the second has where that is not NoTangent. */
export const over = (tree: unknown, part: unknown): unknown => treeZip((_: unknown, x: unknown) => x, tree, part)
