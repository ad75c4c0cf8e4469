/** Numbers as a reader sees them. */

/** A number in at most six significant digits; a whole number of at most fifteen digits has all of them. */
export const number = (x: number): string => {
  if (Object.is(x, -0)) return '-0'
  return Number.isInteger(x) && Math.abs(x) < 1e15 ? String(x) : String(Number(x.toPrecision(6)))
}
/** An element of an array, by its dtype. */
export const elementText = (x: number, dtype: string): string => (dtype === 'bool' ? String(x !== 0) : number(x))
/** 1,234,567. */
export const grouped = (n: number): string => (Number.isInteger(n) ? String(n).replace(/\B(?=(\d{3})+$)/g, ',') : number(n))
/** Bytes in the unit that a reader has a feeling for. */
export const bytes = (n: number): string =>
  n < 1e4 ? `${grouped(n)} B` : n < 1e7 ? `${number(Math.round(n / 100) / 10)} kB` : `${number(Math.round(n / 1e5) / 10)} MB`
