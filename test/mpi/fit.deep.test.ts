/** `fit` on ranks that are processes, under each MPI implementation: the bits of simulated ranks, the numbers of one rank, the same end on all. */
import { describe, expect, it } from 'vitest'
import { simulateRanksAsync } from '../../src/mpi/index.js'
import { whole } from '../depth.js'
import { type FitOutcome, type FitWork, fitted } from './fits.js'
import { inFolder, launchers, onRanks, resultsOf, written } from './launchers.js'
import { type Memory, predictedBytes } from './placed.js'

const near = (got: readonly number[], want: readonly number[]): void => {
  expect(got.length).toBe(want.length)
  got.forEach((v, i) => {
    expect(v).toBeCloseTo(want[i]!, 10)
  })
}
const known = new Map<string, Promise<readonly FitOutcome[]>>()
/** What simulated ranks come to, once for all implementations. */
const simulated = (size: number, work: FitWork): Promise<readonly FitOutcome[]> => {
  const name = JSON.stringify([size, work])
  const before = known.get(name)
  if (before !== undefined) return before
  const made = simulateRanksAsync(size, (ranks) => fitted(ranks, work))
  known.set(name, made)
  return made
}
/** What n ranks came to, which is the same on all of them. */
const oneOf = (outcomes: readonly FitOutcome[]): FitOutcome => {
  for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0])
  return outcomes[0]!
}

for (const launcher of launchers)
  describe(launcher.name, () => {
    // What is alike under all implementations is tried once under the others, whose own ways native.deep.test.ts has; all of it at `npm run test:whole`.
    const thorough = whole || launcher === launchers[0]
    const onProcesses = (size: number, work: FitWork): Promise<readonly FitOutcome[]> =>
      resultsOf(launcher, size, 'fit', JSON.stringify(work))
    const sizes = thorough ? [1, 2, 3] : [3]
    it(`a fit on ${sizes.join(', ')} ranks is the simulated one, bit for bit, and has the losses of one rank`, async () => {
      const alone = oneOf(await simulated(1, { epochs: 6 }))
      expect([alone.ended, alone.epoch]).toEqual(['epochs', 6])
      for (const size of sizes) {
        const got = oneOf(await onProcesses(size, { epochs: 6 }))
        expect(got).toEqual(oneOf(await simulated(size, { epochs: 6 })))
        near(got.history.loss, alone.history.loss)
        near(got.state, alone.state)
      }
      const noisy = { epochs: 2, noisy: true }
      expect(oneOf(await onProcesses(2, noisy))).toEqual(oneOf(await simulated(2, noisy)))
    })
    it('sums that overlap have the bits of those that do not', async () => {
      const whole = oneOf(await simulated(3, { epochs: 4 }))
      expect(oneOf(await onProcesses(3, { epochs: 4, overlap: true }))).toEqual(whole)
    })
    it('a run that was stopped on some ranks goes on with others, and with as many bit for bit', async () => {
      const alone = oneOf(await simulated(1, { epochs: 6 }))
      const runs = [[3, 2], [1, 3], [2, 1]] as const // biome-ignore format: one row
      for (const [first, second] of thorough ? runs : runs.slice(0, 1))
        await inFolder(async (folder) => {
          const file = `${folder}/run.safetensors`
          const left = oneOf(await onProcesses(first, { epochs: 6, file, stop: 17 }))
          expect([left.ended, left.epoch]).toEqual(['signal', 3])
          near(oneOf(await onProcesses(second, { epochs: 6, file })).state, alone.state)
        })
      if (!thorough) return
      await inFolder(async (folder) => {
        const noisy = { epochs: 4, noisy: true, file: `${folder}/run.safetensors` }
        await onProcesses(2, { ...noisy, epochs: 2 })
        expect(oneOf(await onProcesses(2, noisy))).toEqual(oneOf(await simulated(2, { epochs: 4, noisy: true })))
      })
    })
    it('parameters in parts have the bits of whole ones, and a run goes on from one placement to another', async () => {
      const whole = oneOf(await simulated(3, { epochs: 4 }))
      for (const parameters of thorough ? (['zero1', 'zero3'] as const) : (['zero3'] as const)) {
        expect(oneOf(await onProcesses(3, { epochs: 4, parameters }))).toEqual(whole)
        await inFolder(async (folder) => {
          const file = `${folder}/run.safetensors`
          expect(oneOf(await onProcesses(3, { epochs: 4, parameters, file, stop: 8 })).ended).toBe('signal')
          expect(oneOf(await onProcesses(3, { epochs: 4, parameters: parameters === 'zero1' ? 'zero3' : 'zero1', file }))).toEqual(whole)
        })
      }
    })
    it('processes take the memory that plans say, and less of it with parameters in parts', { timeout: 300_000 }, async () => {
      let same: number | undefined
      // Four ranks, and one placement that is not the last, under one implementation.
      for (const where of thorough ? (['whole', 'zero1', 'zero3'] as const) : (['whole', 'zero3'] as const))
        for (const n of thorough ? [2, 4] : [2]) {
          const found = await resultsOf<Memory>(launcher, n, 'memory', where)
          // Each rank has the same row, so the loss is always the same: 15875860 but for how f32 rounds its sums.
          same ??= found[0]!.loss
          for (const { loss } of found) expect(loss).toBe(same)
          expect(Math.abs(same / 15875860 - 1)).toBeLessThan(1e-6)
          const took = Math.max(...found.map((m) => m.most - m.before))
          // Beside the arrays there is what the engine and MPI take for themselves.
          expect(took, `${where}, ${n} ranks`).toBeGreaterThan(predictedBytes(where, n) - 40e6)
          expect(took, `${where}, ${n} ranks`).toBeLessThan(predictedBytes(where, n) + 40e6)
        }
    })
    it.each([
      ['callback', /the disk: it is full/, 0],
      ['batch', /the batch: it threw Error: no such file/, 1],
    ] as const)('a %s that fails on one rank ends all of them at the same step', async (fails, said, by) =>
      inFolder(async (folder) => {
        const ran = await onRanks(launcher, 3, ['fit', folder, JSON.stringify({ epochs: 6, fails })], { CODUAL_MPI_TIMEOUT: '90' })
        expect(ran.code, ran.err).toBe(0)
        const outcomes = written<FitOutcome>(folder, 3)
        for (const [rank, { ended, epoch, state }] of outcomes.entries()) {
          expect(ended).toMatch(said)
          if (rank !== by) expect(ended).toMatch(`rank ${by} of 3 has ended it`)
          expect([epoch, state]).toEqual([1, outcomes[0]!.state])
        }
      }),
    )
  })
