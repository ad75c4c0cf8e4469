/** 10 steps of the optimisers that come from papers, in f64 and in f32, on leaves of every rank; each step is one compiled program. optim-papers.py made the values. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import * as optim from '../../src/optim/index.js'
import golden from './optim-papers.json' with { type: 'json' }

const { problem, runs } = golden
type Tree = Readonly<Record<string, cd.Tensor>>
type Exprs = Readonly<Record<string, cd.AnyExpr>>
const treeOf = (tree: object, dtype: cd.Float): Tree =>
  Object.fromEntries(Object.entries(tree).map(([name, x]) => [name, cd.evaluate(cd.cast(cd.tensor(x as number[]), dtype))]))
/** The gradient of optim-papers.py, written as a loss here: by reverse mode it is the same. */
const gradientIn = (dtype: cd.Float) => {
  const [target, curve] = [treeOf(problem.target, dtype), treeOf(problem.curve, dtype)]
  return (params: Exprs): Exprs =>
    cd.grad(((p: Exprs) =>
      Object.entries(p)
        .map(([name, x]) => {
          const own = cd.add(
            cd.mul(0.5, cd.sum(cd.mul(curve[name]!, cd.square(cd.sub(x, target[name]!))))),
            cd.mul(0.25, cd.sum(cd.square(cd.square(x)))),
          )
          return (x.shape.length === 0 ? own : cd.add(own, cd.mul(0.5, cd.sum(cd.square(cd.sum(x, { axis: -1 })))))) as cd.AnyExpr
        })
        .reduce((a, b) => cd.add(a, b) as cd.AnyExpr)) as never)(params as never) as unknown as Exprs
}
type State = { readonly average: Tree }
interface Run {
  readonly optimiser: optim.Transformation<never>
  readonly around?: (gradient: (p: Exprs) => Exprs) => (p: Exprs) => Exprs
  readonly shown?: (params: Tree, state: State) => Tree
}
const run = <S>(optimiser: optim.Transformation<S>, more: Omit<Run, 'optimiser'> = {}): Run => ({
  optimiser: optimiser as unknown as Run['optimiser'],
  ...more,
})
const made: { readonly [K in keyof typeof runs]: Run } = {
  adafactor: run(optim.adafactor()),
  'adafactor with a rate': run(optim.adafactor({ learningRate: 0.1, clip: 0.7, decay: 0.6, minScale: 0.5, weightDecay: 0.1 })),
  muon: run(optim.muon({ learningRate: 0.1 })),
  'muon with decay': run(optim.muon({ learningRate: 0.05, adamLearningRate: 0.2, momentum: 0.8, weightDecay: 0.1, iterations: 3 })),
  shampoo: run(optim.shampoo({ learningRate: 0.3 })),
  'shampoo with means': run(optim.shampoo({ learningRate: 0.05, eps: 1e-2, momentum: 0.9, decay: 0.8, weightDecay: 0.1 })),
  lookahead: run(optim.lookahead(optim.adam({ learningRate: 0.1 }), { every: 3, alpha: 0.4 })),
  scheduleFree: run(optim.scheduleFree({ learningRate: 0.1 })),
  'scheduleFree, its average': run(optim.scheduleFree({ learningRate: 0.1 }), { shown: (_, state) => state.average }),
  'scheduleFree with decay': run(optim.scheduleFree({ learningRate: 0.2, b1: 0.8, b2: 0.95, weightDecay: 0.1, warmupSteps: 4 })),
  sam: run(optim.sgd({ learningRate: 0.05 }), { around: (g) => optim.sam(g, { rho: 0.3 }) }),
  'sam, adaptive': run(optim.sgd({ learningRate: 0.03 }), { around: (g) => optim.sam(g, { rho: 0.5, adaptive: true }) }),
}

describe.each([
  ['f64', 1e-12],
  ['f32', 2e-5],
] as const)('%s', (dtype, tolerance) => {
  it.each(Object.keys(made) as (keyof typeof runs)[])('%s', (name) => {
    const { optimiser, around = (g) => g, shown = (p) => p } = made[name]
    const gradient = around(gradientIn(dtype))
    const step = cd.compile((({ params, state }: { params: never; state: never }) => {
      const { updates, state: next } = optimiser.update(gradient(params) as never, state, params)
      return { params: optim.applyUpdates(params, updates as never), state: next }
    }) as never) as unknown as (given: object) => { readonly params: Tree; readonly state: State }
    const first = treeOf(problem.first, dtype)
    let now = { params: first, state: optimiser.init(first) as unknown as State }
    runs[name].forEach((want, k) => {
      now = step(now)
      const tree = shown(now.params, now.state)
      const got = Object.keys(tree)
        .sort()
        .flatMap((leaf) => [...tree[leaf]!.data])
      expect(got).toHaveLength(want.length)
      for (const x of Object.values(now.params)) expect(x.dtype).toBe(dtype)
      const size = Math.max(...want.map(Math.abs))
      expect(Math.max(...want.map((w, i) => Math.abs(w - got[i]!))) / size, `step ${k}`).toBeLessThan(tolerance)
    })
    expect(runs[name]).toHaveLength(10)
  })
})
