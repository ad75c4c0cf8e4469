/** What a test of `npm test` may take, in CPU seconds of a machine like the one where it was set. */

export const LIMIT = 3
/** The exceptions: file and name, with what each may take and why. */
export const NAMED: readonly { readonly test: string; readonly seconds: number; readonly why: string }[] = []
export const limitOf = (name: string): number => NAMED.find((n) => name.startsWith(n.test))?.seconds ?? LIMIT

/** CPU seconds of this process since then. */
export const secondsSince = (before: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}
/** Seconds that the loop below took where the limits were set. */
const MEASURED = 0.011
/** How many times as slow as that machine this one is now: the best of some loops of floating point and memory, at least 1. */
export const slowness = (): number => {
  const data = new Float64Array(4096)
  let best = Number.POSITIVE_INFINITY
  for (let k = 0; k < 5; k++) {
    const before = process.cpuUsage()
    for (let i = 0; i < 4_000_000; i++) data[i & 4095] = data[(i * 7) & 4095]! * 0.5 + i
    best = Math.min(best, secondsSince(before))
  }
  return Math.max(1, best / MEASURED)
}
