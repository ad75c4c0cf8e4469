/**
 * Ranks that are processes, under each MPI implementation, against ranks that are simulated: equal bits of collectives, random programs and training; and what becomes of a rank
 * that fails. `CODUAL_REQUIRE_MPI=1` makes a missing implementation an error.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { main } from '../../examples/ranks.js'
import { main as tensorParallel } from '../../examples/tensor-parallel.js'
import { simulateRanks } from '../../src/mpi/index.js'
import { count, sample, whole } from '../depth.js'
import { launchers, onRanks, type Ran, resultsOf } from './launchers.js'
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

/** What simulated ranks compute, by their number: the same for each implementation. */
interface Simulated {
  readonly arrays: unknown
  readonly drawn: unknown
  readonly losses: unknown
  readonly cut: unknown
}
const known = new Map<number, Simulated>()
const simulated = (size: number): Simulated => {
  const before = known.get(size)
  if (before !== undefined) return before
  const each = (work: readonly Work[]): unknown => asJson(work.map((f) => simulateRanks(size, f)))
  const cut = (): readonly number[] => tensorParallel(() => undefined, { steps: 8 }).losses
  const made = {
    arrays: each(arrays(size)),
    drawn: size === 3 ? each(drawn(COUNT)) : undefined,
    losses: asJson(simulateRanks(size, () => losses(8))),
    cut: asJson(simulateRanks(size, cut)),
  }
  known.set(size, made)
  return made
}
let digits: Promise<readonly number[]> | undefined
/** The losses of LeNet without ranks. */
const digitsAlone = (): Promise<readonly number[]> => {
  digits ??= main(() => undefined, { images: 128, epochs: 3, batch: 32 })
  return digits
}

for (const launcher of launchers)
  describe(launcher.name, () => {
    const thorough = whole || launcher === launchers[0]
    for (const size of thorough ? [1, 2, 3, 4] : [1, 3])
      it(`${size} rank${size > 1 ? 's' : ''} compute what as many simulated ones do, bit for bit`, { timeout: 600_000 }, async () => {
        const found = await resultsOf<Found>(launcher, size, 'results', String(COUNT))
        const wanted = simulated(size)
        const ranksOf = (of: (f: Found) => readonly unknown[]): unknown => of(found[0]!).map((_, k) => found.map((f) => of(f)[k]))
        expect(ranksOf((f) => f.arrays)).toEqual(wanted.arrays)
        if (size === 3) expect(ranksOf((f) => f.drawn)).toEqual(wanted.drawn)
        expect(found.map((f) => f.losses)).toEqual(wanted.losses)
        expect(found.map((f) => f.cut)).toEqual(wanted.cut)
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
    const sizes = thorough ? [1, 2, 4] : [2]
    it(`LeNet has the same losses on ${sizes.join(', ')} ranks, to the rounding of f32`, { timeout: 600_000 }, async () => {
      const alone = await digitsAlone()
      for (const size of sizes)
        for (const losses of await resultsOf<readonly number[]>(launcher, size, 'digits', '3')) {
          expect(losses.length).toBe(3)
          for (const [k, v] of losses.entries()) expect(Math.abs(v - alone[k]!)).toBeLessThan(1e-4 * (1 + alone[k]!))
        }
    })
    describe('ranks of which one goes wrong', () => {
      const begin = (kind: string, more: readonly string[]): Promise<Ran> =>
        onRanks(launcher, 3, ['fault', kind, ...more], { CODUAL_MPI_TIMEOUT: kind === 'hangs' ? '20' : '90' })
      /** All end, and one rank alone says why. */
      const allEnd = ({ code, err }: Ran, said: RegExp): void => {
        expect(code).not.toBe(0)
        expect(err).toMatch(said)
        expect(err.match(/codual\/mpi: rank/g)).toHaveLength(1)
      }
      /** When a thread talks to MPI, two sums were first. */
      const later = (said: RegExp): RegExp =>
        new RegExp(said.source.replace(/collective (\d)/g, (_, k: string) => `collective ${Number(k) + 2}`))
      // Under the others the first, the last, which hangs, and some between.
      const tried = thorough ? faults : sample(faults, 4)
      const meanwhile = sample(faults, thorough ? 4 : 3)
      const waiting = ([kind]: (typeof faults)[number]): boolean => kind === 'hangs'
      const atOnce = (fault: (typeof faults)[number]): boolean => !waiting(fault)
      // For a rank that hangs the others wait 20 s: meanwhile the other tests run.
      const hanging = new Map<string, Promise<Ran>>()
      beforeAll(() => {
        const first = begin('hangs', [])
        hanging.set('', first)
        hanging.set(
          'meanwhile',
          first.then(() => begin('hangs', ['meanwhile'])),
        )
      })
      it.each(tried.filter(atOnce))('%s: one rank says why, and all end', async (kind, said) => allEnd(await begin(kind, []), said))
      it.each(meanwhile.filter(atOnce))('%s, when a thread talks to MPI: one rank says why, and all end', async (kind, said) =>
        allEnd(await begin(kind, ['meanwhile']), later(said)),
      )
      it('a rank that throws while a sum is under way ends all', async () =>
        allEnd(await begin('throws in between', []), /rank 1 of 3 failed after collective .*no data here/))
      it.each([[], ['meanwhile']])('a rank that is killed ends all %s', async (...more) => {
        const { code, err } = await begin('dies', more)
        expect(code).not.toBe(0)
        expect(err + code).toMatch(/signal 9|137|\b9\b/)
      })
      it('a library that is not there is one error that says what to install', async () => {
        const { code, err } = await onRanks(launcher, 2, ['fault', 'throws'], { CODUAL_MPI_LIBRARY: 'libnone.so' })
        expect(code).not.toBe(0)
        expect(err).toMatch('Unsupported: mpi: no MPI library was found (tried libnone.so')
        expect(err).toMatch('apt-get install openmpi-bin, or mpich')
      })
      it.each(tried.filter(waiting))('%s: one rank says why, and all end', async (_kind, said) => allEnd((await hanging.get(''))!, said))
      it.each(meanwhile.filter(waiting))('%s, when a thread talks to MPI: one rank says why, and all end', async (_kind, said) =>
        allEnd((await hanging.get('meanwhile'))!, later(said)),
      )
    })
  })
