/** Matrix products as dispatches: a register tile per invocation, with or without tiles in workgroup memory; long sums in parts. */
import type { GemmKernel } from '../plan/kernel.js'
import type { Operand, Work } from '../plan/step.js'
import { type Dispatch, SCRATCH } from './dispatch.js'
import { type Operands, type Order, orderOf, type Shape, words } from './gemm-record.js'
import { registers } from './gemm-registers.js'
import { lanesOf, type Tiles, tiled } from './gemm-tiles.js'
import type { Dispatches, Machine } from './kernel.js'
import { sumOfParts } from './loop.js'

/** The form of a product: results and invocations of a workgroup, and its text. */
export interface Form {
  readonly m: number
  readonly n: number
  readonly lanes: number
  readonly gx: number
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
    text: (operands, _, terms) => registers(tile[0], tile[1], lanes, operands, terms),
  }
}

/** Tiles in workgroup memory, for products of few results and of many. */
const SMALL: Tiles = { m: 32, n: 32, tm: 2, tn: 2, k: 16, across: 16, copies: 1, unroll: 1 }
const LARGE: Tiles = { m: 64, n: 64, tm: 4, tn: 4, k: 16, across: 16, copies: 1, unroll: 1 }

/** The form with these tiles. */
export const inTiles = (tiles: Tiles): Form => ({
  m: tiles.m,
  n: tiles.n,
  lanes: lanesOf(tiles),
  gx: 0,
  text: (operands, accumulate, terms) => tiled(operands, tiles, accumulate, terms),
})

const choose = (s: Shape, a: Order, b: Order, machine: Machine): Form => {
  if (!(machine.lanes > 1 && s.m >= 32 && s.n >= 32 && s.k >= 16)) return inRegisters(s, a, b, machine)
  return inTiles(s.batch * s.m * s.n >= 64 * 64 * 128 ? LARGE : SMALL)
}

/** Stretches of k that different workgroups sum up, so that there are enough of them. */
const partsOf = ({ batch, m, n, k }: Shape, form: Form, machine: Machine): number => {
  const invocations = batch * Math.ceil(m / form.m) * Math.ceil(n / form.n) * form.lanes
  return Math.max(1, Math.min(Math.floor(machine.fill / invocations), Math.floor(k / 256), 64))
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

/** The same in this form, with so many parts. */
export const formDispatches = (
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
  if (parts === 1) return { dispatches: [product(c, accumulate)], scratchBytes: 0 }
  const partial: Operand = { storage: SCRATCH, offset: 0, strides: [4 * m * n, 4 * n, 4] }
  const sum = sumOfParts(parts, [batch, m, n], c, accumulate, { ...machine, lanes: 1 })
  return { dispatches: [product(partial, false), ...sum.dispatches], scratchBytes: parts * 4 * batch * m * n }
}
