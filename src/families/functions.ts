/** Elementary functions. Each operation brings its pack. */
import '../packs/functions.js'

export * from '../core/ops/transcendental.js'
