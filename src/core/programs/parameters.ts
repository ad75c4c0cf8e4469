/** Parameters held against the codec of their primitive, one of codual's own or a type of io-ts: every place where they are not what it says. */
import type * as t from 'io-ts'
import type { Codec, ListCodec, RecordCodec } from '../graph/codec.js'
import { describe } from '../graph/tensor.js'

type Fields = Readonly<Record<string, unknown>>
const isRecord = (u: unknown): u is Fields => typeof u === 'object' && u !== null && !Array.isArray(u)
const field = (o: Fields, k: string): unknown => (Object.hasOwn(o, k) ? o[k] : undefined)
/** Is told of each mistake, with its path. */
type Report = (path: string, reason: string) => void

/** What types of io-ts are made of. */
interface IoTs {
  readonly _tag: string
  readonly props: object
  readonly type: Codec<unknown>
  readonly types: readonly Codec<unknown>[]
}
/** A type of io-ts, of this copy of it or another. */
const isIoTs = (c: Codec<unknown>): c is t.Type<unknown> => typeof (c as Partial<t.Type<unknown>>).decode === 'function'
/** The keys of a codec of records; undefined where it is another kind. Types of io-ts are told by their tags. */
export const keysOf = (c: Codec<unknown>): readonly string[] | undefined => {
  if ('fields' in c) return Object.keys((c as RecordCodec<unknown>).fields)
  const { _tag, props, type, types } = c as Partial<IoTs>
  if (_tag === 'InterfaceType' || _tag === 'PartialType') return Object.keys(props!)
  if (_tag === 'ReadonlyType' || _tag === 'RefinementType' || _tag === 'ExactType') return keysOf(type!)
  if (_tag !== 'IntersectionType') return undefined
  const parts = types!.map(keysOf)
  return parts.some((x) => x === undefined) ? undefined : parts.flatMap((x) => x ?? [])
}
/** Says of every place where a value is not what a codec of codual's own has there. */
const held = (report: Report, c: Codec<unknown>, u: unknown, path: string): void => {
  if ('fields' in c && isRecord(u)) {
    const { fields, optional } = c as RecordCodec<unknown>
    for (const [k, of] of Object.entries(fields))
      if (field(u, k) !== undefined || !optional.includes(k)) held(report, of, field(u, k), `${path}.${k}`)
  } else if ('item' in c && Array.isArray(u)) u.forEach((x, i) => void held(report, (c as ListCodec<unknown>).item, x, `${path}.${i}`))
  else if (!c.is(u)) report(path, `${describe(u)} is not ${c.name}`)
}

const decodedBy = (report: Report, codec: t.Type<unknown>, plain: unknown, path: string): unknown => {
  const read = codec.decode(plain)
  if (read._tag === 'Right') return read.right
  for (const e of read.left) {
    const keys = e.context.map((c) => c.key).filter((k) => k !== '' && !(/^\d+$/.test(k) && isIntersectionStep(e.context, k)))
    report(
      keys.length === 0 ? path : `${path}.${keys.join('.')}`,
      e.message ?? `${describe(e.value)} is not ${e.context.at(-1)?.type.name}`,
    )
  }
  return undefined
}
/** io-ts puts the number of an intersection's part into the context: it is no key of the value. */
const isIntersectionStep = (context: t.Context, key: string): boolean => {
  const i = context.findIndex((c) => c.key === key)
  return (context[i - 1]?.type as Partial<IoTs> | undefined)?._tag === 'IntersectionType'
}

/** The parameters that a codec reads from plain data; whatever it says where it reports a mistake. */
export const readParams = (report: Report, codec: Codec<unknown>, plain: unknown, path: string): unknown => {
  if (isIoTs(codec)) return decodedBy(report, codec, plain, path)
  held(report, codec, plain, path)
  return plain
}
