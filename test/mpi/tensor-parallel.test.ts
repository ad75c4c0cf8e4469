/** The example of a network whose hidden units are cut over ranks, against the same network on one rank. */
import { describe, expect, it } from 'vitest'
import { data, initial, loss, main, whole } from '../../examples/tensor-parallel.js'
import * as cd from '../../src/index.js'
import { simulateRanks } from '../../src/mpi/index.js'
import { count } from '../depth.js'

const numbers = (tree: unknown): readonly number[] => cd.treeLeaves(tree).flatMap((leaf) => Array.from((leaf as unknown as cd.Tensor).data))
const near = (got: readonly number[], want: readonly number[]): void => {
  expect(got.length).toBe(want.length)
  got.forEach((v, i) => {
    expect(v).toBeCloseTo(want[i]!, 12)
  })
}
const quiet = (): void => undefined

describe('tensor parallelism', () => {
  it('gradients of what is cut and of what every rank has are those of one rank', () => {
    const gradient = (): readonly number[] => {
      const { value, grad } = cd.evaluate(cd.valueAndGrad(loss, { wrt: 'params' })({ params: initial(), ...data }))
      return [value.item(), ...numbers(whole(grad as never))]
    }
    const want = gradient()
    expect(want.filter((v) => v === 0)).toEqual([])
    for (const n of [2, 3]) {
      const [first, ...others] = simulateRanks(n, gradient)
      near(first!, want)
      for (const other of others) expect(other).toEqual(first)
    }
  })
  it('training has the same losses and parameters; a step has one allReduce forward and one backward', () => {
    const steps = count(3, 10)
    const of = () => {
      const { losses, params, summed } = main(quiet, { steps })
      return { numbers: [...losses, ...numbers(params)], summed }
    }
    const want = of()
    expect(want.summed).toBe(0)
    for (const n of [2, 4]) {
      const [first, ...others] = simulateRanks(n, of)
      near(first!.numbers, want.numbers)
      expect(first!.summed).toBe(2)
      for (const other of others) expect(other).toEqual(first)
    }
  })
})
