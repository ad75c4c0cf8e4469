/** The error function, and what is made of the gamma function. Each operation brings its pack. */
import '../packs/gamma.js'

export * from '../core/ops/gamma.js'
