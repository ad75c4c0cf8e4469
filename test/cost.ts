/** What a test of `npm test` may take, in CPU seconds of a machine like the one where it was set. */

import { existsSync, readFileSync } from 'node:fs'

export const LIMIT = 3
/** How many times its limit a test takes when it fails. */
export const FAR = 5
/** The exceptions, a dozen at the most: file and name, and what each may take. */
export const NAMED: Readonly<Record<string, number>> = {
  // Every operation and every primitive is reached by as many programs as that takes.
  'test/laws/reach.test.ts > random programs > reach every exported operation': 6,
  'test/laws/reach.test.ts > random programs > reach every primitive': 8,
  'test/laws/harness.test.ts > the harness finds > a backend that is wrong': 8,
  // Programs of a thousand nodes, differentiated twice and by differences.
  'test/solve/odeint.test.ts > derivatives of odeint >': 8,
  'test/solve/equations.test.ts > root > has the derivatives': 6,
  'test/core/at.test.ts > at, set, addAt: derivatives and batches >': 6,
  'test/random/random.test.ts > derivatives > of bounds, means and factors': 6,
  'test/check/surface.test.ts > points beside the given one > are left out': 6,
}
export const limitOf = (name: string): number => Object.entries(NAMED).find(([test]) => name.startsWith(test))?.[1] ?? LIMIT

/** CPU seconds of this process since then. */
export const secondsSince = (before: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}
/** Clock ticks of /proc in a second: Linux gives programs this number on every machine. */
const TICKS = 100
/** CPU seconds of the processes that this one started and that have ended, with those that these started; 0 where there is no /proc. */
export const secondsOfStarted = (): number => {
  if (!existsSync('/proc/self/stat')) return 0
  // The name in parentheses may have spaces.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  const [user, system] = [fields[13], fields[14]].map(Number)
  return (user! + system!) / TICKS
}
/** Seconds that the work below took where the limits were set. */
const MEASURED = 0.004
/** Work like that of the tests: small objects that are kept for a while, found again by hash, and read in another order than they were made. */
const work = (): number => {
  const found = new Map<string, { readonly at: number; readonly of: readonly number[] }>()
  for (let i = 0; i < 30_000; i++) found.set(`${(i * 7919) % 30_011}`, { at: i, of: [i, i + 1, i + 2] })
  let sum = 0
  for (const { at, of } of found.values()) sum += of[at % 3]!
  return sum
}
/** How many times as slow as that machine this one is now: the best of some, at least 1. */
export const slowness = (): number => {
  let best = Number.POSITIVE_INFINITY
  for (let k = 0; k < 5; k++) {
    const before = process.cpuUsage()
    work()
    best = Math.min(best, secondsSince(before))
  }
  return Math.max(1, best / MEASURED)
}
