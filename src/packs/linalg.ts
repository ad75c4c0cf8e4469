/** Factorisations of matrices: rules and kernels. */
import { factorisationKernels } from '../backends/cpu/linalg.js'
import { type Pack, pack } from '../core/calculus/pack.js'
import { choleskyPrimitive, eighPrimitive, qrPrimitive, svdPrimitive, triangularSolvePrimitive } from '../core/ops/factorisations.js'
import { factorisationRules } from '../rules/linalg.js'
import { contractPack } from './contract.js'

const primitives = {
  cholesky: choleskyPrimitive,
  triangularSolve: triangularSolvePrimitive,
  qr: qrPrimitive,
  eigh: eighPrimitive,
  svd: svdPrimitive,
}
export const linalgPack: Pack = pack(primitives, { rules: factorisationRules, cpu: factorisationKernels }, [contractPack])
