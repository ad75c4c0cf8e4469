/** Arguments by their shapes: numbers that no kernel finds special. */
import { badInput } from '../../core/errors/explain.js'
import { arrayConstructor } from '../../core/graph/ndarray.js'
import { sizeOf } from '../../core/graph/shape.js'
import { isSpec, type Spec } from '../../core/graph/spec.js'
import { Tensor } from '../../core/graph/tensor.js'
import { flatten, isLeaf, unflatten } from '../../core/graph/tree.js'

/** Floats between 0 and 1, and zeros of what counts or is true. */
const made = ({ shape, dtype }: Spec, where: string): Tensor => {
  const sizes = shape.map((d) =>
    typeof d === 'number' ? d : badInput(where, `the size of '${d}' is not known.`, 'give a number in its place.'),
  )
  const data = new (arrayConstructor(dtype))(sizeOf(sizes))
  if (dtype === 'f32' || dtype === 'f64') for (let i = 0; i < data.length; i++) data[i] = 0.5 + 0.4 * Math.sin(i)
  return new Tensor(sizes, dtype, data as Float64Array)
}
/** A tree with arrays in the place of specs. */
export const filled = (tree: unknown, where: string): unknown => {
  const { leaves, def } = flatten(tree, where, (x) => isSpec(x) || isLeaf(x))
  return unflatten(
    def,
    leaves.map((x) => (isSpec(x) ? made(x, where) : x)),
  )
}
