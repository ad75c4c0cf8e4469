/**
 * What is predicted of native ranks against what Open MPI counts of its own messages: parts and bytes of each rank, exactly. (MPICH has no such count; what codual asks of it is the
 * same.) `CODUAL_REQUIRE_MPI=1` makes a missing Open MPI an error.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import { within } from '../../src/mpi/communicator.js'
import * as mpi from '../../src/mpi/index.js'
import { countedRank } from '../../src/mpi/scale/counted.js'
import { inFolder, launchers, onRanks } from './launchers.js'
import { broadcasts, type StepWork, TIMES, works } from './scaled.js'

type Sent = readonly [messages: number, bytes: number]
/** What Open MPI says that a rank sent to others. */
const countedBy = (profile: string): Sent => {
  const lines = [...profile.matchAll(/^[IE]\t\d+\t\d+\t(\d+) bytes\t(\d+) msgs/gm)]
  const sum = (k: number): number => lines.reduce((n, line) => n + Number(line[k]), 0)
  return [sum(2), sum(1)]
}
const sentBy = async (size: number, which: string): Promise<readonly Sent[]> =>
  inFolder(async (folder) => {
    const openMpi = launchers.find((l) => l.name === 'Open MPI')!
    const monitored = ['pml_monitoring_enable', '2', 'pml_monitoring_enable_output', '3', 'pml_monitoring_filename', join(folder, 'sent')]
    const mca = monitored.flatMap((word, i) => (i % 2 === 0 ? ['--mca', word] : [word]))
    const ran = await onRanks({ ...openMpi, args: [...openMpi.args, ...mca] }, size, ['steps', folder, which])
    expect(ran.code, ran.err).toBe(0)
    return Array.from({ length: size }, (_, rank) => countedBy(readFileSync(join(folder, `sent.${rank}.prof`), 'utf8')))
  })
/** The same as predicted, with the roll call of the end. */
const predicted = (size: number, all: (size: number) => readonly StepWork[]): readonly Sent[] =>
  Array.from({ length: size }, (_, rank) => {
    const counted = countedRank(size, rank)
    return within(counted.communicator, () => {
      for (const { f, args } of all(size)) {
        const step = cd.compile(f as never) as unknown as (...xs: readonly unknown[]) => unknown
        for (let k = 0; k < TIMES; k++) step(...args())
      }
      mpi.world.barrier()
      const exchanged = counted.take().flatMap((c) => c.exchanged)
      const sum = (of: (e: (typeof exchanged)[number]) => number): number => exchanged.reduce((n, e) => n + of(e), 0)
      return [sum((e) => e.sends), sum((e) => e.bytesSent)] as const
    })
  })

describe.runIf(launchers.some((l) => l.name === 'Open MPI'))('what native ranks send', () => {
  for (const size of [2, 3, 4])
    it(`each of ${size} ranks sends the messages and the bytes that are predicted`, async () => {
      const found = await sentBy(size, 'all')
      expect(found).toEqual(predicted(size, works))
      // And the last rank those of `scaleOf`.
      const rows = works(size).map(
        ({ f, args }) =>
          mpi.scaleOf(f as never, args, { link: mpi.links.ethernet10, rates: { flops: 1, bytes: 1 }, ranks: [size] }).rows[0]!,
      )
      const end: Sent = [size - 1, 256 * (size - 1)]
      expect(found[size - 1]).toEqual([
        end[0] + TIMES * rows.reduce((n, r) => n + r.messages, 0),
        end[1] + TIMES * rows.reduce((n, r) => n + r.bytesSent, 0),
      ])
    })
  it('all ranks together send as many bytes of a broadcast as are predicted, along whatever tree', async () => {
    const bytes = (all: readonly Sent[]): number => all.reduce((n, [, b]) => n + b, 0)
    expect(bytes(await sentBy(3, 'broadcasts'))).toBe(bytes(predicted(3, () => broadcasts)))
  })
})
