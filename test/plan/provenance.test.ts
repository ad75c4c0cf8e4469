/** Plans held against programs whose captured tensors are inputs, as asynchronous backends prepare them; without a device. */
import { describe, expect, it } from 'vitest'
import { buildIr } from '../../src/backends/plan/ir.js'
import { makePlan, type Plan } from '../../src/backends/plan/plan.js'
import { type Claim, checkProvenance } from '../../src/backends/plan/provenance.js'
import { metaOf, traceMeta } from '../../src/core/functions/function.js'
import { aval, itemBytes } from '../../src/core/graph/aval.js'
import { Identities } from '../../src/core/graph/identity.js'
import * as cd from '../../src/index.js'

const ids = new Identities()
/** The program of a function of one vector, with what it captures after that vector, and its plan. */
const claimOf = (f: (x: cd.AnyExpr) => unknown): Claim => {
  const traced = traceMeta(metaOf(f as never), { _tag: 'Tuple', items: [{ _tag: 'Leaf' }] }, [aval([3], 'f32')])
  const program = { ...traced, inputs: [...traced.inputs, ...traced.captured], captured: [] }
  const ir = buildIr(program, ids)
  const limits = { nodes: 256, buffers: 48 }
  return { program, ir, plan: makePlan(ir, limits), itemBytes }
}
const swapped = (plan: Plan, i: number, j: number): Plan => {
  const inputs = [...plan.inputs]
  ;[inputs[i], inputs[j]] = [inputs[j]!, inputs[i]!]
  return { ...plan, inputs }
}

describe('captured tensors that are inputs', () => {
  const [a, b] = [cd.tensor(Float32Array.of(1, 2, 3)), cd.tensor(Float32Array.of(4, 5, 6))]
  const f = (x: cd.AnyExpr) => cd.sub(cd.mul(x, a), b)
  it('are known as the inputs that they are', () => {
    const claim = claimOf(f)
    expect(claim.program.inputs).toHaveLength(3)
    checkProvenance(claim, ids)
    const gathered = (x: cd.AnyExpr) => cd.sum(cd.sin(cd.add(x, cd.gather(x, cd.tensor(Int32Array.of(2, 0, 1))))))
    checkProvenance(claimOf(cd.grad(gathered as never) as never), ids)
    // One tensor, captured twice by name: one input.
    checkProvenance(
      claimOf((x) => cd.add(cd.mul(x, a), cd.exp(a))),
      ids,
    )
  })
  it('are told apart: a plan that reads one for another is refused', () => {
    const claim = claimOf(f)
    for (const [i, j] of [
      [0, 1],
      [1, 2],
      [0, 2],
    ] as const)
      expect(() => checkProvenance({ ...claim, plan: swapped(claim.plan, i, j) }, ids)).toThrow('a plan computes what its program says')
  })
})
