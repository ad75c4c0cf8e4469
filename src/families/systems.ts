/** Systems of equations and determinants. Each operation brings its pack. */
import '../packs/systems.js'

export { det, inv, lstsq, lu, matrixRank, pinv, slogdet, solve } from '../core/ops/linalg/linalg.js'
