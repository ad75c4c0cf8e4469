/** A scan is the loop in JavaScript: values and derivatives of every kind, over steps as people write them. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { random } from '../../src/check/index.js'
import * as cd from '../../src/index.js'
import { count } from '../depth.js'
import { type Case, cases, type E, scanned, unrolled } from './steps.js'

type Call = (...xs: readonly unknown[]) => unknown
const of = cd as unknown as Readonly<Record<string, (...xs: readonly unknown[]) => Call>>
const sizeOf = (shape: readonly number[]): number => shape.reduce((n, d) => n * d, 1)
const drawn = (shapes: readonly (readonly number[])[], seed: number, dtype: cd.DType): cd.Tensor[] => {
  const next = random(seed)
  return shapes.map(
    (s) =>
      cd.tensor(
        Array.from({ length: sizeOf(s) }, () => 2 * next() - 0.9),
        [...s],
        dtype,
      ) as unknown as cd.Tensor,
  )
}
/** A number of everything that a loop gives, so that each result has a cotangent of its own. */
const total = ([carry, ys]: readonly [readonly E[], E | null]): E => {
  const terms = [...carry, ...(ys === null ? [] : [ys])].map((y, i): E => cd.mul(cd.sum(cd.sin(cd.add(y, 0.1 * (i + 1)))), i + 1))
  return terms.reduce((a, b) => cd.add(a, b))
}
interface Loop {
  readonly args: readonly cd.Tensor[]
  readonly scan: (...xs: readonly E[]) => E
  readonly plain: (...xs: readonly E[]) => E
}
const loopOf = (c: Case, length: number, reverse: boolean, seed: number, dtype: cd.DType = 'f64'): Loop => {
  const args = drawn([...c.carry, [length, ...c.x], ...c.same], seed, dtype)
  const n = c.carry.length
  const split = (xs: readonly E[]): readonly [readonly E[], E, readonly E[]] => [xs.slice(0, n), xs[n]!, xs.slice(n + 1)]
  return {
    args,
    scan: (...xs) => {
      const [carry, x, same] = split(xs)
      return total(scanned(c, carry, x, same, reverse))
    },
    plain: (...xs) => {
      const [carry, x, same] = split(xs)
      return total(unrolled(c, carry, x, same, length, reverse))
    },
  }
}
/** Numbers of a tree of tensors, in order. */
const numbers = (tree: unknown): number[] =>
  typeof tree === 'number'
    ? [tree]
    : cd.isTensor(tree)
      ? Array.from(tree.data)
      : Array.isArray(tree) || (typeof tree === 'object' && tree !== null)
        ? Object.values(tree).flatMap(numbers)
        : []
const near = (got: unknown, want: unknown, tolerance = 1e-12): void => {
  const [a, b] = [numbers(got), numbers(want)]
  expect(a.length).toBe(b.length)
  const size = Math.max(1, ...b.map(Math.abs).filter(Number.isFinite))
  a.forEach((x, i) => {
    if (!(Object.is(x, b[i]) || Math.abs(x - b[i]!) <= tolerance * size)) expect(`${i}: ${x}`).toBe(`${i}: ${b[i]}`)
  })
}
const all = (k: number): readonly number[] => Array.from({ length: k }, (_, i) => i)
const loops = fc.record({
  at: fc.integer({ min: 0, max: cases.length - 1 }),
  length: fc.integer({ min: 0, max: 4 }),
  reverse: fc.boolean(),
  seed: fc.integer({ min: 1, max: 1e6 }),
})
const law = (name: string, holds: (loop: Loop, wrt: readonly number[]) => void, runs = count(12, 40)): void =>
  it(name, () => {
    fc.assert(
      fc.property(loops, ({ at, length, reverse, seed }) => {
        const loop = loopOf(cases[at]!, length, reverse, seed)
        holds(loop, all(loop.args.length))
      }),
      { numRuns: runs, seed: 20_271_201 },
    )
  })

describe('a scan is the loop in JavaScript', () => {
  law('its values, on both backends', ({ args, scan, plain }) => {
    const want = of.compile!(plain, cd.reference())(...args)
    near(of.compile!(scan, cd.reference())(...args), want)
    near(of.compile!(scan, cd.cpu())(...args), want)
  })
  for (const mode of ['mixed', 'reverse', 'forward'])
    law(`its gradient by every argument, ${mode}`, ({ args, scan, plain }, wrt) => {
      near(of.grad!(scan, { wrt, mode })(...args), of.grad!(plain, { wrt, mode })(...args))
    })
  law('its gradient by one argument', ({ args, scan, plain }, wrt) => {
    for (const k of wrt) near(of.grad!(scan, { wrt: k })(...args), of.grad!(plain, { wrt: k })(...args))
  })
  law('jvp and hvp', ({ args, scan, plain }) => {
    near(of.jvp!(scan)(args, args), of.jvp!(plain)(args, args))
    const [head, ...rest] = args
    const one =
      (f: Loop['scan']) =>
      (x: E): E =>
        f(x, ...(rest as unknown as E[]))
    near(of.hvp!(one(scan))(head, head), of.hvp!(one(plain))(head, head))
  })
  law(
    'the derivative of its gradient, in three nestings',
    ({ args, scan, plain }) => {
      const k = args.length - 1
      const inner = (f: Loop['scan'], mode: string) => (x: E) =>
        cd.sum(cd.cos(of.grad!((v: E) => f(...(args.slice(0, k) as unknown as E[]), v), { mode })(x) as E))
      for (const [outside, inside] of [
        ['reverse', 'forward'],
        ['forward', 'reverse'],
        ['reverse', 'reverse'],
      ])
        near(of.grad!(inner(scan, inside!), { mode: outside })(args[k]), of.grad!(inner(plain, inside!), { mode: outside })(args[k]), 1e-10)
    },
    count(6, 20),
  )
  law('vmap over any of its arguments, and the gradient of that', ({ args, scan, plain }) => {
    for (let k = 0; k < args.length; k++) {
      const inAxes = args.map((_, i) => (i === k ? 0 : null))
      const wide = args.map((a, i) =>
        i === k ? cd.evaluate(cd.stack([a, cd.mul(a, 0.5) as never, cd.add(a, 0.25) as never] as never)) : a,
      )
      const [f, g] = [scan, plain].map((h) => of.vmap!(h, { inAxes }))
      near((f as Call)(...wide), (g as Call)(...wide))
      const [df, dg] = [f, g].map((h) => of.grad!((...xs: readonly E[]) => cd.sum((h as Call)(...xs) as E), { wrt: all(args.length) }))
      near((df as Call)(...wide), (dg as Call)(...wide))
    }
  })
  law('linearize: nothing of the loop itself is computed again', ({ args, scan, plain }) => {
    const [y, df] = of.linearize!(scan)(args) as readonly [cd.Tensor, Call]
    const [want, dg] = of.linearize!(plain)(args) as readonly [cd.Tensor, Call]
    near(y, want)
    near(df(args), dg(args))
  })
  it('in f32, to what f32 holds', () => {
    for (const c of cases) {
      const { args, scan, plain } = loopOf(c, 3, false, 7, 'f32')
      const wrt = all(args.length)
      const got = of.grad!(scan, { wrt })(...args)
      for (const t of Object.values(got as object)) expect((t as cd.Tensor).dtype).toBe('f32')
      near(got, of.grad!(plain, { wrt })(...args), 2e-6)
    }
  })
})
