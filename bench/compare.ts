// Rows of a run beside those of an earlier one: `--compare FILE` of `bench` and `bench:operations`.
import { readFileSync } from 'node:fs'

/** What a row took, by its name. */
export type Took = Readonly<Record<string, number>>
export interface Slower {
  readonly name: string
  readonly before: number
  readonly now: number
}
/** Rows that take more than `tolerance` of what they took: a tenth more unless told. Rows of one run alone are not compared. */
export const slowerOf = (before: Took, now: Took, tolerance = 1.1): readonly Slower[] =>
  Object.entries(now).flatMap(([name, t]) => {
    const old = before[name]
    return old !== undefined && Number.isFinite(old) && Number.isFinite(t) && t > tolerance * old ? [{ name, before: old, now: t }] : []
  })

const isRecord = (x: unknown): x is Readonly<Record<string, unknown>> => typeof x === 'object' && x !== null && !Array.isArray(x)
/** What the rows of a file took, by a function that reads one; an error that names the file where it holds no rows. */
export const readTook = (file: string, row: (r: Readonly<Record<string, unknown>>) => Took): Took => {
  let text: unknown
  try {
    text = JSON.parse(readFileSync(file, 'utf8'))
  } catch (e) {
    throw new Error(`--compare ${file}: ${e instanceof Error ? e.message : String(e)}`)
  }
  const rows = isRecord(text) && Array.isArray(text.rows) ? text.rows : undefined
  if (rows === undefined) throw new Error(`--compare ${file}: there are no rows; give what an earlier run wrote`)
  return Object.assign({}, ...rows.filter(isRecord).map(row)) as Took
}

/** Prints what became slower and sets the exit code. */
export const compare = (before: Took, now: Took): void => {
  const slower = slowerOf(before, now)
  const both = Object.keys(now).filter((name) => before[name] !== undefined).length
  if (both === 0) throw new Error('--compare: no row is in both runs')
  console.log(`\n${both} rows beside an earlier run: ${slower.length === 0 ? 'none' : slower.length} more than a tenth slower`)
  for (const { name, before, now } of [...slower].sort((a, b) => b.now / b.before - a.now / a.before))
    console.log(`  ${name.padEnd(44)}x${(now / before).toFixed(2)}   ${before.toPrecision(3)} -> ${now.toPrecision(3)}`)
  if (slower.length > 0) process.exitCode = 1
}
