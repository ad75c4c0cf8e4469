/** Storage as f16: rounding, every kernel that reads and writes it, what keeps f32, what it saves, and where it is refused. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeWebGpu, type WebGpuBackend } from '../../../src/backends/webgpu/index.js'
import type { WgslScalar } from '../../../src/backends/webgpu/kernel.js'
import { fromF16, toF16 } from '../../../src/backends/webgpu/words.js'
import type { AdError } from '../../../src/index.js'
import * as cd from '../../../src/index.js'
import { sample } from '../../depth.js'
import { inputsOf } from '../../golden/data.js'
import { programs } from '../../golden/programs.js'
import { spec, type Workload, type WorkloadId } from '../../golden/spec.js'
import { dawnOptions, findLane, openDevice, openGpu } from './adapter.js'
import { evaluateJobs } from './evaluate.js'

type Loose = (...args: readonly unknown[]) => unknown
type X = cd.AnyExpr
type Compiled = { (...args: readonly unknown[]): Promise<unknown>; explain: () => Promise<cd.Explanation>; dispose: () => Promise<void> }
const compile = cd.compile as unknown as (f: unknown, b: unknown) => Compiled
const op = cd as unknown as { readonly [name: string]: (...args: readonly unknown[]) => X }

const lane = findLane('lavapipe')

/** The nearest f16, by its definition: the even one of two, Infinity from 65520 on, steps of 2^-24 below 2^-14. */
const half = (x: number): number => {
  const a = Math.abs(x)
  if (!(a > 0) || a === Number.POSITIVE_INFINITY) return x
  if (a >= 65520) return Math.sign(x) * Number.POSITIVE_INFINITY
  let step = 2 ** -24
  while (a >= 2048 * step) step *= 2
  const n = a / step
  const down = Math.floor(n)
  const up = n - down > 0.5 || (n - down === 0.5 && down % 2 === 1)
  return Math.sign(x) * (down + (up ? 1 : 0)) * step
}

const errorOf = async (f: () => unknown): Promise<AdError> => {
  try {
    await f()
  } catch (e) {
    if (cd.isAdException(e)) return e.error
    throw e
  }
  throw new Error('nothing was raised')
}

/** Small integers: f16 holds them and their sums here exactly, so that storage changes nothing. */
const integers = (shape: readonly number[], k: number): cd.Tensor => {
  const n = shape.reduce((a, b) => a * b, 1)
  return cd.tensor(
    Float32Array.from({ length: n }, (_, i) => ((i * k + (i >> 3)) % 7) - 3),
    [...shape],
  ) as unknown as cd.Tensor
}
/** What a plan's steps do with f16: 'gemm reads', 'loop writes', ... */
const uses = (e: cd.Explanation): readonly string[] => {
  const some = (names: readonly string[]): boolean => names.some((n) => n.endsWith('of f16)'))
  const of = (s: cd.Explanation['steps'][number]): string => (s.kind === 'opaque' ? s.ops[0]! : s.kind)
  return [
    ...new Set(e.steps.flatMap((s) => [...(some(s.reads) ? [`${of(s)} reads`] : []), ...(some(s.writes) ? [`${of(s)} writes`] : [])])),
  ].sort()
}

const grad = (f: (...x: readonly X[]) => X, wrt: readonly number[]) =>
  (cd.grad as unknown as Loose)(f, { wrt }) as (...x: readonly X[]) => unknown
const { add, matmul, maximum, mul, neg, relu, sum, transpose, conv, maxPool, avgPool, concat, flip } = op as Record<
  string,
  (...x: readonly unknown[]) => X
>
/** A product whose result is stored: what stands before and after it is another kernel. */
const stored = (x: unknown): X =>
  matmul!(x, [
    [1, 0],
    [0, 1],
  ])

/** Programs whose kernels stand between stored values, with what their plans must do with f16 at least. */
const cases: readonly {
  readonly name: string
  readonly f: (...x: readonly X[]) => unknown
  readonly shapes: readonly (readonly number[])[]
  readonly uses: readonly string[]
}[] = [
  {
    name: 'products of small matrices',
    f: (a, b, c) => matmul!(matmul!(a, b), c),
    shapes: [
      [5, 7],
      [7, 3],
      [3, 4],
    ],
    uses: ['gemm reads', 'gemm writes'],
  },
  {
    name: 'products of large ones, in batches, transposed and not',
    f: (a, b) => {
      const y = matmul!(a, b)
      return [matmul!(relu!(y), transpose!(maximum!(y, -2), [0, 2, 1])), matmul!(transpose!(y, [0, 2, 1]), y)]
    },
    shapes: [
      [2, 70, 3],
      [3, 67],
    ],
    uses: ['gemm reads', 'gemm writes', 'loop reads', 'loop writes'],
  },
  {
    name: 'a product of a long sum, in parts',
    f: (a, b) => {
      const y = matmul!(a, b)
      return [matmul!(relu!(y), transpose!(b)), matmul!(matmul!(relu!(op.sub!(y, 8)), transpose!(b)), b)]
    },
    shapes: [
      [2, 1],
      [1, 4096],
    ],
    uses: ['gemm reads', 'gemm writes', 'loop reads', 'loop writes'],
  },
  {
    name: 'loops over broadcast, strided and stacked values',
    f: (x) => {
      const y = stored(x)
      const z = stored(neg!(flip!(y, { axis: 0 })))
      return stored(concat!([add!(y, z), mul!(y, sum!(z, { axis: 0, keepdims: true }))], { axis: 0 }))
    },
    shapes: [[37, 2]],
    uses: ['gemm reads', 'gemm writes', 'loop reads', 'loop writes'],
  },
  {
    name: 'folds of long lines, of few lines, and of all there is',
    f: (x) => {
      const y = matmul!(x, [
        [1, 0, 1, -1],
        [0, 1, 1, 1],
      ])
      const z = (cd.reshape as unknown as Loose)(y, [8, 2560]) as X
      return [
        matmul!(sum!(z, { axis: 1, keepdims: true }), [[1, 2]]),
        matmul!([[1], [2]], op.max!(y, { axis: 0, keepdims: true })),
        sum!(y),
      ]
    },
    shapes: [[5120, 2]],
    uses: ['gemm reads', 'gemm writes', 'loop reads', 'loop writes'],
  },
  {
    name: 'conv and its adjoints, strides and padding',
    f: (x, k) => {
      const f = (a: X, b: X): X => {
        const y = conv!(relu!(a), b, { padding: [1, 1] })
        const z = conv!(maximum!(y, -1), b, { stride: [2, 2], padding: [1, 0] })
        return sum!(mul!(z, 0.125))
      }
      return grad(f, [0, 1])(x, k)
    },
    shapes: [
      [2, 3, 8, 9],
      [3, 3, 3, 3],
    ],
    uses: ['conv reads', 'conv writes', 'convInput writes', 'convKernel reads', 'loop reads', 'loop writes'],
  },
  {
    name: 'pools and their adjoints, windows that overlap and windows that do not',
    f: (x) => {
      const f = (a: X): X => {
        const y = maxPool!(stored(a), { window: [3, 3], stride: [2, 1], padding: [1, 1] })
        const z = avgPool!(stored(maximum!(y, 0)), { window: [2, 2], stride: [2, 2] })
        return sum!(
          conv!(
            z,
            [
              [[[1]], [[0]]],
              [[[0]], [[1]]],
            ],
            {},
          ),
        )
      }
      return [f(x), grad(f, [0])(x)]
    },
    shapes: [[2, 2, 9, 2]],
    uses: ['avgPool reads', 'avgPool writes', 'maxPool reads', 'maxPool writes', 'unpool reads', 'unpool writes'],
  },
]

describe.skipIf(lane === undefined)('f16', () => {
  let device: GPUDevice
  /** As the adapter is, and as a GPU's would be: with other shaders. */
  let backends: readonly WebGpuBackend[]
  let plain: WebGpuBackend
  beforeAll(async () => {
    await openGpu(lane!)
    device = await openDevice(lane!)
    Object.defineProperty(device, 'adapterInfo', { value: { vendor: 'test', architecture: '', device: '', description: 'a GPU' } })
    const options = { storage: 'f16', verify: true, poison: true } as const
    const dawn = dawnOptions()
    backends = [makeWebGpu({ ...options, dawn }), makeWebGpu({ ...options, device })]
    plain = makeWebGpu({ dawn, verify: true, poison: true })
    for (const b of [...backends, plain]) await b.adapter()
  }, 60_000)
  afterAll(() => {
    for (const b of [...backends, plain]) b.dispose()
    device.destroy()
  })

  it('rounds to the nearest, the even one of two, from the smallest subnormal to Infinity; NaN stays', async () => {
    const bits = new DataView(new ArrayBuffer(4))
    let state = 12345
    const random = Array.from({ length: 20_000 }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      // Exponents of 2^-30 to 2^18, and every mantissa.
      bits.setUint32(0, (state & 0x807fffff) | ((97 + ((state >>> 24) % 49)) << 23))
      return bits.getFloat32(0)
    })
    const between = [0, 1, 2, 3, 1023, 1024, 1025, 2047].flatMap((n) =>
      [-24, -20, 0, 5].flatMap((e) => [n, n + 0.5].map((x) => x * 2 ** e)),
    )
    const edges = [
      0,
      -0,
      65504,
      65519.99,
      65520,
      65536,
      -65520,
      1e30,
      2 ** -25,
      2 ** -25 * 1.0001,
      2 ** -26,
      -1e-40,
      2 ** -14,
      2 ** -14 * 0.9997,
    ]
    const x = Float32Array.from([...random, ...between, ...edges, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
    const row: WgslScalar = ({ x: [a] }) => `f32(cd_half(${a}))`
    const [got] = await evaluateJobs(device, [{ row, from: ['f32'], to: 'f32', x: [x] }])
    expect(fromF16(toF16(x).subarray(0, x.length))).toEqual(got)
    const wrong = [...x].flatMap((v, i) => (Object.is(got![i], Math.fround(half(v))) ? [] : [`${v}: ${got![i]}, not ${half(v)}`]))
    expect(wrong).toEqual([])
  })

  for (const c of cases)
    it(`${c.name}: with whole numbers, the very results of f32`, async () => {
      const x = c.shapes.map((s, i) => integers(s, 3 + 2 * i))
      const want = JSON.stringify(((cd.compile as unknown as Loose)(c.f, cd.cpu()) as Loose)(...x))
      expect(want).toMatch(/[1-9]/)
      for (const b of backends) {
        const f = compile(c.f, b)
        expect(JSON.stringify(await f(...x)) === want, await b.adapter()).toBe(true)
        const seen = uses(await f.explain())
        for (const use of c.uses) expect(seen).toContain(use)
        await f.dispose()
      }
    }, 60_000)

  it('a value is rounded once, when it is stored; sums of f16 are those of f32', async () => {
    const n = 5000
    // 4097 ones: f16 would stay at 2048 if it added them up; as a stored value 4097 is 4096.
    const ones = cd.tensor(
      Float32Array.from({ length: n }, (_, i) => (i < 4097 ? 1 : 0)),
      [1, n],
    )
    const f = (a: X): X => matmul!(matmul!(relu!(matmul!([[1], [1]], a)), transpose!(a)), [[1, 2]])
    for (const b of backends) {
      const g = compile(f, b)
      expect(((await g(ones)) as cd.Tensor).toArray()).toEqual([
        [4096, 8192],
        [4096, 8192],
      ])
      expect(uses(await g.explain())).toEqual(expect.arrayContaining(['gemm reads', 'gemm writes']))
    }
    const thirds = cd.tensor(Float32Array.of(1 / 3, 2 / 3), [1, 2])
    const y = (await compile((a: X) => matmul!(stored(a), [[1], [3]]), backends[0])(thirds)) as cd.Tensor
    expect(y.item()).toBe(Math.fround(half(Math.fround(1 / 3)) + 3 * half(Math.fround(2 / 3))))
  })

  it('arguments, results and accumulators keep f32', async () => {
    // 4097 is no f16: it comes back as it went in, and is added to in f32.
    const x = cd.tensor(Float32Array.of(4097, 1, 1, 4097), [2, 2])
    for (const b of backends) {
      const same = (await compile(
        (a: X) => [
          a,
          matmul!(a, [
            [1, 0],
            [0, 1],
          ]),
        ],
        b,
      )(x)) as cd.Tensor[]
      for (const y of same) expect(y.toArray()).toEqual(x.toArray())
      // Two products add to the gradient of w: their sum, 4098, is no f16 either.
      const f = (w: X): X => add!(sum!(matmul!([[4096, 0]], w)), sum!(matmul!([[1, 1]], w)))
      const g = (await compile(grad(f, [0]), b)(cd.tensor(new Float32Array(4).fill(1), [2, 2]))) as Record<string, cd.Tensor>
      expect(g[0]!.toArray()).toEqual([
        [4097, 4097],
        [1, 1],
      ])
    }
  })

  it('NaN and infinities pass, and what is too large becomes one', async () => {
    const x = cd.tensor(Float32Array.of(Number.NaN, Number.POSITIVE_INFINITY, -1e5, 65519, 1e-9, -0), [6, 1])
    for (const b of backends) {
      const f = compile(
        (a: X) => neg!(maxPool!((cd.reshape as unknown as Loose)(matmul!(a, [[1]]), [1, 1, 6, 1]), { window: [1, 1], stride: [1, 1] })),
        b,
      )
      const y = (await f(x)) as cd.Tensor
      expect(uses(await f.explain())).toContain('maxPool reads')
      expect([...y.data].map((v) => (v === 0 ? 0 : v))).toEqual([Number.NaN, -Infinity, Infinity, -65504, 0, 0])
    }
  })

  describe('the workloads', () => {
    /**
     * Relative to the norm of each gradient: every stored value is off by up to 2^-11 = 4.9e-4, and a gradient passes a few of them. In W4
     * rounding makes entries of a window equal: max pooling then sends their cotangent to another place.
     */
    const tolerance: Partial<Record<WorkloadId, number>> = {
      W3: 2e-3,
      W4: 5e-2,
      W5: 2e-3,
      W7: 2e-3,
      W8: 2e-3,
      W9: 2e-3,
      W11: 2e-3,
      W14: 2e-3,
      W15s: 2e-3,
    }
    /** Memory and traffic, of those of f32. */
    const saved: Partial<Record<WorkloadId, readonly [memory: number, moved: number]>> = {
      W4: [0.6, 0.54],
      W7: [0.58, 0.51],
      W8: [0.56, 0.51],
      W9: [0.56, 0.51],
    }
    const norm = (d: ArrayLike<number>): number =>
      Math.hypot(
        ...Array.from({ length: Math.ceil(d.length / 4096) }, (_, k) =>
          Math.hypot(...Array.prototype.slice.call(d, 4096 * k, 4096 * (k + 1))),
        ),
      )
    for (const id of sample(Object.keys(tolerance) as WorkloadId[], 5))
      it(`${id}: near f32, in less memory`, async () => {
        const { wrt }: Workload = spec[id]
        const f = (cd.valueAndGrad as unknown as Loose)(programs[id]('f32').primal, { wrt })
        const inputs = Object.fromEntries(
          Object.entries(inputsOf(id, 'f32')).map(([k, { shape, data }]) => [k, (cd.tensor as unknown as Loose)(data, shape)]),
        )
        const [f16, f32] = [compile(f, backends[0]), compile(f, plain)]
        type Result = { readonly value: cd.Tensor; readonly grad: Readonly<Record<string, cd.Tensor>> }
        const got = (await f16(inputs)) as Result
        const want = (await f32(inputs)) as Result
        expect(Math.abs(got.value.item() / want.value.item() - 1)).toBeLessThan(1e-3)
        for (const [k, t] of Object.entries(want.grad)) {
          const off = (got.grad[k]!.data as Float32Array).map((v, i) => v - t.data[i]!)
          expect(norm(off) / norm(t.data), k).toBeLessThan(tolerance[id]!)
        }
        const [small, large] = [await f16.explain(), await f32.explain()]
        expect(small.peakBytes).toBeLessThan(large.peakBytes)
        // What a step keeps for its gradient is most of the memory of these.
        const [memory, moved] = saved[id] ?? []
        if (memory !== undefined) expect(small.peakBytes / large.peakBytes).toBeCloseTo(memory, 2)
        if (moved !== undefined) expect(small.bytes / large.bytes).toBeCloseTo(moved, 2)
        await Promise.all([f16.dispose(), f32.dispose()])
      }, 120_000)
  })

  it('trains in place without growing: both memories are made once', async () => {
    const b = backends[0]!
    const loss = (w: X, x: X): X => op.mean!(op.square!(matmul!(op.tanh!(matmul!(x, w)), transpose!(w))))
    const step = (w: X, x: X): unknown => op.sub!(w, mul!(0.1, ((cd.grad as unknown as Loose)((v: X) => loss(v, x)) as Loose)(w)))
    const w = (await cd.onDevice(integers([6, 5], 3), b)) as cd.Tensor
    const f = (compile(step, b) as unknown as { into: (t: unknown) => Compiled }).into(w)
    const x = integers([7, 6], 5)
    await f(w, x)
    const before = b.stats()
    for (let i = 0; i < 200; i++) await f(w, x)
    // None is made; one that nothing holds any more may go meanwhile.
    const after = b.stats()
    expect(after.buffers).toBeLessThanOrEqual(before.buffers)
    expect(after.bufferBytes).toBeLessThanOrEqual(before.bufferBytes)
    expect(after.pipelines).toBe(before.pipelines)
    expect(((await cd.onHost(w)) as cd.Tensor).data.every(Number.isFinite)).toBe(true)
  })

  describe('tensors on the device', () => {
    /** 4097 is no f16: it becomes 4096. */
    const numbers = Float32Array.of(4097, -1 / 3, 7, 1e-9, 70_000)
    const asHalves = Array.from(numbers, (x) => Math.fround(half(x)))

    it('take half of the memory and read back as f32, rounded once; other dtypes stay', async () => {
      for (const b of [plain, ...backends]) {
        const before = b.stats()
        const { x, i, y } = (await cd.onDevice(
          { x: cd.tensor(numbers, [5]), i: cd.tensor([4097], [1], 'i32'), y: cd.tensor(new Float32Array(1000).fill(0.1), [1000]) },
          b,
          { storage: 'f16' },
        )) as Record<'x' | 'i' | 'y', cd.DeviceTensor>
        expect(b.stats().bufferBytes - before.bufferBytes).toBe(16 + 16 + 2000)
        expect(b.stats().bytesWritten - before.bytesWritten).toBe(10 + 4 + 2000)
        expect(String(x)).toBe('Tensor f32 [5] on webgpu as f16')
        const back = await cd.onHost(x)
        expect(back.data).toBeInstanceOf(Float32Array)
        expect(Array.from(back.data)).toEqual(asHalves)
        expect((await cd.onHost(i)).toArray()).toEqual([4097])
        for (const t of [x, i, y]) t.dispose()
        expect(b.stats().bufferBytes).toBe(before.bufferBytes)
      }
    })

    it('of every size, none and one among them, alone, twice, and as results', async () => {
      for (const b of [plain, backends[0]!])
        for (const shape of [[], [0], [1], [3], [2, 3], [4, 5]]) {
          const host = integers(shape, 5)
          const x = await cd.onDevice(host, b, { storage: 'f16' })
          const f = compile((a: X, c: X) => [a, add!(a, c), mul!(a, 2)], b)
          const [same, sum, twice] = (await f(x, x)) as cd.Tensor[]
          const flat = (t: cd.Tensor | undefined): readonly number[] => Array.from(t!.data as Float32Array)
          expect(flat(same)).toEqual(flat(host))
          expect(flat(sum)).toEqual(flat(host).map((v) => v + v))
          expect(flat(twice)).toEqual(flat(host).map((v) => 2 * v))
          x.dispose()
          await f.dispose()
        }
    })

    it('are read by kernels as they are, without a step more; where a kernel does not take them, one step widens them', async () => {
      const cost = async (f: unknown, x: unknown, y: unknown): Promise<{ readonly dispatches: number; readonly result: string }> => {
        const g = compile(f, plain)
        await g(x, y)
        const before = plain.stats()
        const result = JSON.stringify(await g(x, y))
        await g.dispose()
        return { dispatches: plain.stats().dispatches - before.dispatches, result }
      }
      const [a, b] = [integers([6, 4], 3), integers([4, 4], 5)]
      const i = cd.tensor([3, 0, 3, 1], [4], 'i32')
      const place = (t: cd.Tensor) => cd.onDevice(t, plain, { storage: 'f16' })
      const taken: readonly (readonly [f: (x: X, y: X) => unknown, y: cd.Tensor])[] = [
        [(x, y) => matmul!(x, y), b],
        [(x, y) => add!(sum!(x), sum!(y)), b],
        [(x, y) => op.gather!(x, y), i],
        [(x, y) => op.takeAlongAxis!(x, (cd.reshape as unknown as Loose)(y, [1, 4]), { axis: 0 }), i],
        [
          (x, y) =>
            op.scatterAdd!(
              matmul!(x, [
                [1, 0, 0, 0],
                [0, 1, 0, 0],
                [0, 0, 1, 0],
                [0, 0, 0, 1],
              ]),
              y,
              (cd.slice as unknown as Loose)(x, [0, 0], [4, 4]),
            ),
          i,
        ],
        [(x, y) => [op.cumsum!(x), op.cumsum!(y)], b],
        [(x, y) => [op.argmax!(x, { axis: 1 }), y], b],
      ]
      for (const [f, y] of taken) {
        const want = await cost(f, a, y)
        const x = await place(a)
        const got = await cost(f, x, y)
        expect(got.result, String(f)).toBe(want.result)
        expect(got.dispatches, String(f)).toBe(want.dispatches)
        x.dispose()
      }
      const x = await place(a)
      const sorted = (t: X): unknown => op.sort!(t, { axis: 0 })
      const want = await cost(sorted, a, b)
      expect(await cost(sorted, x, b)).toEqual({ ...want, dispatches: want.dispatches + 1 })
      x.dispose()
    })

    it('are written in place, rounded where they are stored; sums on them too', async () => {
      for (const b of [plain, backends[0]!]) {
        const w = await cd.onDevice(cd.tensor(Float32Array.of(4096, 1, -2), [3]), b, { storage: 'f16' })
        const f = compile((x: X) => add!(x, [1, 1, 1]), b) as unknown as { into: (t: unknown, options?: object) => Loose }
        const step = f.into(w)
        const ones = cd.tensor(Float32Array.of(4096, 1, 1), [3])
        await step(w) // 4097 is stored as 4096
        expect((await cd.onHost(w)).toArray()).toEqual([4096, 2, -1])
        await f.into(w, { accumulate: true })(ones) // 4096 + 4097 as 8192
        expect((await cd.onHost(w)).toArray()).toEqual([8192, 4, 1])
        // A sum that other steps add to is made in f32, and stored by one step more.
        const grads = (cd.compile as unknown as Loose)(
          grad((v) => add!(sum!(mul!(v, 4096)), sum!(matmul!([[1, 2, 3]], (cd.reshape as unknown as Loose)(v, [3, 1])))), [0]),
          b,
        ) as { into: (t: unknown) => Loose }
        await grads.into({ 0: w })(ones)
        expect((await cd.onHost(w)).toArray()).toEqual([4096, 4098, 4099].map((x) => half(x)))
        const before = b.stats()
        for (let i = 0; i < 50; i++) await step(w)
        // None is made; one that nothing holds any more may go meanwhile.
        const after = b.stats()
        expect(after.buffers).toBeLessThanOrEqual(before.buffers)
        expect(after.bufferBytes).toBeLessThanOrEqual(before.bufferBytes)
        expect(after.pipelines).toBe(before.pipelines)
        w.dispose()
      }
    })

    it('are refused where there is no f16', async () => {
      const x = cd.tensor(Float32Array.of(1), [1])
      expect(await errorOf(() => cd.onDevice(x, cd.cpu(), { storage: 'f16' }))).toMatchObject({ _tag: 'Unsupported', backend: 'cpu' })
      const bare = await (await (await openGpu(lane!)).requestAdapter())!.requestDevice()
      const b = makeWebGpu({ device: bare })
      expect(await errorOf(() => cd.onDevice(x, b, { storage: 'f16' }))).toMatchObject({
        _tag: 'Unsupported',
        what: expect.stringContaining('shader-f16'),
      })
      expect((await cd.onHost(await cd.onDevice(x, b))).toArray()).toEqual([1])
      b.dispose()
      bare.destroy()
    })
  })

  it('an adapter without shader-f16 is refused before anything runs', async () => {
    const adapter = await (await openGpu(lane!)).requestAdapter()
    const bare = await adapter!.requestDevice()
    const b = makeWebGpu({ device: bare, storage: 'f16' })
    expect(await errorOf(() => compile((x: X) => neg!(x), b)(cd.tensor(Float32Array.of(1), [1])))).toMatchObject({
      _tag: 'Unsupported',
      backend: 'webgpu',
      what: expect.stringContaining('shader-f16'),
    })
    expect(b.stats()).toMatchObject({ submits: 0, buffers: 0 })
    bare.destroy()
  })
})
