/** Slots of a state whose arrays have shapes of their own: a number for each row of a matrix, for example. */
import { badInput } from '../core/errors/explain.js'
import { type AnyExpr, type DType, NoTangent, treeMap } from '../index.js'
import type { Leaves } from './leaves.js'
import { filled, isFloat, type Kind } from './state.js'
import type { Slot } from './transformation.js'

/** The shape of a slot beside a parameter of that shape. */
export type ShapeFor = (shape: readonly number[]) => readonly number[]
const known = (shape: readonly (number | string)[], place: string): readonly number[] =>
  shape.every((d) => typeof d === 'number')
    ? (shape as readonly number[])
    : badInput(
        place,
        `the axis '${shape.find((d) => typeof d === 'string')}' has no size, and so the state has none.`,
        'declare parameters by sizes.',
      )
/** A tree of zeros, of shapes that follow from the parameters'; NoTangent where they hold integers. */
const zerosOf = (params: unknown, kind: Kind, shapeFor: ShapeFor, op: string): unknown =>
  treeMap((x: unknown, path) => {
    const { shape, dtype } = x as { readonly shape: readonly (number | string)[]; readonly dtype: DType }
    return isFloat(x) ? filled(kind, shapeFor(known(shape, path === '' ? op : `${op}: ${path}`)), 0, dtype) : NoTangent
  }, params)
/** A slot's values, each of the shape that it has beside the gradient. */
const shapedAs = (all: Leaves, tree: unknown, shapeFor: ShapeFor, what: string, op: string): readonly AnyExpr[] =>
  all.beside(tree, what).map((x, i) => {
    const [g, path] = [all.leaves[i]!, all.paths[i]!]
    const want = shapeFor(g.shape)
    const fits = x !== undefined && x.dtype === g.dtype && x.shape.length === want.length && x.shape.every((d, k) => d === want[k])
    return fits
      ? x
      : badInput(
          path === '' ? op : `${op}: ${path}`,
          `${what} is not of a gradient [${g.shape.join(', ')}].`,
          'give what init gave, or the last update.',
        )
  })

/** A slot of zeros, of a shape that follows from the parameter's. */
export const shapedBy = (shapeFor: ShapeFor): Slot => ({
  begin: (params, kind, op) => zerosOf(params, kind, shapeFor, op),
  read: (all, tree, what, op) => shapedAs(all, tree, shapeFor, what, op),
})
