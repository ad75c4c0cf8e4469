// Carries and slices to which nobody gave a dtype: f32 where they meet an f32, and f64 beside one that they do not meet.
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
type T = cd.Tensor
const scan = cd.scan as unknown as (f: (c: never, x: never) => unknown, init: unknown, xs: unknown, options?: object) => never
const evaluated = cd.evaluate as unknown as (x: unknown) => never
const x = cd.tensor([1, 2, 3], 'f32')
/** The first whole number that f32 does not hold is one above. */
const EDGE = 16777216

describe('what nobody declared in a loop', () => {
  it('a count beside f32 keeps every digit', () => {
    const [c] = evaluated(
      scan((now: { total: E; n: E }, v: E) => [{ total: cd.add(now.total, v), n: cd.add(now.n, 1) }, null], { total: 0, n: EDGE }, x),
    ) as [{ total: T; n: T }]
    expect([c.n.dtype, c.n.item(), c.total.dtype, c.total.item()]).toEqual(['f64', EDGE + 3, 'f32', 6])
  })
  it('where only slices are f32, and the carry does not meet them', () => {
    const [c, ys] = evaluated(scan((n: E, v: E) => [cd.add(n, 1), v], EDGE, x)) as [T, T]
    expect([c.dtype, c.item(), ys.dtype]).toEqual(['f64', EDGE + 3, 'f32'])
  })
  it('where only a captured array is f32', () => {
    const f = cd.compile(
      cd.fn({ x: cd.f32(3) }, ({ x }) => scan((n: E) => [cd.add(n, 1), cd.sum(x)], EDGE, null, { length: 3 })) as never,
    ) as unknown as (a: unknown) => [T, T]
    const [c, ys] = f({ x })
    expect([c.dtype, c.item(), ys.dtype, ys.data[0]]).toEqual(['f64', EDGE + 3, 'f32', 6])
  })
  it('a while loop ends by its own count', () => {
    const loop = cd.whileLoop as unknown as (c: unknown, f: unknown, init: unknown, o: object) => unknown
    const [s, how] = evaluated(
      loop(
        (s: { n: E }) => cd.lt(s.n, EDGE + 3),
        (s: { n: E; y: E }) => ({ n: cd.add(s.n, 1), y: cd.mul(s.y, x) }),
        { n: EDGE - 6, y: x },
        { maxSteps: 99 },
      ),
    ) as [{ n: T; y: T }, { steps: T; done: T }]
    expect([s.n.dtype, s.n.item(), s.y.dtype, how.steps.item(), how.done.item()]).toEqual(['f64', EDGE + 3, 'f32', 9, true])
  })
  it('slices that meet no f32 are stacked as they are', () => {
    const [, ys] = evaluated(scan((c: E, v: { a: E; b: E }) => [cd.add(c, v.a), cd.mul(v.b, 2)], 0, { a: x, b: [EDGE + 1, 1, 2] })) as [
      T,
      T,
    ]
    expect([ys.dtype, ys.data[0]]).toEqual(['f64', 2 * EDGE + 2])
  })
  it('a step number that a mean of f32 is divided by is f32, so that the mean stays it', () => {
    const [c] = evaluated(
      scan(
        (s: { t: E; m: E }, v: E) => [{ t: cd.add(s.t, 1), m: cd.div(cd.add(s.m, v), cd.sub(1, cd.pow(0.9, s.t))) }, null],
        { t: 1, m: 0 },
        x,
      ),
    ) as [{ t: T; m: T }]
    expect([c.t.dtype, c.m.dtype]).toEqual(['f32', 'f32'])
  })
  it('one that becomes another slot of the carry is of its dtype', () => {
    const [c] = evaluated(scan((s: { a: E; b: E }, v: E) => [{ a: s.b, b: v }, null], { a: 0, b: 0 }, x)) as [{ a: T; b: T }]
    expect([c.a.dtype, c.a.item(), c.b.dtype, c.b.item()]).toEqual(['f32', 2, 'f32', 3])
  })
  it('one that is cast to f32 where it is used stays what it is', () => {
    const [c, ys] = evaluated(scan((n: E, v: E) => [cd.add(n, 1), cd.mul(cd.cast(n, 'f32'), v)], EDGE, x)) as [T, T]
    expect([c.dtype, c.item(), ys.dtype]).toEqual(['f64', EDGE + 3, 'f32'])
  })
})
