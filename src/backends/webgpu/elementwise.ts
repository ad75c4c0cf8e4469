/**
 * The WebGPU facet of the elementwise family: each primitive as an expression of WGSL on registers. A kernel's text gets the functions
 * that its expressions call from `preludeOf`. Arguments must be names or literals, since an expression may use one twice.
 */
import type { elementwise } from '../../core/ops/families.js'
import type { PolygammaParams } from '../../core/ops/polygamma.js'
import type { WgslScalar } from './kernel.js'
import { float } from './wgsl/literal.js'

const write = (text: string, x: readonly string[]): string => text.replace(/\b[abc]\b/g, (name) => x['abc'.indexOf(name)]!)
/** A row from a text in a, b and c: for floats, and for i32 where the primitive takes it. */
const row =
  (text: string, integer = text): WgslScalar =>
  ({ x, to }) =>
    write(to === 'i32' ? integer : text, x)

/** log2 n!. */
const log2Factorial = (n: number): number => {
  let sum = 0
  for (let k = 2; k <= n; k++) sum += Math.log2(k)
  return sum
}

/** One row per primitive of the family `elementwise`. */
export const elementwiseKernels: { readonly [K in keyof typeof elementwise]: WgslScalar } = {
  neg: row('-a'),
  abs: row('abs(a)'),
  square: row('a * a'),
  sign: row('cd_sign(a)', 'sign(a)'),
  floor: row('cd_floor(a)'),
  ceil: row('cd_ceil(a)'),
  round: row('cd_round(a)'),
  reciprocal: row('cd_div(1.0, a)'),
  sqrt: row('cd_sqrt(a)'),
  rsqrt: row('cd_rsqrt(a)'),
  cbrt: row('cd_cbrt(a)'),
  exp: row('cd_exp(a)'),
  exp2: row('cd_exp2(a)'),
  expm1: row('cd_expm1(a)'),
  log: row('cd_log(a)'),
  log2: row('cd_log2(a)'),
  log10: row('cd_log10(a)'),
  log1p: row('cd_log1p(a)'),
  sin: row('cd_sin(a)'),
  cos: row('cd_cos(a)'),
  tan: row('cd_tan(a)'),
  asin: row('cd_asin(a)'),
  acos: row('cd_acos(a)'),
  atan: row('cd_atan(a)'),
  sinh: row('cd_sinh(a)'),
  cosh: row('cd_cosh(a)'),
  tanh: row('cd_tanh(a)'),
  asinh: row('cd_asinh(a)'),
  acosh: row('cd_acosh(a)'),
  atanh: row('cd_atanh(a)'),
  erf: row('cd_erf(a)'),
  erfc: row('cd_erfc(a)'),
  lgamma: row('cd_lgamma(a)'),
  polygamma: ({ x, params }) => {
    const { n } = params as PolygammaParams
    if (n === 0) return `cd_digamma(${x[0]})`
    const l = log2Factorial(n)
    return `cd_polygamma(${x[0]}, ${n}, ${Math.round(l)}, ${float(l - Math.round(l))})`
  },
  sigmoid: row('cd_sigmoid(a)'),
  softplus: row('cd_softplus(a)'),
  relu: row('cd_relu(a)', 'max(a, 0)'),
  add: row('a + b'),
  // Compilers fold x - x to 0, where NaN and Infinity give NaN.
  sub: (c) => (c.to === 'f32' && c.x[0] === c.x[1] ? row('select(cd_nan(), 0.0, cd_isfinite(a))') : row('a - b'))(c),
  mul: row('a * b'),
  strongMul: row('cd_strong_mul(a, b)'),
  div: row('cd_div(a, b)'),
  mod: row('cd_mod(a, b)', 'cd_mod_i32(a, b)'),
  pow: row('cd_pow(a, b)'),
  hypot: row('cd_hypot(a, b)'),
  atan2: row('cd_atan2(a, b)'),
  logaddexp: row('cd_logaddexp(a, b)'),
  xlogy: row('cd_xlogy(a, b)'),
  maximum: row('cd_max(a, b)', 'max(a, b)'),
  minimum: row('cd_min(a, b)', 'min(a, b)'),
  copysign: row('cd_copysign(a, select(b, 0.0, cd_isnan(b)))'),
  where: row('select(c, b, a)'),
  stopGradient: row('a'),
  // To bool: x != 0, so NaN is true, and so is a subnormal number, by its bits.
  cast: ({ x, from, to }) => {
    const [a, d] = [x[0]!, from[0]!]
    if (d === to) return a
    if (d === 'bool') return to === 'f32' ? `select(0.0, 1.0, ${a})` : `select(0, 1, ${a})`
    if (d === 'i32') return to === 'f32' ? `f32(${a})` : `(${a} != 0)`
    return to === 'i32' ? `cd_to_i32(${a})` : `(cd_abs_bits(${a}) != 0u)`
  },
}
