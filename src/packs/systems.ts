/** Systems of equations and determinants: rules and kernels. */
import { systemKernels } from '../backends/cpu/linalg.js'
import { type Pack, pack } from '../core/calculus/pack.js'
import { luPrimitive } from '../core/ops/linalg/factorisations.js'
import { detPrimitive, lstsqPrimitive, slogdetPrimitive, solvePrimitive } from '../core/ops/linalg/systems.js'
import { systemRules } from '../rules/systems.js'
import { exponentialsPack } from './exponentials.js'
import { indexingPack } from './indexing.js'
import { svdPack } from './svd.js'
import { triangularPack } from './triangular.js'

const primitives = { lu: luPrimitive, solve: solvePrimitive, det: detPrimitive, slogdet: slogdetPrimitive, lstsq: lstsqPrimitive }
export const systemsPack: Pack = pack(primitives, { rules: systemRules, cpu: systemKernels }, [
  exponentialsPack,
  indexingPack,
  triangularPack,
  svdPack,
])
