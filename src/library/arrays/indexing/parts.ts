/**
 * A part of an array as steps from the whole to it: a slice, a window at computed places, a gather, another layout. Each can be read, and
 * written: then the steps before it are read, and the part goes back through them.
 */
import { badShape, showShape } from '../../../core/errors/explain.js'
import { broadcastShapes, broadcastStrides, forEachIndex, range, sameShape, sizeOf, stridesOf } from '../../../core/graph/shape.js'
import { tensor } from '../../../core/graph/tensor.js'
import { add, maximum, minimum, mul, where } from '../../../core/ops/arithmetic.js'
import { addedAtParts, arrayOf, atParts, foldedAt, literal, part, spreadOver, windowAdded } from '../../../core/ops/arrays.js'
import { lt } from '../../../core/ops/compare.js'
import type { FoldMode } from '../../../core/ops/indexing/fold.js'
import { concat } from '../../../core/ops/joins.js'
import { broadcastTo, flip, reshape, transpose } from '../../../core/ops/layout/layout.js'
import type { AxisPart } from '../../../core/ops/layout/slice.js'
import type { AnyExpr } from '../../../core/types/expr.js'
import { dynamicSlice, dynamicUpdateSlice, gather, scatterAdd, setAt } from '../../../families/indexing.js'
import { type AxisIndex, type Index, wholeOf } from './notation.js'

/** A step from an array to a part of it. */
interface Step {
  readonly read: (x: AnyExpr) => AnyExpr
  /** x with u in the place of the part. */
  readonly write: (x: AnyExpr, u: AnyExpr) => AnyExpr
  /** x with u added to the part; none where the step reads every element once. */
  readonly add?: (x: AnyExpr, u: AnyExpr) => AnyExpr
  /** x with u folded into the part; none where the step reads no element twice. */
  readonly fold?: (x: AnyExpr, u: AnyExpr, mode: FoldMode) => AnyExpr
}

// ---- the steps

const reshaped = (shape: readonly number[]): Step => ({
  read: (x) => reshape(x, shape),
  write: (x, u) => reshape(u, x.shape),
})
const permuted = (perm: readonly number[]): Step => ({
  read: (x) => transpose(x, perm),
  write: (_x, u) => transpose(u, perm.map((_, i) => perm.indexOf(i))), // biome-ignore format: one row
})
const gathered = (indices: AnyExpr, axis: number): Step => ({
  read: (x) => gather(x, indices, { axis }),
  write: (x, u) => setAt(x, indices, u, { axis }),
  add: (x, u) => scatterAdd(x, indices, u, { axis }),
  fold: (x, u, mode) => foldedAt(x, indices, u, mode, axis),
})
const windowed = (starts: AnyExpr, sizes: readonly number[]): Step => ({
  read: (x) => dynamicSlice(x, starts, sizes),
  write: (x, u) => dynamicUpdateSlice(x, u, starts),
  add: (x, u) => windowAdded(x, u, starts),
})
const sliced = (parts: readonly AxisPart[]): Step => ({
  read: (x) => atParts(x, parts),
  write: (x, u) => {
    if (isSmall(x, u) && parts.every((a) => a.stride === 1)) return dynamicUpdateSlice(x, u, parts.map((a) => a.start)) // biome-ignore format: one row
    return written(x, parts.map(ascending), flip(u, { axis: range(parts.length).filter((i) => parts[i]!.stride < 0) }), 0)
  },
  add: (x, u) => addedAtParts(x, u, parts),
})

/**
 * Is the part so small that a window is quicker, which is written in place where nobody else reads x? Joining copies all of x, but in the
 * loops of its neighbours. Measured for 32 writes in a row, one element each: 2 us a write against 14 in 65,536 elements, 1.5 against 0.9 in 4,096.
 */
const isSmall = (x: AnyExpr, u: AnyExpr): boolean => sizeOf(x.shape) >= 16_384 && sizeOf(u.shape) * 32 <= sizeOf(x.shape)
/** The same places read with a positive stride. */
const ascending = ({ start, size, stride }: AxisPart): AxisPart =>
  stride < 0 ? { start: start + (size - 1) * stride, size, stride: -stride } : { start, size, stride }
/** x with u at known places of the axes from `axis` on: joined with what is around it, or chosen between where the places are apart. */
const written = (x: AnyExpr, parts: readonly AxisPart[], u: AnyExpr, axis: number): AnyExpr => {
  if (axis === x.shape.length) return u
  const { start, size, stride } = parts[axis]!
  const length = x.shape[axis]!
  if (size === length) return written(x, parts, u, axis + 1)
  if (stride === 1 || size === 1) {
    const here = written(part(x, axis, start, size), parts, u, axis + 1)
    const end = start + size
    const before = start > 0 ? [part(x, axis, 0, start)] : []
    const after = end < length ? [part(x, axis, end, length - end)] : []
    return concat([...before, here, ...after], { axis })
  }
  const places = x.shape.map((d, i) => (i === axis ? parts[axis]! : wholeOf(d)))
  const here = written(atParts(x, places), parts, u, axis + 1)
  const isHere = spreadOver(x.shape, broadcastTo(literal(1, 'bool'), here.shape), places)
  return where(isHere, spreadOver(x.shape, here, places), x)
}

// ---- from indices to steps

const isAxis = (i: Index): i is AxisIndex => 'part' in i || 'at' in i
/** Known parts are one slice. Computed places are one window, which known starts may belong to. */
const basicSteps = (axes: readonly AxisIndex[], shape: readonly number[]): readonly Step[] => {
  const known = axes.map((i, k) => ('part' in i ? i.part : wholeOf(shape[k]!)))
  const slice = known.every((a, k) => a.size === shape[k] && a.stride === 1) ? [] : [sliced(known)]
  if (!axes.some((i) => i.kind === 'scalar')) return slice
  const sizes = axes.map((i, k) => (i.kind === 'scalar' ? 1 : known[k]!.size))
  const joined = known.every((a) => a.stride === 1 || a.size <= 1)
  const starts = axes.map((i, k) => (i.kind === 'scalar' ? i.at : literal(joined ? known[k]!.start : 0, 'i32')))
  return [...(joined ? [] : slice), windowed(concat(starts.map((s) => reshape(s, [1]))), sizes)]
}

type ArrayIndex = Extract<AxisIndex, { readonly at: AnyExpr }>
/** The places of several arrays along axes of these lengths as places along the axes merged: on the host where all are known. */
const mergedIndices = (arrays: readonly ArrayIndex[], lengths: readonly number[], shape: readonly number[]): AnyExpr => {
  const strides = stridesOf(lengths)
  const from = (i: number, n: number): number => (i < 0 ? i + n : i)
  if (arrays.every((a) => a.known !== undefined)) {
    const out = new Int32Array(sizeOf(shape))
    forEachIndex(
      shape,
      arrays.map((a) => broadcastStrides(a.at.shape, shape)),
      (o, flat) => {
        out[flat] = arrays.reduce((sum, a, k) => sum + from(a.known![o[k]!]!, lengths[k]!) * strides[k]!, 0)
      },
    )
    return arrayOf(tensor(out, shape, 'i32'), 'at')
  }
  const terms = arrays.map<AnyExpr>((a, k) => {
    const n = lengths[k]!
    return mul(minimum(maximum(where(lt(a.at, 0), add(a.at, n), a.at), 0), Math.max(n - 1, 0)), strides[k]!)
  })
  return broadcastTo(terms.reduce((a, b) => add(a, b)), shape) // biome-ignore format: one row
}
const common = (arrays: readonly ArrayIndex[], op: string): readonly number[] =>
  arrays
    .map((a) => a.at.shape)
    .reduce(
      (a, b) =>
        broadcastShapes(a, b) ??
        badShape(
          op,
          [a, b],
          `index arrays of shapes ${showShape(a)} and ${showShape(b)} do not broadcast together.`,
          'several arrays pick elements together, as in NumPy; for rows and columns apart give the first one a last axis of length 1.',
        ),
    )

/** Where the axes of arrays go among the others, as a place in the list of indices. */
const placeOf = (indices: readonly Index[], arrays: readonly ArrayIndex[]): number => {
  if (arrays.length === 0) return 0
  // Beside arrays, numbers and scalars are arrays of rank 0; with something else between two of them, the arrays' axes come first.
  const isPlace = (i: Index): boolean => i.kind === 'number' || 'at' in i
  const [first, last] = [indices.findIndex(isPlace), indices.findLastIndex(isPlace)]
  return indices.slice(first, last + 1).every(isPlace) ? first : 0
}
/** Of axes, in order, those of arrays are gathered together; their places, of this shape, stand before the other axes but for `before` of them. */
const gatherSteps = (
  axes: readonly AxisIndex[],
  lengths: readonly number[],
  arrays: readonly ArrayIndex[],
  shape: readonly number[],
  before: number,
): readonly Step[] => {
  const at = range(axes.length).filter((k) => axes[k]!.kind === 'array')
  const others = range(axes.length).filter((k) => axes[k]!.kind !== 'array')
  const axis = at[0]!
  const steps: Step[] = []
  if (at.length > 1) {
    const merged = at.map((k) => lengths[k]!)
    const sizes = others.map((k) => lengths[k]!)
    steps.push(permuted([...others.slice(0, axis), ...at, ...others.slice(axis)]))
    steps.push(reshaped([...sizes.slice(0, axis), sizeOf(merged), ...sizes.slice(axis)]))
    steps.push(gathered(mergedIndices(arrays, merged, shape), axis))
  } else steps.push(gathered(arrays[0]!.at, axis))
  const own = range(shape.length).map((k) => axis + k)
  const rest = range(others.length + shape.length).filter((k) => !own.includes(k))
  return [...steps, permuted([...rest.slice(0, before), ...own, ...rest.slice(before)])]
}

/** The steps from an array of this shape to what the indices name, by NumPy's rules. */
export const stepsOf = (indices: readonly Index[], shape: readonly number[], op: string): readonly Step[] => {
  const axes = indices.filter(isAxis)
  const lengths = axes.flatMap((i, k) => (i.kind === 'slice' ? [i.part.size] : i.kind === 'array' ? [shape[k]!] : []))
  const left = axes.filter((i) => i.kind === 'slice' || i.kind === 'array')
  const arrays = left.flatMap((i) => (i.kind === 'array' ? [i] : []))
  const kept = (list: readonly Index[]): readonly number[] => list.flatMap((i) => (i.kind === 'slice' ? [i.part.size] : []))
  const wide = (list: readonly Index[]): readonly number[] => list.flatMap((i) => (i.kind === 'new' ? [1] : kept([i])))
  if (arrays.length === 0) return [...basicSteps(axes, shape), reshaped(wide(indices))]
  const group = common(arrays, op)
  const place = placeOf(indices, arrays)
  return [
    ...basicSteps(axes, shape),
    reshaped(lengths),
    ...gatherSteps(left, lengths, arrays, group, kept(indices.slice(0, place)).length),
    reshaped([...wide(indices.slice(0, place)), ...group, ...wide(indices.slice(place))]),
  ]
}

// ---- reading and writing

/** The part of x that the steps lead to. */
export const readPart = (x: AnyExpr, steps: readonly Step[]): AnyExpr => steps.reduce((y, s) => s.read(y), x)

/** Values that go to places of this shape. */
export const valuesFor = (shape: readonly number[], u: AnyExpr, what: string, op: string): AnyExpr =>
  sameShape(broadcastShapes(u.shape, shape) ?? [-1], shape)
    ? broadcastTo(u, shape)
    : badShape(
        op,
        [shape, u.shape],
        `values of shape ${showShape(u.shape)} do not broadcast to ${what} ${showShape(shape)}.`,
        'axes must be 1 or equal, counted from the last.',
      )

/** How a part is written: replaced, added to, or folded with. */
export type Way = 'set' | 'add' | FoldMode
type Combine = (a: AnyExpr, b: AnyExpr) => AnyExpr
const combined = { add, max: maximum, min: minimum, mul } as const

/** x with its part made of u, which is given the part's shape. */
export const writePart = (x: AnyExpr, steps: readonly Step[], how: Way, update: (shape: readonly number[]) => AnyExpr): AnyExpr => {
  const wholes = [x]
  for (const s of steps) wholes.push(s.read(wholes[wholes.length - 1]!))
  const part = wholes.pop()!
  const u = update(part.shape)
  if (sizeOf(part.shape) === 0) return x
  // Only the innermost step that picks elements adds (or folds); those around it put back what it made.
  const picking = how === 'set' ? -1 : steps.findLastIndex((s) => (how === 'add' ? s.add : s.fold) !== undefined)
  const inner = how !== 'set' && picking < 0 ? (combined[how] as Combine)(part, u) : u
  const pick = (s: Step, whole: AnyExpr, v: AnyExpr): AnyExpr => (how === 'add' ? s.add!(whole, v) : s.fold!(whole, v, how as FoldMode))
  return steps.reduceRight((v, s, i) => (i === picking ? pick(s, wholes[i]!, v) : s.write(wholes[i]!, v)), inner)
}
