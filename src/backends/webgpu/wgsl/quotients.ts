/**
 * Quotients and square roots. WGSL lets / be off by 2.5 units in the last place, and sqrt by what that makes of it; GPUs take both from a
 * reciprocal that they approximate. What it leaves is found exactly, in heads and tails of 12 bits whose products have no rounding, and
 * divided once more. Drivers that round by themselves are told apart by `cd_rounds`, a constant of the pipeline (see memory.ts).
 */
export const quotients = {
  /** Whether the driver's own quotients and roots are rounded. */
  cd_rounds: `override cd_rounds: bool = false;`,
  /** The first 12 bits of x. */
  cd_head: `fn cd_head(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) & 0xfffff000u); }`,
  /** a - z b, without a rounding where z is a / b but for some units in the last place, and no product is subnormal. */
  cd_rest: `fn cd_rest(a: f32, z: f32, b: f32) -> f32 {
  let zh = cd_head(z);
  let zl = z - zh;
  let bh = cd_head(b);
  let bl = b - bh;
  return (((a - zh * bh) - zh * bl) - zl * bh) - zl * bl;
}`,
  /**
   * z + r: a driver that makes one quotient of a / b + r / b would lose what r is for, so z is a maximum that never acts, as in cd_held.
   */
  cd_corrected: `fn cd_corrected(z: f32, r: f32) -> f32 { return max(z, -3.4028234663852886e38) + r; }`,
  /**
   * a / b, for what is added to or multiplied with other numbers: off by half a unit in the last place, as rounding makes it, and a little.
   * Divisors whose reciprocal a driver may flush are scaled, and a with them; of results below 2^-96 the rest could be flushed: they are as the driver has them.
   */
  cd_ratio: `fn cd_ratio(a: f32, b: f32) -> f32 {
  if (cd_rounds) { return a / b; }
  let u = cd_abs_bits(b);
  let scale = select(select(1.0, 18446744073709551616.0, u < 0x0d800000u), 5.42101086242752217e-20, u >= 0x71800000u);
  let x = a * scale;
  let y = b * scale;
  let z = x / y;
  let v = cd_corrected(z, cd_rest(x, z, y) * (1.0 / y));
  return select(z, v, min(cd_abs_bits(x), cd_abs_bits(z)) >= 0x0f800000u && cd_isfinite(z) && cd_isfinite(y));
}`,
  /** The same for divisors between 2^-100 and 2^100, and infinite ones: a third of the work. */
  cd_ratio_tame: `fn cd_ratio_tame(a: f32, b: f32) -> f32 {
  let z = a / b;
  if (cd_rounds) { return z; }
  return select(z, cd_corrected(z, cd_rest(a, z, b) * (1.0 / b)), cd_abs_bits(z) >= 0x0f800000u);
}`,
  /** The square root, as near. */
  cd_root: `fn cd_root(x: f32) -> f32 {
  if (cd_rounds) { return sqrt(x); }
  let z = sqrt(x);
  let v = cd_corrected(z, cd_rest(x, z, z) * (0.5 / z));
  return select(z, v, cd_abs_bits(x) - 0x0f800000u < 0x70000000u);
}`,
  /** x, multiplied with 2^150 where it is subnormal, and the power: by its bits, since a driver may flush such numbers. */
  cd_normal: `fn cd_normal(x: f32) -> vec2f {
  let small = cd_abs_bits(x) < 0x00800000u;
  return vec2f(select(x, cd_copysign(2.0 * f32(cd_abs_bits(x)), x), small), select(0.0, 150.0, small));
}`,
  /** x / y, rounded, for positive numbers of ordinary size: the neighbour where it is nearer. */
  cd_div_positive: `fn cd_div_positive(x: f32, y: f32) -> f32 {
  let z = cd_ratio(x, y);
  let rest = cd_rest(x, z, y);
  let next = bitcast<f32>(bitcast<u32>(z) + select(0xffffffffu, 1u, rest > 0.0));
  return select(z, next, abs(rest) + abs(rest) > abs(next - z) * y);
}`,
  /** a / b, rounded. */
  cd_div: `fn cd_div(a: f32, b: f32) -> f32 {
  if (cd_rounds) { return a / b; }
  let sign = (bitcast<u32>(a) ^ bitcast<u32>(b)) & 0x80000000u;
  if (min(cd_abs_bits(a), cd_abs_bits(b)) >= 0x2b800000u && max(cd_abs_bits(a), cd_abs_bits(b)) < 0x53800000u) {
    return bitcast<f32>(bitcast<u32>(cd_div_positive(abs(a), abs(b))) | sign);
  }
  let p = cd_normal(a);
  let q = cd_normal(b);
  let ua = cd_abs_bits(p.x);
  let ub = cd_abs_bits(q.x);
  if (min(ua, ub) == 0u || max(ua, ub) >= 0x7f800000u) {
    let y = bitcast<f32>(select(0u, cd_inf_bits, ua > ub) | sign);
    return cd_nan_or2(a, b, select(y, cd_nan(), ua == ub));
  }
  let z = cd_div_positive(bitcast<f32>((ua & 0x7fffffu) | 0x3f800000u), bitcast<f32>((ub & 0x7fffffu) | 0x3f800000u));
  let e = i32(ua >> 23u) - i32(ub >> 23u) - i32(p.y - q.y);
  return bitcast<f32>(bitcast<u32>(cd_scale(z, clamp(e, -252, 254))) | sign);
}`,
  /** The square root, rounded. */
  cd_sqrt: `fn cd_sqrt(x: f32) -> f32 {
  if (cd_rounds) { return sqrt(x); }
  let p = cd_normal(x);
  let b = bitcast<u32>(p.x);
  if (b - 1u >= 0x7f7fffffu) { return select(p.x, cd_nan_or(x, cd_nan()), b > 0x80000000u); }
  let e = i32(b >> 23u) - 127;
  let m = bitcast<f32>((b & 0x7fffffu) | (u32(127 + (e & 1)) << 23u));
  let z = cd_root(m);
  let rest = cd_rest(m, z, z);
  let next = bitcast<f32>(bitcast<u32>(z) + select(0xffffffffu, 1u, rest > 0.0));
  let y = select(z, next, select(-rest >= (z - next) * z, rest > (next - z) * z, rest > 0.0));
  return y * cd_power_of_two((e - (e & 1)) / 2 - i32(0.5 * p.y));
}`,
} as const
