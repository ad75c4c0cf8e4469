/** Run-time shapes: sizes, strides, broadcasting, axes. Plain functions over readonly number arrays. */

/** Largest number of elements a single array may have (2^31 - 1: what an int32 index reaches). */
export const MAX_SIZE = 2 ** 31 - 1

/** Product of the dimensions; 1 for rank 0. */
export const sizeOf = (shape: readonly number[]): number => {
  let n = 1
  for (let i = 0; i < shape.length; i++) n *= shape[i]!
  return n
}

export const sameShape = (a: readonly number[], b: readonly number[]): boolean => {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Row-major strides in elements. */
export const stridesOf = (shape: readonly number[]): number[] => {
  const strides = new Array<number>(shape.length)
  let n = 1
  for (let i = shape.length - 1; i >= 0; i--) {
    strides[i] = n
    n *= shape[i]!
  }
  return strides
}

/** Do elements of this shape lie one after the other, where they have these strides? */
export const contiguousIn = (shape: readonly number[], strides: readonly number[]): boolean => {
  for (let i = shape.length - 1, n = 1; i >= 0; n *= shape[i--]!) if (strides[i] !== n && shape[i] !== 1) return sizeOf(shape) === 0
  return true
}

/** NumPy broadcasting of two shapes, or undefined where they clash. */
export const broadcastShapes = (a: readonly number[], b: readonly number[]): readonly number[] | undefined => {
  if (sameShape(a, b)) return a
  const rank = Math.max(a.length, b.length)
  const out = new Array<number>(rank)
  for (let i = 0; i < rank; i++) {
    const x = a[a.length - rank + i] ?? 1
    const y = b[b.length - rank + i] ?? 1
    if (x !== y && x !== 1 && y !== 1) return undefined
    out[i] = x === 1 ? y : x
  }
  return out
}

/** Strides with which an array of `from` is read at the indices of `to` (0 along broadcast axes). */
export const broadcastStrides = (from: readonly number[], to: readonly number[], strides: readonly number[] = stridesOf(from)): number[] =>
  to.map((_, i) => {
    const j = i - (to.length - from.length)
    return j < 0 || from[j] === 1 ? 0 : strides[j]!
  })

/** Axis counted from the front; undefined when out of range or not an integer. */
export const normalizeAxis = (axis: number, rank: number): number | undefined =>
  Number.isInteger(axis) && axis >= -rank && axis < rank ? (axis < 0 ? axis + rank : axis) : undefined

/** The axes that are not in `axes`, in order. */
export const otherAxes = (rank: number, axes: readonly number[]): number[] => {
  const others: number[] = []
  for (let i = 0; i < rank; i++) if (!axes.includes(i)) others.push(i)
  return others
}

/** 0, 1, ..., n - 1. */
export const range = (n: number): number[] => {
  const all: number[] = []
  for (let i = 0; i < n; i++) all.push(i)
  return all
}

/** Calls f for each multi-index of `shape` in row-major order with the offsets that each list of strides gives. */
export const forEachIndex = (
  shape: readonly number[],
  strides: readonly (readonly number[])[],
  f: (offsets: Int32Array, flat: number) => void,
): void => {
  const n = sizeOf(shape)
  const rank = shape.length
  const k = strides.length
  const index = new Int32Array(rank)
  const offsets = new Int32Array(k)
  for (let flat = 0; flat < n; flat++) {
    f(offsets, flat)
    for (let d = rank - 1; d >= 0; d--) {
      index[d]!++
      for (let s = 0; s < k; s++) offsets[s]! += strides[s]![d]!
      if (index[d]! < shape[d]!) break
      for (let s = 0; s < k; s++) offsets[s]! -= strides[s]![d]! * shape[d]!
      index[d] = 0
    }
  }
}
