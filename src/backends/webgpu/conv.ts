/**
 * conv and its adjoint in x as correlations: an invocation holds the results of a few channels at a few neighbouring columns, so that an
 * element of the window serves several columns and an element of the argument several channels. The channels belong to the workgroup:
 * loads of the window are uniform. No atomics: the adjoint gathers too (see inputAxes).
 *
 * Columns outside of the argument are zeros that take part in the sums, as on the CPU: 0 * Infinity is NaN there as anywhere else.
 */
import type { ConvParams } from '../../core/ops/conv.js'
import type { Operand } from '../plan/step.js'
import { type Axis, convSizes, evenly, forwardAxis, inputAxes, named, upTo, WRITTEN_OUT, within } from './conv-shape.js'
import { type Dispatch, floatAt, place, placeAt, setFloat, type Word } from './dispatch.js'
import type { Machine, WholeShader } from './kernel.js'
import { BLOCK, type Totals, totalsOf } from './sums.js'

const WIDTH = 64

/** A correlation of [batch, groups ins, argument] with a window into [batch, groups outs, result]; the window has strides in elements. */
interface Correlation {
  readonly batch: number
  readonly groups: number
  readonly ins: number
  readonly outs: number
  /** Height and width of the result, of which the axes may take every other element. */
  readonly result: readonly number[]
  readonly rows: Axis
  readonly columns: Axis
  readonly window: { readonly group: number; readonly out: number; readonly in: number; readonly row: number }
  readonly accumulate: boolean
}

/** Channels and columns of one invocation. */
type Tile = readonly [channels: number, columns: number]
const device: readonly Tile[] = [
  [8, 4],
  [4, 4],
  [4, 2],
  [2, 1],
]
/** A driver on the CPU loads element by element, 16 cycles for 8 of them, and spills registers for little: large tiles. */
const software: readonly Tile[] = [
  [16, 8],
  [8, 8],
  [4, 4],
  [2, 1],
]
const softwareOfFew: readonly Tile[] = [
  [3, 14],
  [3, 7],
  [2, 4],
  [2, 1],
]
/** The largest tile that leaves work for the whole device. */
const tileOf = (c: Correlation, machine: Machine): Tile => {
  const results = c.batch * c.groups * c.rows.results * c.columns.results * c.outs
  const tiles = machine.lanes > 1 ? device : c.outs < 8 ? softwareOfFew : software
  const [channels, columns] = tiles.find(([o, w]) => results >= 2 * o * w * machine.fill) ?? [1, 1]
  return [evenly(c.outs, channels), evenly(c.columns.results, columns)]
}

/** A row of taps is written out where that is short: software drivers take a long row's loads first, and spill them. */
const MOST_WEIGHTS = 32

/** The sums of one row of taps: what is loaded, then every product. Rows longer than a block are flushed on the way. */
const taps = (c: Correlation, [x, k]: readonly [Operand, Operand], [channels, columns]: Tile, flush: string): string => {
  const { columns: a } = c
  const guarded = !within(a)
  const load = (at: string): string => {
    const value = floatAt(x, `row + ${at}`)
    return guarded ? `select(0.0, ${value}, u32(left + ${at}) < u32(size))` : value
  }
  const products = (term: (t: number) => string, weight: (q: number) => string): string =>
    upTo(channels)
      .map(
        (q) =>
          `        { let k = ${floatAt(k, weight(q))}; ${upTo(columns)
            .map((t) => `s${q}_${t} += ${term(t)} * k;`)
            .join(' ')} }\n`,
      )
      .join('')
  if (a.taps > WRITTEN_OUT || a.taps * channels > MOST_WEIGHTS) {
    const row = (from: string, to: string): string => `      for (var v = ${from}; v < ${to}; v++) {
        let e = v * step; let w = at + v * skip;
${upTo(columns)
  .map((t) => `        let x${t} = ${load(`o${t} + e`)};\n`)
  .join('')}${products(
  (t) => `x${t}`,
  (q) => `k${q} + w`,
)}      }\n`
    if (a.taps <= BLOCK) return row('0', 'taps')
    return `      for (var v0 = 0; v0 < taps; v0 += ${BLOCK}) {\n${row('v0', `min(taps, v0 + ${BLOCK})`)}${flush}      }\n`
  }
  const at = (t: number, v: number): number => t * a.stride + v * a.step
  const places = [...new Set(upTo(a.taps).flatMap((v) => upTo(columns).map((t) => at(t, v))))].sort((x, y) => x - y)
  return places
    .map((e) => `      let x${e} = ${load(`${e}`)};\n`)
    .concat(
      upTo(a.taps).map((v) =>
        products(
          (t) => `x${at(t, v)}`,
          (q) => `k${q} + at + w${v}`,
        ),
      ),
    )
    .join('')
}

/** Every row of taps of every channel; where they are many, as many rows as make a block go to the totals together. */
const rowsOf = (c: Correlation, row: (sums: Totals) => string, names: readonly string[]): string => {
  const terms = Math.max(1, c.ins * c.rows.taps) * c.columns.taps
  const sums = totalsOf(names, terms)
  const body = `      let r = r0 + u * drop;
${within(c.rows) ? '' : '      if (r < 0 || r >= height) { continue; }\n'}      let row = xb + (c * height + r) * size;
      let at = c * kIn + u * kRow;
${row(sums)}`
  if (terms <= BLOCK) return `  for (var c = 0; c < ins; c++) {\n    for (var u = 0; u < lines; u++) {\n${body}    }\n  }\n`
  return `${sums.declared}  var nextC = 0; var nextU = 0;
  for (var n0 = 0; n0 < ins * lines; n0 += together) {
    let n1 = min(n0 + together, ins * lines);
    for (var n = n0; n < n1; n++) {
      let c = nextC; let u = nextU;
      nextU++;
      if (nextU == lines) { nextU = 0; nextC++; }
${body}    }
${sums.flush}  }
${sums.done}`
}

/** What does not change in the loops is named before them: compilers for the CPU leave it where it stands. */
const fixed = (a: Axis, columns: number): string =>
  [
    ...upTo(columns).map((t) => `  let o${t} = ${t} * stride;\n`),
    ...upTo(Math.min(a.taps, WRITTEN_OUT)).map((v) => `  let w${v} = ${v} * skip;\n`),
  ].join('')

const dispatchOf = (c: Correlation, operands: readonly Operand[], machine: Machine): Dispatch => {
  const [channels, columns] = tileOf(c, machine)
  const { rows, columns: across } = c
  const blocks = Math.ceil(c.outs / channels)
  const tiles = Math.ceil(across.results / columns)
  const total = c.batch * rows.results * tiles
  const perBlock = Math.ceil(total / WIDTH)
  const [y, x, k] = operands as readonly [Operand, Operand, Operand]
  const words: Record<string, Word> = {
    y: placeAt(y, rows.start * c.result[1]! + across.start),
    x: place(x),
    k: placeAt(k, rows.first * c.window.row + across.first),
    total,
    perBlock,
    tiles,
    rows: rows.results,
    results: across.results,
    blocks,
    groups: c.groups,
    ins: c.ins,
    outs: c.outs,
    height: rows.size,
    size: across.size,
    top: -rows.before,
    before: -across.before,
    down: rows.stride,
    stride: across.stride,
    drop: rows.step,
    step: across.step,
    lines: rows.taps,
    taps: across.taps,
    plane: c.result[0]! * c.result[1]!,
    hopDown: rows.hop * c.result[1]!,
    hop: across.hop,
    kGroup: c.window.group,
    kOut: c.window.out,
    kIn: c.window.in,
    kRow: rows.skip * c.window.row,
    skip: across.skip,
    together: Math.max(1, Math.floor(BLOCK / Math.max(1, across.taps))),
  }
  const each = (f: (q: number, t: number) => string): string =>
    upTo(channels)
      .flatMap((q) => upTo(columns).map((t) => f(q, t)))
      .join('')
  const names = upTo(channels).flatMap((q) => upTo(columns).map((t) => `s${q}_${t}`))
  const body = `  let block = i32(g) / perBlock;
  let t = (i32(g) - block * perBlock) * ${WIDTH} + i32(l);
  if (block >= blocks * groups || t >= total) { return; }
  let group = block / blocks; let q0 = (block - group * blocks) * ${channels};
  let line = t / tiles; let j = (t - line * tiles) * ${columns};
  let b = line / rows; let i = line - b * rows;
  let left = before + j * stride;
  let xb = x + (b * groups + group) * ins * height * size + left;
  let r0 = top + i * down;
  let kb = k + group * kGroup;
${upTo(channels)
  .map((q) => `  let k${q} = kb + min(q0 + ${q}, outs - 1) * kOut;\n`)
  .join(
    '',
  )}${fixed(across, columns)}${names.map((s) => `  var ${s} = 0.0;\n`).join('')}  ${rowsOf(c, (sums) => taps(c, [x, k], [channels, columns], sums.flush), names)}  let yb = y + (b * groups + group) * outs * plane + i * hopDown + j * hop;
${each((q, t) => `  if (q0 + ${q} < outs && j + ${t} < results) { let e = yb + (q0 + ${q}) * plane + ${t} * hop; ${setFloat(y, 'e', `${c.accumulate ? `${floatAt(y, 'e')} + ` : ''}s${q}_${t}`)} }\n`)}`
  return { ...named(WIDTH, words, body), groups: perBlock * blocks * c.groups }
}

/** y = conv(x, k). */
export const conv: WholeShader = (kernel, operands, machine) => {
  const p = kernel.params as ConvParams
  const s = convSizes(kernel.args[0]!.shape, kernel.args[1]!.shape, kernel.results[0]!.shape, p)
  const [kh, kw] = s.k as [number, number]
  const c: Correlation = {
    ...s,
    result: s.y,
    rows: forwardAxis(s, p, 0),
    columns: forwardAxis(s, p, 1),
    window: { group: s.outs * s.ins * kh * kw, out: s.ins * kh * kw, in: kh * kw, row: kw },
    accumulate: false,
  }
  const none = s.batch * s.groups * s.outs * s.y[0]! * s.y[1]! === 0
  return { dispatches: none ? [] : [dispatchOf(c, operands, machine)], scratchBytes: 0 }
}

/** xBar of conv, or its sum with an accumulator. */
export const convInput: WholeShader = (kernel, operands, machine) => {
  const p = kernel.params as ConvParams
  const accumulate = kernel.inPlace !== undefined
  const [yBar, k] = kernel.args.filter((_, i) => i !== kernel.inPlace)
  const s = convSizes(kernel.results[0]!.shape, k!.shape, yBar!.shape, p)
  const [kh, kw] = s.k as [number, number]
  if (s.batch * s.groups * s.ins * s.x[0]! * s.x[1]! === 0) return { dispatches: [], scratchBytes: 0 }
  const dispatches = inputAxes(s, p, 0).flatMap((rows) =>
    inputAxes(s, p, 1).flatMap((columns) => {
      const nothing = rows.taps * columns.taps === 0
      if (nothing && accumulate) return []
      const c: Correlation = {
        batch: s.batch,
        groups: s.groups,
        ins: nothing ? 0 : s.outs,
        outs: s.ins,
        result: s.x,
        rows,
        columns: nothing ? { ...columns, taps: 1 } : columns,
        window: { group: s.outs * s.ins * kh * kw, out: kh * kw, in: s.ins * kh * kw, row: kw },
        accumulate,
      }
      return [dispatchOf(c, operands, machine)]
    }),
  )
  return { dispatches, scratchBytes: 0 }
}
