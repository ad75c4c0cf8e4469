/**
 * The adjoint of conv in k: every result is a sum over the batch and all positions. An invocation holds a row of taps for a few channels
 * of y; rows of y are cut into parts where results are few, each part's sums go to scratch, and a loop adds them up in their order: no
 * atomics. Columns outside of x are zeros that take part in the sums, as on the CPU.
 */
import type { ConvParams } from '../../core/ops/conv.js'
import type { Operand } from '../plan/step.js'
import { type Axis, type ConvSizes, convSizes, evenly, forwardAxis, named, upTo, WRITTEN_OUT, within } from './conv-shape.js'
import { type Dispatch, floatAt, itemOf, place, SCRATCH, setFloat, type Word } from './dispatch.js'
import type { Machine, WholeShader } from './kernel.js'
import { sumOfParts } from './loop.js'
import { BLOCK, totalsOf } from './sums.js'

/** Sums in registers, and channels of them. Software drivers spill for little, but load at a price: more sums there. */
const sums = { device: 32, software: 80 } as const
const channelsAtMost = { device: 8, software: 16 } as const
/** Terms of a part: the error grows with those of a block and with the blocks of a part. */
const TERMS = 4096
/** Elements of scratch. */
const SCRATCH_ELEMENTS = 2 ** 22

const paddedTo = (n: number, width: number): number => Math.ceil(n / width) * width

/** How the sums are shared out. */
interface Shares {
  /** Neighbouring elements of the window, and channels of y, of one invocation. */
  readonly taps: number
  readonly channels: number
  /** Blocks of channels in a group; invocations for each of them and each part; workgroups that these take where they share none. */
  readonly blocks: number
  readonly items: number
  readonly itemGroups: number
  readonly width: number
  /** Parts and channels belong to the workgroup: its loops have one length, and its invocations read one element of y. */
  readonly uniform: boolean
  readonly parts: number
  /** Stretches of rows of y: how many in a row, how long, how many in a part. */
  readonly cuts: number
  readonly span: number
  readonly chunk: number
}

const share = (s: ConvSizes, machine: Machine): Shares => {
  const [kh, kw] = s.k as [number, number]
  const kind = machine.lanes > 1 ? 'device' : 'software'
  const taps = kw <= WRITTEN_OUT ? kw : 1
  const channels = evenly(s.outs, Math.min(channelsAtMost[kind], Math.floor(sums[kind] / taps)))
  const blocks = Math.ceil(s.outs / channels)
  const items = s.ins * kh * (kw / taps)
  const uniform = kind === 'software'
  const width = uniform ? [64, 32, 16, 8].reduce((w, n) => (paddedTo(items, n) < paddedTo(items, w) ? n : w)) : 64
  const itemGroups = Math.ceil(items / width)
  const columns = s.y[1]!
  const span = columns <= 2 * BLOCK ? columns : BLOCK
  const cuts = columns === 0 ? 1 : Math.ceil(columns / span)
  const rows = s.batch * s.y[0]! * cuts
  const all = blocks * s.groups
  const wanted = Math.max(machine.fill / (items * all), uniform ? 16 / (itemGroups * all) : 1, (rows * span) / TERMS)
  const most = Math.min(Math.ceil(wanted), rows, Math.floor(SCRATCH_ELEMENTS / (s.groups * s.outs * s.ins * kh * kw)))
  const chunk = Math.max(1, Math.ceil(rows / Math.max(1, most)))
  const parts = Math.max(1, Math.ceil(rows / chunk))
  return { taps, channels, blocks, items, itemGroups, width, uniform, parts, cuts, span, chunk }
}

const lines = (n: number, f: (i: number) => string): string => upTo(n).map(f).join('')

/** The shader's body; names are those of the record. */
const text = (h: Shares, down: Axis, across: Axis, [out, x, y]: readonly [Operand, Operand, Operand], adds: boolean): string => {
  const { taps } = h
  const each = (f: (q: number, v: number) => string): string => lines(h.channels, (q) => lines(taps, (v) => f(q, v)))
  const load = (v: number): string => {
    const at = `left + e${v}`
    const value = floatAt(x, `row + ${at}`)
    return within(across) ? value : `select(0.0, ${value}, u32(${at}) < u32(size))`
  }
  const totals = totalsOf(
    upTo(h.channels).flatMap((q) => upTo(taps).map((v) => `s${q}_${v}`)),
    h.chunk * h.span,
  )
  const who = h.uniform
    ? `  let rest = i32(g) / itemGroups;
  let z = (i32(g) - rest * itemGroups) * ${h.width} + i32(l);
  if (z >= items) { return; }\n`
    : `  let flat = i32(g) * ${h.width} + i32(l);
  let rest = flat / items; let z = flat - rest * items;\n`
  return `${who}  let block = rest / parts; let part = rest - block * parts;
  if (block >= blocks * groups) { return; }
  let group = block / blocks; let q0 = (block - group * blocks) * ${h.channels};
${taps === 1 ? '  let zv = z / kw; let v0 = z - zv * kw;\n' : '  let zv = z; let v0 = 0;\n'}  let c = zv / kh; let u = zv - c * kh;
  let l0 = before + v0 * step; let r0 = top + u * drop;
${lines(taps, (v) => `  let e${v} = ${v} * step;\n`)}${each((q, v) => `  var s${q}_${v} = 0.0;\n`)}  let first = part * chunk; let last = min(first + chunk, lines);
  var b = first / (rows * cuts); var i = (first / cuts) % rows; var cut = first % cuts;
${totals.declared}  for (var n0 = first; n0 < last; n0 += together) {
  let n1 = min(n0 + together, last);
  for (var n = n0; n < n1; n++) {
    let r = r0 + i * down;
    let j0 = cut * span; let j1 = min(j0 + span, columns);
    let row = x + (((b * groups + group) * ins + c) * height + r) * size;
${lines(
  h.channels,
  (q) => `    let y${q} = y + (((b * groups + group) * outs + min(q0 + ${q}, outs - 1)) * rows + i) * columns;\n`,
)}    cut++;
    if (cut == cuts) { cut = 0; i++; }
    if (i == rows) { i = 0; b++; }
${within(down) ? '' : '    if (r < 0 || r >= height) { continue; }\n'}    for (var j = j0; j < j1; j++) {
      let left = l0 + j * stride;
${lines(taps, (v) => `      let x${v} = ${load(v)};\n`)}${lines(
  h.channels,
  (q) => `      { let b = ${floatAt(y, `y${q} + j`)};${lines(taps, (v) => ` s${q}_${v} += x${v} * b;`)} }\n`,
)}    }
  }
${totals.flush}  }
${totals.done}  let at = out + part * all + (group * outs * ins + c) * kh * kw + u * kw + v0;
${each(
  (q, v) =>
    `  if (q0 + ${q} < outs) { let e = at + (q0 + ${q}) * ins * kh * kw + ${v}; ${setFloat(out, 'e', `${adds ? `${floatAt(out, 'e')} + ` : ''}s${q}_${v}`)} }\n`,
)}`
}

/** kBar of conv, or its sum with an accumulator. */
export const convKernel: WholeShader = (kernel, operands, machine) => {
  const p = kernel.params as ConvParams
  const accumulate = kernel.inPlace !== undefined
  const [x, yBar] = kernel.args.filter((_, i) => i !== kernel.inPlace)
  const s = convSizes(x!.shape, kernel.results[0]!.shape, yBar!.shape, p)
  const [kh, kw] = s.k as [number, number]
  const all = s.groups * s.outs * s.ins * kh * kw
  const rows = s.batch * s.y[0]!
  if (all === 0 || (accumulate && rows * s.y[1]! === 0)) return { dispatches: [], scratchBytes: 0 }

  const [down, across] = [forwardAxis(s, p, 0), forwardAxis(s, p, 1)]
  const h = share(s, machine)
  const [result, ...args] = operands as readonly [Operand, Operand, Operand]
  const out: Operand = h.parts === 1 ? result : { storage: SCRATCH, offset: 0, strides: [] }
  const words: Record<string, Word> = {
    out: place(out),
    x: place(args[0]),
    y: place(args[1]),
    items: h.items,
    itemGroups: h.itemGroups,
    parts: h.parts,
    chunk: h.chunk,
    lines: rows * h.cuts,
    cuts: h.cuts,
    span: h.span,
    together: Math.max(1, Math.floor(BLOCK / Math.max(1, h.span))),
    blocks: h.blocks,
    groups: s.groups,
    ins: s.ins,
    outs: s.outs,
    kh,
    kw,
    height: s.x[0]!,
    size: s.x[1]!,
    rows: s.y[0]!,
    columns: s.y[1]!,
    top: -down.before,
    before: -across.before,
    down: down.stride,
    stride: across.stride,
    drop: down.step,
    step: across.step,
    all,
  }
  const shared = h.parts * h.blocks * s.groups
  const first: Dispatch = {
    ...named(h.width, words, text(h, down, across, [out, ...args], accumulate && h.parts === 1)),
    groups: h.uniform ? h.itemGroups * shared : Math.ceil((h.items * shared) / h.width),
  }
  if (h.parts === 1) return { dispatches: [first], scratchBytes: 0 }
  const sum = sumOfParts(h.parts, [all], { ...result, strides: [itemOf(result)] }, accumulate, machine)
  return { dispatches: [first, ...sum.dispatches], scratchBytes: 4 * h.parts * all }
}
