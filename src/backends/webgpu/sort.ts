/** Stable order of lines: short blocks by counting, then merges. Every pass moves each element once; no barriers, no padding. */
import { aroundAxis } from '../../core/ops/reduce.js'
import { placesIn, type SortParams } from '../../core/ops/scans.js'
import type { DType } from '../../core/types/dtype.js'
import { type Dispatch, place, type Word } from './dispatch.js'
import type { Machine, WholeShader } from './kernel.js'
import { ORDER, orderOf, perItem, scratch } from './shader.js'

/** Elements that the first pass orders together: each counts those before it. */
const BLOCK = 16

/** Two arrays of words: keys (i32), and the positions along the line that they came from. */
interface Pairs {
  readonly keys: Word
  readonly positions: Word
}
interface Sorting {
  readonly before: number
  readonly size: number
  readonly after: number
  /** Functions and record words that `key` uses. */
  readonly functions: readonly string[]
  readonly words: Readonly<Record<string, Word>>
  /** The key (i32) of element `e` of the lines. */
  readonly key: (e: string) => string
  /** Where the ordered pairs go. */
  readonly to: Pairs
  /** As much room again. */
  readonly spare: Pairs
  /** What is stored in place of a key in the end, given its place in the record's `vp` and the element it came from; the key otherwise. */
  readonly values?: { readonly vp: Word }
}

/**
 * Sorts lines (b, c) of elements (b size + i) after + c. Blocks of 16 are ordered by counting; then runs are merged in pairs, ceil(log2(size
 * / 16)) times: an invocation finds by binary search where its stretch of the merged pair begins in both runs, and merges from there. Of
 * equal keys the left run's come first, so that they keep their order.
 */
export const sortDispatches = (s: Sorting, machine: Machine): readonly Dispatch[] => {
  const { before, size, after } = s
  const merges = size <= BLOCK ? 0 : Math.ceil(Math.log2(Math.ceil(size / BLOCK)))
  const passes = merges + 1
  /** The last pass writes to `to`, the one before it to `spare`, and so on. */
  const target = (pass: number): Pairs => ((passes - 1 - pass) % 2 === 0 ? s.to : s.spare)
  /** Stores a key, or a value in the end, with its position, at `to`. */
  const store = (last: boolean, position: string, key: string): string =>
    `m[kp + to] = ${last && s.values !== undefined ? `m[vp + (base + ${position}) * after + c]` : `bitcast<u32>(${key})`}; m[pp + to] = ${position};`
  const blocks = perItem({
    items: before * size * after,
    words: { kp: target(0).keys, pp: target(0).positions, size, after, ...s.words, ...(passes === 1 && s.values) },
    functions: s.functions,
    body: `  let c = t % after; let q = (t / after) % size; let base = (t / after / size) * size;
  let start = q / ${BLOCK}u * ${BLOCK}u; let end = min(start + ${BLOCK}u, size);
  let mine = ${s.key('t')};
  var rank = start;
  for (var j = start; j < end; j++) {
    let other = ${s.key('((base + j) * after + c)')};
    if (other < mine || (other == mine && j < q)) { rank++; }
  }
  let to = (base + rank) * after + c;
  ${store(passes === 1, 'q', 'mine')}
`,
  })
  // A stretch lies in one pair: both are powers of two, and a pair is at least 32 long.
  const stretch = Math.min(2 * BLOCK, Math.max(4, 2 ** Math.floor(Math.log2(Math.max(1, (before * size * after) / machine.fill)))))
  const stretches = Math.ceil(size / stretch)
  const merged = Array.from({ length: merges }, (_, k) => {
    const last = k === merges - 1
    const [from, to] = [target(k), target(k + 1)]
    return perItem({
      items: before * stretches * after,
      words: {
        kp: to.keys,
        pp: to.positions,
        fk: from.keys,
        fp: from.positions,
        size,
        after,
        stretch,
        stretches,
        run: BLOCK * 2 ** k,
        ...(last && s.values),
      },
      body: `  let c = t % after; let q = (t / after) % stretches * stretch; let base = (t / after / stretches) * size;
  let left = q / (2u * run) * (2u * run); let right = min(left + run, size); let end = min(right + run, size);
  let d = q - left;
  var low = d - min(d, end - right); var high = min(d, right - left);
  while (low < high) {
    let middle = (low + high) / 2u;
    let a = bitcast<i32>(m[fk + (base + left + middle) * after + c]);
    let b = bitcast<i32>(m[fk + (base + right + d - 1u - middle) * after + c]);
    if (a <= b) { low = middle + 1u; } else { high = middle; }
  }
  var i = left + low; var j = right + d - low;
  // Past its end a run's key is not looked at.
  var a = bitcast<i32>(m[fk + (base + min(i, size - 1u)) * after + c]);
  var b = bitcast<i32>(m[fk + (base + min(j, size - 1u)) * after + c]);
  let stop = min(q + stretch, end);
  for (var k = q; k < stop; k++) {
    let first = j >= end || (i < right && a <= b);
    let position = m[fp + (base + select(j, i, first)) * after + c];
    let to = (base + k) * after + c;
    ${store(last, 'position', 'select(b, a, first)')}
    if (first) { i++; } else { j++; }
    let next = bitcast<i32>(m[fk + (base + min(select(j, i, first), size - 1u)) * after + c]);
    if (first) { a = next; } else { b = next; }
  }
`,
    })
  })
  return [blocks, ...merged].flat()
}

/** The key of a word in ascending or descending order; NaN is the largest number. */
const keyOf = (dtype: DType, descending: boolean, word: string): string => `${descending ? '~' : ''}${orderOf(dtype, word)}`

/** Values and where they were. The results are one of the two pairs of arrays that passes write in turn. */
export const sortShader: WholeShader = (kernel, [values, indices, x], machine) => {
  const params = kernel.params as SortParams
  const { axis, descending } = params
  const { shape, dtype } = kernel.args[0]!
  const around = aroundAxis(shape, axis)
  const { before, size, after } = around
  const n = before * size * after
  const [from, to] = placesIn(params, size)
  // Some places of the order alone: all of it is made beside, and these are copied.
  const whole = to - from === size
  const [ordered, where] = whole ? [place(values!), place(indices!)] : [scratch(2 * n), scratch(3 * n)]
  const dispatches = sortDispatches(
    {
      ...around,
      functions: [ORDER],
      words: { xp: place(x!) },
      key: (e) => keyOf(dtype, descending, `m[xp + ${e}]`),
      to: { keys: ordered, positions: where },
      spare: { keys: scratch(0), positions: scratch(n) },
      values: { vp: place(x!) },
    },
    machine,
  )
  if (whole) return { dispatches, scratchBytes: size > BLOCK ? 8 * n : 0 }
  const count = to - from
  const copied = perItem({
    items: before * count * after,
    words: { vp: place(values!), ip: place(indices!), op: ordered, wp: where, size, after, first: from, count },
    body: `  let c = t % after; let k = (t / after) % count; let e = ((t / after / count) * size + first + k) * after + c;
  m[vp + t] = m[op + e]; m[ip + t] = m[wp + e];
`,
  })
  return { dispatches: [...dispatches, ...copied], scratchBytes: 16 * n }
}
