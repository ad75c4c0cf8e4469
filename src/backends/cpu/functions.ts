/** The CPU facet of the elementary functions: a vector form where there is a good one; otherwise the meaning is called lane by lane. */
import type { exponentials, gamma, trigonometric } from '../../core/ops/families.js'
import type { PolygammaParams } from '../../core/ops/polygamma.js'
import { binary, double1, double2, each, one, periodic, unary } from './forms.js'
import type { ScalarContext, ScalarKernel } from './kernel.js'
import * as ofGamma from './wasm/gamma.js'
import * as m from './wasm/math.js'
import * as special from './wasm/special.js'
import * as angles from './wasm/trigonometric.js'

/** In f64 the engine's, but for 1 to any power and -1 to an infinite one, which are 1: two units would take a logarithm in double-double. */
const powForDouble = ({ v, x: [a, b], viaMath }: ScalarContext): void => {
  const infinite = v.compare('eq', v.abs(b!), v.c(Number.POSITIVE_INFINITY))
  const unit = v.or(v.compare('eq', a!, v.c(1)), v.and(v.compare('eq', a!, v.c(-1)), infinite))
  v.push(v.select(unit, v.c(1), viaMath))
}
const pow: ScalarKernel = Object.assign((c: ScalarContext): void => (c.v.wide ? powForDouble(c) : double2(special.powForSingle)(c)), {
  math: 'pow' as const,
})
/** Exponentials, logarithms, powers and hyperbolic functions. */
export const exponentialKernels: { readonly [K in keyof typeof exponentials]: ScalarKernel } = {
  exp: unary((v, x) => m.exp(v, x)),
  exp2: unary(m.exp2),
  expm1: unary(m.expm1),
  log: unary(m.log),
  log2: unary(m.log2),
  log10: unary(m.log10),
  log1p: unary(m.log1p),
  sigmoid: unary(m.sigmoid),
  softplus: unary(m.softplus),
  pow,
  cbrt: double1(special.cbrt),
  logaddexp: double2(special.logaddexp, special.logaddexpOfF32),
  xlogy: double2(special.xlogy),
  sinh: unary(m.sinh),
  cosh: unary(m.cosh),
  tanh: unary(m.tanh),
  asinh: double1(special.asinh),
  acosh: double1(special.acosh),
  atanh: double1(special.atanh),
}
const circular = (kind: 'sin' | 'cos'): ScalarKernel =>
  periodic(
    kind,
    (c, x) => angles.sinOrCos(c.v, c.wide, c.lanes.lanes, kind, x),
    (c, x) => angles.sinOrCos(c.v, undefined, c.lanes.lanes, kind, x),
  )
/** Circular functions and lengths. */
export const trigonometricKernels: { readonly [K in keyof typeof trigonometric]: ScalarKernel } = {
  sin: circular('sin'),
  cos: circular('cos'),
  tan: periodic('tan', (c, x) =>
    c.v.wide ? angles.tan(c.v, x) : angles.throughDouble(c.v, c.wide, c.lanes.lanes, [x], (w, y) => angles.tanOfF32(w, y!)),
  ),
  asin: each(angles.asin, angles.asinOfF32),
  acos: each(angles.acos, angles.acosOfF32),
  atan: unary((v, x) => angles.atan2(v, x, one(v))),
  atan2: binary(angles.atan2),
  hypot: double2(special.hypot),
}
/** The error function, and what is made of the gamma function. */
export const gammaKernels: { readonly [K in keyof typeof gamma]: ScalarKernel } = {
  erf: double1(special.erf, special.erfOfF32),
  erfc: (c) => c.v.push(c.v.wide ? special.erfc(c.v, c.x[0]!) : special.erfcOfF32(c.v, c.wide, c.lanes.lanes, c.x[0]!)),
  lgamma: double1(ofGamma.lgamma),
  polygamma: (c) => {
    const form = [ofGamma.digamma, ofGamma.trigamma][(c.params as PolygammaParams).n]
    return form === undefined ? c.viaMeaning() : double1(form)(c)
  },
}
