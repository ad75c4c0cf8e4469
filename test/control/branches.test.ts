/** Branches that have more than operations element by element: the chosen one runs, the others do not, in values and in derivatives. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
type Any = (...xs: readonly unknown[]) => never
const op = cd as unknown as Readonly<Record<string, Any>>
const compile = cd.compile as unknown as (f: unknown, b: unknown) => (...xs: readonly unknown[]) => cd.Tensor
const grad = cd.grad as unknown as (f: unknown, o?: unknown) => unknown

/** A function of numbers that counts for how many elements it was asked. */
const counted = (name: string, f: (x: number) => number) => {
  const of = { calls: 0 }
  const scalar = (x: number | undefined) => {
    of.calls++
    return f(x!)
  }
  return { of, f: cd.unary({ name, scalar, source: 'test' }) as unknown as (x: unknown) => never }
}
const w = cd.tensor([0.5, -0.25, 0.75, 1], [2, 2])
const asked = (of: { calls: number }, run: () => unknown): { readonly calls: number; readonly value: unknown } => {
  of.calls = 0
  const value = run()
  return { calls: of.calls, value }
}

describe('branches of more than operations element by element', () => {
  it('run alone: each of three', () => {
    const [a, b] = [counted('first', Math.sin), counted('second', Math.sin)]
    const branches = [(x: E) => op.matmul!(a.f(x), w), (x: E) => op.matmul!(b.f(x), w), (x: E) => x]
    const f = compile((i: E, x: E) => op.switchCase!(i, branches, x), cd.cpu())
    const x = cd.tensor([1, 2, 3, 4, 5, 6], [3, 2])
    for (const [i, first, second] of [
      [0, 6, 0],
      [-3, 6, 0],
      [1, 0, 6],
      [2, 0, 0],
      [9, 0, 0],
    ]) {
      ;[a.of.calls, b.of.calls] = [0, 0]
      const y = f(cd.tensor(Int32Array.of(i!), []), x)
      expect({ i, first: a.of.calls, second: b.of.calls }).toEqual({ i, first, second })
      const want = i! >= 2 ? x : (cd.evaluate(op.matmul!(op.sin!(x), w)) as unknown as cd.Tensor)
      expect(cd.treeAllClose(y, want, { rtol: 1e-14, atol: 1e-15 })).toBe(true)
    }
  })
  it('and in a loop: at the steps that choose them', () => {
    const a = counted('counted', Math.sin)
    const f = compile(
      (x: E) =>
        op.fori!(
          10,
          (k: E, s: E) =>
            op.cond!(
              op.eq!(op.mod!(k, 5), 0),
              (u: E) => op.matmul!(a.f(u), w),
              (u: E) => op.mul!(u, 0.9),
              s,
            ),
          x,
        ),
      cd.cpu(),
    )
    expect(asked(a.of, () => f(cd.tensor([1, 2], [1, 2]))).calls).toBe(4)
  })
  it('the way back of the chosen one alone', () => {
    const sines = [counted('sine of the first', Math.sin), counted('sine of the second', Math.sin)]
    const slopes = [counted('slope of the first', Math.cos), counted('slope of the second', Math.cos)]
    const rules = sines.map(({ f }, i) => cd.scalarRule(f as never, ({ x: [x] }) => [slopes[i]!.f(x!)]))
    const own = cd.makeCodual(
      rules.reduce((r, x) => r.with(x as never), cd.coreRegistry),
      cd.cpu(),
    )
    const branch = (i: number) => (u: E) => op.matmul!(op.mul!(sines[i]!.f(u), sines[i]!.f(u)), w)
    const f = (x: E, p: E) => op.sum!(op.cond!(op.gt!(p, 0), branch(0), branch(1), x))
    const g = (own.compile as unknown as typeof compile)((own.grad as unknown as typeof grad)(f), cd.cpu())
    const x = cd.tensor([1, 2, 3, 4], [2, 2])
    const want = cd.evaluate(op.mul!(op.sin!(op.mul!(2, x)), op.sum!(w, { axis: 1 }))) as unknown as cd.Tensor
    for (const [p, counts] of [
      [1, [4, 0]],
      [-1, [0, 4]],
    ] as const) {
      for (const { of } of [...sines, ...slopes]) of.calls = 0
      expect(cd.treeAllClose(g(x, cd.tensor(p)), want, { rtol: 1e-13, atol: 1e-15 })).toBe(true)
      expect(slopes.map((s) => s.of.calls)).toEqual(counts)
      expect(sines.map((s) => s.of.calls === 0)).toEqual(counts.map((n) => n === 0))
    }
  })
  it('nothing of the other reaches a derivative, not even a NaN or an infinite partial', () => {
    const f = (x: E) =>
      op.sum!(
        op.cond!(
          op.gt!(op.at!(x, 0), 0),
          (u: E) => op.cumsum!(op.sqrt!(u)),
          (u: E) => op.cumsum!(op.mul!(u, 2)),
          x,
        ),
      )
    const g = grad(f) as (x: cd.Tensor) => cd.Tensor
    expect([...g(cd.tensor([0, -1])).data]).toEqual([4, 2])
    expect([...g(cd.tensor([1, 4])).data]).toEqual([1, 0.25])
  })
  it('under vmap over the condition each example has its branch', () => {
    const f = (p: E, x: E) =>
      op.cond!(
        op.gt!(p, 0),
        (u: E) => op.cumsum!(u),
        (u: E) => op.cumsum!(op.mul!(u, -1)),
        x,
      )
    const many = cd.vmap(f as never) as unknown as (p: cd.Tensor, x: cd.Tensor) => cd.Tensor
    expect([...many(cd.tensor([1, -1, 2]), cd.tensor([1, 2, 3, 4, 5, 6], [3, 2])).data]).toEqual([1, 3, -3, -7, 5, 11])
  })
  it('loops, branches and batches in each other: the gradient of a scan of a branch of a vmap is that of JavaScript loops', () => {
    const step = (h: E, x: E) =>
      op.cond!(
        op.gt!(op.sum!(x), 0),
        (u: E, v: E) =>
          (op.vmap as unknown as (f: unknown) => (x: unknown) => never)(((r: E) => op.tanh!(op.matmul!(r, w))) as never)(op.add!(u, v)),
        (u: E, v: E) =>
          (op.vmap as unknown as (f: unknown) => (x: unknown) => never)(((r: E) => op.mul!(r, op.sum!(r))) as never)(op.sub!(u, v)),
        h,
        x,
      )
    const looped = (h: E, xs: E) => op.sum!(op.sin!((op.scan!((c: E, x: E) => [step(c, x), null], h, xs) as readonly E[])[0]))
    const written = (h: E, xs: E) => {
      let c = h
      for (let k = 0; k < 4; k++) c = step(c, op.at!(xs, k))
      return op.sum!(op.sin!(c))
    }
    const h = cd.tensor([0.1, -0.2, 0.3, 0.4], [2, 2])
    const xs = cd.tensor(
      Float64Array.from({ length: 16 }, (_, i) => Math.sin(0.4 * i)),
      [4, 2, 2],
    )
    const both = [looped, written].map((f) => compile(grad(f, { wrt: [0, 1] }), cd.cpu())(h, xs))
    expect(cd.treeAllClose(both[0] as never, both[1] as never, { rtol: 1e-12, atol: 1e-14 })).toBe(true)
    const alone = [0, 1, 2, 3].map((k) => Math.sign((xs.data as Float64Array).slice(4 * k, 4 * k + 4).reduce((s, v) => s + v, 0)))
    expect(new Set(alone).size).toBe(2)
  })
})
