/** The incomplete gamma and beta functions in f32, in WGSL: series and continued fractions summed from their last term, Temme's expansion. */

export const incomplete = {
  /** x^a exp(-x) / gamma(a + 1) = f 2^n: it may be subnormal where its product with a sum is not. */
  cd_gamma_front: `fn cd_gamma_front(a: f32, x: f32) -> vec2f {
  if (a <= 25.0) {
    let q = cd_exp2_parts(cd_log2_pair(x), a, 0.0);
    let e = cd_exp_parts(-x);
    var g = vec2f(1.0, 0.0);
    if (a < 1.0) { g.x = cd_exp(cd_lgamma_one_plus(a)); } else { g = cd_gamma_parts(a) * vec2f(a, 1.0); }
    return vec2f(cd_ratio(q.x * e.x, g.x), q.y + e.y - g.y);
  }
  let mu = cd_ratio(x - a, a);
  var exponent = a * cd_log1p_minus(max(mu, -0.55));
  if (mu <= -0.55) { exponent = a * cd_log(cd_ratio(x, a)) + (a - x); }
  let e = cd_exp_parts(exponent - cd_stirling_tail(a));
  return vec2f(cd_ratio(e.x * 0.398942280, cd_root(a)), e.y);
}`,
  /** The sum of C_k(eta) a^-k of Temme's expansion (DLMF 8.12.11), and a times its derivative where eta falls as fall / a. */
  cd_temme: `fn cd_temme(a: f32, eta: f32, fall: f32) -> vec2f {
  var p = vec2f(1.0261809784240309e-8, 0.0);
  p = p * eta + vec2f(6.707853543401498e-9, p.x);
  p = p * eta + vec2f(-1.7665952736826078e-7, p.x);
  p = p * eta + vec2f(8.296711340953087e-7, p.x);
  p = p * eta + vec2f(-1.85406221071516e-6, p.x);
  p = p * eta + vec2f(-2.185448510679992e-6, p.x);
  p = p * eta + vec2f(3.919263178522438e-5, p.x);
  p = p * eta + vec2f(-1.787551440329218e-4, p.x);
  p = p * eta + vec2f(3.527336860670194e-4, p.x);
  p = p * eta + vec2f(1.1574074074074073e-3, p.x);
  p = p * eta + vec2f(-1.4814814814814815e-2, p.x);
  p = p * eta + vec2f(8.333333333333333e-2, p.x);
  p = p * eta + vec2f(-3.333333333333333e-1, p.x);
  var q = vec2f(7.64916091608111e-6, 0.0);
  q = q * eta + vec2f(-1.8098550334489977e-5, q.x);
  q = q * eta + vec2f(-4.018775720164609e-7, q.x);
  q = q * eta + vec2f(2.0576131687242798e-4, q.x);
  q = q * eta + vec2f(-9.902263374485596e-4, q.x);
  q = q * eta + vec2f(2.6455026455026454e-3, q.x);
  q = q * eta + vec2f(-3.472222222222222e-3, q.x);
  q = q * eta + vec2f(-1.851851851851852e-3, q.x);
  var r = vec2f(7.71604938271605e-4, 0.0);
  r = r * eta + vec2f(-2.6813271604938273e-3, r.x);
  r = r * eta + vec2f(4.133597883597883e-3, r.x);
  let w = cd_ratio(1.0, a);
  let t = 6.494341563786008e-4 * w;
  let sum = p.x + w * (q.x + w * (r.x + t));
  return vec2f(sum, -w * (q.x + w * (2.0 * r.x + 3.0 * t)) - fall * (p.y + w * (q.y + w * r.y)));
}`,
  /** P or Q for a > 25 and x near it: Temme's expansion (DLMF 8.12.3). */
  cd_gammainc_uniform: `fn cd_gammainc_uniform(a: f32, x: f32, upper: bool) -> f32 {
  let mu = cd_ratio(x - a, a);
  let half = -cd_log1p_minus(mu);
  let eta = cd_copysign(cd_root(max(half + half, 0.0)), mu);
  let root = cd_root(a);
  let rest = cd_exp(-a * half) * (cd_ratio(0.398942280, root)) * cd_temme(a, eta, 0.0).x;
  let z = 0.707106781 * eta * root;
  return select(0.5 * cd_erfc(-z) - rest, 0.5 * cd_erfc(z) + rest, upper);
}`,
  /** P by its power series, for x up to about a. */
  cd_gammainc_series: `fn cd_gammainc_series(a: f32, x: f32) -> f32 {
  var sum = 1.0;
  for (var k = 48.0; k >= 1.0; k -= 1.0) { sum = 1.0 + cd_ratio(x, a + k) * sum; }
  let front = cd_gamma_front(a, x);
  return cd_joined(vec2f(front.x * sum, front.y));
}`,
  /** Q by its continued fraction (DLMF 8.9.2), for x > a and x > 1.1. */
  cd_gammainc_fraction: `fn cd_gammainc_fraction(a: f32, x: f32) -> f32 {
  let front = cd_gamma_front(a, x);
  if (front.y < -252.0) { return 0.0; }
  let base = x - a + 1.0;
  var tail = base + 120.0;
  for (var n = 60.0; n >= 1.0; n -= 1.0) { tail = base + 2.0 * (n - 1.0) + cd_ratio(n * (a - n), tail); }
  return cd_joined(vec2f(cd_ratio(front.x * a, tail), front.y));
}`,
  /** Q for small a and x: 1 - P without the cancellation. */
  cd_gammainc_small: `fn cd_gammainc_small(a: f32, x: f32) -> f32 {
  var factor = 1.0;
  var sum = 0.0;
  for (var n = 1.0; n < 14.0; n += 1.0) {
    factor *= cd_ratio(-x, n);
    sum += cd_ratio(factor, a + n);
  }
  let power = a * cd_log(x) - cd_lgamma_one_plus(a);
  return -cd_expm1(power) - a * cd_exp(power) * sum;
}`,
  /** The regularized incomplete gamma function, P(a, x) or Q(a, x) = 1 - P(a, x). */
  cd_gammainc: `fn cd_gammainc(a: f32, x: f32, upper: bool) -> f32 {
  let ab = cd_abs_bits(a);
  let xb = cd_abs_bits(x);
  if (max(bitcast<u32>(a), bitcast<u32>(x)) > 0x80000000u || max(ab, xb) > 0x7f800000u) { return cd_nan_or2(a, x, cd_nan()); }
  if (ab == xb && (ab == 0u || ab == 0x7f800000u)) { return cd_nan(); }
  let one = select(1.0, 0.0, upper);
  if (ab == 0u || xb == 0x7f800000u) { return one; }
  if (xb == 0u || ab == 0x7f800000u) { return 1.0 - one; }
  var y = 0.0;
  var isUpper = true;
  if (a > 25.0 && abs(x - a) < 0.4 * a) { return cd_gammainc_uniform(a, x, upper); }
  if (x > 1.1 && x > a) {
    y = cd_gammainc_fraction(a, x);
  } else if (x <= 1.1 && a <= select(1.1 * x, cd_ratio(-0.4, cd_log(min(x, 0.5))), x <= 0.5)) {
    y = cd_gammainc_small(a, x);
  } else {
    y = cd_gammainc_series(a, x);
    isUpper = false;
  }
  return select(1.0 - y, y, isUpper == upper);
}`,

  /** a y - b x + a t, with products in parts of 12 bits, so that nothing is lost where they cancel. */
  cd_below_mean: `fn cd_below_mean(a: f32, b: f32, x: f32, y: f32, t: f32) -> f32 {
  let ah = cd_head(a);
  let bh = cd_head(b);
  let xh = cd_head(x);
  let yh = cd_head(y);
  let al = a - ah;
  let bl = b - bh;
  let xl = x - xh;
  let yl = y - yh;
  return (ah * yh - bh * xh) + ((ah * yl - bh * xl) + (al * yh - bl * xh) + (al * yl - bl * xl) + t);
}`,
  /** x^a y^b / B(a, b) = f 2^n; x + xl and y + yl are 1 together, d = a y - b x. */
  cd_beta_front: `fn cd_beta_front(a: f32, b: f32, x: f32, y: f32, xl: f32, yl: f32, d: f32) -> vec2f {
  if (min(a, b) < 10.0) {
    let p = cd_exp2_parts(cd_log2_pair(x), a, clamp(cd_ratio(1.44269504 * a * xl, x), -0.999, 0.999));
    let q = cd_exp2_parts(cd_log2_pair(y), b, clamp(cd_ratio(1.44269504 * b * yl, y), -0.999, 0.999));
    let r = cd_beta_parts(min(a, b), max(a, b));
    return vec2f(cd_ratio(p.x * q.x, r.x), p.y + q.y - r.y);
  }
  let tails = cd_stirling_tail(a) + cd_stirling_tail(b) - cd_stirling_tail(a + b);
  let less = cd_ratio(d, a);
  var first = cd_log(x * (cd_ratio(a + b, a))) + less;
  if (less <= 0.5) { first = cd_log1p_minus(-less); }
  let e = cd_exp_parts(max(a * first + b * cd_log1p_minus(cd_ratio(d, b)) - tails, -1.0e6));
  return vec2f(e.x * 0.398942280 * cd_root(cd_ratio(a, a + b) * b), e.y);
}`,
  /** I_x(a, b) by the continued fraction of DiDonato and Morris (1992), for x below the mean: Lentz's method counts the terms. */
  cd_beta_fraction: `fn cd_beta_fraction(a: f32, b: f32, x: f32, y: f32, xl: f32, yl: f32, d: f32) -> f32 {
  let front = cd_beta_front(a, b, x, y, xl, yl, d);
  let start = cd_ratio(a * (d + 1.0), a + 1.0);
  var up = start;
  var down = 0.0;
  var terms = 1;
  for (; terms < 1000; terms++) {
    let m = f32(terms);
    let w = a + 2.0 * m - 1.0;
    let over = (cd_ratio(a + (m - 1.0), w)) * (cd_ratio(a + b + (m - 1.0), w)) * (m * x) * ((b - m) * x);
    let under = m + cd_ratio(m * (b - m) * x, w) + cd_ratio((a + m) * (d + 1.0 + m * (1.0 + y)), w + 2.0);
    down = cd_ratio(1.0, under + over * down);
    up = under + cd_ratio(over, up);
    if (abs(up * down - 1.0) < 1.0e-7) { break; }
  }
  var tail = 0.0;
  for (var k = terms; k >= 1; k--) {
    let m = f32(k);
    let w = a + 2.0 * m - 1.0;
    let over = (cd_ratio(a + (m - 1.0), w)) * (cd_ratio(a + b + (m - 1.0), w)) * (m * x) * ((b - m) * x);
    let under = m + cd_ratio(m * (b - m) * x, w) + cd_ratio((a + m) * (d + 1.0 + m * (1.0 + y)), w + 2.0);
    tail = cd_ratio(over, under + tail);
  }
  return cd_joined(vec2f(cd_ratio(front.x, start + tail), front.y));
}`,
  /** I_x(a, b) for b <= 1: a series of positive terms (DLMF 8.17.8). */
  cd_beta_series: `fn cd_beta_series(a: f32, b: f32, x: f32) -> f32 {
  var factor = 1.0;
  var sum = 0.0;
  for (var n = 1.0; n < 400.0; n += 1.0) {
    factor *= cd_ratio((n - b) * x, n);
    let term = cd_ratio(factor, a + n);
    sum += term;
    if (term <= 1.0e-9 * (sum + cd_ratio(1.0, a))) { break; }
  }
  let p = cd_exp2_parts(cd_log2_pair(x), a, 0.0);
  let r = cd_beta_parts(min(a, b), max(a, b));
  let k = select(0.0, 64.0, a < 1.0e-20);
  return cd_joined(vec2f(cd_ratio(p.x * (1.0 + a * sum), a * cd_power_of_two(i32(k)) * r.x), p.y - r.y + k));
}`,
  /** The regularized incomplete beta function I_x(a, b). */
  cd_betainc: `fn cd_betainc(a: f32, b: f32, x: f32) -> f32 {
  if (min(bitcast<i32>(a), bitcast<i32>(b)) <= 0 || max(bitcast<i32>(a), bitcast<i32>(b)) > 0x7f800000) { return cd_nan_or2(a, b, cd_nan()); }
  let bits = bitcast<u32>(x);
  if (bits > 0x3f800000u && bits != 0x80000000u) { return cd_nan_or(x, cd_nan()); }
  if (bits == 0x80000000u || bits == 0u || bits == 0x3f800000u) { return x; }
  let endlessA = cd_abs_bits(a) == 0x7f800000u;
  let endlessB = cd_abs_bits(b) == 0x7f800000u;
  if (endlessA && endlessB) { return cd_nan(); }
  if (endlessA || endlessB) { return select(0.0, 1.0, endlessB); }
  // All of it lies at the two ends.
  if (max(a, b) < 1.0e-10) { return cd_ratio(b * 1.0e10, a * 1.0e10 + b * 1.0e10); }
  if (a < 1.0e-30) { return 1.0; }
  if (b <= 1.0 && x <= 0.9) { return cd_beta_series(a, b, x); }
  let y = 1.0 - x;
  let low = cd_lost(1.0, -x, y);
  let d = cd_below_mean(a, b, x, y, low * a);
  if (d > 0.0) { return cd_beta_fraction(a, b, x, y, 0.0, low, d); }
  return 1.0 - cd_beta_fraction(b, a, y, x, low, 0.0, -d);
}`,
} as const
