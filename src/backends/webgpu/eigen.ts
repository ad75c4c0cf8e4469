/** Eigenvalues and singular values of small matrices by Jacobi's rotations: one invocation for each matrix. Source  Golub and Van Loan 2013, 8.5 and 8.6. */
import { place } from './dispatch.js'
import { LARGEST, NAN, NUMBERS, stackOf } from './factorise.js'
import type { WholeShader } from './kernel.js'
import { perItem, scratch } from './shader.js'

/** Rounds over all pairs of columns: six are usual. */
const SWEEPS = 20

/** x and y, rotated, along columns `step` apart. */
const ROTATE = `fn rotate(x: u32, y: u32, n: u32, step: u32, c: f32, s: f32) {
  for (var k = 0u; k < n; k++) {
    let p = ld(x + k * step); let q = ld(y + k * step);
    st(x + k * step, c * p - s * q);
    st(y + k * step, s * p + c * q);
  }
}`
/** The tangent of the smaller angle that makes an off-diagonal element zero, for half of the difference over it. */
const TANGENT = `fn tangent(tau: f32) -> f32 {
  if (abs(tau) > 1e9) { return 0.5 / tau; }
  return select(-1.0, 1.0, tau >= 0.0) / (abs(tau) + sqrt(1.0 + tau * tau));
}`
/** -1 where the largest component of a column is negative: the first of those that are as large, to four digits. */
const SIGN = `fn sign_of(x: u32, n: u32, step: u32) -> f32 {
  var most = 0.0; var found = 0.0;
  for (var k = 0u; k < n; k++) {
    let e = ld(x + k * step);
    if (abs(e) > most * 1.0001) { most = abs(e); found = e; }
  }
  return select(1.0, -1.0, found < 0.0);
}`

export const eighShader: WholeShader = (kernel, [w, v, a]) => {
  const { count, rows: n } = stackOf(kernel)
  if (n > LARGEST) return undefined
  const each = 2 * n * n
  return {
    scratchBytes: 4 * count * each,
    dispatches: perItem({
      items: n === 0 ? 0 : count,
      words: { wp: place(w!), vp: place(v!), ap: place(a!), sp: scratch(0), n, each },
      functions: [...NUMBERS, ROTATE, TANGENT, SIGN],
      body: `  let x = sp + t * each; let u = x + n * n; let y = ap + t * n * n;
  var good = true;
  for (var i = 0u; i < n; i++) {
    for (var j = 0u; j < n; j++) {
      let e = ld(y + max(i, j) * n + min(i, j));
      good = good && fine(e);
      st(x + i * n + j, e);
      st(u + i * n + j, select(0.0, 1.0, i == j));
    }
  }
  for (var sweep = 0u; sweep < ${SWEEPS}u && good; sweep++) {
    var turned = false;
    for (var p = 0u; p + 1u < n; p++) {
      for (var q = p + 1u; q < n; q++) {
        let e = ld(x + p * n + q);
        if (abs(e) <= 1e-9 * (abs(ld(x + p * n + p)) + abs(ld(x + q * n + q)))) { continue; }
        turned = true;
        let f = tangent((ld(x + q * n + q) - ld(x + p * n + p)) / (2.0 * e));
        let c = 1.0 / sqrt(1.0 + f * f);
        rotate(x + p, x + q, n, n, c, f * c);
        rotate(x + p * n, x + q * n, n, 1u, c, f * c);
        rotate(u + p, u + q, n, n, c, f * c);
        st(x + p * n + q, 0.0);
        st(x + q * n + p, 0.0);
      }
    }
    if (!turned) { break; }
  }
  for (var i = 0u; i < n; i++) {
    let own = ld(x + i * n + i);
    var to = 0u;
    for (var j = 0u; j < n; j++) { let other = ld(x + j * n + j); if (other < own || (other == own && j < i)) { to++; } }
    if (!good) { to = i; }
    let sign = sign_of(u + i, n, n);
    m[wp + t * n + to] = select(${NAN}, bitcast<u32>(own), good);
    for (var j = 0u; j < n; j++) { m[vp + t * n * n + j * n + to] = select(${NAN}, bitcast<u32>(sign * ld(u + j * n + i)), good); }
  }
`,
    }),
  }
}

/** Column i of U where its singular value is 0: what is left of a unit vector that the columns before it, and those that are known, leave. */
const COMPLETE = `fn complete(u: u32, i: u32, rows: u32, n: u32, known: u32) {
  for (var at = 0u; at < rows; at++) {
    for (var k = 0u; k < rows; k++) { st(u + k * n + i, select(0.0, 1.0, k == at)); }
    for (var round = 0u; round < 2u; round++) {
      for (var j = 0u; j < n; j++) {
        if (j == i || (m[known + j] == 0u && j > i)) { continue; }
        var s = 0.0;
        for (var k = 0u; k < rows; k++) { s += ld(u + k * n + j) * ld(u + k * n + i); }
        for (var k = 0u; k < rows; k++) { st(u + k * n + i, ld(u + k * n + i) - s * ld(u + k * n + j)); }
      }
    }
    var squares = 0.0;
    for (var k = 0u; k < rows; k++) { squares += ld(u + k * n + i) * ld(u + k * n + i); }
    if (squares * f32(2u * rows) > 1.0) {
      for (var k = 0u; k < rows; k++) { st(u + k * n + i, ld(u + k * n + i) / sqrt(squares)); }
      return;
    }
  }
}`
export const svdShader: WholeShader = (kernel, [u, s, v, a]) => {
  const { count, rows, columns: n } = stackOf(kernel)
  if (rows > LARGEST) return undefined
  const each = rows * n + n * n + 2 * n
  return {
    scratchBytes: 4 * count * each,
    dispatches: perItem({
      items: n === 0 ? 0 : count,
      words: { up: place(u!), wp: place(s!), vp: place(v!), ap: place(a!), sp: scratch(0), rows, n, each },
      functions: [...NUMBERS, ROTATE, TANGENT, SIGN, COMPLETE],
      body: `  let x = sp + t * each; let z = x + rows * n; let values = z + n * n; let known = values + n;
  // Over a power of two near the largest number, so that squares neither overflow nor vanish.
  var power = 0x00800000u;
  for (var i = 0u; i < rows * n; i++) { power = max(power, m[ap + t * rows * n + i] & 0x7f800000u); }
  let good = power < 0x7f800000u;
  power = min(power, 0x7e800000u);
  let unit = bitcast<f32>(power); let inverse = bitcast<f32>(0x7f000000u - power);
  for (var i = 0u; i < rows * n; i++) { st(x + i, ld(ap + t * rows * n + i) * inverse); }
  for (var i = 0u; i < n * n; i++) { st(z + i, select(0.0, 1.0, i / n == i % n)); }
  for (var sweep = 0u; sweep < ${SWEEPS}u && good; sweep++) {
    var turned = false;
    for (var p = 0u; p + 1u < n; p++) {
      for (var q = p + 1u; q < n; q++) {
        var pp = 0.0; var qq = 0.0; var pq = 0.0;
        for (var k = 0u; k < rows; k++) {
          let e = ld(x + k * n + p); let f = ld(x + k * n + q);
          pp += e * e; qq += f * f; pq += e * f;
        }
        if (abs(pq) <= 1e-7 * sqrt(pp) * sqrt(qq) || pq == 0.0) { continue; }
        turned = true;
        let f = tangent((qq - pp) / (2.0 * pq));
        let c = 1.0 / sqrt(1.0 + f * f);
        rotate(x + p, x + q, rows, n, c, f * c);
        rotate(z + p, z + q, n, n, c, f * c);
      }
    }
    if (!turned) { break; }
  }
  var largest = 0.0;
  for (var i = 0u; i < n; i++) {
    var scale = 0.0; var squares = 0.0;
    for (var k = 0u; k < rows; k++) { scale = max(scale, abs(ld(x + k * n + i))); }
    if (scale > 0.0) { for (var k = 0u; k < rows; k++) { let e = ld(x + k * n + i) / scale; squares += e * e; } }
    st(values + i, scale * sqrt(squares));
    largest = max(largest, scale * sqrt(squares));
  }
  for (var i = 0u; i < n; i++) {
    let own = ld(values + i);
    m[known + i] = select(0u, 1u, own > 1e-6 * largest);
    if (m[known + i] == 1u) { for (var k = 0u; k < rows; k++) { st(x + k * n + i, ld(x + k * n + i) / own); } }
  }
  for (var i = 0u; i < n; i++) { if (m[known + i] == 0u && good) { complete(x, i, rows, n, known); } }
  for (var i = 0u; i < n; i++) {
    let own = ld(values + i);
    var to = 0u;
    for (var j = 0u; j < n; j++) { let other = ld(values + j); if (other > own || (other == own && j < i)) { to++; } }
    if (!good) { to = i; }
    let sign = sign_of(z + i, n, n);
    m[wp + t * n + to] = select(${NAN}, bitcast<u32>(own * unit), good);
    for (var k = 0u; k < rows; k++) { m[up + t * rows * n + k * n + to] = select(${NAN}, bitcast<u32>(sign * ld(x + k * n + i)), good); }
    for (var k = 0u; k < n; k++) { m[vp + t * n * n + k * n + to] = select(${NAN}, bitcast<u32>(sign * ld(z + k * n + i)), good); }
  }
`,
    }),
  }
}
