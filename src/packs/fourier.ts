/** Fourier transforms: rules and kernels. */
import { fourierKernels } from '../backends/cpu/fourier.js'
import { type Pack, pack } from '../core/calculus/pack.js'
import { dftPrimitive, realDftPrimitive, realDftTransposedPrimitive } from '../core/ops/fourier.js'
import { fourierRules } from '../rules/fourier.js'

const primitives = { dft: dftPrimitive, realDft: realDftPrimitive, realDftTransposed: realDftTransposedPrimitive }
export const fourierPack: Pack = pack(primitives, { rules: fourierRules, cpu: fourierKernels })
