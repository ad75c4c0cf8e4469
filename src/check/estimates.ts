/** Estimates of derivatives: their mean over keys against the derivative of the mean. */
import { aval } from '../core/graph/aval.js'
import { programsOf } from '../core/graph/expand.js'
import { capturedTensor, input, linearize, type Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import { type CustomParams, customPrimitive } from '../core/ops/custom.js'
import { batch } from '../modes/vmap.js'
import type { Collector } from './findings.js'
import { numeral } from './finite-differences.js'
import { type Derived, dense, drawLike, evaluate, total } from './subject.js'

/** Keys of one evaluation and of all, and numbers that one may compute. */
const BLOCK = 2 ** 14
const KEYS = 2 ** 16
const NUMBERS = 2 ** 23
/** A mean is wrong from so many of its standard errors on: by chance in less than one in a million. */
const SURE = 5
const CONFIDENCE = '99.9999 %'
/** The step of differences, and how much of what a half of it changes is still to come. */
const STEP = 0.25
const REST = 0.25
/** At most so many arguments, each by itself. */
const ARGUMENTS = 4

/** Is a part of the program told to have a derivative that is not even right on average, or by a rule that does not say? */
export const isBiased = (nodes: readonly Node[], names: readonly string[]): boolean => {
  const estimators = new Set<string>()
  let biased = false
  const look = (roots: readonly Node[]): void => {
    for (const { prim, payload } of linearize(roots).nodes) {
      if (prim === null) continue
      if (prim === customPrimitive) {
        const { estimates, name } = payload as CustomParams
        biased ||= estimates === 'biased'
        if (estimates === true) estimators.add(name)
      }
      for (const p of programsOf(prim, payload)) look(p.outputs)
    }
  }
  look(nodes)
  return biased || names.some((name) => !estimators.has(name))
}
const isKey = (n: Node): boolean => n.dtype === 'i32' && n.shape.length === 1 && n.shape[0] === 2
/** What may be a key: arguments, and tensors that were captured, of two words. */
const keysOf = (d: Derived): readonly Node[] => [
  ...d.inputs.filter(isKey),
  ...linearize(d.outs).nodes.filter((n) => capturedTensor(n) !== undefined && isKey(n) && !d.inputs.includes(n)),
]

/** Sums that a mean and its standard error follow from. */
interface Sums {
  n: number
  sum: number
  squares: number
}
const meanOf = ({ n, sum, squares }: Sums): { readonly mean: number; readonly error: number } => {
  const mean = sum / n
  return { mean, error: Math.sqrt(Math.max(0, squares / n - mean * mean) / (n - 1)) }
}
const put = (s: Sums, x: number): void => {
  s.n++
  s.sum += x
  s.squares += x * x
}

/** <yBar, f> and its derivatives along dx, for many keys at once: a number for each. */
const overKeys = (d: Derived, yBar: readonly NDArray[], dx: readonly NDArray[], next: () => number) => {
  const keys = keysOf(d)
  const dys = d.dys && dense(d.dys, d.outs)
  const xBars = d.xBars && dense(d.xBars, d.wrt)
  const nodes = linearize([...d.outs, ...(dys ?? []), ...(xBars ?? [])]).nodes.length
  const size = Math.max(64, Math.min(BLOCK, Math.floor(NUMBERS / (nodes + total([...d.outs, ...d.wrt])))))
  const wide = keys.map((k) => input(aval([size, 2], k.dtype)))
  const replaced = new Map(keys.map((k, i) => [k, wide[i]!]))
  const [ys, forward, reverse] = [d.outs, dys, xBars].map((roots) => roots && batch(d.registry, roots, replaced, size))
  const seeds: readonly (readonly [Node, NDArray])[] = [
    ...d.tangents.map((t, i) => [t, dx[i]!] as const),
    ...d.seeds.map((s, i) => [s, yBar[i]!] as const),
  ]
  const summed = (roots: readonly Node[], env: ReadonlyMap<Node, NDArray>, weights: readonly NDArray[]): Float64Array => {
    const out = new Float64Array(size)
    evaluate(roots, env).forEach((v, i) => {
      const w = weights[i]!.data
      for (let k = 0; k < v.data.length; k++) out[Math.floor(k / w.length)]! += v.data[k]! * w[k % w.length]!
    })
    return out
  }
  return {
    keys: keys.length,
    size,
    block: () => {
      const words = wide.map(
        (n) =>
          [
            n,
            { shape: [size, 2], dtype: 'i32' as const, data: Int32Array.from({ length: 2 * size }, () => (next() * 2 ** 32) | 0) },
          ] as const,
      )
      const at = (t: number): Float64Array => {
        const env = new Map<Node, NDArray>([...d.env, ...words, ...seeds])
        d.wrt.forEach((x, j) => {
          const v = d.env.get(x)!
          env.set(x, { ...v, data: Float64Array.from(v.data, (u, i) => u + t * dx[j]!.data[i]!) })
        })
        return summed(ys!, env, yBar)
      }
      const difference = (h: number): Float64Array => {
        const [up, down] = [at(h), at(-h)]
        return up.map((u, i) => (u - down[i]!) / (2 * h))
      }
      const env = new Map<Node, NDArray>([...d.env, ...words, ...seeds])
      return {
        coarse: difference(STEP),
        fine: difference(STEP / 2),
        given: [
          ...(forward === undefined ? [] : [{ mode: 'forward mode', values: summed(forward, env, yBar) }]),
          ...(reverse === undefined ? [] : [{ mode: 'reverse mode', values: summed(reverse, env, dx) }]),
        ],
      }
    },
  }
}

/**
 * The mean of an estimate over keys against differences of the function's mean over the same keys: at steps of a quarter, extrapolated, within five standard errors of what
 * both differ by key for key.
 *
 * Source  common random numbers: P. Glasserman, Monte Carlo Methods in Financial Engineering, 7.1.
 */
export const checkEstimate = (d: Derived, names: readonly string[], next: () => number, out: Collector): void => {
  if (!out.on('estimate')) return
  const yBar = drawLike(d.outs, next)
  for (let j = 0; j < Math.min(ARGUMENTS, d.wrt.length); j++) {
    const path = d.paths[d.active[j]!]!
    const dx = d.wrt.map((x, k): NDArray => {
      const v = d.env.get(x)!
      return {
        ...v,
        data: Float64Array.from(v.data, (u) =>
          k === j ? (0.5 + next() / 2) * (next() < 0.5 ? -1 : 1) * Math.max(1, Math.abs(u)) * d.scale : 0,
        ),
      }
    })
    const over = overKeys(d, yBar, dx, next)
    if (over.keys === 0)
      return void out.undecidedAt(names.join(', '), 'its derivative is an estimate, and no argument is a key to take the mean over')
    meanOver(over, path, out)
  }
}
const meanOver = (over: ReturnType<typeof overKeys>, path: string, out: Collector): void => {
  const sums = new Map<string, { readonly off: Sums; readonly given: Sums }>()
  const fresh = (): Sums => ({ n: 0, sum: 0, squares: 0 })
  const [truth, change] = [fresh(), fresh()]
  for (let n = 0; n < KEYS; n += over.size) {
    const { coarse, fine, given } = over.block()
    const best = fine.map((x, i) => (4 * x - coarse[i]!) / 3)
    best.forEach((x, i) => {
      put(truth, x)
      put(change, x - fine[i]!)
    })
    for (const { mode, values } of given) {
      const s = sums.get(mode) ?? { off: fresh(), given: fresh() }
      sums.set(mode, s)
      values.forEach((x, i) => {
        put(s.off, x - best[i]!)
        put(s.given, x)
      })
    }
    if ([...sums.values()].some(({ off }) => Math.abs(meanOf(off).mean) > 2 * SURE * meanOf(off).error && meanOf(off).error > 0)) break
  }
  const wanted = meanOf(truth).mean
  for (const [mode, { off, given }] of sums) {
    out.comparisons++
    const { mean, error } = meanOf(off)
    const has = meanOf(given).mean
    const rest = REST * (Math.abs(meanOf(change).mean) + meanOf(change).error)
    const how = `${mode}, the mean over ${off.n} keys, with a standard error of ${numeral(Number(error.toPrecision(2)))}: confidence ${CONFIDENCE}`
    const size = Math.max(Math.abs(has), Math.abs(wanted))
    if (![mean, error].every(Number.isFinite)) out.undecidedAt(path, 'some of its values are not finite', { how })
    else if (Math.abs(mean) > SURE * error + rest + 1e-9 * size + out.atol)
      out.note('estimate', path, 0, wanted, has, SURE * error, { how })
    else if (SURE * error > size / 2 && size > 0)
      out.undecidedAt(path, `its mean is ${numeral(has)}, the derivative of the mean ${numeral(wanted)}`, { how })
  }
}
