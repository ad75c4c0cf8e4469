/** The CPU facet of the special functions: recurrences, series and continued fractions, called at every element of a fused loop; I_0, I_1 and, of f32, the inverse of erf have vector forms. */
import { type Inline, inline, type PerElement, perElement } from '../../core/extend/kernel-table.js'
import { special } from '../../core/ops/families.js'
import type { BesselParams } from '../../core/ops/special/bessel.js'
import { double1, type Unary } from './forms.js'
import type { ScalarKernel } from './kernel.js'
import { besselI, besselIe } from './wasm/bessel.js'
import { erfinvOfF32 } from './wasm/erfinv.js'

/** A form for orders 0 and 1. */
const modified = (form: (n: 0 | 1, narrow: boolean) => Unary): Inline<ScalarKernel> =>
  inline<ScalarKernel>((c) => {
    const { n } = c.params as BesselParams
    if (n === 0 || n === 1) double1(form(n, false), form(n, true))(c)
    else c.viaMeaning()
  })

/** One row per primitive of the family `special`. */
export const specialKernels = {
  ...Object.fromEntries(Object.keys(special).map((name) => [name, perElement()])),
  erfinv: inline<ScalarKernel>((c) => (c.v.wide ? c.viaMeaning() : double1(erfinvOfF32)(c))),
  besselI: modified(besselI),
  besselIe: modified(besselIe),
} as { readonly [K in keyof typeof special]: PerElement | Inline<ScalarKernel> }
