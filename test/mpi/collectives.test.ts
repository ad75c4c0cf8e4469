/** Collectives on simulated ranks: what they compute, their derivatives and batches, random programs against one rank, JSON, errors. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { reference } from '../../src/backends/reference/index.js'
import { makeCheck, report } from '../../src/check/index.js'
import type { AnyExpr } from '../../src/index.js'
import * as cd from '../../src/index.js'
import * as mpi from '../../src/mpi/index.js'
import { mpiRules } from '../../src/mpi/rules.js'
import { count, some } from '../depth.js'
import { jointProgram, parts, programs, rankProgram } from './programs.js'

const N = 3
const arrayOf = (x: unknown): unknown => (cd.evaluate(x as AnyExpr) as cd.Tensor).toArray()
/** Rank r's array: rows that no other rank has. */
const mine = (rank: number): cd.Tensor =>
  cd.tensor(
    [
      [1, 2],
      [3, 4],
      [5, 6],
    ].map((r) => r.map((v) => v + 10 * rank)),
  )
const onEach = (f: (x: AnyExpr, rank: number) => AnyExpr): readonly unknown[] =>
  mpi.simulateRanks(N, (rank) => arrayOf(f(mine(rank) as unknown as AnyExpr, rank)))
const thrown = (f: () => unknown): string => {
  try {
    f()
  } catch (e) {
    if (cd.isAdException(e)) return e.message
    throw e
  }
  throw new Error('nothing was thrown')
}
const fill = (n: number): null[] => Array.from({ length: n }, () => null)

describe('what collectives compute on three ranks', () => {
  it('allReduce', () => {
    const all = (y: unknown) => [y, y, y]
    expect(onEach((x) => mpi.allReduce(x))).toEqual(
      all([
        [33, 36],
        [39, 42],
        [45, 48],
      ]),
    )
    expect(onEach((x) => mpi.allReduce(x, { op: 'mean' }))).toEqual(
      all([
        [11, 12],
        [13, 14],
        [15, 16],
      ]),
    )
    expect(onEach((x, rank) => mpi.allReduce(cd.mul(rank === 1 ? -1 : 1, x), { op: 'max' }))).toEqual(
      all([
        [21, 22],
        [23, 24],
        [25, 26],
      ]),
    )
    expect(mpi.simulateRanks(2, (r) => (cd.evaluate(mpi.allReduce(cd.tensor([r === 0]))) as cd.Tensor).dtype)).toEqual(['i32', 'i32'])
    expect(mpi.simulateRanks(2, (r) => arrayOf(mpi.allReduce([r === 0 ? Number.NaN : 1, -0], { op: 'max' })))).toEqual(
      fill(2).map(() => [Number.NaN, -0]),
    )
  })
  it('broadcast, allGather, reduceScatter, allToAll, sendRecv', () => {
    expect(onEach((x) => mpi.broadcast(x, { root: 1 }))).toEqual(
      fill(N).map(() => [
        [11, 12],
        [13, 14],
        [15, 16],
      ]),
    )
    expect(onEach((x) => mpi.allGather(cd.slice(x, [0], [1])))).toEqual(
      fill(N).map(() => [
        [1, 2],
        [11, 12],
        [21, 22],
      ]),
    )
    expect(onEach((x) => mpi.allGather(cd.slice(x, [0], [1]), { axis: 1 }))).toEqual(fill(N).map(() => [[1, 2, 11, 12, 21, 22]]))
    expect(onEach((x) => mpi.reduceScatter(x))).toEqual([[[33, 36]], [[39, 42]], [[45, 48]]])
    expect(onEach((x) => mpi.allToAll(x))).toEqual([
      [
        [1, 2],
        [11, 12],
        [21, 22],
      ],
      [
        [3, 4],
        [13, 14],
        [23, 24],
      ],
      [
        [5, 6],
        [15, 16],
        [25, 26],
      ],
    ])
    expect(onEach((x) => cd.slice(mpi.sendRecv(x, { to: [1, 2, null] }), [0], [1]))).toEqual([[[0, 0]], [[1, 2]], [[11, 12]]])
  })
  it('on one rank they leave arrays as they are', () => {
    for (const f of [mpi.allReduce, mpi.broadcast, mpi.allGather, mpi.reduceScatter, mpi.allToAll])
      expect(arrayOf((f as (x: unknown) => AnyExpr)([1, 2]))).toEqual([1, 2])
    expect(arrayOf(mpi.sendRecv([1, 2], { to: [0] }))).toEqual([1, 2])
    expect(arrayOf(mpi.sendRecv([1, 2], { to: [null] }))).toEqual([0, 0])
    expect([mpi.world.rank, mpi.world.size, mpi.world.library, mpi.world.barrier()]).toEqual([0, 1, undefined, undefined])
  })
  it('sums are the same bits on every rank, whatever the others are', () => {
    const xs = [0.1, 1e16, -1e16, 0.3, 1e-9]
    const sums = mpi.simulateRanks(5, (r) => arrayOf(mpi.allReduce(xs[r]!)))
    expect(sums).toEqual(fill(5).map(() => 0.1 + 1e16 + (-1e16 + 0.3) + 1e-9))
  })
})

describe('derivatives and batches', () => {
  it.each(parts([1, 2, null], 1).map((p) => [p.name, p] as const))('%s', (_name, part) => {
    const x = cd.tensor([
      [0.3, -0.2],
      [0.9, 0.4],
      [-0.6, 0.1],
    ])
    expect(mpi.checkRanks((v: AnyExpr) => part.rank(v, N), { ranks: N })(x)).toMatchObject({ _tag: 'Right' })
  })
  it('a wrong transpose and a wrong tangent are found', () => {
    const f = (x: AnyExpr): AnyExpr => mpi.allReduce(x)
    const x = cd.tensor([1, 2])
    // The transpose of an allReduce is no identity.
    const reverse = cd.customRule(f, {
      rrule: (v: AnyExpr) => [f(v), (yBar: AnyExpr) => yBar],
      frule: (v: AnyExpr, dv: AnyExpr) => [f(v), f(dv)],
    } as never)
    const lawsOf = (r: ReturnType<ReturnType<typeof mpi.checkRanks>>) => (r._tag === 'Left' ? [...new Set(r.left.map((l) => l.law))] : [])
    expect(lawsOf(mpi.checkRanks(reverse as typeof f)(x))).toEqual(['reverse'])
    const forward = cd.customRule(f, { frule: (v: AnyExpr, dv: AnyExpr) => [f(v), dv] } as never)
    expect(lawsOf(mpi.checkRanks(forward as typeof f)(x))).toEqual(['forward'])
  })
  it('rules of one rank pass the checker', () => {
    const registry = Object.values(mpiRules).reduce((r, rule) => r.with(rule), cd.coreRegistry)
    const check = makeCheck(registry)
    for (const primitive of some(mpi.collectives, 4)) expect(report(check.checkRule(primitive)), primitive.name).toMatch(/^ok/)
  })
  it('what a rank does not give stays 0 beside an infinite slope', () => {
    const at = (f: (x: AnyExpr) => AnyExpr): readonly unknown[] =>
      mpi.simulateRanks(2, (r) => arrayOf(cd.grad((x: AnyExpr) => cd.sum(f(cd.sqrt(x))))([r === 0 ? 4 : 0] as never)))
    expect(at((x) => mpi.broadcast(x))).toEqual([[0.5], [0]])
    expect(at((x) => mpi.sendRecv(x, { to: [1, null] }))).toEqual([[0.25], [0]])
  })
  it('ties of a maximum share its derivative, over ranks too', () => {
    const dx = mpi.simulateRanks(3, (r) =>
      arrayOf(cd.grad((x: AnyExpr) => cd.sum(mpi.allReduce(x, { op: 'max' })))([r === 0 ? 1 : 2, 5] as never)),
    )
    expect(dx).toEqual([
      [0, 1],
      [1.5, 1],
      [1.5, 1],
    ])
  })
  it('the second derivative', () => {
    const h = mpi.simulateRanks(2, (r) =>
      arrayOf(cd.hvp((x: AnyExpr) => cd.sum(cd.exp(mpi.allReduce(x))))([0.1 * r] as never, [1] as never)),
    )
    for (const row of h as number[][]) expect(row[0]).toBeCloseTo(4 * Math.exp(0.1), 12)
  })
})

describe('random programs', () => {
  it('on three ranks equal one rank that has all arrays: values, tangents, gradients', () => {
    const numbers = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 18, maxLength: 18 })
    fc.assert(
      fc.property(programs(N), numbers, numbers, (all, xs, ws) => {
        const joint = cd.tensor([0, 1, 2].map((r) => [0, 1, 2].map((i) => xs.slice(6 * r + 2 * i, 6 * r + 2 * i + 2))))
        const weights = cd.tensor([0, 1, 2].map((r) => [0, 1, 2].map((i) => ws.slice(6 * r + 2 * i, 6 * r + 2 * i + 2))))
        const pick = (t: cd.Tensor, r: number) => cd.tensor((t.toArray() as number[][][])[r]!)
        const [f, g] = [rankProgram(all, N), jointProgram(all, N)]
        const both = (h: typeof f) => (x: unknown, w: unknown) => {
          const [y, xBar] = cd.vjp(h)(x as never, w as never) as unknown as readonly AnyExpr[]
          const dy = (cd.jvp(h)(x as never, w as never) as unknown as readonly AnyExpr[])[1]!
          return [y!, xBar!, dy].map((v) => Array.from((cd.evaluate(v) as cd.Tensor).data))
        }
        const [y, xBar, dy] = both(g)(joint, weights)
        const ranks = mpi.simulateRanks(N, (r) => both(f)(pick(joint, r), pick(weights, r)))
        ;[y!, xBar!, dy!].forEach((want, k) => {
          const got = ranks.flatMap((r) => r[k]!)
          expect(got.length).toBe(want.length)
          got.forEach((v, i) => {
            expect(Math.abs(v - want[i]!), all.map((p) => p.name).join(' | ')).toBeLessThan(1e-9 * (1 + Math.abs(want[i]!)))
          })
        })
      }),
      { numRuns: count(8, 120, 400) },
    )
  })
})

describe('programs', () => {
  const f = (x: AnyExpr): AnyExpr =>
    mpi.sendRecv(
      mpi.reduceScatter(mpi.allToAll(mpi.allGather(mpi.broadcast(mpi.allReduce(mpi.allReduce(x), { op: 'max' }), { root: 2 })))),
      { to: [2, null, 0] },
    )
  it('are read back from JSON, with all collectives', () => {
    const results = mpi.simulateRanks(N, (r) => {
      const program = cd.toProgram(f)(mine(r))
      const back = cd.fromJSON(JSON.parse(JSON.stringify(cd.toJSON(program))), mpi.collectives)
      if (back._tag === 'Left') throw new Error(cd.explain(back.left))
      return [arrayOf(f(mine(r) as unknown as AnyExpr)), arrayOf(cd.fromProgram(back.right)(mine(r)))]
    })
    for (const [a, b] of results) expect(b).toEqual(a)
  })
  it('of three ranks are refused by two', () => {
    const program = cd.toJSON(mpi.simulateRanks(3, () => cd.toProgram((x) => mpi.allGather(x))([1, 2]))[0]!)
    const read = cd.fromJSON(program, mpi.collectives)
    expect(thrown(() => read._tag === 'Right' && mpi.simulateRanks(2, () => cd.fromProgram(read.right)([1, 2])))).toMatch(
      'it is of a program for 3 ranks, and there are 2',
    )
  })
})

describe('what goes wrong is an error, not a hang', () => {
  const one = (): unknown => cd.evaluate(mpi.allReduce([1]))
  it('ranks that do not agree', () => {
    expect(thrown(() => mpi.simulateRanks(3, (r) => (r === 2 ? 1 : one())))).toMatch(
      'at collective 1: ranks 0, 1: allReduce (sum) of f64[1]; rank 2: has ended',
    )
    expect(thrown(() => mpi.simulateRanks(2, (r) => cd.evaluate(mpi.allReduce(r === 0 ? [1] : [1, 2]))))).toMatch(
      'rank 0: allReduce (sum) of f64[1]; rank 1: allReduce (sum) of f64[2]',
    )
    expect(thrown(() => mpi.simulateRanks(2, (r) => (r === 0 ? mpi.world.barrier() : one())))).toMatch('rank 0: barrier; rank 1: allReduce')
  })
  it('evaluation by meanings, which knows one rank', () => {
    const f = (): unknown => cd.compile((x: AnyExpr) => mpi.allReduce(x), reference())([1] as never)
    expect((f() as cd.Tensor).toArray()).toEqual([1])
    expect(thrown(() => mpi.simulateRanks(2, f))).toMatch('allReduce of 2 ranks')
  })
  it('a rank that throws', () => {
    const f = (r: number): unknown => {
      one()
      if (r === 1) throw new Error('no data')
      return one()
    }
    expect(thrown(() => mpi.simulateRanks(3, f))).toMatch('rank 1 of 3 failed before collective 2: no data')
  })
  it('what operations are given', () => {
    expect(thrown(() => mpi.sendRecv([1], { to: [0, 1] }))).toMatch('to is [0, 1], and there is 1 rank')
    expect(thrown(() => mpi.simulateRanks(2, () => cd.evaluate(mpi.sendRecv([1], { to: [1, 1] }))))).toMatch(
      'give for each rank another rank that receives',
    )
    expect(thrown(() => cd.evaluate(mpi.broadcast([1], { root: 1 })))).toMatch('its root is rank 1, and the last rank is 0')
    expect(thrown(() => mpi.allGather(1))).toMatch('axis 0 is out of range')
    expect(thrown(() => mpi.simulateRanks(2, () => mpi.reduceScatter([1, 2, 3])))).toMatch('2 ranks do not divide an axis of 3')
    expect(thrown(() => mpi.allReduce([1], { op: 'min' as never }))).toMatch("op is 'min'")
    expect(thrown(() => mpi.simulateRanks(0, () => 1))).toMatch('the number of ranks is 0')
    expect(thrown(() => mpi.checkRanks(mpi.allReduce as never, { rank: 2 } as never)([1]))).toMatch('rank')
  })
})
