/** Matrix products as dispatches: a register tile per invocation, with or without tiles in workgroup memory; long sums in parts. */
import type { GemmKernel } from '../plan/kernel.js'
import type { Operand, Work } from '../plan/step.js'
import { type Dispatch, SCRATCH } from './dispatch.js'
import { type Operands, type Order, orderOf, type Shape, words } from './gemm-record.js'
import { registers } from './gemm-registers.js'
import { lanesOf, type Tiles, tiled } from './gemm-tiles.js'
import type { Dispatches, Machine } from './kernel.js'
import { sumOfParts } from './loop.js'
import { LONG } from './sums.js'

/** The form of a product: results and invocations of a workgroup, and its text. */
interface Form {
  readonly m: number
  readonly n: number
  readonly lanes: number
  readonly gx: number
  /** What `explain` calls it. */
  readonly name: string
  readonly text: (operands: Operands, accumulate: boolean, terms: number) => string
}

/** Tiles in registers that are worth a shader. Software pays by the load, hardware by the invocation that waits. */
const tilesOf = (machine: Machine): readonly (readonly [number, number])[] =>
  machine.lanes > 1
    ? [
        [1, 1],
        [4, 4],
      ]
    : [
        [8, 8],
        [4, 4],
        [8, 1],
        [1, 8],
      ]

/**
 * The tile and the workgroup's shape whose loads and products, padding included, take least time. Where they are equal, fewer cache lines are
 * better: an operand of unit stride along k has one for each row (or column) of the workgroup.
 */
const inRegisters = (s: Shape, a: Order, b: Order, machine: Machine): Form => {
  const lanes = machine.lanes > 1 ? 64 : 16
  let best: { readonly cost: number; readonly gx: number; readonly tile: readonly [number, number] } | undefined
  for (const tile of tilesOf(machine)) {
    const [TM, TN] = tile
    for (let gx = lanes; gx >= 1; gx /= 2) {
      const groups = s.batch * Math.ceil(s.m / ((TM * lanes) / gx)) * Math.ceil(s.n / (TN * gx))
      const lines = ((TM * lanes) / gx) * (a === 'column' ? 1 / 16 : 1) + TN * gx * (b === 'row' ? 1 / 16 : 1)
      const cost = (1 + (groups * lanes) / machine.fill) * (TM + TN + 0.15 * TM * TN) * (1 + lines / 200)
      if (best === undefined || cost < best.cost) best = { cost, gx, tile }
    }
  }
  const { gx, tile } = best!
  return {
    m: (tile[0] * lanes) / gx,
    n: tile[1] * gx,
    lanes,
    gx,
    name: `${tile[0]} x ${tile[1]} in registers`,
    text: (operands, _, terms) => registers(tile[0], tile[1], lanes, operands, terms),
  }
}

/**
 * Tiles in workgroup memory: for many results, for few, and for so few that neither side fills the others. Measured on an H100 and its kin: wider
 * tiles (128 x 128), more results of an invocation (8 x 8) and tiles that are written while others are read gain nothing in WGSL, or lose.
 */
const LARGE: Tiles = { m: 128, n: 64, tm: 8, tn: 4, k: 16 }
const MIDDLE: Tiles = { m: 64, n: 64, tm: 4, tn: 4, k: 16 }
const SMALL: Tiles = { m: 32, n: 32, tm: 4, tn: 2, k: 16 }
/** Workgroups from which on the large tiles have enough to do. */
const MANY = 96

/** The form with these tiles. */
const inTiles = (tiles: Tiles): Form => ({
  m: tiles.m,
  n: tiles.n,
  lanes: lanesOf(tiles),
  gx: 0,
  name: `tiles of ${tiles.m} x ${tiles.n}`,
  text: (operands, accumulate, terms) => tiled(operands, tiles, accumulate, terms),
})
const tilesIn = ({ batch, m, n }: Shape, t: Tiles): number => batch * Math.ceil(m / t.m) * Math.ceil(n / t.n)

/** What a shape's results are computed by: the one place that decides. */
const choose = (s: Shape, a: Order, b: Order, machine: Machine): Form => {
  if (!(machine.lanes > 1 && s.m >= 32 && s.n >= 32 && s.k >= 16)) return inRegisters(s, a, b, machine)
  if (s.m <= 32 || s.n <= 32) return inTiles(SMALL)
  const padded = (tilesIn(s, LARGE) * LARGE.m * LARGE.n) / (tilesIn(s, MIDDLE) * MIDDLE.m * MIDDLE.n)
  return inTiles(tilesIn(s, LARGE) >= MANY && padded < 1.3 ? LARGE : MIDDLE)
}

/** Bytes of scratch that are not too many for avoiding totals of three words in registers. */
const SPARE = 1 << 28

/**
 * Stretches of k that different workgroups sum up: so many that there are enough of them, and none so long that its totals have to keep what
 * additions round off, where tiles hold them in registers.
 */
const partsOf = ({ batch, m, n, k }: Shape, form: Form, machine: Machine): number => {
  const invocations = batch * Math.ceil(m / form.m) * Math.ceil(n / form.n) * form.lanes
  const room = Math.floor(machine.fill / invocations)
  // Two or three parts of a device with many cores save less than their sum takes.
  const wanted = machine.lanes > 1 ? (room < 4 ? 1 : Math.min(room, Math.floor(k / 64))) : Math.min(room, Math.floor(k / 256))
  const parts = Math.max(1, Math.min(wanted, 64))
  const short = form.gx === 0 ? Math.ceil(k / LONG) : 1
  return parts < short && 4 * short * batch * m * n <= SPARE ? short : parts
}

/** Dispatches in this form, with so many parts. */
const formDispatches = (
  form: Form,
  parts: number,
  { accumulate }: Pick<GemmKernel, 'accumulate'>,
  { sizes, reads, writes }: Work,
  machine: Machine,
): Dispatches => {
  const [batch, m, n, k] = sizes as readonly [number, number, number, number]
  const shape = { batch, m, n, k }
  const [c, a, b]: Operands = [writes[0]!, reads[0]!, reads[1]!]
  const tiles = [Math.ceil(m / form.m), Math.ceil(n / form.n)] as const
  const chunk = Math.ceil(k / parts)
  const groups = batch * tiles[0] * tiles[1] * parts
  const product = (to: Operand, add: boolean): Dispatch => ({
    wgsl: form.text([to, a, b], add, chunk),
    words: words(shape, [parts, chunk], form.gx, tiles, [to, a, b], add),
    groups,
  })
  const told = parts === 1 ? form.name : `${form.name}, ${parts} parts`
  if (parts === 1) return { dispatches: [product(c, accumulate)], scratchBytes: 0, form: told }
  const partial: Operand = { storage: SCRATCH, offset: 0, strides: [4 * m * n, 4 * n, 4] }
  const sum = sumOfParts(parts, [batch, m, n], c, accumulate, { ...machine, lanes: 1 })
  return { dispatches: [product(partial, false), ...sum.dispatches], scratchBytes: parts * 4 * batch * m * n, form: told }
}

/** Dispatches of C = A B or C += A B. */
export const gemmDispatches = (kernel: GemmKernel, work: Work, machine: Machine): Dispatches => {
  const { sizes, reads } = work
  const [batch, m, n, k] = sizes as readonly [number, number, number, number]
  const shape = { batch, m, n, k }
  if (batch * m * n === 0) return { dispatches: [], scratchBytes: 0 }
  const form = choose(shape, orderOf(reads[0]!), orderOf(reads[1]!), machine)
  return formDispatches(form, partsOf(shape, form, machine), kernel, work, machine)
}
