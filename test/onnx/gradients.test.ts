// Derivatives of models of floats: the checker compares them with differences, in both modes, along two directions of the inputs of each backend test of ONNX.
import { describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import { type AnyExpr, add, arange, cast, cos, isAdException, mul, reshape, sum, type Tensor, tensor } from '../../src/index.js'
import { table } from '../../src/onnx/operators/index.js'
import { checkOperators, runModel } from '../../src/onnx/run.js'
import type { Stored } from '../../src/onnx/tensors.js'
import { type ElementType, isFloat } from '../../src/onnx/types.js'
import { constant, type Item, value } from '../../src/onnx/value.js'
import { sample, some } from '../depth.js'
import { type Case, casesOf, dataOf, givenIn, neededInputs, openInputs } from './cases.js'

/** Larger inputs take long, and show nothing that smaller ones do not. */
const MOST = 200
const size = (shape: readonly number[]): number => shape.reduce((n, d) => n * d, 1)
/** Numbers that no symmetry of an operator hides: computed, so that nothing is captured but the inputs. */
const wave = (shape: readonly number[], phase: number, scale: number): AnyExpr =>
  reshape(mul(scale, cos(add(mul(arange(size(shape), 'f64'), 2.3), phase))), shape as number[])

interface Free {
  readonly name: string
  readonly type: ElementType
  readonly at: Tensor
}
/** A case as a function of how far to go along two directions; undefined where it has no floats to begin with or in the end, or is large. */
const alongTwo = (c: Case): ((a: AnyExpr, b: AnyExpr) => readonly AnyExpr[]) | undefined => {
  const model = dataOf(c)
  const reading = { model, table, own: {} }
  checkOperators(reading)
  const needed = neededInputs(model)
  const fixed = new Map<string, Item>()
  const free: Free[] = []
  for (const [i, d] of openInputs(model.graph).entries()) {
    const given = c.inputs[i] === undefined ? undefined : givenIn(c.inputs[i], d.elements)
    if (given === undefined) continue
    if (given === null || Array.isArray(given)) return undefined
    const { type, tensor: t } = given as Stored
    if (!isFloat(type) || needed.has(d.name)) fixed.set(d.name, constant(type, t))
    else free.push({ name: d.name, type, at: tensor(Float64Array.from(t.data), t.shape, 'f64') as Tensor })
  }
  const all = free.reduce((n, { at }) => n + at.data.length, 0)
  if (all === 0 || all > MOST) return undefined
  const outputs = (values: readonly AnyExpr[]): readonly AnyExpr[] => {
    const given = new Map(fixed)
    for (const [i, { name, type }] of free.entries()) given.set(name, value(type, values[i]!))
    return runModel(reading, given).flatMap((v) => (v.tag === 'tensor' && isFloat(v.type) ? [v.x] : []))
  }
  if (outputs(free.map(({ at }) => at as unknown as AnyExpr)).length === 0) return undefined
  return (a, b) =>
    outputs(free.map(({ at }, i) => add(add(at, mul(a, wave(at.shape, i, 0.1))), mul(b, wave(at.shape, 2 * i + 1, 0.1))))).map((y, k) =>
      sum(mul(cast(y, 'f64'), wave(y.shape, k, 1))),
    )
}

/** Cases that have no derivative to compare: what says so. */
const withoutFunction = /codual does not compute|are not computed|no operator|draws random numbers|depends on data|depend on data/

for (const [version, few, many] of [
  ['1.12', 9, 80],
  ['1.23', 12, 80],
] as const)
  describe(`derivatives of the backend tests of ONNX ${version}`, () => {
    it('are those of the values', { timeout: 900_000 }, () => {
      const { cases } = casesOf(version)
      // Every operator's own cases before those of its expansion.
      const own = cases.filter(({ name }) => name.startsWith('node/') && !name.includes('expanded'))
      const tried = some(sample(own, many), few)
      let compared = 0
      const wrong: string[] = []
      for (const c of tried) {
        try {
          const f = alongTwo(c)
          if (f === undefined) continue
          const checked = checkGrad(f, { order: 1, directions: 1 })(0, 0)
          compared++
          if (checked._tag === 'Left') wrong.push(`${c.name}: ${report(checked)}`)
        } catch (e) {
          const said = isAdException(e) || (e as { readonly path?: unknown }).path !== undefined ? (e as Error).message : undefined
          if (said === undefined || !withoutFunction.test(said)) throw e
        }
      }
      console.log(`ONNX ${version}: derivatives of ${compared} of ${tried.length} cases were compared`)
      expect(wrong).toEqual([])
      expect(compared).toBeGreaterThan(tried.length / 4)
    })
  })
