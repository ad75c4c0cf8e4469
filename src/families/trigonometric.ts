/** Circular functions and lengths. Each operation brings its pack. */
import '../packs/trigonometric.js'

export * from '../core/ops/trigonometric.js'
