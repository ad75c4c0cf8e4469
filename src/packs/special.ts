/** Special functions: rules and kernels. */
import { specialKernels } from '../backends/cpu/special.js'
import { type Pack, pack } from '../core/calculus/pack.js'
import { special } from '../core/ops/families.js'
import { specialRules } from '../rules/special.js'
import { gammaPack } from './gamma.js'

export const specialPack: Pack = pack(special, { rules: specialRules, cpu: specialKernels }, [gammaPack])
