/** Matrix products: rules and kernels. */
import { contractKernels } from '../backends/cpu/contract.js'
import { type Pack, pack } from '../core/calculus/pack.js'
import { contract } from '../core/ops/families.js'
import { contractRules } from '../rules/contract.js'

export const contractPack: Pack = pack(contract, { rules: contractRules, cpu: contractKernels })
