/** Factorisations of matrices, and equations. Each operation brings its pack. */
import '../packs/linalg.js'

export * from '../core/ops/linalg.js'
export * from '../core/ops/linalg-systems.js'
