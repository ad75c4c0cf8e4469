/** Special functions. Each operation brings its pack. */
import '../packs/special.js'

export * from '../core/ops/special/special.js'
