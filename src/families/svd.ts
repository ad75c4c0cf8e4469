/** Singular values and vectors. Each operation brings its pack. */
import '../packs/svd.js'

export { svd, svdvals } from '../core/ops/linalg/linalg.js'
