/** Concrete arrays as users hold them: owned, row-major, immutable in shape and dtype. */

import { dtypeOf } from '../errors/check-arguments.js'
import { badInput, badShape, showShape } from '../errors/explain.js'
import { meantArray } from '../errors/hints.js'
import { arrayInWords, brand, claimed, objectInWords, operationsOr, reading, refuseArray, refuseCoercion } from '../errors/language.js'
import type { DType } from '../types/dtype.js'
import type { TensorFn } from '../types/signatures/layout.js'
import { aval, shapeGiven } from './aval.js'
import { INPUT, isExpr, Node } from './expr.js'
import { allocate, type NDArray, type NestedNumbers, nestedOf, type TypedArray, toNested } from './ndarray.js'
import { numberFromJSON, numberToJSON } from './numbers.js'
import { typed } from './operation.js'
import { sizeOf } from './shape.js'
import { showElements } from './show-elements.js'

/** At most this many axes. */
const MAX_RANK = 32

/** The class behind the public face `Tensor<S, D>`. */
export class Tensor implements NDArray {
  declare readonly _tag: 'Tensor'
  #node: Node | undefined
  constructor(
    readonly shape: readonly number[],
    readonly dtype: DType,
    readonly data: TypedArray,
  ) {}
  /** Made by this copy of codual: nothing else has the private field, neither what JSON gives nor a Proxy, whose traps are not asked. */
  static is(x: unknown): x is Tensor {
    return typeof x === 'object' && x !== null && #node in x
  }
  /** Itself; raises where its elements are gone, and would be read as NaN. */
  intact(where: string): this {
    if (this.data.length !== sizeOf(this.shape)) gone(where, `a tensor of shape ${showShape(this.shape)} has ${this.data.length} elements`)
    return this
  }
  /** Nested JS numbers; a number for rank 0; booleans for bool. */
  toArray(): NestedNumbers {
    return toNested(this.intact('toArray'))
  }
  /** The only element: a number, a boolean for bool. */
  item(): number | boolean {
    this.intact('item')
    if (this.data.length !== 1) badInput('item', `the tensor has ${this.data.length} elements, not one.`, `use toArray() or data.`)
    return this.dtype === 'bool' ? this.data[0] !== 0 : this.data[0]!
  }
  /** The hidden input that reads this tensor at every call: one per tensor, shared by identity. */
  get node(): Node {
    this.#node ??= new Node(INPUT, aval(this.shape, this.dtype), null, [], { captured: this })
    return this.#node
  }
  toString(): string {
    if (this.data.length !== sizeOf(this.shape)) return `Tensor ${this.dtype} ${showShape(this.shape)} without its elements`
    const elements = showElements(this)
    // Rows of a matrix stand below each other, so below the head too.
    return `Tensor ${this.dtype} ${showShape(this.shape)}${elements.includes('\n') ? '\n' : ' '}${elements}`
  }
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString()
  }
  /** What JSON.stringify writes, to the bit: `tensor` and a codec read it. */
  toJSON(): TensorJSON {
    return { shape: this.shape, dtype: this.dtype, data: nestedJSON(this) }
  }
}
Object.defineProperty(Tensor.prototype, '_tag', { value: 'Tensor', enumerable: false })
brand(Tensor.prototype, 'tensor')
refuseCoercion(Tensor.prototype, 'a tensor', () => operationsOr('or x.item() and x.data, which are numbers'))
refuseArray(Tensor.prototype)

export const isTensor = Tensor.is

const gone = (where: string, what: string): never =>
  badInput(
    where,
    `${what}: its ArrayBuffer was transferred, detached or made smaller.`,
    'copy before the buffer is given away: tensor(x) or x.data.slice().',
  )
/** The same typed array; raises where it has lost its buffer. An array that is empty by right can be walked. */
export const intactArray = (x: TypedArray, where: string): TypedArray => {
  if (x.length === 0) {
    try {
      x.keys()
    } catch {
      gone(where, `a ${x.constructor.name} has no elements`)
    }
  }
  return x
}

/** A tensor as JSON has it. Numbers that JSON lacks (NaN, infinities, -0) are text; an empty tensor's data is []. */
export interface TensorJSON {
  readonly shape: readonly number[]
  readonly dtype: DType
  readonly data: unknown
}
/** The elements as nested arrays for JSON. */
export const nestedJSON = (x: Tensor): unknown =>
  x.intact('toJSON').data.length === 0 ? [] : nestedOf(x, (n) => (typeof n === 'number' ? numberToJSON(n) : n))

export const dtypeOfTypedArray = (x: unknown): DType | undefined =>
  x instanceof Float64Array
    ? 'f64'
    : x instanceof Float32Array
      ? 'f32'
      : x instanceof Int32Array
        ? 'i32'
        : x instanceof Uint8Array
          ? 'bool'
          : undefined

/** Raises unless an i32 holds the number: nothing is truncated or wrapped. `at` says which entry it is. */
export const int32 = (x: number, where: string, at: () => string): number =>
  x === (x | 0) ? x : badInput(where, `${at()} is ${x}, not a whole number that an i32 holds.`, 'round it, or use f32 or f64.')

/** Of a list of arrays where one array is wanted. */
const MAKE_ONE = 'stack([a, b]) makes one array of a list of arrays, concat([a, b]) joins them along an axis that they have.'
/** What an entry of nested arrays stands for. */
type Entry = (x: unknown) => unknown
/** Writes nested numbers into `out`; raises BadInput on ragged, sparse or non-numeric data, and on what an i32 does not hold. */
const fillNested = (x: unknown, shape: readonly number[], out: TypedArray, to: DType, where: string, entry?: Entry): void => {
  let at = 0
  const go = (given: unknown, depth: number): void => {
    const y = depth === shape.length && entry !== undefined ? entry(given) : given
    if (depth === shape.length) {
      if (typeof y !== 'number' && typeof y !== 'boolean')
        badInput(
          where,
          `expected a number at depth ${depth}, found ${describe(y)}.`,
          isExpr(y) || isTensor(y) ? MAKE_ONE : `arrays must be rectangular and hold numbers.`,
        )
      const n = Number(y)
      out[at] = to === 'i32' ? int32(n, where, () => `entry ${at}`) : to === 'bool' ? Number(n !== 0) : n
      at++
      return
    }
    if (!Array.isArray(y) || y.length !== shape[depth])
      return void badInput(
        where,
        `ragged array: expected ${shape[depth]} entries at depth ${depth}, found ${Array.isArray(y) ? y.length : describe(y)}.`,
        isExpr(y) || isTensor(y) ? MAKE_ONE : `arrays must be rectangular; shape wanted ${showShape(shape)}.`,
      )
    for (let i = 0; i < y.length; i++) {
      if (!(i in y)) badInput(where, `sparse array: entry ${i} at depth ${depth} is a hole.`, `fill every entry.`)
      go(y[i], depth + 1)
    }
  }
  go(x, 0)
}

/** A value in a few words; of what cannot be looked at, that. */
export const describe = (x: unknown): string => {
  try {
    return x === null
      ? 'null'
      : Array.isArray(x)
        ? `an array of ${x.length}`
        : typeof x === 'object'
          ? isTensor(x) || isExpr(x)
            ? (arrayInWords(x) ?? 'an object')
            : (claimed(x) ?? objectInWords(x))
          : typeof x === 'string'
            ? `'${x.slice(0, 20)}'`
            : typeof x === 'function'
              ? 'a function'
              : String(x)
  } catch {
    return 'an object that cannot be read'
  }
}

/** Shape of nested arrays, by their first entries. */
export const shapeOfNested = (x: unknown, where: string): number[] => {
  const shape: number[] = []
  let y = x
  while (Array.isArray(y)) {
    shape.push(y.length)
    if (shape.length > MAX_RANK)
      badInput(where, `arrays are nested deeper than ${MAX_RANK} levels (or contain themselves).`, 'pass a rectangular array of numbers.')
    if (y.length > 0 && !(0 in y)) badInput(where, 'sparse array: entry 0 is a hole.', `fill every entry.`)
    y = y[0]
  }
  return shape
}

/** Elements of a dtype from a typed array of another. */
const converted = (source: TypedArray, to: DType, where: string): TypedArray => {
  const out = allocate(to, source.length)
  if (to === 'bool') for (let i = 0; i < out.length; i++) out[i] = source[i] !== 0 ? 1 : 0
  else if (to === 'i32' && (source instanceof Float64Array || source instanceof Float32Array))
    for (let i = 0; i < out.length; i++) out[i] = int32(source[i]!, where, () => `entry ${i}`)
  else out.set(source as never)
  return out
}

const isTensorJSON = (x: unknown): x is TensorJSON =>
  typeof x === 'object' &&
  x !== null &&
  claimed(x) === undefined &&
  Object.hasOwn(x, 'shape') &&
  Object.hasOwn(x, 'dtype') &&
  Object.hasOwn(x, 'data')

const fromTensorJSON = (json: TensorJSON, shape: readonly number[] | undefined, dtype: DType | undefined, where: string): Tensor => {
  const own = aval(shapeGiven(json.shape, where), dtypeOf(json.dtype, where))
  const bad = (reason: string): never => badInput(where, reason, 'give what JSON.stringify wrote of a tensor.')
  // Straight into the elements: an array of numbers in between would make all NaN one.
  const entry: Entry = (x) =>
    typeof x === 'boolean' ? x : (numberFromJSON(x) ?? bad(`its data has ${describe(x)}, which is not a number.`))
  const { data } = json
  const typed = dtypeOfTypedArray(data)
  if (typed !== undefined) {
    // What structuredClone and postMessage make of a tensor: its fields, without its class.
    const elements = intactArray(data as TypedArray, where)
    if (typed !== own.dtype || elements.length !== own.size)
      badInput(
        where,
        `its data is a ${(data as TypedArray).constructor.name} of ${elements.length}, and it says ${own.dtype} ${showShape(own.shape)}.`,
        'give what structuredClone or postMessage made of a tensor.',
      )
    return made(elements, shape ?? own.shape, dtype ?? own.dtype, where)
  }
  if (Array.isArray(data) !== own.shape.length > 0) bad(`its data does not have the shape ${showShape(own.shape)}.`)
  shapeOfNested(data, where)
  const empty = own.size === 0 && (data as readonly unknown[]).flat(MAX_RANK).length === 0
  const read = made(empty ? [] : Array.isArray(data) ? data : entry(data), own.shape, own.dtype, where, entry)
  return shape === undefined && dtype === undefined ? read : made(read, shape, dtype, where)
}

const made = (data: unknown, shape: readonly number[] | undefined, dtype: DType | undefined, where: string, entry?: Entry): Tensor => {
  if (shape !== undefined) shapeGiven(shape, where)
  if (dtype !== undefined) dtypeOf(dtype, where)
  if (isTensor(data)) return made(data.intact(where).data, shape ?? data.shape, dtype ?? data.dtype, where)
  const typed = dtypeOfTypedArray(data)
  if (typed !== undefined) {
    const source = intactArray(data as TypedArray, where)
    const s = shape ?? [source.length]
    aval(s, typed)
    if (sizeOf(s) !== source.length)
      badShape(
        where,
        [[source.length], s],
        `${source.length} numbers do not fill ${showShape(s)} (${sizeOf(s)}).`,
        `pass data of that size, or another shape.`,
      )
    const to = dtype ?? typed
    return new Tensor(Object.freeze([...s]), to, converted(source, to, where))
  }
  if (isTensorJSON(data)) return fromTensorJSON(data, shape, dtype, where)
  if (typeof data !== 'number' && typeof data !== 'boolean' && !Array.isArray(data))
    badInput(
      where,
      `${describe(data)} is not a number, an array or a typed array.`,
      isExpr(data)
        ? 'an expression is an array already: use it as it is; evaluate(x) gives its numbers outside of a traced function.'
        : typeof data === 'object' || typeof data === 'function'
          ? meantArray(data)
          : `pass numbers, nested arrays or a typed array.`,
    )
  const nested = shapeOfNested(data, where)
  const flat = shape !== undefined && nested.length === 1 && shape.length !== 1
  const s = shape ?? nested
  const to: DType = dtype ?? (isBooleans(data) ? 'bool' : 'f64')
  aval(s, to)
  const clash = (reason: string, fix: string): never => badShape(where, [nested, s], reason, fix)
  const fill = shape !== undefined && typeof data === 'number'
  if (flat && nested[0] !== sizeOf(s))
    clash(`${nested[0]} numbers do not fill ${showShape(s)} (${sizeOf(s)}).`, 'pass data of that size, or another shape.')
  if (!flat && !fill && (nested.length !== s.length || nested.some((d, i) => d !== s[i])))
    clash(`got ${showShape(nested)}, wanted ${showShape(s)}.`, `pass ${showShape(s)}.`)
  const out = allocate(to, sizeOf(s))
  if (fill) out.fill(to === 'i32' ? int32(data, where, () => 'the value') : to === 'bool' ? Number(data !== 0) : data)
  else fillNested(data, flat ? nested : s, out, to, where, entry)
  return new Tensor(Object.freeze([...s]), to, out)
}

/**
 * A concrete array from numbers, nested arrays or a typed array; the data is copied. f64, or the typed array's dtype, unless given: as
 * tensor(data, dtype), or after a shape.
 *
 * It also takes a tensor that went through JSON.stringify and JSON.parse, structuredClone or postMessage: every number comes back, NaN and -0 included.
 * Errors  BadInput for ragged or non-numeric data, for invalid shapes and dtypes, and for numbers that an i32 cannot hold (fractions, NaN, 2^31); ShapeMismatch if
 *         the data does not fill the shape.
 * @example
 * tensor([1, 2, 3, 4], [2, 2], 'f32')   // Tensor f32 [2, 2] [[1, 2], [3, 4]]
 * tensor([[1, 2], [3, 4]], 'f32')   // Tensor f32 [2, 2] [[1, 2], [3, 4]]
 */
export const tensor: TensorFn = typed(
  (data: unknown, shape?: readonly number[] | DType, dtype?: DType): Tensor =>
    typeof shape === 'string' && dtype === undefined
      ? makeTensor(data, undefined, dtypeOf(shape, 'tensor'), 'tensor')
      : makeTensor(data, shape as readonly number[] | undefined, dtype, 'tensor'),
)
/** As `tensor`; errors name the operation `where`. */
export const makeTensor = (data: unknown, shape?: readonly number[], dtype?: DType, where = 'tensor'): Tensor =>
  reading(where, () => made(data, shape, dtype, where))

/** A boolean, or nested arrays of nothing else. */
export const isBooleans = (x: unknown): boolean => {
  let first = x
  for (let depth = 0; depth <= MAX_RANK && Array.isArray(first); depth++) first = first[0]
  const every = (y: unknown, depth: number): boolean =>
    Array.isArray(y) ? depth <= MAX_RANK && y.every((z) => every(z, depth + 1)) : typeof y === 'boolean'
  return typeof first === 'boolean' && every(x, 0)
}

/** Zero-filled tensor. */
export const zeroTensor = (shape: readonly number[], dtype: DType): Tensor => new Tensor(shape, dtype, allocate(dtype, sizeOf(shape)))
