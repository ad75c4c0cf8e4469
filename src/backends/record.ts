/** Records: the words that a kernel is called with. A layout names its fields in order, once for what writes a record and what reads it. */

/** The words of a text. */
export type Words<S extends string> = S extends `${infer A} ${infer B}` ? A | Words<B> : S

export interface Layout<N extends string> {
  /** Where each field lies, in words. */
  readonly at: Readonly<Record<N, number>>
  /** Words of a record. */
  readonly words: number
  /** A value for each field, in the order of the record. */
  readonly of: <T>(values: Readonly<Record<N, T>>) => T[]
}

/** Fields of one word each, by their names. */
export const layout = <const S extends string>(...texts: readonly S[]): Layout<Words<S>> => {
  const names = texts.flatMap((text) => text.split(' ')) as Words<S>[]
  return {
    at: Object.fromEntries(names.map((name, i) => [name, i])) as Record<Words<S>, number>, // fromEntries forgets which keys it is given
    words: names.length,
    of: (values) => names.map((name) => values[name]),
  }
}
