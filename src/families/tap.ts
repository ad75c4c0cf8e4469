/** What is shown of values. Each operation brings its pack. */
import '../packs/tap.js'

export { tap } from '../core/ops/tap.js'
