/** Concrete arrays as users hold them: owned, row-major, immutable in shape and dtype. */
import { aval, shapeGiven } from './aval.js'
import { raise } from './explain.js'
import { INPUT, Node } from './expr.js'
import { dtypeOf } from './given.js'
import { allocate, arrayConstructor, type NDArray, type NestedNumbers, type TypedArray, toNested } from './ndarray.js'
import { showShape, sizeOf } from './shape.js'
import type { DType } from './types/dtype.js'

/** The class behind the public face `Tensor<S, D>`. */
export class Tensor implements NDArray {
  declare readonly _tag: 'Tensor'
  #node: Node | undefined
  constructor(
    readonly shape: readonly number[],
    readonly dtype: DType,
    readonly data: TypedArray,
  ) {}
  /** Nested JS numbers; a number for rank 0; booleans for bool. */
  toArray(): NestedNumbers {
    return toNested(this)
  }
  /** The only element. */
  item(): number {
    if (this.data.length !== 1)
      raise({
        _tag: 'BadInput',
        where: 'item',
        reason: `the tensor has ${this.data.length} elements, not one.`,
        fix: `use toArray() or data.`,
      })
    return this.data[0]!
  }
  /** The hidden input that reads this tensor at every call: one per tensor, shared by identity. */
  get node(): Node {
    this.#node ??= new Node(INPUT, aval(this.shape, this.dtype), null, [], { captured: this })
    return this.#node
  }
  toString(): string {
    return `Tensor ${this.dtype} ${showShape(this.shape)} ${showData(this)}`
  }
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString()
  }
  toJSON(): { shape: readonly number[]; dtype: DType; data: NestedNumbers } {
    return { shape: this.shape, dtype: this.dtype, data: this.toArray() }
  }
}
Object.defineProperty(Tensor.prototype, '_tag', { value: 'Tensor', enumerable: false })

export const isTensor = (x: unknown): x is Tensor => typeof x === 'object' && x !== null && (x as { _tag?: unknown })._tag === 'Tensor'

const number = (x: number, dtype: DType): string =>
  dtype === 'bool' ? String(x !== 0) : Object.is(x, -0) ? '-0' : Number.isInteger(x) ? String(x) : String(Number(x.toPrecision(5)))

/** Row-major text with at most 6 entries shown along each axis. */
const showData = (a: NDArray): string => {
  const edge = 3
  const go = (depth: number, offset: number, size: number): string => {
    if (depth === a.shape.length) return number(a.data[offset]!, a.dtype)
    const n = a.shape[depth]!
    const inner = n === 0 ? 0 : size / n
    const part = (i: number): string => go(depth + 1, offset + i * inner, inner)
    const shown =
      n <= 2 * edge
        ? Array.from({ length: n }, (_, i) => part(i))
        : [...Array.from({ length: edge }, (_, i) => part(i)), '...', ...Array.from({ length: edge }, (_, i) => part(n - edge + i))]
    const nested = depth < a.shape.length - 1
    return nested ? `[${shown.join(`,\n${' '.repeat(depth + 1)}`)}]` : `[${shown.join(', ')}]`
  }
  return go(0, 0, a.data.length)
}

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

/** Writes nested numbers into `out`; raises BadInput on ragged, sparse or non-numeric data. */
export const fillNested = (x: unknown, shape: readonly number[], out: TypedArray, where: string): void => {
  let at = 0
  const go = (y: unknown, depth: number): void => {
    if (depth === shape.length) {
      if (typeof y !== 'number' && typeof y !== 'boolean')
        raise({
          _tag: 'BadInput',
          where,
          reason: `expected a number at depth ${depth}, found ${describe(y)}.`,
          fix: `arrays must be rectangular and hold numbers.`,
        })
      out[at++] = Number(y)
      return
    }
    if (!Array.isArray(y) || y.length !== shape[depth])
      return void raise({
        _tag: 'BadInput',
        where,
        reason: `ragged array: expected ${shape[depth]} entries at depth ${depth}, found ${Array.isArray(y) ? y.length : describe(y)}.`,
        fix: `arrays must be rectangular; shape wanted ${showShape(shape)}.`,
      })
    for (let i = 0; i < y.length; i++) {
      if (!(i in y))
        raise({ _tag: 'BadInput', where, reason: `sparse array: entry ${i} at depth ${depth} is a hole.`, fix: `fill every entry.` })
      go(y[i], depth + 1)
    }
  }
  go(x, 0)
}

export const describe = (x: unknown): string =>
  x === null
    ? 'null'
    : Array.isArray(x)
      ? `an array of ${x.length}`
      : typeof x === 'object'
        ? 'an object'
        : typeof x === 'string'
          ? `'${x.slice(0, 20)}'`
          : typeof x === 'function'
            ? 'a function'
            : String(x)

/** Shape of nested arrays, by their first entries. */
export const shapeOfNested = (x: unknown): number[] => {
  const shape: number[] = []
  let y = x
  while (Array.isArray(y)) {
    shape.push(y.length)
    if (shape.length > 32)
      raise({ _tag: 'BadInput', where: 'tensor', reason: 'arrays are nested deeper than 32 levels (or contain themselves).' })
    y = y[0]
  }
  return shape
}

/**
 * A concrete array from numbers, nested arrays or a typed array; the data is copied. f64, or the typed array's dtype, unless given.
 *
 * Errors  BadInput for ragged or non-numeric data and for what is no shape or dtype; ShapeMismatch where the data does not fill the shape.
 * @example tensor([1, 2, 3, 4], [2, 2], 'f32')   // Tensor f32 [2, 2] [[1, 2], [3, 4]]
 */
export const makeTensor = (data: unknown, shape?: readonly number[], dtype?: DType, where = 'tensor'): Tensor => {
  if (shape !== undefined) shapeGiven(shape, where)
  if (dtype !== undefined) dtypeOf(dtype, where)
  if (isTensor(data)) return makeTensor(data.data, shape ?? data.shape, dtype ?? data.dtype, where)
  const typed = dtypeOfTypedArray(data)
  if (typed !== undefined) {
    const source = data as TypedArray
    const s = shape ?? [source.length]
    aval(s, typed)
    if (sizeOf(s) !== source.length)
      raise({
        _tag: 'ShapeMismatch',
        op: where,
        shapes: [[source.length], s],
        reason: `${source.length} numbers do not fill ${showShape(s)} (${sizeOf(s)}).`,
        fix: `pass data of that size, or another shape.`,
      })
    const to = dtype ?? typed
    const out = allocate(to, source.length)
    if (to === 'bool') for (let i = 0; i < out.length; i++) out[i] = source[i] !== 0 ? 1 : 0
    else out.set(source as never)
    return new Tensor(Object.freeze([...s]), to, out)
  }
  if (typeof data !== 'number' && typeof data !== 'boolean' && !Array.isArray(data))
    raise({
      _tag: 'BadInput',
      where,
      reason: `${describe(data)} is not a number, an array or a typed array.`,
      fix: `pass numbers, nested arrays or a typed array.`,
    })
  const nested = shapeOfNested(data)
  const flat = shape !== undefined && nested.length === 1 && shape.length !== 1
  const s = shape ?? nested
  const to: DType = dtype ?? (isBooleans(data) ? 'bool' : 'f64')
  aval(s, to)
  const out = allocate(to, sizeOf(s))
  if (shape !== undefined && typeof data === 'number') out.fill(data)
  else if (flat) {
    if (nested[0] !== sizeOf(s))
      raise({
        _tag: 'ShapeMismatch',
        op: where,
        shapes: [nested, s],
        reason: `${nested[0]} numbers do not fill ${showShape(s)} (${sizeOf(s)}).`,
        fix: `pass data of that size, or another shape.`,
      })
    fillNested(data, nested, out, where)
  } else {
    if (nested.length !== s.length || nested.some((d, i) => d !== s[i]))
      raise({
        _tag: 'ShapeMismatch',
        op: where,
        shapes: [nested, s],
        reason: `got ${showShape(nested)}, wanted ${showShape(s)}.`,
        fix: `pass ${showShape(s)}.`,
      })
    fillNested(data, s, out, where)
  }
  if (to === 'bool') for (let i = 0; i < out.length; i++) out[i] = out[i] !== 0 ? 1 : 0
  return new Tensor(Object.freeze([...s]), to, out)
}

const isBooleans = (x: unknown): boolean => {
  let y = x
  while (Array.isArray(y)) y = y[0]
  return typeof y === 'boolean'
}

/** Zero-filled tensor. */
export const zeroTensor = (shape: readonly number[], dtype: DType): Tensor =>
  new Tensor(shape, dtype, new (arrayConstructor(dtype))(sizeOf(shape)))
