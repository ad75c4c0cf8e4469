/**
 * A neural ordinary differential equation: dy/dt = f(y) with a small network for f, fitted to a spiral through the steps of the
 * solver. Chen, Rubanova, Bettencourt and Duvenaud 2018; the classical method of Runge and Kutta, Hairer, Nørsett and Wanner 1993, II.1.
 */
import {
  add,
  compile,
  type Expr,
  f64,
  fn,
  linear,
  mean,
  mul,
  type Shape,
  square,
  stack,
  sub,
  tanh,
  tensor,
  valueAndGrad,
} from '../../src/index.js'
import { adam, applyUpdates } from '../../src/optim/index.js'

/** One step of length h of the classical Runge-Kutta method, for dy/dt = f(y). */
export const rk4 = <S extends Shape>(f: (y: Expr<S, 'f64'>) => Expr<S, 'f64'>, y: Expr<S, 'f64'>, h: number): Expr<S, 'f64'> => {
  const k1 = f(y)
  const k2 = f(add(y, mul(h / 2, k1)))
  const k3 = f(add(y, mul(h / 2, k2)))
  const k4 = f(add(y, mul(h, k3)))
  return add(y, mul(h / 6, add(add(k1, k4), mul(2, add(k2, k3)))))
}

/** The states at h, 2 h, ... of dy/dt = f(y) from y. */
export const solve = <S extends Shape>(f: (y: Expr<S, 'f64'>) => Expr<S, 'f64'>, start: Expr<S, 'f64'>, h: number, steps: number) => {
  const states = []
  let y = start
  for (let i = 0; i < steps; i++) {
    y = rk4(f, y, h)
    states.push(y)
  }
  return stack(states)
}

const declared = { hidden: { w: f64(2, 16), b: f64(16) }, out: { w: f64(16, 2), b: f64(2) } }

/** The vector field: two dense layers. */
export const field = fn({ params: declared, y: f64('batch', 2) }, ({ params, y }) =>
  linear(tanh(linear(y, params.hidden.w, params.hidden.b)), params.out.w, params.out.b),
)

export const h = 0.1
export const steps = 40

/** The mean squared distance of the solution from what was observed at each step. */
export const loss = fn({ params: declared, start: f64('batch', 2), observed: f64(steps, 'batch', 2) }, ({ params, start, observed }) => {
  const solution = solve((y) => field({ params, y }), start, h, steps)
  return mean(square(sub(solution, observed)))
})

/** The spiral that is observed: dy/dt = A y with A = [[-0.1, -2], [2, -0.1]], a turn of angle 2 t that shrinks as exp(-t / 10). */
export const spiral = ([x, y]: readonly [number, number], t: number) => {
  const [c, s, r] = [Math.cos(2 * t), Math.sin(2 * t), Math.exp(-0.1 * t)]
  return [r * (c * x - s * y), r * (s * x + c * y)]
}

/** Small numbers to begin with, the same in every run. */
const wave = (n: number) => Float64Array.from({ length: n }, (_, i) => 0.5 * Math.sin(1 + 1.7 * i))
export const initial = {
  hidden: { w: tensor(wave(32), [2, 16]), b: tensor(wave(16)) },
  out: { w: tensor(wave(32), [16, 2]), b: tensor(wave(2)) },
}

/** Adam on the whole trajectory: the parameters, and the loss before each step. */
export const fit = (start: number[][], observed: number[][][], iterations: number) => {
  const optimiser = adam({ learningRate: 0.01 })
  const step = compile(
    fn(
      { params: declared, state: optimiser.init(declared), start: f64('batch', 2), observed: f64(steps, 'batch', 2) },
      ({ params, state, start, observed }) => {
        const { value, grad } = valueAndGrad(loss, { wrt: 'params' })({ params, start, observed })
        const { updates, state: next } = optimiser.update(grad, state, params)
        return { params: applyUpdates(params, updates), state: next, value }
      },
    ),
  )
  const losses = []
  let params = initial
  let state = optimiser.init(initial)
  for (let i = 0; i < iterations; i++) {
    const done = step({ params, state, start, observed })
    losses.push(done.value.item())
    params = done.params
    state = done.state
  }
  return { params, losses }
}
