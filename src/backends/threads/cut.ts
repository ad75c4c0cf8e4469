/** How a step is cut into parts that threads take: along one axis, so that no two parts write the same element, and each element is computed as in the whole. */
import { itemBytes } from '../../core/graph/aval.js'
import { sizeOf } from '../../core/graph/shape.js'
import type { Cut, Cuttable, Shared, Units } from '../cpu/kernel.js'
import { gemmRecord, LoopRecord, OpaqueRecord } from '../cpu/records.js'
import type { GemmKernel, Kernel, LoopKernel, OpaqueKernel } from '../plan/kernel.js'
import { aligned } from '../plan/memory.js'
import type { Step } from '../plan/step.js'
import { RECORD } from './control.js'

type Work = Pick<Step, 'sizes' | 'reads' | 'writes' | 'flops'>

/** By what steps are cut. */
export interface Sharing {
  readonly threads: number
  /** From this time on a step is shared, and what a part takes at least, in microseconds: to wake a thread takes about thirty, to take a part less than one. */
  readonly least: number
  readonly part: number
  /** Parts of an innermost axis have a multiple of so many elements: whole lines of the cache, and whole vectors. */
  readonly line: number
  /** Looks at the memory in a microsecond, at most: by them a wait for others is known to be long. */
  readonly looks: number
}
/** What pays. */
export const sharingOf = (threads: number): Sharing => ({ threads, least: 60, part: 15, line: 256, looks: 1000 })
/** Parts for each thread: where one is late, others take what it would have taken. */
const PARTS = 4

/** Nanoseconds of an operation and of a byte, about: what a core with vectors of 128 bits does. */
const NS = { f32: 0.035, f64: 0.07, operation: 0.12, byte: 0.06, whole: 0.06 } as const

/** Rows and columns of a product that its kernel may compute together: what is left of them is summed in another order, so that parts are multiples. */
const ROWS = 8

const MOST_LOOKS = 2 ** 31 - 1

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
const cutAlong = (
  { units, multiple, axis, steps }: Along,
  microseconds: number,
  { threads, least, part: shortest, looks }: Sharing,
  scratch: Scratch,
): Cut | undefined => {
  if (microseconds < least || 4 * scratch.words > RECORD) return undefined
  const wanted = Math.min(PARTS * threads, Math.floor(microseconds / shortest))
  const part = multiple * Math.max(1, Math.ceil(units / wanted / multiple))
  // What is left goes to the last part, so that none is smaller than the others.
  const parts = Math.floor(units / part)
  if (parts < 2 || steps.some(([, bytes]) => !Number.isInteger(bytes))) return undefined
  return {
    parts,
    units: part,
    axis,
    moves: steps.filter(([, bytes]) => bytes !== 0).map(([word, bytes]) => [word, part * bytes] as const),
    scratch: scratch.word,
    scratchBytes: aligned(scratch.bytes(units - part * (parts - 1)), 64),
    words: scratch.words,
    long: Math.min(Math.ceil(looks * ((2 * microseconds) / parts + 100)), MOST_LOOKS),
    microseconds: Math.min(Math.ceil(microseconds), MOST_LOOKS),
  }
}

/** The outermost axis that is long enough, along which nothing is folded and every result moves. */
const loopAxis = (k: LoopKernel, { sizes, writes }: Work, { threads, line }: Sharing): number | undefined => {
  // Along an axis that is folded, the result does not move.
  const free = (axis: number): boolean => sizes[axis]! >= 2 && writes.every((o) => o.strides[axis] !== 0)
  const long = (axis: number): boolean => sizes[axis]! >= (axis === k.rank - 1 ? line : 1) * threads
  const axes = sizes.map((_, axis) => axis).filter((axis) => free(axis) && long(axis))
  return axes[0]
}
const cutLoop = (k: LoopKernel, work: Work, { scratch }: Cuttable, sharing: Sharing): Cut | undefined => {
  const axis = loopAxis(k, work, sharing)
  if (axis === undefined) return undefined
  const { sizes, reads, writes, flops } = work
  const at = new LoopRecord(sizes.length, reads.length + writes.length)
  const points = sizes.reduce((a, b) => a * b, 1)
  const dtypes = [...k.body.inputs, ...k.outputs.map((o) => o.dtype)]
  const operands = [...reads, ...writes]
  const bytes = operands.reduce((n, o, i) => n + (o.strides.some((s) => s !== 0) ? itemBytes[dtypes[i]!] : 0), 0) * points
  const steps = operands.map((o, i) => [at.address(i), o.strides[axis]!] as const)
  return cutAlong(
    { units: sizes[axis]!, multiple: axis === k.rank - 1 ? sharing.line : 1, axis: at.size(axis), steps },
    (NS.operation * flops + NS.byte * bytes) / 1e3,
    sharing,
    { word: at.scratch, bytes: (units) => scratch(sizes.map((n, a) => (a === axis ? units : n))), words: at.scratch + 1 },
  )
}

const cutGemm = (k: GemmKernel, { sizes, reads, writes, flops }: Work, { scratch }: Cuttable, sharing: Sharing): Cut | undefined => {
  const { threads } = sharing
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
  return cutAlong(along, (NS[k.dtype] * flops) / 1e3, sharing, {
    word: at.scratch,
    bytes: (units) => scratch(sizes.map((x, i) => (i === along.size ? units : x))),
    words,
  })
}

/** Units of a whole kernel, or of one of its phases. `words`: how many its record has behind the scratch. */
const cutUnits = (units: Units, microseconds: number, scratchBytes: number, words: number, sharing: Sharing): Cut | undefined => {
  const at = new OpaqueRecord(units.results.length, units.args.length)
  const addresses = [
    ...units.results.map((by, i) => [at.result(i), by] as const),
    ...units.args.map((by, i) => [at.argument(i), by] as const),
  ]
  return cutAlong(
    {
      units: units.count,
      multiple: units.multiple ?? 1,
      axis: at.behind + units.size,
      steps: units.first === undefined ? addresses : [...addresses, [at.behind + units.first, 1]],
    },
    microseconds,
    sharing,
    { word: at.scratch, bytes: () => scratchBytes, words: at.behind + words },
  )
}
const cutOpaque = (k: OpaqueKernel, { flops }: Work, installed: Cuttable, sharing: Sharing): readonly Shared[] | undefined => {
  const { index, units, phases, sizes, scratch } = installed
  const bytes = [...k.results, ...k.args].reduce((n, { shape, dtype }) => n + itemBytes[dtype] * sizeOf(shape), 0)
  const microseconds = (NS.whole * flops + NS.byte * bytes) / 1e3
  if (units !== undefined) return whole(index, cutUnits(units, microseconds, scratch([]), sizes!.length, sharing))
  if (phases === undefined || microseconds < sharing.least) return undefined
  return phases.each.map((phase) => {
    const own = phase.flops === undefined ? microseconds : (NS.whole * phase.flops) / 1e3
    const cut = cutUnits(phase.units, own, phase.scratchBytes, sizes!.length + 1, sharing)
    return { index: phase.index, ...(cut !== undefined && { cut }) }
  })
}
const whole = (index: number, cut: Cut | undefined): readonly Shared[] | undefined => cut && [{ index, cut }]

/** What runs for a step that is shared; undefined where one thread is as quick, or where its kernel calls into JavaScript. */
export const cutOf = (k: Kernel, work: Work, installed: Cuttable, sharing: Sharing): readonly Shared[] | undefined => {
  if (installed.calls === true) return undefined
  if (k.kind === 'opaque') return cutOpaque(k, work, installed, sharing)
  return whole(installed.index, k.kind === 'loop' ? cutLoop(k, work, installed, sharing) : cutGemm(k, work, installed, sharing))
}
