/** vmap: the stack of single results; and it commutes with grad. */

import { greatestOf } from '../core/errors/extremes.js'
import { aval } from '../core/graph/aval.js'
import { asExpr, input, type Node } from '../core/graph/expr.js'
import { allocate, type NDArray } from '../core/graph/ndarray.js'
import { range, sizeOf } from '../core/graph/shape.js'
import { transposeNode } from '../core/ops/layout/move.js'
import { pullback } from '../modes/transform.js'
import { batch } from '../modes/vmap.js'
import { roundingOf } from './derivative.js'
import type { Collector } from './findings.js'
import { bind, type Derived, dense, drawLike, evaluate, type Subject } from './subject.js'

const SIZE = 3

/** Examples as one array, along a first axis or, `last`, along a last one. */
const stacked = (examples: readonly NDArray[], { shape, dtype }: Node, last = false): NDArray => {
  const count = examples.length
  const all = allocate(dtype, count * sizeOf(shape))
  examples.forEach(({ data }, b) => {
    for (let i = 0; i < data.length; i++) all[last ? i * count + b : b * data.length + i] = data[i]!
  })
  return { shape: last ? [...shape, count] : [count, ...shape], dtype, data: all }
}
const wider = (n: Node, size: number): Node => input(aval([size, ...n.shape], n.dtype))
/** An input whose last axis is the mapped one, and itself with that axis in front. */
const mappedLast = (n: Node, size: number): readonly [own: Node, wide: Node] => {
  const own = input(aval([...n.shape, size], n.dtype))
  const rank = n.shape.length
  return [own, transposeNode(own, [rank, ...range(rank)])]
}

/** How arguments are mapped over: which of them, over how many examples, along their last axis or their first one. */
interface Mapped {
  readonly mask: readonly boolean[]
  readonly size: number
  readonly last?: boolean
}
/** Results over mapped arguments are those of the examples one by one. */
const checkMapped = (s: Subject, examples: readonly (readonly NDArray[])[], { mask, size, last = false }: Mapped, out: Collector): void => {
  const pairs = s.inputs.map((x, i): readonly [own: Node, wide: Node] => {
    if (!mask[i]) return [x, x]
    if (last) return mappedLast(x, size)
    const wide = wider(x, size)
    return [wide, wide]
  })
  const replaced = new Map(s.inputs.flatMap((x, i) => (mask[i] ? [[x, pairs[i]![1]] as const] : [])))
  const ys = batch(s.registry, s.ys, replaced, size)
  const own = examples.slice(0, size)
  const env = new Map(s.captured)
  s.inputs.forEach((x, i) => {
    const at = own.map((e) => e[i]!)
    env.set(pairs[i]![0], mask[i] ? stacked(at, x, last) : examples[0]![i]!)
  })
  const got = evaluate(ys, env)
  const names = s.inputs.flatMap((_, i) => (mask[i] ? [s.paths[i]] : [])).join(', ')
  const of = `a batch of ${size} of ${names}${last ? ', along the last axis' : ''}`
  got.forEach((v, r) => {
    out.is('batch', `the shape of result ${r}`, v.shape.join(), [size, ...s.ys[r]!.shape].join(), { how: of })
  })
  own.forEach((_, b) => {
    const at = examples[0]!.map((v, i) => (mask[i] ? examples[b]![i]! : v))
    const single = new Map([...s.captured, ...bind(s.inputs, at)])
    const rounding = roundingOf(s.ys, single)
    evaluate(s.ys, single).forEach((v, r) => {
      const [from, to] = [b * v.data.length, (b + 1) * v.data.length]
      const place = { shape: v.shape, how: `example ${b} of ${of}` }
      out.near('batch', `result ${r}`, got[r]!.data.slice(from, to), v.data, 1e-12, rounding(r), place)
    })
  })
}
/** All arguments mapped, only the first, only the last. */
const masksOf = (n: number): readonly (readonly boolean[])[] =>
  n === 1 ? [[true]] : [range(n).map(() => true), range(n).map((i) => i === 0), range(n).map((i) => i === n - 1)]

/** All arguments batched, only the first, only the last: results are those of the examples one by one. */
export const checkBatch = (s: Subject, out: Collector): void => {
  const n = s.inputs.length
  if (n === 0 || !out.on('batch')) return
  const examples = Array.from({ length: SIZE }, s.draw)
  for (const mask of masksOf(n)) checkMapped(s, examples, { mask, size: SIZE }, out)
}

/** Batches of other sizes. */
const OTHERS = [1, 5, 2, 0] as const
/**
 * Batches of 0, 1, 2 and 5 examples, each of all arguments, of the first or of the last, which `turn` says; along the last axis too, and a batch of batches.
 */
export const checkBatchSizes = (s: Subject, turn: number, out: Collector): void => {
  const n = s.inputs.length
  if (n === 0 || !out.on('batch')) return
  const examples = Array.from({ length: greatestOf(OTHERS) }, s.draw)
  const masks = masksOf(n)
  OTHERS.forEach((size, k) => {
    checkMapped(s, examples, { mask: masks[(k + turn) % masks.length]!, size, last: size === 2 }, out)
  })
  checkTwice(s, examples, masks[turn % masks.length]!, masks[(turn + 1) % masks.length]!, out)
}
/** A batch of 2 of a batch of 3: each may map other arguments. */
const checkTwice = (
  s: Subject,
  examples: readonly (readonly NDArray[])[],
  inner: readonly boolean[],
  outer: readonly boolean[],
  out: Collector,
): void => {
  const mapped = (from: readonly Node[], mask: readonly boolean[], size: number): readonly Node[] =>
    from.map((x, i) => (mask[i] ? wider(x, size) : x))
  const pairs = (from: readonly Node[], to: readonly Node[]): ReadonlyMap<Node, Node> =>
    new Map(from.flatMap((x, i) => (to[i] === x ? [] : [[x, to[i]!] as const])))
  const wide = mapped(s.inputs, inner, 2)
  const wider2 = mapped(wide, outer, 2)
  const once = batch(s.registry, s.ys, pairs(s.inputs, wide), 2)
  const ys = batch(s.registry, once, pairs(wide, wider2), 2)
  const exampleOf = (i: number, o: number, k: number): NDArray => examples[(outer[i] ? 2 * o : 0) + (inner[i] ? k : 0)]![i]!
  const env = new Map(s.captured)
  s.inputs.forEach((x, i) => {
    const rows = (o: number): NDArray => (inner[i] ? stacked([exampleOf(i, o, 0), exampleOf(i, o, 1)], x) : exampleOf(i, o, 0))
    env.set(wider2[i]!, outer[i] ? stacked([rows(0), rows(1)], wide[i]!) : rows(0))
  })
  const got = evaluate(ys, env)
  for (const [o, k] of [
    [0, 1],
    [1, 0],
    [1, 1],
  ] as const) {
    const single = new Map([
      ...s.captured,
      ...bind(
        s.inputs,
        s.inputs.map((_, i) => exampleOf(i, o, k)),
      ),
    ])
    const rounding = roundingOf(s.ys, single)
    evaluate(s.ys, single).forEach((v, r) => {
      const from = (2 * o + k) * v.data.length
      const place = { shape: v.shape, how: `example [${o}, ${k}] of a batch of batches` }
      out.near('batch', `result ${r}`, got[r]!.data.slice(from, from + v.data.length), v.data, 1e-12, rounding(r), place)
    })
  }
}

/** The cotangent program under vmap, and the cotangents of the program under vmap, are the stack of single cotangents. */
export const checkCommute = (d: Derived, next: () => number, out: Collector): void => {
  if (d.inputs.length === 0 || d.xBars === undefined || !out.on('commute')) return
  const examples = Array.from({ length: SIZE }, d.draw)
  const bars = examples.map(() => drawLike(d.seeds, next))
  const xBars = dense(d.xBars, d.wrt)
  const from = [...d.inputs, ...d.seeds]
  const wide = from.map((x) => wider(x, SIZE))
  const env = new Map(d.captured)
  wide.forEach((w, i) => {
    env.set(w, stacked(i < d.inputs.length ? examples.map((e) => e[i]!) : bars.map((b) => b[i - d.inputs.length]!), from[i]!))
  })
  const replaced = new Map(from.map((x, i) => [x, wide[i]!]))
  const vmapOfGrad = batch(d.registry, xBars, replaced, SIZE)
  const wideWrt = d.wrt.map((x) => replaced.get(x)!)
  const ys = batch(d.registry, d.outs, new Map(d.inputs.map((x, i) => [x, wide[i]!])), SIZE)
  const pulled = pullback(
    d.registry,
    ys,
    d.seeds.map((s) => asExpr(replaced.get(s)!)),
    wideWrt,
  ).cotangents
  const gradOfVmap = dense(pulled, wideWrt)
  const [a, b] = [evaluate(vmapOfGrad, env), evaluate(gradOfVmap, env)]
  for (let e = 0; e < SIZE; e++) {
    const at = new Map([...d.captured, ...bind(d.inputs, examples[e]!), ...bind(d.seeds, bars[e]!)])
    const rounding = roundingOf(xBars, at)
    evaluate(xBars, at).forEach((v, j) => {
      const [start, end] = [e * v.data.length, (e + 1) * v.data.length]
      const path = d.paths[d.active[j]!]!
      const twice = (): ArrayLike<number> => Float64Array.from(rounding(j)(), (x) => 2 * x)
      for (const [how, got] of [
        ['vmap of grad', a],
        ['grad of vmap', b],
      ] as const)
        out.near('commute', path, got[j]!.data.slice(start, end), v.data, 1e-11, twice, { shape: v.shape, how: `${how}, example ${e}` })
    })
  }
}
