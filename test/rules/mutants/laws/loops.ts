/** Loops that a condition ends, under vmap against one example after the other. */
import * as cd from '../../../../src/index.js'
import { type Laws, o } from './law.js'

type F = (...xs: readonly unknown[]) => unknown
type E = cd.AnyExpr
const whileLoop = cd.whileLoop as unknown as (...xs: readonly unknown[]) => readonly [E, { readonly steps: E; readonly done: E }]
const lt = cd.lt as unknown as (...xs: readonly unknown[]) => E
const { add, mul, sin, stack } = o

const grown = (x: E, limit: unknown): readonly [E, { readonly steps: E; readonly done: E }] =>
  whileLoop(
    (h: E) => lt(h, limit),
    (h: E) => add(mul(h, 1.5), mul(0.1, x)),
    x,
    { maxSteps: 6 },
  )
const xs = [0.3, 2.5, 0.01, 1.1]
const limits = [2, 1, 4, 1.5]
/** f of each example, stacked leaf by leaf. */
const each = (f: F): unknown[] => xs.map((x, i) => f(x, limits[i]))
const list = (f: (x: E, limit: E) => readonly [E, { readonly steps: E; readonly done: E }]) => (x: E, limit: E) => {
  const [h, { steps, done }] = f(x, limit)
  return [h, steps, done]
}
const stacked = (rows: readonly unknown[]): unknown =>
  Array.isArray(rows[0]) ? rows[0].map((_, k) => cd.evaluate(stack(rows.map((r) => (r as unknown[])[k])))) : cd.evaluate(stack(rows))
const run = (f: F): F => cd.compile(f as never, cd.reference()) as unknown as F

export const loops: Laws = {
  'vmap of a loop that a condition ends': () => {
    const f = list(grown)
    const df = o.grad((x: E, limit: E) => sin(grown(x, limit)[0]), { mode: 'reverse' })
    return [f, df].map((g) => [run(o.vmap(g))(xs, limits), stacked(each(run(g as F)))] as const)
  },
  'vmap of a loop of which the state alone is batched': () => {
    const f = (x: E) => grown(x, 2)[0]
    return [[run(o.vmap(f))(xs), stacked(xs.map((x) => run(f as F)(x)))]]
  },
}
