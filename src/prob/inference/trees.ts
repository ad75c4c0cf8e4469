/** Vectors as the trees that they stand for, written where they are returned. */
import { type AnyExpr, compile, evaluate, f64, fn, isTensor, type Tensor, tensor, treeMap, vmap, zeros } from '../../index.js'
import type { Target } from './density.js'

/** Vectors that become trees in one call: some that stay in a cache. */
export const ROWS = 512

type Elements = Float64Array | Float32Array | Int32Array | Uint8Array
/** An array that is written in place. Nothing is copied, and its memory is touched where it is written. */
export const blank = (shape: readonly number[], dtype: 'f64' | 'f32' | 'i32' | 'bool'): Tensor =>
  evaluate(zeros(shape as never, dtype) as AnyExpr) as unknown as Tensor
const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1)
/** The first rows of each part of an array: [parts, rows, ...]. */
export const firstRows = (x: Tensor, count: number): Tensor => {
  const [parts, rows, ...rest] = x.shape as readonly number[] as readonly [number, number, ...number[]]
  if (rows === count) return x
  const size = sizeOf(rest)
  const kept = (x.data as unknown as Elements).slice(0, parts * count * size)
  for (let k = 1; k < parts; k++)
    kept.set((x.data as unknown as Elements).subarray(k * rows * size, (k * rows + count) * size) as never, k * count * size)
  return tensor(kept as never, [parts, count, ...rest] as never, x.dtype as never) as unknown as Tensor
}

/** Trees whose leaves have the leading axes [parts, rows], some rows at a time. */
export interface Trees {
  /** Writes the trees of at most ROWS vectors, which lie one after the other, to the place of the at-th and those behind it. */
  readonly put: (vectors: Float64Array, at: number) => void
  /** The first rows of each part. */
  readonly first: (rows: number) => unknown
  readonly dispose: () => void
}
interface Compiled {
  (args: unknown): unknown
  readonly into: (outputs: unknown) => (args: unknown) => unknown
  readonly dispose: () => void
}
export const treesFor = ({ size: n, tree }: Target, parts: number, rows: number): Trees => {
  const most = Math.max(1, Math.min(rows, ROWS))
  const mapped = vmap(tree as never) as unknown as (x: AnyExpr) => unknown
  const compiled = compile(fn({ x: f64(most, n) }, ({ x }) => mapped(x as AnyExpr) as never)) as unknown as Compiled
  const x = tensor(new Float64Array(most * n), [most, n] as never)
  const some = compiled({ x })
  const next = compiled.into(some)
  const all = new Map<Tensor, Tensor>()
  const leaves = (f: (leaf: Tensor) => Tensor): unknown =>
    treeMap((leaf: unknown) => (isTensor(leaf) ? f(leaf as Tensor) : leaf), some as AnyExpr)
  leaves((leaf) => {
    all.set(leaf, blank([parts, rows, ...leaf.shape.slice(1)], leaf.dtype))
    return leaf
  })
  return {
    put: (vectors, at) => {
      ;(x.data as Float64Array).set(vectors)
      next({ x })
      const count = vectors.length / n
      for (const [leaf, whole] of all) {
        const data = leaf.data as unknown as Elements
        const size = data.length / most
        ;(whole.data as unknown as Elements).set(data.subarray(0, count * size) as never, at * size)
      }
    },
    first: (count) => leaves((leaf) => firstRows(all.get(leaf)!, count)),
    dispose: () => compiled.dispose(),
  }
}

/** Vectors, one after the other, as a tree whose leaves have the leading axes [1, rows]. */
export const treesOf = (target: Target, vectors: Float64Array): unknown => {
  const { size: n } = target
  const rows = vectors.length / n
  const trees = treesFor(target, 1, rows)
  try {
    for (let at = 0; at < rows; at += ROWS) trees.put(vectors.subarray(at * n, Math.min(at + ROWS, rows) * n), at)
    return trees.first(rows)
  } finally {
    trees.dispose()
  }
}
/** The tree of a vector. */
export const treeOf = ({ size: n, tree }: Target, vector: Float64Array): unknown => {
  const compiled = compile(fn({ x: f64(n) }, ({ x }) => tree(x as AnyExpr) as never)) as unknown as Compiled
  try {
    return compiled({ x: tensor(vector.slice()) })
  } finally {
    compiled.dispose()
  }
}
