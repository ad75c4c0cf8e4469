/** Numbers and shapes that kernels get wrong, on lavapipe: NaN, infinities, -0; rank 0, empty axes, axes of length 1, long folds. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeCpu } from '../../../src/backends/cpu/index.js'
import { reference } from '../../../src/backends/reference/index.js'
import { makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import { metaOf, traceMeta } from '../../../src/core/functions/function.js'
import { aval } from '../../../src/core/graph/aval.js'
import { allocate, type TypedArray } from '../../../src/core/graph/ndarray.js'
import type { Program } from '../../../src/core/graph/program.js'
import type { DType } from '../../../src/core/types/dtype.js'
import * as cd from '../../../src/index.js'
import { findLane, openDevice, useLane } from './adapter.js'

// The functions with their types forgotten: shapes here are computed.
type E = cd.AnyExpr
type F = (...xs: readonly unknown[]) => E
const op = cd as unknown as { readonly [K in keyof typeof cd]: F }

interface Given {
  readonly shape: readonly number[]
  readonly dtype: Exclude<DType, 'f64'>
  readonly data: ArrayLike<number>
}
const f32 = (shape: readonly number[], data: ArrayLike<number>): Given => ({ shape, dtype: 'f32', data })
/** Numbers without a pattern, within 2 of the middle. */
const wave = (shape: readonly number[], k = 1.7, middle = 0): Given => {
  const n = shape.reduce((a, b) => a * b, 1)
  return f32(
    shape,
    Float32Array.from({ length: n }, (_, i) => middle + 2 * Math.sin(k * (i + 1) * (1 + (i % 7)))),
  )
}

const lane = findLane('lavapipe')
const oracle = reference()

const programOf = (f: unknown, given: readonly Given[], wide: boolean): Program =>
  traceMeta(
    metaOf(f as never),
    { _tag: 'Tuple', items: given.map(() => ({ _tag: 'Leaf' as const })) },
    given.map((g) => aval(g.shape, wide && g.dtype === 'f32' ? 'f64' : g.dtype)),
  )
const dataOf = (given: readonly Given[], wide: boolean): TypedArray[] =>
  given.map((g) => {
    const data = allocate(wide && g.dtype === 'f32' ? 'f64' : g.dtype, g.data.length)
    data.set(g.data as never)
    return data
  })
const onDevice = async (backend: WebGpuBackend, f: unknown, given: readonly Given[]): Promise<readonly TypedArray[]> => {
  const x = await backend.prepare(programOf(f, given, false))
  const got = (await x.run(dataOf(given, false))) as readonly TypedArray[]
  x.dispose()
  return got
}
const onReference = (f: unknown, given: readonly Given[], wide: boolean): readonly TypedArray[] =>
  oracle.prepare(programOf(f, given, wide)).run(dataOf(given, wide)) as readonly TypedArray[]

/** The same bits but for NaN's: signs of zero count. */
const same = (got: readonly TypedArray[], want: readonly TypedArray[]): void => {
  expect(got.map((g) => g.length)).toEqual(want.map((w) => w.length))
  want.forEach((w, k) => {
    w.forEach((y, i) => {
      if (!Object.is(got[k]![i], y)) expect.fail(`result ${k}, entry ${i}: ${got[k]![i]}, the reference says ${y}`)
    })
  })
}
/** Within `eps` of f32 of the largest entry of each result. */
const close = (got: readonly TypedArray[], want: readonly TypedArray[], eps: number): void => {
  expect(got.map((g) => g.length)).toEqual(want.map((w) => w.length))
  want.forEach((w, k) => {
    let top = 1
    for (const y of w) top = Math.max(top, Math.abs(y))
    w.forEach((y, i) => {
      const off = Math.abs(got[k]![i]! - y) / (top * 2 ** -23)
      if (!(off <= eps)) expect.fail(`result ${k}, entry ${i}: ${got[k]![i]}, the reference says ${y}: ${off.toFixed(1)} eps`)
    })
  })
}

const { NaN: nan, POSITIVE_INFINITY: inf } = Number
const odd = [nan, inf, -inf, 0, -0, 1, -1, 2.5]
const x8 = f32([8], odd)
const pairs = [f32([8, 1], odd), f32([1, 8], odd)]
/** Rows with one odd number each, at the start, in the middle and at the end; and a row of each alone. */
const oddRows = f32(
  [15, 5],
  [nan, inf, -inf, -0, 0].flatMap((v) => [v, 1, 2, 3, 4, 1, -2, v, -3, 4, -1, -2, -3, -4, v]),
)
const alone = f32(
  [5, 3],
  [nan, inf, -inf, -0, 0].flatMap((v) => [v, v, v]),
)
const c8: Given = { shape: [8], dtype: 'bool', data: [0, 1, 1, 0, 1, 0, 1, 0] }

/** What must come out bit for bit. */
const exact: Readonly<Record<string, readonly [f: F, given: readonly Given[]]>> = {
  maximum: [(a, b) => op.maximum(a, b), pairs],
  minimum: [(a, b) => op.minimum(a, b), pairs],
  'max along rows': [(a) => op.max(a, { axis: 1 }), [oddRows]],
  'max of all': [(a) => op.max(a), [oddRows]],
  'max of one number many times': [(a) => op.max(a, { axis: 1 }), [alone]],
  'min along rows': [(a) => op.min(a, { axis: 1 }), [oddRows]],
  'min of all': [(a) => op.min(a), [oddRows]],
  'min of one number many times': [(a) => op.min(a, { axis: 1 }), [alone]],
  argmax: [(a) => op.argmax(a, { axis: 1 }), [oddRows]],
  argmin: [(a) => op.argmin(a, { axis: 1 }), [oddRows]],
  where: [(c, a) => op.where(c, a, op.neg(a)), [c8, x8]],
  'where a number is not NaN': [(a) => op.where(op.isnan(a), 0, a), [x8]],
  relu: [(a) => op.relu(a), [x8]],
  clamp: [(a) => op.clamp(a, -0.5, 1.5), [x8]],
  'clamp by NaN': [(a, b) => op.clamp(a, b, 1), pairs],
  abs: [(a) => op.abs(a), [x8]],
  neg: [(a) => op.neg(a), [x8]],
  sign: [(a) => op.sign(a), [x8]],
  sqrt: [(a) => op.sqrt(a), [x8]],
  round: [(a) => op.round(a), [x8]],
  square: [(a) => op.square(a), [x8]],
  add: [(a, b) => op.add(a, b), pairs],
  sub: [(a, b) => op.sub(a, b), pairs],
  mul: [(a, b) => op.mul(a, b), pairs],
  'mul by 0': [(a) => op.mul(a, 0), [x8]],
  div: [(a, b) => op.div(a, b), pairs],
  'add 0': [(a) => op.add(a, 0), [x8]],
  'sub 0': [(a) => op.sub(a, 0), [x8]],
  'a number less itself': [(a) => op.sub(a, a), [x8]],
  'a number over itself': [(a) => op.div(a, a), [x8]],
  'less than': [(a, b) => op.lt(a, b), pairs],
  equal: [(a, b) => op.eq(a, b), pairs],
  'not equal': [(a, b) => op.ne(a, b), pairs],
  isnan: [(a) => op.isnan(a), [x8]],
  isfinite: [(a) => op.isfinite(a), [x8]],
  sort: [(a) => op.sort(a, { axis: 1 }), [oddRows]],
  'sort descending': [(a) => op.sort(a, { axis: 1, descending: true }), [oddRows]],
  argsort: [(a) => op.argsort(a, { axis: 1 }), [oddRows]],
  cumsum: [(a) => op.cumsum(a, { axis: 1 }), [oddRows]],
  cumprod: [(a) => op.cumprod(a, { axis: 1 }), [oddRows]],
  cummax: [(a) => op.cummax(a, { axis: 1 }), [oddRows]],
  'cummin from the end': [(a) => op.cummin(a, { axis: 1, reverse: true }), [oddRows]],
  segmentMax: [(a, i) => op.segmentMax(a, i, 3), [x8, { shape: [8], dtype: 'i32', data: [0, 1, 0, 2, 1, 0, 2, 2] }]],
  segmentMin: [(a, i) => op.segmentMin(a, i, 3), [x8, { shape: [8], dtype: 'i32', data: [0, 1, 0, 2, 1, 0, 2, 2] }]],
  'sum along rows': [(a) => op.sum(a, { axis: 1 }), [oddRows]],
  'sum of one number many times': [(a) => op.sum(a, { axis: 1 }), [alone]],
  'prod along rows': [(a) => op.prod(a, { axis: 1 }), [oddRows]],
  matmul: [(a, b) => op.matmul(a, b), [oddRows, f32([5, 2], [1, 0, 2, 0, 3, 0, 4, 0, 5, 0])]],
  maxPool: [(a) => op.maxPool(a, { window: [2, 2], stride: [1, 1], padding: 1 }), [f32([1, 1, 5, 15], oddRows.data)]],
  'a gather of each': [(a, i) => op.gather(a, i), [x8, { shape: [6], dtype: 'i32', data: [7, 0, 1, 2, 3, 4] }]],
  'padding with NaN': [(a) => op.pad(a, [[1, 2]], nan), [x8]],
  'concat and transpose': [(a, b) => op.concat([op.transpose(op.broadcastTo(a, [8, 8])), op.broadcastTo(a, [8, 8]), b]), [...pairs]],
  'the largest of a view': [(a) => op.max(op.transpose(op.slice(a, [0, 1], [15, 4])), { axis: 1 }), [oddRows]],
}

const gradientOf = (f: F): unknown => (cd.valueAndGrad as unknown as (f: unknown) => unknown)(f)
/** Cotangents where a choice was made: what was not chosen adds nothing, NaN or not. */
const chosen: Readonly<Record<string, readonly [f: F, given: readonly Given[]]>> = {
  'where, NaN on the other side': [(a) => op.sum(op.where(op.gt(a, 0.5), op.mul(a, 2), 0)), [x8]],
  'relu, infinite': [(a) => op.sum(op.relu(a)), [f32([4], [inf, -inf, -0, 1])]],
  'max along rows with ties': [(a) => op.sum(op.max(a, { axis: 1 })), [f32([2, 4], [1, 3, 3, -1, 0, -0, -1, 0])]],
  'sort with ties': [(a, b) => op.sum(op.mul(op.sort(a), b)), [f32([6], [3, -1, 3, 0, -0, 7]), f32([6], [1, 2, 3, 4, 5, 6])]],
  'clamp at its bounds': [(a) => op.sum(op.clamp(a, -1, 1)), [f32([5], [-1, 1, inf, -inf, 0.5])]],
}

const empty = wave([3, 0])
/** Shapes at the edges: results agree within a few eps. */
const shapes: Readonly<Record<string, readonly [f: F, given: readonly Given[]]>> = {
  'rank 0 throughout': [(a, b) => op.mul(op.tanh(a), op.add(b, 1)), [wave([]), wave([], 0.3)]],
  'sum of rank 0': [(a) => op.sum(a), [wave([])]],
  'reduce of rank 0': [(a) => op.max(a), [wave([])]],
  'sum over an empty axis is 0': [(a) => op.sum(a, { axis: 1 }), [empty]],
  'prod over an empty axis is 1': [(a) => op.prod(a, { axis: 1 }), [empty]],
  'sum of nothing at all': [(a) => op.sum(a), [empty]],
  'a result without elements': [(a) => op.sum(op.tanh(a), { axis: 0 }), [empty]],
  'a product over nothing': [(a, b) => op.matmul(a, b), [empty, wave([0, 4])]],
  'a product without results': [(a, b) => op.matmul(a, b), [wave([0, 3]), wave([3, 4])]],
  'concat with an empty part': [(a, b) => op.concat([a, b], { axis: 1 }), [empty, wave([3, 2])]],
  'scan over nothing': [(a) => op.cumsum(a, { axis: 1 }), [empty]],
  'sort of nothing': [(a) => op.sort(a, { axis: 1 }), [empty]],
  'axes of length 1 on both sides': [(a, b) => op.sub(a, op.exp(b)), [wave([3, 1, 4, 1]), wave([1, 2, 1, 5])]],
  'a sum over axes of length 1': [(a) => op.sum(a, { axis: [0, 2] }), [wave([1, 3, 1, 2])]],
  'a row against a column, folded': [(a, b) => op.sum(op.mul(a, b), { axis: 0 }), [wave([7, 1]), wave([1, 5])]],
  'an outer axis of a cube': [(a) => op.sum(a, { axis: 0 }), [wave([5, 3, 2])]],
  'a middle axis of a cube': [(a) => op.sum(op.square(a), { axis: 1 }), [wave([5, 3, 2])]],
  'both outer axes, transposed': [(a) => op.sum(op.transpose(a, [2, 0, 1]), { axis: [0, 2] }), [wave([5, 3, 2])]],
  'a strided slice, summed': [(a) => op.sum(op.slice(a, [1, 0], [7, 9], [2, 3]), { axis: 1 }), [wave([8, 9])]],
  'a slice of a transpose of a broadcast': [(a) => op.tanh(op.slice(op.transpose(op.broadcastTo(a, [4, 6])), [1, 1], [5, 4])), [wave([6])]],
  'a flip, scanned': [(a) => op.cumsum(op.flip(a), { axis: 0 }), [wave([6, 5])]],
  'rank 6': [(a, b) => op.sum(op.add(a, b), { axis: [1, 4] }), [wave([2, 1, 3, 1, 2, 2]), wave([1, 2, 1, 2, 1, 2])]],
  'products that are not square': [(a, b) => op.matmul(op.tanh(a), op.transpose(b)), [wave([7, 33]), wave([65, 33])]],
  'a row by a matrix by a column': [(a, b, c) => op.matmul(op.matmul(a, b), c), [wave([1, 37]), wave([37, 5]), wave([5, 1])]],
  'batched products that broadcast': [(a, b) => op.matmul(a, b), [wave([2, 1, 3, 5]), wave([4, 5, 2])]],
}

/** Folds that are long enough for parts, for workgroups, and for both passes; along each axis. Terms do not cancel. */
const long: Readonly<Record<string, readonly [f: F, given: readonly Given[]]>> = {
  'sum of all': [(a) => op.sum(a), [wave([301, 97], 1.7, 2)]],
  'sum of rows': [(a) => op.sum(a, { axis: 1 }), [wave([70, 1100], 1.7, 2)]],
  'sum of columns': [(a) => op.sum(a, { axis: 0 }), [wave([1100, 70], 1.7, 2)]],
  'sum of a middle axis': [(a) => op.sum(a, { axis: 1 }), [wave([5, 700, 3], 1.7, 2)]],
  'max and min of rows, in one loop': [(a) => op.sub(op.max(a, { axis: 1 }), op.min(a, { axis: 1 })), [wave([70, 1100], 1.7, 2)]],
  'sums of two axes of one array': [(a) => op.add(op.sum(a, { axis: 1 }), op.sum(a, { axis: 0 })), [wave([600, 600], 1.7, 2)]],
  'a fold beside its points': [(a) => op.div(op.exp(a), op.sum(op.exp(a), { axis: 1, keepdims: true })), [wave([66, 640], 1.7, 2)]],
  'a running maximum in chunks': [(a) => op.cummax(a), [wave([9000], 1.7)]],
  'a running minimum in chunks, from the end': [(a) => op.cummin(a, { reverse: true }), [wave([9000], 1.7)]],
  'maxima of many segments': [
    (a, b) => op.maximum(op.segmentMax(a, op.cast(op.mul(b, 3), 'i32'), 40), -9),
    [wave([3000, 2], 1.7), wave([3000], 9, 5)],
  ],
  'products of segments': [(a, b) => op.segmentProd(a, op.cast(b, 'i32'), 300), [wave([600, 3], 1.7, 2), wave([600], 100, 100)]],
  'a quantile of columns': [(a) => op.quantile(a, 0.3, { axis: 0 }), [wave([99, 40], 1.7)]],
  'a line through points': [(a, x, y) => op.interp(a, x, y), [wave([700], 1.7), f32([3], [-1, 0, 0.5]), f32([3], [3, 0, 2])]],
  'a mean of squares, pulled back': [(a, b) => op.mean(op.square(op.sub(op.matmul(a, b), 1))), [wave([40, 90]), wave([90, 30])]],
}
const integers = (shape: readonly number[]): Given => {
  const n = shape.reduce((a, b) => a * b, 1)
  return { shape, dtype: 'i32', data: Int32Array.from({ length: n }, (_, i) => Math.imul(i + 1, 2654435761)) }
}
const bools = (shape: readonly number[], every: number): Given => {
  const n = shape.reduce((a, b) => a * b, 1)
  return { shape, dtype: 'bool', data: Uint8Array.from({ length: n }, (_, i) => Number(i % every === 0)) }
}
const folds: Readonly<Record<string, readonly [f: F, given: readonly Given[]]>> = Object.fromEntries(
  ([[], [0], [1]] as const).flatMap((axes) =>
    (['sum', 'prod', 'max', 'min'] as const).flatMap((name) => {
      const over = axes.length === 0 ? {} : { axis: axes[0] }
      const of: F = (a) => op[name](a, over)
      const along = axes.length === 0 ? 'all' : `axis ${axes[0]}`
      return [
        [`${name} of i32 along ${along}`, [of, [integers([130, 650])]]],
        ...(name === 'max' || name === 'min'
          ? [
              [`${name} of bool along ${along}`, [of, [bools([130, 650], 1301)]]],
              [`${name} of bool that are all true along ${along}`, [of, [bools([130, 650], 1)]]],
            ]
          : [[`${name} of bool along ${along}`, [of, [bools([130, 650], 3)]]]]),
      ] as [string, [F, Given[]]][]
    }),
  ),
)

/** The same driver under the name of a GPU: code for workgroups with barriers and for many invocations. */
const disguised = (device: GPUDevice): GPUDevice =>
  new Proxy(device, {
    get: (target, key) => {
      if (key === 'adapterInfo') return { vendor: 'none', architecture: '', device: '', description: 'a GPU by name' }
      const value = Reflect.get(target, key, target) as unknown
      return typeof value === 'function' ? value.bind(target) : value
    },
  })

describe.skipIf(lane === undefined)('cases on lavapipe', () => {
  const backends = {} as Record<'as it is' | 'as a GPU', WebGpuBackend>
  let device: GPUDevice
  beforeAll(async () => {
    useLane(lane!)
    device = await openDevice(lane!)
    backends['as it is'] = makeWebGpu({ dawn: ['backend=vulkan'], verify: true, poison: true })
    backends['as a GPU'] = makeWebGpu({ device: disguised(device), verify: true, poison: true })
    expect(await backends['as a GPU'].adapter()).toContain('a GPU by name')
  })
  afterAll(async () => {
    for (const b of Object.values(backends)) b.dispose()
    device.destroy()
  })

  describe('NaN, infinities and -0, bit for bit', () => {
    for (const [name, [f, given]] of Object.entries(exact))
      it(name, async () => same(await onDevice(backends['as it is'], f, given), onReference(f, given, false)))
  })
  describe('cotangents of choices, bit for bit', () => {
    for (const [name, [f, given]] of Object.entries(chosen))
      it(name, async () => {
        const g = gradientOf(f)
        same(await onDevice(backends['as it is'], g, given), onReference(g, given, false))
      })
  })
  for (const as of ['as it is', 'as a GPU'] as const)
    describe(`the driver ${as}`, () => {
      for (const [name, [f, given]] of Object.entries(shapes))
        it(name, async () => close(await onDevice(backends[as], f, given), onReference(f, given, true), 8))
      for (const [name, [f, given]] of Object.entries(shapes))
        it(`${name}: cotangents`, async () => {
          const g = gradientOf((...xs) => op.sum(op.square(f(...xs))))
          close(await onDevice(backends[as], g, given), onReference(g, given, true), 16)
        })
      // Sums in blocks of 64: the error grows with the length of a block and with their number, not with their product.
      for (const [name, [f, given]] of Object.entries(long))
        it(`long: ${name}`, async () => close(await onDevice(backends[as], f, given), onReference(f, given, true), 32))
      for (const [name, [f, given]] of Object.entries(folds))
        it(`long: ${name}`, async () => same(await onDevice(backends[as], f, given), onReference(f, given, false)))
    })

  it('runs programs of very different sizes in turn, each on what the others left', async () => {
    const backend = makeWebGpu({ dawn: ['backend=vulkan'] })
    const fill = (n: number): readonly [F, readonly Given[]] => [(a) => op.broadcastTo(a, [n]), [f32([], [nan])]]
    const [small, given] = [
      (a: unknown, b: unknown) => op.sum(op.matmul(op.tanh(a), b), { axis: 0 }),
      [wave([9, 7]), wave([7, 5])],
    ] as const
    const want = makeCpu()
      .prepare(programOf(small, given, false))
      .run(dataOf(given, false)) as readonly TypedArray[]
    for (const n of [1 << 18, 1000, 1 << 16]) {
      for (const y of await onDevice(backend, ...fill(n))) expect(y.every(Number.isNaN)).toBe(true)
      close(await onDevice(backend, small, given), want, 32) // 63 terms below 1, each a tanh within 1.3 units
    }
    backend.dispose()
  })
})
