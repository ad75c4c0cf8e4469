/**
 * Circular functions, their inverses and the inverse hyperbolic ones in f32, in WGSL. Sources: Cephes (Moshier); the reduction of large
 * arguments is Payne and Hanek's in integers, as in ARM's optimized routines.
 */

export const trigonometric = {
  /** The 64 bits of a b: low word, high word. */
  cd_mul_wide: `fn cd_mul_wide(a: u32, b: u32) -> vec2u {
  let al = a & 0xffffu;
  let ah = a >> 16u;
  let bl = b & 0xffffu;
  let bh = b >> 16u;
  let low = al * bl;
  let mid = ah * bl + (low >> 16u);
  let mid2 = al * bh + (mid & 0xffffu);
  return vec2u((mid2 << 16u) | (low & 0xffffu), ah * bh + (mid >> 16u) + (mid2 >> 16u));
}`,
  /** 2 / pi in overlapping words, eight bits apart. */
  cd_two_over_pi: `const cd_two_over_pi = array<u32, 24>(
  0xa2u, 0xa2f9u, 0xa2f983u, 0xa2f9836eu, 0xf9836e4eu, 0x836e4e44u, 0x6e4e4415u, 0x4e441529u, 0x441529fcu, 0x1529fc27u, 0x29fc2757u, 0xfc2757d1u,
  0x2757d1f5u, 0x57d1f534u, 0xd1f534ddu, 0xf534ddc0u, 0x34ddc0dbu, 0xddc0db62u, 0xc0db6295u, 0xdb629599u, 0x6295993cu, 0x95993c43u, 0x993c4390u, 0x3c439041u);`,
  /** As cd_reduce, for 1 <= |x| < Infinity: the product with 2 / pi as a fixed-point number of 64 bits. */
  cd_reduce_large: `fn cd_reduce_large(x: f32) -> vec3f {
  let b = cd_abs_bits(x);
  let k = (b >> 26u) & 15u;
  let m = ((b & 0x7fffffu) | 0x800000u) << ((b >> 23u) & 7u);
  var words = cd_two_over_pi;
  let p1 = cd_mul_wide(m, words[k + 4u]);
  let p2 = cd_mul_wide(m, words[k + 8u]);
  var lo = p1.x + p2.y;
  var hi = p1.y + m * words[k] + select(0u, 1u, lo < p1.x);
  // The two leading bits are the quadrant; the rest is a signed fraction, of which the leading 32 bits are kept.
  let q = (hi + 0x20000000u) >> 30u;
  hi -= q << 30u;
  let minus = hi >= 0x80000000u;
  if (minus) {
    lo = ~lo + 1u;
    hi = ~hi + select(0u, 1u, lo == 0u);
  }
  let low_only = hi == 0u;
  if (low_only) { hi = lo; lo = 0u; }
  let s = countLeadingZeros(hi) & 31u;
  let top = (hi << s) | select(0u, lo >> ((32u - s) & 31u), s > 0u);
  let v = select(1.0, -1.0, minus) * cd_power_of_two(-30 - i32(s) - select(0, 32, low_only));
  // Times pi / 2, both in two parts.
  let th = f32(top & 0xfff00000u) * v;
  let tl = f32(top & 0xfffffu) * v;
  let a = th * 1.57080078125;
  let c = th * -4.45445510338e-6 + tl * 1.57079632679;
  let head = cd_head(a + c);
  return vec3f(head, (a - head) + c, f32(q));
}`,
  /**
   * |x| modulo pi / 2, in [-pi / 4, pi / 4], as a head of 12 bits and a tail; and the quadrant. pi / 2 is in parts of 12 bits, so that
   * the first products are exact.
   */
  cd_reduce: `fn cd_reduce(x: f32) -> vec3f {
  if (cd_abs_bits(x) >= 0x45bb8000u) { return cd_reduce_large(x); }
  let a = abs(x);
  let n = round(a * 0.636619772368);
  let w = a - n * 1.57080078125;
  let v = n * 4.453584551811218e-6;
  let head = cd_head(w + v);
  let tail = ((w - head) + v) + n * 8.706138032721356e-10;
  return vec3f(head, (tail - n * 6.222800053024002e-14) - n * 5.721188916458728e-18, n);
}`,
  /** sin and cos of head + tail, at most pi / 4. The head's square is exact. */
  cd_sin_cos: `fn cd_sin_cos(head: f32, tail: f32) -> vec2f {
  let r = head + tail;
  let z = r * r;
  let s = ((-1.9515295891e-4 * z + 8.3321608736e-3) * z - 1.6666654611e-1) * z * r;
  let c = ((2.443315711809948e-5 * z - 1.388731625493765e-3) * z + 4.166664568298827e-2) * z * z;
  return vec2f(head + cd_held(tail + s), cd_held(1.0 - 0.5 * head * head) + cd_held(c - (head + 0.5 * tail) * tail));
}`,
  cd_sin: `fn cd_sin(x: f32) -> f32 {
  if (!cd_isfinite(x)) { return cd_nan_or(x, cd_nan()); }
  let q = cd_reduce(x);
  let n = u32(q.z);
  let v = cd_sin_cos(q.x, q.y);
  let y = bitcast<u32>(select(v.x, v.y, (n & 1u) == 1u)) ^ ((n & 2u) << 30u) ^ (bitcast<u32>(x) & 0x80000000u);
  return select(bitcast<f32>(y), x, cd_abs_bits(x) < 0x39000000u);
}`,
  cd_cos: `fn cd_cos(x: f32) -> f32 {
  if (!cd_isfinite(x)) { return cd_nan_or(x, cd_nan()); }
  let q = cd_reduce(x);
  let n = u32(q.z) + 1u;
  let v = cd_sin_cos(q.x, q.y);
  return bitcast<f32>(bitcast<u32>(select(v.x, v.y, (n & 1u) == 1u)) ^ ((n & 2u) << 30u));
}`,
  cd_tan: `fn cd_tan(x: f32) -> f32 {
  if (!cd_isfinite(x)) { return cd_nan_or(x, cd_nan()); }
  let q = cd_reduce(x);
  let r = q.x + q.y;
  let z = r * r;
  var p = 9.38540185543e-3;
  p = p * z + 3.11992232697e-3;
  p = p * z + 2.44301354525e-2;
  p = p * z + 5.34112807005e-2;
  p = p * z + 1.33387994085e-1;
  p = p * z + 3.33331568548e-1;
  let t = q.x + cd_held(p * z * r + q.y);
  let y = bitcast<u32>(select(t, cd_ratio(-1.0, t), (u32(q.z) & 1u) == 1u));
  return select(bitcast<f32>(y ^ (bitcast<u32>(x) & 0x80000000u)), x, cd_abs_bits(x) < 0x39000000u);
}`,

  /** asin a - a for 0 <= a <= 1/2. */
  cd_asin_rest: `fn cd_asin_rest(a: f32) -> f32 {
  let z = a * a;
  var p = 4.2163199048e-2;
  p = p * z + 2.4181311049e-2;
  p = p * z + 4.5470025998e-2;
  p = p * z + 7.4953002686e-2;
  p = p * z + 1.6666752422e-1;
  return p * z * a;
}`,
  /** 2 asin(sqrt(z)) for 0 <= z <= 1/4, as a head of 12 bits and a tail: the root's rounding is undone. */
  cd_double_asin_root: `fn cd_double_asin_root(z: f32) -> vec2f {
  let s = cd_root(z);
  let h = cd_head(s);
  let t = select(cd_ratio(z - h * h, s + h), 0.0, s == 0.0);
  return 2.0 * vec2f(h, t + cd_asin_rest(s));
}`,
  /** Above 1/2: pi / 2 - 2 asin(sqrt((1 - a) / 2)), pi / 2 in two parts. NaN outside [-1, 1]. */
  cd_asin: `fn cd_asin(x: f32) -> f32 {
  let a = abs(x);
  let d = cd_double_asin_root(clamp(0.5 - 0.5 * a, 0.0, 0.25));
  let c = min(a, 0.5);
  let r = cd_copysign(select(c + cd_asin_rest(c), cd_held(1.57079637051 - d.x) - cd_held(d.y + 4.37113883e-8), a > 0.5), x);
  return select(r, cd_nan_or(x, cd_nan()), cd_abs_bits(x) > 0x3f800000u);
}`,
  cd_acos: `fn cd_acos(x: f32) -> f32 {
  let a = abs(x);
  let d = cd_double_asin_root(clamp(0.5 - 0.5 * a, 0.0, 0.25));
  let far = select(d.x + d.y, cd_held(3.14159274101 - d.x) - cd_held(d.y + 8.74227766e-8), x < 0.0);
  let c = clamp(x, -0.5, 0.5);
  let near = 1.57079637051 - cd_held(c + (cd_asin_rest(c) + 4.37113883e-8));
  return select(select(near, far, a > 0.5), cd_nan_or(x, cd_nan()), cd_abs_bits(x) > 0x3f800000u);
}`,
  /** atan t for 0 <= t <= 1. */
  cd_atan_unit: `fn cd_atan_unit(t: f32) -> f32 {
  let z = t * t;
  var p = -2.3869972210377455e-3;
  p = p * z + 1.350777130573988e-2;
  p = p * z - 3.5871539264917374e-2;
  p = p * z + 6.25016912817955e-2;
  p = p * z - 8.656880259513855e-2;
  p = p * z + 1.1033764481544495e-1;
  p = p * z - 1.427856832742691e-1;
  p = p * z + 1.9999739527702332e-1;
  p = p * z - 3.333333134651184e-1;
  return p * z * t + t;
}`,
  cd_atan: `fn cd_atan(x: f32) -> f32 {
  let a = abs(x);
  let inverse = a > 1.0;
  let y = cd_atan_unit(select(a, cd_ratio(1.0, a), inverse));
  return cd_nan_or(x, cd_copysign(select(y, 1.57079637051 - cd_held(y + 4.37113883e-8), inverse), x));
}`,
  /** The angle of (x, y), in every quadrant; signs of zero as IEEE 754 says. */
  cd_atan2: `fn cd_atan2(y: f32, x: f32) -> f32 {
  let yb = cd_abs_bits(y);
  let xb = cd_abs_bits(x);
  let low = bitcast<f32>(min(xb, yb));
  let high = bitcast<f32>(max(xb, yb));
  // A quotient of numbers beyond 2^126 could make a driver's reciprocal subnormal; 0 / 0 is 0 here, Infinity / Infinity 1.
  let s = select(1.0, 0.0625, max(xb, yb) >= 0x7e000000u);
  var t = cd_div(low * s, high * s);
  t = select(t, 0.0, low == 0.0);
  t = select(t, 0.0, max(xb, yb) == 0x7f800000u);
  t = select(t, 1.0, min(xb, yb) == 0x7f800000u);
  var r = cd_atan_unit(t);
  r = select(r, 1.57079637051 - cd_held(r + 4.37113883e-8), yb > xb);
  r = select(r, 3.14159274101 - cd_held(r + 8.74227766e-8), bitcast<u32>(x) >= 0x80000000u);
  return cd_nan_or2(y, x, cd_copysign(r, y));
}`,

  /** A polynomial below 1/2, log(a) + log 2 where a^2 + 1 is a^2, between them log1p(a + a^2 / (1 + sqrt(a^2 + 1))). */
  cd_asinh: `fn cd_asinh(x: f32) -> f32 {
  let a = abs(x);
  let z = x * x;
  var p = 2.0122003309e-2;
  p = p * z - 4.2699340972e-2;
  p = p * z + 7.4847586088e-2;
  p = p * z - 1.6666288134e-1;
  let near = p * z * x + x;
  let huge = a > 8192.0;
  let c = min(a, 8192.0);
  let w = cd_log1p(select(c + cd_ratio(c * c, 1.0 + cd_root(c * c + 1.0)), a - 1.0, huge));
  let far = select(w, w + 0.69314718056, huge);
  return cd_nan_or(x, select(cd_copysign(far, x), near, a < 0.5));
}`,
  /** log1p(t + sqrt(t (t + 2))) with t = x - 1; NaN below 1. */
  cd_acosh: `fn cd_acosh(x: f32) -> f32 {
  let t = x - 1.0;
  let huge = x > 8192.0;
  let c = clamp(t, 0.0, 8192.0);
  let w = cd_log1p(select(c + cd_root(c * (c + 2.0)), t, huge));
  let y = cd_nan_or(x, select(w, w + 0.69314718056, huge));
  return select(y, cd_nan_or(x, cd_nan()), !(x >= 1.0));
}`,
  /** A polynomial below 1/2, else log1p(2 a / (1 - a)) / 2. */
  cd_atanh: `fn cd_atanh(x: f32) -> f32 {
  let a = abs(x);
  let z = x * x;
  var p = 1.81740078349e-1;
  p = p * z + 8.2437030106e-2;
  p = p * z + 1.4669143173e-1;
  p = p * z + 1.997821645e-1;
  p = p * z + 3.33337300303e-1;
  let near = p * z * x + x;
  let far = cd_copysign(0.5 * cd_log1p(cd_ratio(a + a, 1.0 - a)), x);
  let y = select(far, near, a < 0.5);
  let b = cd_abs_bits(x);
  let end = select(y, cd_copysign(cd_inf(), x), b == 0x3f800000u);
  return select(end, cd_nan_or(x, cd_nan()), b > 0x3f800000u);
}`,
} as const
