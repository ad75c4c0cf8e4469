/** `fit` with parameters and the optimiser's state in parts: the bits of a fit with whole ones, whole checkpoints, errors that all ranks have. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import * as mpi from '../../src/mpi/index.js'
import { adam, chain, clipByGlobalNorm, muon } from '../../src/optim/index.js'
import { type Checkpoint, encodeCheckpoint, fit as fitTo, meanSquaredError } from '../../src/train/index.js'
import { some } from '../depth.js'

const wave = (n: number, by: number): Float64Array => Float64Array.from({ length: n }, (_, i) => Math.sin(by * i * i + i))
const rows = 22
const x = cd.tensor(wave(3 * rows, 1.7), [rows, 3])
const y = cd.tensor(wave(rows, 0.3), [rows, 1])
type E = cd.AnyExpr
const network = {
  init: () => ({
    w: cd.tensor(wave(15, 0.7), [3, 5]),
    b: cd.tensor(wave(5, 0.2), [5]),
    v: cd.tensor(wave(5, 1.1), [5, 1]),
    c: cd.tensor(0.5),
  }),
  apply: ({ w, b, v, c }: Readonly<Record<string, E>>, input: E) => cd.add(cd.matmul(cd.tanh(cd.add(cd.matmul(input, w!), b!)), v!), c!),
}
const options = { loss: 'mseLoss', optimizer: adam({ learningRate: 0.05 }), epochs: 3, batchSize: 7, key: 5 } as const
interface Fitted {
  readonly params: Readonly<Record<string, cd.Tensor>>
  readonly history: { readonly loss: readonly number[]; readonly validation: readonly number[] }
  readonly checkpoint: Checkpoint<{ readonly params: unknown; readonly optimizer: unknown }>
  readonly ended: string
  readonly best: { readonly epoch: number }
}
type Result =
  | { readonly _tag: 'Right'; readonly right: Fitted }
  | { readonly _tag: 'Left'; readonly left: cd.AdError & { readonly last?: Fitted } }
const placings = ['whole', 'zero1', 'zero3'] as const
const fitOn = (
  n: number,
  parameters: (typeof placings)[number],
  given: object,
  model: unknown = network,
  more: mpi.RanksOptions = {},
): Promise<readonly Result[]> =>
  mpi.simulateRanksAsync(
    n,
    (ranks) => fitTo(model as never, { x, y } as never, { ranks, ...options, ...given } as never)() as unknown as Promise<Result>,
    { parameters, ...more },
  )
const right = (result: Result): Fitted => {
  if (result._tag === 'Left') throw new Error(cd.explain(result.left))
  return result.right
}
const numbers = (tree: unknown): readonly number[] =>
  (cd.treeLeaves(tree) as readonly unknown[]).flatMap((leaf) => (cd.isTensor(leaf) ? [...leaf.data] : [leaf as number]))
const told = ({ params, history, checkpoint, ended, best }: Fitted): unknown => ({
  params: numbers(params),
  history,
  state: numbers(checkpoint.state),
  position: checkpoint.position,
  ended,
  best,
})

describe('fit with parameters in parts', () => {
  it('has the bits of one with whole parameters: histories, the best epoch, checkpoints', async () => {
    for (const n of some([3, 2, 7], 1)) {
      const given = { validation: 0.2, metrics: { mse: meanSquaredError() }, patience: 2 }
      const want = (await fitOn(n, 'whole', given)).map((r) => told(right(r)))
      for (const how of ['zero1', 'zero3'] as const)
        expect(
          (await fitOn(n, how, given)).map((r) => told(right(r))),
          how,
        ).toEqual(want)
    }
  })
  it('has them where sums overlap, too', async () => {
    for (const how of placings) {
      const on = async (overlap: boolean) =>
        (await fitOn(3, how, { validation: 0.2 }, network, { overlap, bucketBytes: 40 })).map((r) => told(right(r)))
      expect(await on(true), how).toEqual(await on(false))
    }
  })
  it('goes on with another number of ranks and another placement, to the same bits where both are the same', async () => {
    const saved: Uint8Array[] = []
    const checkpoint = (c: Checkpoint<unknown>): void => void saved.push(encodeCheckpoint(c))
    const unbroken = told(right((await fitOn(2, 'zero3', { checkpoint }))[0]!))
    // Rank 0 alone is called.
    expect(saved.length).toBe(3)
    const from = saved[0]!
    expect(told(right((await fitOn(2, 'zero3', { from }))[1]!))).toEqual(unbroken)
    expect(told(right((await fitOn(2, 'zero1', { from }))[0]!))).toEqual(unbroken)
    expect(told(right((await fitOn(2, 'whole', { from }))[0]!))).toEqual(unbroken)
    const other = right((await fitOn(3, 'zero3', { from }))[0]!)
    for (const [i, v] of other.history.loss.entries()) expect(v).toBeCloseTo((unbroken as Fitted).history.loss[i]!, 10)
    const alone = right((await fitOn(1, 'zero3', { from }))[0]!)
    for (const [i, v] of alone.history.loss.entries()) expect(v).toBeCloseTo((unbroken as Fitted).history.loss[i]!, 10)
  })
  it('sums over leaves where the optimiser does', async () => {
    const given = { optimizer: chain(clipByGlobalNorm(0.3), adam({ learningRate: 0.05 })) }
    const want = right((await fitOn(2, 'whole', given))[0]!)
    const got = right((await fitOn(2, 'zero1', given))[1]!)
    for (const [i, v] of numbers(got.params).entries()) expect(v).toBeCloseTo(numbers(want.params)[i]!, 10)
  })
  it('ends on all ranks with one error where an optimiser needs whole arrays, and where the loss is NaN', async () => {
    for (const r of await fitOn(2, 'zero1', { optimizer: muon({ learningRate: 0.1 }) })) {
      expect(r._tag === 'Left' && cd.explain(r.left)).toMatch(/needs whole arrays, and each rank has a part of them/)
    }
    const nan = { ...network, apply: (p: Readonly<Record<string, E>>, input: E) => cd.mul(network.apply(p, input), Number.NaN) }
    for (const r of await fitOn(2, 'zero3', {}, nan)) {
      expect(r._tag).toBe('Left')
      // A result so far would take all ranks to be joined.
      if (r._tag === 'Left') expect(r.left.last).toBeUndefined()
    }
  })
  it('stops by the signal of one rank, with the same whole result on all', async () => {
    const results = await mpi.simulateRanksAsync(
      2,
      (ranks) => {
        const signal = { aborted: false }
        const onProgress = (e: { readonly _tag: string; readonly done?: number }): void => {
          if (e._tag === 'Step' && e.done === 4) signal.aborted = true
        }
        return fitTo(
          network as never,
          { x, y } as never,
          { ranks, ...options, signal, onProgress } as never,
        )() as unknown as Promise<Result>
      },
      { parameters: 'zero3' },
    )
    const [a, b] = results.map((r) => told(right(r)) as Fitted)
    expect(a!.ended).toBe('signal')
    expect(b).toEqual(a)
  })
  it('is asked for by a name that is known', () => {
    expect(() => mpi.ranks({ parameters: 'zero2' } as never)).toThrow('zero2')
  })
})
