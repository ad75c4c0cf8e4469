/** Convolutions and pools on lavapipe against the reference: every sample of their declarations, and shapes that try each edge. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reference } from '../../../src/backends/reference/index.js'
import { makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import type { WebGpuKernelTable } from '../../../src/backends/webgpu/kernel.js'
import { nnKernels } from '../../../src/backends/webgpu/nn.js'
import { whole } from '../../../src/core/extend/kernel-table.js'
import { aval, isFloat } from '../../../src/core/graph/aval.js'
import { applyAny, input } from '../../../src/core/graph/expr.js'
import { allocate, type TypedArray } from '../../../src/core/graph/ndarray.js'
import type { AnyPrimitive, Sample, SampleArg } from '../../../src/core/graph/primitive.js'
import { makeProgram, type Program } from '../../../src/core/graph/program.js'
import { nn } from '../../../src/core/ops/families.js'
import { findLane, useLane } from './adapter.js'

const lane = findLane('lavapipe')
const oracle = reference()

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

/** One call of a primitive as a program. */
const programOf = (prim: AnyPrimitive, sample: Sample): { readonly program: Program; readonly inputs: readonly TypedArray[] } => {
  const draw = random(5)
  const args = sample.args.map((a) => {
    const x = input(aval(a.shape, a.dtype ?? 'f32'))
    const data = allocate(x.dtype, x.aval.size)
    for (let j = 0; j < data.length; j++) data[j] = a.values?.[j] ?? 2 * draw() - 1
    return { x, data }
  })
  const outputs = applyAny(
    prim,
    args.map((a) => a.x),
    sample.params,
  )
  const tree = (n: number) => ({ _tag: 'Tuple' as const, items: Array.from({ length: n }, () => ({ _tag: 'Leaf' as const })) })
  return {
    program: makeProgram({
      name: prim.name,
      inputs: args.map((a) => a.x),
      inputTree: tree(args.length),
      outputs,
      outputTree: tree(outputs.length),
    }),
    inputs: args.map((a) => a.data),
  }
}

type Conv = { readonly x: readonly number[]; readonly k: readonly number[] } & Partial<
  Record<'stride' | 'padding' | 'dilation', readonly number[]>
> & {
    readonly groups?: number
  }
/** Each edge once: sizes that are no multiple of a tile, every parameter on one axis and on both, sums long enough for parts. */
const convs: Readonly<Record<string, Conv>> = {
  'a LeNet layer': { x: [3, 6, 14, 14], k: [16, 6, 5, 5] },
  'same padding': { x: [2, 1, 28, 28], k: [6, 1, 5, 5], padding: [2, 2, 2, 2] },
  'a window of one': { x: [2, 5, 4, 7], k: [9, 5, 1, 1] },
  'a window of one with a stride': { x: [2, 3, 5, 7], k: [2, 3, 1, 1], stride: [2, 3] },
  'the window is the plane': { x: [3, 2, 4, 5], k: [4, 2, 4, 5] },
  'stride 2 with padding': { x: [2, 3, 9, 8], k: [5, 3, 3, 3], stride: [2, 2], padding: [1, 1, 1, 1] },
  'stride larger than the window': { x: [1, 2, 9, 11], k: [3, 2, 2, 2], stride: [3, 4] },
  'stride that leaves columns over': { x: [1, 1, 8, 9], k: [2, 1, 3, 2], stride: [3, 2] },
  dilation: { x: [2, 2, 9, 10], k: [3, 2, 3, 2], dilation: [2, 3] },
  'stride and dilation with a common divisor': {
    x: [1, 2, 13, 14],
    k: [2, 2, 3, 3],
    stride: [2, 4],
    dilation: [4, 2],
    padding: [3, 2, 1, 4],
  },
  'stride and dilation without': { x: [1, 2, 13, 14], k: [2, 2, 3, 3], stride: [3, 2], dilation: [2, 3], padding: [0, 2, 3, 0] },
  'padding wider than the window': { x: [1, 2, 3, 4], k: [2, 2, 2, 2], padding: [5, 0, 1, 6] },
  'uneven padding': { x: [2, 1, 4, 6], k: [2, 1, 3, 3], padding: [0, 2, 1, 0] },
  'two groups': { x: [2, 6, 5, 6], k: [4, 3, 3, 3], groups: 2, padding: [1, 1, 1, 1] },
  'depthwise, stride 2': { x: [2, 5, 8, 8], k: [10, 1, 3, 3], groups: 5, stride: [2, 2] },
  'a wide window': { x: [1, 2, 12, 20], k: [3, 2, 3, 11], padding: [1, 1, 5, 5] },
  'a wide window with stride and dilation': { x: [1, 2, 4, 40], k: [2, 2, 2, 9], stride: [1, 2], dilation: [1, 3], padding: [0, 0, 2, 3] },
  'a line': { x: [2, 3, 1, 33], k: [4, 3, 1, 4], padding: [0, 0, 1, 2] },
  'more rows than one part takes': { x: [70, 1, 12, 11], k: [2, 1, 2, 2] },
  'the largest tiles': { x: [12, 3, 14, 15], k: [18, 3, 5, 5] },
  'a small window over many channels': { x: [2, 9, 6, 7], k: [10, 9, 3, 3], padding: [1, 1, 1, 1] },
  'no batch': { x: [0, 2, 4, 4], k: [3, 2, 2, 2] },
  'no channels': { x: [2, 0, 4, 4], k: [3, 0, 2, 2] },
  'no results': { x: [2, 2, 4, 4], k: [0, 2, 2, 2] },
}
const convSamples = (c: Conv): readonly (readonly [AnyPrimitive, Sample])[] => {
  const { x, k, stride = [1, 1], padding = [0, 0, 0, 0], dilation = [1, 1], groups = 1 } = c
  const params = { stride, padding, dilation, groups }
  const y = nn.conv.shapeRule([aval(x, 'f32'), aval(k, 'f32')], params) as ReturnType<typeof aval>
  const arg = (shape: readonly number[]): SampleArg => ({ shape })
  const [xs, ks, ys] = [arg(x), arg(k), arg(y.shape)]
  const [byInput, byKernel] = [
    { ...params, size: x.slice(2) },
    { ...params, size: k.slice(2) },
  ]
  return [
    [nn.conv, { args: [xs, ks], params }],
    [nn.convInput, { args: [ys, ks], params: byInput }],
    [nn.convKernel, { args: [xs, ys], params: byKernel }],
    [nn.convInputAdd, { args: [xs, ys, ks], params: byInput }],
    [nn.convKernelAdd, { args: [ks, xs, ys], params: byKernel }],
  ] as unknown as readonly (readonly [AnyPrimitive, Sample])[]
}

interface PoolCase {
  readonly x: readonly number[]
  readonly window: readonly number[]
  readonly stride: readonly number[]
  readonly padding?: readonly number[]
  readonly values?: readonly number[]
}
const [nan, inf] = [Number.NaN, Number.POSITIVE_INFINITY]
const pools: Readonly<Record<string, PoolCase>> = {
  'a LeNet pool': { x: [3, 6, 24, 24], window: [2, 2], stride: [2, 2] },
  'rows and columns left over': { x: [1, 2, 7, 9], window: [2, 3], stride: [2, 3] },
  'windows that overlap': { x: [2, 2, 6, 7], window: [3, 3], stride: [1, 2] },
  'windows with gaps': { x: [1, 2, 9, 9], window: [2, 1], stride: [3, 2] },
  padding: { x: [2, 1, 5, 6], window: [3, 2], stride: [2, 1], padding: [2, 1, 0, 1] },
  'a large window': { x: [1, 2, 9, 8], window: [5, 6], stride: [1, 1] },
  'a large window with padding': { x: [1, 2, 9, 8], window: [7, 5], stride: [2, 3], padding: [3, 2, 4, 1] },
  'no batch': { x: [0, 2, 4, 4], window: [2, 2], stride: [2, 2] },
  'NaN, first, last and twice': {
    x: [1, 1, 2, 8],
    window: [2, 2],
    stride: [2, 2],
    values: [nan, 1, 2, 3, 1, nan, -inf, -inf, 2, inf, 1, nan, nan, 9, -inf, -inf],
  },
  'NaN with padding and overlap': {
    x: [1, 1, 3, 3],
    window: [2, 2],
    stride: [1, 1],
    padding: [1, 1, 1, 1],
    values: [1, 2, 3, 4, nan, 6, 7, 8, 9],
  },
  'ties and zeros of both signs': {
    x: [1, 1, 2, 8],
    window: [2, 2],
    stride: [2, 2],
    values: [3, 3, -0, 0, 0, -0, -2, -2, 3, 3, 0, -0, 0, 0, -2, -2],
  },
  'negative numbers and infinities': { x: [1, 1, 2, 4], window: [2, 2], stride: [2, 2], values: [-5, -3, -inf, -inf, -4, -9, -inf, inf] },
}
const poolSamples = (c: PoolCase): readonly (readonly [AnyPrimitive, Sample])[] => {
  const { x, window, stride, padding = [0, 0, 0, 0], values } = c
  const params = { window, stride, padding }
  const [y] = nn.maxPool.shapeRule([aval(x, 'f32')], params) as readonly ReturnType<typeof aval>[]
  const ys = { shape: y!.shape }
  const xs = { shape: x, ...(values !== undefined && { values }) }
  const { program, inputs } = programOf(nn.maxPool as unknown as AnyPrimitive, { args: [xs], params })
  const index: SampleArg = { shape: y!.shape, dtype: 'i32', values: [...(oracle.prepare(program).run(inputs)[1] as Int32Array)] }
  const back = { ...params, size: x.slice(2) }
  return [
    [nn.maxPool, { args: [xs], params }],
    [nn.unpool, { args: [ys, index], params: back }],
    [nn.poolGather, { args: [xs, index], params }],
    [nn.avgPool, { args: [xs], params }],
    [nn.avgPool, { args: [xs], params: { ...params, countIncludePad: true } }],
    [nn.avgPoolInput, { args: [ys], params: back }],
    [nn.avgPoolInput, { args: [ys], params: { ...back, countIncludePad: true } }],
  ] as unknown as readonly (readonly [AnyPrimitive, Sample])[]
}

/** The primitives again, with the dispatches of a device that has fast workgroups and is full with 64 invocations. */
const onDevice = new Map(
  Object.entries(nn).map(([name, prim]) => [
    prim as unknown as AnyPrimitive,
    { ...prim, name: `${name}OnDevice` } as unknown as AnyPrimitive,
  ]),
)
const deviceKernels: WebGpuKernelTable = new Map(
  Object.entries(nn).map(([name, prim]) => {
    const facet = nnKernels[name as keyof typeof nn]
    if (facet.kind !== 'whole') throw new Error(`${name} has no shader`)
    return [
      onDevice.get(prim as unknown as AnyPrimitive)!,
      whole((k, operands, machine) => facet.make(k, operands, { ...machine, lanes: 256 })),
    ]
  }),
)

describe.skipIf(lane === undefined)('convolution and pooling on lavapipe', () => {
  let gpu: WebGpuBackend
  beforeAll(() => {
    useLane(lane!)
    // Memory starts as NaN, so that an element that no invocation writes shows.
    gpu = makeWebGpu({ verify: true, poison: true, kernels: deviceKernels, dawn: ['backend=vulkan'] })
  })
  afterAll(() => gpu.dispose())

  /** The device alone gives what the reference does; sums in f32 differ by a few units of the last place of their largest terms. */
  const agree = async (prim: AnyPrimitive, sample: Sample, what: string): Promise<void> => {
    const { program, inputs } = programOf(prim, sample)
    const want = oracle.prepare(program).run(inputs) as readonly TypedArray[]
    const executable = await gpu.prepare(program)
    const before = gpu.stats()
    const got = (await executable.run(inputs)) as readonly TypedArray[]
    expect(gpu.stats().submits - before.submits, `${what}: one submit`).toBe(1)
    want.forEach((w, k) => {
      let top = 1
      for (const v of w) if (Number.isFinite(v)) top = Math.max(top, Math.abs(v))
      const float = isFloat(program.outputs[k]!.dtype)
      expect(got[k]!.length, what).toBe(w.length)
      w.forEach((v, i) => {
        const near = Object.is(got[k]![i], v) || (float && Math.abs(got[k]![i]! - v) <= 64 * 2 ** -23 * top)
        if (!near) expect.fail(`${what}, result ${k}, entry ${i}: ${got[k]![i]}, not ${v}`)
      })
    })
    executable.dispose?.()
  }

  for (const prim of Object.values(nn) as unknown as AnyPrimitive[])
    it(`${prim.name}: the samples of its declaration`, async () => {
      expect(prim.samples.length).toBeGreaterThan(0)
      for (const [i, sample] of prim.samples.entries()) await agree(prim, sample, `sample ${i}`)
    }, 60_000)
  for (const [name, c] of Object.entries(convs))
    it(`convolution: ${name}`, async () => {
      for (const [prim, sample] of convSamples(c)) await agree(prim, sample, prim.name)
    }, 60_000)
  for (const [name, c] of Object.entries(pools))
    it(`pooling: ${name}`, async () => {
      for (const [prim, sample] of poolSamples(c)) await agree(prim, sample, `${prim.name} ${JSON.stringify(sample.params)}`)
    }, 60_000)
  const few = ['the largest tiles', 'stride 2 with padding', 'two groups', 'a wide window', 'more rows than one part takes'] as const
  for (const name of few)
    it(`convolution as on a device with fast workgroups: ${name}`, async () => {
      for (const [prim, sample] of convSamples(convs[name]!)) await agree(onDevice.get(prim)!, sample, prim.name)
    }, 60_000)
  it('pooling as on a device with fast workgroups', async () => {
    for (const [prim, sample] of poolSamples(pools.padding!)) await agree(onDevice.get(prim)!, sample, prim.name)
  }, 60_000)
})
