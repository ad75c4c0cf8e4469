/** Operations on bits. Each operation brings its pack. */
import '../packs/bitwise.js'

export * from '../core/ops/bitwise.js'
