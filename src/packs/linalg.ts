/** Factorisations of matrices, and equations: rules and kernels. */
import { linalgKernels } from '../backends/cpu/linalg.js'
import { type Pack, pack } from '../core/calculus/pack.js'
import { linalg } from '../core/ops/families.js'
import { linalgRules } from '../rules/linalg.js'
import { contractPack } from './contract.js'
import { functionsPack } from './functions.js'
import { indexingPack } from './indexing.js'

export const linalgPack: Pack = /*#__PURE__*/ pack(linalg, { rules: linalgRules, cpu: linalgKernels }, [
  contractPack,
  functionsPack,
  indexingPack,
])
