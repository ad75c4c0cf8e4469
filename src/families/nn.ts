/** Convolutions, pools and layers. Each operation brings its pack. */
import '../packs/nn.js'

export { avgPool, conv, maxPool } from '../core/ops/nn.js'
