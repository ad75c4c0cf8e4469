/** What is shown of values: rules and kernels. */
import { tapFacets } from '../backends/plan/facets.js'
import { type Pack, pack } from '../core/calculus/pack.js'
import { tapFamily } from '../core/ops/tap.js'
import { tapRules } from '../rules/tap.js'

export const tapPack: Pack = pack(tapFamily, { rules: tapRules, cpu: tapFacets })
