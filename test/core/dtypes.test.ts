/** Dtypes: every primitive at every combination of them gives the same on all backends or is refused, whichever way it comes in. */
import { isLeft } from 'fp-ts/lib/Either.js'
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import { reference } from '../../src/backends/reference/index.js'
import { random } from '../../src/check/draw.js'
import { isAdException } from '../../src/core/errors/error.js'
import { primitive } from '../../src/core/extend/declare.js'
import type { SyncBackend } from '../../src/core/functions/backend.js'
import { type Aval, aval, dtypes, isFloat } from '../../src/core/graph/aval.js'
import { applyAny, input, type Node } from '../../src/core/graph/expr.js'
import { allocate, type TypedArray } from '../../src/core/graph/ndarray.js'
import type { AnyPrimitive, SampleArg } from '../../src/core/graph/primitive.js'
import { makeProgram, type Program } from '../../src/core/graph/program.js'
import { families } from '../../src/core/ops/families.js'
import type { DType } from '../../src/core/types/dtype.js'
import { applyPrimitive, fromJSON } from '../../src/index.js'
import { count } from '../depth.js'

const EXTREMES = [-2147483648, 2147483647, -1, 0, 1, -2147483647, 65536, 46341, 16777217, -7]
/** An argument of a sample in another dtype: integers over their whole range, other numbers where the sample has them. */
const drawn = (a: SampleArg, { size }: Aval, dtype: DType, at: number): TypedArray => {
  const next = random(size + 31 * at)
  const [low, high] = a.domain ?? [-2, 2]
  return allocate(dtype, size).map((_: number, i: number) => {
    if (a.dtype === dtype && a.values !== undefined) return a.values[i]!
    if (dtype === 'bool') return next() < 0.5 ? 0 : 1
    if (dtype === 'i32') return i % 3 === 2 ? Math.floor(next() * 2 ** 32) | 0 : EXTREMES[(i + 3 * at) % EXTREMES.length]!
    return a.values?.[i] ?? low + (high - low) * next()
  }) as TypedArray
}
const tree = (n: number) => ({ _tag: 'Tuple' as const, items: Array.from({ length: n }, () => ({ _tag: 'Leaf' as const })) })
const programOf = (inputs: readonly Node[], outputs: readonly Node[]): Program =>
  makeProgram({ name: 'test', inputs, inputTree: tree(inputs.length), outputs, outputTree: tree(outputs.length) })
const tagOf = (e: unknown): string => (isAdException(e) ? e.error._tag : 'no error of ours')

/** Every list of n dtypes. */
const combinations = (n: number): DType[][] => (n === 0 ? [[]] : combinations(n - 1).flatMap((rest) => dtypes.map((d) => [...rest, d])))
const same = (got: TypedArray, want: TypedArray, dtype: DType): boolean =>
  want.every((w, i) => {
    const g = got[i]!
    if (Object.is(g, w) || g === w) return true
    return isFloat(dtype) && Math.abs(g - w) <= (dtype === 'f32' ? 2e-6 : 1e-13) * (1 + Math.abs(w))
  })

const backends: readonly (readonly [string, SyncBackend])[] = [
  ['simd', makeCpu({ verify: true })],
  ['plain', makeCpu({ simd: false, verify: true })],
]
const oracle = reference()

describe('every primitive, every combination of dtypes', () => {
  for (const family of Object.values(families))
    for (const prim of Object.values(family) as AnyPrimitive[]) {
      it(prim.name, () => {
        let ran = 0
        prim.samples.forEach((sample, s) => {
          for (const list of combinations(sample.args.length)) {
            const avals = sample.args.map((a, i) => aval(a.shape, list[i]!))
            const inputs = avals.map((a) => input(a))
            let outputs: readonly Node[]
            try {
              outputs = applyAny(prim, inputs, sample.params)
            } catch (e) {
              expect([list, tagOf(e)]).toEqual([list, expect.stringMatching(/^(DTypeMismatch|BadInput)$/)])
              continue
            }
            ran++
            // Values are computed at the first samples; that shapes and dtypes fit together is known from all.
            if (s >= count(1, 3)) continue
            const program = programOf(inputs, outputs)
            const data = avals.map((a, i) => drawn(sample.args[i]!, a, list[i]!, i))
            const want = oracle.prepare(program).run(data)
            for (const [name, b] of backends) {
              const got = b.prepare(program).run(data)
              outputs.forEach((o, i) => {
                expect([name, list, s, same(got[i]!, want[i]!, o.dtype), got[i]], `${name} ${list} is not ${want[i]}`).toEqual([
                  name,
                  list,
                  s,
                  true,
                  got[i],
                ])
              })
            }
          }
        })
        expect(ran).toBeGreaterThan(0)
      })
    }
})

const mul = families.elementwise.mul as AnyPrimitive
const i32 = input(aval([2], 'i32'), 'i')
const f64 = input(aval([2], 'f64'), 'x')

describe('every way in', () => {
  const refused = (f: () => unknown): void => {
    let tag = 'nothing raised'
    try {
      f()
    } catch (e) {
      tag = tagOf(e)
    }
    expect(tag).toBe('DTypeMismatch')
  }
  it('applyPrimitive', () => {
    refused(() => applyPrimitive(mul as never, [i32, f64] as never))
    refused(() => applyPrimitive(families.contract.matmul as never, [input(aval([1, 1], 'bool')), input(aval([1, 1], 'bool'))] as never))
    refused(() => applyPrimitive(families.reduce.sum as never, [input(aval([2], 'bool'))] as never, { axes: [0] } as never))
    refused(() => applyPrimitive(families.indexing.gather as never, [f64, f64] as never, { axis: 0, batchDims: 0 } as never))
    refused(() => applyPrimitive(families.elementwise.where as never, [i32, f64, f64] as never))
    refused(() => applyPrimitive(families.elementwise.exp as never, [i32] as never))
    refused(() =>
      applyPrimitive(
        families.nn.conv as never,
        [input(aval([1, 1, 2, 2], 'f64')), input(aval([1, 1, 1, 1], 'f32'))] as never,
        families.nn.conv.samples[0]!.params as never,
      ),
    )
  })
  it('fromJSON, with the path', () => {
    const program = {
      format: 1,
      name: 'f',
      inputs: [0, 1],
      inputTree: ['*', '*'],
      outputs: [2],
      outputTree: ['*'],
      nodes: [
        { input: 'i', dtype: 'i32', shape: [2] },
        { input: 'x', dtype: 'f64', shape: [2] },
        { apply: 'mul', args: [0, 1], params: {}, results: [{ dtype: 'f64', shape: [2] }] },
      ],
    }
    const read = fromJSON(program)
    expect(isLeft(read) && read.left).toMatchObject({
      _tag: 'Decode',
      errors: [{ path: expect.stringContaining('nodes.2'), reason: expect.stringContaining('one dtype') }],
    })
  })
  it('a primitive of a user', () => {
    const mine = {
      family: 'mine',
      args: ['float', 'float'],
      shapeRule: ([x]: readonly Aval[]) => x!,
      meaning: () => undefined,
      source: 'test',
    } as const
    refused(() => applyAny(primitive({ ...mine, name: 'mine' }), [i32, f64], {}))
    refused(() => applyAny(primitive({ ...mine, name: 'mine', dtypes: ['float', 'float'] }), [i32, i32], {}))
    expect(applyAny(primitive({ ...mine, name: 'mine', dtypes: ['i32', 'float'] }), [i32, f64], {})[0]!.dtype).toBe('i32')
    expect(applyAny(primitive({ ...mine, name: 'mine', dtypes: 'own' }), [i32, f64], {})[0]!.dtype).toBe('i32')
    expect(() => primitive({ ...mine, name: 'mine', dtypes: ['double'] as never })).toThrow(/dtypes/)
  })
})
