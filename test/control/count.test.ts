/** Loops of a number of steps that is known when they run. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
type Call = (...xs: readonly unknown[]) => never
const { add, cast, compile, fori, scan, grad, gt, jvp, mul, reference, sin, sum, tensor, vmap } = cd as unknown as Readonly<
  Record<string, Call>
>
const i32 = (n: number): unknown => tensor!(n, [], 'i32')
const power = (x: E, n: unknown): E => fori!(n, (_k: E, c: E) => mul!(c, x), 1)
const value = (x: unknown): unknown => (x as cd.Tensor).toArray()
const message = (f: () => unknown): string => {
  try {
    f()
  } catch (e) {
    if (cd.isAdException(e)) return e.message
    throw e
  }
  return 'no error'
}

describe('fori of an i32 scalar', () => {
  it.each(['cpu', 'reference'])('takes so many steps, none where it is below 1: %s', (name) => {
    const backend = name === 'cpu' ? cd.cpu() : reference!()
    const f = compile!((x: E, n: E) => power(x, n), backend) as Call
    for (const n of [-3, 0, 1, 2, 5, 100]) expect(value(f(1.1, i32(n)))).toBeCloseTo(1.1 ** Math.max(n, 0), 8)
  })
  it('counts from 0, with trees, beside what a number gives', () => {
    const body = (k: E, { a, b }: { a: E; b: E }) => ({ a: add!(a, mul!(b, cast!(k, 'f64'))), b: sin!(add!(a, b)) })
    const run = (n: unknown) => (x: E) => fori!(n, body, { a: x, b: tensor!([1, 2]) })
    for (const n of [0, 1, 7]) {
      const [want, got] = [n, i32(n)].map((m) => (compile!(run(m)) as Call)(tensor!([0.3, 0.4]))) as unknown as readonly {
        readonly a: cd.Tensor
        readonly b: cd.Tensor
      }[]
      expect([got!.a.toArray(), got!.b.toArray()]).toEqual([want!.a.toArray(), want!.b.toArray()])
    }
  })
  it('is one plan for every number of steps', () => {
    const backend = cd.cpu()
    const traced: number[] = []
    const f = compile!((x: E, n: E) => {
      traced.push(1)
      return power(x, n)
    }, backend) as Call
    for (const n of [3, 4, 1000]) f(1.01, i32(n))
    expect(traced.length).toBe(1)
  })
  it('has forward derivatives, and values under vmap by the count', () => {
    const tangent = (x: E, n: E) => (jvp!((u: E) => power(u, n)) as Call)(x, 1)
    expect((compile!(tangent) as Call)(2, i32(3))).toMatchObject([expect.anything(), expect.anything()])
    const [y, dy] = (compile!(tangent) as Call)(2, i32(3)) as unknown as readonly cd.Tensor[]
    expect([y!.item(), dy!.item()]).toEqual([8, 12])
    const many: Call = vmap!((n: E) => power(2 as never, n))
    expect(value(many(tensor!([0, 3, 10, -1], [4], 'i32')))).toEqual([1, 8, 1024, 1])
    expect(value((vmap!(power) as Call)(tensor!([2, 3]), tensor!([3, 2], [2], 'i32')))).toEqual([8, 9])
  })
  it('may be computed: the place of an element, within another loop', () => {
    const f = (xs: E) => (scan!((c: E, k: E) => [add!(c, power(2 as never, k)), null], 0, xs) as unknown as readonly [E])[0]
    expect(value((compile!(f) as Call)(tensor!([0, 1, 2, 3], [4], 'i32')))).toBe(15)
    expect(value((compile!((x: E) => power(x, sum!(cast!(gt!(tensor!([1, 2, 3]), 1), 'i32')))) as Call)(3))).toBe(9)
  })
  it('says what is wrong', () => {
    const id = (_k: E, c: E): E => c
    expect(message(() => fori!(tensor!([1, 2], [2], 'i32'), id, 0))).toContain('n is i32 [2]')
    expect(message(() => fori!(tensor!(2.5), id, 0))).toContain('n is f64 []')
    expect(message(() => fori!('3', id, 0))).toContain('fori: n')
    expect(message(() => fori!(i32(2), id, 0, { unroll: 2 }))).toContain('unroll and checkpoint need a number of steps')
    expect(message(() => fori!(i32(2), (_k: E, c: E) => ({ c }), 0))).toContain('fori: the carry that f returned is { c: * }')
    expect(message(() => fori!(i32(2), (_k: E, c: E) => add!(c, tensor!([1, 2])), 0))).toContain(
      'fori: the carry that f returned is f64 [2]',
    )
    expect(message(() => (grad!((x: E) => power(x, i32(2))) as Call)(1))).toContain('whileLoop: reverse mode keeps what each step needs')
  })
})
