/** Convolutions, pools and layers. Each operation brings its pack. */
import '../packs/nn.js'

export * from '../core/ops/nn.js'
