/** Sums over ranks that go on while a rank computes: the numbers and the order of plans with one after the other, where they begin and end, and what is predicted of them. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CpuBackend, makeCpu } from '../../src/backends/cpu/index.js'
import type { AnyExpr } from '../../src/index.js'
import * as cd from '../../src/index.js'
import { atOnce, type Communicator, Lines, Started, within } from '../../src/mpi/communicator.js'
import * as mpi from '../../src/mpi/index.js'
import { countedRank } from '../../src/mpi/scale/counted.js'
import { waitedFor } from '../../src/mpi/scale/link.js'
import { count, some } from '../depth.js'

const backend = (makeCpu as unknown as (options: Record<string, unknown>) => CpuBackend)({ verify: true, poison: true })
const numbers = (t: unknown): readonly number[] => cd.treeLeaves(t).flatMap((leaf) => Array.from((leaf as unknown as cd.Tensor).data))
/** Equal to the bit; with a batch the weights of the parts have none of their own, so that what is divided by them is another program: to rounding. */
const agree = (
  got: readonly (readonly number[])[],
  want: readonly (readonly number[])[],
  name: string,
  dtype: 'f32' | 'f64' = 'f64',
): void => {
  if (name !== BATCH) expect(got).toEqual(want)
  else
    for (const [r, all] of got.entries())
      for (const [i, v] of all.entries())
        expect(Math.abs(v - want[r]![i]!)).toBeLessThanOrEqual((dtype === 'f32' ? 1e-6 : 1e-14) * Math.max(1, Math.abs(v)))
}
const BATCH = 'gradients of a batch of parameters'
const wave = (shape: readonly number[], k: number, dtype: 'f32' | 'f64' = 'f64'): cd.Tensor => {
  const n = shape.reduce((a, b) => a * b, 1)
  const data = Float64Array.from({ length: n }, (_, i) => Math.sin(1 + k + 1.7 * i) / 2)
  return cd.tensor(dtype === 'f32' ? new Float32Array(data) : data, shape as number[]) as unknown as cd.Tensor
}

interface Inputs {
  readonly p: readonly { readonly w: AnyExpr; readonly b: AnyExpr }[]
  readonly x: AnyExpr
}
const loss = ({ p, x }: Inputs): AnyExpr =>
  cd.mean(cd.square(p.reduce((h, { w, b }) => cd.tanh(cd.linear(h as never, w as never, b as never)) as AnyExpr, x)))
type Step = (inputs: Inputs) => unknown
const down = (p: Inputs['p'], grad: unknown): Inputs['p'] =>
  p.map(({ w, b }, i) => {
    const g = (grad as Inputs['p'])[i]!
    return { w: cd.sub(w, cd.mul(0.1, g.w)), b: cd.sub(b, cd.mul(0.1, g.b)) }
  })
/** What is done with a loss in parts. */
const uses: Readonly<Record<string, (f: typeof loss) => Step>> = {
  'a gradient step': (f) => (inputs) => {
    const { value, grad } = cd.valueAndGrad(f, { wrt: 'p' } as never)(inputs as never) as unknown as {
      readonly value: AnyExpr
      readonly grad: unknown
    }
    return { value, p: down(inputs.p, grad) }
  },
  'a gradient by which one is clipped': (f) => (inputs) => {
    const grad = cd.grad(f, { wrt: 'p' } as never)(inputs as never)
    const norm = cd.sqrt(
      cd
        .treeLeaves(grad)
        .map((g) => cd.sum(cd.square(g as AnyExpr)))
        .reduce((a, b) => cd.add(a, b)),
    )
    return cd.treeMap((g: AnyExpr) => cd.div(g, norm), grad as never)
  },
  'a Hessian-vector product':
    (f) =>
    ({ p, x }) =>
      cd.hvp((q: Inputs['p']) => f({ p: q, x }) as never)(p as never, p as never),
  'three steps in a scan':
    (f) =>
    ({ p, x }) =>
      cd.scan(
        (q: Inputs['p']) => {
          const { value, grad } = cd.valueAndGrad(f, { wrt: 'p' } as never)({ p: q, x } as never) as unknown as {
            readonly value: AnyExpr
            readonly grad: unknown
          }
          return [down(q, grad), value] as never
        },
        p as never,
        undefined as never,
        { length: 3 } as never,
      ),
  [BATCH]:
    (f) =>
    ({ p, x }) =>
      cd.vmap((q: Inputs['p']) => cd.grad((r: Inputs['p']) => f({ p: r, x }) as never)(q as never))(
        cd.treeMap((a: AnyExpr) => cd.stack([a, cd.neg(a)]), p as never) as never,
      ),
  'a gradient with checkpoint':
    (f) =>
    ({ p, x }) =>
      cd.grad(cd.checkpoint(((q: Inputs['p']) => f({ p: q, x })) as never) as never)(p as never),
}
const layers = (sizes: readonly number[], dtype: 'f32' | 'f64') =>
  sizes.slice(1).map((n, k) => ({ w: wave([sizes[k]!, n], k, dtype), b: wave([n], k + 7, dtype) }))
const options = { data: { x: 0 }, bucketBytes: 100 } as const
const compiled = (
  step: Step,
): ((inputs: unknown) => unknown) & {
  readonly explain: (inputs: unknown) => { readonly steps: readonly { readonly kernel: string; readonly flops: number }[] }
} => cd.compile(step as never, backend) as never

describe('sums that overlap', () => {
  it.each(Object.keys(uses))('%s has the bits that it has with one after the other', (name) => {
    const use = uses[name]!
    for (const dtype of ['f64', 'f32'] as const)
      for (const n of some([2, 1, 3, 5], 2)) {
        const on = (overlap: boolean) =>
          mpi.simulateRanks(n, (r) =>
            numbers(
              compiled(use(mpi.shard(loss, { ...options, overlap })))({ p: layers([3, 4, 2], dtype), x: wave([2 + r, 3], r, dtype) }),
            ),
          )
        agree(on(true), on(false), name, dtype)
      }
  })
  it('random networks, buckets and weights of parts', () => {
    let apart = 0
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 2, maxLength: 5 }),
        fc.integer({ min: 1, max: 400 }),
        fc.integer({ min: 1, max: 4 }),
        fc.constantFrom('length', 'weight', 'sum'),
        fc.constantFrom(...Object.keys(uses)),
        (sizes, bucketBytes, n, counted, name) => {
          const more =
            counted === 'sum' ? { op: 'sum' as const } : counted === 'weight' ? { weight: ({ x }: Inputs) => cd.sum(cd.square(x)) } : {}
          const on = (overlap: boolean) =>
            mpi.simulateRanks(n, (r) => {
              const f = compiled(uses[name]!(mpi.shard(loss, { data: { x: 0 }, bucketBytes, overlap, ...more } as never)))
              const given = { p: layers(sizes, 'f64'), x: wave([1 + (r % 2), sizes[0]!], r) }
              const y = numbers(f(given))
              const names = f.explain(given).steps.map((s) => s.kernel)
              const begins = names.flatMap((k, i) => (k === 'allReduceBegin' ? [i] : []))
              if (r === 0 && begins.some((i) => i + 1 < names.length && names[i + 1] !== 'allReduceEnd')) apart++
              return y
            })
          const one = on(false)
          agree(on(true), one, name)
          for (const all of one) if (name !== BATCH) expect(all).toEqual(one[0])
        },
      ),
      { numRuns: count(10, 80, 200) },
    )
    expect(apart).toBeGreaterThan(5)
  })
  it.each([false, true])(
    'several that are ready at once come in one order on all ranks, where parts have other shapes (overlap: %s)',
    (overlap) => {
      // A part of one row makes other loops than one of two: sums of equal shapes were once taken for each other.
      const p = layers([1, 1], 'f64')
      const rows = [1, 2, 1, 3]
      const parts = rows.map((n, r) => wave([n, 1], r))
      const whole = cd.evaluate(cd.concat(parts as never)) as cd.Tensor
      const on = (f: typeof loss, x: cd.Tensor) => numbers(compiled(uses['a gradient step']!(f))({ p, x }))
      const want = on(loss, whole)
      const got = mpi.simulateRanks(rows.length, (r) => on(mpi.shard(loss, { data: { x: 0 }, bucketBytes: 1, overlap }), parts[r]!))
      for (const all of got) for (const [i, v] of all.entries()) expect(v).toBeCloseTo(want[i]!, 12)
    },
  )
  it('begin where their cotangents are there, and end where nothing else is left to do, in the order in which they began', () => {
    const { communicator } = countedRank(2)
    const names = within(communicator, () =>
      compiled(uses['a gradient step']!(mpi.shard(loss, { data: { x: 0 }, bucketBytes: 8 * 9 * 8, overlap: true })))
        .explain({ p: layers([8, 8, 8, 8], 'f64'), x: wave([8, 8], 1) })
        .steps.map((s) => s.kernel),
    )
    const seen = names.filter((s) => /allReduce|gemm/.test(s)).map((s) => s.replace('gemm f64', 'product').replace('allReduce', ''))
    // The sum of the weights is under way during the forward pass, and ends where nothing else can be done.
    expect(seen.slice(0, 5)).toEqual(['Begin', 'product', 'product', 'product', 'End'])
    // Then the loss and each bucket, as soon as it is there.
    expect(seen.slice(5).join(' ')).toMatch(/^Begin( product)+ Begin( product)+ Begin( product)+ Begin End End End End$/)
    expect(seen.filter((s) => s === 'product')).toHaveLength(8)
    // What came first ends first, and its updates are computed before the next one ends.
    const ends = names.flatMap((s, i) => (s === 'allReduceEnd' ? [i] : [])).slice(2)
    for (const [i, at] of ends.entries()) expect((ends[i + 1] ?? names.length) - at).toBeGreaterThan(1)
  })
  it('of layers of several sizes end in the order in which they began, from the last layer to the first', () => {
    const { communicator } = countedRank(2)
    const ends = within(communicator, () =>
      compiled(uses['a gradient step']!(mpi.shard(loss, { data: { x: 0 }, bucketBytes: 1, overlap: true })))
        .explain({ p: layers([3, 4, 5, 6], 'f64'), x: wave([2, 3], 1) })
        .steps.flatMap((s) => (s.kernel === 'allReduceEnd' ? [s.flops] : [])),
    )
    expect(ends.filter((n) => n > 1)).toEqual([30, 6, 20, 5, 12, 4])
  })
  it('are read when they end, and not before: on a communicator that carries them out as late as it may', () => {
    // What a thread of its own does in its time is done at the last moment here; then lines hold what they should not until then.
    const late = (rank: number, lines: readonly number[][]): Communicator => {
      const run: Communicator['run'] = (_c, x, y) => {
        lines[rank]!.push(x.data.length)
        y.data.set(x.data.map((v) => 2 * v) as never)
      }
      const begun = new Started<() => { readonly data: Float64Array }>()
      return {
        rank,
        size: 2,
        library: undefined,
        threadLevel: undefined,
        run,
        start: (c, dtype, length, fill) => {
          const line = new Float64Array(length)
          fill(line)
          return begun.add(() => {
            const y = { shape: [length], dtype, data: new Float64Array(length) }
            run(c, { shape: [length], dtype, data: line }, y)
            return y
          })
        },
        finish: (started, read) => read(begun.take(started)().data),
        barrier: () => undefined,
      }
    }
    const lines: number[][] = [[], []]
    const given = { p: layers([3, 4, 2], 'f64'), x: wave([2, 3], 1) }
    const step = (overlap: boolean): readonly number[] =>
      within(late(0, lines), () => numbers(compiled(uses['a gradient step']!(mpi.shard(loss, { ...options, overlap })))(given)))
    expect(step(true)).toEqual(step(false))
  })
  it('programs that overlap are data like others', () => {
    const { communicator } = countedRank(2)
    within(communicator, () => {
      const scaled = ({ v, x }: { readonly v: AnyExpr; readonly x: AnyExpr }): AnyExpr => cd.mean(cd.mul(v, x))
      const f = cd.fn({ w: cd.f64() }, ({ w }) =>
        cd.grad((v: AnyExpr) => mpi.shard(scaled, { data: { x: 0 }, overlap: true })({ v, x: cd.tensor([1, 2]) as never }))(w as never),
      )
      const json = JSON.stringify(cd.toJSON(cd.toProgram(f)))
      expect(json).toContain('"overlap":true')
      const back = cd.fromJSON(JSON.parse(json), mpi.collectives)
      expect(back._tag === 'Right' && JSON.stringify(cd.toJSON(back.right))).toBe(json)
    })
  })
  it('are what `shard` of ranks makes that were asked for it, in buckets of the bytes that were given there', () => {
    const begun = (options: mpi.RanksOptions, own: Partial<mpi.ShardOptions> = {}): number =>
      within(
        countedRank(2).communicator,
        () =>
          compiled(uses['a gradient step']!(mpi.ranks(options).shard(loss, { data: { x: 0 }, ...own } as never)))
            .explain({ p: layers([3, 4, 5], 'f64'), x: wave([2, 3], 1) })
            .steps.filter((s) => s.kernel === 'allReduceBegin').length,
      )
    // Beside those of the loss and of the weights.
    expect([begun({}), begun({ overlap: true }), begun({ overlap: true, bucketBytes: 1 })]).toEqual([0, 3, 6])
    expect(begun({ overlap: true }, { bucketBytes: 1 })).toBe(6)
  })
  it('are an option of a truth value', () => {
    const refused = (overlap: unknown): string => {
      try {
        mpi.shard(loss, { ...options, overlap } as never)
      } catch (e) {
        return (e as Error).message
      }
      return ''
    }
    expect(refused('yes')).toMatch(/overlap/)
    expect(refused(1)).toMatch(/overlap/)
    expect(() => mpi.ranks({ overlap: 1 } as never)).toThrow(/overlap/)
    expect(() => mpi.ranks({ bucketBytes: 0 })).toThrow(/bucketBytes/)
  })
})

describe('what has begun', () => {
  it('has a number that is free, and is finished once', () => {
    const all = new Started<string>()
    expect([all.add('a'), all.add('b'), all.add('c')]).toEqual([0, 1, 2])
    expect(all.take(1)).toBe('b')
    expect(() => all.take(1)).toThrow(/finished once/)
    expect(all.add('d')).toBe(1)
    expect(all.add('e')).toBe(3)
    expect(() => all.take(9)).toThrow(/finished once/)
  })
  it('uses its lines again', () => {
    const lines = new Lines((_dtype, length) => new Float64Array(length))
    const { start, finish } = atOnce((_c, x, y) => y.data.set(x.data as never), lines)
    for (let k = 0; k < 5; k++) {
      const [a, b] = [7, 7].map((n, i) => start({ name: 'allReduce', op: 'sum' }, 'f64', n, (line) => line.fill(i + k)))
      for (const [i, at] of [a!, b!].entries()) finish(at, (line) => expect(Array.from(line)).toEqual(Array(7).fill(i + k)))
    }
    expect(lines.bytes).toBe(2 * 7 * 8)
  })
})

describe('predictions of sums that overlap', () => {
  const at = (from: number, to: number, seconds: number) => ({ from, to, seconds })
  it('wait for what is left of an exchange where its result is needed', () => {
    expect(waitedFor([])).toBe(0)
    expect(waitedFor([at(1, 1, 2), at(3, 3, 4)])).toBe(6)
    // hidden whole; in part; behind another one
    expect(waitedFor([at(0, 5, 3)])).toBe(0)
    expect(waitedFor([at(0, 5, 7)])).toBe(2)
    expect(waitedFor([at(0, 5, 4), at(1, 5, 4)])).toBe(3)
    expect(waitedFor([at(0, 5, 4), at(4, 4, 1)])).toBe(1)
  })
  it('is at most all of it, and at least what the links take beyond the computing', () => {
    const one = fc.tuple(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 20 }))
    fc.assert(
      fc.property(fc.array(one, { maxLength: 12 }), (drawn) => {
        let since = 0
        const all = drawn.map(([gap, length, seconds]) => {
          since += gap
          return at(since, since + length, seconds)
        })
        const waited = waitedFor(all)
        const total = all.reduce((t, { seconds }) => t + seconds, 0)
        expect(waited).toBeLessThanOrEqual(total)
        expect(waited).toBeGreaterThanOrEqual(0)
        // One after the other is the longest way to do it.
        expect(waited).toBeLessThanOrEqual(waitedFor(all.map(({ from, seconds }) => at(from, from, seconds))))
      }),
    )
  })
  it('hide exchanges between machines, and none on one', () => {
    const rates = { flops: 1e7, bytes: 1e8 }
    const row = (overlap: boolean, more: Partial<mpi.ScaleOptions> = {}): mpi.ScaleRow =>
      mpi.scaleOf(
        uses['a gradient step']!(mpi.shard(loss, { data: { x: 0 }, bucketBytes: 8 * 65 * 64, overlap })) as never,
        () => [{ p: layers([64, 64, 64, 64, 64], 'f64'), x: wave([64, 64], 1) }],
        { link: { latency: 1e-6, bandwidth: 1e8 }, rates, ranks: [4], ...more },
      ).rows[0]!
    const [apart, one] = [row(true), row(false)]
    expect(one.waited).toBeCloseTo(one.exchange, 12)
    expect(apart.waited).toBeLessThan(0.8 * one.waited)
    expect(apart.seconds).toBe(apart.compute + apart.waited)
    const here = row(true, { ranksPerNode: 4 })
    expect(here.waited).toBe(here.exchange)
  })
})
