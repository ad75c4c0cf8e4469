// Every primitive is written at its samples, or listed with its reason: run by ONNX Runtime, and read back.
import { describe, expect, it } from 'vitest'
import { reference } from '../../../src/backends/reference/index.js'
import type { AnyPrimitive } from '../../../src/core/graph/primitive.js'
import { families } from '../../../src/core/ops/families.js'
import { isAdException, type Tensor, tensor } from '../../../src/index.js'
import { type OnnxFile, toONNX } from '../../../src/onnx/index.js'
import type { Row } from '../../../src/onnx/write/row.js'
import { rowsByFamily } from '../../../src/onnx/write/rows/index.js'
import { caseOf, difference } from '../../backends/sample-cases.js'
import { deep, half, some } from '../../depth.js'
import { BOUND, readBack } from './given.js'
import { runFile } from './runtime.js'

const oracle = reference()
const all = Object.entries(families).flatMap(([family, table]) =>
  (Object.values(table) as unknown as AnyPrimitive[]).map((prim) => ({
    prim,
    row: (rowsByFamily as unknown as Readonly<Record<string, Readonly<Record<string, Row>>>>)[family]![prim.name]!,
  })),
)
/** Primitives that are not written, whatever their parameters are. */
const REFUSED = `beta betainc betaincGradA betaincGradB betaln besselI besselIe besselJ eigh gammainc gammaincGradA gammaincc lstsq svd zeta zetaGradS`

describe('the table', () => {
  it('has a row for every primitive: so many of operators, of compositions, and refused with a reason', () => {
    const refused = all.filter(({ row }) => row.refused !== undefined && row.as === undefined)
    expect(refused.map(({ prim }) => prim.name).sort()).toEqual(REFUSED.split(' ').sort())
    for (const { row } of refused) expect(row.refused).toMatch(/^it|^its/)
    const direct = all.filter(({ row }) => row.write !== undefined)
    const composed = all.filter(
      ({ prim, row }) => row.write === undefined && (row.as ?? prim.expand) !== undefined && !refused.some((r) => r.prim === prim),
    )
    expect([all.length, direct.length, composed.length, refused.length]).toEqual([153, 91, 46, 16])
    for (const { row } of direct) if (row.only !== undefined) expect(row.as).toBeDefined()
  })
})

const fileOf = (program: unknown): OnnxFile | string => {
  try {
    return toONNX(program as never)
  } catch (e) {
    if (isAdException(e) && e.error._tag === 'MissingKernel') return e.error.primitive
    throw e
  }
}
describe('written, run by ONNX Runtime and read back', () => {
  const refused = new Set(REFUSED.split(' '))
  for (const { prim } of all)
    it(prim.name, { timeout: 60_000 }, async () => {
      let ran = 0
      // Of many samples one half as f64 and the other as f32.
      const tried = (k: number): typeof prim.samples => (deep && prim.samples.length > 3 ? half(prim.samples, k) : some(prim.samples, 1))
      for (const [k, float] of (['f64', 'f32'] as const).entries())
        for (const sample of tried(k)) {
          const c = caseOf(prim, sample, float)
          if (c === undefined) continue
          const file = fileOf(c.program)
          if (typeof file === 'string') {
            // What is refused is it, or what its derivative is made of.
            expect(refused.has(file)).toBe(true)
            continue
          }
          const want = oracle.prepare(c.program).run(c.inputs)
          // An empty result needs no operator: it is written whatever would compute it, and so are sums of nothing in its derivative.
          if (refused.has(prim.name)) {
            expect(want.some((w) => w.length === 0)).toBe(true)
            continue
          }
          ran++
          const names = Object.keys(file.inputs)
          const inputs = Object.fromEntries(
            c.program.inputs.map((x, i) => [names[i]!, tensor(c.inputs[i] as never, x.shape as never, x.dtype) as unknown as Tensor]),
          )
          const runs = [(await runFile(file, c.inputs)).map((y) => y.data), readBack(file, inputs).map((y) => y.data)]
          for (const [by, got] of runs.entries())
            want.forEach((w, i) => {
              expect(difference(got[i]!, w), `${by === 0 ? 'ONNX Runtime' : 'read back'}, ${float}, result ${i}`).toBeLessThan(BOUND[float])
            })
        }
      if (!refused.has(prim.name)) expect(ran).toBeGreaterThan(0)
    })
  it('tries more samples in depth', () => {
    expect(some([1, 2, 3], 1).length).toBe(deep ? 3 : 1)
  })
})
