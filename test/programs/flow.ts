// A normalising flow: a density of points of the plane, learnt from two half-moons. Six affine couplings take the points to a normal
// distribution, each changing one coordinate by a network of the other. Dinh, Sohl-Dickstein and Bengio, Density estimation using Real NVP
// (2017), (3) to (8).
import {
  add,
  at,
  compile,
  exp,
  f64,
  fn,
  matmul,
  mean,
  mul,
  neg,
  square,
  stack,
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

const coupling = { w1: f64(16), b1: f64(16), w2: f64(16, 2), b2: f64(2) }
export const flow = [coupling, coupling, coupling, coupling, coupling, coupling]

/** The log of the scale, kept within -2 and 2, and the translation of one coordinate, as functions of the other. */
const network = fn({ params: coupling, x: f64() }, ({ params: { w1, b1, w2, b2 }, x }) => {
  const y = add(matmul(tanh(add(mul(w1, x), b1)), w2), b2)
  return { s: mul(2, tanh(at(y, 0))), t: at(y, 1) }
})

/** From a point to the normal distribution, and the log of the determinant of the Jacobian: the sum of all s. */
export const forward = fn({ params: flow, x: f64(2) }, ({ params, x }) => {
  let a = at(x, 0)
  let b = at(x, 1)
  let logDet = sub(0, 0)
  for (const p of params) {
    const { s, t } = network({ params: p, x: a })
    ;[a, b] = [add(mul(b, exp(s)), t), a]
    logDet = add(logDet, s)
  }
  return { z: stack([a, b]), logDet }
})

/** And back: a sample of the flow for each of the normal distribution. */
export const backward = fn({ params: flow, z: f64(2) }, ({ params, z }) => {
  let a = at(z, 0)
  let b = at(z, 1)
  for (const p of [...params].reverse()) {
    const { s, t } = network({ params: p, x: b })
    ;[a, b] = [b, mul(sub(a, t), exp(neg(s)))]
  }
  return stack([a, b])
})

/** log p(x) = log N(z; 0, 1) + log |dz/dx|. */
export const logDensity = fn({ params: flow, x: f64(2) }, ({ params, x }) => {
  const { z, logDet } = forward({ params, x })
  return sub(logDet, add(mul(0.5, sum(square(z))), Math.log(2 * Math.PI)))
})
export const logDensities = fn({ params: flow, xs: f64('points', 2) }, ({ params, xs }) => vmap((x) => logDensity({ params, x }))(xs))
/** The mean of -log p: least where p is the distribution of the points. */
export const loss = fn({ params: flow, xs: f64('points', 2) }, (given) => neg(mean(logDensities(given))))

/** Points of two half-circles that reach into one another, with normal noise. */
export const moons = (count: number, seed: number) => {
  const { uniform, normal } = random(seed)
  return Array.from({ length: count }, (_, i) => {
    const angle = Math.PI * uniform()
    const [x, y] = i % 2 === 0 ? [Math.cos(angle), Math.sin(angle)] : [1 - Math.cos(angle), 0.5 - Math.sin(angle)]
    return [x - 0.5 + 0.1 * normal(), y - 0.25 + 0.1 * normal()]
  })
}

/** Small normal numbers: a flow near the one that changes nothing but the order of the coordinates. */
export const initial = (seed: number) => {
  const { normals } = random(seed)
  return treeMap(
    (leaf) =>
      tensor(
        normals(leaf.shape).map((x) => 0.3 * x),
        leaf.shape,
      ),
    flow,
  )
}

const optimiser = adam({ learningRate: 0.01 })
const step = compile(
  fn({ params: flow, state: optimiser.init(flow), xs: f64('points', 2) }, ({ params, state, xs }) => {
    const { value, grad } = valueAndGrad(loss, { wrt: 'params' })({ params, xs })
    const { updates, state: next } = optimiser.update(grad, state, params)
    return { params: applyUpdates(params, updates), state: next, loss: value }
  }),
)

/** Learns the density of the points, all of them in each step. */
export const learn = (xs: number[][], steps: number, seed: number) => {
  let params = initial(seed)
  let state = optimiser.init(params)
  const losses: number[] = []
  for (let i = 0; i < steps; i++) {
    const done = step({ params, state, xs })
    ;({ params, state } = done)
    losses.push(done.loss.item())
  }
  return { params, losses }
}
