// A gated recurrent unit reads a sequence of symbols and says, at its end, which was the first: it has to learn what to keep.
// Cho et al. 2014, with the reset gate after the product, as PyTorch and cuDNN have it; unrolled over the sequence.
import {
  add,
  argmax,
  at,
  cast,
  compile,
  crossEntropy,
  eq,
  f32,
  fn,
  i32,
  linear,
  mean,
  mul,
  oneHot,
  sigmoid,
  split,
  sub,
  tanh,
  tensor,
  treeMap,
  valueAndGrad,
  zeros,
} from '../../src/index.js'
import { adam, applyUpdates, chain, clipByGlobalNorm } from '../../src/optim/index.js'
import { batches, train } from '../../src/train/index.js'
import { random } from './data/random.js'

const symbols = 4
const hidden = 8
const gates = 24 // r, z and n of every hidden unit
const length = 8

const cell = { wi: f32(symbols, gates), bi: f32(gates), wh: f32(hidden, gates), bh: f32(gates) }
export const classifier = { cell, out: { w: f32(hidden, symbols), b: f32(symbols) } }

/** The next state: r and z are the gates, n what is new. */
export const gru = fn({ params: cell, x: f32('batch', symbols), h: f32('batch', hidden) }, ({ params: p, x, h }) => {
  const [rx, zx, nx] = split(linear(x, p.wi, p.bi), 3, { axis: -1 })
  const [rh, zh, nh] = split(linear(h, p.wh, p.bh), 3, { axis: -1 })
  const r = sigmoid(add(rx, rh))
  const z = sigmoid(add(zx, zh))
  const n = tanh(add(nx, mul(r, nh)))
  return add(mul(sub(1, z), n), mul(z, h))
})

/** The scores of the classes after the last symbol. */
export const scores = fn({ params: classifier, sequences: i32('batch', length) }, ({ params: { cell, out }, sequences }) => {
  let h = zeros([sequences.shape[0], hidden], 'f32')
  for (let t = 0; t < length; t++) h = gru({ params: cell, x: oneHot(at(sequences, ':', t), symbols, 'f32'), h })
  return linear(h, out.w, out.b)
})
export const loss = fn({ params: classifier, sequences: i32('batch', length), classes: i32('batch') }, ({ params, sequences, classes }) =>
  crossEntropy(scores({ params, sequences }), classes),
)
export const accuracy = fn(
  { params: classifier, sequences: i32('batch', length), classes: i32('batch') },
  ({ params, sequences, classes }) => mean(cast(eq(argmax(scores({ params, sequences }), { axis: -1 }), classes), 'f32')),
)

/** Random sequences; the class of each is its first symbol. */
export const task = (count: number, seed: number) => {
  const { uniform } = random(seed)
  const sequences = Int32Array.from({ length: count * length }, () => Math.floor(symbols * uniform()))
  const classes = Int32Array.from({ length: count }, (_, i) => sequences[i * length] ?? 0)
  return { sequences: tensor(sequences, [count, length]), classes: tensor(classes, [count]) }
}

/** Normal numbers of variance 1 / hidden. */
export const initial = (seed: number) => {
  const { normals } = random(seed)
  return treeMap(
    (leaf) =>
      tensor(
        normals(leaf.shape).map((x) => x / Math.sqrt(hidden)),
        leaf.shape,
        'f32',
      ),
    classifier,
  )
}

const optimiser = chain(clipByGlobalNorm(1), adam({ learningRate: 0.02 }))
const step = compile(
  fn(
    { params: classifier, state: optimiser.init(classifier), sequences: i32('batch', length), classes: i32('batch') },
    ({ params, state, sequences, classes }) => {
      const { value, grad } = valueAndGrad(loss, { wrt: 'params' })({ params, sequences, classes })
      const { updates, state: next } = optimiser.update(grad, state, params)
      return { params: applyUpdates(params, updates), state: next, loss: value }
    },
  ),
)

/** A run over all of the data, `epochs` times, in minibatches of 32. */
export const learn = (data: ReturnType<typeof task>, epochs: number, seed: number) => {
  const params = initial(seed)
  return train(
    (state, batch) => {
      const { loss, ...next } = step({ ...state, ...batch })
      return { state: next, loss }
    },
    batches(data, { size: 32, seed }),
    { state: { params, state: optimiser.init(params) }, epochs },
  )
}
