/** Elementary functions: rules and kernels. */
import { functionKernels } from '../backends/cpu/functions.js'
import { type Pack, pack } from '../core/calculus/pack.js'
import { inlined } from '../core/extend/kernel-table.js'
import { functions } from '../core/ops/families.js'
import { functionRules } from '../rules/functions.js'

export const functionsPack: Pack = pack(functions, { rules: functionRules, cpu: inlined(functionKernels) })
