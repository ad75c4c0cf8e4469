/** What indices read and write, order along an axis, running results. Each operation brings its pack. */
import '../packs/indexing.js'

export { argsort, cummax, cummin, cumprod, cumsum, linearRecurrence, prod, sort, topk } from '../core/ops/along-axis.js'
export * from '../core/ops/indexing/indexing.js'
