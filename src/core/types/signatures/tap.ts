// What shows values while they are computed.
import type { Tensor } from '../expr.js'
import type { Lifted } from './elementwise.js'

/** tap(tree, f): the same values; f sees each leaf whenever it is computed. */
export type TapFn = <T>(tree: T, f: (x: Tensor) => unknown) => Lifted<T>
