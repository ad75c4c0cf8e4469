/** Eigenvalues and eigenvectors: rules and kernels. */
import { eighKernels } from '../backends/cpu/linalg.js'
import { type Pack, pack } from '../core/calculus/pack.js'
import { eighPrimitive } from '../core/ops/linalg/factorisations.js'
import { eighRules } from '../rules/decompositions.js'
import { contractPack } from './contract.js'

const primitives = { eigh: eighPrimitive }
export const eighPack: Pack = pack(primitives, { rules: eighRules, cpu: eighKernels }, [contractPack])
