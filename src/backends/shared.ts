/** One backend for equal options, so that what is compiled for it shares plans and memory. */

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
