/** The WebGPU facet of the special functions: each a function of WGSL, called at every element of a fused loop. */
import { inline } from '../../core/extend/kernel-table.js'
import type { special } from '../../core/ops/families.js'
import type { BesselParams } from '../../core/ops/special/bessel.js'
import type { WebGpuTable, WgslScalar } from './kernel.js'

const call = (name: string, ...more: readonly string[]): { readonly kind: 'inline'; readonly code: WgslScalar } =>
  inline(({ x }) => `${name}(${[...x, ...more].join(', ')})`)
/** Terms of a continued fraction beyond the order n, enough for arguments below n + 1. */
export const beyond = (n: number): number => 30 + Math.ceil(8 * Math.cbrt(n + 1))

/** One row per primitive of the family `special`. */
export const specialKernels: WebGpuTable<typeof special> = {
  erfinv: call('cd_erfinv'),
  erfcinv: call('cd_erfcinv'),
  erfcx: call('cd_erfcx'),
  ndtr: call('cd_ndtr'),
  logNdtr: call('cd_log_ndtr'),
  besselJ: inline(({ x, params }) => {
    const { n } = params as BesselParams
    return `cd_bessel_j(${x[0]}, ${n}, ${beyond(n)})`
  }),
  besselI: inline(({ x, params }) => `cd_bessel_i(${x[0]}, ${(params as BesselParams).n})`),
  besselIe: inline(({ x, params }) => `cd_bessel_ie(${x[0]}, ${(params as BesselParams).n})`),
  beta: call('cd_beta'),
  betaln: call('cd_betaln'),
  zeta: call('cd_zeta'),
  gammainc: call('cd_gammainc', 'false'),
  gammaincc: call('cd_gammainc', 'true'),
  betainc: call('cd_betainc'),
  gammaincGradA: call('cd_gammainc_grad_a'),
  betaincGradA: call('cd_betainc_grad', 'false'),
  betaincGradB: call('cd_betainc_grad', 'true'),
  zetaGradS: call('cd_zeta_grad_s'),
}
