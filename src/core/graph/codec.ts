/** How a primitive knows its parameters, and how what it ships says them. A `Type` of io-ts is a codec too: authors write theirs with either. */

/** What parameters are: a name for messages, and whether something is one. What comes from elsewhere (JSON) is held against it. */
export interface Codec<P> {
  readonly name: string
  readonly is: (u: unknown) => u is P
}
/** Of records: a codec for each field, of which those named may be missing. */
export interface RecordCodec<P> extends Codec<P> {
  readonly fields: Readonly<Record<string, Codec<unknown>>>
  readonly optional: readonly string[]
}
/** Of lists: a codec for each item. */
export interface ListCodec<X> extends Codec<readonly X[]> {
  readonly item: Codec<X>
}

export const codecOf = <P>(name: string, is: (u: unknown) => u is P): Codec<P> => ({ name, is })
const whole = (name: string, least: number): Codec<number> =>
  codecOf(name, (u): u is number => typeof u === 'number' && Number.isSafeInteger(u) && u >= least)
/** A whole number. */
export const int: Codec<number> = whole('a whole number', Number.MIN_SAFE_INTEGER)
/** A whole number from 0: an axis, a length, a count. */
export const natural: Codec<number> = whole('a whole number from 0', 0)
export const number: Codec<number> = codecOf('a number', (u): u is number => typeof u === 'number')
export const boolean: Codec<boolean> = codecOf('true or false', (u): u is boolean => typeof u === 'boolean')
export const oneOf = <const X extends string>(...all: readonly X[]): Codec<X> =>
  codecOf(all.map((x) => JSON.stringify(x)).join(' | '), (u): u is X => (all as readonly unknown[]).includes(u))

export const listOf = <X>(item: Codec<X>): ListCodec<X> => ({
  ...codecOf(`a list, each ${item.name}`, (u): u is readonly X[] => Array.isArray(u) && u.every(item.is)),
  item,
})
export const ints: ListCodec<number> = listOf(int)
export const naturals: ListCodec<number> = listOf(natural)

type Fields<P> = { readonly [K in keyof P]-?: Codec<Exclude<P[K], undefined>> }
type OptionalOf<P> = { [K in keyof P]-?: undefined extends P[K] ? K : never }[keyof P] & string
/** Parameters: a record with these fields, the optional ones named behind. */
export const record = <P extends object>(fields: Fields<P>, ...optional: readonly OptionalOf<P>[]): RecordCodec<P> => {
  const all = Object.entries(fields) as [string, Codec<unknown>][]
  const isOptional = (k: string): boolean => (optional as readonly string[]).includes(k)
  return {
    ...codecOf(`{ ${all.map(([k, c]) => `${k}${isOptional(k) ? '?' : ''}: ${c.name}`).join(', ')} }`, (u): u is P => {
      if (typeof u !== 'object' || u === null) return false
      const given = u as Readonly<Record<string, unknown>>
      return all.every(([k, c]) => (given[k] === undefined ? isOptional(k) : c.is(given[k])))
    }),
    fields: Object.fromEntries(all),
    optional,
  }
}
/** No parameters. */
export const nothing: Codec<Readonly<Record<never, never>>> = record({})
