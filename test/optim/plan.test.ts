/** A whole training step is one plan, prepared once, whatever the schedule does; and it computes nothing in vain. */
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import * as cd from '../../src/index.js'
import * as optim from '../../src/optim/index.js'

const decl = { w: cd.f32(3, 2), b: cd.f32(2) }
const x = [[1, 2, 3], [0, 1, -1], [2, 0, 1], [1, 1, 1]] // biome-ignore format: one row
const y = [[1, 0], [0, 1], [1, 1], [0, 0]] // biome-ignore format: one row
const loss = cd.fn({ params: decl, x: cd.f32('n', 3), y: cd.f32('n', 2) }, ({ params, x, y }) =>
  cd.mean(cd.square(cd.sub(cd.tanh(cd.add(cd.matmul(x, params.w), params.b)), y))),
)
const first = () => ({ w: cd.tensor(Float32Array.of(1, -1, 0.5, 0.25, 0, 2), [3, 2]), b: cd.tensor(Float32Array.of(0, 0), [2]) })
const oneCycle = optim.oneCycleSchedule({ peakValue: 0.1, transitionSteps: 20 })

/** The step of a transformation as a typed function of { params, state, x, y }. */
const stepOf = <S>(optimiser: optim.Transformation<S>) =>
  cd.fn({ params: decl, state: optimiser.init(decl), x: cd.f32('n', 3), y: cd.f32('n', 2) } as never, (given: never) => {
    const { params, state, x, y } = given as {
      params: cd.Exprs<typeof decl>
      state: never
      x: cd.Expr<['n', 3], 'f32'>
      y: cd.Expr<['n', 2], 'f32'>
    }
    const { value, grad } = cd.valueAndGrad(loss, { wrt: 'params' })({ params, x, y })
    const { updates, state: next } = optimiser.update(grad, state, params)
    return { params: optim.applyUpdates(params, updates), state: next, value } as never
  })
const transformations: Readonly<Record<string, () => optim.Transformation<unknown>>> = {
  sgd: () => optim.sgd({ learningRate: oneCycle }) as optim.Transformation<unknown>,
  momentum: () => optim.momentum({ learningRate: oneCycle }) as optim.Transformation<unknown>,
  nesterov: () => optim.nesterov({ learningRate: oneCycle }) as optim.Transformation<unknown>,
  adam: () => optim.adam({ learningRate: oneCycle }) as optim.Transformation<unknown>,
  adamw: () => optim.adamw({ learningRate: oneCycle }) as optim.Transformation<unknown>,
  lamb: () => optim.lamb({ learningRate: oneCycle }) as optim.Transformation<unknown>,
  lion: () => optim.lion({ learningRate: oneCycle }) as optim.Transformation<unknown>,
  rmsprop: () => optim.rmsprop({ learningRate: oneCycle }) as optim.Transformation<unknown>,
  adagrad: () => optim.adagrad({ learningRate: oneCycle }) as optim.Transformation<unknown>,
  amsgrad: () => optim.amsgrad({ learningRate: oneCycle }) as optim.Transformation<unknown>,
  adamax: () => optim.adamax({ learningRate: oneCycle }) as optim.Transformation<unknown>,
  radam: () => optim.radam({ learningRate: oneCycle }) as optim.Transformation<unknown>,
  adadelta: () => optim.adadelta({ learningRate: oneCycle }) as optim.Transformation<unknown>,
  adafactor: () => optim.adafactor() as optim.Transformation<unknown>,
  muon: () => optim.muon({ learningRate: oneCycle }) as optim.Transformation<unknown>,
  shampoo: () => optim.shampoo({ learningRate: oneCycle }) as optim.Transformation<unknown>,
  lookahead: () => optim.lookahead(optim.sgd({ learningRate: oneCycle }), { every: 4 }) as unknown as optim.Transformation<unknown>,
  scheduleFree: () => optim.scheduleFree({ learningRate: oneCycle, warmupSteps: 3 }) as optim.Transformation<unknown>,
  only: () => optim.only(optim.adam({ learningRate: oneCycle }), (path) => path !== 'b') as unknown as optim.Transformation<unknown>,
  chain: () =>
    optim.chain(
      optim.clipByGlobalNorm(1),
      optim.multiSteps(optim.adam({ learningRate: oneCycle }), 3),
      optim.masked(optim.setToZero(), (path) => path === 'b'),
    ) as unknown as optim.Transformation<unknown>,
}
type Step = ((given: object) => { readonly params: ReturnType<typeof first>; readonly state: unknown; readonly value: cd.Tensor }) & {
  readonly explain: () => cd.Explanation
  readonly into: (to: object) => (given: object) => unknown
}

describe('one plan for a whole step', () => {
  it.each(Object.entries(transformations))('%s: 20 steps, one plan of the backend; in place the same numbers', (_, make) => {
    const backend = makeCpu({ verify: true })
    let prepared = 0
    const counting: cd.SyncBackend = {
      ...backend,
      prepare: (...given: Parameters<cd.SyncBackend['prepare']>) => {
        prepared++
        return backend.prepare(...given)
      },
    } as cd.SyncBackend
    const optimiser = make()
    const step = cd.compile(stepOf(optimiser) as never, counting) as unknown as Step
    let now: { readonly params: ReturnType<typeof first>; readonly state: unknown } = { params: first(), state: optimiser.init(first()) }
    const values: number[] = []
    for (let i = 0; i < 20; i++) {
      const { params, state, value } = step({ ...now, x, y })
      now = { params, state }
      values.push(value.item())
    }
    expect(prepared).toBe(1)
    expect(values[19]).toBeLessThan(values[0]!)
    const held = { params: first(), state: optimiser.init(first()), value: cd.tensor(0, [], 'f32') }
    const inPlace = step.into(held)
    for (let i = 0; i < 20; i++) inPlace({ params: held.params, state: held.state, x, y })
    expect(prepared).toBe(1)
    expect(held.params).toEqual(now.params)
    expect(held.state).toEqual(now.state)
  })
  it('L-BFGS with its line search: one plan, and no step goes up', () => {
    const method = optim.lbfgs({ memory: 3, maxTrials: 8 })
    let prepared = 0
    const backend = makeCpu({ verify: true })
    const step = cd.compile(
      cd.fn({ params: decl, state: method.init(decl), x: cd.f32('n', 3), y: cd.f32('n', 2) }, ({ params, state, x, y }) =>
        method.step((p) => loss({ params: p, x, y }), params, state),
      ),
      {
        ...backend,
        prepare: (program) => {
          prepared++
          return backend.prepare(program)
        },
      },
    )
    let now = { params: first(), state: method.init(first()) }
    const values: number[] = []
    for (let i = 0; i < 20; i++) {
      const { params, state, value } = step({ ...now, x, y })
      now = { params, state }
      values.push(value.item())
    }
    expect(prepared).toBe(1)
    for (let i = 1; i < 20; i++) expect(values[i]).toBeLessThanOrEqual(values[i - 1]!)
    expect(values[19]).toBeLessThan(0.5 * values[0]!)
  })
  it('Levenberg-Marquardt: one plan for steps that are taken and steps that are not', () => {
    const method = optim.levenbergMarquardt({ damping: 1e-9 })
    let prepared = 0
    const backend = makeCpu({ verify: true })
    const p = cd.f64(2)
    const rosenbrock = (z: cd.Expr<[2], 'f64'>) => {
      const [x, y] = cd.unstack(z)
      return cd.stack([cd.mul(10, cd.sub(y, cd.square(x))), cd.sub(1, x)])
    }
    const step = cd.compile(
      cd.fn({ p, state: method.init(p) }, ({ p, state }) => method.step(rosenbrock, p, state)),
      {
        ...backend,
        prepare: (program) => {
          prepared++
          return backend.prepare(program)
        },
      },
    )
    let now = { params: cd.tensor([-1.2, 1], [2]), state: method.init(cd.tensor([-1.2, 1], [2])) }
    const dampings: number[] = []
    for (let i = 0; i < 60; i++) {
      const { params, state } = step({ p: now.params, state: now.state })
      now = { params, state }
      dampings.push(state.damping.item())
    }
    expect(prepared).toBe(1)
    expect(dampings.some((d, i) => i > 0 && d > dampings[i - 1]!) && dampings.some((d, i) => i > 0 && d < dampings[i - 1]!)).toBe(true)
    expect(cd.treeAllClose(now.params, [1, 1], { rtol: 1e-12 })).toBe(true)
  })
  it('Adam: one loop for each leaf, and one for all that is scalar', () => {
    const plain = cd.compile(cd.valueAndGrad(loss, { wrt: 'params' }), makeCpu({}))
    const adam = cd.compile(stepOf(optim.adam({ learningRate: oneCycle })) as never, makeCpu({})) as unknown as Step
    const state = optim.adam({ learningRate: 1 }).init(first())
    adam({ params: first(), state, x, y })
    plain({ params: first(), x, y })
    const loops = (e: cd.Explanation): number => e.counts.loop ?? 0
    expect(adam.explain().counts.gemm).toBe(plain.explain().counts.gemm)
    expect(loops(adam.explain()) - loops(plain.explain())).toBeLessThanOrEqual(Object.keys(decl).length + 1)
  })
})
