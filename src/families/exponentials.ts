/** Exponentials, logarithms, powers and hyperbolic functions. Each operation brings its pack. */
import '../packs/exponentials.js'

export * from '../core/ops/exponentials.js'
