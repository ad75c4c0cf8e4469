/** Steps in parts on several threads: the bits of one thread, whatever the order of the parts. */
import { afterAll, describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import { type FunctionBuilder, Module } from '../../src/backends/cpu/wasm/encoder.js'
import * as OP from '../../src/backends/cpu/wasm/opcodes.js'
import { threads } from '../../src/backends/threads/index.js'
import { type Started, type Starter, starter } from '../../src/backends/threads/system.js'
import { threadsBy } from '../../src/backends/threads/threads.js'
import type { SyncBackend } from '../../src/core/functions/backend.js'
import * as cd from '../../src/index.js'
import { some } from '../depth.js'
import { FINE_CHUNK, fine, threaded, untilHelped } from './threads.js'

type E = cd.AnyExpr
type Inputs = Readonly<Record<string, readonly [readonly number[], 'f32' | 'f64']>>
interface Case {
  readonly name: string
  readonly inputs: Inputs
  readonly f: (x: Readonly<Record<string, never>>) => unknown
  /** The least number of steps that are cut: folds along all axes are in one step with others, and stay whole. */
  readonly cut: number
}
/** Operations without the types of shapes: cases are data. */
const op = cd as unknown as Readonly<Record<string, (...xs: readonly unknown[]) => E>>
const grads = (f: (...xs: readonly never[]) => unknown, n: number) =>
  (cd.valueAndGrad as unknown as (f: unknown, o: unknown) => (...xs: readonly unknown[]) => unknown)(f, {
    wrt: Array.from({ length: n }, (_, i) => i),
  })
const product = (a: readonly number[], b: readonly number[], f: (a: E, b: E) => E, dtype: 'f32' | 'f64' = 'f64'): Case => ({
  name: `a product of ${a.join(' x ')} and ${b.join(' x ')} in ${dtype}, with its gradients`,
  inputs: { a: [a, dtype], b: [b, dtype] },
  f: ({ a, b }) => grads((a, b) => op.sum!(op.tanh!(f(a, b))), 2)(a, b),
  cut: 2,
})
const conv = (x: readonly number[], k: readonly number[], options: unknown, dtype: 'f32' | 'f64', cut = 2): Case => ({
  name: `a convolution of ${x.join(' x ')} by ${k.join(' x ')} in ${dtype} ${JSON.stringify(options)}`,
  inputs: { x: [x, dtype], k: [k, dtype] },
  f: ({ x, k }) => grads((x, k) => op.sum!(op.square!(op.conv!(x, k, options))), 2)(x, k),
  cut,
})
const cases: readonly Case[] = [
  {
    name: 'elementwise loops of one axis, whose length no part divides',
    inputs: { x: [[1003], 'f64'], y: [[1003], 'f32'] },
    f: ({ x, y }) => [op.exp!(op.sin!(x)), op.tanh!(op.mul!(y, 3))],
    cut: 1,
  },
  {
    name: 'functions that are those of the engine, for huge arguments or always',
    inputs: { x: [[1003], 'f64'], y: [[1003], 'f32'] },
    f: ({ x, y }) =>
      [x, y].flatMap((z) => [op.sin!, op.cos!, op.tan!].map((f) => f(op.mul!(z, 1e12))).concat(op.pow!(op.add!(1.5, z), op.mul!(9, z)))),
    cut: 2,
  },
  {
    name: 'folds along each axis and rows that are broadcast',
    inputs: { x: [[37, 5, 29], 'f32'], r: [[29], 'f32'] },
    f: ({ x, r }) => {
      const y = op.add!(op.mul!(x, r), op.cos!(x))
      return [0, 1, 2].flatMap((axis) => [op.sum!(y, { axis }), op.max!(y, { axis }), op.mean!(op.square!(y), { axis })])
    },
    cut: 3,
  },
  {
    name: 'sums over columns and transposes',
    inputs: { x: [[130, 70], 'f64'] },
    f: ({ x }) => [op.sum!(x, { axis: 0 }), op.transpose!(op.exp!(x)), op.softmax!(x, { axis: 0 }), op.softmax!(x, { axis: 1 })],
    cut: 3,
  },
  {
    name: 'folds along all axes, in chunks, beside results of the same loops',
    inputs: { x: [[1003], 'f64'], y: [[1003], 'f32'], z: [[7, 5, 11], 'f32'], w: [[11, 5, 7], 'f32'] },
    // The transpose has no axes that are one in memory: chunks of some units of the first.
    f: ({ x, y, z, w }) =>
      [x, y, op.mul!(z, op.transpose!(w, [2, 1, 0])), op.cast!(op.mul!(100, y), 'i32')].flatMap((v) => [
        op.sum!(v),
        op.max!(v),
        op.min!(op.mul!(v, v)),
        op.prod!(op.add!(v, 1)),
        op.sub!(3, v),
      ]),
    cut: 3,
  },
  {
    name: 'value and gradient of sums of all elements, with NaN among them',
    inputs: { x: [[40, 30], 'f32'], y: [[1200], 'f64'] },
    f: ({ x, y }) =>
      [x, y].map((v) =>
        (cd.valueAndGrad as unknown as (f: unknown) => (v: unknown) => unknown)((v: E) =>
          op.add!(op.sum!(op.exp!(op.sin!(v))), op.max!(op.div!(op.sub!(v, v), op.floor!(op.mul!(1.0001, v))))),
        )(v),
      ),
    cut: 2,
  },
  product([67, 33], [33, 45], (a, b) => op.matmul!(a, b)),
  product([67, 33], [33, 45], (a, b) => op.matmul!(a, b), 'f32'),
  product([33, 67], [45, 33], (a, b) => op.matmul!(op.transpose!(a), op.transpose!(b)), 'f32'),
  product([3, 300], [300, 131], (a, b) => op.matmul!(a, b)),
  product([9, 20, 30], [9, 30, 11], (a, b) => op.matmul!(a, b), 'f32'),
  product([16, 2, 30], [30, 11], (a, b) => op.matmul!(a, b)),
  product([200, 50], [50, 1], (a, b) => op.matmul!(a, b)),
  // Few rows or columns, whose parts are few as well; batches of few rows that together are few, and that are not.
  product([5, 3, 200], [70, 200], (a, b) => op.matmul!(a, op.transpose!(b)), 'f32'),
  product([5, 200], [200, 421], (a, b) => op.matmul!(a, b), 'f32'),
  product([5, 200], [421, 200], (a, b) => op.matmul!(a, op.transpose!(b)), 'f32'),
  product([200, 421], [200, 7], (a, b) => op.matmul!(op.transpose!(a), b)),
  product([421, 200], [200, 2], (a, b) => op.matmul!(a, b), 'f32'),
  product([50, 2, 90], [90, 1100], (a, b) => op.matmul!(a, b)),
  product([50, 3, 200], [70, 200], (a, b) => op.matmul!(a, op.transpose!(b)), 'f32'),
  conv([6, 3, 11, 9], [5, 3, 3, 3], { padding: 1 }, 'f64'),
  conv([6, 3, 11, 9], [5, 3, 3, 3], { padding: 1 }, 'f32'),
  // By minimal filtering; the kernel's gradient in phases.
  conv([5, 8, 12, 12], [16, 8, 3, 3], { padding: 1 }, 'f32', 3),
  {
    name: 'a kernel gradient by minimal filtering, in phases, of images that are not finite, and added to in a loop',
    inputs: { x: [[4, 8, 12, 12], 'f32'], k: [[16, 8, 3, 3], 'f32'] },
    f: ({ x, k }) => {
      const far = op.div!(1, op.cast!(op.gt!(x, -0.999999), 'f32'))
      const kernelGradient = (x: unknown, k: unknown): E =>
        (cd.grad as unknown as (f: unknown) => (k: unknown) => E)((k: E) => op.sum!(op.square!(op.conv!(x, k, { padding: 1 }))))(k)
      const step = (c: E) => [op.add!(op.mul!(0.5, c), kernelGradient(op.mul!(0.01, x), c)), 0]
      return [kernelGradient(op.mul!(x, far), k), op.scan!(step as never, k, null, { length: 3 })]
    },
    cut: 3,
  },
  conv([4, 4, 9, 9], [6, 2, 5, 5], { groups: 2, stride: 2 }, 'f32'),
  {
    name: 'pools and their gradients',
    inputs: { x: [[3, 4, 10, 8], 'f32'] },
    f: ({ x }) =>
      grads(
        (x) => op.add!(op.sum!(op.square!(op.maxPool!(x, { window: 2 }))), op.sum!(op.square!(op.avgPool!(x, { window: 3, stride: 2 })))),
        1,
      )(x),
    cut: 3,
  },
  {
    name: 'scans, sorts and positions along lines',
    inputs: { x: [[23, 700], 'f32'] },
    f: ({ x }) => [
      op.cumsum!(x, { axis: 1 }),
      op.cumprod!(op.add!(1, op.mul!(x, 0.001)), { axis: 1 }),
      op.sort!(x, { axis: 1 }),
      op.argmax!(x, { axis: 1 }),
    ],
    cut: 4,
  },
  {
    name: 'stacks of small matrices',
    inputs: { x: [[41, 4, 4], 'f64'] },
    f: ({ x }) => {
      const a = op.add!(op.matmul!(x, op.transpose!(x, [0, 2, 1])), op.mul!(4, op.eye!(4)))
      return [op.cholesky!(a), op.inv!(a), op.det!(a)]
    },
    cut: 2,
  },
  {
    name: 'a loop whose steps are shared',
    inputs: { a: [[40, 40], 'f32'], x: [[40, 40], 'f32'] },
    f: ({ a, x }) =>
      grads(
        (a, x) =>
          op.sum!((op.scan!((c: E) => [op.tanh!(op.matmul!(a, c)), op.sum!(c)], x, null, { length: 5 }) as unknown as readonly [E, E])[0]),
        2,
      )(a, x),
    cut: 2,
  },
]
const wave = (shape: readonly number[], dtype: 'f32' | 'f64', seed: number) => {
  const n = shape.reduce((a, b) => a * b, 1)
  const data = dtype === 'f32' ? new Float32Array(n) : new Float64Array(n)
  for (let i = 0; i < n; i++) data[i] = Math.sin((i + 1) * (1.37 + seed))
  return cd.tensor(data as never, shape as never, dtype as never)
}
type Compiled = ((x: unknown) => unknown) & { readonly explain: () => { readonly threads?: string }; readonly dispose: () => void }
const compiledOn = ({ inputs, f }: Case, backend: SyncBackend): Compiled =>
  cd.compile(
    cd.fn(
      Object.fromEntries(
        Object.entries(inputs).map(([k, [shape, dtype]]) => [k, (dtype === 'f32' ? cd.f32 : cd.f64)(...(shape as [number]))]),
      ),
      f as never,
    ) as never,
    backend,
  ) as unknown as Compiled
const argumentsOf = ({ inputs }: Case) =>
  Object.fromEntries(Object.entries(inputs).map(([k, [shape, dtype]], i) => [k, wave(shape, dtype, i)]))
/** The bits of all results. */
const bits = (y: unknown): string =>
  cd
    .treeLeaves(y as never)
    .map((leaf) => {
      const { data } = leaf as unknown as cd.Tensor
      return Buffer.from(new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength)).toString('base64')
    })
    .join(' ')

const crews = [
  threaded(2),
  threaded(3, { turn: 5, delay: 300, poison: true }),
  threaded(4, { turn: 1, verify: true }),
  threaded(2, { turn: 7, delay: 2000, poison: true }),
]
const alone = makeCpu({ chunk: FINE_CHUNK })
afterAll(() => {
  for (const { backend } of crews) backend.endThreads()
})

describe('threads share steps', () => {
  for (const c of cases)
    it(c.name, async () => {
      const args = argumentsOf(c)
      const expected = bits(compiledOn(c, alone)(args))
      for (const { backend, crew } of some(crews, 2)) {
        const f = compiledOn(c, backend)
        const shared = Number(/share (\d+) steps?/.exec(f.explain().threads!)![1])
        expect(shared).toBeGreaterThanOrEqual(c.cut)
        expect(await untilHelped(crew, () => expect(bits(f(args)) === expected).toBe(true))).toBe(true)
        for (let k = 0; k < 20; k++) expect(bits(f(args)) === expected).toBe(true)
        f.dispose()
      }
    })
})

/** A program with one step that threads share, which takes a while. */
const busy = (backend: SyncBackend) => {
  const c = product([64, 96], [96, 64], (a, b) => op.matmul!(a, b))
  return { f: compiledOn(c, backend), args: argumentsOf(c), expected: bits(compiledOn(c, alone)(argumentsOf(c))) }
}
/** Starts threads, and keeps what ends them. */
const watched = () => {
  const start = starter()
  if (typeof start === 'string') throw new Error(start)
  const running: Started[] = []
  let gone = 0
  const watching: Starter = (text, ended) => {
    const one = start(text, () => {
      gone++
      ended()
    })
    running.push(one)
    return one
  }
  return { start: watching, running, gone: () => gone }
}
const until = async (what: () => boolean): Promise<boolean> => {
  for (const since = performance.now(); performance.now() - since < 10_000; await new Promise((later) => setTimeout(later, 5)))
    if (what()) return true
  return false
}

describe('threads that are lost', () => {
  it('a thread that somebody ends takes no more part, and results stay right', async () => {
    const { start, running, gone } = watched()
    const { backend, crew } = threaded(3, { start })
    const { f, args, expected } = busy(backend)
    expect(await untilHelped(crew, () => f(args))).toBe(true)
    running[0]!.end()
    expect(await until(() => gone() === 1)).toBe(true)
    for (let k = 0; k < 20; k++) expect(bits(f(args)) === expected).toBe(true)
    expect(await untilHelped(crew, () => f(args))).toBe(true)
    backend.endThreads()
    expect(await until(() => gone() === running.length)).toBe(true)
    expect(bits(f(args)) === expected).toBe(true)
    // Others begin with the next program.
    const { f: next } = busy(backend)
    expect(await untilHelped(crew, () => expect(bits(next(args)) === expected).toBe(true))).toBe(true)
    backend.endThreads()
    expect(await until(() => gone() === running.length)).toBe(true)
  })
  /** Threads whose kernels are another function, until this one says that they are their own. */
  const replaced = (body: (f: FunctionBuilder) => unknown) => {
    const { start, running, gone } = watched()
    const m = new Module()
    body(m.func('other', ['i32']))
    const module = new WebAssembly.Module(m.finish())
    let own = false
    const replacing: Starter = (text, ended) => {
      const one = start(text, ended)
      return {
        post: (message) =>
          one.post(own ? message : { ...message, kernels: message.kernels.map(({ index }) => ({ index, module, name: 'other' })) }),
        end: () => one.end(),
      }
    }
    const mend = (): void => {
      own = true
    }
    return { start: replacing, running, gone, mend }
  }
  it('waits of several steps are not added up, however far apart they are', async () => {
    // Long enough for the caller to ask what time it is: more looks than it makes in 30 ms.
    const { start, gone } = replaced((f) => {
      const left = f.local('i32')
      f.set(left, 200_000_000).countDown(left, () => {})
    })
    const patience = 3000
    const { backend, crew } = threaded(2, { start, patience })
    // One step, long enough for another thread to wake: the same number of parts is done whenever the caller waits.
    const c: Case = { name: '', inputs: { a: [[400, 400], 'f32'], b: [[400, 400], 'f32'] }, f: ({ a, b }) => op.matmul!(a, b), cut: 1 }
    const [f, args] = [compiledOn(c, backend), argumentsOf(c)]
    expect(await untilHelped(crew, () => f(args))).toBe(true)
    await new Promise((later) => setTimeout(later, 1.2 * patience))
    expect(await untilHelped(crew, () => f(args))).toBe(true)
    backend.endThreads()
    expect(await until(() => gone() === 1)).toBe(true)
  })
  const faults = [
    { name: 'ends within a part', body: (f: FunctionBuilder) => f.op(OP.unreachable), message: 'one of the threads ended within a step' },
    {
      name: 'does not come back from one',
      body: (f: FunctionBuilder) => f.loop((again) => f.br(again)),
      message: 'one of the threads does not answer',
    },
  ]
  for (const { name, body, message } of faults)
    it(`one that ${name} is one clear error; the next call works, and threads begin again`, async () => {
      const { start, running, gone, mend } = replaced(body)
      const { backend, crew } = threaded(2, { start, patience: 200 })
      const { f, args, expected } = busy(backend)
      let error: unknown
      expect(
        await until(() => {
          try {
            expect(bits(f(args)) === expected).toBe(true)
          } catch (e) {
            error = e
          }
          return error !== undefined
        }),
      ).toBe(true)
      if (!cd.isAdException(error)) throw error
      expect(error.error._tag).toBe('Unsupported')
      expect(error.message).toContain(`${message}, and the results of this call are lost`)
      mend()
      expect(bits(f(args)) === expected).toBe(true)
      expect(await until(() => gone() === 1 && running.length === 2)).toBe(true)
      expect(await untilHelped(crew, () => expect(bits(f(args)) === expected).toBe(true))).toBe(true)
      crew().dispose()
      expect(await until(() => gone() === 2)).toBe(true)
    })
})

it('a thread that has not read the last message takes no part', async () => {
  const start = starter()
  if (typeof start === 'string') throw new Error(start)
  let held: (() => void)[] | undefined
  const holding: Starter = (text, ended) => {
    const one = start(text, ended)
    return { end: () => one.end(), post: (message) => (held === undefined ? one.post(message) : void held.push(() => one.post(message))) }
  }
  const { backend, crew } = threaded(2, { start: holding })
  const { f, args, expected } = busy(backend)
  expect(await untilHelped(crew, () => f(args))).toBe(true)
  held = []
  // A new kernel, and a memory that has grown.
  const c: Case = { name: '', inputs: { x: [[300_000], 'f64'] }, f: ({ x }) => op.exp!(op.tanh!(op.mul!(x, x))), cut: 1 }
  const [g, x, y] = [compiledOn(c, backend), argumentsOf(c), bits(compiledOn(c, alone)(argumentsOf(c)))]
  const before = crew().helped()
  for (let k = 0; k < 30; k++) {
    expect(bits(g(x)) === y).toBe(true)
    expect(bits(f(args)) === expected).toBe(true)
    await new Promise((later) => setTimeout(later, 1))
  }
  expect(crew().helped()).toBe(before)
  expect(held.length).toBeGreaterThan(0)
  for (const post of held) post()
  held = undefined
  expect(await untilHelped(crew, () => expect(bits(g(x)) === y).toBe(true))).toBe(true)
  backend.endThreads()
})

describe('threads beside the rest of the backend', () => {
  it('memory that grows, and elements that stay in it', async () => {
    const { backend, crew } = threaded(2, { poison: true })
    const { f, args, expected } = busy(backend)
    expect(await untilHelped(crew, () => f(args))).toBe(true)
    const before = backend.memoryBytes()
    const kept = Object.fromEntries(
      await Promise.all(Object.entries(args).map(async ([k, x]) => [k, await cd.onDevice(x as never, backend as never)] as const)),
    )
    for (const n of [1, 4, 16]) {
      const large: Case = { name: '', inputs: { x: [[n * 200_000], 'f64'] }, f: ({ x }) => op.exp!(op.sin!(x)), cut: 1 }
      const x = argumentsOf(large)
      const y = bits(compiledOn(large, alone)(x))
      expect(bits(compiledOn(large, backend)(x)) === y).toBe(true)
      expect(await untilHelped(crew, () => expect(bits(f(kept)) === expected).toBe(true))).toBe(true)
    }
    expect(backend.memoryBytes()).toBeGreaterThan(before)
    crew().dispose()
  })
  it('many functions: what is disposed of is forgotten, and places in the table are used again', async () => {
    const { backend, crew } = threaded(2)
    const make = (k: number) => {
      const c: Case = {
        name: '',
        inputs: { x: [[64 + k], 'f64'] },
        f: ({ x }) => op.cumsum!(op.add!(op.sin!(op.mul!(x, k + 1)), op.pow!(x, k % 7))),
        cut: 0,
      }
      return { f: compiledOn(c, backend), x: argumentsOf(c), expected: bits(compiledOn(c, alone)(argumentsOf(c))) }
    }
    for (let k = 0; k < 100; k++) {
      const { f, x, expected } = make(k)
      expect(bits(f(x)) === expected).toBe(true)
      f.dispose()
      if (k % 10 === 9) backend.clearCache()
    }
    expect(backend.kernels()).toBeLessThan(20)
    const { f, args, expected } = busy(backend)
    expect(await untilHelped(crew, () => expect(bits(f(args)) === expected).toBe(true))).toBe(true)
    crew().dispose()
  })
  it('loops that take too short are left to the caller, those bound by memory up to a larger size', () => {
    const backend = cd.cpu({ threads: threads({ count: 2 }) })
    const shared = (f: (x: E) => E, n: number): string | undefined =>
      (cd.compile(f, backend) as unknown as { explain: (x: unknown) => { readonly threads?: string } }).explain(
        cd.tensor(new Float64Array(n), [n]),
      ).threads
    const [much, little] = [(x: E) => cd.exp(cd.sin(x)), (x: E) => cd.neg(x)]
    expect([shared(much, 2000), shared(much, 50_000)]).toEqual(['2, which share 0 steps', '2, which share 1 step'])
    expect([shared(little, 130_000), shared(little, 1_000_000)]).toEqual(['2, which share 0 steps', '2, which share 1 step'])
  })
  it('equal counts are one backend; what there is no room for is refused', () => {
    expect(cd.cpu({ threads: threads({ count: 2 }) })).toBe(cd.cpu({ threads: threads({ count: 2 }) }))
    expect(cd.cpu({ threads: threads({ count: 2 }) })).not.toBe(cd.cpu())
    expect(threads({ count: 1 })).toMatchObject({ count: 1, reason: expect.stringContaining('one thread') })
    for (const count of [0, 31, 1.5, Number.NaN, '2']) expect(() => threads({ count } as never)).toThrow(/threads/)
    expect(() => cd.cpu({ threads: 2 } as never)).toThrow(/give threads\(\) of 'codual\/threads'/)
    const without = threadsBy('there are no workers here', { sharing: fine(2), patience: 1 })
    const { f, args, expected } = busy(makeCpu({ chunk: FINE_CHUNK, threads: without }))
    expect(bits(f(args)) === expected).toBe(true)
    expect(f.explain().threads).toBe('none: there are no workers here')
    expect(busy(makeCpu({ threads: threads({ count: 2 }), simd: false })).f.explain().threads).toBe('none: there is no WebAssembly')
  })
})
