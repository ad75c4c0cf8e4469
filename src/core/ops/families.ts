/** Every shipped primitive, by family: what tests, rules and kernels are held against. A table is what the family's modules declare. */
import { castPrimitive } from '../cast.js'
import { primitivesIn } from '../operation.js'
import * as comparisons from './compare.js'
import * as products from './contract.js'
import * as convolutions from './conv.js'
import { customFamily } from './custom.js'
import * as numbers from './elementwise.js'
import * as along from './indexing-along.js'
import * as windows from './indexing-dynamic.js'
import * as slices from './indexing-gather.js'
import * as joined from './layout-join.js'
import * as moved from './layout-move.js'
import * as cut from './layout-slice.js'
import { mapFamily } from './map.js'
import * as polygammas from './polygamma.js'
import * as pools from './pool.js'
import * as folds from './reduce.js'
import * as lines from './scans.js'

export const elementwise = /*#__PURE__*/ primitivesIn({ ...numbers, ...polygammas, castPrimitive })
export const compare = /*#__PURE__*/ primitivesIn(comparisons)
export const layout = /*#__PURE__*/ primitivesIn({ ...moved, ...cut, ...joined })
export const reduce = /*#__PURE__*/ primitivesIn(folds)
export const scans = /*#__PURE__*/ primitivesIn(lines)
export const indexing = /*#__PURE__*/ primitivesIn({ ...slices, ...along, ...windows })
export const contract = /*#__PURE__*/ primitivesIn(products)
export const nn = /*#__PURE__*/ primitivesIn({ ...convolutions, ...pools })

export const families = {
  elementwise,
  compare,
  layout,
  reduce,
  scans,
  indexing,
  contract,
  nn,
  map: mapFamily,
  custom: customFamily,
} as const
