/** Functions with derivatives of their own: rules and kernels. */
import { customFacets } from '../backends/plan/facets.js'
import { type Pack, pack } from '../core/calculus/pack.js'
import { customFamily } from '../core/ops/custom.js'
import { customRules } from '../rules/custom.js'

export const customPack: Pack = pack(customFamily, { rules: customRules, cpu: customFacets })
