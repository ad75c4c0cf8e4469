/** Parameters and an optimiser's state in parts: the same numbers as whole ones, in less memory. */
import { describe, expect, it } from 'vitest'
import type { AnyExpr } from '../../src/index.js'
import * as cd from '../../src/index.js'
import * as mpi from '../../src/mpi/index.js'
import * as optim from '../../src/optim/index.js'

type Tree = Readonly<Record<string, AnyExpr>>
const { key, split, normal } = await import('../../src/random/index.js')
const drawn = (seed: number, shape: readonly number[], dtype: 'f32' | 'f64' = 'f64'): cd.Tensor =>
  cd.evaluate(cd.cast(normal(key(seed), shape as number[]) as AnyExpr, dtype)) as cd.Tensor
const params = {
  w1: drawn(1, [5, 7]),
  b1: drawn(2, [7]),
  scale: cd.tensor(1.5),
  w2: drawn(3, [7, 3], 'f32'),
  b2: drawn(4, [3], 'f32'),
}
const batch = { x: drawn(5, [6, 5]), y: drawn(6, [6, 3]) }
const loss = ({ params: p, x, y }: { readonly params: Tree; readonly x: AnyExpr; readonly y: AnyExpr }): AnyExpr => {
  const h = cd.mul(p.scale!, cd.tanh(cd.add(cd.matmul(x, p.w1!), p.b1!)))
  const out = cd.add(cd.matmul(h, cd.cast(p.w2!, 'f64') as AnyExpr), cd.cast(p.b2!, 'f64') as AnyExpr)
  return cd.mean(cd.square(cd.sub(out, y)))
}
const data = { x: 0, y: 0 }
type Made = { readonly params: unknown; readonly loss: number }
/** Three steps with whole parameters, or with parts. */
const trained = (optimizer: optim.Transformation<unknown>, how: mpi.Placing | undefined): Made => {
  const placed = how === undefined ? undefined : mpi.inParts(params, how)
  const opt = (placed?.optimizer(optimizer as never) ?? optimizer) as typeof optimizer
  const f = placed === undefined ? mpi.shard(loss, { data }) : mpi.shard(loss, { data, parts: { params: placed } })
  const step = cd.compile((p: never, state: never, x: never, y: never) => {
    const { value, grad } = cd.valueAndGrad((q: never) => (f as typeof loss)({ params: q, x, y }))(p) as { value: AnyExpr; grad: never }
    const { updates, state: next } = opt.update(grad, state, p)
    return [optim.applyUpdates(p, updates as never), next, value]
  })
  let p: unknown = placed?.cut(params) ?? params
  let state: unknown = opt.init(p as never)
  let value = 0
  const mine = mpi.localRows(batch)
  for (let i = 0; i < 3; i++) {
    const [next, s, v] = step(p as never, state as never, mine.x as never, mine.y as never) as unknown as [unknown, unknown, cd.Tensor]
    ;[p, state, value] = [next, s, v.item() as number]
  }
  return { params: placed === undefined ? p : placed.join(p), loss: value }
}
const bits = (made: Made): unknown => [made.loss, ...cd.treeLeaves(made.params).map((t) => Array.from((t as unknown as cd.Tensor).data))]

describe('parameters in parts', () => {
  it.each(['zero1', 'zero3'] as const)('%s: three steps of Adam have the bits of whole parameters', (how) => {
    for (const n of [1, 2, 3, 4]) {
      const adam = optim.adam({ learningRate: 0.01 }) as optim.Transformation<never>
      const want = mpi.simulateRanks(n, () => bits(trained(adam, undefined)))
      const got = mpi.simulateRanks(n, () => bits(trained(adam, how)))
      expect(got, `${n} ranks`).toEqual(want)
    }
  })
})
