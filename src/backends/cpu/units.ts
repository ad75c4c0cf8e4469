/** Units of whole kernels that threads may share: images of a convolution, lines of a scan, matrices of a stack. */
import { itemBytes } from '../../core/graph/aval.js'
import { sizeOf } from '../../core/graph/shape.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import type { Units } from './kernel.js'

/** Units along leading axes: every result has a part for each, and so have those of the arguments that `apart` does not leave out; the others are read whole by every unit. */
export const leadingUnits = (k: OpaqueKernel, size: number, count: number, apart: (argument: number) => boolean = () => true): Units => {
  const bytes = ({ shape, dtype }: OpaqueKernel['args'][0]): number => (itemBytes[dtype] * sizeOf(shape)) / count
  return {
    size,
    count,
    results: k.results.map(bytes),
    args: k.args.filter((_, i) => i !== k.inPlace).map((x, i) => (apart(i) ? bytes(x) : 0)),
  }
}
