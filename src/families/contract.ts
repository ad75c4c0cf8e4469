/** Matrix products. Each operation brings its pack. */
import '../packs/contract.js'

export { matmul, matmulAdd } from '../core/ops/contract.js'
