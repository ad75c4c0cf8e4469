/** Every shipped primitive, by family: what tests, rules and kernels are held against. */
import { compare } from './compare.js'
import { contract } from './contract.js'
import { customFamily } from './custom.js'
import { elementwise } from './elementwise.js'
import { indexing } from './indexing.js'
import { layout } from './layout.js'
import { mapFamily } from './map.js'
import { nn } from './nn.js'
import { reduce } from './reduce.js'
import { scans } from './scans.js'

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
