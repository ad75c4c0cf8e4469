/** io-ts in Node, where it is loaded when it is first asked for: it takes as long to load as a quarter of codual. */
import { createRequire } from 'node:module'
import type * as t from 'io-ts'

let loaded: typeof t | undefined
export const ioTs = (): typeof t => {
  loaded ??= createRequire(import.meta.url)('io-ts') as typeof t
  return loaded
}
