/** Predictions of steps on many ranks: what they count against closed forms and simulated ranks, their laws, their text, and errors. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AnyExpr } from '../../src/index.js'
import * as cd from '../../src/index.js'
import { within } from '../../src/mpi/communicator.js'
import * as mpi from '../../src/mpi/index.js'
import { countedRank } from '../../src/mpi/scale/counted.js'
import { fitted } from '../../src/mpi/scale/measure-link.js'
import { count } from '../depth.js'

const link = { latency: 1e-5, bandwidth: 1e9 }
const rates = { flops: 1e9, bytes: 1e10 }
const CARD = 256
const sumOf = (x: AnyExpr): AnyExpr => mpi.allReduce(x)
const rowOf = (f: (x: AnyExpr) => AnyExpr, n: number, spec: unknown, more: Partial<mpi.ScaleOptions> = {}): mpi.ScaleRow =>
  mpi.scaleOf(f, () => [spec], { link, rates, ranks: [n], ...more }).rows[0]!
const refusal = (f: () => unknown): cd.AdError => {
  try {
    f()
  } catch (e) {
    if (cd.isAdException(e)) return e.error
    throw e
  }
  throw new Error('nothing was thrown')
}
const numbers = (y: AnyExpr): readonly number[] => Array.from((cd.evaluate(y) as cd.Tensor).data)
const sizes = fc.integer({ min: 2, max: 200 })
const seconds = fc.double({ min: 0, max: 1e-2, noNaN: true })

const net = { w: cd.f32(3, 2), b: cd.f32(2) }
interface Step {
  readonly p: { readonly w: AnyExpr; readonly b: AnyExpr }
  readonly x: AnyExpr
}
const loss = ({ p, x }: Step): AnyExpr => cd.mean(cd.square(cd.linear(x as never, p.w as never, p.b as never) as AnyExpr)) as AnyExpr
/** A step of gradient descent, with the loss in parts. */
const step = (given: Step): unknown => {
  const { value, grad } = cd.valueAndGrad(mpi.shard(loss, { data: { x: 0 } }), { wrt: 'p' } as never)(given as never) as unknown as {
    readonly value: AnyExpr
    readonly grad: Step['p']
  }
  const down = (w: AnyExpr, g: AnyExpr): AnyExpr => cd.sub(w, cd.mul(0.1, g)) as AnyExpr
  return { p: { w: down(given.p.w, grad.w), b: down(given.p.b, grad.b) }, loss: value }
}

describe('what a rank sends', () => {
  it('of a short sum goes whole to each other rank, behind a roll call', () => {
    for (const n of [2, 3, 8, 100])
      expect(rowOf(sumOf, n, cd.f32(5))).toMatchObject({ messages: 2 * (n - 1), bytesSent: (n - 1) * (CARD + 20) })
  })
  it('of a long sum is that of a ring, 2 (n - 1) / n of its bytes', () => {
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 40 }), (n, k) => {
        const length = n * (Math.ceil(65_536 / 8 / n / n) + k)
        const row = rowOf(sumOf, n, cd.f64(length))
        expect(row.bytesSent - CARD * (n - 1)).toBe((2 * (n - 1) * 8 * length) / n)
        expect(row.messages).toBe(3 * (n - 1))
      }),
      { numRuns: count(10, 100) },
    )
  })
  it('of each collective', () => {
    const n = 4
    const of = (f: (x: AnyExpr) => AnyExpr): readonly number[] => {
      const { messages, bytesSent } = rowOf(f, n, cd.f32(40_000))
      return [messages - (n - 1), bytesSent - CARD * (n - 1)]
    }
    const b = 160_000
    expect(of((x) => mpi.allGather(x))).toEqual([3, 3 * b])
    expect(of((x) => mpi.reduceScatter(x))).toEqual([3, (3 * b) / 4])
    expect(of((x) => mpi.allToAll(x))).toEqual([3, (3 * b) / 4])
    // The last rank is a leaf of the tree, and the end of the pipeline.
    expect(of((x) => mpi.broadcast(x))).toEqual([0, 0])
    expect(of((x) => mpi.broadcast(x, { root: 3 }))).toEqual([3, 3 * b])
    expect(of((x) => mpi.sendRecv(x, { to: [1, 2, 3, null] }))).toEqual([0, 0])
    expect(of((x) => mpi.sendRecv(x, { to: [3, 0, 1, 2] }))).toEqual([1, b])
  })
  it('in a loop counts every time, in order', () => {
    const f = (x: AnyExpr): AnyExpr =>
      cd.fori(5, (_i: AnyExpr, y: AnyExpr) => cd.mul(0.5, mpi.allReduce(y)) as never, x as never) as AnyExpr
    const { collectives } = rowOf(f, 3, cd.f64(2))
    expect(collectives.map((c) => c.collective)).toEqual(Array.from({ length: 5 }, () => 'allReduce (sum) of f64[2]'))
  })
  it('of a step whose update is in parts is read off the program: nothing knows of it', () => {
    const f = ({ w, x }: { readonly w: AnyExpr; readonly x: AnyExpr }): AnyExpr => {
      const whole = mpi.allGather(w)
      const grad = cd.grad((v: AnyExpr) => cd.sum(cd.square(cd.matmul(x as never, v as never))) as AnyExpr)(
        whole as never,
      ) as unknown as AnyExpr
      return cd.sub(w, cd.mul(0.1, mpi.reduceScatter(grad))) as AnyExpr
    }
    const n = 8
    const [row] = mpi.scaleOf(f, () => [{ w: cd.f32(64 / n, 10), x: cd.f32(16, 64) }], { link, rates, ranks: [n] }).rows
    expect(row!.collectives.map((c) => [c.collective, c.bytesSent])).toEqual([
      ['allGather of f32[8, 10]', 7 * (CARD + 320)],
      ['reduceScatter of f32[64, 10]', 7 * (CARD + 320)],
    ])
  })
})

describe('the one rank that is there', () => {
  it('receives what ranks receive that hold the same', () => {
    const n = 3
    const x = cd.tensor(Float64Array.from({ length: 9 }, (_, i) => Math.sin(i)))
    const long = cd.tensor(Float64Array.from({ length: 9000 }, (_, i) => Math.sin(i)))
    const all: readonly ((x: AnyExpr) => AnyExpr)[] = [
      sumOf,
      (v) => mpi.allReduce(v, { op: 'mean' }),
      (v) => mpi.allReduce(v, { op: 'max' }),
      (v) => mpi.broadcast(v),
      (v) => mpi.broadcast(v, { root: 2 }),
      (v) => mpi.allGather(v),
      (v) => mpi.sendRecv(v, { to: [1, 2, 0] }),
      (v) => mpi.sendRecv(v, { to: [1, null, 0] }),
    ]
    for (const v of [x, long])
      for (const f of all) {
        const got = within(countedRank(n).communicator, () => numbers(f(v as never)))
        const want = mpi.simulateRanks(n, () => numbers(f(v as never)))[n - 1]!
        got.forEach((y, i) => {
          expect(y).toBeCloseTo(want[i]!, 12)
        })
        expect(got.length).toBe(want.length)
      }
  })
  it('has the longest part of data that ranks do not divide', () => {
    const x = cd.tensor(new Float32Array(30), [10, 3])
    const scale = mpi.scaleOf(step, () => [{ p: net, x: mpi.localRows(x) }], { link, rates, ranks: [1, 4], scaling: 'strong' })
    expect(scale.rows.map((r) => r.argumentBytes)).toEqual([4 * (8 + 30), 4 * (8 + 9)])
  })
  it('is alone on one rank: nothing is exchanged', () => {
    expect(rowOf(sumOf, 1, cd.f32(1000))).toMatchObject({ messages: 0, bytesSent: 0, exchange: 0, efficiency: 1, collectives: [] })
  })
  it('needs no more for thousands of ranks than for eight: the step is the same, and only what ranks say to each other grows', () => {
    const { rows } = mpi.scaleOf(step, () => [{ p: net, x: cd.f32(50, 3) }], { link, rates, ranks: [8, 4096] })
    const [few, many] = rows
    for (const name of ['flops', 'argumentBytes', 'resultBytes'] as const) expect(many![name]).toBe(few![name])
    expect(many!.collectives.length).toBe(few!.collectives.length)
    // Two cards of each other rank, and room for what they send of short arrays: 64 KiB, or their parts of one element.
    expect(many!.memory - few!.memory).toBeLessThanOrEqual(2 * CARD * (4096 - 8) + 4096 * 8)
  })
  it('is measured by its plan: a larger part takes longer', () => {
    const of = (rows: number): number =>
      mpi.scaleOf(
        (x: AnyExpr) => mpi.allReduce(cd.matmul(cd.transpose(x) as never, x as never) as AnyExpr),
        () => [cd.f32(rows, 64)],
        {
          link,
          ranks: [4],
          measure: 0.02,
        },
      ).rows[0]!.compute
    expect(of(4000)).toBeGreaterThan(of(40))
  })
})

describe('the time of an exchange', () => {
  const at = (length: number, n: number, more: Partial<mpi.ScaleOptions>): number => rowOf(sumOf, n, cd.f64(length), more).exchange
  it('grows with the latency, with the bytes, with the ranks, and falls with the bandwidth', () => {
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 20_000 }), seconds, seconds, (n, length, a, more) => {
        const base = { latency: a, bandwidth: 1e8 }
        const t = at(length, n, { link: base })
        expect(at(length, n, { link: { ...base, latency: a + more } })).toBeGreaterThanOrEqual(t)
        expect(at(length, n, { link: { ...base, bandwidth: 2e8 } })).toBeLessThan(t)
        // Where arrays are no longer sent whole bytes fall, as they should; parts of equal length grow with the array.
        if (8 * length * n > 65_536) expect(at(length + n, n, { link: base })).toBeGreaterThan(t)
      }),
      { numRuns: count(10, 60) },
    )
  })
  it('grows with the number of ranks that share an array', () => {
    fc.assert(
      fc.property(fc.integer({ min: 3, max: 30 }), fc.integer({ min: 10, max: 20 }), (n, k) => {
        const length = k * n * (n + 1) * 10
        expect(at(length, n + 1, {})).toBeGreaterThan(at(length, n, {}))
      }),
      { numRuns: count(10, 60) },
    )
  })
  it('is alpha-beta: messages times the latency, and bandwidth the bandwidth', () => {
    const n = 5
    const row = rowOf(sumOf, n, cd.f64(20_000))
    expect(row.latency).toBeCloseTo(3 * (n - 1) * link.latency, 15)
    expect(row.bandwidth).toBeCloseTo((CARD * (n - 1) + (2 * (n - 1) * 160_000) / n) / link.bandwidth, 15)
    expect(row.seconds).toBe(row.compute + row.exchange)
  })
  it('goes over two links: within a machine, and between machines that share theirs', () => {
    const inside = { latency: 1e-7, bandwidth: 1e10 }
    const [n, near, length] = [8, 4, 20_000]
    const row = rowOf(sumOf, n, cd.f64(length), { inside, ranksPerNode: near })
    const sent = CARD * (n - 1) + (2 * (n - 1) * 8 * length) / n
    expect(row.latency).toBeCloseTo(3 * (3 * inside.latency + 4 * link.latency), 15)
    expect(row.bandwidth).toBeCloseTo((sent * 3) / 7 / inside.bandwidth + (near * sent * 4) / 7 / link.bandwidth, 15)
    expect(rowOf(sumOf, n, cd.f64(length), { inside, ranksPerNode: n }).latency).toBeCloseTo(21 * inside.latency, 15)
  })
  it('and what is computed takes longer where ranks share cores', () => {
    const [own, shared] = [4, 1].map((cores) => rowOf(sumOf, 4, cd.f64(20_000), { ranksPerNode: 4, cores }))
    for (const name of ['compute', 'latency', 'bandwidth'] as const) expect(shared![name]).toBeCloseTo(4 * own![name], 15)
  })
  it('is that of a tree where MPICH gathers short arrays, and of both where they broadcast', () => {
    const rounds = (f: (x: AnyExpr) => AnyExpr, library: 'Open MPI' | 'MPICH'): number =>
      Math.round(rowOf(f, 64, cd.f32(1), { library }).latency / link.latency)
    expect([rounds(sumOf, 'Open MPI'), rounds(sumOf, 'MPICH')]).toEqual([126, 12])
    expect([rounds((x) => mpi.broadcast(x), 'Open MPI'), rounds((x) => mpi.broadcast(x), 'MPICH')]).toEqual([63 + 6, 12])
  })
  it('of a message is there on ranks that send none', () => {
    const f = (x: AnyExpr): AnyExpr => mpi.sendRecv(x, { to: [1, 2, null] })
    expect(rowOf(f, 3, cd.f64(1000)).bandwidth).toBeCloseTo((2 * CARD + 8000) / link.bandwidth, 15)
    expect(rowOf((x) => mpi.sendRecv(x, { to: [1, null, null] }), 3, cd.f64(1000)).bandwidth).toBeCloseTo(
      (2 * CARD + 8000) / link.bandwidth,
      15,
    )
  })
  it('bounds what does not compute much: efficiency of weak and of strong scaling', () => {
    const of = (scaling: 'weak' | 'strong') => mpi.scaleOf(sumOf, () => [cd.f64(4)], { link, rates, ranks: [1, 2], scaling }).rows[1]!
    expect(of('weak').bound).toBe('latency')
    expect(of('strong').efficiency).toBeCloseTo(of('weak').efficiency / 2, 15)
    expect(rowOf(sumOf, 2, cd.f64(4), { link: { latency: 0, bandwidth: 1 } }).bound).toBe('bandwidth')
    expect(rowOf(sumOf, 2, cd.f64(4), { link: { latency: 0, bandwidth: 1e15 } }).bound).toBe('compute')
  })
})

describe('measureLink', () => {
  it('finds the two numbers of which times are made, and none below 0', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-7, max: 1e-2, noNaN: true }), fc.double({ min: 1e-11, max: 1e-6, noNaN: true }), (a, b) => {
        const samples = [[3, 768], [1, 1024], [4, 1e4], [5, 1e6]].map(([messages, bytes]) => ({
          messages: messages!,
          bytes: bytes!,
          seconds: a * messages! + b * bytes!,
        })) // biome-ignore format: one row
        const [latency, byte] = fitted(samples)
        expect(Math.abs(latency / a - 1)).toBeLessThan(1e-3)
        expect(Math.abs(byte / b - 1)).toBeLessThan(1e-3)
      }),
    )
    expect(fitted([{ messages: 1, bytes: 10, seconds: 0.9 }, { messages: 1, bytes: 100, seconds: 99 }])[0]).toBe(0) // biome-ignore format: one row
    expect(fitted([{ messages: 1, bytes: 10, seconds: 2 }, { messages: 1, bytes: 1000, seconds: 1 }])[1]).toBe(0) // biome-ignore format: one row
  })
  it('takes several ranks, and gives all of them one link', () => {
    expect(cd.explain(refusal(() => mpi.measureLink()))).toMatch(/measureLink: there is one rank/)
    const measured = mpi.simulateRanks(2, () => mpi.measureLink({ rounds: 1, largest: 4096 }))
    expect(measured[1]!.latency).toBe(measured[0]!.latency)
    expect(rowOf(sumOf, 2, cd.f32(3), { link: measured[0]! }).latency).toBe(2 * measured[0]!.latency)
  })
})

describe('scaleOf', () => {
  it('prints a table, and what is exchanged at the largest number of ranks', () => {
    const scale = mpi.scaleOf(step, () => [{ p: net, x: cd.f32(64, 3) }], { link: mpi.links.ethernet10, rates, ranks: [1, 4] })
    expect(String(scale)).toMatchInlineSnapshot(`
      "step: weak scaling, compute by rates, a link of 30 us and 1,250,000,000 bytes a second.
        ranks  step     compute  latency  bandwidth  efficiency  bound by  messages  bytes sent  memory
            1  2.32 us  2.32 us       0         0    100%        compute          0           0   1,348
            4   364 us  2.35 us  360 us   1.32 us      1%        latency         12       1,656  68,680
      collectives of a step on 4 ranks:
        allReduce (sum) of f32[2]: 6 messages, 792 bytes sent, 181 us
        allReduce (sum) of f32[8]: 6 messages, 864 bytes sent, 181 us"
    `)
    expect(
      String(
        mpi.scaleOf(
          (x: AnyExpr) => cd.neg(x),
          () => [cd.f32(2)],
          { link, rates, ranks: [2] },
        ),
      ),
    ).toMatch('no collectives: every rank computes by itself.')
  })
  it('takes arrays, specs, and what is computed of the world', () => {
    const f = (x: AnyExpr, y: AnyExpr): AnyExpr => mpi.allReduce(cd.add(x, y) as AnyExpr)
    const { rows } = mpi.scaleOf(f, () => [[1, 2], mpi.world.rank], { link, rates, ranks: [3] })
    expect(rows[0]!.argumentBytes).toBe(24)
    expect(rows[0]!.resultBytes).toBe(16)
  })
  it('refuses links, numbers of ranks and functions that are none', () => {
    const bad = (options: object): string =>
      cd.explain(refusal(() => mpi.scaleOf(sumOf, () => [cd.f32(2)], { link, rates, ...options } as never)))
    expect(bad({ link: undefined })).toMatch(/scaleOf: link/)
    expect(bad({ link: { latency: -1, bandwidth: 1 } })).toMatch(/latency is -1\..*give a number of seconds from 0/s)
    expect(bad({ link: { latency: Number.NaN, bandwidth: 1 } })).toMatch(/latency is NaN/)
    expect(bad({ link: { latency: 0, bandwidth: 0 } })).toMatch(/bandwidth is 0\..*bytes a second, above 0/s)
    expect(bad({ link: { latency: 0 } })).toMatch(/bandwidth/)
    expect(bad({ link: { latency: 0, bandwith: 1 } })).toMatch(/bandwith/)
    expect(bad({ ranks: [2, 0] })).toMatch(/ranks has 0\..*from 1 to 65536/s)
    expect(bad({ ranks: [] })).toMatch(/ranks is empty/)
    expect(bad({ ranks: [2.5] })).toMatch(/ranks/)
    expect(bad({ rates: { flops: 0, bytes: 1 } })).toMatch(/flops is 0\..*operations a second/s)
    expect(bad({ cores: 0 })).toMatch(/cores is 0/)
    expect(cd.explain(refusal(() => mpi.scaleOf(cd.compile(sumOf) as never, () => [1], { link })))).toMatch(/a compiled function/)
    expect(cd.explain(refusal(() => mpi.scaleOf(sumOf, () => [cd.f32('n')], { link })))).toMatch(/the size of 'n' is not known/)
    expect(cd.explain(refusal(() => mpi.scaleOf(sumOf, () => 3 as never, { link })))).toMatch(/the second argument returns/)
  })
  it('says where ranks do not divide an axis', () => {
    const e = refusal(() =>
      mpi.scaleOf(
        (x: AnyExpr) => mpi.reduceScatter(x),
        () => [cd.f32(6)],
        { link, rates, ranks: [3, 4] },
      ),
    )
    expect(e._tag).toBe('ShapeMismatch')
    expect(cd.explain(e)).toMatch('4 ranks do not divide an axis of 6')
  })
})
