/** What the CPU backend keeps: plans and kernels bounded in bytes, freed when nothing needs them, never while something does. */
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type CpuOptions, makeCpu } from '../../src/backends/cpu/index.js'
import { aval } from '../../src/core/graph/aval.js'
import { input } from '../../src/core/graph/expr.js'
import { liftTree, makeProgram } from '../../src/core/graph/program.js'
import * as cd from '../../src/index.js'

const unary: readonly (readonly [(x: cd.AnyExpr) => cd.AnyExpr, (x: number) => number])[] = [
  [cd.sin, Math.sin],
  [cd.cos, Math.cos],
  [cd.tanh, Math.tanh],
  [cd.square, (x) => x * x],
  [cd.abs, Math.abs],
  [cd.neg, (x) => -x],
  [cd.exp, (x) => Math.exp(x)],
  [cd.atan, Math.atan],
]
/** The i-th of ever different functions, one loop each, and what it is. */
const different = (i: number) => {
  const digits: number[] = []
  for (let k = i + 8; k > 0; k = Math.floor(k / 8)) digits.push(k % 8)
  return {
    f: (x: cd.AnyExpr): cd.AnyExpr => digits.reduce((y, d) => unary[d]![0](y), x),
    at: (x: number): number => digits.reduce((y, d) => unary[d]![1](y), x),
  }
}
const x = cd.tensor([0.3, -0.2])
const right = (y: unknown, i: number): void => {
  const { data } = y as cd.Tensor
  const { at } = different(i)
  for (const k of [0, 1]) expect(data[k]).toBeCloseTo(at(x.data[k]!), 10)
}
/** Programs of primitives given to one backend, over arrays of two elements. */
const prepared = (backend: ReturnType<typeof makeCpu>, of: (...xs: readonly cd.AnyExpr[]) => unknown, arity = 1) => {
  const inputs = Array.from({ length: arity }, () => input(aval([2], 'f64')))
  const { nodes, def } = liftTree(of(...(inputs as unknown as cd.AnyExpr[])), 'test')
  return backend.prepare(makeProgram({ name: 'test', inputs, inputTree: { _tag: 'Tuple', items: [] }, outputs: nodes, outputTree: def }))
}

const engines: readonly (readonly [string, CpuOptions])[] = [
  ['SIMD', {}],
  ['plain JavaScript', { simd: false }],
]

for (const [name, options] of engines) {
  const vector = options.simd !== false
  describe(`what is made for functions that come and go (${name})`, () => {
    it('2,000 different functions, disposed: as many kernels, modules and slots as plans are cached, within the bytes', () => {
      const cacheBytes = 2 ** 20
      const backend = makeCpu({ ...options, cacheBytes })
      let most = 0
      for (let i = 0; i < 2000; i++) {
        const f = cd.compile(different(i).f, backend)
        const y = f(x)
        if (i % 100 === 0) right(y, i)
        f.dispose()
        const { plans, bytes } = backend.cache()
        expect(bytes).toBeLessThanOrEqual(cacheBytes)
        expect(backend.kernels()).toBe(plans)
        most = Math.max(most, plans)
      }
      expect(most).toBeLessThan(vector ? 100 : 400)
      const { modules, slots } = backend.stats()
      expect(modules).toBe(vector ? backend.cache().plans : 0)
      // one more than stay: a kernel is compiled before another is dropped for it
      expect(slots).toBeLessThanOrEqual(vector ? most + 1 : 0)
      backend.clearCache()
      expect(backend.cache()).toMatchObject({ plans: 0, bytes: 0 })
      expect(backend.kernels()).toBe(0)
      expect(backend.stats().modules).toBe(0)
    })

    it('plain calls of new functions, and of their derivatives, leave no more', () => {
      const cacheBytes = 2 ** 20
      const backend = makeCpu({ ...options, cacheBytes })
      const { grad } = cd.makeCodual(cd.coreRegistry, backend)
      for (let i = 0; i < 300; i++) {
        const slope = grad((y: cd.AnyExpr) => cd.sum(different(i).f(y)))(x) as unknown as cd.Tensor
        expect(slope.data.every(Number.isFinite)).toBe(true)
        expect(backend.cache().bytes).toBeLessThanOrEqual(cacheBytes)
        expect(backend.stats().modules).toBeLessThanOrEqual(100)
      }
      backend.clearCache()
      expect(backend.kernels()).toBe(0)
    })

    it('a compiled function keeps its kernels when its plan was dropped, and gives them back when it is disposed', () => {
      const backend = makeCpu({ ...options, cacheBytes: 2 ** 18 })
      const kept = Array.from({ length: 40 }, (_, i) => cd.compile(different(7 * i).f, backend))
      for (const f of kept) f(x)
      for (let i = 1000; i < 1300; i++) {
        const f = cd.compile(different(i).f, backend)
        right(f(x), i)
        f.dispose()
        const k = i % 40
        right(kept[k]!(x), 7 * k)
      }
      expect(backend.cache().plans).toBeLessThan(40)
      backend.clearCache()
      expect(backend.kernels()).toBe(40)
      for (const [k, f] of kept.entries()) right(f(x), 7 * k)
      for (const f of kept) f.dispose()
      expect(backend.kernels()).toBe(0)
      expect(backend.stats().modules).toBe(0)
      expect(() => kept[0]!(x)).toThrow(/disposed/)
    })

    it('slots that were given back are taken again', () => {
      const backend = makeCpu(options)
      const rounds = Array.from({ length: 20 }, (_, r) => {
        const fs = Array.from({ length: 10 }, (_, i) => cd.compile(different(100 * r + i).f, backend))
        for (const [i, f] of fs.entries()) right(f(x), 100 * r + i)
        for (const f of fs) f.dispose()
        backend.clearCache()
        return backend.stats().slots
      })
      expect(new Set(rounds)).toEqual(new Set([vector ? 10 : 0]))
    })

    it('a kernel of two functions lives as long as one of them', () => {
      const backend = makeCpu(options)
      const [f, g] = [different(5), different(5)].map((d) => cd.compile(d.f, backend))
      f!(x)
      right(g!(x), 5)
      expect(backend.kernels()).toBe(1)
      backend.clearCache()
      f!.dispose()
      expect(backend.kernels()).toBe(1)
      right(g!(x), 5)
      f!.dispose() // again: nothing more to give back
      expect(backend.kernels()).toBe(1)
      g!.dispose()
      expect(backend.kernels()).toBe(0)
    })

    it('after clearCache all is known anew: what lives is right, and what comes is right', () => {
      const backend = makeCpu(options)
      const kept = new Map<number, (x: cd.Tensor) => unknown>()
      for (let i = 0; i < 200; i++) {
        if (i % 7 === 0) backend.clearCache()
        const f = cd.compile(different(i).f, backend)
        right(f(x), i)
        if (i % 3 === 0) kept.set(i, f as never)
        for (const [k, g] of kept) if ((k + i) % 5 === 0) right(g(x), k)
      }
    })

    it('a function that was forgotten is freed when the engine finds it gone', async () => {
      const backend = makeCpu(options)
      for (let i = 0; i < 50; i++) right(cd.compile(different(i).f, backend)(x), i)
      const other = cd.compile(different(60).f, backend)
      right(other(x), 60)
      backend.clearCache()
      for (let k = 0; k < 20 && backend.kernels() > 1; k++) {
        globalThis.gc!()
        await setImmediate()
      }
      expect(backend.kernels()).toBe(1)
      right(other(x), 60)
    })

    it('a program that is refused leaves no kernel behind', () => {
      const lost = cd.primitive({
        name: 'lost',
        family: 'mine',
        args: ['float'],
        shapeRule: ([a]) => a!,
        meaning: () => undefined,
        source: 'test',
      })
      const backend = makeCpu(options)
      for (let i = 0; i < 3; i++)
        expect(() => prepared(backend, (y) => [cd.tanh(y!), cd.applyPrimitive(lost, [cd.sin(y!)])[0]])).toThrow(/MissingKernel/)
      expect(backend.kernels()).toBe(0)
      expect(backend.stats().modules).toBe(0)
      expect(backend.cache().plans).toBe(0)
    })
  })

  describe(`one run (${name})`, () => {
    const same = { family: 'mine', args: ['float'], shapeRule: ([a]: readonly cd.Aval[]) => a!, source: 'test' } as const
    /** x, by a function that does something first. */
    const during = (act: () => void) => {
      const op = cd.primitive({ ...same, name: 'during', args: ['float'] as const, meaning: () => undefined })
      const kernels = cd.definePlugin({
        name: 'during',
        ops: { during: op },
        rules: { during: cd.missing('a test') },
        kernels: {
          cpu: {
            during: ([a]: readonly cd.NDArray[], _p: unknown, [y]: readonly cd.NDArray[]) => {
              y!.data.set(a!.data as never)
              act()
            },
          },
        },
      }).kernels.cpu!
      return { kernels, op: (y: cd.AnyExpr) => cd.applyPrimitive(op, [y])[0]! }
    }

    it('that disposes its own function ends with its results, and frees it then', () => {
      let act = (): void => undefined
      const { kernels, op } = during(() => act())
      const backend = makeCpu({ ...options, kernels })
      const f = cd.compile((y: cd.AnyExpr) => cd.mul(cd.exp(op(cd.sin(y))), 2), backend)
      const want = f(x)
      act = () => {
        f.dispose()
        backend.clearCache()
        // Kernels of others take what was given back too early.
        for (let i = 0; i < 30; i++) right(cd.compile(different(i).f, backend)(x), i)
      }
      expect(f(x)).toEqual(want)
      act = () => undefined
      expect(() => f(x)).toThrow(/disposed/)
    })

    it('that fails after it was disposed frees it, too', () => {
      let act = (): void => undefined
      const { kernels, op } = during(() => act())
      const backend = makeCpu({ ...options, kernels })
      const f = cd.compile((y: cd.AnyExpr) => cd.exp(op(cd.sin(y))), backend)
      f(x)
      act = () => {
        f.dispose()
        throw new Error('stop')
      }
      expect(() => f(x)).toThrow('stop')
      backend.clearCache()
      expect(backend.kernels()).toBe(0)
      expect(backend.memoryBytes()).toBeGreaterThan(0)
      right(cd.compile(different(3).f, backend)(x), 3)
    })

    it('that makes the memory grow goes on with what it had', () => {
      let act = (): void => undefined
      const { kernels, op } = during(() => act())
      const backend = makeCpu({ ...options, kernels })
      const large = cd.tensor(new Float64Array(600_000).fill(2))
      const inner = cd.compile((y: cd.AnyExpr) => cd.sum(cd.square(y)), backend)
      const f = cd.compile((y: cd.AnyExpr) => cd.add(op(cd.sin(y)), cd.cos(y)), backend)
      const want = f(x)
      const before = backend.memoryBytes()
      act = () => expect((inner(large) as unknown as cd.Tensor).item()).toBe(2_400_000)
      expect(f(x)).toEqual(want)
      expect(backend.memoryBytes()).toBeGreaterThan(before)
      expect(f(x)).toEqual(want)
    })

    it('of a primitive with 6,000 arguments hands all of them to its meaning', () => {
      const count = 6000
      const total = cd.primitive({
        ...same,
        name: 'total',
        args: ['float'],
        variadic: true,
        meaning: (args, _p, [y]) => {
          for (const a of args) for (const i of [0, 1]) y!.data[i]! += a.data[i]!
        },
      })
      const first = cd.primitive({ ...same, name: 'first', meaning: ([a], _p, [y]) => void y!.data.set(a!.data as never) })
      const row = cd.byMeaning('a test')
      const backend = makeCpu({
        ...options,
        kernels: new Map<cd.AnyPrimitive, cd.Facet>([
          [total, row],
          [first, row],
        ]),
      })
      const run = prepared(backend, (...ys) => cd.applyPrimitive(first, [cd.applyPrimitive(total, ys)[0]!])[0], count)
      const [y] = run.run(Array.from({ length: count }, (_, i) => Float64Array.of(i, 1)))
      expect(Array.from(y!)).toEqual([(count * (count - 1)) / 2, count])
    })

    it('on poisoned memory shows what was not written, and nothing else', () => {
      const half = cd.primitive({ ...same, name: 'half', meaning: ([a], _p, [y]) => void y!.data.set(a!.data.subarray(0, 1) as never) })
      const kernels = new Map<cd.AnyPrimitive, cd.Facet>([[half, cd.byMeaning('a test')]])
      const backend = makeCpu({ ...options, kernels, poison: true })
      const program = prepared(backend, (y) => [cd.applyPrimitive(half, [cd.sin(y!)])[0], cd.add(cd.sin(y!), 1)])
      for (let k = 0; k < 3; k++) {
        const [bad, good] = program.run([Float64Array.of(1, 2)])
        expect(bad![0]).toBe(good![0]! - 1)
        expect(bad![1]).toBeNaN()
        expect(Array.from(good!)).toEqual([Math.sin(1) + 1, Math.sin(2) + 1].map((v) => expect.closeTo(v, 12)))
      }
      const layer = cd.compile(
        (y: cd.AnyExpr) => cd.grad((w: cd.AnyExpr) => cd.sum(cd.logSoftmax(cd.matmul(y, cd.tanh(w)))))(cd.transpose(y)),
        makeCpu({ ...options, poison: true, verify: true }),
      )
      const data = cd.tensor([1, 2, 3, 4, 5, 6], [3, 2])
      const want = cd.compile(
        (y: cd.AnyExpr) => cd.grad((w: cd.AnyExpr) => cd.sum(cd.logSoftmax(cd.matmul(y, cd.tanh(w)))))(cd.transpose(y)),
        makeCpu(options),
      )(data) as unknown as cd.Tensor
      for (let k = 0; k < 3; k++) expect(layer(data)).toEqual(want)
    })
  })
}

describe('a module of several kernels', () => {
  it('stays while one of them is needed, and is counted until then', () => {
    const backend = makeCpu()
    // Two loops of one module: neither reads what the other's axes are.
    const two = cd.compile(
      (y: cd.AnyExpr) => [cd.sin(y), cd.sum(cd.cos(cd.expandDims(y, 0)), { axis: 1 })] as never,
      backend,
    ) as unknown as (x: cd.Tensor) => unknown
    two(x)
    const loops = backend.kernels()
    expect(loops).toBeGreaterThan(1)
    expect(backend.stats().modules).toBe(1)
    const one = cd.compile((y: cd.AnyExpr) => cd.sin(y), backend)
    const want = one(x)
    expect(backend.stats().modules).toBe(1)
    ;(two as unknown as Disposable & { dispose: () => void }).dispose()
    backend.clearCache()
    expect(backend.kernels()).toBe(1)
    expect(backend.stats().modules).toBe(1)
    expect(one(x)).toEqual(want)
    one.dispose()
    expect(backend.stats().modules).toBe(0)
  })
})
