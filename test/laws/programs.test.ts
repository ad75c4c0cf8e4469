/**
 * Laws over random programs. They reach every operation, in values and in gradients; they hold on every lane; and the harness itself finds
 * faults that are put in. `npm run check:programs` runs many more.
 */

import { describe, expect, it } from 'vitest'
import type { SyncBackend } from '../../src/core/functions/backend.js'
import { linearize } from '../../src/core/graph/expr.js'
import * as cd from '../../src/index.js'
import { count, deep, whole } from '../depth.js'
import { checkProgram, failsAgain } from './generator/checks.js'
import {
  type Coverage,
  countPlan,
  countProgram,
  countRefused,
  countShapes,
  countSteps,
  emptyCoverage,
  primitives,
} from './generator/coverage.js'
import { opsOf } from './generator/draw.js'
import { families, generate } from './generator/generate.js'
import { cpuLanes, type Lanes, laneOf } from './generator/lanes.js'
import { laws } from './generator/laws.js'
import { PLAN_FACTS } from './generator/loop-plans.js'
import { LOOP_SHAPES, loopShapesOf } from './generator/loop-shapes.js'
import { printProgram } from './generator/print.js'
import { type Api, type RandomProgram, shipped } from './generator/program.js'
import { failuresText, runPrograms } from './generator/run.js'
import { shrink } from './generator/shrink.js'
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
const many = Number(process.env.PROGRAMS ?? (whole ? 5000 : count(60, 1200)))

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

  it('hold: values and gradients agree between cpu, plain JavaScript and reference, in three modes', { timeout: 1_800_000 }, async () => {
    const r = await runPrograms({ runs: many, seed: 20_261_121, workers: 2 })
    expect(failuresText(r)).toBe('')
    expect(r.coverage.programs).toBe(many)
    // Each of them is checked; the laws by seed.
    for (const law of laws) expect(r.coverage.checks[law.name] ?? 0).toBeGreaterThan(many / 50)
    // Builders know the operations: what the library refuses is rare.
    expect(Object.values(r.coverage.refused).reduce((a, b) => a + b, 0)).toBeLessThan(many)
  })

  it('hold as wide DAGs over up to 60 buffers', { timeout: 1_800_000 }, async () => {
    const r = await runPrograms({ runs: Math.ceil(many / 4), seed: 7, kind: 'dag', workers: 2 })
    expect(failuresText(r, 'dag')).toBe('')
  })

  it('hold as loops, which take every shape and come to everything that plans make of them', { timeout: 1_800_000 }, async () => {
    const r = await runPrograms({ runs: Math.ceil(many / 2), seed: 23, kind: 'loops', workers: 2 })
    expect(failuresText(r, 'loops')).toBe('')
    const coverage = emptyCoverage()
    for (let seed = 1; seed <= count(200, 400); seed++) countShapes(coverage, generate(seed, 'loops').program)
    expect(LOOP_SHAPES.filter((shape) => (coverage.shapes[shape] ?? 0) === 0)).toEqual([])
    if (!deep) return
    for (let seed = 1; seed <= 160; seed++) countPlans(generate(seed, 'loops').program, coverage)
    expect(PLAN_FACTS.filter((fact) => (coverage.plans[fact] ?? 0) === 0)).toEqual([])
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
/** Counts the nodes of a program and of its gradient, without running them. */
const countTraced = (p: RandomProgram, api: Api, coverage: Coverage): void => {
  const [values, derivatives] = tracedOf(p, api, ['mixed', 'forward'])
  countProgram(coverage, values, 'values')
  for (const d of derivatives) countProgram(coverage, d, 'derivatives')
}
/** Counts what plans make of a program's loops. A loop of any number of steps has no way back. */
const countPlans = (p: RandomProgram, coverage: Coverage): void => {
  const shapes = loopShapesOf(p)
  const back = shapes.has('how: a count that is computed') || shapes.has('how: ended by its condition alone') ? [] : ['mixed']
  const [values, derivatives] = tracedOf(p, shipped, back)
  for (const traced of [values, ...derivatives]) countPlan(coverage, traced)
}

/** A backend whose results are wrong in one entry wherever a program has this primitive. */
const faulty = (backend: SyncBackend, primitive: string): SyncBackend => ({
  ...backend,
  prepare: (program) => {
    const executable = backend.prepare(program)
    const has = linearize(program.outputs).nodes.some((n) => n.prim?.name === primitive)
    return {
      ...executable,
      explain: () => executable.explain(),
      dispose: () => executable.dispose(),
      run: (inputs, into, accumulate) => {
        const out = executable.run(inputs, into, accumulate)
        const [first] = out
        if (has && first !== undefined && first.length > 0) first[first.length - 1]! += 1e-3 * (1 + Math.abs(first[first.length - 1]!))
        return out
      },
    }
  },
})
/** The first seed that finds a fault, and its smallest program. */
const firstFound = async (
  lanes: Lanes,
  api: Api,
  clean: Lanes,
  most: number,
): Promise<{ readonly seed: number; readonly program: RandomProgram; readonly kind: string }> => {
  for (let seed = 1; seed <= most; seed++) {
    const { program } = generate(seed)
    const failure = checkProgram(program, laws, { lanes, api })
    if (failure === undefined || checkProgram(program, laws, { lanes: clean }) !== undefined) continue
    const small = await shrink(program, (p) => failsAgain(p, laws, { lanes, api }, failure), 10_000)
    return { seed, program: small, kind: failure.kind }
  }
  throw new Error(`not found among ${most} programs`)
}

describe('the harness finds', () => {
  it('a backend that is wrong in one entry of one operation', async () => {
    const clean = cpuLanes()
    const wrong = { ...clean, lanes: [clean.lanes[0]!, laneOf('plain', faulty(clean.lanes[1]!.backend, 'cumsum'))] }
    const found = await firstFound(wrong, shipped, clean, 300)
    expect(found.kind).toContain('on plain')
    const [values] = tracedOf(found.program, shipped, [])
    expect(linearize(values.outputs).nodes.some((n) => n.prim?.name === 'cumsum')).toBe(true)
    expect(found.program.steps.length).toBeLessThan(3)
    expect(printProgram(found.program, found.kind)).toContain("from 'codual'")
  })

  it.each([
    ['a rule with the wrong sign', cd.scalarRule(cd.sin, ({ x: [x] }) => [cd.neg(cd.cos(x!))])],
    [
      'a rule that is right in reverse mode alone',
      cd.rule(cd.tanh.primitive, {
        frule: (_x, [dx], _p, { y }) => [y, dx!._tag === 'Expr' ? cd.mul(dx as cd.AnyExpr, cd.sub(1.001, cd.square(y))) : dx!],
      }),
    ],
  ] as const)('%s', async (_, rule) => {
    const clean = cpuLanes()
    const api = { ...shipped, ...cd.makeCodual(cd.coreRegistry.with(rule), cd.cpu()) } as unknown as Api
    const found = await firstFound(clean, api, clean, 300)
    expect(found.program.steps.length).toBeLessThan(4)
  })
})
