/** One backend for equal options, so that what is compiled for it shares plans and memory. */

import { shown } from '../core/errors/check-arguments.js'
import { raise } from '../core/errors/explain.js'

const refuse = (where: string, reason: string, fix: string): never => raise({ _tag: 'BadInput', where, reason, fix })
/** An option that is a number of bytes, where it is given. */
export const bytesOf = (given: unknown, what: string, where: string): void => {
  if (given !== undefined && !(typeof given === 'number' && given >= 0))
    refuse(where, `${what} is ${shown(given)}.`, 'give a number of bytes.')
}
/** An option that is a table of kernels, where it is given. */
export const kernelsOf = (given: unknown, where: string): void => {
  if (given !== undefined && !(given instanceof Map))
    refuse(where, `kernels are ${shown(given)}.`, `give those of a plugin: { kernels: plugin.kernels.${where} }.`)
}

const NONE = {}

/**
 * `make`, called once for equal options. Kernels are equal by identity: what was planned with one table is never run with another. The
 * other options are plain values.
 */
export const sharedByOptions = <O extends { readonly kernels?: object }, B>(make: (options: O) => B): ((options: O) => B) => {
  const made = new WeakMap<object, Map<string, B>>()
  return (options) => {
    const { kernels = NONE, ...plain } = options
    let byOptions = made.get(kernels)
    if (byOptions === undefined) {
      byOptions = new Map()
      made.set(kernels, byOptions)
    }
    const key = JSON.stringify(plain, Object.keys(plain).sort())
    let b = byOptions.get(key)
    if (b === undefined) {
      b = make(options)
      byOptions.set(key, b)
    }
    return b
  }
}
