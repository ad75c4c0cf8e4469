/** One backend for equal options, so that what is compiled for it shares plans and memory. */

import { shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { type Kind, or, refused } from '../core/errors/options.js'

/** The option of a number of bytes. */
export const bytes: Kind<number | undefined, number> = or<number, undefined>(undefined, (given, what, where) =>
  typeof given === 'number' && given >= 0 ? given : refused(given, what, where, 'give a number of bytes.'),
)
/** The option of a table of kernels. */
export const kernelsOption = <T extends object>(): Kind<T | undefined, T> =>
  or<T, undefined>(undefined, (given, _what, where) =>
    given instanceof Map
      ? (given as unknown as T)
      : badInput(where, `kernels are ${shown(given)}.`, `give those of a plugin: { kernels: plugin.kernels.${where} }.`),
  )

const NONE = {}

/**
 * `make`, called once for equal options. Kernels and libraries are equal by identity: what was planned with one table is never run with another. The
 * other options are plain values.
 */
export const sharedByOptions = <O extends { readonly kernels?: object; readonly blas?: object | undefined }, B>(
  make: (options: O) => B,
): ((options: O) => B) => {
  const made = new WeakMap<object, WeakMap<object, Map<string, B>>>()
  return (options) => {
    const { kernels = NONE, blas = NONE, ...plain } = options
    const ofKernels = made.get(kernels) ?? new WeakMap<object, Map<string, B>>()
    made.set(kernels, ofKernels)
    const byOptions = ofKernels.get(blas) ?? new Map<string, B>()
    ofKernels.set(blas, byOptions)
    const key = JSON.stringify(plain, Object.keys(plain).sort())
    let b = byOptions.get(key)
    if (b === undefined) {
      b = make(options)
      byOptions.set(key, b)
    }
    return b
  }
}
