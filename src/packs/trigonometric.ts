/** Circular functions and lengths: rules and kernels. */
import { trigonometricKernels } from '../backends/cpu/functions.js'
import { type Pack, pack } from '../core/calculus/pack.js'
import { inlined } from '../core/extend/kernel-table.js'
import { trigonometric } from '../core/ops/families.js'
import { trigonometricRules } from '../rules/functions.js'

export const trigonometricPack: Pack = pack(trigonometric, { rules: trigonometricRules, cpu: inlined(trigonometricKernels) })
