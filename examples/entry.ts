// What every example shares: run `main` when the file is started directly, and not when a test imports it.
import { pathToFileURL } from 'node:url'

/** Where an example prints its lines. */
export type Log = (line: string) => void

/** Starts `main` when `url` (the example's import.meta.url) is the file that node was given; a failure exits non-zero. */
export const start = (url: string, main: (log: Log) => unknown): void => {
  const file = process.argv[1]
  if (file === undefined || pathToFileURL(file).href !== url) return
  Promise.resolve()
    .then(() => main(console.log))
    .catch((e: unknown) => {
      console.error(e)
      process.exitCode = 1
    })
}

/** Throws unless a figure is what the example says it is. */
export const expectThat = (fact: boolean, what: string): void => {
  if (!fact) throw new Error(`expected: ${what}`)
}
