/** Deriving loops in loops costs as much for each level as for the one before: rule calls, counted by a registry whose rules count. */
import { describe, expect, it } from 'vitest'
import type * as cd from '../../src/index.js'
import {
  type AnyExpr,
  at,
  cond,
  coreRegistry,
  fori,
  gt,
  lt,
  makeCodual,
  mul,
  reference,
  scan,
  sin,
  sort,
  stack,
  sum,
  switchCase,
  whileLoop,
} from '../../src/index.js'

type F = (x: AnyExpr) => AnyExpr
let calls = 0
const counting = coreRegistry.with(
  ...[...coreRegistry.rules.values()].map((rule) => ({
    ...rule,
    ...(rule.frule && {
      frule: ((xs, dxs, params, context) => {
        calls++
        return rule.frule!(xs, dxs, params, context)
      }) as typeof rule.frule,
    }),
    ...(rule.rrule && {
      rrule: ((xs, params, context) => {
        calls++
        return rule.rrule!(xs, params, context)
      }) as typeof rule.rrule,
    }),
  })),
)
const counted = makeCodual(counting, reference())
const plain = makeCodual(coreRegistry, reference())

/** One level around a function of a number. One step each, because running is not what is counted. */
const levels: Readonly<Record<string, (f: F) => F>> = {
  scan: (f) => (x) => sum(scan((c: AnyExpr, w: AnyExpr) => [f(mul(c, w)), c] as const, x, [0.7])[0] as AnyExpr),
  'scan whose rows are read': (f) => (x) => sum(scan((c: AnyExpr) => [mul(c, 0.9), f(c)] as const, x, null, { length: 1 })[1] as AnyExpr),
  fori: (f) => (x) => fori(1, (_i, c: AnyExpr) => f(c), x) as AnyExpr,
  'fori of two carries': (f) => (x) =>
    (fori(1, (_i, [a, b]: [AnyExpr, AnyExpr]) => [f(b), mul(a, 2)] as never, [mul(x, 1), x] as never) as readonly AnyExpr[])[0]!,
  'checkpointed fori': (f) => (x) => fori(1, (_i, c: AnyExpr) => f(c), x, { checkpoint: 1 }) as AnyExpr,
  whileLoop: (f) => (x) =>
    whileLoop(
      (c: AnyExpr) => lt(c, 9),
      (c: AnyExpr) => f(c),
      x,
      { maxSteps: 1 },
    )[0] as AnyExpr,
  cond: (f) => (x) =>
    cond(
      gt(x, 0),
      (u: AnyExpr) => f(u),
      (u: AnyExpr) => mul(u, 2),
      x,
    ) as AnyExpr,
  'cond of what runs alone': (f) => (x) =>
    cond(
      gt(x, 0),
      (u: AnyExpr) => at(sort(stack([f(u), u])), 0),
      (u: AnyExpr) => mul(u, 2),
      x,
    ) as AnyExpr,
  switchCase: (f) => (x) => switchCase(1, [(u: AnyExpr) => mul(u, 2), (u: AnyExpr) => f(u), (u: AnyExpr) => sin(u)] as const, x) as AnyExpr,
  'loops and branches in turn': (f) => (x) =>
    fori(
      2,
      (_i, c: AnyExpr) =>
        cond(
          gt(c, 0),
          (u: AnyExpr) => f(u),
          (u: AnyExpr) => mul(u, 2),
          c,
        ) as AnyExpr,
      x,
    ) as AnyExpr,
}
const nested = (wrap: (f: F) => F, depth: number): F => {
  let f: F = (x) => sin(mul(x, x))
  for (let i = 0; i < depth; i++) f = wrap(f)
  return f
}
type Run = (codual: typeof plain, f: F) => number
const number = (x: unknown): number => (typeof x === 'number' ? x : ((x as { item(): number }).item() as number))
const modes: Readonly<Record<string, Run>> = {
  forward: ({ jvp }, f) => number((jvp(f as never) as unknown as (x: number, d: number) => readonly unknown[])(0.5, 1)[1]),
  reverse: ({ grad }, f) => number((grad(f as never, { mode: 'reverse' }) as unknown as (x: number) => unknown)(0.5)),
  mixed: ({ grad }, f) => number((grad(f as never) as unknown as (x: number) => unknown)(0.5)),
  twice: ({ grad }, f) => number((grad(grad(f as never) as never) as unknown as (x: number) => unknown)(0.5)),
}
/** Rule calls of the derivative at each depth. */
const byDepth = (wrap: (f: F) => F, run: Run, depth: number): readonly number[] =>
  Array.from({ length: depth }, (_, d) => {
    calls = 0
    run(counted as never, nested(wrap, d + 1))
    return calls
  })
const slopes = (counts: readonly number[]): readonly number[] => counts.slice(1).map((c, i) => c - counts[i]!)

describe('rule calls by the depth of nesting, 1 to 12', () => {
  for (const [name, wrap] of Object.entries(levels))
    it(name, () => {
      for (const mode of ['forward', 'reverse', 'mixed']) {
        const found = slopes(byDepth(wrap, modes[mode]!, 12))
        // The innermost level alone may differ: it holds no loop.
        expect(new Set(found.slice(1)).size, `${mode}: ${found}`).toBe(1)
        expect(found[1], mode).toBeLessThanOrEqual(60)
      }
    })
  it('of derivatives of derivatives', () => {
    for (const name of ['fori', 'cond', 'loops and branches in turn']) {
      const found = slopes(byDepth(levels[name]!, modes.twice!, 7))
      expect(new Set(found.slice(3)).size, `${name}: ${found}`).toBe(1)
    }
  })
})

it('derivatives through steps that were derived once are those of the unrolled program', () => {
  for (const [name, wrap] of Object.entries(levels)) {
    const [f, g] = [
      nested(wrap, 3),
      (x: number): number => number((plain as unknown as typeof cd).compile(nested(wrap, 3) as never)(x as never)),
    ]
    const [h, x] = [1e-4, 0.5]
    const want = (8 * (g(x + h) - g(x - h)) - (g(x + 2 * h) - g(x - 2 * h))) / (12 * h)
    for (const mode of ['forward', 'reverse', 'mixed']) expect(modes[mode]!(plain as never, f), `${name}, ${mode}`).toBeCloseTo(want, 8)
  }
})
