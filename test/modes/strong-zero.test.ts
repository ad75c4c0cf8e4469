/** Hard zeros: what is guarded off adds exactly 0, an unguarded derivative is what it is, and the modes agree on both. */
import { describe, expect, it } from 'vitest'
import { metaOf, traceMeta } from '../../src/core/functions/function.js'
import { aval } from '../../src/core/graph/aval.js'
import { linearize } from '../../src/core/graph/expr.js'
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
type F = (x: E) => E
const c = cd as unknown as Record<string, (...xs: readonly unknown[]) => E>
const modes = ['reverse', 'mixed', 'forward'] as const
const grad = (f: unknown, mode: string): F => c.grad!(f, { mode }) as unknown as F
const at = (f: unknown, x: unknown): number => (f as (x: unknown) => cd.Tensor)(x).item()
const list = (f: unknown, x: unknown): number[] => Array.from((f as (x: unknown) => cd.Tensor)(x).data)
/** x > 0 ? g(x) : 0. */
const guarded =
  (g: F): F =>
  (x) =>
    c.where!(c.gt!(x, 0), g(x), 0)
/** How many strong products the derivative holds, at these shapes. */
const strong = (f: unknown, ...shapes: readonly (readonly number[])[]): number => {
  const tree = { _tag: 'Tuple' as const, items: shapes.map(() => ({ _tag: 'Leaf' as const })) }
  const program = traceMeta(
    metaOf(f, 'test'),
    tree,
    shapes.map((s) => aval(s, 'f64')),
  )
  return linearize(program.outputs).nodes.filter((n) => n.prim?.name === 'strongMul').length
}

describe('guards', () => {
  const x =
    (n: number): F =>
    (e) => {
      let b = c.log!(e)
      for (let i = 0; i < n; i++) b = c.neg!(b)
      return c.mul!(e, b)
    }
  for (const n of [0, 4, 5, 101])
    for (const mode of modes)
      it(`x log x behind ${n} operations, ${mode}`, () => {
        const f = (e: E) => c.sum!(guarded(x(n))(e))
        const sign = n % 2 === 0 ? 1 : -1
        expect(list(grad(f, mode), [0, 1, 2]).map((d) => d + 0)).toEqual(
          [0, sign, sign * (1 + Math.log(2))].map((d) => expect.closeTo(d, 12)),
        )
      })
  for (const [name, g] of [
    ['x log x', (e) => c.mul!(e, c.log!(e))],
    ['a strong product', (e) => c.strongMul!(c.reciprocal!(e), e)],
    ['sqrt(sin x / x)', (e) => c.sqrt!(c.div!(c.sin!(e), e))],
    ['tanh(log x)', (e) => c.tanh!(c.log!(e))],
    ['cos(1 / x)', (e) => c.cos!(c.reciprocal!(e))],
    ['x^x', (e) => c.pow!(e, e)],
    ['prod(x, log x)', (e) => c.prod!(c.stack!([e, c.log!(e)]))],
    ['cumsum(x, log x)', (e) => c.sum!(c.square!(c.cumsum!(c.stack!([e, c.log!(e)]))))],
    ['a product with the infinite x of a guard', (e) => c.mul!(c.div!(1, e), c.div!(1, e))],
  ] as readonly (readonly [string, F])[])
    it(`${name} at 0: every derivative of order 1 to 3 is 0, in every nesting of modes`, () => {
      const f = guarded(g)
      for (const a of modes) {
        expect(at(grad(f, a), 0), a).toBeCloseTo(0, 300)
        for (const b of modes) {
          expect(at(grad(grad(f, a), b), 0), `${b} of ${a}`).toBeCloseTo(0, 300)
          for (const d of modes) expect(at(grad(grad(grad(f, a), b), d), 0), `${d} of ${b} of ${a}`).toBeCloseTo(0, 300)
        }
      }
      for (const p of ['jacfwd', 'jacrev'])
        for (const q of ['jacfwd', 'jacrev']) expect(at(c[q]!(c[p]!(f)), 0), `${q} of ${p}`).toBeCloseTo(0, 300)
    })
  it('an infinite input is masked too', () => {
    const f = (e: E) => c.sum!(c.where!(c.isfinite!(e), c.mul!(e, c.tanh!(c.mul!(e, e))), 0))
    for (const mode of modes) {
      const [a, b] = list(grad(f, mode), [Number.POSITIVE_INFINITY, 0.5]) as [number, number]
      expect(a).toBe(0)
      expect(b).toBeCloseTo(Math.tanh(0.25) + 0.5 * (1 - Math.tanh(0.25) ** 2), 12)
    }
  })
  it('through what selects by position: slice, gather, pad, sort, pooling', () => {
    const x = [0, 0.5, 2]
    const want = [0, 1 / (2 * Math.sqrt(0.5)), 1 / (2 * Math.sqrt(2))].map((d) => expect.closeTo(d, 12))
    const root = (e: E) => c.sqrt!(e)
    for (const [name, f] of [
      ['slice', (e: E) => c.sum!(c.slice!(root(e), [1], [3]))],
      ['take', (e: E) => c.sum!(c.take!(root(e), [2, 1]))],
      ['flip', (e: E) => c.sum!(c.slice!(c.flip!(root(e)), [0], [2]))],
      ['split', (e: E) => c.sum!((c.split!(root(e), [1, 2]) as unknown as readonly E[])[1])],
      ['dynamicSlice', (e: E) => c.sum!(c.dynamicSlice!(root(e), [1], [2]))],
      ['setAt', (e: E) => c.sum!(c.setAt!(root(e), [0], [7]))],
      ['relu', (e: E) => c.sum!(c.relu!(c.sub!(root(e), 0.01)))],
      ['maximum', (e: E) => c.sum!(c.maximum!(root(e), 0.01))],
      ['max', (e: E) => c.sum!(c.max!(c.stack!([root(e), c.mul!(c.ones!([3]), 0.01)]), { axis: 0 }))],
    ] as const)
      for (const mode of modes) expect(list(grad(f, mode), x), `${name}, ${mode}`).toEqual(want)
  })
  it('a zero of a cotangent that is no mask keeps its own derivative', () => {
    // (sqrt(x) - 1)^2 at 1: the cotangent of the root is 0, its derivative is not.
    const f: F = (e) => c.square!(c.sub!(c.sqrt!(e), 1))
    for (const g of [f, guarded(f)])
      for (const a of modes) for (const b of modes) expect(at(grad(grad(g, a), b), 1), `${b} of ${a}`).toBeCloseTo(0.5, 12)
  })
  it('a rule of a user, a composition and a customRule keep the mask', () => {
    const root = cd.unary({ name: 'rootOfUser', scalar: (x) => Math.sqrt(x!), source: 'test' })
    const own = cd.makeCodual(cd.coreRegistry.with(cd.scalarRule(root, ({ y }) => [cd.div(0.5, y)])), cd.reference()) as unknown as typeof c
    const twice = cd.makeCodual(
      cd.coreRegistry.with(
        cd.optOut(
          root,
          cd.scalarRule(root, () => [0]),
          { when: () => true, via: ({ x: [x] }) => cd.sqrt(x as never) as never },
        ),
      ),
      cd.reference(),
    ) as unknown as typeof c
    const custom = c.customRule!((x: E) => c.sqrt!(x), {
      frule: (x: E, dx: E) => [c.sqrt!(x), c.mul!(dx, c.where!(c.gt!(x, 0), c.div!(0.5, c.sqrt!(x)), 0))],
    })
    for (const [k, f] of [
      [own, root as unknown as F],
      [twice, root as unknown as F],
      [c, custom as unknown as F],
    ] as const)
      for (const mode of modes) {
        const d = (k.grad!((e: E) => c.sum!(c.where!(c.gt!(e, 0), f(e), 0)), { mode }) as unknown as (x: unknown) => cd.Tensor)([0, 4])
        expect(Array.from(d.data), mode).toEqual([0, 0.25])
      }
  })
  it('zeros that are given say that nothing moves there, or that nobody looks', () => {
    expect((c.jacfwd!(c.sqrt) as unknown as (x: unknown) => cd.Tensor)([0, 1]).toArray()).toEqual([
      [Number.POSITIVE_INFINITY, 0],
      [0, 0.5],
    ])
    expect((c.jacrev!(c.sqrt) as unknown as (x: unknown) => cd.Tensor)([0, 1]).toArray()).toEqual([
      [Number.POSITIVE_INFINITY, 0],
      [0, 0.5],
    ])
    const f = ({ a, b }: { a: E; b: E }) => c.add!(a, c.mul!(c.sqrt!(b), c.neg!(c.neg!(c.neg!(c.neg!(c.neg!(c.sqrt!(b))))))))
    const [, dy] = (c.jvp!(f) as unknown as (x: unknown, t: unknown) => readonly [cd.Tensor, cd.Tensor])({ a: 1, b: 0 }, { a: 1, b: 0 })
    expect(dy.item()).toBe(1)
  })
})

describe('no guard', () => {
  const inf = Number.POSITIVE_INFINITY
  const nan = Number.NaN
  /** Function, point, first and second derivative. */
  const table: readonly (readonly [string, F, number, number, number])[] = [
    ['sqrt', (x) => c.sqrt!(x), 0, inf, -inf],
    ['cbrt', (x) => c.cbrt!(x), 0, inf, nan],
    ['rsqrt', (x) => c.rsqrt!(x), 0, -inf, inf],
    ['reciprocal', (x) => c.reciprocal!(x), 0, -inf, inf],
    ['log', (x) => c.log!(x), 0, inf, -inf],
    ['log1p', (x) => c.log1p!(x), -1, inf, -inf],
    ['asin', (x) => c.asin!(x), 1, inf, inf],
    ['asin', (x) => c.asin!(x), -1, inf, -inf],
    ['acos', (x) => c.acos!(x), 1, -inf, -inf],
    ['acos', (x) => c.acos!(x), -1, -inf, inf],
    ['acosh', (x) => c.acosh!(x), 1, inf, -inf],
    ['atanh', (x) => c.atanh!(x), 1, inf, inf],
    ['atanh', (x) => c.atanh!(x), -1, inf, -inf],
    ['x^0.3', (x) => c.pow!(x, 0.3), 0, inf, -inf],
    ['x^1.5', (x) => c.pow!(x, 1.5), 0, 0, inf],
    ['x^0', (x) => c.pow!(x, 0), 0, 0, 0],
    ['0^x', (x) => c.pow!(cd.tensor(0), x), 2, 0, 0],
    ['x^2 by a tensor', (x) => c.pow!(x, cd.tensor(2)), 0, 0, 2],
    ['hypot', (x) => c.hypot!(x, 0), 0, 0, 0],
    ['atan2', (x) => c.atan2!(x, 0), 0, 0, 0],
    ['norm', (x) => c.norm!(c.stack!([x, x])), 0, 0, 0],
    ['lgamma', (x) => c.lgamma!(x), 0, -inf, inf],
    // What the chain rule leaves undefined, 0 times infinity, is NaN in every mode.
    ['x cbrt x', (x) => c.mul!(x, c.cbrt!(x)), 0, nan, nan],
    ['sqrt(x)^2', (x) => c.square!(c.sqrt!(x)), 0, nan, nan],
    ['sqrt(x^2)', (x) => c.sqrt!(c.square!(x)), 0, nan, nan],
    ['cbrt(x^2)', (x) => c.cbrt!(c.square!(x)), 0, nan, nan],
    ['0 / 0', (x) => c.div!(x, x), 0, nan, nan],
  ]
  for (const [name, f, point, first, second] of table)
    it(`${name} at ${point}: ${first}, then ${second}, whatever the modes`, () => {
      for (const a of modes) {
        expect(at(grad(f, a), point) + 0, a).toBe(first)
        for (const b of modes) expect(at(grad(grad(f, a), b), point) + 0, `${b} of ${a}`).toBe(second)
      }
      for (const p of ['jacfwd', 'jacrev']) expect(at(c[p]!(f), point) + 0, p).toBe(first)
      expect((c.jvp!(f) as unknown as (x: number, t: number) => readonly [unknown, cd.Tensor])(point, 1)[1].item() + 0).toBe(first)
      // In an array, beside elements where all is well.
      const sum = (x: E) => c.sum!(f(x))
      if (name !== 'norm')
        for (const a of modes) expect(list(grad(sum, a), [point, 0.5 + point / 2])[0]! + 0, `${a} of an array`).toBe(first)
    })

  it('the root of a sum of squares at 0 is undefined in every mode: the whole of a given direction is no mask', () => {
    for (const mode of modes)
      expect(
        list(
          grad((x: E) => c.sqrt!(c.sum!(c.square!(x))), mode),
          [0, 0],
        ),
        mode,
      ).toEqual([Number.NaN, Number.NaN])
  })
  it('its derivatives hold no strong product: singular functions, a network, softmax, the second derivative', () => {
    const mlp = (x: E, w: E) => c.sum!(c.tanh!(c.matmul!(c.sigmoid!(c.matmul!(x, w)), w)))
    const soft = (x: E) => c.sum!(c.square!(c.softmax!(c.mul!(x, c.exp!(c.log!(x))))))
    for (const mode of ['reverse', 'mixed']) {
      expect(strong(c.grad!(mlp, { mode, wrt: [0, 1] }), [3, 3], [3, 3]), mode).toBe(0)
      expect(strong(c.grad!(soft, { mode }), [3, 3]), mode).toBe(0)
      for (const g of [c.sqrt!, c.log!, c.exp!, c.reciprocal!, c.cosh!, c.lgamma!]) {
        const f = (x: E) => c.sum!(c.square!(g(x)))
        expect(strong(c.grad!(f, { mode }), [4]), mode).toBe(0)
        expect(
          strong(
            c.grad!((x: E) => c.sum!(grad(f, mode)(x)), { mode }),
            [4],
          ),
          mode,
        ).toBe(0)
      }
    }
    // Directions that are given cost nothing beside functions that are finite everywhere.
    expect(
      strong((x: E, w: E) => (c.jvp!(mlp) as unknown as (p: unknown, t: unknown) => readonly E[])([x, w], [x, w])[1], [3, 3], [3, 3]),
    ).toBe(0)
  })
  it('relu and maximum cost nothing beside functions that are finite everywhere', () => {
    const f = (x: E, w: E) => c.sum!(c.relu!(c.mul!(c.relu!(c.matmul!(c.tanh!(c.mul!(x, w)), w)), c.maximum!(x, 0.1))))
    expect(strong(c.grad!(f, { mode: 'reverse', wrt: 1 }), [3, 3], [3, 3])).toBe(0)
  })
})
