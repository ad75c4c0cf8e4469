/** `fit` on simulated ranks against one rank that has every batch whole: losses, parameters, masks, states, what ends a run, and runs that go on with another number of ranks. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AnyExpr } from '../../src/index.js'
import * as cd from '../../src/index.js'
import * as mpi from '../../src/mpi/index.js'
import { adam, sgd } from '../../src/optim/index.js'
import * as random from '../../src/random/index.js'
import { batches, type Checkpoint, encodeCheckpoint, type FitEvent, fit as fitTo, meanSquaredError } from '../../src/train/index.js'
import { count } from '../depth.js'

const wave = (n: number, by: number): Float64Array => Float64Array.from({ length: n }, (_, i) => Math.sin(by * i * i + i))
const rows = 23
const x = cd.tensor(wave(3 * rows, 1.7), [rows, 3])
const y = cd.tensor(wave(rows, 0.3), [rows, 1])
type Params = { readonly w: cd.Expr<[3, 1], 'f64'>; readonly b: cd.Expr<[1], 'f64'> }
const line = {
  init: () => ({ w: cd.tensor([0.5, 0.25, -1], [3, 1]), b: cd.tensor([0.1], [1]) }),
  apply: ({ w, b }: Params, x: cd.Expr<[number, 3], 'f64'>) => cd.tanh(cd.add(cd.matmul(x, w), b)),
}
const options = { loss: 'mseLoss', optimizer: adam({ learningRate: 0.05 }), epochs: 3, batchSize: 7, key: 5 } as const

interface Fitted {
  readonly params: unknown
  readonly state: unknown
  readonly history: {
    readonly loss: readonly number[]
    readonly validation: readonly number[]
    readonly metrics: Readonly<Record<string, readonly number[]>>
  }
  readonly checkpoint: Checkpoint<unknown>
  readonly ended: string
  readonly best: { readonly epoch: number }
}
type Result =
  | { readonly _tag: 'Right'; readonly right: Fitted }
  | { readonly _tag: 'Left'; readonly left: cd.AdError & { readonly last?: Fitted } }
/** A fit on n simulated ranks; `given` is asked on each of them. */
const fitOn = (n: number, model: unknown, data: unknown, given: (ranks: mpi.Ranks) => object): Promise<readonly Result[]> =>
  mpi.simulateRanksAsync(
    n,
    (ranks) => fitTo(model as never, data as never, { ranks, ...given(ranks) } as never)() as unknown as Promise<Result>,
  )
const right = (result: Result): Fitted => {
  if (result._tag === 'Left') throw new Error(cd.explain(result.left))
  return result.right
}
/** What all ranks came to, which is the same. */
const oneOf = (results: readonly Result[]): Fitted => {
  const all = results.map(right)
  for (const { checkpoint, history, ended } of all) {
    expect(bits(checkpoint.state)).toEqual(bits(all[0]!.checkpoint.state))
    expect([checkpoint.position, history, ended]).toEqual([all[0]!.checkpoint.position, all[0]!.history, all[0]!.ended])
  }
  return all[0]!
}
const numbers = (tree: unknown): readonly number[] =>
  (cd.treeLeaves(tree) as readonly unknown[]).flatMap((leaf) => (cd.isTensor(leaf) ? [...leaf.data] : [leaf as number]))
const bits = (tree: unknown): readonly number[] => [...new BigUint64Array(Float64Array.from(numbers(tree)).buffer)].map(Number)
const near = (got: readonly number[], want: readonly number[], digits = 11): void => {
  expect(got.length).toBe(want.length)
  got.forEach((v, i) => {
    if (Number.isNaN(want[i])) expect(v).toBeNaN()
    else expect(v).toBeCloseTo(want[i]!, digits)
  })
}
/** Losses, metrics and parameters of n ranks are those of one, up to rounding. */
const asAlone = async (n: number, model: unknown, data: unknown, given: object): Promise<Fitted> => {
  const [alone, several] = [oneOf(await fitOn(1, model, data, () => given)), oneOf(await fitOn(n, model, data, () => given))]
  near(several.history.loss, alone.history.loss)
  near(numbers(several.checkpoint.state), numbers(alone.checkpoint.state))
  expect(several.ended).toBe(alone.ended)
  return several
}

describe('fit on several ranks', () => {
  it('is a fit on one: parts of several lengths, fewer rows than ranks, validation and metrics', async () => {
    const plain = right((await fitTo(line, { x, y }, options as never)()) as unknown as Result)
    // The last batch has two rows.
    for (const n of [1, 2, 3, 5]) {
      const several = await asAlone(n, line, { x, y }, { ...options, validation: 0.2, metrics: { mse: meanSquaredError() } })
      near(several.history.metrics.mse!, several.history.validation)
      near(oneOf(await fitOn(n, line, { x, y }, () => options)).history.loss, plain.history.loss)
    }
    expect(bits(oneOf(await fitOn(1, line, { x, y }, () => options)).params)).toEqual(bits(plain.params))
  })
  it('takes sources that write every batch into the same tensors, metrics of the training data, and nested lists', async () => {
    const reused = batches({ x, y }, { size: 5, seed: 2, reuse: true })
    const several = await asAlone(3, line, { steps: reused.steps, at: reused.at }, { ...options, metrics: { mse: meanSquaredError() } })
    const fresh = batches({ x, y }, { size: 5, seed: 2 })
    const other = oneOf(await fitOn(3, line, fresh, () => ({ ...options, metrics: { mse: meanSquaredError() } })))
    expect(bits(other.checkpoint.state)).toEqual(bits(several.checkpoint.state))
    const lists = { steps: 2, at: (_epoch: number, step: number) => ({ x: [1, 2, 3].map((i) => [i, step, -i]), y: [[1], [0.5], [step]] }) }
    await asAlone(2, line, lists, options)
  })
  it('has the same bits on all ranks after each step, and takes each row of a batch once', async () => {
    const seen = new Map<string, unknown[]>()
    const note = (name: string, value: unknown): void => void seen.set(name, [...(seen.get(name) ?? []), value])
    const watched = (ranks: mpi.Ranks): object => ({
      ...options,
      ranks: {
        ...ranks,
        group: (fit: Parameters<mpi.Ranks['group']>[0]) => {
          const group = ranks.group(fit)
          const take = () => {
            const part = group.take()
            note(`rows ${ranks.rank}`, part.weight > 0 ? numbers(part.pair.y) : [])
            return part
          }
          const [alike, first, turn] = [group.alike.bind(group), group.first.bind(group), group.turn.bind(group)]
          return { aborted: false, alike, first, turn, take }
        },
        run: async <A>(f: () => A): Promise<A> => {
          const done = await ranks.run(f)
          note(`params ${ranks.rank}`, bits((done as { params: unknown }).params))
          return done
        },
      },
    })
    oneOf(await fitOn(3, line, { x, y }, watched))
    const steps = batches({ x, y }, { size: 7, seed: 5 })
    expect(seen.get('params 0')!).toHaveLength(3 * steps.steps)
    expect(new Set(seen.get('params 0')!.map(String)).size).toBe(3 * steps.steps)
    for (const r of [1, 2]) expect(seen.get(`params ${r}`)).toEqual(seen.get('params 0'))
    const joined = seen.get('rows 0')!.map((_, k) => [0, 1, 2].flatMap((r) => seen.get(`rows ${r}`)![k] as number[]))
    expect(joined).toEqual([0, 1, 2].flatMap((epoch) => Array.from(steps.epoch(epoch), (b) => numbers(b.y))))
  })
  it('weighs masks of rows and of targets, and ranks without a row that counts; losses of your own too', async () => {
    const mask = Uint8Array.from({ length: rows }, (_, i) => (i % 5 === 0 || (i > 7 && i < 16) ? 0 : 1))
    const ofTargets = cd.tensor(
      Float64Array.from({ length: 2 * rows }, (_, i) => (i % 7 === 3 || (i > 12 && i < 30) ? 0 : 1 + (i % 3))),
      [rows, 2],
    )
    const wide = {
      init: () => ({ w: cd.tensor(wave(6, 2), [3, 2]) }),
      apply: ({ w }: { readonly w: cd.Expr<[3, 2], 'f64'> }, x: cd.Expr<[number, 3], 'f64'>) => cd.matmul(x, w),
    }
    const targets = cd.tensor(wave(2 * rows, 0.4), [rows, 2])
    const own = (p: AnyExpr, t: AnyExpr, m: AnyExpr): AnyExpr => {
      const w = cd.cast(m, 'f64') as AnyExpr
      return cd.div(cd.sum(cd.mul(w, cd.square(cd.sub(p, t)))), cd.sum(w)) // no rank may divide by its own 0
    }
    for (const shuffle of [true, false]) {
      const masked = await asAlone(3, line, { x, y, mask }, { ...options, shuffle })
      expect(numbers(masked.params).every(Number.isFinite)).toBe(true)
      await asAlone(3, wide, { x, y: targets, mask: ofTargets }, { ...options, shuffle })
      await asAlone(3, line, { x, y }, { ...options, shuffle, loss: (p: AnyExpr, t: AnyExpr) => cd.mean(cd.abs(cd.sub(p, t))) })
    }
    // On four ranks the first and the second have nothing of the second batch, whose first row does not count.
    const partly = cd.tensor(
      Float64Array.from({ length: 2 * rows }, (_, i) => (i >= 14 && i < 22 ? 0 : 1 + (i % 3))),
      [rows, 2],
    )
    await asAlone(4, wide, { x, y: targets, mask: partly }, { ...options, shuffle: false, loss: own })
    // A batch of which nothing counts: its loss is 0, and parameters stay.
    const nothing = Uint8Array.from({ length: rows }, (_, i) => (i < 7 ? 0 : 1))
    const steps: number[] = []
    await fitOn(2, line, { x, y, mask: nothing }, () => ({
      ...options,
      epochs: 1,
      shuffle: false,
      onProgress: (e: FitEvent) => void steps.push(e.loss),
    }))
    expect(steps[0]).toBe(0)
    expect(steps.slice(1).every((v) => v > 0)).toBe(true)
  })
  it('a model of f32 with trees of inputs and a state: means over ranks of what each has seen', async () => {
    const model = {
      init: () => ({ w: cd.tensor(Float32Array.from([0.3, -0.2, 0.5]), [3, 1]) }),
      state: { mean: cd.f32(3) },
      initState: () => ({ mean: cd.tensor(new Float32Array(3)) }),
      apply: (
        { w }: { readonly w: cd.Expr<[3, 1], 'f32'> },
        { a, b }: { readonly a: cd.Expr<[number, 3], 'f32'>; readonly b: cd.Expr<[number], 'i32'> },
        { state }: { readonly state: { readonly mean: cd.Expr<[3], 'f32'> } },
      ) => [
        cd.add(cd.matmul(a, w), cd.reshape(cd.cast(b, 'f32'), [-1, 1])),
        { mean: cd.add(cd.mul(0.9, state.mean), cd.mul(0.1, cd.mean(a, { axis: 0 }))) },
      ],
    }
    const data = {
      x: { a: cd.tensor(Float32Array.from(x.data), [rows, 3]), b: Int32Array.from({ length: rows }, (_, i) => i % 3) },
      y: cd.tensor(Float32Array.from(y.data), [rows, 1]),
    }
    const given = { ...options, optimizer: sgd({ learningRate: 0.01 }) }
    const [alone, several] = [oneOf(await fitOn(1, model, data, () => given)), oneOf(await fitOn(3, model, data, () => given))]
    near(several.history.loss, alone.history.loss, 5)
    near(numbers(several.state), numbers(alone.state), 6)
    expect((several.params as { readonly w: cd.Tensor }).w.dtype).toBe('f32')
    const counting = {
      ...line,
      state: { n: cd.i32() },
      initState: () => ({ n: cd.tensor(0, [], 'i32') }),
      apply: (p: Params, inputs: never, { state }: { readonly state: { readonly n: AnyExpr } }) => [
        line.apply(p, inputs),
        { n: cd.add(state.n, 1) },
      ],
    }
    for (const result of await fitOn(2, counting, { x, y }, () => options))
      expect(result._tag === 'Left' && cd.explain(result.left)).toMatch(/a result of .* is i32/)
  })
  it('each rank draws by a key of its own, and the same key gives the same fit', async () => {
    const keys = new Map<number, unknown[]>()
    const noisy = {
      init: line.init,
      apply: (p: Params, inputs: never, { training, key }: { readonly training: boolean; readonly key: random.Key }) => {
        const out = line.apply(p, inputs) as AnyExpr
        if (!training) return out
        return cd.add(out, cd.mul(0.1, random.normal(key, out.shape as number[])))
      },
    }
    const noted = (ranks: mpi.Ranks) => ({
      ...options,
      loss: (p: AnyExpr, t: AnyExpr) =>
        cd.mean(
          cd.square(
            cd.sub(
              cd.tap(p as never, (v: cd.Tensor) => void keys.set(ranks.rank, [...(keys.get(ranks.rank) ?? []), [...v.data]])) as AnyExpr,
              t,
            ),
          ),
        ),
    })
    const [first, second] = [oneOf(await fitOn(2, noisy, { x, y }, noted)), oneOf(await fitOn(2, noisy, { x, y }, () => options))]
    expect(bits(second.params)).toEqual(bits(first.params))
    expect(keys.get(0)!.length).toBeGreaterThan(0)
    // One row for all: what differs is the noise.
    const one = { x: cd.tensor(new Float64Array(12), [4, 3]), y: cd.tensor(new Float64Array(4), [4, 1]) }
    keys.clear()
    await fitOn(2, noisy, one, (ranks) => ({ ...noted(ranks), batchSize: 4, epochs: 1 }))
    expect(keys.get(0)![0]).toHaveLength(2)
    expect(keys.get(1)![0]).not.toEqual(keys.get(0)![0])
  })
})

describe('what one rank knows alone', () => {
  const errors = (results: readonly Result[]): readonly string[] =>
    results.map((r) => {
      if (r._tag === 'Right') throw new Error(`it ended with ${r.right.ended}`)
      return cd.explain(r.left)
    })
  const positions = (results: readonly Result[]): readonly unknown[] =>
    results.map((r) => (r._tag === 'Right' ? r.right : r.left.last!).checkpoint.position)

  it('callbacks are those of rank 0, and one that stops ends all, whether by a Left or an exception', async () => {
    const told: string[] = []
    const noted = ({ rank }: mpi.Ranks): object => ({
      ...options,
      checkpoint: () => void told.push(`checkpoint ${rank}`),
      onProgress: (e: FitEvent) => void told.push(`${e._tag} ${rank}`),
    })
    oneOf(await fitOn(3, line, { x, y }, noted))
    const epoch = [...Array.from({ length: 4 }, () => 'Step 0'), 'checkpoint 0', 'Epoch 0']
    expect(told).toEqual([...epoch, ...epoch, ...epoch])
    const left = { _tag: 'Left', left: { _tag: 'BadInput', where: 'the disk', reason: 'it is full.' } }
    const stopped = await fitOn(3, line, { x, y }, () => ({
      ...options,
      onProgress: (e: FitEvent) => (e._tag === 'Step' && e.done === 6 ? left : undefined),
    }))
    expect(errors(stopped)[0]).toMatch(/the disk: it is full/)
    for (const text of errors(stopped).slice(1)) expect(text).toMatch(/fit: rank 0 of 3 has ended it: .*the disk: it is full/s)
    for (const text of errors(stopped)) expect(text).toMatch(/epoch 1, step 1/)
    expect(positions(stopped)).toEqual(Array(3).fill({ epoch: 1, step: 2 }))
    const threw = await fitOn(2, line, { x, y }, () => ({
      ...options,
      checkpoint: () => {
        throw new Error('no room')
      },
    }))
    expect(errors(threw)[0]).toMatch(/checkpoint: it threw Error: no room/)
    expect(errors(threw)[1]).toMatch(/rank 0 of 2 has ended it: .*no room/s)
    expect(positions(threw)).toEqual(Array(2).fill({ epoch: 1, step: 0 }))
  })
  it('a signal of any rank stops all at the same step', async () => {
    for (const aborting of [0, 2]) {
      let steps = 0
      const aborted = await fitOn(3, line, { x, y }, ({ rank, run, ...ranks }) => {
        const signal = { aborted: false }
        const counted = <A>(f: () => A): A | Promise<A> => {
          if (rank === aborting && ++steps === 6) signal.aborted = true
          return run(f)
        }
        return { ...options, signal, ranks: { ...ranks, rank, run: counted } }
      })
      expect(aborted.map((r) => right(r).ended)).toEqual(['signal', 'signal', 'signal'])
      expect(new Set(positions(aborted).map((p) => JSON.stringify(p)))).toEqual(new Set(['{"epoch":1,"step":2}']))
    }
    const before = await fitOn(2, line, { x, y }, ({ rank }) => ({ ...options, signal: { aborted: rank === 1 } }))
    expect(positions(before)).toEqual(Array(2).fill({ epoch: 0, step: 0 }))
  })
  it('a batch, validation data or a metric that fails on one rank ends all, and is named where it fails', async () => {
    const source = batches({ x, y }, { size: 7 })
    const failing = (rank: number, bad: number) => ({
      steps: source.steps,
      at: (epoch: number, step: number) => {
        if (rank === 1 && 4 * epoch + step === bad) throw new Error('no such file')
        return source.at(epoch, step)
      },
    })
    for (const bad of [0, 2, 4, 5]) {
      const results = await mpi.simulateRanksAsync(
        3,
        async (ranks) => (await fitTo(line, failing(ranks.rank, bad), { ...options, ranks } as never)()) as unknown as Result,
      )
      const [first, second] = errors(results)
      expect(second).toMatch(/the batch: it threw Error: no such file/)
      expect(first).toMatch(/rank 1 of 3 has ended it: .*no such file/s)
      for (const text of [first, second]) expect(text).toMatch(`epoch ${Math.floor(bad / 4)}, step ${bad % 4}`)
      expect(positions(results)).toEqual(Array(3).fill({ epoch: Math.floor(bad / 4), step: bad % 4 }))
    }
    const uneven = { steps: 1, at: () => ({ x, y: cd.tensor([1, 2, 3], [3, 1]) }) }
    for (const text of errors(await fitOn(2, line, uneven, () => options))) expect(text).toMatch(/leaves of 23 and of 3 rows/)
    const validation = await fitOn(2, line, { x, y }, ({ rank }) => ({ ...options, validation: failing(rank, 3) }))
    expect(errors(validation)[0]).toMatch(/rank 1 of 2 has ended it: .*the validation batch: it threw Error: no such file/s)
    const measured = await fitOn(2, line, { x, y }, ({ rank }) => ({
      ...options,
      metrics: { odd: { zero: 0, add: (n: number) => n + 1, value: (n: number) => (rank === 1 ? 'none' : n), traced: false } },
    }))
    expect(errors(measured)[0]).toMatch(/rank 1 of 2 has ended it: .*the metric odd/s)
  })
  it('ranks that begin unlike are an error on all, with what differs', async () => {
    const unlike = await fitOn(2, line, { x, y }, ({ rank }) => ({
      ...options,
      params: { w: cd.tensor([rank, 0, 0], [3, 1]), b: cd.tensor([0]) },
    }))
    for (const text of errors(unlike))
      expect(text).toMatch(
        /the ranks do not begin alike: rank \d has {"epoch":0,"step":0,"epochs":3,"steps":4,"key":\[0,5\]} and a state [0-9a-f]+, rank \d has/,
      )
    const longer = await fitOn(2, line, { x, y }, ({ rank }) => ({ ...options, epochs: 3 + rank }))
    expect(errors(longer)[0]).toMatch(/rank 0 has .*"epochs":3.*rank 1 has .*"epochs":4/)
    const keyed = await fitOn(2, line, { x, y }, ({ rank }) => ({ ...options, key: rank }))
    expect(errors(keyed)[0]).toMatch(/"key":\[0,0\].*"key":\[0,1\]/)
    const cut = await mpi.simulateRanksAsync(
      2,
      async (ranks) =>
        (await fitTo(
          line,
          ranks.localRows({ x: cd.evaluate(cd.slice(x, [0], [22])), y: cd.evaluate(cd.slice(y, [0], [22])) }) as never,
          { ...options, ranks } as never,
        )()) as unknown as Result,
    )
    for (const text of errors(cut))
      expect(text).toMatch(/rank \d has a first batch [0-9a-f]+, rank \d has a first batch .*and all of the data/s)
    const broken = await fitOn(2, line, { x, y }, ({ rank }) => ({ ...options, ...(rank === 1 && { from: new Uint8Array(3) }) }))
    expect(errors(broken)[0]).toMatch(/rank 1 of 2 has ended it: Decode/)
  })
  it('a loss that is not finite and patience end all alike; machines that measure differently judge as rank 0 does', async () => {
    const infinite = await fitOn(2, line, { x, y }, () => ({
      ...options,
      loss: (p: AnyExpr, t: AnyExpr) => cd.mean(cd.div(cd.sub(p, t), 0)),
    }))
    for (const text of errors(infinite)) expect(text).toMatch(/the metric loss is/)
    const scores = [5, 4, 4.5, 4.6, 3]
    const patient = await fitOn(2, line, { x, y }, ({ rank }) => {
      let epoch = 0
      const value = (): number => scores[epoch++]! * (rank === 0 ? 1 : -1)
      return {
        ...options,
        epochs: 5,
        patience: 2,
        monitor: 'score',
        metrics: { score: { zero: 0, add: () => 0, value, better: 'lower', traced: false } },
      }
    })
    expect(patient.map((r) => [right(r).ended, right(r).best.epoch, right(r).history.metrics.score])).toEqual(
      Array(2).fill(['patience', 1, [5, 4, 4.5, 4.6]]),
    )
    // The best are those of the second epoch on both, whatever came after it.
    const [first, second] = patient.map((r) => bits(right(r).params))
    expect(second).toEqual(first)
    const two = oneOf(await fitOn(2, line, { x, y }, () => ({ ...options, epochs: 2 })))
    expect(bits(two.params)).toEqual(first)
  })
  it('an error in a step is one of all ranks; ranks that are none are refused', async () => {
    const wrong = { init: line.init, apply: ({ w }: Params) => cd.matmul(w, w as never) }
    await expect(fitOn(2, wrong, { x, y }, () => options).then((r) => errors(r)[1])).resolves.toMatch(/matmul/)
    for (const ranks of [0, {}, null, { rank: 2, size: 2 }, { ...mpi.ranks(), group: 1 }]) {
      const result = (await fitTo(line, { x, y }, { ...options, ranks } as never)()) as unknown as Result
      expect(errors([result])[0]).toMatch(/fit: ranks are .*give ranks\(\) of codual\/mpi/s)
    }
    expect(right((await fitTo(line, { x, y }, { ...options, ranks: mpi.ranks() } as never)()) as unknown as Result).ended).toBe('epochs')
  })
})

describe('a run that goes on', () => {
  const source = fc.record({
    rows: fc.integer({ min: 4, max: 19 }),
    batchSize: fc.integer({ min: 1, max: 8 }),
    first: fc.integer({ min: 1, max: 4 }),
    second: fc.integer({ min: 1, max: 4 }),
    stop: fc.integer({ min: 0, max: 12 }),
    masked: fc.boolean(),
    bytes: fc.boolean(),
  })
  const noisy = {
    init: line.init,
    apply: (p: Params, inputs: never, run: { readonly training: boolean; readonly key: random.Key }) => {
      const out = line.apply(p, inputs) as cd.Expr<[number, 1], 'f64'>
      return run.training ? random.dropout(out, 0.2, run.key) : out
    },
  }
  it('with as many ranks is the unbroken one to the bit, with another number to rounding, wherever it was left', async () => {
    await fc.assert(
      fc.asyncProperty(source, async ({ rows: n, batchSize, first, second, stop, masked, bytes }) => {
        const data = {
          x: cd.tensor(x.data.slice(0, 3 * n), [n, 3]),
          y: cd.tensor(y.data.slice(0, n), [n, 1]),
          ...(masked && { mask: Float64Array.from({ length: n }, (_, i) => (i % 3) + (i === 0 ? 1 : 0)) }),
        }
        const given = { ...options, batchSize, validation: data }
        const leaving = async (model: unknown): Promise<Checkpoint<unknown> | Uint8Array> => {
          const signal = { aborted: stop === 0 }
          const onProgress = (e: FitEvent): void => {
            if (e._tag === 'Step' && e.done === stop) signal.aborted = true
          }
          const { checkpoint } = oneOf(await fitOn(first, model, data, () => ({ ...given, signal, onProgress })))
          return bytes ? encodeCheckpoint(checkpoint) : checkpoint
        }
        const [from, whole] = [await leaving(line), oneOf(await fitOn(first, line, data, () => given))]
        const other = oneOf(await fitOn(second, line, data, () => ({ ...given, from })))
        near(numbers(other.checkpoint.state), numbers(whole.checkpoint.state), 10)
        const [drawn, unbroken] = [await leaving(noisy), oneOf(await fitOn(first, noisy, data, () => given))]
        const same = oneOf(await fitOn(first, noisy, data, () => ({ ...given, from: drawn })))
        expect(bits(same.checkpoint.state)).toEqual(bits(unbroken.checkpoint.state))
      }),
      { numRuns: count(6, 40), seed: 11 },
    )
  })
})

describe('simulateRanksAsync', () => {
  const sumOf = (v: number): number => (cd.evaluate(mpi.allReduce(v)) as unknown as cd.Tensor).item()
  it('ranks meet in run, and wait for promises elsewhere', async () => {
    const got = await mpi.simulateRanksAsync(3, async ({ rank, size, run, gather }) => {
      await new Promise((go) => setTimeout(go, 5 * (3 - rank)))
      const first = await run(() => sumOf(rank))
      const said = await gather('ä'.repeat(rank))
      return [size, first, await run(() => sumOf(first) + mpi.world.rank), said]
    })
    expect(got).toEqual([0, 1, 2].map((r) => [3, 3, 9 + r, ['', 'ä', 'ää']]))
    expect(await mpi.simulateRanksAsync(1, async ({ run }) => run(() => sumOf(4)))).toEqual([4])
  })
  it('a rank that ends or throws while others wait is an error, not a hang', async () => {
    await expect(mpi.simulateRanksAsync(3, async ({ rank, run }) => (rank === 1 ? 0 : run(() => sumOf(1))))).rejects.toThrow(
      /do not agree at collective 1: ranks 0, 2: exchanges data; rank 1: has ended/,
    )
    await expect(
      mpi.simulateRanksAsync(2, async ({ rank, run }) => {
        if (rank === 1) throw new Error('no data')
        return run(() => sumOf(1))
      }),
    ).rejects.toThrow('no data')
    await expect(
      mpi.simulateRanksAsync(2, async ({ rank, run }) =>
        run(() => {
          if (rank === 1) throw new Error('no room')
          return sumOf(1)
        }),
      ),
    ).rejects.toThrow(/rank 1 of 2 failed before collective 1: no room/)
    await expect(mpi.simulateRanksAsync(0, async () => 1)).rejects.toThrow(/the number of ranks is 0/)
    await expect(mpi.simulateRanksAsync(2, 1 as never)).rejects.toThrow(/the second argument/)
  })
})
