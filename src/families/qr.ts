/** Orthonormal and triangular factors. Each operation brings its pack. */
import '../packs/qr.js'

export { qr } from '../core/ops/linalg/linalg.js'
