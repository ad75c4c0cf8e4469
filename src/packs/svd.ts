/** Singular values and vectors: rules and kernels. */
import { svdKernels } from '../backends/cpu/linalg.js'
import { type Pack, pack } from '../core/calculus/pack.js'
import { svdPrimitive } from '../core/ops/linalg/factorisations.js'
import { svdRules } from '../rules/decompositions.js'
import { contractPack } from './contract.js'
import { qrPack } from './qr.js'

const primitives = { svd: svdPrimitive }
export const svdPack: Pack = pack(primitives, { rules: svdRules, cpu: svdKernels }, [contractPack, qrPack])
