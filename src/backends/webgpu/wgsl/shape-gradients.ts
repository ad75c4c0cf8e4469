/** Derivatives of the incomplete gamma and beta functions by their shape parameters in f32, in WGSL: those of the series and fractions of incomplete.ts. */

export const shapeGradients = {
  /** digamma(x) - log x of positive x. */
  cd_digamma_minus_log: `fn cd_digamma_minus_log(x: f32) -> f32 {
  if (x < 6.0) { return cd_digamma_positive(x) - cd_log(x); }
  let r = cd_ratio(1.0, x);
  let z = r * r;
  return -(0.5 * r + z * (8.33333333e-2 - z * (8.33333333e-3 - z * (3.96825397e-3 - z * 4.16666667e-3))));
}`,
  /** digamma(x + h) - digamma(x) for x, h > 0, without cancellation. */
  cd_digamma_step: `fn cd_digamma_step(x: f32, h: f32) -> f32 {
  var sum = 0.0;
  var y = x;
  while (y < 6.0) {
    sum += cd_ratio(cd_ratio(h, y + h), y);
    y += 1.0;
  }
  let z = y + h;
  let r = cd_ratio(1.0, y * y);
  let s = cd_ratio(1.0, z * z);
  let fall = (cd_ratio(cd_ratio(h, y), z)) * (cd_ratio(cd_ratio(y + z, y), z));
  let tail = fall * (8.33333333e-2 - (r + s) * 8.33333333e-3 + (r * r + r * s + s * s) * 3.96825397e-3);
  return cd_log1p(cd_ratio(h, y)) + 0.5 * (cd_ratio(cd_ratio(h, y), z)) + tail + sum;
}`,
  /** log x - digamma(a + 1), without the cancellation for large a. */
  cd_log_above: `fn cd_log_above(a: f32, x: f32) -> f32 {
  if (a < 6.0) { return cd_log(x) - cd_digamma_positive(a + 1.0); }
  var log = cd_log(cd_ratio(x, a));
  if (x >= 0.5 * a) { log = cd_log1p(cd_ratio(x - a, a)); }
  return log - cd_digamma_minus_log(a) - cd_ratio(1.0, a);
}`,
  /** dP/da by the power series of P, for x up to about a. */
  cd_gamma_series_slope: `fn cd_gamma_series_slope(a: f32, x: f32) -> f32 {
  var sum = 1.0;
  var slope = 0.0;
  for (var k = 48.0; k >= 1.0; k -= 1.0) {
    let r = cd_ratio(x, a + k);
    slope = r * (slope + cd_ratio(sum, a + k));
    sum = 1.0 + r * sum;
  }
  let front = cd_gamma_front(a, x);
  if (front.y < -252.0) { return 0.0; }
  return cd_joined(vec2f(front.x * (sum * cd_log_above(a, x) - slope), front.y));
}`,
  /** dQ/da by the continued fraction of Q, for x > a and x > 1.1. */
  cd_gamma_fraction_slope: `fn cd_gamma_fraction_slope(a: f32, x: f32) -> f32 {
  let front = cd_gamma_front(a, x);
  if (front.y < -252.0) { return 0.0; }
  let base = x - a + 1.0;
  var tail = base + 120.0;
  var slope = -1.0;
  for (var n = 60.0; n >= 1.0; n -= 1.0) {
    let q = cd_ratio(n * (a - n), tail);
    slope = cd_ratio(n - q * slope, tail) - 1.0;
    tail = base + 2.0 * (n - 1.0) + q;
  }
  return cd_joined(vec2f(cd_ratio(front.x, tail) * (1.0 + a * (cd_log_above(a, x) - cd_ratio(slope, tail))), front.y));
}`,
  /** dP/da for a > 25 and x near it: of Temme's expansion (DLMF 8.12.3). */
  cd_gamma_uniform_slope: `fn cd_gamma_uniform_slope(a: f32, x: f32) -> f32 {
  let mu = cd_ratio(x - a, a);
  let half = -cd_log1p_minus(mu);
  let eta = cd_copysign(cd_root(max(half + half, 0.0)), mu);
  var ratio = 1.0;
  if (eta != 0.0) { ratio = cd_ratio(mu, eta); }
  let s = cd_temme(a, eta, ratio);
  let brace = 0.5 * eta - ratio - (cd_log1p(mu) - cd_ratio(0.5, a)) * s.x - cd_ratio(s.y, a);
  return cd_exp(-a * half) * (cd_ratio(0.398942280, cd_root(a))) * brace;
}`,
  /** dP/da of P(a, x): at a = 0 its limit, -E_1(x). */
  cd_gammainc_grad_a: `fn cd_gammainc_grad_a(a: f32, x: f32) -> f32 {
  let ab = cd_abs_bits(a);
  let xb = cd_abs_bits(x);
  if (max(bitcast<u32>(a), bitcast<u32>(x)) > 0x80000000u || max(ab, xb) > 0x7f800000u) { return cd_nan_or2(a, x, cd_nan()); }
  if (ab == xb && (ab == 0u || ab == 0x7f800000u)) { return cd_nan(); }
  if (xb == 0u || max(ab, xb) == 0x7f800000u) { return 0.0; }
  if (a > 25.0 && abs(x - a) < 0.4 * a) { return cd_gamma_uniform_slope(a, x); }
  if (x > 1.1 && x > a) { return -cd_gamma_fraction_slope(a, x); }
  return cd_gamma_series_slope(a, x);
}`,

  /** digamma(s) + log z for s = a + b, z below 1: without the cancellation for large s. */
  cd_digamma_and_log: `fn cd_digamma_and_log(s: f32, z: f32, low: f32) -> f32 {
  if (s >= 6.0) { return cd_log(s * z) + cd_ratio(low, z) + cd_digamma_minus_log(s); }
  return cd_log(z) + cd_ratio(low, z) + cd_digamma_positive(s);
}`,
  /** dI/da, or dI/db, by the continued fraction of I, divided by a, for x below the mean: Lentz's method counts the terms. At an integer b the value ends, and its derivative goes on. */
  cd_beta_fraction_slope: `fn cd_beta_fraction_slope(a: f32, b: f32, x: f32, y: f32, xl: f32, yl: f32, d: f32, byB: bool) -> f32 {
  let front = cd_beta_front(a, b, x, y, xl, yl, d);
  if (front.x == 0.0) { return 0.0; }
  let s = a + b;
  let value = cd_ratio(d + 1.0, a + 1.0);
  let slope = select(cd_ratio(y - value, a + 1.0), cd_ratio(-x, a + 1.0), byB);
  var up = value;
  var upSlope = slope;
  var down = 0.0;
  var downSlope = 0.0;
  var sum = cd_ratio(slope, value);
  var terms = 1;
  for (; terms < 1000; terms++) {
    let t = cd_beta_terms(a, b, x, y, d, f32(terms), byB);
    let before = down;
    down = cd_ratio(1.0, t.z + t.x * before);
    downSlope = -down * down * (t.w + t.y * before + t.x * downSlope);
    upSlope = t.w + cd_ratio(t.y - cd_ratio(t.x, up) * upSlope, up);
    up = t.z + cd_ratio(t.x, up);
    let more = cd_ratio(upSlope, up) + cd_ratio(downSlope, down);
    sum += more;
    if (abs(up * down - 1.0) < 1.0e-7 && abs(more) <= 1.0e-7 * (abs(sum) + abs(cd_ratio(upSlope, up)))) { break; }
  }
  var tail = 0.0;
  var tailSlope = 0.0;
  for (var k = terms; k >= 1; k--) {
    let t = cd_beta_terms(a, b, x, y, d, f32(k), byB);
    let under = t.z + tail;
    tail = cd_ratio(t.x, under);
    tailSlope = cd_ratio(t.y - tail * (t.w + tailSlope), under);
  }
  let whole = value + tail;
  let relative = cd_ratio(slope + tailSlope, whole);
  var log = 0.0;
  if (byB) {
    if (a < 1.0) { log = cd_log(y) + cd_ratio(yl, y) + cd_digamma_step(b, a);
    } else if (b < 6.0) { log = cd_digamma_and_log(s, y, yl) - cd_digamma_positive(b);
    } else { log = cd_log1p(cd_ratio(d, b)) - cd_digamma_minus_log(b) + cd_digamma_minus_log(s); }
  } else if (a < 6.0) {
    log = cd_digamma_and_log(s, x, xl) - cd_digamma_positive(a + 1.0);
  } else {
    let less = cd_ratio(d, a);
    log = cd_log(x * (cd_ratio(s, a)));
    if (less <= 0.5) { log = cd_log1p(-less); }
    log = log - cd_digamma_minus_log(a) + cd_digamma_minus_log(s) - cd_ratio(1.0, a);
  }
  return cd_joined(vec2f(cd_ratio(cd_ratio(front.x, a), whole) * (log - relative), front.y));
}`,
  /** Of that fraction the m-th numerator and its derivative, the m-th denominator and its derivative. */
  cd_beta_terms: `fn cd_beta_terms(a: f32, b: f32, x: f32, y: f32, d: f32, m: f32, byB: bool) -> vec4f {
  let s = a + b;
  let p = a + 2.0 * m - 1.0;
  let q = p + 2.0;
  let first = m == 1.0;
  let over = select((cd_ratio(a + (m - 1.0), p)) * (cd_ratio(s + (m - 1.0), p)), cd_ratio(s, p * p), first) * (m * x) * x;
  let rest = d + 1.0 + m * (1.0 + y);
  let numerator = over * (b - m);
  let denominator = m + cd_ratio(m * (b - m) * x, p) + cd_ratio(a + m, q) * rest;
  if (byB) {
    return vec4f(numerator, cd_ratio(over, s + (m - 1.0)) * (s + b - 1.0), denominator, cd_ratio(m * x, p) - cd_ratio((a + m) * x, q));
  }
  var relative = cd_ratio(1.0, s + (m - 1.0)) - cd_ratio(2.0, p);
  if (!first) { relative += cd_ratio(1.0, a + (m - 1.0)); }
  let slope = cd_ratio(m + 1.0, q) * (cd_ratio(rest, q)) + cd_ratio(a + m, q) * y - cd_ratio(cd_ratio(m * (b - m) * x, p), p);
  return vec4f(numerator, numerator * relative, denominator, slope);
}`,
  /** dI/da, or dI/db, of 1 - I_y(b, a) by its power series, for small y. */
  cd_beta_end_slope: `fn cd_beta_end_slope(a: f32, b: f32, x: f32, y: f32, xl: f32, yl: f32, d: f32, byB: bool) -> f32 {
  var c = 1.0;
  var dc = 0.0;
  var sum = 0.0;
  var slope = 0.0;
  for (var n = 1.0; n < 16.0; n += 1.0) {
    dc = cd_ratio((dc * (n - a) - c) * y, n);
    c *= cd_ratio((n - a) * y, n);
    sum += cd_ratio(c, b + n);
    slope += select(cd_ratio(b * dc, b + n), cd_ratio(cd_ratio(c * n, b + n), b + n), byB);
  }
  var log = 0.0;
  if (byB) { log = cd_log(y) + cd_ratio(yl, y) - cd_digamma_positive(b + 1.0) + cd_digamma_positive(a + b); } else { log = cd_digamma_step(a, b); }
  let front = cd_beta_front(a, b, x, y, xl, yl, d);
  return cd_joined(vec2f(cd_ratio(-front.x * cd_exp(-a * cd_log1p(-y)), b) * (log * (1.0 + b * sum) + slope), front.y));
}`,
  /** dI/da, or dI/db, for x below the mean. */
  cd_beta_below_slope: `fn cd_beta_below_slope(a: f32, b: f32, x: f32, y: f32, xl: f32, yl: f32, d: f32, byB: bool) -> f32 {
  if (y < 0.05 && a * y < 0.7) { return cd_beta_end_slope(a, b, x, y, xl, yl, d, byB); }
  return cd_beta_fraction_slope(a, b, x, y, xl, yl, d, byB);
}`,
  /** dI/da, or dI/db, of I_x(a, b). */
  cd_betainc_grad: `fn cd_betainc_grad(a0: f32, b0: f32, x: f32, byB: bool) -> f32 {
  if (min(bitcast<i32>(a0), bitcast<i32>(b0)) <= 0 || max(bitcast<i32>(a0), bitcast<i32>(b0)) > 0x7f800000) { return cd_nan_or2(a0, b0, cd_nan()); }
  let bits = bitcast<u32>(x);
  if (bits > 0x3f800000u && bits != 0x80000000u) { return cd_nan_or(x, cd_nan()); }
  let endlessA = cd_abs_bits(a0) == 0x7f800000u;
  let endlessB = cd_abs_bits(b0) == 0x7f800000u;
  if (endlessA && endlessB) { return cd_nan(); }
  if (bits == 0x80000000u || bits == 0u || bits == 0x3f800000u || endlessA || endlessB) { return 0.0; }
  // All of it lies at the two ends: I = b / (a + b).
  if (max(a0, b0) < 1.0e-10) {
    let share = cd_ratio(select(-b0, a0, byB), a0 + b0);
    return cd_ratio(share, a0 + b0);
  }
  let a = max(a0, 1.0e-30);
  let b = max(b0, 1.0e-30);
  let y = 1.0 - x;
  let low = cd_lost(1.0, -x, y);
  let d = cd_below_mean(a, b, x, y, low * a);
  var slope = 0.0;
  if (d > 0.0) { slope = cd_beta_below_slope(a, b, x, y, 0.0, low, d, byB); } else { slope = -cd_beta_below_slope(b, a, y, x, low, 0.0, -d, !byB); }
  // By one parameter it has a limit as that vanishes, and goes as the other.
  return slope * select(cd_ratio(b0, b), cd_ratio(a0, a), byB);
}`,

  /** 2^-e dzeta/ds (s, q) for s > 1 and q > 0: terms until q + k is large or they no longer count, then the derivative of Euler and Maclaurin's rest. */
  cd_zeta_slope_scaled: `fn cd_zeta_slope_scaled(s: f32, q: f32, e: i32) -> f32 {
  var sum = 0.0;
  var most = 0.0;
  var y = q;
  var t = 0.0;
  for (var k = 0; k < 64; k++) {
    // The first is q itself, which may be subnormal.
    y = select(max(f32(k), q) + min(f32(k), q), q, k == 0);
    let low = select(cd_ratio(cd_lost(max(f32(k), q), min(f32(k), q), y), y), 0.0, k == 0);
    t = clamp(-1.44269504 * s * low, -0.999, 0.999);
    if (y >= 10.0 + s) { break; }
    let p = cd_exp2_parts(cd_log2_pair(y), -s, t);
    let term = cd_scale(p.x, clamp(i32(p.y) - e, -252, 252));
    let log = cd_log(y) + low;
    sum -= term * log;
    most = max(most, abs(sum));
    // What follows is less than its integral.
    if (y > 1.0 && term * y * (log + cd_ratio(1.0, s - 1.0)) <= 1.0e-9 * (s - 1.0) * most) { return sum; }
  }
  let r = cd_ratio(1.0, y);
  var term = s * r;
  var moved = cd_ratio(1.0, s);
  var rest = 0.5 + term * 8.33333333e-2;
  var slope = term * moved * 8.33333333e-2;
  term *= (s + 1.0) * r * ((s + 2.0) * r);
  moved += cd_ratio(1.0, s + 1.0) + cd_ratio(1.0, s + 2.0);
  rest -= term * 1.38888889e-3;
  slope -= term * moved * 1.38888889e-3;
  term *= (s + 3.0) * r * ((s + 4.0) * r);
  moved += cd_ratio(1.0, s + 3.0) + cd_ratio(1.0, s + 4.0);
  rest += term * 3.30687831e-5;
  slope += term * moved * 3.30687831e-5;
  term *= (s + 5.0) * r * ((s + 6.0) * r);
  moved += cd_ratio(1.0, s + 5.0) + cd_ratio(1.0, s + 6.0);
  rest -= term * 8.26719577e-7;
  slope -= term * moved * 8.26719577e-7;
  term *= (s + 7.0) * r * ((s + 8.0) * r);
  moved += cd_ratio(1.0, s + 7.0) + cd_ratio(1.0, s + 8.0);
  rest += term * 2.08767570e-8;
  slope += term * moved * 2.08767570e-8;
  let log = cd_log(y);
  let w = cd_ratio(1.0, s - 1.0);
  let p = cd_exp2_parts(cd_log2_pair(y), 1.0 - s, t);
  return sum + cd_scale(p.x * ((slope - log * rest) * r - w * (log + w)), clamp(i32(p.y) - e, -252, 252));
}`,
  /** dzeta/ds: NaN for s < 1 and below q = 0, where zeta is of integers s alone. */
  cd_zeta_grad_s: `fn cd_zeta_grad_s(s: f32, q: f32) -> f32 {
  if (cd_unordered(s, q)) { return cd_nan_or2(s, q, cd_nan()); }
  let b = cd_abs_bits(q);
  if (!(s >= 1.0) || (bitcast<u32>(q) != b && b != 0u)) { return cd_nan(); }
  if (s == 1.0) { return -cd_inf(); }
  if (b == 0u) { return cd_inf(); }
  if (b == 0x7f800000u) { return 0.0; }
  if (cd_abs_bits(s) == 0x7f800000u) { return select(0.0, cd_inf(), q < 1.0); }
  let e = i32(cd_exp2_parts(cd_log2_pair(q), select(-s, 1.0 - s, q > 1.0e10), 0.0).y);
  if (abs(e) > 1000) { return select(0.0, cd_inf(), e > 0); }
  return cd_scale(cd_zeta_slope_scaled(s, q, e), clamp(e, -252, 252));
}`,
} as const
