/** What trajectories do not show: dtypes, shapes, integers, rates of every kind, selections, accumulation, line searches, damping. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import * as optim from '../../src/optim/index.js'

const made = (learningRate: optim.Rate): Readonly<Record<string, optim.Transformation<{ readonly count: optim.Count }>>> => ({
  sgd: optim.sgd({ learningRate }),
  momentum: optim.momentum({ learningRate }),
  nesterov: optim.nesterov({ learningRate }),
  adam: optim.adam({ learningRate }),
  adamw: optim.adamw({ learningRate }),
  lamb: optim.lamb({ learningRate, weightDecay: 0.1 }),
  lion: optim.lion({ learningRate }),
  rmsprop: optim.rmsprop({ learningRate, weightDecay: 0.1 }),
  adagrad: optim.adagrad({ learningRate, weightDecay: 0.1 }),
  amsgrad: optim.amsgrad({ learningRate }),
  adamax: optim.adamax({ learningRate, weightDecay: 0.1 }),
  radam: optim.radam({ learningRate }),
  adadelta: optim.adadelta({ learningRate, weightDecay: 0.1 }),
  adafactor: optim.adafactor({ learningRate, weightDecay: 0.1 }),
  muon: optim.muon({ learningRate, weightDecay: 0.1 }),
  shampoo: optim.shampoo({ learningRate, momentum: 0.9, weightDecay: 0.1 }),
  scheduleFree: optim.scheduleFree({ learningRate, weightDecay: 0.1 }),
  scale: optim.scale(learningRate),
  weightDecay: optim.weightDecay(learningRate),
})
const cosine = optim.cosineDecaySchedule({ initValue: 0.1, decaySteps: 10 })
const of = (data: readonly number[], shape: readonly number[], dtype: cd.DType) => cd.tensor([...data], [...shape], dtype)

describe('dtypes and shapes', () => {
  /** Rank 0, an empty axis, axes of size 1, both floats, an integer and NoTangent. */
  const params = {
    s: of([2], [], 'f32'),
    e: of([], [0, 3], 'f64'),
    o: of([1], [1, 1], 'f64'),
    w: of([1, -2], [2], 'f32'),
    n: of([3], [], 'i32'),
    none: cd.NoTangent,
  }
  const gradient = { s: of([1], [], 'f32'), e: of([], [0, 3], 'f64'), o: of([2], [1, 1], 'f64'), w: of([0, 1], [2], 'f32'), n: cd.NoTangent, none: cd.NoTangent } // biome-ignore format: one row
  it.each(Object.entries(made(cosine)))('%s keeps them, and leaves integers alone', (_, t) => {
    let state = t.init(params) as never
    for (let i = 0; i < 2; i++) {
      const done = cd.evaluate(t.update(gradient, state, params as never) as never) as unknown as {
        readonly updates: typeof gradient
        readonly state: never
      }
      const kinds = (tree: object): unknown => cd.treeMap((x: cd.AnyExpr) => `${x.dtype} [${x.shape.join(', ')}]`, tree as never)
      expect(kinds(done.updates)).toEqual(kinds(gradient))
      expect(kinds(done.state)).toEqual(kinds(state))
      for (const x of cd.treeLeaves(done.updates) as cd.Tensor[]) for (const v of x.data) expect(v).toSatisfy(Number.isFinite)
      const next = cd.evaluate(optim.applyUpdates(params, done.updates as never) as never) as unknown as typeof params
      expect(kinds(next)).toEqual(kinds(params))
      expect(next.n.item()).toBe(3)
      state = done.state
    }
    expect((state as { readonly count: cd.Tensor }).count.item()).toBe(2)
  })
  it("a state is of its parameters' kind", () => {
    const adam = optim.adam({ learningRate: 1 })
    const declared = adam.init({ w: cd.f32('n', 2), n: cd.i32() })
    expect(declared).toEqual({ count: cd.i32(), m: { w: cd.f32('n', 2), n: cd.NoTangent }, v: { w: cd.f32('n', 2), n: cd.NoTangent } })
    const tensors = adam.init(params)
    expect(tensors.m.s).toEqual(of([0], [], 'f32'))
    expect(tensors.m.n).toBe(cd.NoTangent)
    expect(optim.adagrad({ learningRate: 1, initialAccumulator: 2 }).init(params).sum.w).toEqual(of([2, 2], [2], 'f32'))
    const traced = cd.compile((x: cd.AnyExpr) => ({ x, ...adam.init({ x }) }))([1, 2])
    expect([traced.m.x.toArray(), traced.count.item()]).toEqual([[0, 0], 0])
  })
})

describe('a rate', () => {
  const g = cd.tensor([1, 2])
  it.each(Object.entries(made(0.05)))('of %s: a number, a scalar and a schedule of one value agree', (name, t) => {
    const state = t.init(g) as never
    const updates = (x: typeof t) => cd.evaluate(x.update(g, state, g as never).updates as cd.AnyExpr)
    const want = updates(t)
    for (const rate of [
      cd.tensor(0.05),
      optim.constantSchedule(0.05),
      () => 0.05,
      (c: cd.Expr<[], 'f32' | 'f64'>) => cd.add(0.05, cd.mul(0, c)),
    ])
      expect(updates(made(rate as optim.Rate)[name]!)).toEqual(want)
  })
  it('is an input of the step', () => {
    const step = cd.compile(cd.fn({ w: cd.f32(2), rate: cd.f32() }, ({ w, rate }) => {
      const t = optim.sgd({ learningRate: rate })
      return t.update(w, t.init(w)).updates
    })) // biome-ignore format: one statement
    expect(step({ w: [1, 2], rate: 0.5 }).toArray()).toEqual([-0.5, -1])
    expect(step({ w: [1, 2], rate: 2 }).toArray()).toEqual([-2, -4])
  })
  it('of f64 does not promote f32', () => {
    const t = optim.sgd({ learningRate: cd.tensor(0.5) })
    expect(cd.evaluate(t.update(of([1], [1], 'f32'), t.init(of([1], [1], 'f32'))).updates)).toEqual(of([-0.5], [1], 'f32'))
  })
  it("a schedule sees the count of steps done, in the leaf's dtype", () => {
    const seen: string[] = []
    const t = optim.scale((c) => {
      seen.push(c.dtype)
      return cd.add(1, c)
    })
    let state = t.init(of([1], [], 'f32'))
    const factors = [0, 1, 2].map(() => {
      const done = cd.evaluate(t.update(of([1], [], 'f32'), state))
      state = done.state
      return done.updates.item()
    })
    expect(factors).toEqual([1, 2, 3])
    expect(seen).toEqual(['f32', 'f32', 'f32'])
  })
})

describe('what goes before an optimiser', () => {
  const g = { w: cd.tensor([3, 0]), b: cd.tensor(-4) }
  it('clipByGlobalNorm leaves a short gradient as it is, and zeros', () => {
    const t = (limit: number) => cd.evaluate(optim.clipByGlobalNorm(limit).update(g, {}).updates)
    expect(t(5.001)).toEqual(g)
    expect(t(2.5)).toEqual({ w: cd.tensor([1.5, 0]), b: cd.tensor(-2) })
    expect(cd.evaluate(optim.clipByGlobalNorm(1).update(cd.tensor([0, 0]), {}).updates).toArray()).toEqual([0, 0])
    const mixed = { a: of([3], [1], 'f32'), b: of([4], [1], 'f64') }
    expect(cd.evaluate(optim.clipByGlobalNorm(1).update(mixed, {}).updates)).toEqual({ a: of([0.6], [1], 'f32'), b: of([0.8], [1], 'f64') })
  })
  it('masked: by paths and by a tree; the state holds the selected leaves alone', () => {
    const byPath = optim.masked(optim.momentum({ learningRate: 1 }), (path) => path === 'w')
    const byTree = optim.masked(optim.momentum({ learningRate: 1 }), { w: true, b: false })
    for (const t of [byPath, byTree]) {
      const state = t.init(g)
      expect(state.velocity).toEqual({ w: cd.tensor([0, 0]), b: cd.NoTangent })
      expect(cd.evaluate(t.update(g, state).updates)).toEqual({ w: cd.tensor([-3, -0]), b: cd.tensor(-4) })
    }
  })
  it('only: what the mask leaves out stays, whatever its gradient, over many steps; by paths and by a tree', () => {
    const begin = { body: [{ w: cd.tensor([1, 2]) }], head: { w: cd.tensor([3]) }, n: of([7], [], 'i32') }
    const inner = optim.momentum({ learningRate: 0.1 })
    const alone = { head: begin.head }
    for (const mask of [(path: string) => path.startsWith('head'), { body: [{ w: false }], head: { w: true }, n: true }] as const) {
      const t = optim.only(inner, mask)
      let [params, state] = [begin, t.init(begin)]
      let [reference, own] = [alone, inner.init(alone)]
      expect(state.velocity).toEqual({ body: [{ w: cd.NoTangent }], head: { w: cd.tensor([0]) }, n: cd.NoTangent })
      for (let i = 0; i < 5; i++) {
        const gradient = { body: [{ w: cd.tensor([1e300, Number.NaN]) }], head: params.head, n: cd.NoTangent }
        const done = cd.evaluate(t.update(gradient as unknown as typeof begin, state, params))
        params = cd.evaluate(optim.applyUpdates(params, done.updates as never)) as typeof params
        state = done.state
        const other = cd.evaluate(inner.update(reference, own))
        reference = cd.evaluate(optim.applyUpdates(reference, other.updates))
        own = other.state
      }
      expect(params.body).toEqual(begin.body)
      expect(params.n).toEqual(begin.n)
      expect(params.head).toEqual(reference.head)
      expect(params.head.w.data[0]).not.toBe(3)
    }
  })
  it('only computes no gradient of what it leaves out', () => {
    const params = { body: cd.f64(64, 64), head: cd.f64(64) }
    const loss = cd.fn({ params, x: cd.f64(8, 64) }, ({ params, x }) =>
      cd.sum(cd.square(cd.matmul(cd.tanh(cd.matmul(x, params.body)), params.head))),
    )
    const flops = (t: optim.Transformation<unknown>): number => {
      const step = cd.fn({ params, state: t.init(params), x: cd.f64(8, 64) }, ({ params, state, x }) => {
        const { updates } = t.update(cd.grad(loss, { wrt: 'params' })({ params, x }) as never, state as never, params as never)
        return optim.applyUpdates(params, updates as never)
      })
      return cd.compile(step as never).explain().flops
    }
    const sgd = optim.sgd({ learningRate: 0.1 })
    // the gradient of the body is a product of [64, 8] and [8, 64]
    expect(flops(sgd) - flops(optim.only(sgd, (path) => path === 'head'))).toBeGreaterThan(2 * 64 * 64 * 8)
  })
  it('multiSteps: zeros until the last of them, then the mean; the inner state waits', () => {
    const t = optim.multiSteps(optim.momentum({ learningRate: 1 }), 3)
    const x = cd.tensor([0])
    let state = t.init(x)
    const seen = [3, 6, 9, 1, 1, 1].map((v) => {
      const done = cd.evaluate(t.update(cd.tensor([v]), state))
      state = done.state
      return [done.updates.data[0]! + 0, state.inner.count.item(), state.inner.velocity.data[0]]
    })
    expect(seen.map((r) => r[1])).toEqual([0, 0, 1, 1, 1, 2])
    expect(seen.map((r) => Math.round(r[0]! * 1e9) / 1e9 + 0)).toEqual([0, 0, -6, 0, 0, -6.4])
  })
  it('ema without debias begins at 0', () => {
    const t = optim.ema({ decay: 0.75, debias: false })
    expect(cd.evaluate(t.update(cd.tensor([4]), t.init(cd.tensor([0]))).updates).toArray()).toEqual([1])
  })
  it('ema of parameters leaves integers as they are', () => {
    const t = optim.ema({ decay: 0.5 })
    const p = { w: cd.tensor([4]), n: of([7], [], 'i32') }
    expect(cd.evaluate(t.update(p, t.init(p)).updates)).toEqual(p)
  })
})

const rosenbrock = (p: cd.Expr<[2], 'f64'>) => {
  const [x, y] = cd.unstack(p) as unknown as [cd.Scalar<'f64'>, cd.Scalar<'f64'>]
  return cd.add(cd.square(cd.sub(1, x)), cd.mul(100, cd.square(cd.sub(y, cd.square(x))))) as cd.Scalar<'f64'>
}
const descent = (
  method: optim.Minimiser<optim.LbfgsState, cd.Scalar>,
  f: (p: cd.Expr<[2], 'f64'>) => cd.Scalar<'f64'>,
  start: readonly number[],
  steps: number,
) => {
  const p = cd.f64(2)
  const step = cd.compile(cd.fn({ p, state: method.init(p) }, ({ p, state }) => method.step(f, p, state)))
  let now = { params: cd.tensor([...start], [2]), state: method.init(cd.tensor([...start], [2])) }
  const values: number[] = []
  for (let i = 0; i < steps; i++) {
    const { params, state, value } = step({ p: now.params, state: now.state })
    values.push(value.item())
    now = { params, state }
  }
  return { ...now, values }
}

describe('lbfgs with its line search', () => {
  it('Rosenbrock from (-1.2, 1): down at every step, to the minimum', () => {
    const { params, values } = descent(optim.lbfgs(), rosenbrock, [-1.2, 1], 60)
    for (let i = 1; i < values.length; i++) expect(values[i]).toBeLessThanOrEqual(values[i - 1]!)
    expect(values.at(-1)).toBeLessThan(1e-16)
    expect(Math.abs(params.data[0]! - 1) + Math.abs(params.data[1]! - 1)).toBeLessThan(1e-7)
  })
  it('where f is NaN beyond the border of its domain, it stops before it', () => {
    const f = (p: cd.Expr<[2], 'f64'>) => cd.sub(cd.sum(p), cd.sum(cd.log(p))) as cd.Scalar<'f64'>
    const { params, values } = descent(optim.lbfgs(), f, [0.1, 4], 40)
    expect(values.every(Number.isFinite)).toBe(true)
    expect(cd.treeAllClose(params, [1, 1], { rtol: 1e-6 })).toBe(true)
  })
  it('where no length lowers the value the parameters stay, and the history is forgotten', () => {
    const wrong = cd.customRule((p: cd.Expr<[2], 'f64'>) => cd.sum(cd.square(p)), { rrule: (p) => [cd.sum(cd.square(p)), () => cd.neg(p)] })
    const method = optim.lbfgs({ maxTrials: 4, memory: 2 })
    const at = cd.tensor([1, 2], [2])
    const state = {
      ...method.init(at),
      rho: cd.tensor([1, 1], [2]),
      s: cd.tensor([
        [1, 0],
        [0, 1],
      ]),
      y: cd.tensor([
        [1, 0],
        [0, 1],
      ]),
    }
    const done = cd.evaluate(method.step((p) => wrong(p) as cd.Scalar<'f64'>, at, state))
    expect(done.params.toArray()).toEqual([1, 2])
    expect(done.state.rho.toArray()).toEqual([0, 0])
  })
  // The sum of d (x - at)^2 times a factor: fifteen unknowns, condition 100.
  const d = Array.from({ length: 15 }, (_, i) => 100 ** (i / 14))
  const off = (dtype: 'f64' | 'f32', at: number, factor: number, steps: number): number => {
    const f = (x: cd.AnyExpr): cd.Scalar => cd.mul(factor, cd.sum(cd.mul(cd.tensor(d, [15], dtype), cd.square(cd.sub(x, at))))) as cd.Scalar
    const method = optim.lbfgs({ memory: 8 })
    const p = (dtype === 'f64' ? cd.f64 : cd.f32)(15)
    const step = cd.compile(
      cd.fn({ p, state: method.init(p) } as never, (({ p, state }: never) => method.step(f as never, p, state)) as never),
    ) as unknown as (given: unknown) => { readonly params: cd.Tensor; readonly state: unknown }
    const start = cd.tensor(new Array<number>(15).fill(0), [15], dtype) as cd.Tensor
    let now = { params: start, state: method.init(start) as unknown }
    for (let i = 0; i < steps; i++) now = step({ p: now.params, state: now.state })
    return Math.max(...Array.from(now.params.data as ArrayLike<number>, (x) => Math.abs(x / at - 1)))
  }
  it.each([
    ['f64', 1, 1, 1e-12],
    ['f64', 1, 1e8, 1e-12],
    ['f64', 1, 1e-12, 1e-12],
    ['f64', 1e-6, 1, 1e-12],
    ['f64', 1e-6, 1e12, 1e-12],
    ['f64', 1e6, 1e-9, 1e-12],
    ['f32', 1, 1, 1e-5],
    ['f32', 1e-3, 1, 1e-5],
    ['f32', 1, 1e-6, 1e-5],
  ] as const)('%s: arrives whatever the units of parameters and value: %s, %s', (dtype, at, factor, within) => {
    expect(off(dtype, at, factor, 150)).toBeLessThan(within)
  })
  it('after lengths that are all too long the next are shorter, and a step says whether it was taken', () => {
    const method = optim.lbfgs()
    const f = (x: cd.Expr<[1], 'f64'>) => cd.mul(1e12, cd.sum(cd.square(cd.sub(x, 1e-6)))) as cd.Scalar<'f64'>
    const step = cd.compile(cd.fn({ p: cd.f64(1), state: method.init(cd.f64(1)) }, ({ p, state }) => method.step(f, p, state)))
    let now = step({ p: [0], state: method.init(cd.tensor([0])) })
    expect([now.accepted.item(), now.params.item(), now.state.scale.item()]).toEqual([false, 0, 2 ** -16])
    const taken: boolean[] = []
    for (let i = 0; i < 5; i++) {
      now = step({ p: now.params, state: now.state })
      taken.push(now.accepted.item())
    }
    expect(taken[0]).toBe(true)
    expect(now.state.scale.item()).toBeGreaterThan(0)
    expect(Math.abs(now.params.item() / 1e-6 - 1)).toBeLessThan(1e-12)
  })
  it('without a line search a step of length 0, as a schedule may begin, forgets nothing', () => {
    const method = optim.lbfgs({
      memory: 2,
      lineSearch: 'none',
      learningRate: (count) => cd.where(cd.eq(count, 2), 0, 0.5) as cd.Scalar<'f64'>,
    })
    const f = (x: cd.Expr<[2], 'f64'>) => cd.sum(cd.square(x)) as cd.Scalar<'f64'>
    let [params, state] = [cd.tensor([1, 2], [2]), method.init(cd.tensor([1, 2], [2]))]
    for (let i = 0; i < 3; i++) {
      const done = cd.evaluate(method.step(f, params, state))
      expect(done.accepted.item()).toBe(i < 2)
      params = done.params
      state = done.state
    }
    expect(state.rho.toArray().every((x) => x > 0)).toBe(true)
  })
  it('tries a length only where the one before it was not enough', () => {
    const evaluations = (options: optim.LbfgsOptions): readonly [number, number] => {
      let count = 0
      const f = (p: cd.AnyExpr): cd.Scalar<'f64'> => cd.tap(cd.sum(cd.square(cd.sub(p, 3))), () => void count++) as cd.Scalar<'f64'>
      const method = optim.lbfgs(options)
      const step = cd.compile(cd.fn({ p: cd.f64(1), state: method.init(cd.f64(1)) }, ({ p, state }) => method.step(f, p, state)))
      const at = step({ p: [0.5], state: method.init(cd.tensor([0.5])) }).params.item()
      return [count, at]
    }
    // From 0.5 the gradient is -5, and the first step of length learningRate / 5: to 0.5 + learningRate.
    expect(evaluations({})).toEqual([2, 1.5])
    expect(evaluations({ learningRate: 8 })).toEqual([3, 4.5])
    expect(evaluations({ learningRate: 16 })).toEqual([4, 4.5])
    expect(evaluations({ learningRate: 16, shrink: 0.25 })).toEqual([3, 4.5])
    expect(evaluations({ learningRate: 16, maxTrials: 2 })).toEqual([3, 0.5])
    expect(evaluations({ learningRate: 16, lineSearch: 'none' })).toEqual([1, 16.5])
    // Nothing is enough: all are tried, and that with the least value is taken.
    expect(evaluations({ learningRate: 4, c1: 10, maxTrials: 3 })).toEqual([4, 2.5])
  })
  it('a step is differentiated in both modes, and takes an axis of examples', () => {
    const method = optim.lbfgs({ learningRate: 4 })
    const state = method.init(cd.tensor([0.5, 1]))
    const after = (k: cd.Expr<[], 'f64'>): cd.Scalar<'f64'> => {
      const f = (p: cd.Expr<[2], 'f64'>) => cd.add(cd.mul(k, cd.sum(cd.square(p))), cd.sum(cd.exp(p))) as cd.Scalar<'f64'>
      return cd.sum(cd.square(method.step(f, cd.tensor([0.5, 1]), state).params)) as cd.Scalar<'f64'>
    }
    const [k, h] = [0.7, 1e-5]
    const value = (x: number): number => cd.evaluate(after(cd.add(x, 0) as never)).item()
    const difference = (value(k + h) - value(k - h)) / (2 * h)
    for (const mode of ['forward', 'reverse'] as const)
      expect((cd.evaluate(cd.grad(after, { mode })(k) as never) as cd.Tensor).item()).toBeCloseTo(difference, 6)
    const ks = [0.1, 0.7, 30]
    const each = (cd.evaluate(cd.vmap(after)(cd.tensor(ks) as never) as never) as cd.Tensor).toArray()
    expect(cd.treeAllClose(each as number[], ks.map(value), { rtol: 1e-12 })).toBe(true)
  })
  it('a tree of parameters with an integer, in f32', () => {
    const method = optim.lbfgs({ memory: 3 })
    const p = { w: of([1, 2], [2], 'f32'), n: of([3], [], 'i32'), e: of([], [0], 'f32') }
    const state = method.init(p)
    expect([state.s.shape, state.s.dtype]).toEqual([[3, 2], 'f32'])
    const done = cd.evaluate(method.step(({ w }) => cd.sum(cd.square(cd.sub(w, 1))), p, state))
    expect([done.params.w.dtype, done.params.n.item(), done.params.e.shape]).toEqual(['f32', 3, [0]])
    expect(done.params.w.data[1]).toBeLessThan(2)
  })
})

describe('least squares', () => {
  const solve = <S>(
    method: optim.Minimiser<S, cd.AnyExpr>,
    r: (p: cd.Expr<[3], 'f64'>) => cd.AnyExpr,
    start: readonly number[],
    steps: number,
  ) => {
    let params = cd.tensor([...start], [3])
    let state = method.init(params) as never
    const step = cd.compile(cd.fn({ p: cd.f64(3), state: method.init(cd.f64(3)) } as never, (x: never) => {
      const { p, state } = x as { p: cd.Expr<[3], 'f64'>; state: never }
      return method.step(r, p, state) as never
    })) as unknown as (x: object) => { params: typeof params; state: never; value: cd.Tensor } // biome-ignore format: one statement
    const values: number[] = []
    for (let i = 0; i < steps; i++) {
      const done = step({ p: params, state })
      params = done.params
      state = done.state
      values.push(done.value.item())
    }
    return { params, values }
  }
  const a = [[1, 2, 0], [0, 1, 1], [1, 0, 3], [2, 1, 1]] // biome-ignore format: a matrix
  const linear = (p: cd.Expr<[3], 'f64'>) => cd.sub(cd.matmul(a, p), [1, 2, 3, 4])
  it('Gauss-Newton solves a linear problem in one step: the normal equations hold', () => {
    const { params } = solve(optim.gaussNewton(), linear, [5, -5, 5], 1)
    const r = a.map((row, i) => row.reduce((s, v, j) => s + v * params.data[j]!, 0) - [1, 2, 3, 4][i]!)
    for (let j = 0; j < 3; j++) expect(Math.abs(a.reduce((s, row, i) => s + row[j]! * r[i]!, 0))).toBeLessThan(1e-13)
  })
  it('Levenberg-Marquardt says whether its step was taken: parameters move, and the damping falls, where it was, and only there', () => {
    const method = optim.levenbergMarquardt()
    const r = (p: cd.Expr<[1], 'f64'>) => cd.atan(p)
    const step = cd.compile(
      cd.fn({ params: cd.f64(1), state: method.init(cd.f64(1)) }, ({ params, state }) => method.step(r, params, state)),
    )
    let now = { params: cd.tensor([3]), state: method.init(cd.tensor([3])) }
    const said: boolean[] = []
    for (let i = 0; i < 20; i++) {
      const { params, state, accepted } = step(now)
      expect([accepted.shape, accepted.dtype]).toEqual([[], 'bool'])
      said.push(accepted.toArray())
      expect(params.data[0] !== now.params.data[0]).toBe(accepted.toArray())
      expect(state.damping.item() < now.state.damping.item()).toBe(accepted.toArray())
      now = { params, state }
    }
    // Far out the first steps go beyond 0 too far; then all are taken until nothing can be won.
    expect(said[0]).toBe(false)
    expect(said.filter(Boolean).length).toBeGreaterThan(3)
    expect(Math.abs(now.params.data[0]!)).toBeLessThan(1e-12)
  })
  it('Levenberg-Marquardt goes on where residuals become others, however long it stood at the least value', () => {
    for (const dtype of ['f64', 'f32'] as const) {
      const method = optim.levenbergMarquardt()
      const leaf = dtype === 'f64' ? cd.f64() : cd.f32()
      const t = cd.tensor([0, 1, 2, 3, 4], [5], dtype)
      const step = cd.compile(
        cd.fn(
          { params: { a: leaf, b: leaf }, state: method.init({ a: leaf, b: leaf }), y: dtype === 'f64' ? cd.f64(5) : cd.f32(5) },
          ({ params, state, y }) =>
            method.step(
              ({ a, b }: { readonly a: cd.AnyExpr; readonly b: cd.AnyExpr }) => cd.sub(cd.mul(a, cd.exp(cd.neg(cd.mul(b, t)))), y),
              params as never,
              state as never,
            ),
        ) as never,
      ) as unknown as (given: unknown) => { readonly params: { readonly a: cd.Tensor }; readonly state: { readonly damping: cd.Tensor } }
      let now: ReturnType<typeof step> = {
        params: { a: cd.tensor(1, [], dtype), b: cd.tensor(1, [], dtype) },
        state: method.init({ a: cd.tensor(1, [], dtype), b: cd.tensor(1, [], dtype) }),
      } as never
      const run = (steps: number, a: number, b: number): void => {
        const y = cd.tensor(
          [0, 1, 2, 3, 4].map((v) => a * Math.exp(-b * v)),
          [5],
          dtype,
        )
        for (let i = 0; i < steps; i++) now = step({ params: now.params, state: now.state, y })
      }
      run(300, 3, 0.5)
      expect(now.params.a.item()).toBeCloseTo(3, 5)
      expect(now.state.damping.item()).toBeLessThanOrEqual(dtype === 'f64' ? 3e12 : 3.001e5)
      run(60, 2, 0.7)
      expect(now.params.a.item()).toBeCloseTo(2, 5)
    }
  })
  it('a parameter without influence stays, in both', () => {
    const r = (p: cd.Expr<[3], 'f64'>) => cd.mul(cd.sub(p, [1, 2, 3]), [1, 0, 1])
    for (const method of [optim.gaussNewton(), optim.levenbergMarquardt({ damping: 0 })])
      expect(solve(method as optim.Minimiser<unknown, cd.AnyExpr>, r, [0, 7, 0], 1).params.toArray()).toEqual([1, 7, 3])
  })
  it('more parameters than residuals: Levenberg-Marquardt by jacrev', () => {
    const { values } = solve(optim.levenbergMarquardt(), (p) => cd.sub(cd.sum(cd.square(p)), 4), [1, 1, 0.5], 12)
    expect(values.at(-1)).toBeLessThan(1e-20)
  })
  it('Levenberg-Marquardt never goes up, also where Gauss-Newton does', () => {
    const r = (p: cd.Expr<[3], 'f64'>) => cd.sin(cd.mul(3, cd.sub(p, [1, 2, 3])))
    const { values } = solve(optim.levenbergMarquardt(), r, [1.5, 2.5, 2.49], 40)
    for (let i = 1; i < values.length; i++) expect(values[i]).toBeLessThanOrEqual(values[i - 1]!)
    expect(values.at(-1)).toBeLessThan(1e-20)
  })
})

describe('optimisers from papers', () => {
  const declared = { w: cd.f64(4, 3), b: cd.f64(3) }
  const x = cd.tensor([1, 0, 2, -1, 0, 1, 1, 1, 2, -1, 0, 1, 1, 1, -1, 0, -1, 2, 0, 1, 0.5, 0.5, 1, 2], [6, 4])
  const answer = { w: cd.tensor([1, -2, 0.5, 0, 1, 1, 2, 0, -1, 0.5, 0.5, 3], [4, 3]), b: cd.tensor([1, -1, 0.5], [3]) }
  const predicted = (p: cd.Exprs<typeof declared> | typeof answer) => cd.add(cd.matmul(x, p.w), p.b)
  const y = cd.evaluate(predicted(answer))
  const loss = (p: cd.Exprs<typeof declared>): cd.Expr<[], 'f64'> => cd.mean(cd.square(cd.sub(predicted(p), y)))
  const zero = () => ({ w: cd.tensor(0, [4, 3]), b: cd.tensor(0, [3]) })
  const decaying = optim.cosineDecaySchedule({ initValue: 0.3, decaySteps: 400 })
  const methods: Readonly<Record<string, optim.Transformation<unknown>>> = {
    adafactor: optim.adafactor({ learningRate: decaying }) as optim.Transformation<unknown>,
    muon: optim.muon({ learningRate: decaying }) as optim.Transformation<unknown>,
    shampoo: optim.shampoo({ learningRate: 1, momentum: 0.9 }) as optim.Transformation<unknown>,
    lookahead: optim.lookahead(
      optim.adam({ learningRate: optim.cosineDecaySchedule({ initValue: 0.6, decaySteps: 400 }) }),
    ) as optim.Transformation<unknown>,
    scheduleFree: optim.scheduleFree({ learningRate: 0.3 }) as optim.Transformation<unknown>,
  }
  it.each(Object.entries(methods))('%s solves a linear problem of 15 unknowns', (name, optimiser) => {
    const step = cd.compile(((params: never, state: never) => {
      const { updates, state: next } = optimiser.update(cd.grad(loss)(params) as never, state, params)
      return { params: optim.applyUpdates(params, updates as never), state: next, loss: loss(params) }
    }) as never) as unknown as (...given: unknown[]) => { params: typeof answer; state: { average: typeof answer }; loss: cd.Tensor }
    let now = { params: zero(), state: optimiser.init(zero()) as unknown as { average: typeof answer } }
    for (let i = 0; i < 400; i++) now = step(now.params, now.state)
    const found = name === 'scheduleFree' ? now.state.average : now.params
    expect(cd.evaluate(loss(found as never)).item()).toBeLessThan(2e-4) // at zeros it is 11
  })
  it('sam with any of them', () => {
    const gradient = optim.sam((p: cd.Exprs<typeof declared>) => cd.grad(loss)(p), { rho: 0.01 })
    const optimiser = optim.adam({ learningRate: decaying })
    const step = cd.compile(
      cd.fn({ params: declared, state: optimiser.init(declared) }, ({ params, state }) => {
        const { updates, state: next } = optimiser.update(gradient(params), state, params)
        return { params: optim.applyUpdates(params, updates), state: next }
      }),
    )
    let now = { params: zero(), state: optimiser.init(zero()) }
    for (let i = 0; i < 400; i++) now = step(now)
    expect(cd.evaluate(loss(now.params as never)).item()).toBeLessThan(2e-4)
  })
  it('sam: at a gradient of 0 it is the gradient; integers stay', () => {
    const params = { w: cd.tensor([0, 0]), n: cd.tensor(3, [], 'i32') }
    const gradient = optim.sam((p: { readonly w: cd.AnyExpr | cd.Tensor; readonly n: unknown }) => ({ w: cd.mul(2, p.w), n: cd.NoTangent }))
    expect(cd.evaluate(gradient(params).w)).toEqual(cd.tensor([0, 0]))
  })
  it('their states have types, shapes of their own, and memory of their own', () => {
    const muon = optim.muon({ learningRate: 0.1 })
    const state = muon.init(declared)
    const v: cd.Spec<cd.Shape, 'f64'> = state.v.w
    expect([v, state.v.b, state.m.w]).toEqual([cd.f64(), cd.f64(3), cd.f64(4, 3)])
    const step = cd.compile(cd.fn({ params: declared, state }, ({ params, state }) => muon.update(cd.grad(loss)(params), state, params)))
    expect(step({ params: zero(), state: muon.init(zero()) }).state.count.item()).toBe(1)
    expect(optim.adafactor().init({ k: cd.f32(5, 3, 2), n: cd.i32() })).toEqual({
      count: cd.i32(),
      rows: { k: cd.f32(5, 3), n: cd.NoTangent },
      columns: { k: cd.f32(5, 2), n: cd.NoTangent },
      v: { k: cd.f32(), n: cd.NoTangent },
    })
    const begin = zero()
    const free = optim.scheduleFree({ learningRate: 1 }).init(begin)
    for (const tree of [free.average, free.z, optim.lookahead(muon).init(begin).slow]) {
      expect(tree).toEqual(begin)
      expect(tree.w.data).not.toBe(begin.w.data)
    }
    expect(free.average.w.data).not.toBe(free.z.w.data)
    const some = optim.masked(optim.shampoo({ learningRate: 1 }), { w: true, b: false }).init(begin)
    expect(some.left).toEqual({ w: cd.tensor(0, [4, 4]), b: cd.NoTangent })
  })
})
