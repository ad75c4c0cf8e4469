/** Operations on bits: rules and kernels. */
import { bitwiseKernels } from '../backends/cpu/bitwise.js'
import { type Pack, pack } from '../core/calculus/pack.js'
import { inlined } from '../core/extend/kernel-table.js'
import { bitwise } from '../core/ops/families.js'
import { bitwiseRules } from '../rules/bitwise.js'

export const bitwisePack: Pack = pack(bitwise, { rules: bitwiseRules, cpu: inlined(bitwiseKernels) })
