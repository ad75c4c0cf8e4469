/** What no type checker has seen: every public function of codual/optim, and what it gives, with junk in each place: a result or one AdError. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import * as optim from '../../src/optim/index.js'
import { count } from '../depth.js'
import { broken } from '../errors/hostile.js'

const cyclic: { self?: unknown } = {}
cyclic.self = cyclic
const junk: readonly unknown[] = [
  undefined,
  null,
  {},
  'x',
  Number.NaN,
  1.5,
  -7,
  Number.POSITIVE_INFINITY,
  [],
  [[1], [2, 3]],
  ['a'],
  [null],
  true,
  () => 1,
  () => 'x',
  Symbol('s'),
  1n,
  cyclic,
  new Date(0),
  new Map(),
  cd.tensor([1, 2]),
  cd.tensor(1, [], 'i32'),
  cd.NoTangent,
  { learningRate: {} },
  { learningRate: 0.1, rate: 1 },
  { init: 1, update: 2 },
  { init: () => undefined, update: () => undefined },
  JSON.parse('{ "__proto__": { "x": 1 } }'),
  ...broken.map(([, make]) => make()),
]
type Anything = (...args: readonly unknown[]) => unknown
const tried = (what: string, f: () => unknown, wrong: string[]): unknown => {
  try {
    return f()
  } catch (e) {
    if (!cd.isAdException(e)) wrong.push(`${what}: ${e instanceof Error ? `${e.name}: ${e.message}` : String(e)}`)
    return undefined
  }
}
const good = cd.tensor([1, 2])
/** Calls a function with junk in each place, and good arrays in the others. */
const pelted = (name: string, f: Anything, arity: number, wrong: string[]): readonly unknown[] =>
  Array.from({ length: arity }, (_, at) => at).flatMap((at) =>
    junk.map((value, k) =>
      tried(`${name}, junk ${k} at ${at}`, () => f(...Array.from({ length: arity }, (_, i) => (i === at ? value : good))), wrong),
    ),
  )

const functions = Object.entries(optim as unknown as Readonly<Record<string, Anything>>)
describe('junk', () => {
  it.each(functions)('%s', (name, f) => {
    const wrong: string[] = []
    for (let arity = 1; arity <= count(2, 3); arity++)
      for (const made of pelted(name, f, arity, wrong)) {
        // What junk made a transformation, a minimiser or a schedule is used.
        const { init, update, step } = (made ?? {}) as Readonly<Record<string, Anything | undefined>>
        const state = init === undefined ? undefined : tried(`${name}.init`, () => init(good), wrong)
        if (update !== undefined) tried(`${name}.update`, () => cd.evaluate(update(good, state, good) as cd.AnyExpr), wrong)
        if (step !== undefined) tried(`${name}.step`, () => step((x: cd.AnyExpr) => cd.sum(x), good, state), wrong)
        if (typeof made === 'function') tried(`${name}()`, () => made(3), wrong)
      }
    expect(wrong).toEqual([])
  })
  const rate = { learningRate: 0.1 }
  const methods: Readonly<Record<string, object>> = {
    adam: optim.adam(rate),
    chain: optim.chain(optim.clip(1), optim.sgd(rate)),
    clipByGlobalNorm: optim.clipByGlobalNorm(1),
    ema: optim.ema({ decay: 0.5 }),
    masked: optim.masked(optim.sgd(rate), { w: true }),
    only: optim.only(optim.sgd(rate), { w: true }),
    multiSteps: optim.multiSteps(optim.sgd(rate), 2),
    adafactor: optim.adafactor(),
    muon: optim.muon(rate),
    shampoo: optim.shampoo(rate),
    lookahead: optim.lookahead(optim.sgd(rate)),
    scheduleFree: optim.scheduleFree(rate),
    sam: { update: optim.sam((x: unknown) => x) },
    lbfgs: optim.lbfgs(),
    gaussNewton: optim.gaussNewton(),
    levenbergMarquardt: optim.levenbergMarquardt(),
    cosine: { update: optim.cosineDecaySchedule({ initValue: 1, decaySteps: 3 }) },
  }
  it.each(Object.entries(methods))('init, update and step of %s', (name, method) => {
    const wrong: string[] = []
    for (const [part, f] of Object.entries(method as Readonly<Record<string, Anything>>))
      for (let arity = 1; arity <= count(2, 3); arity++) pelted(`${name}.${part}`, f, arity, wrong)
    expect(wrong).toEqual([])
  })
})

describe('errors', () => {
  const adam = optim.adam({ learningRate: 0.1 })
  const w = cd.tensor([1, 2])
  const cases: readonly (readonly [string, () => unknown, RegExp])[] = [
    ['a misspelt option', () => optim.adam({ learningrate: 1 } as never), /^BadInput: adam: there is no option learningrate\./],
    ['no rate', () => optim.sgd({} as never), /sgd: learningRate must be a number, a scalar expression or a schedule, not undefined/],
    ['a rate that is a vector', () => optim.sgd({ learningRate: w as never }), /sgd: learningRate must be a scalar, and has shape \[2\]/],
    ['a schedule that gives a vector', () => optim.sgd({ learningRate: (() => w) as never }).update(w, { count: cd.tensor(0, [], 'i32') }), /sgd: learningRate must be a scalar/],
    ['a decay of 1', () => optim.adam({ learningRate: 1, b2: 1 }), /adam: b2 must be below 1, not 1/],
    ['a negative decay of weights', () => optim.adamw({ learningRate: 1, weightDecay: -1 }), /adamw: weightDecay must be at least 0, not -1/],
    ['no parameters', () => optim.adamw({ learningRate: 1 }).update(w, optim.adamw({ learningRate: 1 }).init(w)), /adamw: it needs the parameters[\s\S]*update\(gradient, state, params\)/],
    ['the state of another', () => adam.update(w, { count: cd.tensor(0, [], 'i32') } as never), /adam: its state has no m\./],
    ['the state of other parameters', () => adam.update(w, adam.init(cd.tensor([1, 2, 3])) as never), /adam: m is f64 \[3\] beside f64 \[2\]/],
    ['a state of another structure', () => adam.update({ w }, adam.init({ v: w }) as never), /adam: m: tree 1 has another structure than tree 0: w is missing/],
    ['an integer gradient', () => adam.update(cd.tensor(1, [], 'i32'), {} as never), /its state has no count/],
    ['a count that is none', () => adam.update(w, { ...adam.init(w), count: w as never }), /adam: count in its state is not an i32 scalar/],
    ['updates of another shape', () => optim.applyUpdates({ w }, { w: cd.tensor([1]) } as never), /applyUpdates: w: the update is f64 \[1\] beside f64 \[2\]/],
    ['updates of another dtype', () => optim.applyUpdates({ w }, { w: cd.tensor(Float32Array.of(1, 2)) } as never), /applyUpdates: w: the update is f32 \[2\] beside f64 \[2\]/],
    ['plain numbers', () => adam.init({ w: [1, 2] }), /adam: w: is neither a tensor, nor an expression, nor a declared input/],
    ['declared and not', () => adam.init({ a: cd.f32(2), b: w }), /adam: some parameters are declared inputs, some are not/],
    ['a rule without update', () => optim.leafwise('mine', {}, () => ({}) as never).update(w, { count: cd.tensor(0, [], 'i32') }), /mine: its rule gave no update\./],
    ['a rule of another shape', () => optim.leafwise('mine', { a: 0 }, ({ g }) => ({ update: g, slots: { a: cd.sum(g) } })).update(w, { count: cd.tensor(0, [], 'i32'), a: w }), /mine: slot a is f64 \[\] beside f64 \[2\]/],
    ['a slot named count', () => optim.leafwise('mine', { count: 0 }, ({ g }) => ({ update: g, slots: { count: g } })), /mine: count is the number of steps, and no slot/],
    ['an empty chain', () => optim.chain(), /chain: it was given nothing/],
    ['a chain of what is none', () => optim.chain(3 as never), /chain: 3 is not a transformation: it lacks init or update/],
    ['a mask of numbers', () => optim.masked(adam, { w: 1 } as never).init({ w }), /masked: w: the mask is 1 there, not true or false/],
    ['a mask that takes no leaf', () => optim.only(adam, (path) => path.startsWith('haed')).init({ head: { w }, body: [{ w }] }), /^BadInput: only: the mask takes none of the leaves: body\.0\.w, head\.w\.[\s\S]*fix: a path is written as these are; where no leaf is meant, give a tree of false\./],
    ['a mask that takes no leaf, in a chain', () => optim.masked(optim.clip(1), () => false).update({ w }, {}), /masked: the mask takes none of the leaves: w\./],
    ['a mask of texts', () => optim.only(adam, (() => 'yes') as never).init({ w }), /only: w: the mask is 'yes' there, not true or false/],
    ['no micro-batches', () => optim.multiSteps(adam, 0), /multiSteps: the number of gradients must be a whole number of at least 1, not 0/],
    ['an axis without size beside a factor', () => optim.adafactor().init({ w: cd.f32('n', 2) }), /adafactor: w: the axis 'n' has no size/],
    ['a factor of other parameters', () => optim.muon({ learningRate: 1 }).update(w, optim.muon({ learningRate: 1 }).init(cd.tensor([[1, 2]])) as never), /muon: m is f64 \[1, 2\] beside f64 \[2\]/],
    ['preconditioners of other parameters', () => optim.shampoo({ learningRate: 1 }).update({ w }, optim.shampoo({ learningRate: 1 }).init({ w: cd.tensor([[1, 2]]) }) as never), /shampoo: w: left is not of a gradient \[2\]/],
    ['slow weights without parameters', () => optim.lookahead(optim.sgd({ learningRate: 1 })).update(w, optim.lookahead(optim.sgd({ learningRate: 1 })).init(w)), /lookahead: it needs the parameters/],
    ['an alpha of 0', () => optim.lookahead(optim.sgd({ learningRate: 1 }), { alpha: 0 }), /lookahead: alpha is 0\.[\s\S]*above 0 up to 1/],
    ['a decay above 1', () => optim.shampoo({ learningRate: 1, decay: 2 }), /shampoo: decay is 2\./],
    ['a gradient of another structure', () => optim.sam(() => ({ v: w }))({ w } as never), /sam: params: tree 1 has another structure/],
    ['a gradient that is no function', () => optim.sam(3 as never), /sam: the gradient/],
    ['a line search that is none', () => optim.lbfgs({ lineSearch: 'wolfe' as never }), /lbfgs: lineSearch is 'wolfe'[\s\S]*'backtracking' or 'none'/],
    ['an axis without size', () => optim.lbfgs().init({ w: cd.f32('n') }), /lbfgs: w: the axis 'n' has no size/],
    ['no floats to solve for', () => optim.gaussNewton().step(() => cd.zeros([2]), { n: cd.tensor(1, [], 'i32') }, { count: cd.tensor(0, [], 'i32') }), /gaussNewton: the parameters hold no floats/],
    ['a function that gives no expression', () => optim.gaussNewton().step((() => 'x') as never, w, optim.gaussNewton().init(w)), /gaussNewton: the function returned no expression of floats/],
    ['a vector to minimise', () => optim.lbfgs().step(((x: cd.AnyExpr) => x) as never, w, optim.lbfgs().init(w)), /needs a scalar/],
    ['a cycle that does not turn', () => optim.oneCycleSchedule({ peakValue: 1, transitionSteps: 10, pctStart: 1 }), /pctStart must be between 0 and 1, not 1/],
    ['a schedule without steps', () => optim.cosineDecaySchedule({ initValue: 1, decaySteps: 0 }), /decaySteps must be a whole number of at least 1, not 0/],
  ] // biome-ignore format: one row each
  it.each(cases)('%s', (_, f, says) => {
    let said = ''
    try {
      f()
    } catch (e) {
      expect(cd.isAdException(e)).toBe(true)
      said = (e as Error).message
    }
    expect(said).toMatch(says)
  })
})
