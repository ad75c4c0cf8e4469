/** Gamma, beta and Hurwitz's zeta function in f32, in WGSL. Values that may leave the range on the way are kept as f 2^n, a vec2f(f, n). */

export const beta = {
  /** log(1 + u) - u for u > -1: between -0.55 and 0.7 a series without cancellation. */
  cd_log1p_minus: `fn cd_log1p_minus(u: f32) -> f32 {
  if (!(u > -0.55 && u < 0.7)) { return cd_log1p(u) - u; }
  let r = cd_ratio(u, 2.0 + u);
  let z = r * r;
  var p = 5.26315789e-2;
  p = p * z + 5.88235294e-2;
  p = p * z + 6.66666667e-2;
  p = p * z + 7.69230769e-2;
  p = p * z + 9.09090909e-2;
  p = p * z + 1.11111111e-1;
  p = p * z + 1.42857143e-1;
  p = p * z + 2.0e-1;
  p = p * z + 3.33333333e-1;
  return r * (2.0 * z * p - u);
}`,
  /** lgamma(1 + x) for 0 <= x <= 2, without rounding 1 + x. */
  cd_lgamma_one_plus: `fn cd_lgamma_one_plus(x: f32) -> f32 { return x * (x - 1.0) * cd_lgamma_middle(x - 1.0); }`,
  /** gamma(x) for 0 < x <= 1000 as f 2^n: by recurrence below 8, by Stirling's series above. */
  cd_gamma_parts: `fn cd_gamma_parts(x: f32) -> vec2f {
  if (x < 1.0e-20) {
    let u = cd_unpack(x);
    return vec2f(cd_ratio(1.0, f32(u.y) * cd_power_of_two(i32(u.x) - 86)), 64.0);
  }
  if (x < 1.0) { return vec2f(cd_ratio(cd_exp(cd_lgamma_one_plus(x)), x), 0.0); }
  if (x < 8.0) {
    var product = 1.0;
    var y = x;
    while (y >= 2.0) {
      y -= 1.0;
      product *= y;
    }
    return vec2f(product * cd_exp(cd_lgamma_one_plus(y - 1.0)), 0.0);
  }
  let q = cd_exp2_parts(cd_log2_pair(x), x - 0.5, 1.44269504 * cd_stirling_tail(x));
  let e = cd_exp_parts(-x);
  return vec2f(2.50662827 * q.x * e.x, q.y + e.y);
}`,
  /** log(gamma(b) / gamma(a + b)) + a log(a + b) for b >= 10 and a <= b. */
  cd_gamma_quotient: `fn cd_gamma_quotient(a: f32, b: f32) -> f32 {
  let u = cd_ratio(a, b);
  return 0.5 * cd_log1p(u) - b * cd_log1p_minus(u) + (cd_stirling_tail(b) - cd_stirling_tail(a + b));
}`,
  /** log B(a, b) for 10 <= a <= b. */
  cd_betaln_large: `fn cd_betaln_large(a: f32, b: f32) -> f32 {
  let tails = cd_stirling_tail(a) + cd_stirling_tail(b) - cd_stirling_tail(a + b);
  return -a * cd_log1p(cd_ratio(b, a)) - b * cd_log1p(cd_ratio(a, b)) + (0.5 * cd_log(6.28318531 * (cd_ratio(1.0, a) + cd_ratio(1.0, b))) + tails);
}`,
  /** B(a, b) for 0 < a <= b as f 2^n. Where gamma(a + b) or (a + b)^-a is needed, they are at the exact sum. */
  cd_beta_parts: `fn cd_beta_parts(a: f32, b: f32) -> vec2f {
  if (a >= 10.0) { return cd_exp_parts(cd_betaln_large(a, b)); }
  let s = a + b;
  let e = cd_lost(b, a, s);
  let p = cd_gamma_parts(a);
  if (b < 10.0) {
    let q = cd_gamma_parts(b);
    let r = cd_gamma_parts(s);
    return vec2f((cd_ratio(p.x, r.x)) * q.x * (1.0 - e * cd_digamma_positive(s)), p.y + q.y - r.y);
  }
  let q = cd_exp2_parts(cd_log2_pair(s), -a, 0.0);
  let r = cd_exp_parts(cd_gamma_quotient(a, b));
  return vec2f(p.x * q.x * r.x * (1.0 - cd_ratio(a * e, s)), p.y + q.y + r.y);
}`,
  /** f 2^n as one number. */
  cd_joined: `fn cd_joined(q: vec2f) -> f32 { return cd_scale(q.x, i32(clamp(q.y, -252.0, 252.0))); }`,
  /** NaN unless a and b are positive; 0 where one is infinite. */
  cd_beta: `fn cd_beta(a: f32, b: f32) -> f32 {
  let most = max(bitcast<i32>(a), bitcast<i32>(b));
  if (min(bitcast<i32>(a), bitcast<i32>(b)) <= 0 || most > 0x7f800000) { return cd_nan_or2(a, b, cd_nan()); }
  if (most == 0x7f800000) { return 0.0; }
  return cd_joined(cd_beta_parts(min(a, b), max(a, b)));
}`,
  /** Infinity where one is 0, unless the other is negative or infinite. */
  cd_betaln: `fn cd_betaln(a: f32, b: f32) -> f32 {
  let most = max(bitcast<i32>(a), bitcast<i32>(b));
  let negative = max(bitcast<u32>(a), bitcast<u32>(b)) > 0x80000000u;
  if (negative || most > 0x7f800000) { return cd_nan_or2(a, b, cd_nan()); }
  let zero = cd_abs_bits(a) == 0u || cd_abs_bits(b) == 0u;
  if (most == 0x7f800000) { return select(-cd_inf(), cd_nan(), zero); }
  if (zero) { return cd_inf(); }
  let p = min(a, b);
  let q = max(a, b);
  if (p >= 10.0) { return cd_betaln_large(p, q); }
  if (q < 10.0) {
    if (p < 1.0e-20) { return cd_log1p(cd_div(p, q)) - cd_log(p); }
    return cd_log(cd_joined(cd_beta_parts(p, q)));
  }
  return cd_lgamma_positive(p) - p * cd_log(p + q) + cd_gamma_quotient(p, q);
}`,

  /**
   * 2^-e zeta(s, q) for s > 1 and q > 0: terms until q + k is large or they no longer count, then Euler and Maclaurin's rest.
   * Powers are taken at the exact sums q + k.
   */
  cd_zeta_scaled: `fn cd_zeta_scaled(s: f32, q: f32, e: i32) -> f32 {
  var sum = 0.0;
  var y = q;
  var t = 0.0;
  for (var k = 0; k < 64; k++) {
    y = max(f32(k), q) + min(f32(k), q);
    t = clamp(cd_ratio(-1.44269504 * s * cd_lost(max(f32(k), q), min(f32(k), q), y), y), -0.999, 0.999);
    if (y >= 10.0 + s) { break; }
    let p = cd_exp2_parts(cd_log2_pair(y), -s, t);
    let term = cd_scale(p.x, clamp(i32(p.y) - e, -252, 252));
    sum += term;
    // What follows is less than its integral.
    if (term * y <= 1.0e-9 * (s - 1.0) * sum) { return sum; }
  }
  let r = cd_ratio(1.0, y);
  var term = s * r;
  var rest = 0.5 + term * 8.33333333e-2;
  term *= (s + 1.0) * r * ((s + 2.0) * r);
  rest -= term * 1.38888889e-3;
  term *= (s + 3.0) * r * ((s + 4.0) * r);
  rest += term * 3.30687831e-5;
  term *= (s + 5.0) * r * ((s + 6.0) * r);
  rest -= term * 8.26719577e-7;
  term *= (s + 7.0) * r * ((s + 8.0) * r);
  rest += term * 2.08767570e-8;
  let p = cd_exp2_parts(cd_log2_pair(y), 1.0 - s, t);
  return sum + cd_scale(p.x * (cd_ratio(1.0, s - 1.0) + rest * r), clamp(i32(p.y) - e, -252, 252));
}`,
  /**
   * Hurwitz's zeta function: NaN for s < 1, Infinity for s = 1 and at q = 0, -1, ... Below 0, for integers s, with r = q - floor(q):
   * zeta(s, r) + (-1)^s (zeta(s, 1 - r) - zeta(s, 1 - q)).
   */
  cd_zeta: `fn cd_zeta(s: f32, q: f32) -> f32 {
  if (cd_unordered(s, q)) { return cd_nan_or2(s, q, cd_nan()); }
  if (!(s > 1.0)) { return select(cd_nan(), cd_inf(), s == 1.0); }
  let b = bitcast<u32>(q);
  let endless = cd_abs_bits(s) == 0x7f800000u;
  if (b < 0x7f800000u && b > 0u) {
    if (endless) { return select(select(0.0, 1.0, q == 1.0), cd_inf(), q < 1.0); }
    let e = i32(cd_exp2_parts(cd_log2_pair(q), select(-s, 1.0 - s, q > 1.0e10), 0.0).y);
    if (abs(e) > 1000) { return select(0.0, cd_inf(), e > 0); }
    return cd_scale(cd_zeta_scaled(s, q, e), clamp(e, -252, 252));
  }
  if (b == 0x7f800000u) { return 0.0; }
  let low = floor(q);
  let infinite = cd_abs_bits(q) == 0x7f800000u;
  if (!infinite && (cd_abs_bits(q) >= 0x4b000000u || low == q)) { return cd_inf(); }
  if (infinite || endless || floor(s) != s) { return cd_nan(); }
  let odd = s < 16777216.0 && (i32(min(s, 16777216.0)) & 1) == 1;
  let r = q - low;
  let c = (low + 1.0) - q;
  let pairs = odd && r == c;
  // Of an odd s the terms cancel in pairs, up to those beyond 1 - q.
  let e = i32(cd_exp2_parts(cd_log2_pair(select(min(r, c), 1.0 - q, pairs)), -s, 0.0).y);
  if (abs(e) > 1000) { return select(select(-cd_inf(), cd_inf(), r < c || !odd), 0.0, pairs); }
  if (pairs) { return cd_scale(cd_zeta_scaled(s, 1.0 - q, e), clamp(e, -252, 252)); }
  let near = cd_zeta_scaled(s, r, e);
  let other = cd_zeta_scaled(s, c, e) - cd_zeta_scaled(s, 1.0 - q, e);
  return cd_scale(select(near + other, near - other, odd), clamp(e, -252, 252));
}`,
} as const
