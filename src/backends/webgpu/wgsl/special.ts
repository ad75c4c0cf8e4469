/** The error functions in f32, in WGSL: minimax polynomials fitted with 40 digits. */

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
  /**
   * erfc a for a >= 1/2: exp(-a^2) p(t) / (a + 2.5) with t = (a - 3.5) / (a + 2.5). The square is split, so that it is not rounded.
   */
  cd_erfc_far: `fn cd_erfc_far(a: f32) -> f32 {
  let h = cd_head(a);
  let e = cd_exp_sum(-h * h, -(a - h) * (a + h));
  let d = a + 2.5;
  let t = (a - 3.5) / d;
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
  return e * (p / d);
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
} as const
