/** One suite for every backend: each primitive at each of its samples, forward and pulled back, against the reference. */
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import { reference } from '../../src/backends/reference/index.js'
import { aval } from '../../src/core/graph/aval.js'
import { applyAny, input } from '../../src/core/graph/expr.js'
import { allocate } from '../../src/core/graph/ndarray.js'
import type { AnyPrimitive } from '../../src/core/graph/primitive.js'
import { makeProgram } from '../../src/core/graph/program.js'
import { families } from '../../src/core/ops/families.js'
import { caseOf, difference } from './sample-cases.js'

const backends = [
  { name: 'cpu with SIMD', backend: makeCpu({ verify: true, simd: true }) },
  { name: 'cpu in plain JavaScript', backend: makeCpu({ verify: true, simd: false }) },
] as const
const oracle = reference()
/** The functions are good to about 2 eps; a pulled-back cotangent passes through a few of them. */
const bound = { f64: 64 * 2 ** -52, f32: 64 * 2 ** -23 } as const

for (const { name, backend } of backends)
  describe(name, () => {
    for (const [family, table] of Object.entries(families))
      for (const prim of Object.values(table) as AnyPrimitive[])
        for (const float of ['f64', 'f32'] as const)
          it(`${family}: ${prim.name} ${float}`, () => {
            expect(prim.samples.length).toBeGreaterThan(0)
            let ran = 0
            prim.samples.forEach((sample, i) => {
              const c = caseOf(prim, sample, float)
              if (c === undefined) return
              ran++
              const want = oracle.prepare(c.program).run(c.inputs)
              const got = backend.prepare(c.program).run(c.inputs)
              want.forEach((w, k) => {
                expect(difference(got[k]!, w), `sample ${i}, result ${k}`).toBeLessThan(bound[float])
              })
            })
            expect(ran).toBeGreaterThan(0)
          })
  })

describe('extreme arguments of elementwise primitives, by SIMD', () => {
  const elementwise = Object.values(families.elementwise) as unknown as AnyPrimitive[]
  for (const prim of elementwise.filter((p) => p.args.length === 1 && p.scalar !== undefined))
    for (const float of ['f64', 'f32'] as const)
      it(`${prim.name} ${float}`, () => {
        const values = [...prim.extremes, 0, -0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
        const x = input(aval([values.length], float))
        const tree = { _tag: 'Tuple' as const, items: [{ _tag: 'Leaf' as const }] }
        const program = makeProgram({ name: prim.name, inputs: [x], inputTree: tree, outputs: applyAny(prim, [x], {}), outputTree: tree })
        const data = allocate(float, values.length)
        values.forEach((v, i) => {
          data[i] = v
        })
        const [want] = oracle.prepare(program).run([data])
        const [got] = backends[0].backend.prepare(program).run([data])
        for (let i = 0; i < values.length; i++) {
          const [a, b] = [got![i]!, want![i]!]
          const close =
            Object.is(a, b) ||
            Math.abs(a - b) <= 4 * (float === 'f64' ? 2 ** -52 : 2 ** -23) * Math.abs(b) ||
            Math.abs(a - b) < (float === 'f64' ? 5e-324 : 1e-44)
          expect(close, `${prim.name}(${values[i]}) = ${a}, wanted ${b}`).toBe(true)
        }
      })
})
