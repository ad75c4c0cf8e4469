/** Signs of vectors that are unique but for it: the component that is largest in size, the first of equals, is positive. */
export const flips = (v: Float64Array, at: number, n: number): boolean => {
  let most = 0
  let size = -1
  for (let i = 0; i < n; i++) {
    const x = Math.abs(v[at + i]!)
    // Components that are equal to four digits count as equal, so that it is the first of them whatever rounds them.
    if (x > size * 1.0001) {
      size = x
      most = i
    }
  }
  return n > 0 && v[at + most]! < 0
}
/** x and y, rotated: x' = c x + s y, y' = c y - s x, for rows of a matrix. */
export const rotate = (v: Float64Array, x: number, y: number, n: number, c: number, s: number): void => {
  for (let k = 0; k < n; k++) {
    const p = v[x + k]!
    const q = v[y + k]!
    v[x + k] = c * p + s * q
    v[y + k] = c * q - s * p
  }
}
/** A power of two near a largest size, or 1: numbers over it have squares that neither overflow nor vanish, and scaling rounds nothing. */
export const scaleOf = (size: number): number => (size > 0 ? 2 ** Math.max(-1070, Math.min(1023, Math.round(Math.log2(size)))) : 1)
/** The largest |x| of `count` numbers; NaN where one is not finite. */
export const largestOf = (a: ArrayLike<number>, at: number, count: number): number => {
  let most = 0
  for (let i = 0; i < count; i++) {
    const x = Math.abs(a[at + i]!)
    if (!(x < Number.POSITIVE_INFINITY)) return Number.NaN
    if (x > most) most = x
  }
  return most
}
/** The square root of x^2 + y^2. Math.hypot takes many times as long, and is asked only where squares would overflow or vanish. */
export const hypotenuse = (x: number, y: number): number => {
  const square = x * x + y * y
  return square > 2 ** -900 && square < Number.POSITIVE_INFINITY ? Math.sqrt(square) : Math.hypot(x, y)
}
/** Numbers 0 to n - 1 in ascending order of the keys at `keys`, equal ones in their own, go to `order`. */
export const sorted = (work: Float64Array, keys: number, order: number, n: number): void => {
  if (n > 32) {
    for (let i = 0; i < n; i++) work[order + i] = i
    work.subarray(order, order + n).sort((i, j) => work[keys + i]! - work[keys + j]! || i - j)
    return
  }
  for (let i = 0; i < n; i++) {
    const key = work[keys + i]!
    let at = order + i
    for (; at > order && work[keys + work[at - 1]!]! > key; at--) work[at] = work[at - 1]!
    work[at] = i
  }
}
/** Beside a matrix whose largest number is near 1, what is no larger counts as 0: rotations by numbers with few digits would be none. */
export const TINY = 2 ** -966
