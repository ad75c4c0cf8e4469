/** What is left out where a derivative is not implemented. */
import { isAdException } from '../core/errors/error.js'

/** What is made, or undefined where a derivative that it needs is not implemented: that is counted elsewhere. */
export const unlessUnknown = <A>(make: () => A): A | undefined => {
  try {
    return make()
  } catch (e) {
    if (isAdException(e) && e.error._tag === 'NotImplemented') return undefined
    throw e
  }
}
