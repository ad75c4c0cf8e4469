/**
 * Every shipped primitive, by family: what tests, rules and kernels are held against. A table is what the family's modules declare: the
 * primitives that they export, and those of the operations that they export.
 */
import { castPrimitive } from '../graph/cast.js'
import { primitivesIn } from '../graph/operation.js'
import * as arithmetics from './arithmetic.js'
import * as bits from './bitwise.js'
import * as comparisons from './compare.js'
import * as contractions from './contract.js'
import { controlFamily } from './control/control.js'
import * as convolutions from './conv.js'
import { customFamily } from './custom.js'
import * as exponential from './exponentials.js'
import * as transforms from './fourier.js'
import * as gammas from './gamma.js'
import { heldFamily } from './held.js'
import * as elements from './indexing/along.js'
import * as windows from './indexing/dynamic.js'
import * as foldsAt from './indexing/fold.js'
import * as slices from './indexing/gather.js'
import * as joinNodes from './layout/join.js'
import * as moveNodes from './layout/move.js'
import * as sliceNodes from './layout/slice.js'
import * as factorisations from './linalg/factorisations.js'
import * as systems from './linalg/systems.js'
import { mapFamily } from './map.js'
import * as polygammas from './polygamma.js'
import * as pools from './pool.js'
import * as counters from './positions.js'
import * as folds from './reduce.js'
import * as roundings from './rounding.js'
import * as lines from './scans.js'
import * as shifts from './shift.js'
import * as bessels from './special/bessel.js'
import * as gradients from './special/shape-gradients.js'
import * as specials from './special/special.js'
import { tapFamily } from './tap.js'
import * as angles from './trigonometric.js'
import * as unaries from './unary.js'

export const arithmetic = /*#__PURE__*/ primitivesIn({ ...arithmetics, ...unaries, ...roundings, castPrimitive })
export const exponentials = /*#__PURE__*/ primitivesIn(exponential)
export const trigonometric = /*#__PURE__*/ primitivesIn(angles)
export const gamma = /*#__PURE__*/ primitivesIn({ ...gammas, ...polygammas })
export const functions = { ...exponentials, ...trigonometric, ...gamma } as const
export const elementwise = { ...arithmetic, ...functions } as const
export const special = /*#__PURE__*/ primitivesIn({ ...specials, ...bessels, ...gradients })
export const compare = /*#__PURE__*/ primitivesIn(comparisons)
export const bitwise = /*#__PURE__*/ primitivesIn({ ...bits, shiftByPrimitive: shifts.shiftByPrimitive })
export const layout = /*#__PURE__*/ primitivesIn({ ...moveNodes, ...sliceNodes, ...joinNodes })
export const reduce = /*#__PURE__*/ primitivesIn(folds)
export const positions = /*#__PURE__*/ primitivesIn(counters)
export const scans = /*#__PURE__*/ primitivesIn(lines)
export const indexing = /*#__PURE__*/ primitivesIn({ ...slices, ...foldsAt, ...elements, ...windows })
export const contract = /*#__PURE__*/ primitivesIn(contractions)
export const linalg = /*#__PURE__*/ primitivesIn({ ...factorisations, ...systems })
export const fourier = /*#__PURE__*/ primitivesIn(transforms)
export const nn = /*#__PURE__*/ primitivesIn({ ...convolutions, ...pools })

export const families = {
  elementwise,
  special,
  compare,
  bitwise,
  layout,
  reduce,
  positions,
  scans,
  indexing,
  contract,
  linalg,
  fourier,
  nn,
  map: mapFamily,
  custom: customFamily,
  control: controlFamily,
  tap: tapFamily,
  held: heldFamily,
} as const
