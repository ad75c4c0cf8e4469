/** What `blas` takes. */
import { type OptionsOf, or, refused, whole } from '../../core/errors/options.js'

export const blasOptions = {
  /** The path of a library, or a name that the system's loader finds. Default: the first of OpenBLAS, MKL, BLIS and Accelerate that is there. */
  path: or<string, undefined>(undefined, (given, what, where) =>
    typeof given === 'string' && given !== '' && !given.includes('\0') ? given : refused(given, what, where, 'give the path of a library.'),
  ),
  /** Threads that the library may use, in the whole process. Default: as the library has it, mostly one for each core. */
  threads: or<number, undefined>(undefined, (given, what, where) => whole({ from: 1, to: 1024 }).read(given, what, where, [])),
}
/** Options of `blas`. */
export type BlasOptions = OptionsOf<typeof blasOptions>
