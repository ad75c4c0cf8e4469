/** What `threads` takes. */
import { type OptionsOf, or, whole } from '../../core/errors/options.js'
import { MOST } from './control.js'

export const threadsOptions = {
  /** How many threads, with the one that calls. Default: one for each core that the process may use. */
  count: or<number, undefined>(undefined, (given, what, where) => whole({ from: 1, to: MOST }).read(given, what, where, [])),
}
/** Options of `threads`. */
export type ThreadsOptions = OptionsOf<typeof threadsOptions>
