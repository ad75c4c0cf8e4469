/** What indices read and write, order along an axis, running results. Each operation brings its pack. */
import '../packs/indexing.js'

export * from '../core/ops/along-axis.js'
export * from '../core/ops/indexing/indexing.js'
