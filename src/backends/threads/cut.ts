/** How a step is cut into parts that threads take: along one axis, so that no two parts write the same element, and each element is computed as in the whole. */
import { itemBytes } from '../../core/graph/aval.js'
import { sizeOf } from '../../core/graph/shape.js'
import type { Cut, Cuttable, SharedStep, Units } from '../cpu/kernel.js'
import { gemmRecord, LoopRecord, OpaqueRecord } from '../cpu/records.js'
import { chunkRows } from '../cpu/wasm/chunks.js'
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

/** How many times the least a loop takes that is bound by memory, if it is shared: what one core has just written, another one reads more slowly. */
const BOUND = 4

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
/** Along an axis, in parts of a multiple of some units. */
const loopAlong = (
  k: LoopKernel,
  { sizes, reads, writes, flops }: Work,
  { scratch, chunked }: Cuttable,
  sharing: Sharing,
  axis: number,
  multiple: number,
): Cut | undefined => {
  const at = new LoopRecord(sizes.length, reads.length + writes.length)
  const points = sizes.reduce((a, b) => a * b, 1)
  const dtypes = [...k.body.inputs, ...k.outputs.map((o) => o.dtype)]
  const operands = [...reads, ...writes]
  const bytes = operands.reduce((n, o, i) => n + (o.strides.some((s) => s !== 0) ? itemBytes[dtypes[i]!] : 0), 0) * points
  const steps = operands.map((o, i) => [at.address(i), o.strides[axis]!] as const)
  const [computing, moving] = [(NS.operation * flops) / 1e3, (NS.byte * bytes) / 1e3]
  if (moving > computing && moving < BOUND * sharing.least) return undefined
  return cutAlong({ units: sizes[axis]!, multiple, axis: at.size(axis), steps }, computing + moving, sharing, {
    word: at.scratch,
    bytes: (units) => scratch(sizes.map((n, a) => (a === axis ? units : n))),
    words: (chunked === undefined ? at.scratch : at.kept) + 1,
  })
}
const cutLoop = (k: LoopKernel, work: Work, installed: Cuttable, sharing: Sharing): SharedStep | undefined => {
  const { index, chunked } = installed
  if (chunked !== undefined) return cutChunks(k, work, installed, chunked, sharing)
  const axis = loopAxis(k, work, sharing)
  return axis === undefined ? undefined : whole(index, loopAlong(k, work, installed, sharing, axis, axis === k.rank - 1 ? sharing.line : 1))
}
/** A loop in chunks: parts keep the totals of theirs, one after the other in memory. */
const cutChunks = (
  k: LoopKernel,
  work: Work,
  installed: Cuttable,
  { keep, results, outputs, points }: NonNullable<Cuttable['chunked']>,
  sharing: Sharing,
): SharedStep | undefined => {
  const { sizes, reads, writes } = work
  const rows = chunkRows(sizes, points)
  const cut = sizes[0]! < 2 * rows ? undefined : loopAlong(k, work, installed, sharing, 0, rows)
  if (cut === undefined) return undefined
  const at = new LoopRecord(sizes.length, reads.length + writes.length)
  const bytes = 8 * outputs
  const inParts: Cut = { ...cut, moves: [...cut.moves, [at.kept, (cut.units / rows) * bytes]] }
  return {
    sharedBytes: aligned(bytes * Math.ceil(sizes[0]! / rows), 64),
    each: [shared(keep, 0, inParts), shared(results, 0, undefined)],
  }
}

const cutGemm = (k: GemmKernel, { sizes, reads, writes, flops }: Work, { scratch }: Cuttable, sharing: Sharing): Cut | undefined => {
  const { threads } = sharing
  const [batch, m, n] = sizes as readonly [number, number, number, number]
  const { at, words } = gemmRecord
  const [a, b] = reads.map((o) => o.strides) as [readonly number[], readonly number[]]
  const c = writes[0]!.strides
  // Few rows of a batch that shares B are computed together, in pairs.
  const batches = k.form !== 'few rows' && k.form !== 'vector'
  const along: Along & { readonly size: number } =
    batches && batch >= 2 * threads
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
const cutOpaque = (k: OpaqueKernel, { flops }: Work, installed: Cuttable, sharing: Sharing): SharedStep | undefined => {
  const { index, units, phases, sizes, scratch } = installed
  const bytes = [...k.results, ...k.args].reduce((n, { shape, dtype }) => n + itemBytes[dtype] * sizeOf(shape), 0)
  const microseconds = (NS.whole * flops + NS.byte * bytes) / 1e3
  if (units !== undefined) return whole(index, cutUnits(units, microseconds, scratch([]), sizes!.length, sharing))
  if (phases === undefined || microseconds < sharing.least) return undefined
  const { sharedBytes, each } = phases
  return {
    sharedBytes,
    each: each.map((phase) => {
      const own = phase.flops === undefined ? microseconds : (NS.whole * phase.flops) / 1e3
      return shared(phase.index, phase.scratchBytes, cutUnits(phase.units, own, phase.scratchBytes, sizes!.length + 1, sharing))
    }),
  }
}
const shared = (index: number, scratchBytes: number, cut: Cut | undefined): SharedStep['each'][number] => ({
  index,
  scratchBytes,
  ...(cut !== undefined && { cut }),
})
const whole = (index: number, cut: Cut | undefined): SharedStep | undefined => cut && { each: [shared(index, 0, cut)] }

/** What runs for a step that is shared; undefined where one thread is as quick, or where its kernel calls into JavaScript. */
export const cutOf = (k: Kernel, work: Work, installed: Cuttable, sharing: Sharing): SharedStep | undefined => {
  if (installed.calls === true) return undefined
  if (k.kind === 'opaque') return cutOpaque(k, work, installed, sharing)
  return k.kind === 'loop' ? cutLoop(k, work, installed, sharing) : whole(installed.index, cutGemm(k, work, installed, sharing))
}
