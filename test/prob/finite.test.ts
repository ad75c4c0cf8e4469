/** Sums over a support whose length is an expression: values and derivatives are those of the sum whose length is a number. */
import { describe, expect, it } from 'vitest'
import { type AnyExpr, add, compile, evaluate, exp, grad, jvp, mul, pow, sum, tensor, vmap } from '../../src/index.js'
import { betaBinomial, hypergeometric } from '../../src/prob/index.js'
import { sumOver } from '../../src/prob/sum-over.js'

type X = AnyExpr
type Fn = (x: X) => X
const numbers = (x: unknown): number[] => Array.from((evaluate(x as X) as unknown as { data: Float64Array }).data)
/** To rounding: the terms are the same, and are summed in another order. */
const close = (x: unknown, want: readonly number[]): void => {
  const found = numbers(x)
  expect(found.length).toBe(want.length)
  for (const [i, v] of want.entries()) expect(Math.abs(found[i]! - v)).toBeLessThanOrEqual(1e-12 * Math.max(1, Math.abs(v)))
}
const slope = (f: Fn, mode: 'forward' | 'reverse'): Fn => grad(f as never, { mode }) as never
const n = tensor(10) as unknown as X
const fields = ['cdf', 'logSurvival'] as const

describe.each(['forward', 'reverse'] as const)('%s mode', (mode) => {
  it.each(fields)('of betaBinomial.%s, to second order', (field) => {
    const of =
      (length: X | number): Fn =>
      (a) =>
        (betaBinomial(length as never, a as never, 1.5) as never as Record<string, Fn>)[field]!(4 as never)
    const at = tensor(2.5) as never
    const [one, two] = [slope(of(10), mode), slope(slope(of(10), mode), mode)]
    const want = [...numbers(of(10)(at)), ...numbers(one(at)), ...numbers(two(at))]
    expect(want.every((v) => Number.isFinite(v) && v !== 0)).toBe(true)
    close(of(n)(at), want.slice(0, 1))
    close(slope(of(n), mode)(at), want.slice(1, 2))
    close(slope(slope(of(n), mode), mode)(at), want.slice(2))
  })
  it('of hypergeometric by its total', () => {
    const of =
      (marked: unknown): Fn =>
      (all) =>
        (hypergeometric(all as never, marked as never, tensor(12) as never) as unknown as { cdf: Fn }).cdf(4 as never)
    const at = tensor(20) as never
    close(slope(of(tensor(7)), mode)(at), numbers(slope(of(7), mode)(at)))
  })
  it('of lengths that differ, mapped, and of one that a compiled function is given', () => {
    const f = (m: X, a: X): X =>
      slope((b) => (betaBinomial(m as never, b as never, 1.5) as unknown as { cdf: Fn }).cdf(2 as never), mode)(a)
    const want = [10, 3, 2].map(
      (m) =>
        numbers(slope((b) => (betaBinomial(m, b as never, 1.5) as unknown as { cdf: Fn }).cdf(2 as never), mode)(tensor(2.5) as never))[0]!,
    )
    close((vmap(f as never) as unknown as typeof f)([10, 3, 2] as never, [2.5, 2.5, 2.5] as never), want)
    const compiled = compile(f as never) as unknown as typeof f
    for (const [k, v] of want.entries()) close(compiled(tensor([10, 3, 2][k]!) as never, tensor(2.5) as never), [v])
  })
})

describe('sumOver', () => {
  /** sum over i < 4 of exp(i w) u_j. */
  const term = (i: X, args: unknown): unknown => {
    const { w, u } = args as { readonly w: X; readonly u: X }
    return { whole: mul(exp(mul(i, w)), u) }
  }
  const f =
    (steps: X | number) =>
    (w: X): X =>
      sum(pow((sumOver(steps, term, { w, u: mul(w, [1, 2]) }) as { readonly whole: X }).whole as never, 2) as never) as X
  const steps = tensor(4, [], 'i32') as unknown as X
  it('mixes the modes', () => {
    const at = tensor(0.3) as never
    const hessian = (s: X | number): unknown =>
      (jvp(slope(f(s), 'reverse') as never) as unknown as (x: X, dx: X) => readonly unknown[])(at, tensor(1) as never)[1]
    close(hessian(steps), numbers(hessian(4)))
    close(
      slope(slope(slope(f(steps), 'reverse'), 'reverse'), 'reverse')(at),
      numbers(slope(slope(slope(f(4), 'reverse'), 'reverse'), 'reverse')(at)),
    )
  })
  it('of no steps is 0, and so is its derivative', () => {
    const none = tensor(0, [], 'i32') as unknown as X
    close(add(f(none)(tensor(0.3) as never), slope(f(none), 'reverse')(tensor(0.3) as never)), [0])
  })
})
