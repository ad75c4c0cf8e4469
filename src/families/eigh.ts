/** Eigenvalues and eigenvectors. Each operation brings its pack. */
import '../packs/eigh.js'

export { eigh, eigvalsh } from '../core/ops/linalg/linalg.js'
