/** The order of collectives in plans is that in which they were built, whatever the shapes beside them are. */
import { describe, expect, it } from 'vitest'
import { type CpuBackend, makeCpu } from '../../src/backends/cpu/index.js'
import type { AnyExpr } from '../../src/index.js'
import * as cd from '../../src/index.js'
import { within } from '../../src/mpi/communicator.js'
import * as mpi from '../../src/mpi/index.js'
import { countedRank } from '../../src/mpi/scale/counted.js'

const backend = (makeCpu as unknown as (options: Record<string, unknown>) => CpuBackend)({ verify: true, poison: true })
const x = cd.tensor(
  Float64Array.from({ length: 9 }, (_, i) => Math.sin(i)),
  [3, 3],
)
/** What a rank does, in its order. */
const order = (f: (x: AnyExpr) => unknown): readonly string[] => {
  const rank = countedRank(2)
  return within(rank.communicator, () => {
    const run = cd.compile(f as never, backend) as unknown as (x: unknown) => unknown
    rank.take()
    run(x)
    return rank.take().map((c) => c.what)
  })
}
const sum = (y: AnyExpr): AnyExpr => mpi.allReduce(y) as AnyExpr
const [whole, row] = ['allReduce (sum) of f64[3, 3]', 'allReduce (sum) of f64[3]']
const first = (y: AnyExpr): AnyExpr => cd.at(y as never, 0) as AnyExpr

describe('collectives of one name', () => {
  it('keep it where a loop is made of what the first reads and of what the second gives', () => {
    // Both loops have one shape, and would be one: it would wait for the second collective, and the first for it.
    const f = (a: AnyExpr) => {
      const before = sum(cd.mul(a, cd.sin(cd.matmul(a as never, a as never))))
      const behind = sum(a)
      return [before, cd.mul(a, cd.cos(behind))]
    }
    expect(order(f)).toEqual([whole, whole])
    const [got] = mpi.simulateRanks(2, () => (cd.compile(f as never, backend) as unknown as (a: unknown) => readonly cd.Tensor[])(x))
    const want = [cd.mul(cd.mul(2, x), cd.sin(cd.matmul(x, x))), cd.mul(x, cd.cos(cd.mul(2, x)))].map(
      (y) => cd.evaluate(y as AnyExpr) as cd.Tensor,
    )
    for (const [k, y] of want.entries()) for (const [i, v] of y.data.entries()) expect(got![k]!.data[i]).toBeCloseTo(v, 12)
  })
  it('keep it where what the first reads is ready after the second is', () => {
    const late = (each: (y: AnyExpr) => AnyExpr) => (a: AnyExpr) => {
      const u = cd.mul(a, cd.sin(cd.matmul(a as never, a as never)))
      const before = each(u)
      const behind = each(first(a))
      // One loop with `u`, which is then made behind this product.
      const v = cd.mul(a, cd.cos(cd.matmul(a as never, cd.transpose(a) as never)))
      return [before, behind, v]
    }
    expect(order(late(sum))).toEqual([whole, row])
    const loop = (y: AnyExpr): AnyExpr => cd.fori(2, (_k: AnyExpr, c: AnyExpr) => sum(c) as never, y as never) as AnyExpr
    expect(order(late(loop))).toEqual([whole, whole, row, row])
  })
})
