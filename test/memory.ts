/** What code leaves behind in this process, as the engine weighs it. */
const collect = (globalThis as { gc?: () => void }).gc

/** A turn of the event loop, in which finalizers run and messages come. */
export const turn = (): Promise<void> => new Promise((later) => setTimeout(later))

/** Bytes that are in use once finalizers have had their turns. */
export const used = async (): Promise<number> => {
  if (collect === undefined) throw new Error('node runs without --expose-gc')
  for (let k = 0; k < 3; k++) {
    collect()
    await turn()
  }
  const m = process.memoryUsage()
  return m.heapUsed + m.arrayBuffers
}

/** Rounds that `growth` runs. */
export const ROUNDS = 5
/** Bytes that a round leaves behind: the median of some. In the first the engine learns of the code, which is some megabytes, and in one of the others it may forget. */
export const growth = async (round: (k: number) => unknown): Promise<number> => {
  const found: number[] = []
  let before = await used()
  for (let k = 0; k < ROUNDS; k++) {
    await round(k)
    const after = await used()
    found.push(after - before)
    before = after
  }
  return found.sort((a, b) => a - b)[ROUNDS >> 1]!
}

/** Until what was forgotten is told, which finalizers do some time after a collection. */
export const told = async (what: () => boolean): Promise<boolean> => {
  for (let i = 0; i < 200 && !what(); i++) {
    collect?.()
    await turn()
  }
  return what()
}
