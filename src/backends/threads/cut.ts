/** How a step is cut into parts that threads take: along one axis, so that no two parts write the same element, and each element is computed as in the whole. */
import { itemBytes } from '../../core/graph/aval.js'
import { sizeOf } from '../../core/graph/shape.js'
import type { Cut, Cuttable } from '../cpu/kernel.js'
import { gemmRecord, LoopRecord, OpaqueRecord } from '../cpu/records.js'
import type { GemmKernel, Kernel, LoopKernel, OpaqueKernel } from '../plan/kernel.js'
import { aligned } from '../plan/memory.js'
import type { Step } from '../plan/step.js'
import { RECORD } from './control.js'

type Work = Pick<Step, 'sizes' | 'reads' | 'writes' | 'flops'>

/** From this time on a step is shared, and what a part takes at least, in microseconds: to wake a thread takes about thirty, to take a part less than one. */
const LEAST = 60
const PART = 15
/** Parts for each thread: where one is late, others take what it would have taken. */
const PARTS = 4

/** Nanoseconds of an operation and of a byte, about: what a core with vectors of 128 bits does. */
const NS = { f32: 0.035, f64: 0.07, operation: 0.12, byte: 0.06, conv: 0.06 } as const

/** Elements that lie in one line of the cache, or fill vectors: parts of the innermost axis are multiples. */
const LINE = 256
/** Rows that the kernel of products computes together: parts are multiples. A part of one row would go another way than the whole. */
const ROWS = 8

interface Along {
  /** The units along the axis, and of how many a part is a multiple. */
  readonly units: number
  readonly multiple: number
  readonly axis: number
  /** Bytes between units, by the word of each address that moves. */
  readonly steps: readonly (readonly [word: number, bytes: number])[]
}
interface Scratch {
  readonly word: number
  /** Bytes for a part of so many units. */
  readonly bytes: (units: number) => number
  /** Words of the record. */
  readonly words: number
}
const cutAlong = ({ units, multiple, axis, steps }: Along, microseconds: number, threads: number, scratch: Scratch): Cut | undefined => {
  if (microseconds < LEAST || 4 * scratch.words > RECORD) return undefined
  const wanted = Math.min(PARTS * threads, Math.floor(microseconds / PART))
  const part = multiple * Math.max(1, Math.ceil(units / wanted / multiple))
  // What is left goes to the last part, so that none is smaller than the others.
  const parts = Math.floor(units / part)
  if (parts < 2) return undefined
  return {
    parts,
    units: part,
    axis,
    moves: steps.filter(([, bytes]) => bytes !== 0).map(([word, bytes]) => [word, part * bytes] as const),
    scratch: scratch.word,
    scratchBytes: aligned(scratch.bytes(units - part * (parts - 1)), 64),
    words: scratch.words,
  }
}

/** The outermost axis that is long enough, along which nothing is folded and every result moves. */
const loopAxis = (k: LoopKernel, { sizes, writes }: Work, threads: number): number | undefined => {
  const free = (axis: number): boolean =>
    k.outputs.every((o, i) => o.fold?.axes[axis] !== true && writes[i]!.strides[axis] !== 0) && sizes[axis]! >= 2
  const long = (axis: number): boolean => sizes[axis]! >= (axis === k.rank - 1 ? LINE : 1) * threads
  const axes = sizes.map((_, axis) => axis).filter((axis) => free(axis) && long(axis))
  return axes[0]
}
const cutLoop = (k: LoopKernel, work: Work, { scratch }: Cuttable, threads: number): Cut | undefined => {
  const axis = loopAxis(k, work, threads)
  if (axis === undefined) return undefined
  const { sizes, reads, writes, flops } = work
  const at = new LoopRecord(sizes.length, reads.length + writes.length)
  const points = sizes.reduce((a, b) => a * b, 1)
  const dtypes = [...k.body.inputs, ...k.outputs.map((o) => o.dtype)]
  const operands = [...reads, ...writes]
  const bytes = operands.reduce((n, o, i) => n + (o.strides.some((s) => s !== 0) ? itemBytes[dtypes[i]!] : 0), 0) * points
  const steps = operands.map((o, i) => [at.address(i), o.strides[axis]!] as const)
  return cutAlong(
    { units: sizes[axis]!, multiple: axis === k.rank - 1 ? LINE : 1, axis: at.size(axis), steps },
    (NS.operation * flops + NS.byte * bytes) / 1e3,
    threads,
    { word: at.scratch, bytes: (units) => scratch(sizes.map((n, a) => (a === axis ? units : n))), words: at.scratch + 1 },
  )
}

const cutGemm = (k: GemmKernel, { sizes, reads, writes, flops }: Work, { scratch }: Cuttable, threads: number): Cut | undefined => {
  const [batch, m, n] = sizes as readonly [number, number, number, number]
  const { at, words } = gemmRecord
  const [a, b] = reads.map((o) => o.strides) as [readonly number[], readonly number[]]
  const c = writes[0]!.strides
  // A product of one row, or of one column, goes another way than others: no part may be one, and no whole.
  const along: Along & { readonly size: number } =
    batch >= 2 * threads && m > 1 && n > 1
      ? {
          units: batch,
          multiple: 1,
          axis: at.batch,
          steps: [
            [at.c, c[0]!],
            [at.a, a[0]!],
            [at.b, b[0]!],
          ],
          size: 0,
        }
      : m >= n || n < ROWS * threads
        ? {
            units: m,
            multiple: ROWS,
            axis: at.m,
            steps: [
              [at.c, c[1]!],
              [at.a, a[1]!],
            ],
            size: 1,
          }
        : {
            units: n,
            multiple: ROWS,
            axis: at.n,
            steps: [
              [at.c, c[2]!],
              [at.b, b[2]!],
            ],
            size: 2,
          }
  return cutAlong(along, (NS[k.dtype] * flops) / 1e3, threads, {
    word: at.scratch,
    bytes: (units) => scratch(sizes.map((x, i) => (i === along.size ? units : x))),
    words,
  })
}

const cutOpaque = (k: OpaqueKernel, { flops }: Work, { apart, sizes, scratch }: Cuttable, threads: number): Cut | undefined => {
  if (apart === undefined) return undefined
  const units = sizes![0]!
  const at = new OpaqueRecord(k.results.length, apart.length)
  const bytes = ({ shape, dtype }: OpaqueKernel['args'][0]): number => (itemBytes[dtype] * sizeOf(shape)) / units
  const args = k.args.filter((_, i) => i !== k.inPlace)
  return cutAlong(
    {
      units,
      multiple: 1,
      axis: at.behind,
      steps: [
        ...k.results.map((r, i) => [at.result(i), bytes(r)] as const),
        ...args.map((x, i) => [at.argument(i), apart[i] === true ? bytes(x) : 0] as const),
      ],
    },
    (NS.conv * flops) / 1e3,
    threads,
    { word: at.scratch, bytes: () => scratch([]), words: at.behind + sizes!.length },
  )
}

/** How a step is shared by so many threads; undefined where one is as quick, or where its kernel calls into JavaScript. */
export const cutOf = (k: Kernel, work: Work, installed: Cuttable, threads: number): Cut | undefined => {
  if (installed.calls === true) return undefined
  if (k.kind === 'loop') return cutLoop(k, work, installed, threads)
  return k.kind === 'gemm' ? cutGemm(k, work, installed, threads) : cutOpaque(k, work, installed, threads)
}
