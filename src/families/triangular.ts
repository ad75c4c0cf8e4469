/** Cholesky factors and triangular systems. Each operation brings its pack. */
import '../packs/triangular.js'

export { cholesky, triangularSolve } from '../core/ops/linalg/linalg.js'
