/** What a plan runs and holds, counted: nothing nobody asked for, one accumulator for a fan-out, no kernel too many. */
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import * as cd from '../../src/index.js'
import { programs, variants } from '../golden/programs.js'

type Any = cd.AnyExpr
const explain = (f: unknown, ...args: readonly unknown[]): cd.Explanation => {
  const backend = makeCpu({ verify: true })
  return (cd.compile as (f: unknown, b: cd.SyncBackend) => { explain: (...xs: readonly unknown[]) => cd.Explanation })(f, backend).explain(
    ...args,
  )
}
const gemms = (e: cd.Explanation): number => e.counts.gemm ?? 0

describe('nothing is computed that nobody asked for (dense layer, sum exp(W x + b))', () => {
  const decl = { W: cd.f32(8, 6), b: cd.f32(8, 1), x: cd.f32(6, 16) }
  const loss = cd.fn(decl, ({ W, b, x }) => cd.sum(cd.exp(cd.add(cd.matmul(W, x), b))))
  const one = explain(cd.valueAndGrad(loss, { wrt: ['W', 'b'] }))
  it('W and b: one product forward, one back, one loop', () => {
    expect(one.counts).toEqual({ gemm: 2, loop: 1 })
  })
  it('asking for x adds exactly one product and no other kernel', () => {
    const three = explain(cd.valueAndGrad(loss, { wrt: ['W', 'b', 'x'] }))
    expect(three.counts).toEqual({ gemm: 3, loop: 1 })
  })
  it('no buffer of the size of x beside x itself', () => {
    const xBytes = 4 * 6 * 16
    const sized = one.steps.flatMap((s) => s.writes).filter((w) => w.endsWith(`(${xBytes} B)`))
    expect(sized).toEqual([])
  })
  it('the same when x lies in one record with W, or is captured', () => {
    const nested = cd.fn({ p: { W: cd.f32(8, 6), x: cd.f32(6, 16) }, b: cd.f32(8, 1) }, ({ p, b }) =>
      cd.sum(cd.exp(cd.add(cd.matmul(p.W, p.x), b))),
    )
    expect(explain(cd.valueAndGrad(nested, { wrt: ['p.W', 'b'] })).counts).toEqual(one.counts)
    const x = cd.tensor(
      Float32Array.from({ length: 96 }, (_, i) => Math.sin(i)),
      [6, 16],
    )
    const captured = cd.fn({ W: cd.f32(8, 6), b: cd.f32(8, 1) }, ({ W, b }) => cd.sum(cd.exp(cd.add(cd.matmul(W, x), b))))
    expect(explain(cd.valueAndGrad(captured, { wrt: ['W', 'b'] })).counts).toEqual(one.counts)
  })
})

describe('one side of a network only', () => {
  const primal = cd.fn(
    { W1: cd.f32(12, 8), b1: cd.f32(8), W2: cd.f32(8, 4), b2: cd.f32(4), x: cd.f32(16, 12), y: cd.i32(16) },
    ({ W1, b1, W2, b2, x, y }) => cd.crossEntropy(cd.linear(cd.tanh(cd.linear(x, W1, b1)), W2, b2), y),
  )
  it('weights: no product for x; x: no product for the weights', () => {
    const weights = explain(cd.valueAndGrad(primal as never, { wrt: ['W1', 'b1', 'W2', 'b2'] } as never))
    const x = explain(cd.valueAndGrad(primal as never, { wrt: 'x' } as never))
    const all = explain(cd.valueAndGrad(primal as never, { wrt: ['W1', 'b1', 'W2', 'b2', 'x'] } as never))
    // forward 2; back: hidden 1, W2 1, W1 1, x 1
    expect([gemms(weights), gemms(x), gemms(all)]).toEqual([5, 4, 6])
  })
})

describe('one side of LeNet only', () => {
  const { primal } = programs.W4('f32')
  const weights = ['K1', 'c1', 'K2', 'c2', 'D1', 'd1', 'D2', 'd2', 'D3', 'd3']
  const at = (wrt: readonly string[]) => {
    const { counts } = explain(cd.valueAndGrad(primal as never, { wrt } as never))
    return [counts.conv, counts.convInput ?? 0, counts.convKernel ?? 0, counts.gemm]
  }
  it('weights: no gradient of the images; images: none of the weights', () => {
    // two convolutions and three dense layers forward; back: into the inputs, into the weights
    expect(at(weights)).toEqual([2, 1, 2, 3 + 3 + 3])
    expect(at(['x'])).toEqual([2, 2, 0, 3 + 3])
    expect(at([...weights, 'x'])).toEqual([2, 2, 2, 3 + 3 + 3])
  })
})

describe('accumulators', () => {
  it('100 chained products: the tape and five buffers, every product of the backward pass in place', () => {
    const e = explain(programs.W6('f64').whole)
    expect(e.peakBuffers).toBeLessThanOrEqual(99 + 5 + 1) // and the scalar value
    expect(e.peakBytes).toBeLessThanOrEqual((99 + 5) * 8 * 256 * 256)
    expect(e.counts.gemm).toBe(100 + 99 + 100)
    expect(e.copiedAccumulators).toBe(0)
    expect(e.counts.loop).toBeLessThanOrEqual(1)
  })
  for (const n of [2, 3, 100])
    it(`a fan-out of ${n}: one accumulator, ${n - 1} in-place products`, () => {
      const f = cd.fn({ x: cd.f64(4, 4), y: cd.f64(4, 4) }, ({ x, y }) => {
        let s: Any = cd.sum(cd.matmul(x, cd.mul(y, 1)))
        for (let i = 1; i < n; i++) s = cd.add(s, cd.sum(cd.matmul(x, cd.sin(cd.mul(y, i + 1)))))
        return s as cd.Expr<[], 'f64'>
      })
      const e = explain(cd.grad(f, { wrt: 'x' }))
      expect(e.copiedAccumulators).toBe(0)
      expect(e.steps.filter((s) => s.kernel === 'gemm f64 +=').length).toBe(n - 1)
      expect(e.steps.filter((s) => s.kernel === 'gemm f64').length).toBe(1)
    })
  it('f(x, x): both tangents, one accumulator', () => {
    const f = (x: Any) => cd.sum(cd.matmul(x, x))
    const x = [
      [1, 2],
      [3, 4],
    ]
    expect((cd.grad(f)(x as never) as unknown as cd.Tensor).toArray()).toEqual([
      [7, 11],
      [9, 13],
    ])
    expect(explain(cd.grad(f), x).steps.filter((s) => s.kernel === 'gemm f64 +=').length).toBe(1)
  })
  it('an accumulator that something else reads is copied once, and both are right', () => {
    const f = cd.fn({ a: cd.f64(2, 2), b: cd.f64(2, 2) }, ({ a, b }) => {
      const acc = cd.matmul(a, b)
      return { acc, more: (cd as unknown as { matmulAdd: (...xs: readonly unknown[]) => Any }).matmulAdd(acc, a, a) }
    })
    const a = [
      [1, 2],
      [3, 4],
    ]
    const b = [
      [1, 0],
      [0, 1],
    ]
    const c = cd.compile(f, makeCpu({ verify: true }))
    const r = c({ a, b }) as unknown as { acc: cd.Tensor; more: cd.Tensor }
    expect(r.acc.toArray()).toEqual(a)
    expect(r.more.toArray()).toEqual([
      [8, 12],
      [18, 26],
    ])
    expect(c.explain().copiedAccumulators).toBe(1)
  })
})

describe('fusion', () => {
  it('sum(map(f, x)) and sum(f(x)): one plan, one kernel, at most one array of partials', () => {
    const decl = { x: cd.f32(100) }
    const backend = makeCpu({ verify: true })
    const plain = cd.compile(cd.valueAndGrad(cd.fn(decl, ({ x }) => cd.sum(cd.atan2(x, 2)))), backend)
    const mapped = cd.compile(cd.valueAndGrad(cd.fn(decl, ({ x }) => cd.sum(cd.map((u) => cd.atan2(u, 2), x) as never))), backend)
    const [a, b] = [plain.explain(), mapped.explain()]
    expect(a.steps).toEqual(b.steps)
    expect(b.cached).toBe(true)
    expect(a.steps.length).toBe(1)
    expect(a.buffers).toBe(3) // x, the value, the gradient
  })
  it('W10 is one kernel: it stores only the gradients and the value', () => {
    const e = explain(programs.W10('f32').whole)
    expect(e.steps.length).toBe(1)
    expect(e.buffers).toBe(5)
  })
})

describe('recurrent cells', () => {
  const kernelsOf = (e: cd.Explanation, name: RegExp): number => e.steps.filter((s) => name.test(s.kernel)).length

  it('W7: one accumulator each for Wx, Wh and b, nothing copied, one loop a step each way', () => {
    const e = explain(programs.W7('f32').whole)
    expect(e.copiedAccumulators).toBe(0)
    // 64 + 64 forward, 63 to h, 64 to each weight: every product into a weight but its first is in place.
    expect(e.counts.gemm).toBeLessThanOrEqual(64 + 64 + 63 + 64 + 64)
    expect(e.counts.loop).toBeLessThanOrEqual(2 * 64 + 2)
    expect(e.steps.some((s) => s.kernel === 'loop add')).toBe(false)
  })
  for (const [name, program] of [
    ['one split', programs.W8('f32')],
    ['single slices', variants['W8/slices']!.program('f32')],
  ] as const)
    it(`W8 with ${name}: at most two products and one pointwise loop a step each way, no fill, no concat kernel in the steps`, () => {
      const e = explain(program.whole)
      expect(e.copiedAccumulators).toBe(0)
      // Forward: one for all inputs, then one a step. Back: to h and into Wh a step, then Wi once.
      expect(e.counts.gemm).toBeLessThanOrEqual(1 + 32 + 2 * 32 + 1)
      expect(kernelsOf(e, /sigmoid/)).toBe(32)
      expect(kernelsOf(e, /^loop mul mul mul sub/)).toBe(31)
      expect(kernelsOf(e, /copy/)).toBeLessThanOrEqual(6)
    })
  it('a 64-step network has as many kernels as a 2-step one, but for its ends', () => {
    const rnn = (steps: number) =>
      cd.fn({ xs: cd.f32(steps, 4, 8), Wx: cd.f32(8, 8), Wh: cd.f32(8, 8) }, ({ xs, Wx, Wh }) => {
        let h: Any = cd.zeros([4, 8], 'f32')
        for (const x of cd.unstack(xs as never) as readonly Any[])
          h = cd.tanh(cd.add(cd.matmul(x as never, Wx as never), cd.matmul(h as never, Wh as never)) as never) as Any
        return cd.sum(cd.square(h)) as unknown as cd.Expr<[], 'f32'>
      })
    const [short, long] = [2, 64].map((n) => explain(cd.grad(rnn(n), { wrt: ['Wx', 'Wh'] })))
    expect(long!.kernels - short!.kernels).toBeLessThanOrEqual(2)
  })
})

describe('one plan for equal expressions', () => {
  it('ten closures in ten orders: one plan, every answer right (Zygote #1206)', () => {
    const backend = makeCpu()
    const x = [
      [1, 2, 3],
      [4, 5, 6],
    ]
    const weights = Array.from({ length: 10 }, (_, k) => [[0.1 * (k + 1)], [0.2], [0.3]])
    const make = (k: number) => {
      const rate = k + 2 // not 1, which a rewrite reads; 2 is a literal of the gradient too
      const w = cd.tensor(weights[k]!)
      const layer = (v: Any) => cd.matmul(v, w as never) as Any
      const nested = (g: (v: Any) => Any) => (v: Any) => g(v)
      return k % 2 === 0
        ? (v: Any) => cd.mean(cd.square(cd.mul(layer(v), rate)))
        : (v: Any) => cd.mean(cd.square(cd.mul(nested(layer)(...([v] as const)), rate)))
    }
    const value = (k: number): number =>
      x.map((row) => (k + 2) * row.reduce((s, v, j) => s + v * weights[k]![j]![0]!, 0)).reduce((s, y) => s + y * y, 0) / 2
    for (let order = 0; order < 10; order++)
      for (let i = 0; i < 10; i++) {
        const k = (7 * i + order) % 10
        const c = cd.compile(cd.valueAndGrad(make(k) as never), backend) as unknown as (v: unknown) => { value: cd.Tensor }
        expect(c(x).value.item()).toBeCloseTo(value(k), 10)
      }
    expect(backend.cache().plans).toBe(1)
    expect(backend.cache().misses).toBe(1)
  })
  it('a literal that equals another of the program changes no plan', () => {
    const backend = makeCpu({ verify: true })
    const f = (a: number, b: number, c: number) => (v: Any) => cd.sum(cd.mul(cd.tanh(cd.add(cd.mul(v, a), b)) as never, c) as never)
    for (const [a, b, c] of [
      [2, 3, 4],
      [2, 2, 4],
      [2, 3, 2],
      [5, 5, 5],
      [-1, 1, 1.5],
    ] as const) {
      const { value, grad } = cd.compile(cd.valueAndGrad(f(a, b, c) as never), backend)([0.3, -0.2] as never) as unknown as {
        readonly value: cd.Tensor
        readonly grad: cd.Tensor
      }
      const y = [0.3, -0.2].map((x) => Math.tanh(a * x + b))
      expect(value.item()).toBeCloseTo(c * (y[0]! + y[1]!), 12)
      y.forEach((t, i) => {
        expect(grad.data[i]).toBeCloseTo(c * a * (1 - t * t), 12)
      })
    }
    expect(backend.cache()).toMatchObject({ plans: 1, misses: 1, hits: 4 })
  })
  it('expressions that equal literals make equal are one value all the same', () => {
    const shared = explain((x: Any) => [cd.sum(cd.sin(cd.mul(x, 2)) as never), cd.mul(cd.sin(cd.mul(x, 2)), 3)], [1, 2])
    const apart = explain((x: Any) => [cd.sum(cd.sin(cd.mul(x, 2)) as never), cd.mul(cd.sin(cd.mul(x, 4)), 3)], [1, 2])
    expect(shared.flops).toBeLessThan(apart.flops)
  })
  it('closures that differ in an axis or in wrt have their own plans', () => {
    const backend = makeCpu()
    for (const axis of [0, 1])
      cd.compile(
        (v: Any) => cd.sum(v, { axis }),
        backend,
      )([
        [1, 2],
        [3, 4],
      ] as never)
    const f = cd.fn({ a: cd.f64(2), b: cd.f64(2) }, ({ a, b }) => cd.sum(cd.mul(a, cd.sin(b))))
    for (const wrt of ['a', 'b'] as const) cd.compile(cd.grad(f, { wrt }), backend)({ a: [1, 2], b: [3, 4] })
    expect(backend.cache().plans).toBe(4)
  })
})
