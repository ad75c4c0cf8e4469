/** Loops and branches. Each operation brings its pack. */
import '../packs/control.js'

export * from '../core/ops/control/flow.js'
