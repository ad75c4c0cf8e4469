/** Orthonormal and triangular factors: rules and kernels. */
import { qrKernels } from '../backends/cpu/linalg.js'
import { type Pack, pack } from '../core/calculus/pack.js'
import { qrPrimitive } from '../core/ops/linalg/factorisations.js'
import { qrRules } from '../rules/decompositions.js'
import { contractPack } from './contract.js'
import { triangularPack } from './triangular.js'

const primitives = { qr: qrPrimitive }
export const qrPack: Pack = pack(primitives, { rules: qrRules, cpu: qrKernels }, [contractPack, triangularPack])
