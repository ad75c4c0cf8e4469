/**
 * Ranks that are processes, under each MPI implementation, against ranks that are simulated: equal bits of collectives, random programs and training; and what becomes of a rank
 * that fails. `CODUAL_REQUIRE_MPI=1` makes a missing implementation an error.
 */
import { describe, expect, it } from 'vitest'
import { main } from '../../examples/ranks.js'
import { main as tensorParallel } from '../../examples/tensor-parallel.js'
import { simulateRanks } from '../../src/mpi/index.js'
import { count, sample } from '../depth.js'
import { launchers, onRanks, resultsOf } from './launchers.js'
import { arrays, drawn, losses, type Work } from './work.js'

interface Found {
  readonly rank: number
  readonly size: number
  readonly library: string | undefined
  readonly threadLevel: string
  readonly arrays: readonly unknown[]
  readonly drawn: readonly unknown[]
  readonly losses: readonly number[]
  /** The same with sums that overlap, and `arrays` again, when a thread talks to MPI. */
  readonly meanwhile: readonly number[]
  readonly thereafter: readonly unknown[]
  /** Of the example whose hidden units are cut. */
  readonly cut: readonly number[]
}
const COUNT = count(5, 30)
/** As JSON has numbers: -0 is 0, and NaN is null. */
const asJson = (x: unknown): unknown => JSON.parse(JSON.stringify(x))
/** What goes wrong on rank 1 of 3, and what is said of it, once. */
const faults: readonly (readonly [kind: string, said: RegExp])[] = [
  ['throws', /rank 1 of 3 failed after collective 1 \(allReduce \(sum\) of f64\[1\]\): Error: no data here/],
  ['rejects', /rank 1 of 3 failed after collective \d \(allReduce \(sum\) of f64\[1\]\): Error: no data came/],
  ['bad input', /rank 1 of 3 failed after collective 1 .*: AdException: .*matmul/],
  ['shapes', /the ranks do not agree at collective 2: ranks 0, 2: allReduce \(sum\) of f64\[1\]; rank 1: allReduce \(sum\) of f64\[2\]/],
  ['another collective', /the ranks do not agree at collective 2: ranks 0, 2: allReduce \(sum\) of f64\[1\]; rank 1: barrier/],
  ['ends', /the ranks do not agree at collective 2: ranks 0, 2: allReduce \(sum\) of f64\[1\]; rank 1: has ended/],
  ['ends with a code', /rank 1 of 3 has ended with code 3 after collective 1/],
  ['hangs', /rank 1 of 3 did not come to collective 2 \(allReduce \(sum\) of f64\[1\]\) within 20 s/],
]

for (const launcher of launchers)
  describe(launcher.name, () => {
    for (const size of [1, 2, 3, 4])
      it(`${size} rank${size > 1 ? 's' : ''} compute what as many simulated ones do, bit for bit`, async () => {
        const found = await resultsOf<Found>(launcher, size, 'results', String(COUNT))
        const simulated = (work: readonly Work[]): unknown => asJson(work.map((f) => simulateRanks(size, f)))
        const ranksOf = (of: (f: Found) => readonly unknown[]): unknown => of(found[0]!).map((_, k) => found.map((f) => of(f)[k]))
        expect(ranksOf((f) => f.arrays)).toEqual(simulated(arrays(size)))
        if (size === 3) expect(ranksOf((f) => f.drawn)).toEqual(simulated(drawn(COUNT)))
        expect(found.map((f) => f.losses)).toEqual(asJson(simulateRanks(size, () => losses(8))))
        const cut = (): readonly number[] => tensorParallel(() => undefined, { steps: 8 }).losses
        expect(found.map((f) => f.cut)).toEqual(asJson(simulateRanks(size, cut)))
        expect(found.map((f) => [f.rank, f.size])).toEqual(found.map((_, r) => [r, size]))
        for (const { library, threadLevel } of found)
          expect([library, threadLevel]).toEqual([
            expect.stringContaining(launcher.name.toUpperCase() === 'MPICH' ? 'MPICH' : 'Open MPI'),
            expect.stringMatching(/serialized|multiple/),
          ])
        for (const f of found) expect([f.meanwhile, f.thereafter]).toEqual([f.losses, f.arrays])
        const alone = losses(8)
        found[0]!.losses.forEach((v, i) => {
          expect(v).toBeCloseTo(alone[i]!, 12)
        })
      })
    it('LeNet has the same losses on 1, 2 and 4 ranks, to the rounding of f32', async () => {
      const alone = await main(() => undefined, { images: 128, epochs: 3, batch: 32 })
      for (const size of [1, 2, 4])
        for (const losses of await resultsOf<readonly number[]>(launcher, size, 'digits', '3')) {
          expect(losses.length).toBe(3)
          for (const [k, v] of losses.entries()) expect(Math.abs(v - alone[k]!)).toBeLessThan(1e-4 * (1 + alone[k]!))
        }
    })
    it.each(faults)('%s: one rank says why, and all end', async (kind, said) => {
      const { code, err } = await onRanks(launcher, 3, ['fault', kind], { CODUAL_MPI_TIMEOUT: kind === 'hangs' ? '20' : '90' })
      expect(code).not.toBe(0)
      expect(err).toMatch(new RegExp(said.source))
      expect(err.match(/codual\/mpi: rank/g)).toHaveLength(1) // no other rank says anything
    })
    it.each(sample(faults, 4))('%s, when a thread talks to MPI: one rank says why, and all end', async (kind, said) => {
      const { code, err } = await onRanks(launcher, 3, ['fault', kind, 'meanwhile'], { CODUAL_MPI_TIMEOUT: kind === 'hangs' ? '20' : '90' })
      expect(code).not.toBe(0)
      // Two sums were first.
      expect(err).toMatch(new RegExp(said.source.replace(/collective (\d)/g, (_, k: string) => `collective ${Number(k) + 2}`)))
      expect(err.match(/codual\/mpi: rank/g)).toHaveLength(1)
    })
    it('a rank that throws while a sum is under way ends all', async () => {
      const { code, err } = await onRanks(launcher, 3, ['fault', 'throws in between'], { CODUAL_MPI_TIMEOUT: '90' })
      expect(code).not.toBe(0)
      expect(err).toMatch(/rank 1 of 3 failed after collective .*no data here/)
      expect(err.match(/codual\/mpi: rank/g)).toHaveLength(1)
    })
    it.each([[], ['meanwhile']])('a rank that is killed ends all %s', async (...more) => {
      const { code, err } = await onRanks(launcher, 3, ['fault', 'dies', ...more], { CODUAL_MPI_TIMEOUT: '90' })
      expect(code).not.toBe(0)
      expect(err + code).toMatch(/signal 9|137|\b9\b/)
    })
    it('a library that is not there is one error that says what to install', async () => {
      const { code, err } = await onRanks(launcher, 2, ['fault', 'throws'], { CODUAL_MPI_LIBRARY: 'libnone.so' })
      expect(code).not.toBe(0)
      expect(err).toMatch('Unsupported: mpi: no MPI library was found (tried libnone.so')
      expect(err).toMatch('apt-get install openmpi-bin, or mpich')
    })
  })
