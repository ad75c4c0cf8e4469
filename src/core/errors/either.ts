/** The two values of fp-ts's `Either`, made without its functions: whoever only returns one needs no more. */
import type { Either } from 'fp-ts/lib/Either.js'

export const left = <E>(e: E): Either<E, never> => ({ _tag: 'Left', left: e })
export const right = <A>(a: A): Either<never, A> => ({ _tag: 'Right', right: a })
