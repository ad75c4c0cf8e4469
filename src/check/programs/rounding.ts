/** What rounding can do to a program at a point: it is evaluated again with every result of every operation moved by a few units. */
import { type Algebra, type ApplyAt, evaluating, interpretNodes } from '../../core/functions/interpret.js'
import { isFloat } from '../../core/graph/aval.js'
import { evaluateNodes } from '../../core/graph/evaluate.js'
import type { Node } from '../../core/graph/expr.js'
import type { NDArray } from '../../core/graph/ndarray.js'
import { random } from '../draw.js'

const unit = { f64: 2 ** -53, f32: 2 ** -24 } as const
const RUNS = 6

const largest = (a: NDArray): number => {
  let m = 0
  for (const x of a.data) if (Math.abs(x) > m && Math.abs(x) < Infinity) m = Math.abs(x)
  return m
}

/** Results moved by up to 4 + sqrt(n) units, n the number of their terms: of themselves or, for sums and products, of what they are made of. */
const moved = ({ primitive }: ApplyAt, args: readonly NDArray[], outs: readonly NDArray[], next: () => number): readonly NDArray[] => {
  if (primitive.class === 'layout') return outs
  const terms = Math.max(1, ...args.map((a) => a.data.length)) / Math.max(1, outs[0]?.data.length ?? 1)
  const size = primitive.class === 'elementwise' ? 0 : Math.max(0, ...args.filter((a) => isFloat(a.dtype)).map(largest))
  for (const o of outs) {
    if (o.dtype !== 'f64' && o.dtype !== 'f32') continue
    const by = unit[o.dtype] * (4 + Math.sqrt(Math.max(1, terms)))
    for (let i = 0; i < o.data.length; i++) o.data[i] = o.data[i]! + by * (2 * next() - 1) * Math.max(Math.abs(o.data[i]!), size)
  }
  return outs
}

/** How far the entries of `nodes` move, at most: the largest of six evaluations. NaN that comes or goes is without bound. */
export const roundingOf = (nodes: readonly Node[], env: ReadonlyMap<Node, NDArray>): number => {
  const want = evaluateNodes(nodes, env)
  let most = 0
  for (let run = 1; run <= RUNS; run++) {
    const next = random(run)
    const plain = evaluating(({ path }) => {
      throw new Error(`the input ${path} has no value`)
    })
    const shaken: Algebra<NDArray> = { ...plain, apply: (at, args) => moved(at, args, plain.apply(at, args), next) }
    interpretNodes(shaken, nodes, env).forEach((v, k) => {
      v.data.forEach((x, i) => {
        const w = want[k]!.data[i]!
        if (x === w || (Number.isNaN(x) && Number.isNaN(w))) return
        const by = Math.abs(x - w)
        most = Math.max(most, Number.isNaN(by) ? Number.POSITIVE_INFINITY : by)
      })
    })
  }
  return most
}
