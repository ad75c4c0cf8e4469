/** Exponentials, logarithms, powers and hyperbolic functions: rules and kernels. */
import { exponentialKernels } from '../backends/cpu/functions.js'
import { type Pack, pack } from '../core/calculus/pack.js'
import { inlined } from '../core/extend/kernel-table.js'
import { exponentials } from '../core/ops/families.js'
import { exponentialRules } from '../rules/functions.js'

export const exponentialsPack: Pack = pack(exponentials, { rules: exponentialRules, cpu: inlined(exponentialKernels) })
