/**
 * Optimal control. Of a linear system with quadratic costs: Riccati's recursion, and its fixed point with a derivative by the cost of control.
 * Of a pendulum that is swung up: differential dynamic programming with Gauss-Newton's terms (iLQR), a scan there and a scan back, whose
 * linear and quadratic models are derivatives under vmap. Bertsekas 2017, 3.1; Tassa, Erez and Todorov 2012.
 */
import {
  add,
  at,
  compile,
  cos,
  type Expr,
  eye,
  f64,
  fn,
  grad,
  hessian,
  jacfwd,
  matmul,
  mul,
  neg,
  scan,
  sin,
  solve,
  square,
  stack,
  sub,
  sum,
  type Tensor,
  tensor,
  transpose,
  vmap,
} from '../../src/index.js'
import { fixedPoint } from '../../src/solve/index.js'

type State = Expr<[2], 'f64'>
type Push = Expr<[1], 'f64'>

/** x' = a x + b u, at the cost x^T q x + r |u|^2 a step. */
const linear = { a: f64(2, 2), b: f64(2, 1), q: f64(2, 2), r: f64() }

/** One step back of Riccati's recursion: what it costs from here on is x^T p x, with the control u = -k x. */
export const riccati = fn({ system: linear, p: f64(2, 2) }, ({ system: { a, b, q, r }, p }) => {
  const pushed = matmul(transpose(b), p)
  const k = solve(add(mul(r, eye(1)), matmul(pushed, b)), matmul(pushed, a))
  return { k, p: add(q, matmul(matmul(transpose(a), p), sub(a, matmul(b, k)))) }
})
/** p for ever: the solution of the discrete algebraic Riccati equation. */
export const stationary = fn(
  linear,
  (system) => fixedPoint((p: Expr<[2, 2], 'f64'>, system) => riccati({ system, p }).p, system.q, system, { tolerance: 1e-12 }).x,
)

const DT = 0.05
/** A pendulum that hangs at pi, by Euler's steps: [angle, speed]. */
export const dynamics = (x: State, u: Push): State => {
  const [angle, speed] = [at(x, 0), at(x, 1)]
  return stack([add(angle, mul(DT, speed)), add(speed, mul(DT, add(mul(9.81, sin(angle)), at(u, 0))))])
}
const stage = (x: State, u: Push) => mul(DT, add(sub(1, cos(at(x, 0))), add(mul(0.05, square(at(x, 1))), mul(0.01, sum(square(u))))))
const final = (x: State) => add(mul(50, sub(1, cos(at(x, 0)))), mul(5, square(at(x, 1))))

/** The path of controls from x0: the states before each, and the one behind them all. */
export const rollout = fn({ x0: f64(2), us: f64('t', 1) }, ({ x0, us }) => {
  const [end, xs] = scan((x, u) => [dynamics(x, u), x], x0, us)
  return { end, xs }
})
export const cost = fn({ x0: f64(2), us: f64('t', 1) }, ({ x0, us }) => {
  const { end, xs } = rollout({ x0, us })
  return add(sum(vmap(stage)(xs, us)), final(end))
})

/** One iteration: gains from the last step to the first, then the path with u = u + length k + K (x - x old). `damping` keeps Q_uu positive. */
export const iterate = fn({ x0: f64(2), us: f64('t', 1), damping: f64(), length: f64() }, ({ x0, us, damping, length }) => {
  const { end, xs } = rollout({ x0, us })
  const local = {
    fx: vmap(jacfwd(dynamics))(xs, us),
    fu: vmap(jacfwd(dynamics, { wrt: 1 }))(xs, us),
    lx: vmap(grad(stage))(xs, us),
    lu: vmap(grad(stage, { wrt: 1 }))(xs, us),
    lxx: vmap(hessian(stage))(xs, us),
    luu: vmap(hessian(stage, { wrt: 1 }))(xs, us),
  }
  const [, gains] = scan(
    ({ v, vv }, { fx, fu, lx, lu, lxx, luu }) => {
      const quu = add(add(luu, matmul(matmul(transpose(fu), vv), fu)), mul(damping, eye(1)))
      const qux = matmul(matmul(transpose(fu), vv), fx)
      const k = neg(solve(quu, add(lu, matmul(v, fu))))
      const kk = neg(solve(quu, qux))
      const next = add(add(lxx, matmul(matmul(transpose(fx), vv), fx)), matmul(transpose(qux), kk))
      return [
        { v: add(add(lx, matmul(v, fx)), matmul(k, qux)), vv: mul(0.5, add(next, transpose(next))) },
        { k, kk },
      ]
    },
    { v: grad(final)(end), vv: hessian(final)(end) },
    local,
    { reverse: true },
  )
  const [, next] = scan(
    (x, { k, kk, old, u }) => {
      const push = add(u, add(mul(length, k), matmul(kk, sub(x, old))))
      return [dynamics(x, push), push]
    },
    x0,
    { ...gains, old: xs, u: us },
  )
  return next
})

/** The controls after so many iterations, each of the first length that lowers the cost. */
export const swingUp = (x0: [number, number], first: number[][], iterations: number) => {
  const [step, value] = [compile(iterate), compile(cost)]
  let us: Tensor<[number, 1], 'f64'> = tensor(first, [first.length, 1])
  let best = value({ x0, us }).item()
  let damping = 1
  for (let i = 0; i < iterations; i++) {
    const better = [1, 0.5, 0.25, 0.1, 0.03].some((length) => {
      const next = step({ x0, us, damping, length })
      const v = value({ x0, us: next }).item()
      if (v < best) [us, best] = [next, v]
      return us === next
    })
    damping = better ? Math.max(damping / 2, 1e-6) : 4 * damping
  }
  return { us, cost: best }
}
