/** Long bodies, whose vectors are computed by turns: against the plain executor and the definition, to the bit. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { vectorsTogether } from '../../src/backends/cpu/wasm/together.js'
import type { Access, Body, BodyOp } from '../../src/backends/plan/kernel.js'
import type { TypedArray } from '../../src/core/graph/ndarray.js'
import { elementwise } from '../../src/core/ops/families.js'
import type { DType } from '../../src/core/types/dtype.js'
import { count } from '../depth.js'
import { byMeaning, byPlain, byWasm, type Case, loop, op } from './loop-harness.js'

const { add, mul, sub, maximum, neg, cast } = elementwise
const same = (got: readonly TypedArray[], want: readonly TypedArray[], what: string): void => {
  want.forEach((w, b) => {
    for (let i = 0; i < w.length; i++)
      expect(Object.is(got[b]![i], w[i]), `${what} buffer ${b}[${i}]: ${got[b]![i]}, not ${w[i]}`).toBe(true)
  })
}
const numbers = (n: number, dtype: DType, seed: number): number[] =>
  Array.from({ length: n }, (_, i) => {
    const k = (Math.imul(i + seed, 2654435761) >>> 8) % 9
    return dtype === 'i32' ? k - 4 : ([0.5, -0, Number.NaN, Infinity, 1.25, -3, 0, 7, 1e-3] as const)[k]!
  })
interface Drawn {
  readonly dtype: 'f32' | 'f64' | 'i32'
  readonly length: number
  readonly n: number
  readonly inputs: readonly ('unit' | 'zero')[]
  /** How far back arguments are: few values are alive at once where it is small. */
  readonly back: number
  readonly picks: readonly number[]
  readonly outputs: number
  readonly inPlace: boolean
  readonly wide: boolean
}
const drawn: fc.Arbitrary<Drawn> = fc.record({
  dtype: fc.constantFrom('f32', 'f64', 'i32'),
  length: fc.integer({ min: 13, max: 30 }),
  n: fc.integer({ min: 0, max: 41 }),
  inputs: fc.array(fc.constantFrom('unit', 'zero'), { minLength: 1, maxLength: 3 }),
  back: fc.constantFrom(1, 2, 2, 3, 8),
  picks: fc.array(fc.nat(1000), { minLength: 90, maxLength: 90 }),
  outputs: fc.integer({ min: 1, max: 2 }),
  inPlace: fc.boolean(),
  wide: fc.boolean(),
})
const binary = [add, mul, sub, maximum] as const
const caseOf = ({ dtype, length, n, inputs, back, picks, outputs, inPlace, wide }: Drawn): Case => {
  const width = inputs.length
  const ops: BodyOp[] = []
  for (let i = 0; i < length; i++) {
    const pick = (k: number): number => width + i - 1 - (picks[3 * i + k]! % Math.min(width + i, back))
    const which = picks[3 * i + 2]! % 9
    if (which === 8) ops.push(op(neg, [pick(0)], dtype))
    else ops.push(op(binary[which % 4], [pick(0), which > 4 ? picks[3 * i]! % width : pick(1)], dtype))
  }
  let result = width + length - 1
  // An f64 beside makes the loop two lanes wide.
  if (wide && dtype === 'f32') {
    ops.push(op(cast, [result], 'f64', { dtype: 'f64' }))
    result++
  }
  const to: DType = ops.at(-1)!.dtype
  const body: Body = { inputs: inputs.map(() => dtype), ops, results: [result, ...(outputs > 1 ? [width + length - 2] : [])] }
  const own = inPlace && to === dtype && inputs[0] === 'unit'
  const made = [to, ...(outputs > 1 ? [dtype] : [])]
  return {
    kernel: loop(
      1,
      body,
      inputs,
      made.map((d) => ({ dtype: d, access: 'unit' })),
    ),
    sizes: [n],
    buffers: [
      ...inputs.map((a, i) => ({ dtype, data: numbers(a === 'zero' ? 1 : n, dtype, 7 * i + 1) })),
      ...made.map((d) => ({ dtype: d, data: numbers(n, d, 5) })),
    ],
    operands: [
      ...inputs.map((a, i) => ({ buffer: i, offset: 0, strides: [a === 'zero' ? 0 : 1] })),
      ...made.map((_, i) => ({ buffer: own && i === 0 ? 0 : width + i, offset: 0, strides: [1] })),
    ],
  }
}
it('random long bodies give the bits of the definition', () => {
  const reached = { 1: 0, 4: 0 }
  fc.assert(
    fc.property(drawn, (d) => {
      const c = caseOf(d)
      const fixed = Uint8Array.from({ length: c.kernel.body.inputs.length + c.kernel.body.ops.length }, (_, i) =>
        c.kernel.inputs[i] === 'zero' ? 1 : 0,
      )
      reached[vectorsTogether(c.kernel, fixed) as 1 | 4]++
      const want = byMeaning(c)
      same(byWasm(c), want, 'wasm')
      same(byPlain(c), want, 'plain')
    }),
    { numRuns: count(150, 800, 2000) },
  )
  expect(reached[4]).toBeGreaterThan(20)
  expect(reached[1]).toBeGreaterThan(20)
})
it('vectors go by turns where a body is long, plain and has few values alive', () => {
  const chain = (length: number): BodyOp[] => Array.from({ length }, (_, i) => op(add, [i, 0], 'f32'))
  const vectors = (ops: readonly BodyOp[], access: Access = 'unit', fold = false): number => {
    const output = fold ? { op: 'sum' as const, axes: [true], accumulate: false } : undefined
    const k = loop(
      1,
      { inputs: ['f32'], ops, results: [ops.length] },
      [access],
      [{ dtype: 'f32', access: fold ? 'zero' : 'unit', ...(output === undefined ? {} : { fold: output }) }],
    )
    return vectorsTogether(k, new Uint8Array(1 + ops.length))
  }
  expect(vectors(chain(16))).toBe(4)
  expect(vectors(chain(15))).toBe(1)
  expect(vectors(chain(16), 'any')).toBe(1)
  expect(vectors(chain(16), 'unit', true)).toBe(1)
  // Eight values that are all alive before they are added up.
  const fan = [
    ...Array.from({ length: 8 }, () => op(neg, [0], 'f32')),
    ...Array.from({ length: 8 }, (_, i) => op(add, [i + 1, 8 + i], 'f32')),
  ]
  expect(vectors(fan)).toBe(1)
})
