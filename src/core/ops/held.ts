/** `finiteUnless`: what keeps hard zeros beside infinite values and slopes, where products are added up or equations solved (docs/decisions/strong-zero.md). */

import { badShape, showShape } from '../errors/explain.js'
import { sameAval } from '../graph/aval.js'
import { apply, asExpr, asNode } from '../graph/expr.js'
import { NO_PARAMS, type NoParams, type Primitive, primitive } from '../graph/primitive.js'
import type { AnyExpr } from '../types/expr.js'
import { isfinite, or } from './compare.js'
import { where } from './elementwise.js'
import { broadcastNode } from './layout/move.js'

const arg = (shape: readonly number[], flags: readonly number[]) => [{ shape }, { shape, dtype: 'bool' as const, values: flags }]

/** x, but 0 where it is infinite or NaN and the flag is false. Its derivative is it again: an infinite slope is taken out as an infinite value is. */
export const finiteUnlessPrimitive: Primitive<'finiteUnless', NoParams, readonly ['float', 'int']> = primitive({
  name: 'finiteUnless',
  zeros: 'guard',
  unbounded: false,
  family: 'held',
  args: ['float', 'int'],
  dtypes: ['float', 'bool'],
  shapeRule: ([x, flag]) =>
    sameAval({ ...x!, dtype: 'bool' } as never, flag!)
      ? x!
      : badShape('finiteUnless', [x!.shape, flag!.shape], `x is ${showShape(x!.shape)}, the flags are ${showShape(flag!.shape)}.`),
  expand: ([x, flag]) => where(or(flag!, isfinite(x!)), x!, 0),
  samples: [
    { args: arg([], [0]), params: NO_PARAMS },
    { args: arg([2, 3], [1, 0, 0, 1, 1, 0]), params: NO_PARAMS },
    { args: arg([0], []), params: NO_PARAMS },
  ],
  source: 'definition',
})
/** The same, of flags that broadcast to x. */
export const finiteUnless = (flags: AnyExpr, x: AnyExpr): AnyExpr =>
  asExpr(apply(finiteUnlessPrimitive, [asNode(x), broadcastNode(asNode(flags), asNode(x).shape)], NO_PARAMS))

/** Primitives of this family, by name. */
export const heldFamily = { finiteUnless: finiteUnlessPrimitive } as const
