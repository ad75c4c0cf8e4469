/** Loops and branches: rules and kernels. */
import { controlFacets } from '../backends/plan/facets.js'
import { loopPlanner } from '../backends/plan/loops.js'
import { type Pack, pack } from '../core/calculus/pack.js'
import { controlFamily } from '../core/ops/control/control.js'
import { controlRules } from '../rules/control.js'
import { indexingPack } from './indexing.js'

export const controlPack: Pack = pack(controlFamily, { rules: controlRules, cpu: controlFacets, planners: { loop: loopPlanner } }, [
  indexingPack,
])
