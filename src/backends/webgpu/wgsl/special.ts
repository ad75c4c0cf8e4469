/** The error functions, their inverses and the normal distribution in f32, in WGSL: polynomials fitted with 40 digits. */

export const special = {
  /** erf x for |x| <= 1: x + x p(x^2). */
  cd_erf_near: `fn cd_erf_near(x: f32) -> f32 {
  let z = x * x;
  var p = 7.875874871388078e-5;
  p = p * z - 8.01686430349946e-4;
  p = p * z + 5.189087241888046e-3;
  p = p * z - 2.685421146452427e-2;
  p = p * z + 1.1283594369888306e-1;
  p = p * z - 3.761262595653534e-1;
  p = p * z + 1.2837916612625122e-1;
  return x + x * p;
}`,
  /** exp(a^2) erfc(a) for a >= 1/2: p(t) / (a + 2.5) with t = (a - 3.5) / (a + 2.5). */
  cd_erfcx_far: `fn cd_erfcx_far(a: f32) -> f32 {
  let d = a + 2.5;
  let t = cd_ratio(a - 3.5, d);
  var p = 2.5321314751636237e-6;
  p = p * t - 1.1671416359604336e-5;
  p = p * t - 2.5671808543847874e-5;
  p = p * t + 1.4343320799525827e-4;
  p = p * t + 1.363887422485277e-4;
  p = p * t - 1.5981952892616391e-3;
  p = p * t + 1.4075423823669553e-3;
  p = p * t + 1.6065651550889015e-2;
  p = p * t - 8.70746448636055e-2;
  p = p * t + 2.592691481113434e-1;
  p = p * t - 5.558868646621704e-1;
  p = p * t + 9.317619204521179e-1;
  return cd_ratio(p, d);
}`,
  /** erfc a for a >= 1/2. The square is split, so that it is not rounded. */
  cd_erfc_far: `fn cd_erfc_far(a: f32) -> f32 {
  let h = cd_head(a);
  return cd_exp_sum(-h * h, -(a - h) * (a + h)) * cd_erfcx_far(a);
}`,
  cd_erf: `fn cd_erf(x: f32) -> f32 {
  let a = clamp(abs(x), 1.0, 5.0);
  return cd_nan_or(x, select(cd_copysign(1.0 - cd_erfc_far(a), x), cd_erf_near(x), abs(x) <= 1.0));
}`,
  cd_erfc: `fn cd_erfc(x: f32) -> f32 {
  let far = cd_erfc_far(clamp(abs(x), 0.5, 11.0));
  let y = select(2.0 - far, 1.0 - cd_held(cd_erf_near(x)), x > -1.0);
  return cd_nan_or(x, select(y, far, x >= 0.5));
}`,
  /** exp(x^2) erfc(x): Infinity below -9.4, 0 at Infinity. */
  cd_erfcx: `fn cd_erfcx(x: f32) -> f32 {
  let far = cd_erfcx_far(clamp(x, 0.5, 3.0e38));
  let a = clamp(-x, -0.5, 9.5);
  let h = cd_head(a);
  let near = cd_exp_sum(h * h, (a - h) * (a + h)) * cd_erfc(-a);
  return cd_nan_or(x, select(select(near, far, x >= 0.5), 0.0, bitcast<u32>(x) == 0x7f800000u));
}`,

  /** erfinv x for |x| <= 3/4: x p(x^2). */
  cd_erfinv_central: `fn cd_erfinv_central(x: f32) -> f32 {
  let t = 3.55555556 * (x * x) - 1.0;
  var p = 8.460440767521504e-06;
  p = p * t + 2.3543167117168196e-05;
  p = p * t + 4.7559882659697905e-05;
  p = p * t + 0.00014533134526573122;
  p = p * t + 0.00046980849583633244;
  p = p * t + 0.0015119673917070031;
  p = p * t + 0.00517278304323554;
  p = p * t + 0.019690869376063347;
  p = p * t + 0.0934678241610527;
  p = p * t + 0.964021623134613;
  return x * p;
}`,
  /** The number whose erfc is q, for 0 < q <= 1/4: s p(1 / s) with s = sqrt(-log q). */
  cd_erfcinv_tail: `fn cd_erfcinv_tail(q: f32) -> f32 {
  let s = cd_root(max(-cd_log(q), 1.0));
  let u = cd_ratio(1.0, s);
  if (u > 0.333333333) {
    let t = (u - 0.591688547159) * 3.87063990384;
    var p = 5.152285211806884e-07;
    p = p * t - 1.438013441656949e-06;
    p = p * t + 3.0612093269155594e-06;
    p = p * t - 1.6909820260480046e-05;
    p = p * t + 0.0001281250879401341;
    p = p * t - 0.0007487881230190396;
    p = p * t + 0.0024601805489510298;
    p = p * t + 0.0037244355771690607;
    p = p * t - 0.10976052284240723;
    p = p * t + 0.7947943806648254;
    return s * p;
  }
  let t = (u - 0.21568627451) * 8.5;
  var p = 6.329631219159637e-07;
  p = p * t - 1.6133121789607685e-06;
  p = p * t + 2.9447437555063516e-06;
  p = p * t - 9.463892638450488e-06;
  p = p * t + 3.524155908962712e-05;
  p = p * t - 0.0001754640252329409;
  p = p * t + 0.0011670481180772185;
  p = p * t - 0.004731342196464539;
  p = p * t - 0.04176313802599907;
  p = p * t + 0.9503954648971558;
  return s * p;
}`,
  cd_erfinv: `fn cd_erfinv(x: f32) -> f32 {
  let a = abs(x);
  let b = cd_abs_bits(x);
  let far = cd_copysign(cd_erfcinv_tail(1.0 - clamp(a, 0.5, 0.99999994)), x);
  let y = select(cd_erfinv_central(x), far, a > 0.75);
  let end = select(y, cd_copysign(cd_inf(), x), b == 0x3f800000u);
  return select(end, cd_nan_or(x, cd_nan()), b > 0x3f800000u);
}`,
  cd_erfcinv: `fn cd_erfcinv(q: f32) -> f32 {
  let b = bitcast<u32>(q);
  let high = q > 1.75;
  let tail = cd_erfcinv_tail(select(q, max(2.0 - q, 1.0e-7), high));
  var y = cd_erfinv_central(1.0 - q);
  if (q < 0.25) { y = tail; }
  if (high) { y = -tail; }
  y = select(y, -cd_inf(), b == 0x40000000u);
  y = select(y, cd_nan_or(q, cd_nan()), b > 0x40000000u);
  return select(y, cd_inf(), (b & 0x7fffffffu) == 0u);
}`,
  /** The normal distribution function at -a, for a >= 3/4: exp(-a^2 / 2) erfcx(a / sqrt 2) / 2, the square split. */
  cd_ndtr_tail: `fn cd_ndtr_tail(a: f32) -> f32 {
  let h = cd_head(a);
  return cd_exp_sum(-0.5 * h * h, -0.5 * (a - h) * (a + h)) * (0.5 * cd_erfcx_far(0.70710678 * a));
}`,
  cd_ndtr: `fn cd_ndtr(x: f32) -> f32 {
  let tail = cd_ndtr_tail(clamp(abs(x), 0.75, 15.0));
  let middle = 0.5 + 0.5 * cd_erf_near(0.70710678 * clamp(x, -1.0, 1.0));
  return cd_nan_or(x, select(middle, select(tail, 1.0 - tail, x > 0.0), abs(x) > 0.75));
}`,
  /** Below -1: -x^2 / 2 + log(erfcx(-x / sqrt 2) / 2), two terms of one sign. */
  cd_log_ndtr: `fn cd_log_ndtr(x: f32) -> f32 {
  var y = cd_log(cd_ndtr(x));
  if (x >= 0.0) { y = cd_log1p(-cd_ndtr(-x)); }
  if (x < -1.0) { y = (-0.5 * x) * x + cd_log(0.5 * cd_erfcx(-0.70710678 * x)); }
  return cd_nan_or(x, y);
}`,
} as const
