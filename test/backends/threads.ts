/** Backends whose steps are cut into parts however small they are. */
import { makeCpu } from '../../src/backends/cpu/index.js'
import type { Crew, ThreadsInside } from '../../src/backends/cpu/kernel.js'
import type { Sharing } from '../../src/backends/threads/cut.js'
import { starter } from '../../src/backends/threads/system.js'
import { threadsBy } from '../../src/backends/threads/threads.js'

/** Every step that can be cut is, and no wait for others is long. */
export const fine = (threads: number): Sharing => ({ threads, least: 0, part: 1e-9, line: 4, looks: Number.POSITIVE_INFINITY })

/** Points of a chunk of a loop that is folded along all axes. */
export const FINE_CHUNK = 8

/** A backend of its own with its crew, which comes with the first program. */
export const threaded = (
  threads: number,
  {
    turn = 0,
    delay = 0,
    patience = 5000,
    start = starter(),
    ...options
  }: {
    readonly turn?: number
    readonly delay?: number
    readonly patience?: number
    readonly start?: ReturnType<typeof starter>
    readonly verify?: boolean
    readonly poison?: boolean
  } = {},
) => {
  const made = threadsBy(start, { sharing: fine(threads), patience, turn, delay })
  let crew: Crew | undefined
  const inside: ThreadsInside = {
    ...made,
    crew:
      made.crew &&
      (() => {
        crew = made.crew!()
        return crew
      }),
  }
  const backend = makeCpu({ chunk: FINE_CHUNK, ...options, threads: inside })
  return { backend, crew: (): Crew => crew! }
}
/** Runs something again and again until other threads have taken part in it; false if they do not within ten seconds. */
export const untilHelped = async (crew: () => Crew, run: () => unknown): Promise<boolean> => {
  run()
  const before = crew().helped()
  for (const since = performance.now(); performance.now() - since < 10_000; ) {
    run()
    if (crew().helped() > before) return true
    await new Promise((later) => setTimeout(later, 5))
  }
  return false
}
