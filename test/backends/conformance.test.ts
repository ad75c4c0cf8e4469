/** One suite for every backend: each primitive at each of its samples, forward and pulled back, against the reference. */
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import { reference } from '../../src/backends/reference/index.js'
import { aval, isFloat } from '../../src/core/graph/aval.js'
import { applyAny, asExpr, input, type Node } from '../../src/core/graph/expr.js'
import { allocate, type TypedArray } from '../../src/core/graph/ndarray.js'
import type { AnyPrimitive, Sample } from '../../src/core/graph/primitive.js'
import { makeProgram, type Program } from '../../src/core/graph/program.js'
import { families } from '../../src/core/ops/families.js'
import type { DType } from '../../src/core/types/dtype.js'
import { instantiate } from '../../src/modes/common.js'
import { pullback } from '../../src/modes/transform.js'
import { coreRegistry } from '../../src/packs/all.js'

/** Uniform numbers from a seed (mulberry32). */
const random = (seed: number) => {
  let s = seed | 0
  return () => {
    s = (s + 0x6d2b79f5) | 0
    let t = Math.imul(s ^ (s >>> 15), 1 | s)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

interface Case {
  readonly program: Program
  readonly inputs: readonly TypedArray[]
}

/** A sample as a program of its float results and the cotangents of its float arguments, in one float dtype. */
const caseOf = (prim: AnyPrimitive, sample: Sample, float: 'f64' | 'f32'): Case | undefined => {
  const draw = random(17)
  const args = sample.args.map((a) => {
    const dtype: DType = a.dtype ?? float
    const x = input(aval(a.shape, dtype))
    const data = allocate(dtype, x.aval.size)
    const [low, high] = a.domain ?? [-2, 2]
    const values = a.values ?? a.draw?.(draw, a.shape)
    for (let j = 0; j < data.length; j++)
      data[j] = values?.[j] ?? (isFloat(dtype) ? low + (high - low) * draw() : Math.floor(low + (high - low) * draw()))
    return { x, data }
  })
  let ys: readonly Node[]
  try {
    ys = applyAny(
      prim,
      args.map((a) => a.x),
      sample.params,
    )
  } catch {
    return undefined // a sample that another dtype forbids (its declaration's own tests cover that)
  }
  const floats = ys.filter((y) => isFloat(y.dtype))
  const seeds = floats.map((y) => {
    const x = input(y.aval)
    const data = allocate(y.dtype, y.aval.size)
    for (let j = 0; j < data.length; j++) data[j] = draw() - 0.5
    return { x, data }
  })
  const wrt = args.map((a) => a.x).filter((x) => isFloat(x.dtype))
  const r =
    floats.length === 0
      ? undefined
      : pullback(
          coreRegistry,
          floats,
          seeds.map((s) => asExpr(s.x)),
          wrt,
        )
  const outputs = [
    ...ys,
    ...(r === undefined
      ? []
      : wrt.flatMap((w, i) => (r.cotangents[i]!._tag === 'NotImplemented' ? [] : [instantiate(r.cotangents[i]!, w.aval)]))),
  ]
  const inputs = [...args, ...seeds]
  const tree = (n: number) => ({ _tag: 'Tuple' as const, items: Array.from({ length: n }, () => ({ _tag: 'Leaf' as const })) })
  return {
    program: makeProgram({
      name: prim.name,
      inputs: inputs.map((a) => a.x),
      inputTree: tree(inputs.length),
      outputs,
      outputTree: tree(outputs.length),
    }),
    inputs: inputs.map((a) => a.data),
  }
}

/** Largest difference, relative to the largest reference entry (at least 1); NaN must meet NaN, infinities themselves. */
const difference = (got: TypedArray, want: TypedArray): number => {
  if (got.length !== want.length) return Number.POSITIVE_INFINITY
  let diff = 0
  let top = 1
  for (let i = 0; i < want.length; i++) {
    const [a, b] = [got[i]!, want[i]!]
    if (Number.isNaN(b) || !Number.isFinite(b)) {
      if (!Object.is(a, b)) return Number.POSITIVE_INFINITY
      continue
    }
    if (!(Math.abs(a - b) <= diff)) diff = Math.abs(a - b)
    top = Math.max(top, Math.abs(b))
  }
  return diff / top
}

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
