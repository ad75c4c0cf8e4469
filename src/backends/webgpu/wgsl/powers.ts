/** Roots, hypotenuse and power in f32, in WGSL. Sources: fdlibm (s_cbrtf, e_powf), with heads masked so that products are exact. */

export const powers = {
  /** The 12 leading bits: products of two such numbers are exact. */
  cd_head: `fn cd_head(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) & 0xfffff000u); }`,
  /** 1 / sqrt x: two roundings. */
  cd_rsqrt: `fn cd_rsqrt(x: f32) -> f32 { return cd_ratio(1.0, cd_sqrt(x)); }`,
  /**
   * |x| = 2^k a, k a multiple of 3: the bits of a guess its root, one step of third order follows, then Newton's from a head, whose
   * square is exact.
   */
  cd_cbrt: `fn cd_cbrt(x: f32) -> f32 {
  let b = cd_abs_bits(x);
  let s = select(0u, (countLeadingZeros(b) - 8u) & 31u, b < 0x800000u);
  let n = b << s;
  let e = i32(n >> 23u) - i32(s) - 127;
  let j = (e + 300) % 3;
  let a = bitcast<f32>((n & 0x7fffffu) | (u32(127 + j) << 23u));
  var t = bitcast<f32>(bitcast<u32>(a) / 3u + 709958130u);
  let w = 0.542857142857 + cd_ratio(t * t * t, a);
  t = t * (0.357142857143 + cd_ratio(1.60714285714, w + 1.41428571429 + cd_ratio(-0.705306122449, w)));
  t = bitcast<f32>((bitcast<u32>(t) + 0x800u) & 0xfffff000u);
  let d = cd_ratio(a, t * t);
  t = t + t * (cd_ratio(d - t, t + t + d));
  return select(x, cd_copysign(t * cd_power_of_two((e - j) / 3), x), b - 1u < 0x7f7fffffu);
}`,
  /** Infinity beats NaN. Scaled so that no square leaves the range. */
  cd_hypot: `fn cd_hypot(x: f32, y: f32) -> f32 {
  let m = max(cd_abs_bits(x), cd_abs_bits(y));
  let k = select(select(0, 90, m < 0x27800000u), -90, m >= 0x5d800000u);
  let s = cd_power_of_two(k);
  let a = x * s;
  let b = y * s;
  let r = cd_nan_or2(x, y, cd_root(a * a + b * b) * cd_power_of_two(-k));
  return select(r, cd_inf(), cd_abs_bits(x) == 0x7f800000u || cd_abs_bits(y) == 0x7f800000u);
}`,
  /** log2 x as a head of 12 bits and a tail, for positive finite x: error about 2^-33 of it. */
  cd_log2_pair: `fn cd_log2_pair(x: f32) -> vec2f {
  let b = bitcast<u32>(x);
  let shift = select(0u, (countLeadingZeros(b) - 8u) & 31u, b < 0x800000u);
  let normal = b << shift;
  var e = i32(normal >> 23u) - i32(shift) - 127;
  let fraction = normal & 0x7fffffu;
  var i = fraction | 0x3f800000u;
  let above = fraction >= 0x5db3d7u;
  let middle = fraction > 0x1cc471u && !above;
  if (above) { e += 1; i -= 0x800000u; }
  let a = bitcast<f32>(i);
  let c = select(1.0, 1.5, middle);
  // s = (a - c) / (a + c) as a head and a tail.
  let u = a - c;
  let v = cd_ratio(1.0, a + c);
  let s = u * v;
  let sh = cd_head(s);
  let dh = bitcast<f32>((((i >> 1u) & 0xfffff000u) | 0x20000000u) + 0x400000u + select(0u, 0x200000u, middle));
  let dl = a - (dh - c);
  let sl = v * ((u - sh * dh) - sh * dl);
  let z = s * s;
  var p = 2.0697501302e-1;
  p = p * z + 2.3066075146e-1;
  p = p * z + 2.7272811532e-1;
  p = p * z + 3.3333334327e-1;
  p = p * z + 4.2857143283e-1;
  p = p * z + 6.0000002384e-1;
  let r = z * z * p + sl * (sh + s);
  let z2 = sh * sh;
  let th = cd_head(3.0 + z2 + r);
  let tl = r - ((th - 3.0) - z2);
  let gh = sh * th;
  let gl = sl * th + tl * s;
  // log2 a = 2 / (3 log 2) (s + ...).
  let ph = cd_head(gh + gl);
  let pl = gl - (ph - gh);
  let qh = 9.619140625e-1 * ph;
  let ql = -1.1736857402e-4 * ph + pl * 9.6179670095e-1 + select(0.0, 1.56322085e-6, middle);
  let f = f32(e);
  let g = select(0.0, 5.84960938e-1, middle);
  let high = cd_head(((qh + ql) + g) + f);
  return vec2f(high, ql - (((high - f) - g) - qh));
}`,
  /** 2^(y log2 x + t) = f 2^n, from log2 x as a pair, |t| < 1; n within 4096 of 0. */
  cd_exp2_parts: `fn cd_exp2_parts(l: vec2f, y: f32, t: f32) -> vec2f {
  let c = clamp(y, -17179869184.0, 17179869184.0);
  let h = cd_head(c);
  let ph = h * l.x;
  let pl = ((c - h) * l.x + c * l.y) + t;
  let n = round(clamp(ph + pl, -4096.0, 4096.0));
  let r = clamp((ph - n) + pl, -1.0, 1.0);
  return vec2f(cd_held(cd_exp_reduced(r * 0.69314718056)) + 1.0, n);
}`,
  /** x^y, from log2 x as a pair: 0 and Infinity beyond the range. */
  cd_pow_pair: `fn cd_pow_pair(l: vec2f, y: f32) -> f32 {
  let q = cd_exp2_parts(l, y, 0.0);
  return cd_scale(q.x, clamp(i32(q.y), -152, 130));
}`,
  /** x^y with the signs and the exceptions of IEEE 754; 1^y and x^0 are 1, of NaN too. */
  cd_pow: `fn cd_pow(x: f32, y: f32) -> f32 {
  let xb = cd_abs_bits(x);
  let yb = cd_abs_bits(y);
  let negative = bitcast<u32>(x) > 0x80000000u - 1u;
  let whole = yb >= 0x4b800000u || floor(y) == y;
  let odd = yb < 0x4b800000u && whole && (i32(clamp(y, -16777216.0, 16777216.0)) & 1) == 1;
  var r = cd_pow_pair(cd_log2_pair(bitcast<f32>(xb)), y);
  // 0 or Infinity among the arguments: which side of 1 they lie on decides.
  let grows = (xb > 0x3f800000u) == (bitcast<u32>(y) < 0x80000000u);
  if (xb == 0u || xb == 0x7f800000u || yb == 0x7f800000u) { r = select(0.0, cd_inf(), grows); }
  if (negative && !whole && xb != 0u && xb != 0x7f800000u) { r = cd_nan(); }
  if (negative && odd) { r = -r; }
  r = cd_nan_or2(x, y, r);
  let one = yb == 0u || bitcast<u32>(x) == 0x3f800000u || (xb == 0x3f800000u && yb == 0x7f800000u);
  return select(r, 1.0, one);
}`,
} as const
