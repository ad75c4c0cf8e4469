/** Matrix products. Each operation brings its pack. */
import '../packs/contract.js'

export * from '../core/ops/products.js'
