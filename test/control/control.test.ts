/** Loops and branches: trees, captured values, nesting, saving, what they refuse. */
import { isRight } from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
type Call = (...xs: readonly unknown[]) => never
const ops = cd as unknown as Readonly<Record<string, Call>>
const { add, compile, cond, evaluate, fori, grad, gt, log, matmul, mul, scan, sin, sqrt, sub, sum, switchCase, tensor, vmap, zeros } = ops
const value = (x: unknown): unknown => (evaluate!(x) as cd.Tensor).toArray()
const run = (f: unknown, ...args: readonly unknown[]): unknown => ((compile!(f, cd.cpu()) as Call)(...args) as cd.Tensor).toArray()
const message = (f: () => unknown): string => {
  try {
    f()
  } catch (e) {
    if (cd.isAdException(e))
      return e.message
        .split('\n')
        .filter((l) => !l.startsWith('  at '))
        .join('\n')
    throw e
  }
  return 'no error'
}

describe('scan', () => {
  it('has rules that hold tensors in its steps', () => {
    const twice = (cd.customRule as unknown as Call)((x: E) => mul!(x, 2), {
      frule: (x: E, dx: E) => [mul!(x, 2), mul!(dx, tensor!([2, 3]))],
      rrule: (x: E) => [mul!(x, 2), (yBar: E) => mul!(yBar, tensor!([2, 3]))],
    }) as unknown as Call
    const f = (x: E): E => sum!(fori!(2, (_k: E, s: E) => twice(s), x))
    expect(run(grad!(f), [1, 1])).toEqual([4, 9])
    expect(run((cd.jacfwd as unknown as Call)(f), [1, 1])).toEqual([4, 9])
  })
  it('carries and stacks trees, and y may be nothing', () => {
    const [last, ys] = scan!(
      ({ a, b }: Record<string, E>, { x, k }: Record<string, E>) => [{ a: add!(a, x), b: mul!(b, 2) }, [k, { s: mul!(a, x) }]],
      { a: 0, b: [1, 2] },
      { x: tensor!([1, 2, 3]), k: tensor!([5, 6, 7], [3], 'i32') },
    ) as unknown as [Record<string, E>, [E, Record<string, E>]]
    expect([value(last.a), value(last.b), value(ys[0]), value(ys[1].s)]).toEqual([6, [8, 16], [5, 6, 7], [0, 2, 9]])
    expect((scan!((c: E, x: E) => [add!(c, x), null], 0, tensor!([1, 2])) as unknown as unknown[])[1]).toBe(null)
  })
  it('runs backwards, without xs, and no step at all', () => {
    const [, ys] = scan!((c: E, x: E) => [add!(c, x), add!(c, x)], 0, tensor!([1, 2, 3]), { reverse: true }) as unknown as [E, E]
    expect(value(ys)).toEqual([6, 5, 3])
    const [doubled] = scan!((c: E) => [mul!(c, 2), null], 3, null, { length: 4 }) as unknown as [E]
    expect(value(doubled)).toBe(48)
    const [same, none] = scan!((c: E, x: E) => [add!(c, x), matmul!(x, x)], zeros!([2, 2]), zeros!([0, 2, 2])) as unknown as [E, E]
    expect([value(same), (evaluate!(none) as cd.Tensor).shape]).toEqual([
      [
        [0, 0],
        [0, 0],
      ],
      [0, 2, 2],
    ])
    expect(value(fori!(0, (_k: E, c: E) => mul!(c, 2), 5))).toBe(5)
  })
  it('captures tensors and expressions, which have gradients', () => {
    const w = tensor!([2, 3])
    const f = (x: E) => sum!((scan!((c: E, y: E) => [add!(mul!(c, w), mul!(y, x)), null], x, zeros!([2, 2])) as unknown as [E])[0])
    expect(run(grad!(f), [1, 1])).toEqual([4, 9])
    const g = (x: E) => (scan!((c: E, y: E) => [add!(c, mul!(y, sin!(x))), null], 0, tensor!([1, 2, 3])) as unknown as [E])[0]
    expect(run(grad!(g), 0)).toBe(6)
  })
  it('takes the dtype of what comes back where nobody gave one', () => {
    const x = tensor!([1, 2, 3], [3], 'f32')
    for (const init of [0, zeros!([])]) {
      const [c, ys] = scan!((s: E, v: E) => [add!(s, v), s], init, x) as unknown as [E, E]
      expect([c.dtype, ys.dtype]).toEqual(['f32', 'f32'])
    }
    const [c] = scan!((s: E, k: E) => [add!(s, k), null], tensor!(0, [], 'f32'), ops.arange!(3)) as unknown as [E]
    expect(c.dtype).toBe('f32')
  })
  it('carries integers and booleans beside floats, and their gradient is that of the floats', () => {
    const f = (x: E) => {
      const [{ s }] = scan!(
        ({ s, n }: Record<string, E>, v: E) => [{ s: ops.where!(gt!(n, 0), add!(s, mul!(v, x)), s), n: add!(n, 1) }, null],
        { s: 0, n: tensor!(0, [], 'i32') },
        tensor!([1, 2, 3]),
      ) as unknown as [Record<string, E>]
      return s
    }
    expect(run(f, 2)).toBe(10)
    expect(run(grad!(f), 2)).toBe(5)
    expect(run(grad!(f, { mode: 'forward' }), 2)).toBe(5)
  })
  it('nests: in itself, in branches, in vmap; third derivatives', () => {
    const poly = (x: E, n: number) => fori!(n, (_k: E, c: E) => mul!(c, x), 1)
    const f = (x: E) =>
      (
        scan!(
          (c: E, v: E) => [
            add!(
              c,
              cond!(
                gt!(v, 1.5),
                (u: E) => poly(u, 3),
                (u: E) => mul!(u, 2),
                mul!(v, x),
              ),
            ),
            null,
          ],
          0,
          tensor!([1, 2]),
        ) as unknown as [E]
      )[0]
    // 2 x + (2 x)^3
    expect(run(f, 3)).toBe(222)
    const [d1, d2, d3] = [grad!(f), grad!(grad!(f)), grad!(grad!(grad!(f)))]
    expect([run(d1, 3), run(d2, 3), run(d3, 3)]).toEqual([218, 144, 48])
    expect(run(vmap!(d1), [0, 3])).toEqual([2, 218])
  })
  it('of a gradient: an optimiser in a loop, differentiated by its step size', () => {
    const loss = (p: E) => mul!(sub!(p, 3), sub!(p, 3))
    const after = (rate: E) => loss(fori!(5, (_k: E, p: E) => sub!(p, mul!(rate, (grad!(loss) as Call)(p))), 0))
    // p_k - 3 = -3 (1 - 2 rate)^k
    expect(run(after, 0.1)).toBeCloseTo(9 * 0.8 ** 10, 12)
    expect(run(grad!(after), 0.1)).toBeCloseTo(-180 * 0.8 ** 9, 10)
  })
  it('is saved and read again', () => {
    const f = (x: E) => (scan!((c: E, v: E) => [sin!(mul!(c, v)), c], x, tensor!([1, 2, 3])) as unknown as [E, E])[1]
    const g = (x: E) => switchCase!(tensor!(1, [], 'i32'), [(u: E) => u, (u: E) => mul!(u, sum!(f(u)))], x)
    for (const h of [f, g, grad!((x: E) => sum!(f(x)))]) {
      const p = (cd.toProgram as unknown as Call)(h) as unknown as Call
      const back = cd.fromJSON(JSON.parse(JSON.stringify(cd.toJSON(p(0.5) as never))) as never)
      if (!isRight(back)) throw new Error(JSON.stringify(back.left))
      const again = (cd.fromProgram as unknown as Call)(back.right) as unknown as Call
      expect(((again as Call)(0.5) as cd.Tensor).toArray()).toEqual(run(h, 0.5))
    }
  })
  it('says its steps and its body', () => {
    const f = cd.fn({ x: cd.f64(2) }, ({ x }) => cd.fori(3, (_k, c) => cd.mul(c, 2), x))
    expect(cd.show(f)).toMatch(/scan\(.*\) \{3 steps\}.*\n {4}fori\(.*\n {6}y0 = mul/)
  })
})

describe('branches', () => {
  it('choose by a condition or a place; beyond the ends are the ends', () => {
    const f = (i: E, x: E) => switchCase!(i, [(u: E) => u, (u: E) => mul!(u, u), (u: E) => mul!(u, 10)], x)
    const at = (i: number): unknown => run((x: E) => f(tensor!(i, [], 'i32'), x), 3)
    expect([-5, 0, 1, 2, 3, 99].map(at)).toEqual([3, 3, 9, 30, 30, 30])
    expect(
      run(
        (x: E) =>
          cond!(
            gt!(x, 0),
            () => 1,
            () => 2,
          ),
        3,
      ),
    ).toBe(1)
    expect(
      run(
        (x: E) =>
          cond!(
            false,
            (u: E) => u,
            (u: E) => mul!(u, 2),
            x,
          ),
        3,
      ),
    ).toBe(6)
  })
  it('keep what the other branch does, even NaN, out of every derivative', () => {
    const f = (x: E) =>
      cond!(
        gt!(x, 0),
        (u: E) => sqrt!(u),
        (u: E) => mul!(u, 2),
        x,
      )
    const g = (x: E) =>
      cond!(
        gt!(x, 0),
        (u: E) => mul!(u, u),
        (u: E) => log!(u),
        x,
      )
    for (const mode of ['forward', 'reverse', 'mixed']) {
      expect(run(grad!(f, { mode }), -1)).toBe(2)
      expect(run(grad!(f, { mode }), 0)).toBe(2)
      expect(run(grad!(g, { mode }), 3)).toBe(6)
      expect(run(grad!(grad!(f, { mode }), { mode }), 0)).toBe(0)
      expect(run(vmap!(grad!(f, { mode })), [-1, 0, 4])).toEqual([2, 2, 0.25])
    }
  })
  it('capture, with gradients of what they captured', () => {
    const f = (x: E, w: E) =>
      cond!(
        gt!(x, 0),
        () => mul!(w, x),
        () => sub!(w, x),
      )
    expect([run(grad!(f, { wrt: 1 }), 3, 2), run(grad!(f, { wrt: 0 }), -3, 2)]).toEqual([3, -1])
  })
})

describe('what does not fit is one error that names the leaf', () => {
  const xs = [1, 2, 3]
  const cases: readonly (readonly [string, () => unknown, string])[] = [
    [
      'another shape',
      () => scan!(({ h }: Record<string, E>, x: E) => [{ h: ops.stack!([h, x]) }, null], { h: 0 }, xs),
      'scan: the carry that f returned at h is f64 [2], it must be f64 [].',
    ],
    [
      'another dtype',
      () => scan!((c: E, x: E) => [add!(c, x), null], tensor!(0, [], 'i32'), tensor!([0.5])),
      'scan: the carry that f returned is f64 [], it must be i32 []',
    ],
    ['another tree', () => scan!((c: E) => [{ c }, null], 0, xs), 'scan: the carry that f returned is { c: * }, it must be *.'],
    ['no pair', () => scan!((c: E) => c, 0, xs), 'scan: f returned an expression'],
    ['lengths that differ', () => scan!((c: E) => [c, null], 0, { a: [1, 2], b: [1, 2, 3] }), 'scan: xs at a has 2 steps, xs at b has 3.'],
    ['a length that differs', () => scan!((c: E) => [c, null], 0, xs, { length: 2 }), 'scan: length is 2, xs has 3 steps.'],
    ['a scalar among xs', () => scan!((c: E) => [c, null], 0, { a: xs, n: 1 }), 'scan: xs at n is a number: it has no axis of steps.'],
    ['neither xs nor length', () => scan!((c: E) => [c, null], 0), 'scan: it has no xs and no length.'],
    ['a length below 0', () => fori!(-1, (_k: E, c: E) => c, 0), 'fori: n is -1.'],
    ['a fraction of steps', () => fori!(1.5, (_k: E, c: E) => c, 0), 'fori: n must be a whole number, not 1.5.'],
    ['no function', () => scan!(3, 0, xs), 'scan: f must be a function, not 3.'],
    ['an option that is none', () => scan!((c: E) => [c, null], 0, xs, { unrolled: 2 }), 'scan: there is no option unrolled.'],
    [
      'branches of two shapes',
      () =>
        cond!(
          true,
          () => [1, 2],
          () => 1,
        ),
      'cond: the result of branch 1 is f64 [2], it must be f64 [].',
    ],
    [
      'branches of two trees',
      () =>
        cond!(
          true,
          () => ({ a: 1 }),
          () => 1,
        ),
      'cond: the result of branch 1 is { a: * }, it must be *.',
    ],
    [
      'a condition of an array',
      () =>
        cond!(
          [true, false],
          () => 1,
          () => 2,
        ),
      'cond: the condition is bool [2].',
    ],
    ['no branches', () => switchCase!(0, []), 'switchCase: it has no branches.'],
    ['an index that is a float', () => switchCase!(tensor!(0.5), [() => 1]), 'switchCase: the index is f64 []'],
    ['a branch that is none', () => switchCase!(0, [1]), 'switchCase: branch 0 must be a function, not 1.'],
  ]
  it.each(cases)('%s', (_name, call, says) => {
    expect(message(call)).toContain(says)
  })
})
