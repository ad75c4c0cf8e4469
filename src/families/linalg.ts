/** Factorisations of matrices. Each operation brings its pack. */
import '../packs/linalg.js'

export { cholesky, eigh, eigvalsh, qr, svd, svdvals, triangularSolve } from '../core/ops/linalg.js'
