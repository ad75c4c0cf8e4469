/** The gamma family in f32, in WGSL: minimax polynomials fitted with 40 digits, recurrences, reflections and asymptotic series. */

export const gamma = {
  /** lgamma(t + 2) / (t (t + 1)) for |t| <= 1. */
  cd_lgamma_middle: `fn cd_lgamma_middle(t: f32) -> f32 {
  var p = -3.6315523175289854e-5;
  p = p * t + 7.787132199155167e-5;
  p = p * t - 5.903239798499271e-5;
  p = p * t + 1.3138834037818015e-4;
  p = p * t - 4.190058389212936e-4;
  p = p * t + 9.436405962333083e-4;
  p = p * t - 2.104907762259245e-3;
  p = p * t + 4.991792608052492e-3;
  p = p * t - 1.2384473346173763e-2;
  p = p * t + 3.296559676527977e-2;
  p = p * t - 1.0031729936599731e-1;
  p = p * t + 4.2278432846069336e-1;
  return p;
}`,
  /** lgamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2) for x >= 8. */
  cd_stirling_tail: `fn cd_stirling_tail(x: f32) -> f32 {
  let r = cd_ratio(1.0, x);
  let z = r * r;
  return r * ((7.93650794e-4 * z - 2.77777778e-3) * z + 8.33333333e-2);
}`,
  /** lgamma x for positive x. */
  cd_lgamma_positive: `fn cd_lgamma_positive(x: f32) -> f32 {
  if (x >= 8.0) {
    return (x - 0.5) * (cd_log(x) - 1.0) + (cd_stirling_tail(x) + 4.18938533e-1);
  }
  if (x > 3.0) {
    let t = (x - 5.5) * 0.4;
    var q = 2.044308348558843e-5;
    q = q * t - 4.84386837342754e-5;
    q = q * t + 5.9444453654577956e-5;
    q = q * t - 1.4561350643169135e-4;
    q = q * t + 4.183569981250912e-4;
    q = q * t - 1.0517650516703725e-3;
    q = q * t + 2.686207415536046e-3;
    q = q * t - 7.181801367551088e-3;
    q = q * t + 2.0302578806877136e-2;
    q = q * t - 6.336914747953415e-2;
    q = q * t + 2.512897849082947e-1;
    return (x - 1.0) * (x - 2.0) * q;
  }
  // Below 1: lgamma(x + 1) - log x, without rounding x + 1.
  let below = x < 1.0;
  let t = select(x - 2.0, x - 1.0, below);
  let y = select(x - 1.0, x, below) * t * cd_lgamma_middle(t);
  return select(y, y - cd_log(x), below);
}`,
  /** |sin(pi x)|. */
  cd_sin_pi_abs: `fn cd_sin_pi_abs(x: f32) -> f32 {
  let r = abs(x - round(x));
  return select(cd_sin_cos(3.14159265359 * r, 0.0).x, cd_sin_cos(3.14159265359 * (0.5 - r), 0.0).y, r > 0.25);
}`,
  /** log |gamma(x)|; Infinity at 0, -1, -2, ... and at both infinities. Below 0: log(pi / |x sin(pi x)|) - lgamma(-x). */
  cd_lgamma: `fn cd_lgamma(x: f32) -> f32 {
  let b = cd_abs_bits(x);
  let a = abs(x);
  let whole = b >= 0x4b000000u || floor(x) == x;
  if (b >= 0x7f800000u || (whole && bitcast<u32>(x) >= 0x80000000u) || b == 0u) { return cd_nan_or(x, cd_inf()); }
  if (b < 0x2f000000u) { return -cd_log(a); }
  let y = cd_lgamma_positive(a);
  if (bitcast<u32>(x) < 0x80000000u) { return y; }
  return cd_log(cd_ratio(3.14159265359, a * cd_sin_pi_abs(x))) - y;
}`,
  /** Digamma of positive x: to the interval [1, 2] of its root below 6, the asymptotic series above. */
  cd_digamma_positive: `fn cd_digamma_positive(x: f32) -> f32 {
  if (x >= 6.0) {
    let r = cd_ratio(1.0, x);
    let z = r * r;
    return cd_log(x) - (0.5 * r + z * (8.33333333e-2 - z * (8.33333333e-3 - z * (3.96825397e-3 - z * 4.16666667e-3))));
  }
  var y = x;
  var sum = 0.0;
  while (y > 2.0) {
    y -= 1.0;
    sum += cd_ratio(1.0, y);
  }
  // Below 1: digamma(x + 1) - 1 / x, without rounding x + 1. The root is in two parts.
  let below = y < 1.0;
  let t = select(y + y - 3.0, y + y - 1.0, below);
  let d = select(y - 1.4616321325302124, y - 0.4616321325302124, below) - 1.243814994e-08;
  var p = 1.06470588434604e-5;
  p = p * t - 3.1979725463315845e-5;
  p = p * t + 6.685542757622898e-5;
  p = p * t - 2.0146003225818276e-4;
  p = p * t + 6.382816936820745e-4;
  p = p * t - 1.9392493413761258e-3;
  p = p * t + 5.936542991548777e-3;
  p = p * t - 1.8549857661128044e-2;
  p = p * t + 6.013563275337219e-2;
  p = p * t - 2.1181374788284302e-1;
  p = p * t + 9.510558843612671e-1;
  return select(d * p + sum, d * p - cd_ratio(1.0, y), below);
}`,
  /** Below 0: digamma(-x) - 1 / x - pi cot(pi x). NaN at -1, -2, ... and -Infinity, infinite at 0. */
  cd_digamma: `fn cd_digamma(x: f32) -> f32 {
  let b = cd_abs_bits(x);
  let a = abs(x);
  let negative = bitcast<u32>(x) >= 0x80000000u;
  if (b >= 0x7f800000u) { return cd_nan_or(x, select(x, cd_nan(), negative)); }
  // 1 / x is all of it, and may overflow.
  if (b < 0x33000000u) { return select(cd_ratio(-1.0, x), cd_copysign(cd_inf(), -x), b < 0x00200000u); }
  if (negative && (b >= 0x4b000000u || floor(x) == x)) { return cd_nan(); }
  let y = cd_digamma_positive(a);
  if (!negative) { return y; }
  let r = x - round(x);
  let q = 3.14159265359 * select(abs(r), 0.5 - abs(r), abs(r) > 0.25);
  let v = cd_sin_cos(q, 0.0);
  let cot = select(cd_ratio(v.y, v.x), cd_ratio(v.x, v.y), abs(r) > 0.25);
  return (y + cd_ratio(1.0, a)) - cd_copysign(3.14159265359 * cot, r);
}`,
  /**
   * n! zeta(n + 1, x) for n >= 1 and positive x: terms until x + k is large, then Euler and Maclaurin's rest, all relative to x^-n.
   * log2 n! is k + t.
   */
  cd_hurwitz: `fn cd_hurwitz(x: f32, n: f32, k: i32, t: f32) -> f32 {
  let s = n + 1.0;
  var sum = 0.0;
  var y = x;
  let enough = 8.0 + 0.75 * n;
  while (y < enough) {
    sum += cd_ratio(cd_pow_pair(cd_log2_pair(cd_ratio(x, y)), s), x);
    y += 1.0;
  }
  let r = cd_ratio(1.0, y);
  let z = r * r;
  var term = s * r;
  var rest = 0.5 + term * 8.33333333e-2;
  term *= (s + 1.0) * (s + 2.0) * z;
  rest -= term * 1.38888889e-3;
  term *= (s + 3.0) * (s + 4.0) * z;
  rest += term * 3.30687831e-5;
  term *= (s + 5.0) * (s + 6.0) * z;
  rest -= term * 8.26719577e-7;
  term *= (s + 7.0) * (s + 8.0) * z;
  rest += term * 2.08767570e-8;
  sum += cd_pow_pair(cd_log2_pair(cd_ratio(x, y)), n) * (cd_ratio(1.0, n) + rest * r);
  let q = cd_exp2_parts(cd_log2_pair(x), -n, t);
  return cd_scale(q.x * sum, clamp(i32(q.y) + k, -252, 254));
}`,
  /**
   * The n-th derivative of digamma, n >= 1; log2 n! is k + t. Below 0, with r = x - floor(x) and s = n + 1:
   * (-1)^s n! (zeta(s, r) + (-1)^s (zeta(s, 1 - r) - zeta(s, 1 - x))), scaled so that no term overflows before the others are there.
   */
  cd_polygamma: `fn cd_polygamma(x: f32, n: i32, k: i32, t: f32) -> f32 {
  let b = cd_abs_bits(x);
  let odd = (n & 1) == 1;
  let negative = bitcast<u32>(x) >= 0x80000000u;
  if (b >= 0x7f800000u) { return cd_nan_or(x, select(0.0, cd_nan(), negative)); }
  // Below 2^-65 the first term, n! / x^s, overflows.
  if (b < 0x1f000000u) { return select(-cd_inf(), cd_inf(), odd || negative); }
  let f = f32(n);
  if (!negative) {
    let y = cd_hurwitz(x, f, k, t);
    return select(-y, y, odd);
  }
  let low = floor(x);
  if (b >= 0x4b000000u || low == x) { return select(cd_nan(), cd_inf(), odd); }
  let r = x - low;
  let c = (low + 1.0) - x;
  let e = i32(cd_exp2_parts(cd_log2_pair(min(r, c)), -f, t).y);
  let near = cd_hurwitz(r, f, -e, t);
  let other = cd_hurwitz(c, f, -e, t) - cd_hurwitz(1.0 - x, f, -e, t);
  return cd_scale(select(other - near, near + other, odd), clamp(e + k, -252, 254));
}`,
} as const
