/**
 * Ranks of a fit that are killed at random moments: nothing hangs, the file of the checkpoint is always whole, and the run that goes on from it is the unbroken one, bit for bit. A few times at
 * `npm test`, often in depth, under each MPI implementation.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { simulateRanksAsync } from '../../src/mpi/index.js'
import { decodeSafetensors } from '../../src/train/index.js'
import { count, some } from '../depth.js'
import { type FitOutcome, type FitWork, fitted } from './fits.js'
import { inFolder, type Launcher, launchers, onRanks, written } from './launchers.js'

const SIZE = 2
const KILLS = count(2, 5, 10)
/** How many seconds a rank waits for another that does not come; the launcher sees a kill at once, so all have ended long before. */
const TIMEOUT = 120
const work: FitWork = { epochs: 30, noisy: true, slow: 2 }
/** Up to how many milliseconds after the ranks have begun one of them is killed: about as long as the run takes. */
const LATEST = 700

const pids = (folder: string): readonly number[] =>
  readdirSync(folder).flatMap((name) => (name.endsWith('.pid') ? [Number(name.slice(0, -'.pid'.length))] : []))
const pause = (ms: number): Promise<void> => new Promise((go) => setTimeout(go, ms))
/** Runs until the end, or until a rank is killed: was it? */
const broken = async (launcher: Launcher, folder: string, file: string, random: () => number): Promise<boolean> => {
  let killed = 0
  let over = false
  const kill = async (): Promise<void> => {
    while (pids(folder).length < SIZE && !over) await pause(5)
    const victim = pids(folder)[Math.floor(SIZE * random())]!
    await pause(LATEST * random())
    if (over) return
    try {
      process.kill(victim, 'SIGKILL')
      killed = performance.now()
    } catch (e) {
      if ((e as { readonly code?: string }).code !== 'ESRCH') throw e // it has just ended
    }
  }
  let killing = Promise.resolve()
  const { code, err } = await onRanks(
    launcher,
    SIZE,
    ['fit', folder, JSON.stringify({ ...work, file })],
    { CODUAL_MPI_TIMEOUT: String(TIMEOUT) },
    () => {
      killing = kill()
    },
  )
  const end = performance.now()
  over = true
  await killing
  for (const pid of pids(folder)) rmSync(join(folder, `${pid}.pid`))
  if (code === 0) return false
  expect(killed, `nobody was killed, and the ranks ended with ${code}: ${err}`).toBeGreaterThan(0)
  expect((end - killed) / 1000).toBeLessThan(TIMEOUT)
  return true
}

for (const launcher of some(launchers, 1))
  it(`${launcher.name}: a rank that is killed at any moment costs no more than an epoch`, async () => {
    const random = (() => {
      let seed = 7
      return () => {
        seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
        return seed / 2 ** 32
      }
    })()
    const [unbroken] = await simulateRanksAsync(SIZE, (ranks) => fitted(ranks, { ...work, slow: 0 }))
    await inFolder(async (folder) => {
      const file = join(folder, 'run.safetensors')
      let kills = 0
      let last = 0
      /** The epoch of a file that is whole. */
      const epochIn = (bytes: Uint8Array): number => {
        const read = decodeSafetensors(bytes)
        expect(read._tag).toBe('Right')
        return read._tag === 'Right' ? (JSON.parse(read.right.metadata['codual.position']!) as { readonly epoch: number }).epoch : -1
      }
      const finished = (): void => {
        for (const outcome of written<FitOutcome>(folder, SIZE)) expect(outcome).toEqual(unbroken)
        rmSync(file)
        last = 0
      }
      while (kills < KILLS) {
        if (!(await broken(launcher, folder, file, random))) {
          finished()
          continue
        }
        kills++
        const epoch = existsSync(file) ? epochIn(readFileSync(file)) : 0
        expect(epoch).toBeGreaterThanOrEqual(last)
        last = epoch
      }
      const { code, err } = await onRanks(launcher, SIZE, ['fit', folder, JSON.stringify({ ...work, file, slow: 0 })])
      expect(code, err).toBe(0)
      finished()
    })
  }, 600_000)
