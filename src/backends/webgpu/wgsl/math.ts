/**
 * Exponentials and logarithms in f32, in WGSL: 1 to 2 units in the last place on every driver. Sources: Cephes (Moshier) and fdlibm,
 * with Cody-Waite reduction. A fused multiply-add, where a driver makes one, does no harm.
 */

export const math = {
  /** 2^n for a normal result. */
  cd_power_of_two: `fn cd_power_of_two(n: i32) -> f32 { return bitcast<f32>(u32(n + 127) << 23u); }`,
  /** x 2^n in two factors: results below the normal range are rounded once, large ones overflow. */
  cd_scale: `fn cd_scale(x: f32, n: i32) -> f32 {
  let h = n >> 1u;
  return (x * cd_power_of_two(h)) * cd_power_of_two(n - h);
}`,
  /**
   * A sum in one piece. Some compilers move a constant that is added to a sum to one of its terms, which rounds the other one off; a
   * maximum that never acts keeps them from it.
   */
  cd_held: `fn cd_held(x: f32) -> f32 { return max(x, -3.0e38); }`,
  /**
   * What rounding has taken from a + b, whose sum is s (Kahan's). Both differences are held, since drivers see through (a + b) - a, and
   * finite: it is added to the next term, where the sum may be infinite.
   */
  cd_lost: `fn cd_lost(a: f32, b: f32, s: f32) -> f32 {
  let h = clamp(s, -3.4028234663852886e38, 3.4028234663852886e38);
  return b - clamp(h - a, -3.4028234663852886e38, 3.4028234663852886e38);
}`,
  /** exp(r) - 1 for |r| <= log(2) / 2. */
  cd_exp_reduced: `fn cd_exp_reduced(r: f32) -> f32 {
  var p = 1.98756915e-4;
  p = p * r + 1.3981999507e-3;
  p = p * r + 8.3334519073e-3;
  p = p * r + 4.1665795894e-2;
  p = p * r + 1.6666665459e-1;
  p = p * r + 5.0000001201e-1;
  return p * r * r + r;
}`,
  /** exp(x + t), t below x's last place: a product's low part goes in without a rounding. */
  cd_exp_sum: `fn cd_exp_sum(x: f32, t: f32) -> f32 {
  let c = clamp(x, -104.0, 89.0);
  let n = round(c * 1.44269504);
  let r = ((c - n * 0.693359375) - n * -2.1219444e-4) + t;
  return cd_scale(cd_held(cd_exp_reduced(r)) + 1.0, i32(n));
}`,
  /** exp(x) = f 2^n as (f, n), for |x| <= 20000 and beyond that as there. */
  cd_exp_parts: `fn cd_exp_parts(x: f32) -> vec2f {
  let c = clamp(x, -20000.0, 20000.0);
  let n = round(c * 1.44269504);
  let r = (c - n * 0.693359375) - n * -2.1219444e-4;
  return vec2f(cd_held(cd_exp_reduced(r)) + 1.0, n);
}`,
  cd_exp: `fn cd_exp(x: f32) -> f32 {
  let c = clamp(x, -104.0, 89.0);
  let n = round(c * 1.44269504);
  let r = (c - n * 0.693359375) - n * -2.1219444e-4;
  return cd_nan_or(x, cd_scale(cd_held(cd_exp_reduced(r)) + 1.0, i32(n)));
}`,
  /** exp(x) / 2, which overflows only where the hyperbolic functions do. */
  cd_half_exp: `fn cd_half_exp(x: f32) -> f32 {
  let c = clamp(x, -104.0, 90.0);
  let n = round(c * 1.44269504);
  let r = (c - n * 0.693359375) - n * -2.1219444e-4;
  return cd_nan_or(x, cd_scale(cd_held(cd_exp_reduced(r)) + 1.0, i32(n) - 1));
}`,
  /** 2^x; exact at integers. */
  cd_exp2: `fn cd_exp2(x: f32) -> f32 {
  let c = clamp(x, -151.0, 129.0);
  let n = round(c);
  return cd_nan_or(x, cd_scale(cd_held(cd_exp_reduced((c - n) * 0.69314718056)) + 1.0, i32(n)));
}`,
  /** 2^n ((exp r - 1) + (1 - 2^-n)); n = 0 keeps x itself, so -0 stays. */
  cd_expm1: `fn cd_expm1(x: f32) -> f32 {
  let c = clamp(x, -19.0, 89.0);
  let n = round(c * 1.44269504);
  let r = (c - n * 0.693359375) - n * -2.1219444e-4;
  let i = i32(n);
  let y = cd_exp_reduced(r);
  let small = select(y, x, cd_abs_bits(x) < 0x33000000u);
  let large = cd_scale(y + (1.0 - cd_power_of_two(-min(i, 100))), i);
  return cd_nan_or(x, select(large, small, i == 0));
}`,

  /**
   * x = 2^e (1 + m) with 1 + m in [sqrt(1/2), sqrt 2), as (m, y, e): log(1 + m) = m - m^2 / 2 + y. x is positive and finite; subnormal
   * numbers are made normal by their bits, so that a driver that flushes them sees them too.
   */
  cd_log_parts: `fn cd_log_parts(x: f32) -> vec3f {
  let b = bitcast<u32>(x);
  let s = select(0u, (countLeadingZeros(b) - 8u) & 31u, b < 0x800000u);
  let n = b << s;
  var e = i32(n >> 23u) - i32(s) - 126;
  var h = bitcast<f32>((n & 0x7fffffu) | 0x3f000000u);
  let low = h < 0.707106781;
  e = select(e, e - 1, low);
  let m = select(h, h + h, low) - 1.0;
  var p = 7.0376836292e-2;
  p = p * m - 1.151461031e-1;
  p = p * m + 1.167699874e-1;
  p = p * m - 1.2420140846e-1;
  p = p * m + 1.4249322787e-1;
  p = p * m - 1.6668057665e-1;
  p = p * m + 2.0000714765e-1;
  p = p * m - 2.4999993993e-1;
  p = p * m + 3.3333331174e-1;
  return vec3f(m, p * m * (m * m), f32(e));
}`,
  /** A logarithm's exceptions: Infinity and NaN as they are, -Infinity at 0, NaN below; else y. */
  cd_log_special: `fn cd_log_special(x: f32, y: f32) -> f32 {
  let b = bitcast<u32>(x);
  let z = select(select(y, x, b >= 0x7f800000u), cd_nan_or(x, cd_nan()), b > 0x80000000u);
  return select(z, -cd_inf(), (b & 0x7fffffffu) == 0u);
}`,
  cd_log: `fn cd_log(x: f32) -> f32 {
  let q = cd_log_parts(x);
  let y = (q.y + q.z * -2.1219444e-4) - 0.5 * (q.x * q.x);
  return cd_log_special(x, (q.x + y) + q.z * 0.693359375);
}`,
  /** Logarithm to base 2; exact at powers of two. */
  cd_log2: `fn cd_log2(x: f32) -> f32 {
  let q = cd_log_parts(x);
  let y = q.y - 0.5 * (q.x * q.x);
  return cd_log_special(x, (((y * 0.4426950409 + q.x * 0.4426950409) + y) + q.x) + q.z);
}`,
  /** Logarithm to base 10, with log10(e) and log10(2) in two parts each. */
  cd_log10: `fn cd_log10(x: f32) -> f32 {
  let q = cd_log_parts(x);
  let y = q.y - 0.5 * (q.x * q.x);
  let low = (q.x + y) * 7.00731903251827651129e-4 + q.z * 2.48745663981195213739e-4;
  return cd_log_special(x, ((low + y * 0.43359375) + q.x * 0.43359375) + q.z * 0.30078125);
}`,
  /**
   * log(1 + x) = log(u) + log1p(w), w = (x - (u - 1)) / u. u is 1 + x rounded to 16 bits by an integer sum, so that u - 1 and the rest
   * are exact, and no compiler can take the rest for 0. Below 2^-10 three terms of the series.
   */
  cd_log1p: `fn cd_log1p(x: f32) -> f32 {
  let t = 1.0 + x;
  let b = bitcast<u32>(t);
  let u = bitcast<f32>((b + select(0x80u, 0u, b >= 0x7f000000u)) & 0xffffff00u);
  let w = cd_ratio(x - (u - 1.0), u);
  let y = cd_log_special(t, cd_log(u) + (w - 0.5 * w * w));
  return select(cd_nan_or(x, y), x - x * x * (0.5 - x * 0.333333333), cd_abs_bits(x) < 0x3a800000u);
}`,

  /** A polynomial below 0.625, else 1 - 2 / (exp(2|x|) + 1). */
  cd_tanh: `fn cd_tanh(x: f32) -> f32 {
  let a = abs(x);
  let z = x * x;
  var p = -5.70498872745e-3;
  p = p * z + 2.06390887954e-2;
  p = p * z - 5.37397155531e-2;
  p = p * z + 1.33314422036e-1;
  p = p * z - 3.33332819422e-1;
  let small = p * z * x + x;
  let large = 1.0 - cd_ratio_tame(2.0, cd_exp(min(a + a, 40.0)) + 1.0);
  return cd_nan_or(x, cd_copysign(select(large, small, a < 0.625), x));
}`,
  /** A polynomial below 1, else h - 1 / (4 h) with h = exp(|x|) / 2. */
  cd_sinh: `fn cd_sinh(x: f32) -> f32 {
  let a = abs(x);
  let h = cd_half_exp(a);
  let z = x * x;
  let p = (2.03721912945e-4 * z + 8.33028376239e-3) * z + 1.66667160211e-1;
  return cd_nan_or(x, select(cd_copysign(h - cd_ratio_tame(0.25, h), x), x + p * z * x, a < 1.0));
}`,
  cd_cosh: `fn cd_cosh(x: f32) -> f32 {
  let h = cd_half_exp(abs(x));
  return h + cd_ratio_tame(0.25, h);
}`,
  /** 1 / (1 + exp(-x)), from exp(-|x|) so that small values keep their accuracy. */
  cd_sigmoid: `fn cd_sigmoid(x: f32) -> f32 {
  let e = cd_exp(-abs(x));
  return cd_nan_or(x, cd_ratio_tame(select(1.0, e, x < 0.0), 1.0 + e));
}`,
  /** max(x, 0) + log1p(exp(-|x|)). */
  cd_softplus: `fn cd_softplus(x: f32) -> f32 { return cd_nan_or(x, max(x, 0.0) + cd_log1p(cd_exp(-abs(x)))); }`,
  /** max(a, b) + log1p(exp(-|a - b|)); equal arguments, infinite ones too, give a + log 2. */
  cd_logaddexp: `fn cd_logaddexp(a: f32, b: f32) -> f32 {
  let y = max(a, b) + cd_log1p(cd_exp(-abs(a - b)));
  return cd_nan_or2(a, b, select(y, a + 0.69314718056, a == b));
}`,
  /** x log y; 0 where x is 0, unless y is NaN. */
  cd_xlogy: `fn cd_xlogy(x: f32, y: f32) -> f32 {
  let z = x * cd_log(y);
  return cd_nan_or2(x, y, select(z, 0.0, x == 0.0));
}`,
} as const
