/** The error function, and what is made of the gamma function: rules and kernels. */
import { gammaKernels } from '../backends/cpu/functions.js'
import { type Pack, pack } from '../core/calculus/pack.js'
import { inlined } from '../core/extend/kernel-table.js'
import { gamma } from '../core/ops/families.js'
import { gammaRules } from '../rules/functions.js'
import { exponentialsPack } from './exponentials.js'

export const gammaPack: Pack = pack(gamma, { rules: gammaRules, cpu: inlined(gammaKernels) }, [exponentialsPack])
