/** Cholesky, triangular systems, LU and QR of small matrices: one invocation for each matrix, for each right side of a triangular system. */

import { sizeOf } from '../../core/graph/shape.js'
import type { QrParams, TriangularParams } from '../../core/ops/linalg/factorisations.js'
import type { OpaqueKernel } from '../plan/kernel.js'
import { place } from './dispatch.js'
import type { WholeShader } from './kernel.js'
import { perItem, scratch } from './shader.js'

/** Rows or columns of the largest matrix that one invocation works on; larger ones are the CPU's. */
export const LARGEST = 64
/** Numbers in memory; whether one is finite, whatever a driver makes of comparisons with NaN. */
export const NUMBERS = [
  'fn ld(i: u32) -> f32 { return bitcast<f32>(m[i]); }',
  'fn st(i: u32, x: f32) { m[i] = bitcast<u32>(x); }',
  'fn fine(x: f32) -> bool { return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u; }',
]
export const NAN = '0x7fc00000u'
/** How many matrices the argument has, and the last two axes. */
export const stackOf = ({ args }: OpaqueKernel): { readonly count: number; readonly rows: number; readonly columns: number } => {
  const { shape } = args[0]!
  const [rows, columns] = shape.slice(-2) as [number, number]
  return { count: sizeOf(shape.slice(0, -2)), rows, columns }
}

export const choleskyShader: WholeShader = (kernel, [l, a]) => {
  const { count, rows: n } = stackOf(kernel)
  if (n > LARGEST) return undefined
  return {
    scratchBytes: 0,
    dispatches: perItem({
      items: n === 0 ? 0 : count,
      words: { lp: place(l!), ap: place(a!), n },
      functions: NUMBERS,
      body: `  let x = lp + t * n * n; let y = ap + t * n * n;
  var good = true;
  for (var i = 0u; i < n; i++) {
    for (var j = 0u; j < n; j++) {
      if (j > i) { st(x + i * n + j, 0.0); continue; }
      var s = 0.5 * ld(y + i * n + j) + 0.5 * ld(y + j * n + i);
      for (var k = 0u; k < j; k++) { s -= ld(x + i * n + k) * ld(x + j * n + k); }
      if (j < i) { st(x + i * n + j, s / ld(x + j * n + j)); continue; }
      let bits = bitcast<i32>(s);
      good = good && bits > 0 && bits < 0x7f800000;
      st(x + i * n + j, sqrt(max(s, 0.0)));
    }
  }
  if (!good) { for (var i = 0u; i < n * n; i++) { m[x + i] = ${NAN}; } }
`,
    }),
  }
}

/** One invocation for each column of the right sides, whatever their number. */
export const triangularShader: WholeShader = (kernel, [x, a, b]) => {
  const { lower, transpose, unitDiagonal } = kernel.params as TriangularParams
  const { count, rows: n } = stackOf(kernel)
  const k = kernel.args[1]!.shape.at(-1)!
  const forward = lower !== transpose
  const element = transpose ? 'y + j * n + i' : 'y + i * n + j'
  return {
    scratchBytes: 0,
    dispatches: perItem({
      items: n === 0 ? 0 : count * k,
      words: { xp: place(x!), ap: place(a!), bp: place(b!), n, k },
      functions: NUMBERS,
      body: `  let c = t % k; let q = t / k; let y = ap + q * n * n; let z = q * n * k + c;
  for (var step = 0u; step < n; step++) {
    let i = ${forward ? 'step' : 'n - 1u - step'};
    var s = ld(bp + z + i * k);
    for (var j = ${forward ? '0u; j < i' : 'i + 1u; j < n'}; j++) { s -= ld(${element}) * ld(xp + z + j * k); }
    st(xp + z + i * k, s${unitDiagonal ? '' : ' / ld(y + i * n + i)'});
  }
`,
    }),
  }
}

export const luShader: WholeShader = (kernel, [packed, pivots, order, a]) => {
  const { count, rows, columns } = stackOf(kernel)
  if (rows > LARGEST || columns > LARGEST) return undefined
  return {
    scratchBytes: 0,
    dispatches: perItem({
      items: count,
      words: { xp: place(packed!), vp: place(pivots!), op: place(order!), ap: place(a!), rows, columns, steps: Math.min(rows, columns) },
      functions: NUMBERS,
      body: `  let x = xp + t * rows * columns;
  for (var i = 0u; i < rows * columns; i++) { m[x + i] = m[ap + t * rows * columns + i]; }
  for (var i = 0u; i < rows; i++) { m[op + t * rows + i] = i; }
  for (var s = 0u; s < steps; s++) {
    var pivot = s;
    // Sizes as integers: a NaN is the largest.
    var most = 0u;
    for (var i = s; i < rows; i++) {
      let size = m[x + i * columns + s] & 0x7fffffffu;
      if (size > most) { most = size; pivot = i; }
    }
    m[vp + t * steps + s] = pivot;
    if (pivot != s) {
      let kept = m[op + t * rows + s];
      m[op + t * rows + s] = m[op + t * rows + pivot];
      m[op + t * rows + pivot] = kept;
      for (var j = 0u; j < columns; j++) {
        let w = m[x + s * columns + j];
        m[x + s * columns + j] = m[x + pivot * columns + j];
        m[x + pivot * columns + j] = w;
      }
    }
    if (most == 0u) { continue; }
    for (var i = s + 1u; i < rows; i++) {
      let f = ld(x + i * columns + s) / ld(x + s * columns + s);
      st(x + i * columns + s, f);
      for (var j = s + 1u; j < columns; j++) { st(x + i * columns + j, ld(x + i * columns + j) - f * ld(x + s * columns + j)); }
    }
  }
`,
    }),
  }
}

/** (I - tau v v^T) B for v = 1 and what is in column k of the reflected matrix below its diagonal. */
const APPLY = `fn apply(tau: f32, a: u32, k: u32, rows: u32, columns: u32, b: u32, width: u32, first: u32) {
  if (tau == 0.0) { return; }
  for (var j = first; j < width; j++) {
    var s = ld(b + k * width + j);
    for (var i = k + 1u; i < rows; i++) { s += ld(a + i * columns + k) * ld(b + i * width + j); }
    s *= tau;
    st(b + k * width + j, ld(b + k * width + j) - s);
    for (var i = k + 1u; i < rows; i++) { st(b + i * width + j, ld(b + i * width + j) - s * ld(a + i * columns + k)); }
  }
}`
export const qrShader: WholeShader = (kernel, [q, r, a]) => {
  const { count, rows, columns } = stackOf(kernel)
  if (rows > LARGEST || columns > LARGEST) return undefined
  const own = (kernel.params as QrParams).complete ? rows : columns
  const each = rows * columns + columns
  return {
    scratchBytes: 4 * count * each,
    dispatches: perItem({
      items: count,
      words: { qp: place(q!), rp: place(r!), ap: place(a!), sp: scratch(0), rows, columns, own, each },
      functions: [...NUMBERS, APPLY],
      body: `  let x = sp + t * each; let taus = x + rows * columns; let y = qp + t * rows * own; let z = rp + t * own * columns;
  for (var i = 0u; i < rows * columns; i++) { m[x + i] = m[ap + t * rows * columns + i]; }
  for (var k = 0u; k < columns; k++) {
    var scale = 0.0;
    for (var i = k + 1u; i < rows; i++) { scale = max(scale, abs(ld(x + i * columns + k))); }
    var tau = 0.0;
    // What has few digits, as in a matrix of low rank, counts as 0.
    if (scale >= 1.1754944e-38) {
      let head = ld(x + k * columns + k);
      scale = max(scale, abs(head));
      var squares = 0.0;
      for (var i = k; i < rows; i++) { let e = ld(x + i * columns + k) / scale; squares += e * e; }
      let length = select(scale, -scale, head > 0.0) * sqrt(squares);
      for (var i = k + 1u; i < rows; i++) { st(x + i * columns + k, ld(x + i * columns + k) / (head - length)); }
      st(x + k * columns + k, length);
      tau = (length - head) / length;
    }
    st(taus + k, tau);
    apply(tau, x, k, rows, columns, x, columns, k + 1u);
  }
  for (var i = 0u; i < rows; i++) { for (var j = 0u; j < own; j++) { st(y + i * own + j, select(0.0, 1.0, i == j)); } }
  for (var step = 0u; step < columns; step++) {
    let k = columns - 1u - step;
    apply(ld(taus + k), x, k, rows, columns, y, own, k);
  }
  for (var i = 0u; i < own; i++) {
    var sign = 1.0;
    if (i < columns) { sign = select(1.0, -1.0, ld(x + i * columns + i) < 0.0); }
    for (var j = 0u; j < columns; j++) {
      var e = 0.0;
      if (i < columns && j >= i) { e = sign * ld(x + i * columns + j); }
      st(z + i * columns + j, e);
    }
    if (sign < 0.0) { for (var j = 0u; j < rows; j++) { st(y + j * own + i, -ld(y + j * own + i)); } }
  }
`,
    }),
  }
}
