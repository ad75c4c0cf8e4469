/** How many vectors of a loop have their operations written by turns. */
import type { LoopKernel } from '../../plan/kernel.js'

/** Operations from which on a body is long. */
const LONG = 16
/** Operations for each value that is alive at once, from which on a body is a chain: each waits for the one before it, and the processor does not look as far ahead as the next vector. */
const CHAIN = 8
const TOGETHER = 4

/** The most values of the body that are alive at once, of those that are not `fixed` outside the innermost loop. */
const mostAlive = ({ body }: LoopKernel, fixed: Uint8Array): number => {
  const inputs = body.inputs.length
  const last = new Map<number, number>()
  body.ops.forEach((o, i) => {
    for (const a of o.args) last.set(a, i)
  })
  for (const r of body.results) last.set(r, body.ops.length)
  const ends = new Int32Array(body.ops.length + 1)
  const begun = fixed.slice()
  let [alive, most] = [0, 0]
  const begin = (id: number): void => {
    const end = last.get(id)
    if (begun[id] === 1 || end === undefined) return
    begun[id] = 1
    ends[end]!++
    alive++
  }
  body.ops.forEach((o, i) => {
    for (const a of o.args) begin(a)
    alive -= ends[i]!
    begin(inputs + i)
    most = Math.max(most, alive)
  })
  return most
}
/** 4 for a long chain of operations on neighbours that folds nothing, else 1. */
export const vectorsTogether = (k: LoopKernel, fixed: Uint8Array): number => {
  const plain = k.inputs.every((a) => a === 'unit' || a === 'zero') && k.outputs.every((o) => o.access !== 'any' && o.fold === undefined)
  return plain && k.body.ops.length >= Math.max(LONG, CHAIN * mostAlive(k, fixed)) ? TOGETHER : 1
}
