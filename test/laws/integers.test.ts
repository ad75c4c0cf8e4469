// The law of integers over every public function that takes arrays, on every backend of the host; and what is particular about booleans.
import { describe, expect, it } from 'vitest'
import * as codual from '../../src/index.js'
import * as operations from '../operations.js'
import { arrayRows } from './integers/arrays.js'
import { elementwiseRows } from './integers/elementwise.js'
import { mistakesOf, plainMistakes, type Row } from './integers/law.js'
import { productRows } from './integers/products.js'
import { programRows } from './integers/programs.js'

/** Operations as they are without their types. */
const cd = operations as unknown as Readonly<Record<string, (...xs: readonly unknown[]) => codual.AnyExpr>>
const { compile, cpu, evaluate, isAdException, reference, tensor } = codual
const rows: readonly Row[] = [...elementwiseRows, ...arrayRows, ...productRows, ...programRows]
/** What the law does not ask: names, by the reason. */
const without: Readonly<Record<string, string>> = {
  'makes an array of numbers that are known, and takes none': 'arange eye linspace ones zeros geomspace logspace trilIndices triuIndices oneHot blackman fftfreq hamming hann kaiser rfftfreq',
  'gives the order of products, no numbers': 'einsumPath',
  'derivatives are of floats; integers have none':
    'grad valueAndGrad jvp vjp hvp linearize jet jacfwd jacrev hessian hessianSparsity sparsity sparseJacobian sparseHessian toDense gaussNewtonProduct CoDual Dual dualAlgebra reverseAlgebra',
  'declares, makes, runs, shows or saves functions, of any arrays':
    'aval bool codec codualWith compile compileAsync cpu decodeError evaluate explain f32 f64 fromJSON fromProgram i32 inline interpret isAdException isExpr isTensor makeCodual onDevice onHost raise reference registerTree run runSync show tensor toJSON toProgram webgpu',
  'of gradients in buffers, which are floats': 'duplicated',
  'compares floats with a tolerance': 'treeAllClose',
  'rules and primitives of a user, who says what they are':
    'applyPrimitive batchAll bilinearRule byMeaning definePlugin estimator inplaceableThunk linearRule multiLinearRule multiRule multiScalarRule nonDifferentiable notImplemented optOut perElement primitive registryOf rule scalarRule scaleTangent addTangents thunk missing',
} // biome-ignore format: a table
const backends = [
  ['reference', reference()],
  ['simd', cpu({ verify: true })],
  ['plain', cpu({ simd: false })],
] as const

describe('integers are exact, in the dtype that the docs say', () => {
  it('every function is asked, or left out for a reason', () => {
    const asked = new Set(rows.map((r) => r.name))
    const left = new Set(Object.values(without).flatMap((names) => names.split(' ')))
    const functions = Object.entries({ ...operations, ...codual }).filter(([, x]) => typeof x === 'function')
    const names = functions.map(([name]) => name)
    expect(names.filter((name) => !asked.has(name) && !left.has(name))).toEqual([])
    expect([...asked, ...left].filter((name) => !names.includes(name))).toEqual([])
    expect([...left].filter((name) => asked.has(name))).toEqual([])
    expect(Object.keys(operations).filter((name) => asked.has(name)).length).toBeGreaterThanOrEqual(353)
  })
  it.each(backends)('%s', (_, backend) => {
    expect(rows.flatMap((row) => mistakesOf(row, backend))).toEqual([])
  })
  it('plain arrays beside an i32 are i32', () => {
    expect(rows.flatMap((row) => plainMistakes(row, reference()))).toEqual([])
  })
  it('arrays that are made hold what was asked for', () => {
    const of = (x: unknown): readonly number[] => Array.from(evaluate(x as codual.AnyExpr).data)
    expect(of(cd.arange!(2147483640, 2147483647, 3, 'i32'))).toEqual([2147483640, 2147483643, 2147483646])
    expect(of(cd.arange!(2147483640, 2147483647, 3))).toEqual([2147483640, 2147483643, 2147483646])
    expect(of(cd.linspace!(16777217, 2147483647, 2))).toEqual([16777217, 2147483647])
    expect(of(cd.linspace!(tensor(16777217, [], 'i32'), 2147483647, 2))).toEqual([16777217, 2147483647])
    expect(of(cd.full!([2], 2147483647, 'i32'))).toEqual([2147483647, 2147483647])
    for (const make of [cd.eye!, (n: number, d: string) => cd.ones!([n], d), (n: number, d: string) => cd.oneHot!([1, 0], n, d)])
      expect((['i32', 'bool', 'f32'] as const).map((d) => (make as (...xs: unknown[]) => codual.AnyExpr)(2, d).dtype)).toEqual(['i32', 'bool', 'f32']) // biome-ignore format: one row
  })
})

const n = 4099
const long = Int32Array.from({ length: n }, (_, i) => Math.imul(i + 1, 0x9e3779b1))
const running = (step: (a: number, b: number) => number): readonly number[] => {
  const ys = [long[0]!]
  for (let i = 1; i < n; i++) ys.push(step(ys[i - 1]!, long[i]!))
  return ys
}
describe.each(backends)('long arrays of integers: %s', (_, backend) => {
  const run = (f: (x: codual.AnyExpr) => unknown): readonly [string, readonly number[]] => {
    const y = (compile(f as never, backend) as unknown as (x: codual.Tensor) => codual.Tensor)(tensor(long))
    return [y.dtype, Array.from(y.data)]
  }
  const rowsOf: Readonly<Record<string, readonly [(x: codual.AnyExpr) => unknown, string, () => readonly number[]]>> = {
    sum: [cd.sum!, 'i32', () => [running((a, b) => (a + b) | 0).at(-1)!]],
    prod: [cd.prod!, 'i32', () => [running(Math.imul).at(-1)!]],
    cumsum: [cd.cumsum!, 'i32', () => running((a, b) => (a + b) | 0)],
    cumprod: [cd.cumprod!, 'i32', () => running(Math.imul)],
    cummax: [cd.cummax!, 'i32', () => running(Math.max)],
    max: [cd.max!, 'i32', () => [Math.max(...long)]],
    min: [cd.min!, 'i32', () => [Math.min(...long)]],
    argmax: [cd.argmax!, 'i32', () => [long.indexOf(Math.max(...long))]],
    sort: [cd.sort!, 'i32', () => Array.from(long.slice().sort())],
    mean: [cd.mean!, 'f64', () => [Number(Array.from(long, BigInt).reduce((a, b) => a + b)) / n]],
    square: [cd.square!, 'i32', () => Array.from(long, (x) => Math.imul(x, x))],
    'the Gram matrix': [(x) => cd.matmul!(cd.reshape!(x, [1, n]), cd.reshape!(x, [n, 1])), 'i32', () => [Array.from(long, (x) => Math.imul(x, x)).reduce((a, b) => (a + b) | 0)]], // biome-ignore format: one row
    'sorted booleans': [(x) => cd.sort!(cd.gt!(x, 16777217)), 'bool', () => Array.from(long, (x) => Number(x > 16777217)).sort()],
  }
  it.each(Object.keys(rowsOf))('%s', (name) => {
    const [f, dtype, want] = rowsOf[name]!
    expect(run(f)).toEqual([dtype, want()])
  })
})

describe('booleans', () => {
  const b = tensor([true, false, true])
  const shown = (x: unknown): unknown => evaluate(x as codual.AnyExpr).toArray()
  const tagOf = (f: () => unknown): string => {
    try {
      f()
      return 'nothing raised'
    } catch (e) {
      return isAdException(e) ? e.error._tag : String(e)
    }
  }
  it('stay booleans where they are picked, ordered or turned over', () => {
    expect(shown(cd.bitwiseNot!([true]))).toEqual([false])
    expect(shown(cd.bitwiseXor!([true, false], true))).toEqual([false, true])
    expect(shown(cd.maximum!(b, [[true], [false]]))).toEqual([[true, true, true], [true, false, true]]) // biome-ignore format: one row
    expect(shown(cd.sort!(b, { descending: true }))).toEqual([true, true, false])
    expect(shown(cd.segmentMax!(b, [0, 0, 2], 4))).toEqual([true, false, true, false])
    expect(shown(cd.segmentMin!(b, [0, 0, 2], 4))).toEqual([false, true, true, true])
    expect(shown(cd.max!(b, { where: [false, true, true], initial: false }))).toBe(true)
    expect(shown(cd.min!(tensor([true]), { where: [false], initial: true }))).toBe(true)
    expect(shown(cd.diff!(b))).toEqual([true, true])
    expect(shown(cd.diff!(b, { prepend: true }))).toEqual([false, true, true])
  })
  it('count as i32 beside plain numbers, which are never made booleans', () => {
    const names = 'add sub mul mod remainder fmod floorDivide maximum minimum fmax fmin eq ne lt le gt ge div pow clamp dot outer linear'
    for (const name of names.split(' ') as (keyof typeof operations)[])
      for (const plain of [2, [2, 3, -1]]) {
        const f = cd[name]!
        if (name === 'linear' && plain === 2) continue
        const [y, want] = [evaluate(f(b, plain)), evaluate(f(cd.cast!(b, 'i32'), plain))]
        expect([name, y.dtype, y.toArray()]).toEqual([name, want.dtype, want.toArray()])
      }
    for (const f of [() => cd.mul!(b, 2.5), () => cd.maximum!(b, 0.5), () => cd.gt!(b, 0.5), () => cd.sum!(b, { initial: 0.5 })])
      expect(tagOf(f)).toBe('DTypeMismatch')
    expect(shown(cd.div!(b, 0.5))).toEqual([2, 0, 2])
  })
  it('nothing but 0 and 1 goes among them', () => {
    for (const x of [2, 0.5, Number.NaN, -1]) {
      const ways = [
        () => cd.where!(b, b, x), () => cd.concat!([b, [x]]), () => cd.stack!([b, [0, 1, x]]), () => cd.set!(b, 0, x), () => cd.setAt!(b, [0], x), () => cd.pad!(b, 1, x),
        () => cd.putAlongAxis!(b, [0], x), () => cd.dynamicUpdateSlice!(b, [x], [0]), () => cd.max!(b, { initial: x }), () => cd.booleanMask!(b, b, { size: 3, fill: x }),
        () => cd.unique!(b, { size: 3, fill: x }), () => cd.toeplitz!(b, [x]), () => cd.piecewise!(b, [b], [x]), () => cd.diff!(b, { append: x }), () => cd.maxAt!(b, 0, x),
      ] // biome-ignore format: a list
      ways.forEach((way, k) => {
        expect([k, tagOf(way)]).toEqual([k, 'DTypeMismatch'])
      })
    }
    expect(tagOf(() => cd.set!(b, 0, tensor(3, [], 'i32')))).toBe('DTypeMismatch')
    expect(shown(cd.where!(b, b, 1))).toEqual([true, true, true])
    expect(shown(cd.full!([2], 3, 'bool'))).toEqual([true, true])
    expect(tensor([true, 2] as never).dtype).toBe('f64')
  })
  it('what fills places is held by an i32', () => {
    const k = tensor([3, 1, 3], [3], 'i32')
    for (const fill of [0.5, 2 ** 31, Number.NaN]) {
      expect(tagOf(() => cd.unique!(k, { size: 4, fill }))).toMatch(/DTypeMismatch|BadInput/)
      expect(tagOf(() => cd.booleanMask!(k, b, { size: 4, fill }))).toMatch(/DTypeMismatch|BadInput/)
      expect(tagOf(() => cd.compress!(b, k, { size: 4, fill }))).toMatch(/DTypeMismatch|BadInput/)
    }
  })
  it('item is a boolean', () => {
    const yes: boolean = tensor(true).item()
    const number: number = tensor([2147483647], [1], 'i32').item()
    expect([yes, number, tensor([false]).item(), evaluate(codual.gt(1, 2)).item()]).toEqual([true, 2147483647, false, false])
  })
})
