/** vmap: the stack of single results; and it commutes with grad. */
import { aval } from '../core/graph/aval.js'
import { asExpr, input, type Node } from '../core/graph/expr.js'
import { arrayConstructor, type NDArray } from '../core/graph/ndarray.js'
import { pullback } from '../modes/transform.js'
import { batch } from '../modes/vmap.js'
import { roundingOf } from './derivative.js'
import type { Collector } from './findings.js'
import { bind, type Derived, dense, drawLike, evaluate, type Subject } from './subject.js'

const SIZE = 3

const stacked = (examples: readonly NDArray[]): NDArray => {
  const { shape, dtype, data } = examples[0]!
  const all = new (arrayConstructor(dtype))(SIZE * data.length)
  examples.forEach((e, b) => {
    all.set(e.data, b * data.length)
  })
  return { shape: [SIZE, ...shape], dtype, data: all }
}
const wider = (n: Node): Node => input(aval([SIZE, ...n.shape], n.dtype))

/** All arguments batched, only the first, only the last: results are those of the examples one by one. */
export const checkBatch = (s: Subject, out: Collector): void => {
  const n = s.inputs.length
  if (n === 0 || !out.on('batch')) return
  const examples = Array.from({ length: SIZE }, s.draw)
  const masks = n === 1 ? [[true]] : [s.inputs.map(() => true), s.inputs.map((_, i) => i === 0), s.inputs.map((_, i) => i === n - 1)]
  for (const mask of masks) {
    const wide = s.inputs.map((x, i) => (mask[i] ? wider(x) : x))
    const replaced = new Map(s.inputs.flatMap((x, i) => (mask[i] ? [[x, wide[i]!] as const] : [])))
    const ys = batch(s.registry, s.ys, replaced, SIZE)
    const env = new Map(s.captured)
    s.inputs.forEach((x, i) => {
      env.set(wide[i]!, mask[i] ? stacked(examples.map((e) => e[i]!)) : examples[0]![i]!)
      if (!mask[i]) env.set(x, examples[0]![i]!)
    })
    const got = evaluate(ys, env)
    for (let b = 0; b < SIZE; b++) {
      const at = examples[0]!.map((v, i) => (mask[i] ? examples[b]![i]! : v))
      const single = new Map([...s.captured, ...bind(s.inputs, at)])
      const rounding = roundingOf(s.ys, single)
      const how = `example ${b} of a batch of ${s.inputs.flatMap((_, i) => (mask[i] ? [s.paths[i]] : [])).join(', ')}`
      evaluate(s.ys, single).forEach((v, r) => {
        const [from, to] = [b * v.data.length, (b + 1) * v.data.length]
        out.near('batch', `result ${r}`, got[r]!.data.slice(from, to), v.data, 1e-12, rounding(r), { shape: v.shape, how })
      })
    }
  }
}

/** The cotangent program under vmap, and the cotangents of the program under vmap, are the stack of single cotangents. */
export const checkCommute = (d: Derived, next: () => number, out: Collector): void => {
  if (d.inputs.length === 0 || d.xBars === undefined || !out.on('commute')) return
  const examples = Array.from({ length: SIZE }, d.draw)
  const bars = examples.map(() => drawLike(d.seeds, next))
  const xBars = dense(d.xBars, d.wrt)
  const from = [...d.inputs, ...d.seeds]
  const wide = from.map(wider)
  const env = new Map(d.captured)
  wide.forEach((w, i) => {
    env.set(w, stacked(i < d.inputs.length ? examples.map((e) => e[i]!) : bars.map((b) => b[i - d.inputs.length]!)))
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
