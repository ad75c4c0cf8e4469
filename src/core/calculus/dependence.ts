/**
 * Which elements of results depend on which elements of inputs, read off the expression: a set for each element, passed on by each primitive.
 * What is not known of a primitive is that each result depends on all of its arguments: a set may be too large, never too small.
 */
import { aval } from '../graph/aval.js'
import { evaluateNodes } from '../graph/evaluate.js'
import { expanded } from '../graph/expand.js'
import { capturedTensor, INPUT, input, linearize, type Node, resultAvals } from '../graph/expr.js'
import { emptyArray, type NDArray } from '../graph/ndarray.js'
import type { AnyPrimitive } from '../graph/primitive.js'
import { fold } from '../graph/rewrite.js'
import { broadcastStrides, forEachIndex, range, sameShape, sizeOf, stridesOf } from '../graph/shape.js'
import { eachReduced, type ReduceParams } from '../ops/reduce.js'
import type { IndexSets } from './index-sets.js'

/** The set of each element, row-major; undefined where none depends on anything. */
export type Sets = Int32Array | undefined

/** The sets of nodes, for those of some inputs. */
export const dependence = (outputs: readonly Node[], known: ReadonlyMap<Node, Int32Array>, sets: IndexSets): readonly Sets[] =>
  new Dependence(sets).of(outputs, known)

/** How a primitive passes sets on: for each result those of its elements, or undefined where this is not known here. */
type Passing = (n: Node, args: readonly Sets[], of: Dependence) => readonly Sets[] | undefined

class Dependence {
  private readonly values = new Map<Node, NDArray | undefined>()
  constructor(readonly sets: IndexSets) {}

  of(outputs: readonly Node[], known: ReadonlyMap<Node, Sets>): readonly Sets[] {
    return fold<{ readonly sets: Sets }>(outputs, {
      at: (n) => (known.has(n) ? { sets: known.get(n) } : undefined),
      leaf: () => ({ sets: undefined }),
      apply: (n, args) =>
        this.pass(
          n,
          args.map((a) => a.sets),
        ).map((s) => ({ sets: s })),
    }).map((a) => a.sets)
  }
  private pass(n: Node, args: readonly Sets[]): readonly Sets[] {
    const results = resultAvals(n)
    if (args.every((a) => a === undefined)) return results.map(() => undefined)
    const made = passing(n)?.(n, args, this) ?? (n.prim!.class === 'elementwise' && !n.prim!.multi ? elementwise(n, args, this) : undefined)
    if (made !== undefined) return made
    const every = this.sets.all(Int32Array.from(args.flatMap((a) => (a === undefined ? [] : [this.sets.all(a)]))))
    return results.map((y) => new Int32Array(y.size).fill(every))
  }
  /** The elements of an argument that depends on captured tensors and literals alone. */
  value(n: Node): NDArray | undefined {
    if (!this.values.has(n)) {
      const closed = linearize([n]).nodes.every((x) => x.kind !== INPUT || capturedTensor(x) !== undefined)
      this.values.set(n, closed ? evaluateNodes([n])[0] : undefined)
    }
    return this.values.get(n)
  }
  /** Unions into the elements of a result: element i of `ids` goes to `to[i]`. */
  gathered(size: number, to: Int32Array, ids: Int32Array, first?: Sets): Int32Array {
    const start = new Int32Array(size + 1)
    for (const t of to) start[t + 1]!++
    for (let i = 0; i < size; i++) start[i + 1]! += start[i]!
    const place = start.slice(0, size)
    const sorted = new Int32Array(ids.length)
    for (let i = 0; i < ids.length; i++) sorted[place[to[i]!]!++] = ids[i]!
    return Int32Array.from({ length: size }, (_, i) => {
      const all = this.sets.all(sorted, start[i]!, start[i + 1]!)
      return first === undefined ? all : this.sets.union(first[i]!, all)
    })
  }
  /** Element by element the union of two. */
  both(a: Sets, b: Sets): Sets {
    if (a === undefined || b === undefined) return a ?? b
    const out = new Int32Array(a.length)
    for (let i = 0; i < out.length; i++) out[i] = this.sets.union(a[i]!, b[i]!)
    return out
  }
}

const repeated = (ids: Sets, from: readonly number[], to: readonly number[]): Sets => {
  if (ids === undefined || sameShape(from, to)) return ids
  const out = new Int32Array(sizeOf(to))
  forEachIndex(to, [broadcastStrides(from, to)], (at, flat) => {
    out[flat] = ids[at[0]!]!
  })
  return out
}
const elementwise: Passing = (n, args, of) => [
  args.reduce<Sets>((sum, ids, i) => of.both(sum, repeated(ids, n.args[i]!.shape, n.shape)), undefined),
]
/** The meaning of a primitive that copies elements copies their sets; `ints` are the values of its other arguments. */
const moved = (prim: AnyPrimitive, n: Node, args: readonly (NDArray | undefined)[]): readonly Sets[] => {
  const outs = resultAvals(n).map((y) => emptyArray(aval(y.shape, 'i32')))
  prim.meaning(
    args.map((a, i) => a ?? emptyArray(aval(n.args[i]!.shape, 'i32'))),
    n.payload,
    outs,
  )
  return outs.map((o) => o.data as Int32Array)
}
const asArray = (ids: Sets, shape: readonly number[]): NDArray | undefined => ids && { shape, dtype: 'i32', data: ids }
const copied: Passing = (n, args) =>
  moved(
    n.prim!,
    n,
    args.map((ids, i) => asArray(ids, n.args[i]!.shape)),
  )
/** By the primitives that stand in its place. */
const written: Passing = (n, args, of) => {
  const us = n.args.map((a) => input(a.aval))
  // What an argument holds is known as before.
  const by = us.map((u, i) => (args[i] === undefined && of.value(n.args[i]!) !== undefined ? n.args[i]! : u))
  return of.of(expanded(n, by), new Map(by.map((u, i) => [u, args[i]])))
}
/** A copy of elements at places that another argument says; where that is not known, `otherwise`. */
const copiedAt =
  (places: number, otherwise: Passing = () => undefined): Passing =>
  (n, args, of) => {
    const at = of.value(n.args[places]!)
    if (at === undefined) return otherwise(n, args, of)
    return moved(
      n.prim!,
      n,
      args.map((ids, i) => (i === places ? at : asArray(ids, n.args[i]!.shape))),
    )
  }
/** At unknown places of one axis: each result depends on all along it. */
const anywhereAlong: Passing = (n, [ids], of) => {
  const [x, indices] = n.args as readonly [Node, Node]
  const { axis } = n.payload as { readonly axis: number }
  if (ids === undefined || x.aval.size === 0) return undefined
  const kept = x.shape.map((d, i) => (i === axis ? 1 : d))
  const all = repeated(reduced(of, x.shape, [axis], ids), kept, x.shape)
  const zeros = emptyArray(aval(indices.shape, 'i32'))
  return moved(n.prim!, n, [asArray(all, x.shape), zeros])
}
/** x + u at the places where `reader` reads u's elements of x. */
const addedAt =
  (reader: AnyPrimitive, places?: number): Passing =>
  (n, args, of) => {
    const at = places === undefined ? undefined : of.value(n.args[places]!)
    if (places !== undefined && at === undefined) return undefined
    const [x, u] = [n.args[0]!, n.args[n.args.length - 1]!]
    const part = args[args.length - 1]
    if (part === undefined) return [args[0]]
    const from = emptyArray(aval(x.shape, 'i32'))
    for (let i = 0; i < from.data.length; i++) from.data[i] = i
    const to = emptyArray(aval(u.shape, 'i32'))
    reader.meaning(at === undefined ? [from] : [from, at], n.payload, [to])
    return [of.gathered(x.aval.size, to.data as Int32Array, part, args[0])]
  }
const reduced = (of: Dependence, shape: readonly number[], axes: readonly number[], ids: Int32Array): Int32Array => {
  const to = new Int32Array(ids.length)
  eachReduced({ shape, dtype: 'i32', data: ids }, axes, (out, at) => {
    to[at] = out
  })
  const left = sizeOf(shape.filter((_, i) => !axes.includes(i)))
  return of.gathered(left, to, ids)
}
const folded: Passing = (n, [ids], of) => [ids && reduced(of, n.args[0]!.shape, (n.payload as ReduceParams).axes, ids)]
/** Each element depends on those before it along the axis. */
const running: Passing = (n, args, of) => {
  const { axis, reverse } = n.payload as { readonly axis: number; readonly reverse: boolean }
  const ids = args.reduce<Sets>((a, b) => of.both(a, b), undefined)
  if (ids === undefined) return undefined
  const [size, stride] = [n.shape[axis]!, stridesOf(n.shape)[axis]!]
  const out = ids.slice()
  for (let i = 0; i < out.length; i++) {
    const at = reverse ? out.length - 1 - i : i
    const k = Math.floor(at / stride) % size
    if (reverse ? k < size - 1 : k > 0) out[at] = of.sets.union(out[reverse ? at + stride : at - stride]!, out[at]!)
  }
  return [out]
}
/** Each element depends on all of its line along the axis, which may be longer or shorter in results. */
const inLines: Passing = (n, args, of) => {
  const { axis } = n.payload as { readonly axis: number }
  const { shape } = n.args[0]!
  const ids = args.reduce<Sets>((a, b) => of.both(a, b), undefined)
  const kept = shape.map((d, i) => (i === axis ? 1 : d))
  const all = ids && reduced(of, shape, [axis], ids)
  return resultAvals(n).map((y) => repeated(all, kept, y.shape))
}
/** Rows of a with columns of b. */
const product = (n: Node, a: Sets, b: Sets, of: Dependence, args: readonly Node[]): Sets => {
  const rank = n.shape.length
  const along = (x: Node, ids: Sets, axis: number): Sets => {
    if (ids === undefined) return undefined
    const k = x.shape.length - axis
    return repeated(
      reduced(of, x.shape, [k], ids),
      x.shape.map((d, i) => (i === k ? 1 : d)),
      n.shape,
    )
  }
  return rank < 2 ? undefined : of.both(along(args[0]!, a, 1), along(args[1]!, b, 2))
}

/** How sets pass through what a primitive declares of its elements; undefined where that says nothing. */
const passing = (n: Node): Passing | undefined => {
  const { structure, class: kind, expand } = n.prim!
  switch (structure?.kind) {
    case 'fold':
      return folded
    case 'running':
      return running
    case 'lines':
      return inLines
    case 'product':
      return (m, args, of) => {
        const [a, b] = args.slice(-2)
        const made = product(m, a, b, of, m.args.slice(-2))
        return [args.length > 2 ? of.both(args[0], made) : made]
      }
    case 'places':
      return copiedAt(structure.at, structure.along === true ? anywhereAlong : undefined)
    case 'adds':
      return addedAt(structure.reader, structure.at)
    case 'same':
      return (_m, args) => args
    default:
      return kind === 'layout' ? copied : expand !== undefined ? written : undefined
  }
}

/** The set of each element of inputs that are numbered one after the other. */
export const numbered = (sets: IndexSets, from: number, size: number): Int32Array => Int32Array.from(range(size), (i) => sets.of(from + i))
