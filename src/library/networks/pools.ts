/** A maximum over windows that says where it was, and what puts values back there. */
import { badInput, badShape, showShape } from '../../core/errors/explain.js'
import { type OptionsOf, raw } from '../../core/errors/options.js'
import { sameShape } from '../../core/graph/shape.js'
import { add, mul } from '../../core/ops/arithmetic.js'
import { positions, table } from '../../core/ops/arrays.js'
import { full } from '../../core/ops/construct.js'
import { paddingOf, perAxis } from '../../core/ops/conv.js'
import { reshape, transpose } from '../../core/ops/layout/layout.js'
import { countsOf, maxPoolReads, windowsOver } from '../../core/ops/nn.js'
import { floats, indices, operation } from '../../core/ops/operation.js'
import { argmax } from '../../core/ops/reductions.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { Padding } from '../../core/types/shape-windows.js'
import type { MaxPoolWithIndicesFn, MaxUnpoolFn } from '../../core/types/signatures/windows.js'
import { gather, takeAlongAxis } from '../../families/indexing.js'
import { putAlongAxis } from '../arrays/choices.js'
import { positionsOf, sizesOf, taken } from './positions.js'

const product = (list: readonly number[]): number => list.reduce((n, d) => n * d, 1)
/** The places of all windows, as positions in the flattened axes: of each the outer, then the inner ones. */
const flatPlaces = (lists: readonly (readonly (readonly number[])[])[], size: readonly number[]): readonly number[] =>
  lists
    .reduce<readonly (readonly number[])[]>(
      (rows, axis, i) => rows.flatMap((row) => axis.map((places) => row.flatMap((p) => places.map((q) => p * size[i]! + q)))),
      [[0]],
    )
    .flat()

/**
 * `maxPool`, and where each maximum is: its position in the flattened axes after the second. NaN wins; among equal elements the first.
 *
 * Shapes  x: [n, c, ...positions] -> values and indices: [n, c, ...windows].   Dtype  x's, and i32 for the indices.   Source  PyTorch max_pool2d with return_indices.
 * Rule    xBar = valuesBar added at the indices.   Errors  as maxPool.
 * @example maxPoolWithIndices(tensor([[[1, 4, 3, 2]]]), { window: 2 })   // { values: [[[4, 3]]], indices: [[[1, 2]]] }
 */
export const maxPoolWithIndices: MaxPoolWithIndicesFn = operation('maxPoolWithIndices', { x: floats }, maxPoolReads, ({ x }, o, op) => {
  const size = positionsOf(x, op)
  const windows = windowsOver(x, o, op)
  const { window, stride, dilation, padding } = windows
  const count = countsOf(x, windows, op)
  // A place outside is its window's first inside, which changes no maximum.
  const places = count.map((m, i) =>
    Array.from({ length: m }, (_, j) => {
      const all = Array.from({ length: window[i]! }, (_, u) => j * stride[i]! - padding[2 * i]! + u * dilation[i]!)
      const first = all.find((p) => p >= 0 && p < size[i]!)!
      return all.map((p) => (p >= 0 && p < size[i]! ? p : first))
    }),
  )
  const wide = places.reduce((y: AnyExpr, list, i) => taken(y, 2 + 2 * i, list.flat(), [list.length, window[i]!]), x)
  const axes = count.map((_, i) => 2 + 2 * i)
  const [all, each] = [product(count), product(window)]
  const rows = reshape(transpose(wide, [0, 1, ...axes, ...axes.map((a) => a + 1)]), [...x.shape.slice(0, 2), all, each])
  const flat = table(flatPlaces(places, size), [all * each], 'i32')
  const at = gather(flat, add(mul(positions([all], 0), each), argmax(rows, { axis: -1 })) as never)
  const values = takeAlongAxis(reshape(x, [...x.shape.slice(0, 2), product(size)]), at as never, { axis: -1 })
  const shape = [...x.shape.slice(0, 2), ...count]
  return { values: reshape(values, shape), indices: reshape(at, shape) }
})

const unpoolOptions = {
  /** The positions of the result, along all axes or each. */
  size: raw<number | readonly number[]>(),
  /** The window of the pool, where the result is the smallest that it may have had. */
  window: raw<number | readonly number[]>(),
  /** Its stride: the window unless given. */
  stride: raw<number | readonly number[]>(),
  /** Its padding: none unless given. */
  padding: raw<Padding>(),
}
/** Options of `maxUnpool`: the size of the result, or the windows of the pool, whose smallest x it is. */
interface MaxUnpoolOptions extends OptionsOf<typeof unpoolOptions> {}
/**
 * Zeros with the elements of x at indices of the flattened positions: it puts what `maxPoolWithIndices` took back in its place. For a repeated index the last
 * value wins.
 *
 * The size is given, or follows from the windows of the pool: (n - 1) stride - pad + window.
 *
 * Shapes  x and indices: [n, c, ...windows], size: a number for all axes, or one for each -> [n, c, ...size].   Source  PyTorch max_unpool2d.
 * Dtype   x's; indices i32, negative from the end, clamped.   Rule  xBar = yBar at the indices, zero for overwritten elements.
 * Errors  ShapeMismatch unless the indices have x's shape, DTypeMismatch for indices that are not i32, BadInput without a size or a window.
 * @example maxUnpool(tensor([[[4, 3]]]), tensor([[[1, 2]]], 'i32'), { size: 4 })   // [[[0, 4, 3, 0]]]
 */
export const maxUnpool: MaxUnpoolFn<MaxUnpoolOptions> = operation(
  'maxUnpool',
  { x: floats, indices },
  unpoolOptions,
  ({ x, indices: at }, o, op) => {
    const count = positionsOf(x, op)
    if (!sameShape(x.shape, at.shape))
      badShape(op, [x.shape, at.shape], `x is ${showShape(x.shape)}, the indices are ${showShape(at.shape)}.`, 'give one for each element.')
    const axes = count.length
    if (o.size === undefined && o.window === undefined)
      badInput(
        op,
        'the size does not follow from x.',
        `give { size: ${axes === 1 ? '4' : `[${new Array(axes).fill(4).join(', ')}]`} }, or the window of the pool.`,
      )
    const windowSize = (): readonly number[] => {
      const window = perAxis(o.window, axes, 'window', op)
      const stride = o.stride === undefined ? window : perAxis(o.stride, axes, 'stride', op)
      if (o.padding === 'same') badInput(op, "padding is 'same'.", "give numbers, or 'valid'.")
      const padding = paddingOf(o.padding, count, window, stride, new Array<number>(axes).fill(1), op)
      return count.map((n, i) => (n - 1) * stride[i]! - padding[2 * i]! - padding[2 * i + 1]! + window[i]!)
    }
    const size = sizesOf(o.size ?? windowSize(), axes, op)
    const [batch, channels] = x.shape as readonly [number, number]
    const flat = (y: AnyExpr): AnyExpr => reshape(y, [batch, channels, product(count)])
    return reshape(putAlongAxis(full([batch, channels, product(size)], 0, x.dtype), flat(at) as never, flat(x)), [batch, channels, ...size])
  },
)
