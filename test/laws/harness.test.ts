/** The harness of random programs finds faults that are put in, and makes their programs small. */

import { describe, expect, it } from 'vitest'
import type { SyncBackend } from '../../src/core/functions/backend.js'
import { linearize } from '../../src/core/graph/expr.js'
import * as cd from '../../src/index.js'
import { checkProgram, failsAgain } from './generator/checks.js'
import { generate } from './generator/generate.js'
import { cpuLanes, type Lanes, laneOf } from './generator/lanes.js'
import { laws } from './generator/laws.js'
import { printProgram } from './generator/print.js'
import { type Api, type RandomProgram, shipped } from './generator/program.js'
import { shrink } from './generator/shrink.js'
import { tracedOf } from './generator/traced.js'

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
