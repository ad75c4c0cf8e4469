/** Tests by bits, choices that keep NaN, rounding, signs, remainders and conversions, in WGSL. */

export const basic = {
  // A literal that overflows does not compile, so the bits go through a variable.
  cd_inf_bits: `var<private> cd_inf_bits: u32 = 0x7f800000u;`,
  cd_inf: `fn cd_inf() -> f32 { return bitcast<f32>(cd_inf_bits); }`,
  cd_nan: `fn cd_nan() -> f32 { return bitcast<f32>(cd_inf_bits | 0x400000u); }`,
  // Compilers keep one constant for 0 and -0, whichever comes first.
  cd_minus_zero: `fn cd_minus_zero() -> f32 { return bitcast<f32>(cd_inf_bits << 8u); }`,
  /** The bits of |x|: ordered as |x| is, NaN above Infinity. */
  cd_abs_bits: `fn cd_abs_bits(x: f32) -> u32 { return bitcast<u32>(x) & 0x7fffffffu; }`,
  cd_isnan: `fn cd_isnan(x: f32) -> bool { return cd_abs_bits(x) > 0x7f800000u; }`,
  cd_isfinite: `fn cd_isfinite(x: f32) -> bool { return cd_abs_bits(x) < 0x7f800000u; }`,
  /** Is a or b NaN? */
  cd_unordered: `fn cd_unordered(a: f32, b: f32) -> bool { return max(cd_abs_bits(a), cd_abs_bits(b)) > 0x7f800000u; }`,
  /** y, but x where x is NaN. */
  cd_nan_or: `fn cd_nan_or(x: f32, y: f32) -> f32 { return select(y, x, cd_isnan(x)); }`,
  /** y, but NaN where a or b is: the one that is. */
  cd_nan_or2: `fn cd_nan_or2(a: f32, b: f32, y: f32) -> f32 { return select(select(y, b, cd_isnan(b)), a, cd_isnan(a)); }`,
  /** |x| with the sign bit of s. */
  cd_copysign: `fn cd_copysign(x: f32, s: f32) -> f32 { return bitcast<f32>(cd_abs_bits(x) | (bitcast<u32>(s) & 0x80000000u)); }`,
  /** 1 with the sign of x; zeros and NaN stay. */
  cd_sign: `fn cd_sign(x: f32) -> f32 { return select(x, cd_copysign(1.0, x), cd_abs_bits(x) - 1u < 0x7f800000u); }`,
  /** max(x, 0), by bits: negative numbers, -0 and -Infinity, but not NaN, give 0. */
  cd_relu: `fn cd_relu(x: f32) -> f32 { return select(x, 0.0, (bitcast<u32>(x) ^ 0x80000000u) <= 0x7f800000u); }`,
  /** An integer ordered as x is, -0 below 0; its own inverse. */
  cd_ordered: `fn cd_ordered(i: i32) -> i32 { return i ^ ((i >> 31u) & 0x7fffffff); }`,
  cd_max: `fn cd_max(a: f32, b: f32) -> f32 {
  let m = max(cd_ordered(bitcast<i32>(a)), cd_ordered(bitcast<i32>(b)));
  return cd_nan_or2(a, b, bitcast<f32>(cd_ordered(m)));
}`,
  cd_min: `fn cd_min(a: f32, b: f32) -> f32 {
  let m = min(cd_ordered(bitcast<i32>(a)), cd_ordered(bitcast<i32>(b)));
  return cd_nan_or2(a, b, bitcast<f32>(cd_ordered(m)));
}`,
  cd_eq: `fn cd_eq(a: f32, b: f32) -> bool { return a == b && !cd_unordered(a, b); }`,
  cd_lt: `fn cd_lt(a: f32, b: f32) -> bool { return a < b && !cd_unordered(a, b); }`,
  cd_le: `fn cd_le(a: f32, b: f32) -> bool { return a <= b && !cd_unordered(a, b); }`,
  /** a b, but a where a is 0. */
  cd_strong_mul: `fn cd_strong_mul(a: f32, b: f32) -> f32 { return select(a * b, a, cd_eq(a, 0.0)); }`,
  /** To integers; results that are 0 keep the sign of x. */
  cd_round: `fn cd_round(x: f32) -> f32 { return cd_nan_or(x, cd_copysign(round(x), x)); }`,
  cd_floor: `fn cd_floor(x: f32) -> f32 { return cd_nan_or(x, cd_copysign(floor(x), x)); }`,
  cd_ceil: `fn cd_ceil(x: f32) -> f32 { return cd_nan_or(x, cd_copysign(ceil(x), x)); }`,
  /**
   * The nearest f16, the even one of two: larger numbers become Infinity, NaN stays, small ones become subnormal. By its bits: f16(x) may
   * be undone by a driver that sees it widened again.
   */
  cd_half: `fn cd_half(x: f32) -> f16 {
  let a = cd_abs_bits(x);
  let normal = (a + 0xfffu + ((a >> 13u) & 1u) - 0x38000000u) >> 13u;
  let small = bitcast<u32>(bitcast<f32>(a) + 0.5) - 0x3f000000u;
  let large = select(0x7c00u, 0x7e00u, a > 0x7f800000u);
  let b = select(select(normal, small, a < 0x38800000u), large, a >= 0x47800000u);
  return bitcast<vec2<f16>>(b | ((bitcast<u32>(x) >> 16u) & 0x8000u)).x;
}`,
  /** Truncates and saturates; NaN is 0. */
  cd_to_i32: `fn cd_to_i32(x: f32) -> i32 {
  let i = select(i32(clamp(x, -2147483648.0, 2147483520.0)), 2147483647, x >= 2147483648.0);
  return select(i, 0, cd_isnan(x));
}`,
  /** a modulo b with the sign of b; 0 for b = 0. */
  cd_mod_i32: `fn cd_mod_i32(a: i32, b: i32) -> i32 {
  let d = select(b, 1, b == 0 || b == -1);
  let r = a % d;
  return select(r, r + d, r != 0 && (r ^ d) < 0);
}`,
  /** The exponent (1 for subnormal numbers) and the mantissa of |x|: |x| = mantissa 2^(exponent - 150). */
  cd_unpack: `fn cd_unpack(x: f32) -> vec2u {
  let b = cd_abs_bits(x);
  let e = b >> 23u;
  return vec2u(max(e, 1u), select(b & 0x7fffffu, (b & 0x7fffffu) | 0x800000u, e > 0u));
}`,
  /** mantissa 2^(exponent - 150), for a mantissa below 2^24: the inverse of unpack. */
  cd_pack: `fn cd_pack(exponent: u32, mantissa: u32) -> f32 {
  let s = min(countLeadingZeros(mantissa) - 8u, exponent - 1u);
  let m = mantissa << (s & 31u);
  return bitcast<f32>(select(0u, ((exponent - s - 1u) << 23u) + m, mantissa != 0u));
}`,
  /**
   * |a| modulo |b|, exact for every quotient: division of the mantissas, eight bits of the quotient a step. b is not 0, both are finite.
   */
  cd_fmod_abs: `fn cd_fmod_abs(a: f32, b: f32) -> f32 {
  let p = cd_unpack(a);
  let q = cd_unpack(b);
  if (p.x < q.x) { return abs(a); }
  var d = p.x - q.x;
  let n = max(q.y, 1u);
  var r = p.y % n;
  while (d > 0u && r > 0u) {
    let s = min(d, 8u);
    r = (r << s) % n;
    d -= s;
  }
  return cd_pack(q.x, r);
}`,
  /** a modulo b with the sign of b: a - b floor(a / b). */
  cd_mod: `fn cd_mod(a: f32, b: f32) -> f32 {
  if (!cd_isfinite(a) || cd_isnan(b) || cd_abs_bits(b) == 0u) { return cd_nan_or2(a, b, cd_nan()); }
  let infinite = cd_abs_bits(b) == 0x7f800000u;
  var r = abs(a);
  if (!infinite) { r = cd_fmod_abs(a, b); }
  let rest = cd_abs_bits(r);
  if (rest == 0u) { return cd_copysign(0.0, b); }
  if (((bitcast<u32>(a) ^ bitcast<u32>(b)) >> 31u) == 0u) { return cd_copysign(r, b); }
  return select(cd_copysign(abs(b) - r, b), b, infinite);
}`,
} as const
