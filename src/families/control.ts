/** Loops and branches. Each operation brings its pack. */
import '../packs/control.js'

export { checkpoint, cond, fori, scan, switchCase, whileLoop } from '../core/ops/control/flow.js'
