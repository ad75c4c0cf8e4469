/** Trees of tensors as vectors: the VectorSpace instance, and Enzyme's Duplicated. */

import { numberOf, shown } from '../errors/check-arguments.js'
import { badDtype, badInput, badShape } from '../errors/explain.js'
import { typed } from '../graph/operation.js'
import { sameShape } from '../graph/shape.js'
import { NoTangent } from '../graph/tangent.js'
import { isTensor, type Tensor, zeroTensor } from '../graph/tensor.js'
import type { Duplicated, DuplicatedFn, TangentTensors } from '../types/signatures/run.js'
import type { TensorTree } from '../types/tree.js'
import { zipLeaves } from './trees.js'

/** Standard normal numbers come from a seed, or from a generator of numbers in [0, 1). */
export type RandomSource = number | (() => number)

/**
 * A vector space of trees: module laws over the numbers, and an inner product. Where a tree has no tangent space (NoTangent, integers,
 * booleans) a result has what the first tree has there.
 */
export interface VectorSpace {
  /** Zeros of the shapes and dtypes of x; NoTangent where x holds integers or booleans. */
  readonly zero: <T extends TensorTree<T>>(x: T) => TangentTensors<T>
  /** x + y. */
  readonly add: <T extends TensorTree<T>>(x: T, y: NoInfer<T | TangentTensors<T>>) => T
  /** acc + y, written into the arrays of acc; gives acc. */
  readonly addInto: <T extends TensorTree<T>>(acc: T, y: NoInfer<T | TangentTensors<T>>) => T
  /** c x. */
  readonly scale: <T extends TensorTree<T>>(c: number, x: T) => T
  /** a x + y, rounded once. */
  readonly axpy: <T extends TensorTree<T>>(a: number, x: NoInfer<T | TangentTensors<T>>, y: T) => T
  /** The sum of the products of all entries, in f64. */
  readonly dot: <T extends TensorTree<T>>(x: T, y: NoInfer<T>) => number
  /** sqrt(dot(x, x)), without overflow. */
  readonly norm: (x: TensorTree) => number
  /** Standard normal entries of the shapes and dtypes of x; equal seeds give equal trees. */
  readonly random: <T extends TensorTree<T>>(source: RandomSource, x: T) => TangentTensors<T>
}

const isVector = (t: Tensor): boolean => t.dtype === 'f64' || t.dtype === 'f32'
const tensorAt = (x: unknown, op: string, path: string): Tensor =>
  isTensor(x)
    ? x.intact(`${op}: ${path || 'argument'}`)
    : badInput(`${op}: ${path || 'argument'}`, 'is not a tensor.', 'make it one with tensor(data).')

/** f at the tensors of trees of one structure, shapes and dtypes; leaves without a tangent space go to `absent`. */
const zipTensors = (
  op: string,
  trees: readonly unknown[],
  f: (tensors: Tensor[]) => unknown,
  absent: (first: Tensor) => unknown = (first) => first,
): unknown =>
  zipLeaves(
    (leaves, path) => {
      const ts = leaves.map((x) => tensorAt(x, op, path))
      const first = ts[0]!
      for (const t of ts) {
        if (!sameShape(t.shape, first.shape))
          badShape(
            `${op}: ${path || 'argument'}`,
            ts.map((x) => x.shape),
            `shapes [${first.shape}] and [${t.shape}] differ.`,
            'vectors of one space have one shape; broadcast first.',
          )
        if (t.dtype !== first.dtype)
          badDtype(
            `${op}: ${path || 'argument'}`,
            ts.map((x) => x.dtype),
            'vectors of one space have one dtype',
            'cast one of them.',
          )
      }
      return isVector(first) ? f(ts) : absent(first)
    },
    trees,
    op,
  )

const like = (t: Tensor, entry: (i: number) => number): Tensor => {
  const out = zeroTensor(t.shape, t.dtype)
  for (let i = 0; i < out.data.length; i++) out.data[i] = entry(i)
  return out
}

/** Numbers in [0, 1) that follow from a seed (mulberry32). */
const uniformOf = (source: RandomSource): (() => number) => {
  if (typeof source === 'function') return source
  if (typeof source !== 'number')
    return badInput(
      'random',
      `${shown(source)} is not a source of random numbers.`,
      'give a seed, or a function that gives numbers in [0, 1).',
    )
  let s = source >>> 0
  return () => {
    s = (s + 0x6d2b79f5) >>> 0
    let t = Math.imul(s ^ (s >>> 15), s | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

const dotOf = (x: unknown, y: unknown, op: string): number => {
  let total = 0
  zipTensors(op, [x, y], ([a, b]) => {
    for (let i = 0; i < a!.data.length; i++) total += a!.data[i]! * b!.data[i]!
    return a
  })
  return total
}

const normOf = (x: unknown): number => {
  let largest = 0
  zipTensors('norm', [x], ([a]) => {
    for (const v of a!.data) largest = Math.max(largest, Math.abs(v))
    return a
  })
  if (largest === 0 || !Number.isFinite(largest)) return largest
  let total = 0
  zipTensors('norm', [x], ([a]) => {
    for (const v of a!.data) total += (v / largest) ** 2
    return a
  })
  return largest * Math.sqrt(total)
}

const untyped = {
  zero: (x: unknown) =>
    zipTensors(
      'zero',
      [x],
      ([t]) => zeroTensor(t!.shape, t!.dtype),
      () => NoTangent,
    ),
  add: (x: unknown, y: unknown) => zipTensors('add', [x, y], ([a, b]) => like(a!, (i) => a!.data[i]! + b!.data[i]!)),
  addInto: (acc: unknown, y: unknown) => {
    zipTensors('addInto', [acc, y], ([a, b]) => {
      for (let i = 0; i < a!.data.length; i++) a!.data[i]! += b!.data[i]!
      return a
    })
    return acc
  },
  scale: (c: number, x: unknown) => {
    numberOf(c, 'the factor', 'scale')
    return zipTensors('scale', [x], ([t]) => like(t!, (i) => c * t!.data[i]!))
  },
  axpy: (a: number, x: unknown, y: unknown) => {
    numberOf(a, 'the factor', 'axpy')
    return zipTensors('axpy', [y, x], ([v, u]) => like(v!, (i) => a * u!.data[i]! + v!.data[i]!))
  },
  dot: (x: unknown, y: unknown) => dotOf(x, y, 'dot'),
  norm: normOf,
  random: (source: RandomSource, x: unknown) => {
    const next = uniformOf(source)
    // Box and Muller 1958; 1 - u is never 0
    const normal = (): number => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
    return zipTensors(
      'random',
      [x],
      ([t]) => like(t!, normal),
      () => NoTangent,
    )
  },
}

/**
 * Trees of tensors as vectors: zero, add, addInto, scale, axpy, dot, norm, random.
 *
 * Integers and booleans have no tangent space: `zero` and `random` give NoTangent there, the others leave the first tree's leaf.
 * Errors  BadInput for trees that differ in structure, ShapeMismatch and DTypeMismatch with the leaf's path.
 * @example vectorSpace.axpy(-0.1, { w: tensor([1, 2]) }, { w: tensor([1, 1]) }).w   // [0.9, 0.8]
 */
export const vectorSpace = untyped as VectorSpace

/**
 * Parameters and zeroed buffers for their gradient, to accumulate micro-batches into (Enzyme's Duplicated).
 *
 * @example
 * const p = duplicated({ w: tensor([1, 2], [2]) })
 * const step = compile(grad(fn({ w: f64(2) }, ({ w }) => sum(mul(w, w))))).into(p.tangent, { accumulate: true })
 * step(p.primal)
 * p.tangent.w   // [2, 4]
 */
export const duplicated: DuplicatedFn = typed(
  (params: unknown): Duplicated<unknown, unknown> => ({ primal: params, tangent: untyped.zero(params) }),
)
