/** How the command fails: wrong usage, or a file that cannot be loaded, gives one message and exit code 2. */
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { closest, distance } from 'fastest-levenshtein'
import { isAdException } from '../src/index.js'

/** Everything is as it should be. */
export const FINE = 0
/** A check found something, or a benchmark became slower. */
export const FOUND = 1
/** The command was used wrongly, or a file cannot be loaded. */
export const USAGE = 2

/** A mistake in how the command was called: printed without a stack. */
export class Failure extends Error {
  readonly fix: string | undefined
  constructor(reason: string, fix?: string) {
    super(reason)
    this.fix = fix
  }
}
export const fail = (reason: string, fix?: string): never => {
  throw new Failure(reason, fix)
}

/** A sentence with the name that was probably meant; empty if none is close. */
export const perhaps = (given: string, names: readonly string[]): string => {
  if (names.length === 0) return ''
  const near = closest(given, [...names])
  return distance(given.toLowerCase(), near.toLowerCase()) <= Math.ceil(near.length / 3) ? `Perhaps you meant ${near}. ` : ''
}

/** The folder of the command, whose own lines do not help the user. */
const here = dirname(fileURLToPath(import.meta.url))

/** What was thrown, in words, without the frames of Node's own loader. */
export const inWords = (error: unknown): string => {
  if (isAdException(error))
    return error.message
      .split('\n')
      .filter((line) => !(/^\s+at /.test(line) && line.includes(here)))
      .join('\n')
  if (!(error instanceof Error)) return String(error)
  const frames = (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line) && !/node:internal|node_modules|[/\\]dist[/\\]node[/\\]/.test(line))
  return [`${error.name}: ${error.message}`, ...frames.slice(0, 3)].join('\n')
}

/** A failure as it is printed. */
export const printedFailure = (error: unknown): string =>
  error instanceof Failure
    ? `codual: ${error.message}${error.fix === undefined ? '' : `\n  fix: ${error.fix}`}`
    : `codual: ${inWords(error)}`
