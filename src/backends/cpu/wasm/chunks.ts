/**
 * Chunks of loops with folds along all axes. A chunk has some units of the outermost axis: as many as make CHUNK points, whoever computes them. Its total begins with the identity, and the totals of chunks
 * are folded in their order. So threads may share such a loop: they keep the totals of their chunks, which are then folded as on one thread.
 */
import type { LoopKernel } from '../../plan/kernel.js'
import type { FunctionBuilder, Operand } from './encoder.js'
import * as OP from './opcodes.js'
import { foldsOf } from './totals.js'

/** Points of a chunk: some microseconds. */
export const CHUNK = 2 ** 14

/** How many outputs are folded along all axes, where these are computed in chunks: where no other output is folded along the outermost axis. */
export const chunkedOutputs = (k: LoopKernel): number => {
  const { strips, axes } = foldsOf(k)
  if (k.rank === 0 || strips) return 0
  return k.outputs.every((o, i) => axes[i]?.whole !== false || !o.fold!.axes[0]) ? axes.filter((a) => a?.whole === true).length : 0
}
/** Units of the outermost axis in a chunk. */
export const chunkRows = (sizes: readonly number[], chunk: number): number => {
  const points = sizes.slice(1).reduce((n, size) => Math.imul(n, size) >>> 0, 1)
  return Math.max(1, Math.floor(chunk / Math.max(1, points)))
}
/** The same, of sizes that the record tells. */
export const emitChunkRows = (f: FunctionBuilder, sizes: readonly Operand[], chunk: number): Operand => {
  if (sizes.length === 1) return chunk
  const points = sizes.slice(1).reduce((n, size) => () => f.op(OP.i32_mul, n, size))
  const most =
    (x: Operand): Operand =>
    () =>
      f.op(OP.select, x, 1, x)
  return most(() => f.op(OP.i32_div_u, chunk, most(points)))
}
