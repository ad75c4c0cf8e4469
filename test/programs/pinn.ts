/**
 * A physics-informed network: Burgers' equation u_t + u u_x = nu u_xx solved by a network whose derivatives fit it at many places.
 * Raissi, Perdikaris and Karniadakis 2019. The exact solution is a wave that travels without a change of shape, Whitham 1974, 4.3.
 */
import { add, at, compile, f64, fn, grad, linear, mean, mul, square, stack, sub, tanh, tensor, type Values, vmap } from '../../src/index.js'
import { lbfgs } from '../../src/optim/index.js'

export const nu = 0.1

const declared = {
  first: { w: f64(2, 16), b: f64(16) },
  second: { w: f64(16, 16), b: f64(16) },
  out: { w: f64(16, 1), b: f64(1) },
}

/** The network at one place: a scalar. */
export const u = fn({ params: declared, x: f64(), t: f64() }, ({ params: { first, second, out }, x, t }) => {
  const a = tanh(linear(stack([x, t]), first.w, first.b))
  const b = tanh(linear(a, second.w, second.b))
  return at(linear(b, out.w, out.b), 0)
})

const ux = grad(u, { wrt: 'x' })
const ut = grad(u, { wrt: 't' })
const uxx = grad(ux, { wrt: 'x' })

/** u_t + u u_x - nu u_xx at one place: 0 for a solution. */
export const residual = fn({ params: declared, x: f64(), t: f64() }, (place) =>
  sub(add(ut(place), mul(u(place), ux(place))), mul(nu, uxx(place))),
)

const place = { x: f64(), t: f64() }
/** Places inside, and places at the edge, where the solution is given. */
const declaredData = { inside: { x: f64('n'), t: f64('n') }, edge: { x: f64('m'), t: f64('m') }, given: f64('m') }

/** The mean squares of the residual inside and of the error at the edge. */
export const loss = fn({ params: declared, ...declaredData }, ({ params, inside, edge, given }) => {
  const equation = vmap(fn(place, ({ x, t }) => residual({ params, x, t })))(inside)
  const solution = vmap(fn(place, ({ x, t }) => u({ params, x, t })))(edge)
  return add(mean(square(equation)), mean(square(sub(solution, given))))
})

/** L-BFGS from small numbers: the parameters, and the loss before each step. */
export const solve = (data: Values<typeof declaredData>, iterations: number) => {
  const method = lbfgs()
  const step = compile(
    fn({ params: declared, state: method.init(declared), ...declaredData }, ({ params, state, ...data }) =>
      method.step((params) => loss({ params, ...data }), params, state),
    ),
  )
  const losses = []
  let params = initial
  let state = method.init(initial)
  for (let i = 0; i < iterations; i++) {
    const done = step({ params, state, ...data })
    losses.push(done.value.item())
    params = done.params
    state = done.state
  }
  return { params, losses }
}

/** The wave from 1 on the left to 0 on the right that travels at 1/2. */
export const exact = (x: number, t: number) => 0.5 - 0.5 * Math.tanh((x - t / 2) / (4 * nu))

/** Places on a grid inside, and the solution at the first instant and at both ends. */
const grid = (n: number, from: number, to: number) => Array.from({ length: n }, (_, i) => from + ((to - from) * (i + 0.5)) / n)
const xs = grid(16, -1, 1)
const ts = grid(8, 0, 1)
const edge = [...xs.map((x) => ({ x, t: 0 })), ...ts.flatMap((t) => [-1, 1].map((x) => ({ x, t })))]
export const data = {
  inside: { x: xs.flatMap((x) => ts.map(() => x)), t: xs.flatMap(() => ts) },
  edge: { x: edge.map(({ x }) => x), t: edge.map(({ t }) => t) },
  given: edge.map(({ x, t }) => exact(x, t)),
}

/** Small numbers to begin with, the same in every run. */
const wave = (n: number) => Float64Array.from({ length: n }, (_, i) => 0.6 * Math.sin(1 + 1.7 * i))
export const initial = {
  first: { w: tensor(wave(32), [2, 16]), b: tensor(wave(16)) },
  second: { w: tensor(wave(256), [16, 16]), b: tensor(wave(16)) },
  out: { w: tensor(wave(16), [16, 1]), b: tensor(wave(1)) },
}
