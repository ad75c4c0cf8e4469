/** What collectives are, as data, and what each means over the arrays of all ranks: the one place that says it. */
import type { NDArray, TypedArray } from '../core/graph/ndarray.js'

/** How `allReduce` combines the ranks' elements. */
export type ReduceOp = 'sum' | 'mean' | 'max'
/** One collective, apart from its arrays. `to[r]` is the rank that receives what rank r sends, -1 for none. */
export type Collective =
  | { readonly name: 'allReduce'; readonly op: ReduceOp }
  | { readonly name: 'broadcast' | 'reduceTo'; readonly root: number }
  | { readonly name: 'allGather' | 'reduceScatter' | 'allToAll'; readonly ranks: number }
  | { readonly name: 'sendRecv'; readonly to: readonly number[] }

/** What a rank does, in words: the ranks compare them before they exchange data. */
export const described = (c: Collective, x: NDArray): string => {
  const how = c.name === 'allReduce' ? ` (${c.op})` : 'root' in c ? ` (root ${c.root})` : 'to' in c ? ` (to ${c.to.join(', ')})` : ''
  return `${c.name}${how} of ${x.dtype}[${x.shape.join(', ')}]`
}

/** Parts of one length, added into the first by a tree that depends on their number alone: equal parts give equal bits wherever they are added. */
export const sumTree = (parts: readonly TypedArray[]): TypedArray => {
  for (let gap = 1; gap < parts.length; gap *= 2)
    for (let r = 0; r + gap < parts.length; r += 2 * gap) {
      const a = parts[r]!
      const b = parts[r + gap]!
      for (let i = 0; i < a.length; i++) a[i]! += b[i]!
    }
  return parts[0]!
}
/** The greatest elements, into the first part: NaN where one is NaN, and 0 above -0. */
const maxOf = (parts: readonly TypedArray[]): TypedArray => {
  const a = parts[0]!
  for (const b of parts.slice(1)) for (let i = 0; i < a.length; i++) a[i] = Math.max(a[i]!, b[i]!)
  return a
}
/** The ranks' parts combined, in the first one. */
export const combined = (op: ReduceOp, parts: readonly TypedArray[]): TypedArray => {
  if (op === 'max') return maxOf(parts)
  const a = sumTree(parts)
  if (op === 'mean' && parts.length > 1) for (let i = 0; i < a.length; i++) a[i]! /= parts.length
  return a
}

/** Part k of an array that is cut into `parts` of one length. */
const partOf = (x: TypedArray, k: number, parts: number): TypedArray => {
  const n = x.length / parts
  return x.subarray(k * n, (k + 1) * n)
}

/** Writes what each rank receives, where all ranks' arrays are at hand. */
export const overRanks = (c: Collective, xs: readonly TypedArray[], ys: readonly TypedArray[]): void => {
  const n = xs.length
  const put = (y: TypedArray, from: TypedArray, at = 0): void => {
    y.set(from as never, at)
  }
  switch (c.name) {
    case 'allReduce': {
      const y = combined(
        c.op,
        xs.map((x) => x.slice()),
      )
      for (const to of ys) put(to, y)
      return
    }
    case 'broadcast':
      for (const y of ys) put(y, xs[c.root]!)
      return
    case 'reduceTo':
      ys.forEach((y, r) => {
        if (r === c.root) put(y, sumTree(xs.map((x) => x.slice())))
        else y.fill(0)
      })
      return
    case 'allGather':
      for (const y of ys) for (const [r, x] of xs.entries()) put(y, x, r * x.length)
      return
    case 'reduceScatter':
      for (const [r, y] of ys.entries()) put(y, sumTree(xs.map((x) => partOf(x, r, n).slice())))
      return
    case 'allToAll':
      for (const [r, y] of ys.entries()) for (const [s, x] of xs.entries()) put(y, partOf(x, r, n), (s * x.length) / n)
      return
    case 'sendRecv':
      for (const y of ys) y.fill(0)
      c.to.forEach((to, from) => {
        if (to >= 0) put(ys[to]!, xs[from]!)
      })
  }
}
