/** Records: the words that a kernel is called with. A layout names its fields in order, once for what writes a record and what reads it. */

export interface Layout<N extends string> {
  /** Where each field lies, in words. */
  readonly at: Readonly<Record<N, number>>
  /** Words of a record. */
  readonly words: number
  /** A value for each field, in the order of the record. */
  readonly of: <T>(values: Readonly<Record<N, T>>) => T[]
}

/** Fields of one word each. */
export const layout = <const N extends string>(...names: readonly N[]): Layout<N> => ({
  at: Object.fromEntries(names.map((name, i) => [name, i])) as Record<N, number>, // fromEntries forgets which keys it is given
  words: names.length,
  of: (values) => names.map((name) => values[name]),
})
