/** Calculus of Fourier transforms: each is linear, and each is another's transpose. */
import type { Rule } from '../core/calculus/rule.js'
import { type Thunk, thunk } from '../core/graph/tangent.js'
import type { fourier } from '../core/ops/families.js'
import * as op from '../core/ops/fourier.js'
import type { AnyExpr } from '../core/types/expr.js'
import { batchAll } from './batching.js'
import { linearRule, multiLinearRule } from './define.js'

type Two = readonly [AnyExpr, AnyExpr]
/** Two cotangents of one application, which is built when one of them is asked for. */
const either = (made: () => Two): readonly [Thunk, Thunk] => {
  let both: Two | undefined
  const part = (i: 0 | 1): Thunk =>
    thunk(() => {
      both ??= made()
      return both[i]
    })
  return [part(0), part(1)]
}
const batched = (xs: readonly AnyExpr[], flags: readonly boolean[], size: number): Two => batchAll(xs, flags, size) as unknown as Two

/** One rule per primitive of the family `fourier`. */
export const fourierRules: { readonly [K in keyof typeof fourier]: Rule } = {
  // Real and imaginary parts have the conjugate for a transpose: the transform with these in each other's place, before and after.
  dft: multiLinearRule(op.dftPrimitive, {
    transpose: ([reBar, imBar], _xs, { axis }) =>
      either(() => {
        const [im, re] = op.dft(imBar!, reBar!, axis)
        return [re, im]
      }),
    batch: (xs, flags, { axis }, size) => op.dft(...batched(xs, flags, size), axis + 1),
  }),
  realDft: multiLinearRule(op.realDftPrimitive, {
    transpose: ([reBar, imBar], _xs, { axis }) => [thunk(() => op.realDftTransposed(reBar!, imBar!, axis))],
    batch: ([x], _flags, { axis }) => op.realDft(x, axis + 1),
  }),
  realDftTransposed: linearRule(op.realDftTransposedPrimitive, {
    transpose: (xBar, _xs, { axis }) => either(() => op.realDft(xBar, axis)),
    batch: (xs, flags, { axis }, size) => op.realDftTransposed(...batched(xs, flags, size), axis + 1),
  }),
}
