/** The rules that every program may need: those of what operators and their rules themselves are written with. */
import { openRegistry, type Registry } from '../core/calculus/rule.js'
import { arithmeticRules } from './arithmetic.js'
import { compareRules } from './compare.js'
import { heldRules } from './held.js'
import { layoutRules } from './layout.js'
import { mapRules } from './map.js'
import { positionRules } from './positions.js'
import { reduceRules } from './reduce.js'
import { withTaylor } from './taylor.js'

/** Their tables, by family. */
export const baseRules = {
  arithmetic: withTaylor(arithmeticRules),
  compare: compareRules,
  layout: withTaylor(layoutRules),
  reduce: withTaylor(reduceRules),
  positions: positionRules,
  map: mapRules,
  held: heldRules,
} as const
/** The registry of the library's own operators: these, and the rules of the packs of what a program is made of. */
export const rules: Registry = /*#__PURE__*/ openRegistry(Object.values(baseRules).flatMap((family) => Object.values(family)))
