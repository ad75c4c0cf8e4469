// A variational autoencoder of 3 x 3 images of bars: two hidden numbers, Bernoulli pixels, and noise that is given, so that every function is
// pure. Kingma and Welling, Auto-encoding variational Bayes (2014): the bound is their (10), its KL term appendix B.
import {
  type AnyExpr,
  add,
  compile,
  exp,
  f32,
  fn,
  linear,
  log,
  logsumexp,
  mean,
  mul,
  neg,
  softplus,
  split,
  square,
  sub,
  sum,
  tanh,
  tensor,
  treeMap,
  valueAndGrad,
  vmap,
} from '../../src/index.js'
import { adam, applyUpdates } from '../../src/optim/index.js'
import { random } from './data/random.js'

/** Every image with horizontal bars only: one of 8 sets of rows that are filled; then those with vertical bars. */
export const bars = Array.from({ length: 16 }, (_, k) =>
  Array.from({ length: 9 }, (_, i) => ((k % 8) >> (k < 8 ? Math.floor(i / 3) : i % 3)) & 1),
)

const encoder = { hidden: { w: f32(9, 16), b: f32(16) }, out: { w: f32(16, 4), b: f32(4) } }
const decoder = { hidden: { w: f32(2, 16), b: f32(16) }, out: { w: f32(16, 9), b: f32(9) } }
export const vae = { encoder, decoder }

/** Mean and log-variance of q(z | x), a normal distribution whose z are independent. */
export const encode = fn({ params: encoder, x: f32(9) }, ({ params: { hidden, out }, x }) => {
  const [mu, logVar] = split(linear(tanh(linear(x, hidden.w, hidden.b)), out.w, out.b), 2)
  return { mu, logVar }
})
/** log p(x | z) = sum of x l - log(1 + e^l) over the pixels, l their logits. */
export const logLikelihood = fn({ params: decoder, z: f32(2), x: f32(9) }, ({ params: { hidden, out }, z, x }) => {
  const logits = linear(tanh(linear(z, hidden.w, hidden.b)), out.w, out.b)
  return sum(sub(mul(x, logits), softplus(logits)))
})

/** log p(x | z) - KL(q(z | x) | N(0, 1)) at z = mu + sigma noise: on average at most log p(x). */
export const elbo = fn({ params: vae, x: f32(9), noise: f32(2) }, ({ params, x, noise }) => {
  const { mu, logVar } = encode({ params: params.encoder, x })
  const z = add(mu, mul(exp(mul(0.5, logVar)), noise))
  const kl = mul(0.5, sum(sub(add(square(mu), exp(logVar)), add(1, logVar))))
  return sub(logLikelihood({ params: params.decoder, z, x }), kl)
})
export const loss = fn({ params: vae, xs: f32('images', 9), noise: f32('images', 2) }, ({ params, xs, noise }) =>
  neg(mean(vmap((x, noise) => elbo({ params, x, noise }))(xs, noise))),
)

/** log p(x): the integral of p(x | z) N(z; 0, 1) by the rectangle rule, over a grid of points z that each stand for some area. */
export const evidence = fn({ params: decoder, x: f32(9), grid: f32('points', 2), area: f32() }, ({ params, x, grid, area }) => {
  const joint = (z: AnyExpr) => sub(logLikelihood({ params, z, x }), add(mul(0.5, sum(square(z))), Math.log(2 * Math.PI)))
  return add(logsumexp(vmap(joint)(grid)), log(area))
})

export const initial = (seed: number) => {
  const { normals } = random(seed)
  return treeMap(
    (leaf) =>
      tensor(
        normals(leaf.shape).map((x) => 0.3 * x),
        leaf.shape,
        'f32',
      ),
    vae,
  )
}

const optimiser = adam({ learningRate: 0.01 })
const step = compile(
  fn({ params: vae, state: optimiser.init(vae), xs: f32('images', 9), noise: f32('images', 2) }, ({ params, state, xs, noise }) => {
    const { value, grad } = valueAndGrad(loss, { wrt: 'params' })({ params, xs, noise })
    const { updates, state: next } = optimiser.update(grad, state, params)
    return { params: applyUpdates(params, updates), state: next, loss: value }
  }),
)

/** Learns the bars with new noise in each step; the parameters, and the loss of each step. */
export const learn = (steps: number, seed: number) => {
  const { normals } = random(seed)
  let params = initial(seed)
  let state = optimiser.init(params)
  const losses: number[] = []
  for (let i = 0; i < steps; i++) {
    const done = step({ params, state, xs: bars, noise: tensor(normals([16, 2]), [16, 2], 'f32') })
    ;({ params, state } = done)
    losses.push(done.loss.item())
  }
  return { params, losses }
}
