/** Random programs reach every operation and every primitive, in values and in gradients. */

import { describe, expect, it } from 'vitest'
import { type Coverage, countProgram, countRefused, countSteps, emptyCoverage, primitives } from './generator/coverage.js'
import { opsOf } from './generator/draw.js'
import { families, generate } from './generator/generate.js'
import { type Api, type RandomProgram, shipped } from './generator/program.js'
import { tracedOf } from './generator/traced.js'

/** Exports that are no operation of a program: types' companions, backends, what declares and what runs. */
const NOT_OPERATIONS = new Set(
  `CoDual Dual NoTangent ZeroTangent applyPrimitive aval bilinearRule binary bool byMeaning codec codualWith compile compileAsync corePlugin
  coreRegistry cpu decodeError definePlugin dualAlgebra duplicated emptyRegistry evaluate explain fromJSON fromProgram i32 inline
  inplaceableThunk interpret isAdException linearRule makeCodual missing multiRule nonDifferentiable notImplemented onDevice onHost optOut
  perElement pluginMonoid primitive raise reference registerTree registryMonoid registryOf reverseAlgebra rule run runSync scalarRule show tensor thunk
  isExpr isTensor ravel toJSON toProgram treeAllClose treeFlatten treeLeaves treeMap treeReduce treeZip unary vectorSpace webgpu
  einsumPath jet sparsity hessianSparsity sparseJacobian sparseHessian toDense gaussNewtonProduct
  addTangents batchAll clipGradient elementwise estimator multiLinearRule multiScalarRule reverseGradient scaleTangent straightThrough`.split(
    /\s+/,
  ),
)
/** Counts the nodes of a program and of its gradient, without running them. */
const countTraced = (p: RandomProgram, api: Api, coverage: Coverage): void => {
  const [values, derivatives] = tracedOf(p, api, ['mixed', 'forward'])
  countProgram(coverage, values, 'values')
  for (const d of derivatives) countProgram(coverage, d, 'derivatives')
}

describe('random programs', () => {
  it('reach every exported operation', () => {
    const reached = new Set<string>()
    const missing = new Set(Object.keys(shipped).filter((name) => !NOT_OPERATIONS.has(name)))
    for (let seed = 1; seed <= 2500 && missing.size > 0; seed++)
      opsOf(generate(seed).program.steps, (op) => {
        reached.add(op)
        missing.delete(op)
      })
    expect([...missing]).toEqual([])
    expect([...NOT_OPERATIONS].filter((name) => !(name in shipped))).toEqual([])
    expect([...reached].filter((name) => !(name in shipped))).toEqual([])
  })

  it('are the same for the same seed', () => {
    for (const seed of [1, 77, 4096]) expect(generate(seed).program).toEqual(generate(seed).program)
    const names = Object.values(families).flatMap((rows) => rows.map((r) => r.name))
    expect(new Set(names).size).toBe(names.length)
  })

  it('reach every primitive, in values and in gradients', () => {
    const coverage = emptyCoverage()
    const api: Api = shipped
    // In programs of value, results and gradients.
    let missing: readonly string[] = primitives
    for (let seed = 1; seed <= 2000 && missing.length > 0; seed++) {
      const { program, refused } = generate(seed)
      countSteps(coverage, program)
      countRefused(coverage, refused)
      if (program.wild !== true) countTraced(program, api, coverage)
      missing = missing.filter((p) => (coverage.derivatives[p] ?? 0) === 0)
    }
    expect(missing).toEqual([])
  })
})
