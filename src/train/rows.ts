/** A data set: a tree of arrays with one leading axis, whose entries are the rows. */
import { badInput } from '../core/errors/explain.js'
import { reading } from '../core/errors/language.js'
import { type DType, isAdException, isTensor, raise, type Shape, type Tensor, tensor, treeLeaves, treeMap } from '../index.js'
import { reasonOf } from './given.js'

/** The rank and the dtype of nested plain numbers. */
type Numeric<T, R extends number[] = []> = T extends number
  ? readonly [R, 'f64']
  : T extends boolean
    ? readonly [R, 'bool']
    : T extends readonly (infer E)[]
      ? Numeric<E, [...R, number]>
      : never
type Leading<S extends Shape, N extends number> = S extends readonly [unknown, ...infer R extends Shape] ? [N, ...R] : Shape
type OfNested<T, N extends number> = [Numeric<T>] extends [readonly [readonly [number, ...infer R extends number[]], infer D extends DType]]
  ? Tensor<[N, ...R], D>
  : never

/** The tree T with N rows at every leaf: dtypes and trailing axes stay. */
export type Batch<T, N extends number = number> =
  T extends Tensor<infer S, infer D>
    ? Tensor<Leading<S, N>, D>
    : T extends Float64Array
      ? Tensor<[N], 'f64'>
      : T extends Float32Array
        ? Tensor<[N], 'f32'>
        : T extends Int32Array
          ? Tensor<[N], 'i32'>
          : T extends Uint8Array
            ? Tensor<[N], 'bool'>
            : T extends { readonly _tag: 'NoTangent' }
              ? T
              : [Numeric<T>] extends [never]
                ? { -readonly [K in keyof T]: Batch<T[K], N> }
                : OfNested<T, N>

/** Rows of a data set, and its leaves as tensors. */
export interface Table {
  readonly rows: number
  /** The data set with a tensor at every leaf: its own where it has one. */
  readonly tree: unknown
}

const sizeOf = (shape: readonly number[]): number => shape.reduce((n, d) => n * d, 1)
const nameOf = (path: string): string => (path === '' ? 'the data' : path)

const column = (leaf: unknown, path: string, where: string): Tensor => {
  const at = `${where}: ${nameOf(path)}`
  if (leaf instanceof Uint8Array && leaf.some((x) => x > 1))
    return badInput(
      at,
      'a Uint8Array holds booleans, 0 and 1, and this one has other values.',
      'pass Int32Array.from(x) or Float32Array.from(x).',
    )
  try {
    const t = isTensor(leaf) ? leaf : (tensor(leaf as number[]) as Tensor)
    if (t.data.length !== sizeOf(t.shape)) return badInput(at, 'the tensor has lost its elements: its ArrayBuffer was transferred.')
    return t.shape.length > 0 ? t : badInput(at, 'a scalar has no rows.', 'every leaf needs a leading axis, one entry for each row.')
  } catch (e) {
    if (isAdException(e) && 'reason' in e.error)
      return raise({
        _tag: 'BadInput',
        where: at,
        reason: reasonOf(e),
        ...('fix' in e.error && e.error.fix !== undefined && { fix: e.error.fix }),
      })
    throw e
  }
}

/** Does a value consist of named values that are no arrays, as the rows of a table do? */
const isRecord = (x: unknown): boolean =>
  typeof x === 'object' &&
  x !== null &&
  !Array.isArray(x) &&
  !ArrayBuffer.isView(x) &&
  !isTensor(x) &&
  Object.keys(x).length > 0 &&
  Object.values(x).every((v) => typeof v !== 'object' || v === null)
/** A list of texts in a tree, as files of texts have columns: where it is, and how long. */
const textsIn = (x: unknown, path = ''): { readonly path: string; readonly length: number } | undefined => {
  if (typeof x !== 'object' || x === null || ArrayBuffer.isView(x) || isTensor(x)) return undefined
  if (Array.isArray(x)) {
    const first: unknown = Array.isArray(x[0]) ? x[0][0] : x[0]
    if (typeof first === 'string') return { path, length: x.length }
    if (typeof first === 'number' || typeof first === 'boolean') return undefined
  }
  for (const [name, part] of Object.entries(x)) {
    const found = textsIn(part, path === '' ? name : `${path}.${name}`)
    if (found !== undefined) return found
  }
  return undefined
}

/** The rows of a data set; raises where its leaves have none, or not equally many. */
export const tableOf = (data: unknown, where: string): Table => {
  if (reading(where, () => Array.isArray(data) && isRecord(data[0])))
    return badInput(
      where,
      'the data is a list of records, one for each row.',
      'give the columns: { x: rows.map((row) => [row.a, row.b]), y: rows.map((row) => row.c) }.',
    )
  let first: { readonly path: string; readonly rows: number } | undefined
  const tree = treeMap((leaf, path) => {
    const t = column(leaf, path, where)
    const rows = t.shape[0]!
    first ??= { path, rows }
    if (rows !== first.rows)
      raise({
        _tag: 'ShapeMismatch',
        op: where,
        shapes: [[first.rows], t.shape],
        reason: `${nameOf(first.path)} has ${first.rows} rows, ${nameOf(path)} has ${rows}.`,
        fix: 'the first axis of every leaf counts the rows of the data.',
      })
    return t
  }, data)
  const texts = reading(where, () => textsIn(data))
  if (texts !== undefined && (first === undefined || texts.length === first.rows))
    return badInput(
      `${where}: ${nameOf(texts.path)}`,
      'a list of texts.',
      'read them as numbers, x.map(Number); names of classes as the numbers of these, x.map((name) => classes.indexOf(name)).',
    )
  if (first === undefined)
    return badInput(where, 'the data has no array.', 'give a record of arrays whose first axis counts the rows: { x, y }.')
  return { rows: first.rows, tree }
}

const gatherInto = (out: Tensor, from: Tensor, at: Uint32Array): void => {
  const width = from.shape[0] === 0 ? 0 : from.data.length / from.shape[0]!
  // One element a row is copied by itself: a view of each would cost more than the copy.
  if (width === 1) for (let i = 0; i < at.length; i++) out.data[i] = from.data[at[i]!]!
  else for (let i = 0; i < at.length; i++) out.data.set(from.data.subarray(at[i]! * width, (at[i]! + 1) * width), i * width)
}

/** A tree whose leaves are known to be tensors. */
type Rows = { readonly [key: string]: Tensor }
/** A tree like the table's with room for `count` rows. */
export const roomFor = (table: Table, count: number): unknown =>
  treeMap((t) => tensor(0, [count, ...t.shape.slice(1)] as number[], t.dtype), table.tree as Rows)

/** The rows `at` of the table, in that order, written into `room`, which is given back. */
export const gather = (table: Table, at: Uint32Array, room: unknown): unknown => {
  const targets = treeLeaves(room as Rows)
  treeLeaves(table.tree as Rows).forEach((t, i) => {
    gatherInto(targets[i]!, t, at)
  })
  return room
}
