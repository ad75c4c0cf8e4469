/** Calculus of Fourier transforms: each is linear, and each is another's transpose. */
import type { Rule } from '../core/calculus/rule.js'
import { thunk } from '../core/graph/tangent.js'
import type { fourier } from '../core/ops/families.js'
import * as op from '../core/ops/fourier.js'
import { batchAll } from './batching.js'
import { linearRule, multiLinearRule } from './define.js'

/** One rule per primitive of the family `fourier`. */
export const fourierRules: { readonly [K in keyof typeof fourier]: Rule } = {
  // The transpose of a symmetric matrix is itself: of real and imaginary parts it is the conjugate, which is the transform with these in each other's place.
  dft: multiLinearRule(op.dftPrimitive, {
    transpose: ([reBar, imBar], _xs, { axis }) => {
      const [im, re] = op.dft(imBar!, reBar!, axis)
      return [re, im]
    },
    batch: (xs, batched, { axis }, size) => {
      const [re, im] = batchAll(xs, batched, size) as [(typeof xs)[0], (typeof xs)[1]]
      return op.dft(re, im, axis + 1)
    },
  }),
  realDft: multiLinearRule(op.realDftPrimitive, {
    transpose: ([reBar, imBar], _xs, { axis }) => [thunk(() => op.realDftTransposed(reBar!, imBar!, axis))],
    batch: ([x], _b, { axis }) => op.realDft(x, axis + 1),
  }),
  realDftTransposed: linearRule(op.realDftTransposedPrimitive, {
    transpose: (xBar, _xs, { axis }) => op.realDft(xBar, axis),
    batch: (xs, batched, { axis }, size) => {
      const [re, im] = batchAll(xs, batched, size) as [(typeof xs)[0], (typeof xs)[1]]
      return op.realDftTransposed(re, im, axis + 1)
    },
  }),
}
