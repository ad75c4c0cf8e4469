/** Convolutions, pools and layers: rules and kernels. */
import { nnKernels } from '../backends/cpu/nn.js'
import { type Pack, pack } from '../core/calculus/pack.js'
import { nn } from '../core/ops/families.js'
import { nnRules } from '../rules/nn.js'

export const nnPack: Pack = pack(nn, { rules: nnRules, cpu: nnKernels })
