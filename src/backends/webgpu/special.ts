/** The WebGPU facet of the special functions. */
import { missing } from '../../core/extend/kernel-table.js'
import type { special } from '../../core/ops/families.js'
import type { WebGpuTable } from './kernel.js'

const LOOPS = 'its series and continued fractions need f64'
const LATER = 'it has no function in f32 yet'

/** One row per primitive of the family `special`. */
export const specialKernels: WebGpuTable<typeof special> = {
  erfinv: missing(LATER),
  erfcinv: missing(LATER),
  erfcx: missing(LATER),
  ndtr: missing(LATER),
  logNdtr: missing(LATER),
  besselJ: missing(LATER),
  besselI: missing(LATER),
  besselIe: missing(LATER),
  beta: missing(LOOPS),
  betaln: missing(LOOPS),
  zeta: missing(LOOPS),
  gammainc: missing(LOOPS),
  gammaincc: missing(LOOPS),
  betainc: missing(LOOPS),
}
