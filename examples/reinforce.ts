// REINFORCE with a baseline learns to balance a pole on a cart. `npm run example:reinforce`
//
// The policy gradient of Williams 1992 makes an action likelier by how much better the episode went on than a second network, the baseline, predicted.
// An episode has any length up to 200 steps. `bucket` and `padTo` pad each to one of a few sizes, so the compiled step has a few plans, and a mask keeps the padding out of the loss.
import {
  add,
  bool,
  cast,
  compile,
  cpu,
  crossEntropy,
  div,
  f64,
  fn,
  grad,
  i32,
  mul,
  reshape,
  softmax,
  square,
  stopGradient,
  sub,
  sum,
  type Tensors,
  tanh,
  tensor,
  where,
} from '../src/index.js'
import { dense, sequential } from '../src/nn/index.js'
import { adam, applyUpdates, chain, clipByGlobalNorm, cosineDecaySchedule } from '../src/optim/index.js'
import { foldIn, key, uniform } from '../src/random/index.js'
import { bucket, padTo } from '../src/train/index.js'
import { expectThat, type Log, start } from './entry.js'
import { plot } from './plot.js'

export interface ReinforceOptions {
  readonly episodes?: number
  readonly seed?: number
  readonly out?: string
}

/** Position and speed of the cart, angle and angular speed of the pole. */
export type State = readonly [x: number, v: number, angle: number, w: number]
/** The longest episode. */
export const limit = 200
/** The cart pole of Barto, Sutton and Anderson 1983: 0.02 s later by Euler's method, pushed by 10 N to the left (0) or to the right (1). */
export const pushed = ([x, v, angle, w]: State, action: number): State => {
  const [gravity, pole, total, half, time] = [9.8, 0.1, 1.1, 0.5, 0.02]
  const [sin, cos] = [Math.sin(angle), Math.cos(angle)]
  const push = ((action === 1 ? 10 : -10) + pole * half * w * w * sin) / total
  const turning = (gravity * sin - cos * push) / (half * (4 / 3 - (pole * cos * cos) / total))
  const speeding = push - (pole * half * turning * cos) / total
  return [x + time * v, v + time * speeding, angle + time * w, w + time * turning]
}
/** An episode ends when the cart leaves its track or the pole leans by more than 12 degrees. */
const fallen = ([x, , angle]: State): boolean => Math.abs(x) > 2.4 || Math.abs(angle) > Math.PI / 15

const policy = sequential(dense(4, 32, { dtype: 'f64' }), tanh, dense(32, 2, { dtype: 'f64' }))
const baseline = sequential(dense(4, 32, { dtype: 'f64' }), tanh, dense(32, 1, { dtype: 'f64' }))
const declared = { policy: policy.declared, baseline: baseline.declared }
type Params = Tensors<typeof declared>
export const initial = (seed: number): Params => ({
  policy: policy.init(foldIn(key(seed), 0)),
  baseline: baseline.init(foldIn(key(seed), 1)),
})

/** Steps of one episode; the mask is false where they are padding. */
const episode = { states: f64('n', 4), actions: i32('n'), returns: f64('n'), mask: bool('n') }
/** The mean over the steps: the policy's loss, whose gradient is REINFORCE's, and the square error of the baseline. */
export const loss = fn({ p: declared, ...episode }, ({ p, states, actions, returns, mask }) => {
  const better = sub(returns, reshape(baseline.apply(p.baseline, states), [-1]))
  const surprise = crossEntropy(policy.apply(p.policy, states), actions, { reduction: 'none' })
  const losses = add(mul(surprise, stopGradient(better)), square(better))
  return div(sum(where(mask, losses, 0)), sum(cast(mask, 'f64')))
})

const chances = compile(
  fn({ p: policy.declared, x: f64(1, 4) }, ({ p, x }) => softmax(policy.apply(p, x))),
  cpu(),
)
const draws = compile(
  fn({ key: i32(2), i: i32() }, ({ key, i }) => uniform(foldIn(key, i), [4 + limit])),
  cpu(),
)
/** Episode i of a seed: actions are drawn by their chances, from a start near the middle. A step's return is in [0, 1): the steps that follow, discounted, over an endless episode's. */
export const play = (p: Params, seed: number, i: number) => {
  const [x = 0, v = 0, angle = 0, w = 0, ...luck] = draws({ key: key(seed), i }).data
  const states: State[] = []
  const actions: number[] = []
  let state: State = [0.1 * x - 0.05, 0.1 * v - 0.05, 0.1 * angle - 0.05, 0.1 * w - 0.05]
  for (let t = 0; t < limit && !fallen(state); t++) {
    const left = chances({ p: p.policy, x: [state] }).data[0]!
    const action = luck[t]! < left ? 0 : 1
    states.push(state)
    actions.push(action)
    state = pushed(state, action)
  }
  const n = states.length
  return {
    states: tensor(states, [n, 4]),
    actions: tensor(actions, [n], 'i32'),
    returns: tensor(actions.map((_, t) => 1 - 0.98 ** (n - t))),
  }
}
/** How long the pole stands, in the mean of 20 episodes that nothing is learned from. */
const standing = (p: Params, seed: number): number =>
  Array.from({ length: 20 }, (_, i) => play(p, seed, 1e6 + i).actions.shape[0]!).reduce((a, b) => a + b) / 20

export const main = async (log: Log, { episodes = 300, seed = 1, out = 'out' }: ReinforceOptions = {}) => {
  const optimiser = chain(clipByGlobalNorm(1), adam({ learningRate: cosineDecaySchedule({ initValue: 0.01, decaySteps: episodes }) }))
  const backend = cpu({ cacheBytes: 2 ** 24 }) // a backend, and so a count of plans, of this example's own
  backend.clearCache()
  const learn = compile(
    fn({ p: declared, state: optimiser.init(declared), ...episode }, ({ p, state, ...steps }) => {
      const { updates, state: next } = optimiser.update(grad(loss, { wrt: 'p' })({ p, ...steps }), state, p)
      return { p: applyUpdates(p, updates), state: next }
    }),
    backend,
  )
  let now = { p: initial(seed), state: optimiser.init(initial(seed)) }
  const before = standing(now.p, seed)
  const lengths: number[] = []
  for (let i = 0; i < episodes; i++) {
    const steps = play(now.p, seed, i)
    const n = steps.actions.shape[0]!
    const { data, mask } = padTo(steps, bucket(n, { least: 16 }))
    now = learn({ ...now, ...data, mask })
    lengths.push(n)
  }
  const after = standing(now.p, seed)
  const [seen, { plans }] = [new Set(lengths).size, backend.cache()]
  log(`the pole stands for ${before.toFixed(1)} of ${limit} steps before, ${after.toFixed(1)} after ${episodes} episodes`)
  log(`episodes of ${seen} lengths: ${plans} plans`)
  expectThat(episodes < 250 || after > 180, 'more than 180 of 200 steps')
  const around = (i: number) => lengths.slice(Math.max(0, i - 9), i + 1)
  const file = await plot(out, 'reinforce', {
    title: 'How long the pole stands',
    x: 'episode',
    y: 'steps',
    points: { 'an episode': lengths.map((n, i) => [i, n]) },
    lines: { 'mean of ten': lengths.map((_, i) => [i, around(i).reduce((a, b) => a + b) / around(i).length]) },
  })
  log(`picture: ${file}`)
  return { before, after, lengths, seen, plans, learned: now.p, file }
}
start(import.meta.url, main)
