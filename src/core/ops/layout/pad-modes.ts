/** Padding made of the array itself: which element each place reads, and the slices and repetitions that these are. */

import { shown } from '../../errors/check-arguments.js'
import { badInput, showShape } from '../../errors/explain.js'
import { kind } from '../../errors/options.js'
import type { Node } from '../../graph/expr.js'
import type { PadMode } from '../../types/signatures/layout.js'
import { type Unread, unread } from '../operation.js'
import { concatNode } from './join.js'
import { broadcastNode } from './move.js'
import { sliceNode } from './slice.js'

const wrapped = (i: number, n: number): number => ((i % n) + n) % n
/** The element that place i of an axis of length n reads, i from -before to n + after. */
const sources: Readonly<Record<Exclude<PadMode, 'constant'>, (i: number, n: number) => number>> = {
  edge: (i, n) => Math.min(Math.max(i, 0), n - 1),
  wrap: wrapped,
  // Without the end itself: the period is 2 (n - 1).
  reflect: (i, n) => {
    const k = n === 1 ? 0 : wrapped(i, 2 * (n - 1))
    return k < n ? k : 2 * (n - 1) - k
  },
  symmetric: (i, n) => {
    const k = wrapped(i, 2 * n)
    return k < n ? k : 2 * n - 1 - k
  },
}
/** PyTorch's modes that have another name. */
const elsewhere = (mode: unknown): string =>
  mode === 'replicate' || mode === 'circular' ? `'${mode}' is '${mode === 'circular' ? 'wrap' : 'edge'}' here; ` : ''
/** The mode that is given; raises BadInput for one that does not exist. */
export const padModeOf = (mode: unknown, where = 'pad'): PadMode =>
  mode === 'constant' || (typeof mode === 'string' && Object.hasOwn(sources, mode))
    ? (mode as PadMode)
    : badInput(
        where,
        `there is no mode ${shown(mode)}.`,
        `${elsewhere(mode)}modes are 'constant', 'edge', 'reflect', 'symmetric' and 'wrap'.`,
      )

export const padOptions = {
  /** What it puts around x. */
  mode: kind<PadMode>((mode, _what, where) => (mode === undefined ? 'constant' : padModeOf(mode, where))),
  /** The number around x, where no mode is given: 0 unless given. */
  value: unread as Unread<number>,
}

/** Elements in the order of the places, as runs with one step: 1 forwards, -1 backwards, 0 the same again. */
const runsOf = (places: readonly number[]): readonly { readonly start: number; readonly step: number; readonly size: number }[] => {
  const runs: { start: number; step: number; size: number }[] = []
  for (const p of places) {
    const last = runs[runs.length - 1]
    const step = last === undefined ? 0 : p - (last.start + (last.size - 1) * last.step)
    if (last === undefined || Math.abs(step) > 1 || (last.size > 1 && step !== last.step)) runs.push({ start: p, step: 0, size: 1 })
    else Object.assign(last, { step, size: last.size + 1 })
  }
  return runs
}
/** x with the elements at these places along an axis, in this order: views, joined once. */
export const picked = (x: Node, axis: number, places: readonly number[]): Node => {
  const at = (here: number, elsewhere: (d: number) => number): number[] => x.shape.map((d, i) => (i === axis ? here : elsewhere(d)))
  const parts = runsOf(places).map(({ start, step, size }) => {
    const part = sliceNode(x, {
      starts: at(start, () => 0),
      sizes: at(step === 0 ? 1 : size, (d) => d),
      strides: at(step === 0 ? 1 : step, () => 1),
    })
    return step === 0
      ? broadcastNode(
          part,
          at(size, (d) => d),
        )
      : part
  })
  return parts.length === 0
    ? sliceNode(x, { starts: at(0, () => 0), sizes: at(0, (d) => d), strides: at(1, () => 1) })
    : concatNode(parts, axis)
}

/** x with places before and behind each axis that read x itself. */
export const padded = (x: Node, ends: readonly (readonly [number, number])[], mode: Exclude<PadMode, 'constant'>): Node =>
  ends.reduce((y, [before, after], axis) => {
    const n = y.shape[axis]!
    if (before + after === 0) return y
    if (n === 0) badInput('pad', `mode '${mode}' reads x, but axis ${axis} of ${showShape(x.shape)} is empty.`, 'pad it with a value.')
    return picked(
      y,
      axis,
      Array.from({ length: before + n + after }, (_, i) => sources[mode](i - before, n)),
    )
  }, x)
