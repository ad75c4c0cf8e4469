/** Pools as dispatches: forward over the positions of a window, backward over the windows that hold a position (gathers: no atomics). */
import type { PoolParams } from '../../core/ops/pool.js'
import type { Operand } from '../plan/step.js'
import { layout } from '../record.js'
import { floatAt, place as placeOf, setFloat, setWord, shader, signed, type Word, word, wordAt } from './dispatch.js'
import type { Dispatches, Machine, WholeShader } from './kernel.js'
import { ORDER } from './shader.js'
import { BLOCK, collect } from './sums.js'

const WIDTH = 64
/** Windows up to this many positions are written out; longer ones are loops. */
const WRITTEN_OUT = 16

/** A pool from planes of h x w to planes of oh x ow. */
interface Pool {
  readonly planes: number
  readonly h: number
  readonly w: number
  readonly oh: number
  readonly ow: number
  readonly p: PoolParams
}
const poolOf = (x: readonly number[], y: readonly number[], p: PoolParams): Pool => ({
  planes: x[0]! * x[1]!,
  h: x[2]!,
  w: x[3]!,
  oh: y[2]!,
  ow: y[3]!,
  p,
})
const padded = ({ padding }: PoolParams): boolean => padding.some((n) => n !== 0)

/** Results of one invocation: neighbours in a row. Drivers on the CPU divide element by element, and a result costs little else. */
const runOf = (width: number, machine: Machine): number => (machine.lanes > 1 ? 1 : Math.min(8, width))

/** The record: runs, rows and columns of a plane of results, the pool's sizes, length of a run, runs in a row, places of the operands. */
const record = /*#__PURE__*/ layout('runs rows columns h w oh ow top left strideDown strideAcross run runsInRow', 'first second third')
type Field = keyof typeof record.at
const places = ['first', 'second', 'third'] as const
const u32 = (field: Field): string => word(record.at[field])
const i32 = (field: Field): string => signed(record.at[field])
const place = (k: number): string => i32(places[k]!)
const wordsOf = (o: Pool, [rows, columns]: readonly [number, number], operands: readonly Operand[], machine: Machine): Word[] => {
  const run = runOf(columns, machine)
  const [first, second, third = 0] = operands.map(placeOf)
  const [top, , left] = o.p.padding as readonly [number, number, number, number]
  const [strideDown, strideAcross] = o.p.stride as readonly [number, number]
  const runsInRow = Math.ceil(columns / run)
  const { h, w, oh, ow } = o
  const sizes = { rows, columns, h, w, oh, ow, top, left, strideDown, strideAcross }
  return record.of<Word>({ runs: o.planes * rows * runsInRow, ...sizes, run, runsInRow, first: first!, second: second!, third })
}
const names = `  let H = ${i32('h')}; let W = ${i32('w')}; let OH = ${i32('oh')}; let OW = ${i32('ow')};
  let top = ${i32('top')}; let left = ${i32('left')}; let sh = ${i32('strideDown')}; let sw = ${i32('strideAcross')};
`

/** Row i of plane q, and its columns from j0 to j1. */
const who = `  let t = g * ${WIDTH}u + l;
  if (t >= ${u32('runs')}) { return; }
  let row = t / ${u32('runsInRow')}; let plane = row / ${u32('rows')};
  let i = i32(row - plane * ${u32('rows')}); let q = i32(plane);
  let j0 = i32(t - row * ${u32('runsInRow')}) * ${i32('run')}; let j1 = min(j0 + ${i32('run')}, ${i32('columns')});
${names}`

/** One pass over the results: `body` is run once for each, at column j; `y` is its place. */
const dispatched = (
  type: 'f32' | 'u32',
  [o, operands, machine]: readonly [Pool, readonly Operand[], Machine],
  size: readonly [number, number],
  body: string,
  functions = '',
): Dispatches => {
  const words = wordsOf(o, size, operands, machine)
  const runs = words[record.at.runs] as number
  if (runs === 0) return { dispatches: [], scratchBytes: 0 }
  const text = `${who}  for (var j = j0; j < j1; j++) {
  let y = i32(row) * ${i32('columns')} + j;
${body}  }
`
  const wgsl = shader({ width: WIDTH, words: words.length, view: type, body: text, declared: functions })
  return { dispatches: [{ wgsl, words, groups: Math.ceil(runs / WIDTH) }], scratchBytes: 0 }
}

/** `f` at every position of the window of (i, j) that lies in the plane, row by row: `at` is the position in the plane. */
const eachPosition = ({ window: [kh, kw], padding }: PoolParams, f: (at: string) => string): string => {
  let s = '  let r0 = i * sh - top; let c0 = j * sw - left;\n'
  if (!padding.some((n) => n !== 0) && kh! * kw! <= WRITTEN_OUT) {
    s += '  let at = r0 * W + c0;\n'
    for (let u = 0; u < kh!; u++) for (let v = 0; v < kw!; v++) s += `  { ${f(`at + ${u} * W + ${v}`)} }\n`
    return s
  }
  return `${s}  let r1 = min(r0 + ${kh}, H); let c1 = min(c0 + ${kw}, W);
  for (var r = max(r0, 0); r < r1; r++) { for (var c = max(c0, 0); c < c1; c++) { ${f('r * W + c')} } }\n`
}

/** The sum of what `each` finds (up to `terms` numbers) as a variable `s`: of many, what additions round off is kept. */
const summed = (terms: number, each: (add: (x: string) => string) => string): string =>
  terms <= BLOCK
    ? `  var s = 0.0;\n${each((x) => `s += ${x};`)}`
    : `  var s = 0.0; var lost = 0.0;\n${each((x) => collect('s', 'lost', x))}`

/** The value and the place of each window's maximum: NaN wins, among equals the first. */
export const maxPool: WholeShader = (k, operands, machine) => {
  const [y, , x] = operands
  const p = k.params as PoolParams
  const o = poolOf(k.args[0]!.shape, k.results[0]!.shape, p)
  // An empty plane with padding has windows, but nothing in them: NaN, as the definition has it.
  const body = `  let base = ${place(2)} + q * H * W;
  var best = ${padded(p) ? 'max(i * sh - top, 0) * W + max(j * sw - left, 0)' : 'i * sh * W + j * sw'};
  var b = ${padded(p) ? `select(0x7fc00000u, ${wordAt(x!, 'base + best')}, H * W > 0)` : wordAt(x!, 'base + best')};
  var high = order(b);
${eachPosition(p, (at) => `let e = ${at}; let a = ${wordAt(x!, 'base + e')}; let o = order(a); if (o > high) { b = a; high = o; best = e; }`)}  ${setWord(y!, `${place(0)} + y`, 'b')}
  m[${place(1)} + y] = u32(${padded(p) ? 'select(0, best, H * W > 0)' : 'best'});\n`
  return dispatched('u32', [o, operands, machine], [o.oh, o.ow], body, ORDER)
}

/** Means of windows, over the positions in the plane or over the whole window. */
export const avgPool: WholeShader = (k, operands, machine) => {
  const [y, x] = operands
  const p = k.params as PoolParams
  const o = poolOf(k.args[0]!.shape, k.results[0]!.shape, p)
  const body = `  let base = ${place(1)} + q * H * W;
${summed(p.window[0]! * p.window[1]!, (add) => eachPosition(p, (at) => add(floatAt(x!, `base + ${at}`))))}  ${setFloat(y!, `${place(0)} + y`, `s / ${countOf(p)}`)}\n`
  return dispatched('f32', [o, operands, machine], [o.oh, o.ow], body)
}

/** How many positions the window at r0, c0 divides by. */
const countOf = (p: PoolParams): string => {
  const [kh, kw] = p.window
  return p.countIncludePad === true || !padded(p)
    ? `${kh! * kw!}.0`
    : `f32((min(r0 + ${kh}, H) - max(r0, 0)) * (min(c0 + ${kw}, W) - max(c0, 0)))`
}

/** Windows that hold one position, at most. */
const overlaps = ({ window: [kh, kw], stride: [sh, sw] }: PoolParams): number => Math.ceil(kh! / sh!) * Math.ceil(kw! / sw!)

/** `f` at every window (a, b) of the plane that holds position (i, j), row by row: `at` is its place in the plane of results. */
const eachWindow = ({ window: [kh, kw], stride: [sh, sw] }: PoolParams, f: (at: string) => string): string =>
  // Strides are constants here: a division by a number that the compiler knows is a product.
  kh! <= sh! && kw! <= sw!
    ? `  let a = (i + top) / ${sh}; let b = (j + left) / ${sw};
  if (i + top - a * ${sh} < ${kh} && j + left - b * ${sw} < ${kw} && a < OH && b < OW) { ${f('a * OW + b')} }\n`
    : `  let a0 = (max(i + top - ${kh! - 1}, 0) + ${sh! - 1}) / ${sh}; let a1 = min((i + top) / ${sh}, OH - 1);
  let b0 = (max(j + left - ${kw! - 1}, 0) + ${sw! - 1}) / ${sw}; let b1 = min((j + left) / ${sw}, OW - 1);
  for (var a = a0; a <= a1; a++) { for (var b = b0; b <= b1; b++) { ${f('a * OW + b')} } }\n`

/** Cotangents at the places of their maxima; a window's place lies in the window, as maxPool gives it. */
export const unpool: WholeShader = (k, operands, machine) => {
  const [xBar, yBar] = operands
  const p = k.params as PoolParams
  const o = poolOf(k.results[0]!.shape, k.args[0]!.shape, p)
  const body = `  let base = q * OH * OW; let here = u32(i * W + j);
${summed(overlaps(p), (add) =>
  eachWindow(
    p,
    (at) => `let e = base + ${at}; if (m[${place(2)} + e] == here) { ${add(`bitcast<f32>(${wordAt(yBar!, `${place(1)} + e`)})`)} }`,
  ),
)}  ${setWord(xBar!, `${place(0)} + y`, 'bitcast<u32>(s)')}\n`
  return dispatched('u32', [o, operands, machine], [o.h, o.w], body)
}

/** Cotangents of means, each spread over its window. */
export const avgPoolInput: WholeShader = (k, operands, machine) => {
  const [xBar, yBar] = operands
  const p = k.params as PoolParams
  const o = poolOf(k.results[0]!.shape, k.args[0]!.shape, p)
  const body = `  let base = ${place(1)} + q * OH * OW;
${summed(overlaps(p), (add) =>
  eachWindow(p, (at) => `let r0 = a * sh - top; let c0 = b * sw - left; ${add(`${floatAt(yBar!, `base + ${at}`)} / ${countOf(p)}`)}`),
)}  ${setFloat(xBar!, `${place(0)} + y`, 's')}\n`
  return dispatched('f32', [o, operands, machine], [o.h, o.w], body)
}

/** The elements of each plane at the places `index`. */
export const poolGather: WholeShader = (k, operands, machine) => {
  const [y, x] = operands
  const o = poolOf(k.args[0]!.shape, k.results[0]!.shape, k.params as PoolParams)
  const body = `  ${setWord(y!, `${place(0)} + y`, wordAt(x!, `${place(1)} + q * H * W + i32(m[${place(2)} + y])`))}\n`
  return dispatched('u32', [o, operands, machine], [o.oh, o.ow], body)
}
