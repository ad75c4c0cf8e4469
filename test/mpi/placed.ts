/** A deep network whose parameters are placed: what one of its training steps takes of a rank's memory. */
import { readFileSync } from 'node:fs'
import type { AnyExpr } from '../../src/index.js'
import * as cd from '../../src/index.js'
import { within } from '../../src/mpi/communicator.js'
import * as mpi from '../../src/mpi/index.js'
import { countedRank } from '../../src/mpi/scale/counted.js'
import { adam, applyUpdates } from '../../src/optim/index.js'

export type Where = 'whole' | mpi.Placing
type Tree = Readonly<Record<string, AnyExpr>>
export const LAYERS = 8
/** Bytes of the parameters of a layer of width w, and of all. */
export const layerBytes = (width: number): number => 4 * width * 5 * width
const paramsOf = (width: number): Tree =>
  Object.fromEntries(Array.from({ length: LAYERS }, (_, i) => [`w${i}`, cd.f32(width, 5 * width)])) as unknown as Tree
/** Each layer is a product with its matrix, and one with its transpose. */
const loss = ({ params: p, x }: { readonly params: Tree; readonly x: AnyExpr }): AnyExpr =>
  cd.mean(cd.square(Object.values(p).reduce((h, w) => cd.matmul(cd.relu(cd.matmul(h, w)), cd.transpose(w)) as AnyExpr, x)))
interface Step {
  (given: object): { readonly params: unknown; readonly state: unknown; readonly loss: cd.Tensor }
  readonly into: (out: object) => Step
  readonly explain: () => cd.Explanation
  readonly dispose: () => void
}
/** A step of Adam as this rank has it, and what declares its parameters and state. */
export const placedStep = (where: Where, width: number) => {
  const declared = paramsOf(width)
  const placed = where === 'whole' ? undefined : mpi.inParts(declared, where)
  const rule = adam({ learningRate: 1e-4 })
  const opt = (placed?.optimizer(rule) ?? rule) as typeof rule
  const f = (
    placed === undefined ? mpi.shard(loss, { data: { x: 0 } }) : mpi.shard(loss, { data: { x: 0 }, parts: { params: placed } })
  ) as typeof loss
  const params = (placed?.parts ?? declared) as never
  const state = opt.init(params)
  const step = cd.compile(
    cd.fn(
      { params, state, x: cd.f32(2, width) } as never,
      (({ params: p, state: s, x }: { readonly params: never; readonly state: never; readonly x: AnyExpr }) => {
        const { value, grad } = cd.valueAndGrad((q: never) => f({ params: q, x }))(p) as { value: AnyExpr; grad: never }
        const { updates, state: next } = opt.update(grad, s, p)
        return { params: applyUpdates(p, updates as never), state: next, loss: value }
      }) as never,
    ),
  ) as unknown as Step
  return { step, params: params as unknown, state: state as unknown }
}
/**
 * Bytes that a step takes on one of n ranks: as its plan says, with the parameters and the state that are there between steps, and the room for what the others send of the longest
 * array that is exchanged.
 */
export const predictedBytes = (where: Where, n: number, width = 512): number =>
  within(countedRank(n).communicator, () => {
    const { step } = placedStep(where, width)
    const { peakBytes } = step.explain()
    step.dispose()
    const all = LAYERS * layerBytes(width)
    return where === 'whole' ? peakBytes + 3 * all + all : peakBytes + (3 * all) / n + layerBytes(width)
  })
/** Bytes of this process that are in memory, now and at their most. */
const resident = (which: 'VmRSS' | 'VmHWM'): number =>
  1024 * Number(new RegExp(`${which}:\\s+(\\d+)`).exec(readFileSync('/proc/self/status', 'utf8'))![1])
export interface Memory {
  readonly before: number
  readonly most: number
  readonly loss: number
}
/** Trains with a network of many parameters on this rank. */
export const stepsIn = (where: Where, width = 512): Memory => {
  // What is there whatever the parameters are.
  cd.evaluate(mpi.allReduce([1]))
  const small = placedStep(where, 64)
  /** Arrays as they are declared: the same numbers whatever the ranks have of them. */
  const filled = (tree: unknown, value: (i: number) => number): unknown =>
    (cd.treeMap as unknown as (f: (s: cd.Spec) => unknown, tree: unknown) => unknown)((s) => {
      const shape = s.shape as readonly number[]
      if (s.dtype === 'i32') return cd.tensor(0, [], 'i32')
      const n = shape.reduce((a, d) => a * d, 1)
      const from = where === 'whole' ? 0 : n * mpi.world.rank
      return cd.tensor(
        Float32Array.from({ length: n }, (_, i) => value(from + i)),
        [...shape],
      )
    }, tree)
  const begun = ({ params, state }: { readonly params: unknown; readonly state: unknown }) => ({
    params: filled(params, (i) => 0.05 * Math.sin(i * (i % 1013))),
    state: filled(state, () => 0),
  })
  const x = (of: number): cd.Tensor => cd.tensor(new Float32Array(2 * of).fill(1), [2, of])
  small.step({ ...begun(small), x: x(64) })
  const before = resident('VmRSS')
  const placed = placedStep(where, width)
  const { step } = placed
  let now = { ...begun(placed), loss: cd.tensor(0, [], 'f32') as cd.Tensor }
  const into = step.into(now)
  for (let k = 0; k < 3; k++) now = into({ params: now.params, state: now.state, x: x(width) }) as typeof now
  return { before, most: resident('VmHWM'), loss: now.loss.item() as number }
}
