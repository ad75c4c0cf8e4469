// A transformer of one block reads a sentence letter by letter and says the next one: causal attention with two heads and a network of two
// layers, each on the layer norm of its input and added to it. Vaswani et al. 2017; the norms' place: Xiong et al. 2020, fig. 1 (b).
import {
  add,
  arange,
  argmax,
  at,
  compile,
  crossEntropy,
  div,
  einsum,
  embedding,
  expandDims,
  f32,
  fn,
  ge,
  gelu,
  i32,
  layerNorm,
  linear,
  matmul,
  softmax,
  tensor,
  transpose,
  treeMap,
  valueAndGrad,
  where,
} from '../../src/index.js'
import { adam, applyUpdates } from '../../src/optim/index.js'
import { random } from './data/random.js'

export const text = 'to be, or not to be, that is the question:'
/** The letters of the text; a token is a place in this list. */
export const letters = [...new Set(text)].sort()
export const tokensOf = (s: string) => Int32Array.from(s, (letter) => letters.indexOf(letter))

const width = 16
const heads = 2
const norm = { scale: f32(width), bias: f32(width) }
const head = f32(heads, width, width / heads)
export const transformer = {
  token: f32(letters.length, width),
  place: f32(text.length, width),
  attention: { norm, q: head, k: head, v: head, out: f32(heads, width / heads, width) },
  network: { norm, w1: f32(width, 64), b1: f32(64), w2: f32(64, width), b2: f32(width) },
  norm,
}

/** softmax(Q K' / sqrt(d)) V in each head; a letter sees itself and those before it. */
const attention = fn({ params: transformer.attention, x: f32('time', width) }, ({ params: p, x }) => {
  const y = layerNorm(x, p.norm)
  const q = einsum('td,hdk->htk', y, p.q)
  const k = einsum('td,hdk->htk', y, p.k)
  const v = einsum('td,hdk->htk', y, p.v)
  const scores = div(einsum('htk,hsk->hts', q, k), Math.sqrt(width / heads))
  const time = arange(x.shape[0])
  const weights = softmax(where(ge(expandDims(time, 1), time), scores, -Infinity))
  return einsum('hts,hsk,hkd->td', weights, v, p.out)
})

const network = fn({ params: transformer.network, x: f32('time', width) }, ({ params: p, x }) =>
  linear(gelu(linear(layerNorm(x, p.norm), p.w1, p.b1)), p.w2, p.b2),
)

/** The scores of each letter to be the next one, after each letter. */
export const scores = fn({ params: transformer, tokens: i32('time') }, ({ params: p, tokens }) => {
  const x0 = add(embedding(p.token, tokens), at(p.place, arange(tokens.shape[0], 'i32')))
  const x1 = add(x0, attention({ params: p.attention, x: x0 }))
  const x2 = add(x1, network({ params: p.network, x: x1 }))
  return matmul(layerNorm(x2, p.norm), transpose(p.token))
})

/** The mean of -log p(next letter | letters up to here). */
export const loss = fn({ params: transformer, tokens: i32('time'), next: i32('time') }, ({ params, tokens, next }) =>
  crossEntropy(scores({ params, tokens }), next),
)

/** Normal numbers of deviation 0.3 in place of every parameter; scales of the norms 1, biases 0. */
export const initial = (seed: number) => {
  const { normals } = random(seed)
  return treeMap((leaf, path) => {
    const draws = normals(leaf.shape).map((x) => (path.endsWith('scale') ? 1 : path.endsWith('bias') ? 0 : 0.3 * x))
    return tensor(draws, leaf.shape, 'f32')
  }, transformer)
}

const optimiser = adam({ learningRate: 0.01 })
const step = compile(
  fn(
    { params: transformer, state: optimiser.init(transformer), tokens: i32('time'), next: i32('time') },
    ({ params, state, tokens, next }) => {
      const { value, grad } = valueAndGrad(loss, { wrt: 'params' })({ params, tokens, next })
      const { updates, state: after } = optimiser.update(grad, state, params)
      return { params: applyUpdates(params, updates), state: after, loss: value }
    },
  ),
)

/** Learns the text; the parameters, and the loss before each step. */
export const learn = (steps: number, seed: number) => {
  const all = tokensOf(text)
  const data = { tokens: all.subarray(0, -1), next: all.subarray(1) }
  let params = initial(seed)
  let state = optimiser.init(params)
  const losses: number[] = []
  for (let i = 0; i < steps; i++) {
    const done = step({ params, state, ...data })
    ;({ params, state } = done)
    losses.push(done.loss.item())
  }
  return { params, losses }
}

const likeliest = compile(
  fn({ params: transformer, tokens: i32('time'), place: i32() }, ({ params, tokens, place }) =>
    argmax(at(scores({ params, tokens }), place)),
  ),
)
/** What the model writes: always the likeliest next letter. What stands behind it is not seen, so spaces will do. */
export const write = (params: ReturnType<typeof initial>, beginning: string): string => {
  let written = beginning
  while (written.length < text.length) {
    const tokens = tokensOf(written.padEnd(text.length))
    written += letters[likeliest({ params, tokens, place: written.length - 1 }).item()]
  }
  return written
}
