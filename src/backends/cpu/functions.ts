/** The CPU facet of the elementary functions: a vector form where there is a good one; otherwise the meaning is called lane by lane. */
import type { functions } from '../../core/ops/families.js'
import { binary, double1, double2, one, periodic, unary, viaMeaning } from './forms.js'
import type { ScalarKernel } from './kernel.js'
import * as m from './wasm/math.js'
import * as special from './wasm/special.js'
import * as trigonometric from './wasm/trigonometric.js'

/** One row per elementary function. */
export const functionKernels: { readonly [K in keyof typeof functions]: ScalarKernel } = {
  cbrt: double1(special.cbrt),
  exp: unary((v, x) => m.exp(v, x)),
  exp2: unary(m.exp2),
  expm1: unary(m.expm1),
  log: unary(m.log),
  log2: unary(m.log2),
  log10: unary(m.log10),
  log1p: unary(m.log1p),
  sin: periodic((c, x) => trigonometric.sinOrCos(c.v, c.wide, c.lanes.lanes, 'sin', x)),
  cos: periodic((c, x) => trigonometric.sinOrCos(c.v, c.wide, c.lanes.lanes, 'cos', x)),
  tan: periodic((c, x) =>
    c.v.wide ? trigonometric.tan(c.v, x) : trigonometric.throughDouble(c.v, c.wide, c.lanes.lanes, [x], (w, y) => trigonometric.tan(w, y!)),
  ),
  asin: double1(trigonometric.asin),
  acos: double1(trigonometric.acos),
  atan: unary((v, x) => trigonometric.atan2(v, x, one(v))),
  sinh: unary(m.sinh),
  cosh: unary(m.cosh),
  tanh: unary(m.tanh),
  asinh: double1(special.asinh),
  acosh: double1(special.acosh),
  atanh: double1(special.atanh),
  erf: double1(special.erf, special.erfOfF32),
  erfc: double1(special.erfc, special.erfcOfF32),
  lgamma: viaMeaning,
  polygamma: viaMeaning,
  sigmoid: unary(m.sigmoid),
  softplus: unary(m.softplus),
  // Two units in f64 would take a logarithm in double-double.
  pow: (c) => (c.v.wide ? c.viaMeaning() : double2(special.powForSingle)(c)),
  hypot: double2(special.hypot),
  atan2: binary(trigonometric.atan2),
  logaddexp: double2(special.logaddexp),
  xlogy: double2(special.xlogy),
}
