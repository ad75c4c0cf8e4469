/** Every shipped rule, folded into one registry. */
import { type Registry, registryOf } from '../core/calculus/rule.js'
import { bitwiseRules } from './bitwise.js'
import { compareRules } from './compare.js'
import { contractRules } from './contract.js'
import { controlRules } from './control.js'
import { customRules } from './custom.js'
import { elementwiseRules } from './elementwise.js'
import { heldRules } from './held.js'
import { indexingRules } from './indexing.js'
import { layoutRules } from './layout.js'
import { linalgRules } from './linalg.js'
import { mapRules } from './map.js'
import { nnRules } from './nn.js'
import { reduceRules } from './reduce.js'
import { scanRules } from './scans.js'
import { specialRules } from './special.js'
import { tapRules } from './tap.js'
import { withTaylor } from './taylor.js'

/** The tables of rules, by family. */
export const ruleFamilies = {
  elementwise: withTaylor(elementwiseRules),
  special: specialRules,
  compare: compareRules,
  bitwise: bitwiseRules,
  layout: withTaylor(layoutRules),
  reduce: withTaylor(reduceRules),
  scans: withTaylor(scanRules),
  indexing: indexingRules,
  contract: withTaylor(contractRules),
  linalg: linalgRules,
  nn: withTaylor(nnRules),
  map: mapRules,
  custom: customRules,
  control: withTaylor(controlRules),
  tap: withTaylor(tapRules),
  held: heldRules,
} as const

/** The registry of all shipped rules. */
export const coreRegistry: Registry = /*#__PURE__*/ registryOf(Object.values(ruleFamilies).flatMap((family) => Object.values(family)))
