/**
 * Laws over random programs: they hold on every lane. reach.test.ts has what programs come to, harness.test.ts that faults are found.
 * `npm run check:programs` runs many more.
 */

import { describe, expect, it } from 'vitest'
import { count, deep } from '../depth.js'
import { type Coverage, countPlan, countShapes, emptyCoverage } from './generator/coverage.js'
import { generate } from './generator/generate.js'
import { laws } from './generator/laws.js'
import { PLAN_FACTS } from './generator/loop-plans.js'
import { LOOP_SHAPES, loopShapesOf } from './generator/loop-shapes.js'
import { type RandomProgram, shipped } from './generator/program.js'
import { failuresText, runPrograms } from './generator/run.js'
import { tracedOf } from './generator/traced.js'

/** A few programs are done by one process sooner than two have started. */
const workers = count(1, 2)
const many = Number(process.env.PROGRAMS ?? count(60, 400, 5000))

/** Counts what plans make of a program's loops. A loop of any number of steps has no way back. */
const countPlans = (p: RandomProgram, coverage: Coverage): void => {
  const shapes = loopShapesOf(p)
  const back = shapes.has('how: a count that is computed') || shapes.has('how: ended by its condition alone') ? [] : ['mixed']
  const [values, derivatives] = tracedOf(p, shipped, back)
  for (const traced of [values, ...derivatives]) countPlan(coverage, traced)
}

describe('random programs', () => {
  it('hold: values and gradients agree between cpu, plain JavaScript and reference, in three modes', { timeout: 1_800_000 }, async () => {
    const r = await runPrograms({ runs: many, seed: 20_261_121, workers })
    expect(failuresText(r)).toBe('')
    expect(r.coverage.programs).toBe(many)
    // Each of them is checked; the laws by seed.
    for (const law of laws) expect(r.coverage.checks[law.name] ?? 0).toBeGreaterThan(many / 50)
    // Builders know the operations: what the library refuses is rare.
    expect(Object.values(r.coverage.refused).reduce((a, b) => a + b, 0)).toBeLessThan(many)
  })

  it('hold as wide DAGs over up to 60 buffers', { timeout: 1_800_000 }, async () => {
    const r = await runPrograms({ runs: Math.ceil(many / 4), seed: 7, kind: 'dag', workers })
    expect(failuresText(r, 'dag')).toBe('')
  })

  it('hold as loops, which take every shape and come to everything that plans make of them', { timeout: 1_800_000 }, async () => {
    const r = await runPrograms({ runs: Math.ceil(many / 2), seed: 23, kind: 'loops', workers })
    expect(failuresText(r, 'loops')).toBe('')
    const coverage = emptyCoverage()
    for (let seed = 1; seed <= count(200, 400); seed++) countShapes(coverage, generate(seed, 'loops').program)
    expect(LOOP_SHAPES.filter((shape) => (coverage.shapes[shape] ?? 0) === 0)).toEqual([])
    if (!deep) return
    for (let seed = 1; seed <= 160; seed++) countPlans(generate(seed, 'loops').program, coverage)
    expect(PLAN_FACTS.filter((fact) => (coverage.plans[fact] ?? 0) === 0)).toEqual([])
  })
})
