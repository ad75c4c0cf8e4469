/** A function of a batch that lies on several ranks against the same function of the whole batch. */
import { describe, expect, it } from 'vitest'
import type { AnyExpr } from '../../src/index.js'
import * as cd from '../../src/index.js'
import * as mpi from '../../src/mpi/index.js'
import { count, some } from '../depth.js'
import { losses } from './work.js'

type Inputs = { readonly w: AnyExpr; readonly x: AnyExpr }
const f = ({ w, x }: Inputs): AnyExpr => cd.mean(cd.tanh(cd.matmul(x, w)))
const whole = cd.tensor([
  [1, 2],
  [0.5, -1],
  [2, 0.1],
  [-1, 1],
  [0.2, 0.3],
])
const w = cd.tensor([[0.3], [-0.7]])
const numbers = (t: unknown): readonly number[] =>
  cd.treeLeaves(t).flatMap((leaf) => Array.from((cd.evaluate(leaf as AnyExpr) as cd.Tensor).data))
const near = (got: readonly number[], want: readonly number[]): void => {
  expect(got.length).toBe(want.length)
  got.forEach((v, i) => {
    expect(v).toBeCloseTo(want[i]!, 12)
  })
}
const operators: readonly (readonly [string, (g: typeof f) => (x: cd.Tensor) => unknown])[] = [
  ['the value', (g) => (x) => g({ w, x } as never)],
  ['the gradient', (g) => (x) => cd.grad((v: AnyExpr) => g({ w: v, x: x as never }))(w as never)],
  ['the tangent', (g) => (x) => cd.jvp((v: AnyExpr) => g({ w: v, x: x as never }))(w as never, cd.tensor([[1], [2]]) as never)],
  [
    'a Hessian-vector product',
    (g) => (x) => cd.hvp((v: AnyExpr) => g({ w: v, x: x as never }))(w as never, cd.tensor([[1], [2]]) as never),
  ],
  ['the Hessian', (g) => (x) => cd.hessian((v: AnyExpr) => g({ w: v, x: x as never }))(w as never)],
  [
    'the gradient of a gradient, by reverse mode',
    (g) => (x) =>
      cd.grad(
        (u: AnyExpr) => cd.sum(cd.square(cd.grad((v: AnyExpr) => g({ w: v, x: x as never }), { mode: 'reverse' })(u as never) as AnyExpr)),
        { mode: 'reverse' },
      )(w as never),
  ],
  [
    'gradients of a batch of parameters',
    (g) => (x) =>
      cd.vmap((u: AnyExpr) => cd.grad((v: AnyExpr) => g({ w: v, x: x as never }))(u as never))(
        cd.evaluate(cd.stack([w, cd.neg(w)])) as never,
      ),
  ],
]

describe('shard', () => {
  it.each(operators)('%s is that of the whole batch, on every rank, with parts of different lengths', (_name, of) => {
    const want = numbers(of(f)(whole))
    for (const n of [1, 2, 3])
      for (const got of mpi.simulateRanks(n, () => numbers(of(mpi.shard(f, { data: { x: 0 } }))(mpi.localRows(whole))))) near(got, want)
  })
  it('sums, trees of results, buckets of one leaf, data that is differentiated', () => {
    const g = ({ a, b, x }: { readonly a: AnyExpr; readonly b: AnyExpr; readonly x: AnyExpr }) => ({
      s: cd.sum(cd.mul(a, x)),
      t: cd.sum(cd.mul(b, cd.square(x)), { axis: 0 }),
    })
    const sharded = mpi.shard(g, { data: { x: 0 }, op: 'sum', bucketBytes: 1 })
    const gradient = (h: typeof g) => (x: cd.Tensor) =>
      numbers(
        cd.grad(({ a, b }: { readonly a: AnyExpr; readonly b: AnyExpr }) => {
          const y = h({ a, b, x: x as never })
          return cd.add(y.s, cd.sum(cd.square(y.t)))
        })({ a: 2, b: [1, 3] } as never),
      )
    for (const got of mpi.simulateRanks(3, () => gradient(sharded)(mpi.localRows(whole)))) near(got, gradient(g)(whole))
    const toData = (h: typeof f) => (x: cd.Tensor) => numbers(cd.grad((v: AnyExpr) => h({ w: w as never, x: v }))(x as never))
    near(mpi.simulateRanks(2, () => toData(mpi.shard(f, { data: { x: 0 } }))(mpi.localRows(whole))).flat(), toData(f)(whole))
  })
  it('weighs parts by a scalar of the inputs, which may be 0 on some ranks or on all', () => {
    type Masked = Inputs & { readonly mask: AnyExpr }
    const masked = ({ w: v, x, mask }: Masked): AnyExpr =>
      cd.div(cd.sum(cd.mul(mask, cd.sum(cd.tanh(cd.matmul(x, v)), { axis: 1 }))), cd.maximum(cd.sum(mask), 1e-9))
    const gradient = (h: typeof masked, mask: readonly number[]) => (part: <T>(t: T) => T) =>
      numbers(cd.valueAndGrad((v: AnyExpr) => h({ w: v, ...part({ x: whole, mask: cd.tensor([...mask]) }) } as never))(w as never))
    for (const mask of [
      [1, 0, 3, 0.5, 1],
      [0, 0, 0, 2, 1],
      [0, 0, 0, 0, 0],
    ])
      for (const n of [2, 3, 5]) {
        const whole = mpi.shard(masked, { data: { x: 0, mask: 0 }, weight: ({ mask: m }: Masked) => cd.cast(cd.sum(m), 'f32') })
        const want = gradient(masked, mask)((t) => t)
        for (const got of mpi.simulateRanks(n, () => gradient(whole, mask)(mpi.localRows))) near(got, want)
      }
  })
  it('uses one allReduce for each bucket', () => {
    const params = { a: cd.tensor([1, 2]), b: cd.tensor([3]), c: cd.tensor([[4]]) }
    const g = ({ params: p, x }: { readonly params: Readonly<Record<string, AnyExpr>>; readonly x: AnyExpr }): AnyExpr =>
      cd.mean(cd.mul(x, cd.add(cd.sum(p.a!), cd.mul(p.b!, cd.sum(p.c!)))))
    const counted = (bucketBytes: number): number =>
      mpi.simulateRanks(2, () => {
        const loss = mpi.shard(g, { data: { x: 0 }, bucketBytes })
        const program = cd.toProgram((p: never) =>
          cd.valueAndGrad((v: typeof params) => loss({ params: v as never, x: [1, 2] as never }))(p),
        )(params as never)
        return [...cd.show(program).matchAll(/= total\(/g)].length
      })[0]!
    expect([counted(25e6), counted(8), counted(16)]).toEqual([2, 5, 3]) // the gradient's 8 + 8 + 16 bytes, and the loss with its weight, 8 each
  })
  it('training on 1, 2, 3 and 4 ranks has the same losses and parameters', () => {
    const steps = count(5, 12)
    const want = losses(steps)
    expect(want[3]!).toBeLessThan(want[0]!) // the same rows again
    for (const n of some([2, 3, 4], 2)) {
      const [first, ...others] = mpi.simulateRanks(n, () => losses(steps))
      near(first!, want)
      for (const other of others) expect(other).toEqual(first)
    }
  })
  it('refuses what it cannot do', () => {
    const thrown = (g: () => unknown): string => {
      try {
        g()
      } catch (e) {
        if (cd.isAdException(e)) return e.message
      }
      return 'nothing was thrown'
    }
    const two = (g: () => unknown): string => thrown(() => mpi.simulateRanks(2, g))
    expect(thrown(() => mpi.shard(f, {} as never))).toMatch('data')
    expect(thrown(() => mpi.shard(f, { data: {} }))).toMatch('data names no input')
    expect(thrown(() => cd.evaluate(mpi.shard(f, { data: { z: 0 } } as never)({ w, x: whole } as never)))).toMatch('there is no input z')
    expect(
      two(() =>
        mpi.shard(({ x, y }: { x: AnyExpr; y: AnyExpr }) => cd.add(cd.sum(x), cd.sum(y)), { data: { x: 0, y: 0 } })({
          x: [1] as never,
          y: [1, 2] as never,
        }),
      ),
    ).toMatch('the parts of the data have lengths 1 and 2')
    expect(two(() => mpi.shard(({ x }: { x: AnyExpr }) => cd.argmax(x), { data: { x: 0 } })({ x: [1] as never }))).toMatch(
      'a result of f is i32',
    )
    const weighed = (weight: unknown): string =>
      two(() => mpi.shard(f, { data: { x: 0 }, weight: weight as never })({ w, x: mpi.localRows(whole) } as never))
    expect(weighed(() => [1, 2])).toMatch('the weight is f64[2]')
    expect(weighed(() => cd.tensor(1, [], 'i32'))).toMatch('the weight is i32[]')
    expect(weighed(3)).toMatch('weight')
    expect(thrown(() => mpi.shard(f, { data: { x: 0 }, op: 'sum', weight: () => 1 }))).toMatch('a sum over the parts has no weights')
    expect(thrown(() => mpi.localRows(cd.tensor(1)))).toMatch('a scalar has no rows')
    expect(thrown(() => mpi.localRows({ x: [1, 2], y: [[1], [2], [3]] }))).toMatch('there are leaves of 2 and of 3 rows')
  })
})
