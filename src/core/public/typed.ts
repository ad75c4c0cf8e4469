// How an operation gets the type that users see.
import type { Env } from '../effects.js'
import type { Signatures } from '../types/signatures.js'

/** The type of every public function, by its name. */
export type Public = Signatures<Env>

/** The public type of a function. The one cast between the untyped constructors and the types that users see. */
export const typed = <F>(f: unknown): F => f as F
