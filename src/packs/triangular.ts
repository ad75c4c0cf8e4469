/** Cholesky factors and triangular systems: rules and kernels. */
import { triangularKernels } from '../backends/cpu/linalg.js'
import { type Pack, pack } from '../core/calculus/pack.js'
import { choleskyPrimitive, triangularSolvePrimitive } from '../core/ops/linalg/factorisations.js'
import { triangularRules } from '../rules/triangular.js'
import { contractPack } from './contract.js'

const primitives = { cholesky: choleskyPrimitive, triangularSolve: triangularSolvePrimitive }
export const triangularPack: Pack = pack(primitives, { rules: triangularRules, cpu: triangularKernels }, [contractPack])
