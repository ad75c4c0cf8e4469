/** Bessel functions of integer order in f32, in WGSL: polynomials fitted with 40 digits, recurrences and continued fractions. */

export const bessel = {
  /** J_0 or J_1 for x >= 8, by Hankel's P and x Q / 8. */
  cd_j_far: `fn cd_j_far(x: f32, first: bool) -> f32 {
  let s = cd_sin(x);
  let c = cd_cos(x);
  let z = cd_ratio(8.0, x);
  let t = 2.0 * z * z - 1.0;
  let root = cd_ratio(0.564189584, cd_root(x));
  if (first) {
    var p = -1.4975125139926604e-08;
    p = p * t + 2.4710536195016175e-07;
    p = p * t - 7.959593858686276e-06;
    p = p * t + 0.0008988045156002045;
    p = p * t + 1.000907063484192;
    var q = -7.498182075238446e-10;
    q = q * t + 6.583354750233639e-09;
    q = q * t - 8.290185604664657e-08;
    q = q * t + 1.8211396763945231e-06;
    q = q * t - 9.621459321351722e-05;
    q = q * t + 0.04677687585353851;
    return root * (p * (s - c) + z * q * (s + c));
  }
  var p = 1.3045172053693932e-08;
  p = p * t - 2.068237847652199e-07;
  p = p * t + 6.137324362498475e-06;
  p = p * t - 0.0005363669479265809;
  p = p * t + 0.9994572997093201;
  var q = 6.752194914305676e-10;
  q = q * t - 5.8175326778098224e-09;
  q = q * t + 7.104580390659976e-08;
  q = q * t - 1.4770821508136578e-06;
  q = q * t + 6.833149382146075e-05;
  q = q * t - 0.015555113554000854;
  return root * (p * (s + c) - z * q * (s - c));
}`,
  /** The power series of J_0, or of 2 J_1(x) / x, for 0 <= x <= 2. */
  cd_j_series: `fn cd_j_series(x: f32, n: f32) -> f32 {
  let z = 0.25 * x * x;
  var sum = 1.0;
  for (var k = 9.0; k >= 1.0; k -= 1.0) { sum = 1.0 - cd_ratio(sum * z, k * (k + n)); }
  return sum;
}`,
  /** J_0 of x >= 0: between 2 and 8 a polynomial times x minus the zero, in two parts. */
  cd_j0: `fn cd_j0(x: f32) -> f32 {
  if (x <= 2.0) { return cd_j_series(x, 0.0); }
  if (x > 8.0) { return cd_j_far(x, false); }
  if (x <= 4.0) {
    let t = x - 3.0;
    var p = -2.301099755186442e-07;
    p = p * t - 6.058849066903349e-06;
    p = p * t + 2.1280922737787478e-05;
    p = p * t + 0.0003826726751867682;
    p = p * t - 0.0012113101547583938;
    p = p * t - 0.012781564146280289;
    p = p * t + 0.0371120348572731;
    p = p * t + 0.16444766521453857;
    p = p * t - 0.4369339942932129;
    return (cd_held(x - 2.404825448989868) - 1.08705904605e-7) * p;
  }
  let t = (x - 6.0) * 0.5;
  var p = 7.423546435347816e-07;
  p = p * t - 2.8201711756992154e-06;
  p = p * t - 2.742889046203345e-05;
  p = p * t + 9.624916856409982e-05;
  p = p * t + 0.000645891937892884;
  p = p * t - 0.002077314769849181;
  p = p * t - 0.009292547591030598;
  p = p * t + 0.02705143578350544;
  p = p * t + 0.067719966173172;
  p = p * t - 0.17372013628482819;
  p = p * t - 0.15507318079471588;
  p = p * t + 0.3138953745365143;
  return (cd_held(x - 5.520078182220459) + 7.19341483348e-8) * p;
}`,
  /** J_1 of x >= 0. */
  cd_j1: `fn cd_j1(x: f32) -> f32 {
  if (x <= 2.0) { return 0.5 * x * cd_j_series(x, 1.0); }
  if (x > 8.0) { return cd_j_far(x, true); }
  if (x <= 5.0) {
    let t = (x - 3.5) * 0.666666667;
    var p = 5.719861633224355e-07;
    p = p * t - 1.5773084669490345e-05;
    p = p * t - 2.406150451861322e-05;
    p = p * t + 0.000584913999773562;
    p = p * t + 0.0005839202203787863;
    p = p * t - 0.01236830372363329;
    p = p * t - 0.006950670387595892;
    p = p * t + 0.12832985818386078;
    p = p * t + 0.023623062297701836;
    p = p * t - 0.4141545295715332;
    return (cd_held(x - 3.8317060470581055) + 7.68505931531e-8) * p;
  }
  let t = (x - 6.5) * 0.666666667;
  var p = -2.7209269504169242e-08;
  p = p * t + 1.546581734146457e-05;
  p = p * t - 1.961121370186447e-06;
  p = p * t - 0.0005597762647084892;
  p = p * t + 0.00017112368368543684;
  p = p * t + 0.011345461942255497;
  p = p * t - 0.004784807097166777;
  p = p * t - 0.10874500870704651;
  p = p * t + 0.042529910802841187;
  p = p * t + 0.2983810603618622;
  return (cd_held(x - 7.015586853027344) + 1.83211724996e-7) * p;
}`,
  /**
   * J_n: upwards as far as the order is below |x|; above, the ratios of neighbours by a continued fraction from its term n + more, where
   * `more` is enough for |x| < n + 1.
   */
  cd_bessel_j: `fn cd_bessel_j(x: f32, n: i32, more: i32) -> f32 {
  let b = cd_abs_bits(x);
  if (b > 0x7f800000u) { return x; }
  let a = abs(x);
  var y = 0.0;
  if (n == 0 && b < 0x7f800000u) {
    y = cd_j0(a);
  } else if (n == 1 && b < 0x7f800000u) {
    y = cd_j1(a);
  } else if (b > 0u && b < 0x7f800000u) {
    let up = min(n, i32(min(a, 2000.0)));
    var before = 0.0;
    y = cd_j0(a);
    for (var k = 0; k < up; k++) {
      var next = 0.0;
      if (k == 0) { next = cd_j1(a); } else { next = cd_ratio(f32(2 * k) * y, a) - before; }
      before = y;
      y = next;
    }
    var ratio = 0.0;
    for (var k = select(n + more, up, up == n); k > up; k--) {
      ratio = cd_ratio(a, f32(2 * k) - a * ratio);
      if (k <= n) { y *= ratio; }
    }
  }
  return select(y, -y, (n & 1) == 1 && bitcast<u32>(x) >= 0x80000000u);
}`,

  /** I_n for 0 <= x <= 8: a series of positive terms, from its last. */
  cd_i_series: `fn cd_i_series(x: f32, n: i32) -> f32 {
  let z = 0.25 * x * x;
  let f = f32(n);
  var y = 1.0;
  for (var k = 18.0; k >= 1.0; k -= 1.0) { y = 1.0 + cd_ratio(y * z, k * (k + f)); }
  for (var k = 1; k <= n; k++) { y *= cd_ratio(0.5 * x, f32(k)); }
  return y;
}`,
  /** exp(-x) I_0(x) or that of I_1, for x >= 8. */
  cd_i_far: `fn cd_i_far(x: f32, first: bool) -> f32 {
  let t = cd_ratio(16.0, x) - 1.0;
  if (first) {
    var p = -3.57743594747717e-08;
    p = p * t - 1.2273217464553454e-07;
    p = p * t - 3.584299008707603e-07;
    p = p * t - 1.8256907878821949e-06;
    p = p * t - 1.5035268006613478e-05;
    p = p * t - 0.00021923713211435825;
    p = p * t - 0.0097495773807168;
    p = p * t + 0.389398455619812;
    return cd_ratio(p, cd_root(x));
  }
  var p = 3.161985517863286e-08;
  p = p * t + 1.0867942279446652e-07;
  p = p * t + 3.0733230005353107e-07;
  p = p * t + 1.4761156990061863e-06;
  p = p * t + 1.1139815796923358e-05;
  p = p * t + 0.00013621716061607003;
  p = p * t + 0.0033605522476136684;
  p = p * t + 0.40217649936676025;
  return cd_ratio(p, cd_root(x));
}`,
  /** exp(-x) I_n(x) for x > 50 + 2 n^2: Hankel's expansion. */
  cd_i_expansion: `fn cd_i_expansion(x: f32, n: i32) -> f32 {
  let m = 4.0 * f32(n) * f32(n);
  var term = 1.0;
  var sum = 1.0;
  for (var k = 1.0; k < 30.0; k += 1.0) {
    term *= cd_ratio((2.0 * k - 1.0) * (2.0 * k - 1.0) - m, 8.0 * k * x);
    sum += term;
    if (abs(term) < 1.0e-9) { break; }
  }
  return cd_ratio(sum * 0.398942280, cd_root(x));
}`,
  /**
   * f 2^e exp(-x) I_n(x) for x > 8: I_0 times the ratios of neighbours, by a continued fraction. The power of two goes in where the product
   * has room for it.
   */
  cd_i_scaled: `fn cd_i_scaled(x: f32, n: i32, f: f32, e: i32) -> f32 {
  var left = e;
  var y = f;
  if (n < 2) {
    y *= cd_i_far(x, n == 1);
  } else if (x > 50.0 + 2.0 * f32(n) * f32(n)) {
    y *= cd_i_expansion(x, n);
  } else {
    y *= cd_i_far(x, false);
    var ratio = 0.0;
    for (var k = n + 30 + i32(6.0 * cd_root(x)); k >= 1; k--) {
      ratio = cd_ratio(x, f32(2 * k) + x * ratio);
      if (k <= n) {
        y *= ratio;
        if (left > 0 && y < 1.0) {
          let s = min(left, 60);
          y *= cd_power_of_two(s);
          left -= s;
        }
      }
    }
  }
  return cd_scale(y, min(left, 252));
}`,
  /** exp(-|x|) I_n(x). */
  cd_bessel_ie: `fn cd_bessel_ie(x: f32, n: i32) -> f32 {
  let b = cd_abs_bits(x);
  if (b > 0x7f800000u) { return x; }
  let a = abs(x);
  var y = 0.0;
  if (a <= 8.0) {
    y = cd_exp(-a) * cd_i_series(a, n);
  } else if (b < 0x7f800000u) {
    y = cd_i_scaled(a, n, 1.0, 0);
  }
  return select(y, -y, (n & 1) == 1 && bitcast<u32>(x) >= 0x80000000u);
}`,
  /** I_n(x). */
  cd_bessel_i: `fn cd_bessel_i(x: f32, n: i32) -> f32 {
  let b = cd_abs_bits(x);
  if (b > 0x7f800000u) { return x; }
  let a = abs(x);
  var y = 0.0;
  if (a <= 8.0) {
    y = cd_i_series(a, n);
  } else if (b == 0x7f800000u) {
    y = cd_inf();
  } else {
    let q = cd_exp_parts(min(a, 1.0e4));
    y = cd_i_scaled(a, n, q.x, i32(q.y));
  }
  return select(y, -y, (n & 1) == 1 && bitcast<u32>(x) >= 0x80000000u);
}`,
} as const
