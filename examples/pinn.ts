// A wave that steepens: Burgers' equation solved by a network. `npm run example:pinn`
//
// u_t + u u_x = nu u_xx from u = -sin(pi x), with u = 0 at both ends (Raissi, Perdikaris and Karniadakis 2019). Nobody shows the network a
// solution: its weights are moved until its own derivatives fit the equation at some hundred places. `jet` gives u, u_x and u_xx at all
// places in one pass, and L-BFGS differentiates through that. The exact solution, an integral, is only for the comparison at the end.

import { random } from '../src/check/index.js'
import {
  add,
  compile,
  concat,
  cpu,
  type Expr,
  type Exprs,
  expandDims,
  f64,
  fn,
  jet,
  jvp,
  linear,
  mean,
  mul,
  onesLike,
  sin,
  square,
  squeeze,
  sub,
  type Tensors,
  tanh,
  tensor,
  treeMap,
} from '../src/index.js'
import { lbfgs } from '../src/optim/index.js'
import { expectThat, type Log, start } from './entry.js'
import { normals } from './normal.js'
import { plot } from './plot.js'

export interface PinnOptions {
  /** Steps of L-BFGS. */
  readonly steps?: number
  /** Places where the equation is asked for. */
  readonly places?: number
  readonly seed?: number
  readonly out?: string
}

export const nu = 0.05
const network = { first: { w: f64(2, 20), b: f64(20) }, second: { w: f64(20, 20), b: f64(20) }, last: { w: f64(20, 1), b: f64(1) } }
type Numbers = Expr<['n'], 'f64'>

/** u at all places: the factor t (1 - x^2) of the network keeps the beginning and both ends as they are given. */
const u = (p: Exprs<typeof network>, x: Numbers, t: Numbers): Numbers => {
  const a = tanh(linear(concat([expandDims(x, 1), expandDims(t, 1)], { axis: 1 }), p.first.w, p.first.b))
  const b = tanh(linear(a, p.second.w, p.second.b))
  const free = squeeze(linear(b, p.last.w, p.last.b), 1)
  return add(mul(-1, sin(mul(Math.PI, x))), mul(mul(t, sub(1, square(x))), free))
}

const inputs = { p: network, x: f64('n'), t: f64('n') }
export const wave = fn(inputs, ({ p, x, t }) => u(p, x, t))

/** u_t + u u_x - nu u_xx: each place is a row of the batch, so one direction serves all. */
export const residual = fn(inputs, ({ p, x, t }) => {
  const [value, derivatives] = jet((x: Numbers) => u(p, x, t), { order: 2 })(x, [onesLike(x)])
  const [, ut] = jvp((t: Numbers) => u(p, x, t))(t, onesLike(t))
  const [ux, uxx] = [derivatives[0]!, derivatives[1]!]
  return sub(add(ut, mul(value, ux)), mul(nu, uxx))
})
export const loss = fn(inputs, (given) => mean(square(residual(given))))

/**
 * The exact solution by Cole and Hopf's transformation: a quotient of two integrals over the beginning, each a sum over 801 nodes
 * (Basdevant et al. 1986, 2).
 */
export const exact = (x: number, t: number): number => {
  if (t === 0) return -Math.sin(Math.PI * x)
  let [above, below] = [0, 0]
  for (let k = -400; k <= 400; k++) {
    const s = k / 50
    const y = x - Math.sqrt(4 * nu * t) * s
    const weight = Math.exp(-Math.cos(Math.PI * y) / (2 * Math.PI * nu) - s * s)
    above -= weight * Math.sin(Math.PI * y)
    below += weight
  }
  return above / below
}

/** Weights of the size that keeps each layer's numbers about 1. */
export const initial = (seed: number): Tensors<typeof network> => {
  const normal = normals(seed)
  return treeMap(({ shape, dtype }) => {
    const size = shape.reduce((n, d) => n * d, 1)
    return tensor(
      Array.from({ length: size }, () => normal() / Math.sqrt(shape.length > 1 ? shape[0]! : 100)),
      shape,
      dtype,
    )
  }, network)
}

export const main = async (log: Log, { steps = 600, places = 500, seed = 1, out = 'out' }: PinnOptions = {}) => {
  const uniform = random(seed)
  const x = Float64Array.from({ length: places }, () => 2 * uniform() - 1)
  const t = Float64Array.from({ length: places }, uniform)
  const method = lbfgs({ memory: 20 })
  const step = compile(
    fn({ ...inputs, state: method.init(network) }, ({ p, state, x, t }) => method.step((p) => loss({ p, x, t }), p, state)),
    cpu(),
  )
  let now = { p: initial(seed), state: method.init(initial(seed)) }
  const losses: number[] = []
  for (let k = 0; k < steps; k++) {
    const { params, state, value } = step({ ...now, x, t })
    losses.push(value.item())
    now = { p: params, state }
  }
  log(`mean square of the residual: from ${losses[0]!.toFixed(3)} to ${losses.at(-1)!.toExponential(1)} in ${steps} steps`)

  const line = Float64Array.from({ length: 101 }, (_, i) => i / 50 - 1)
  const times = [0, 0.25, 0.5, 1]
  const found = times.map((t) => compile(wave, cpu())({ p: now.p, x: line, t: line.map(() => t) }).toArray())
  const distance = Math.max(...times.flatMap((t, k) => found[k]!.map((v, i) => Math.abs(v - exact(line[i]!, t)))))
  log(`at most ${distance.toExponential(1)} from the exact solution`)
  expectThat(losses.at(-1)! < losses[0]! / 100, 'a residual that falls to a hundredth')
  expectThat(distance < 0.05, 'the solution, nearly')

  const file = await plot(out, 'pinn', {
    title: "Burgers' equation: a network, and the exact solution at some places",
    x: 'x',
    y: 'u',
    lines: Object.fromEntries(times.map((t, k) => [`t = ${t}`, found[k]!.map((v, i) => [line[i]!, v])])),
    points: {
      exact: times.flatMap((t) =>
        Array.from(
          line.filter((_, i) => i % 10 === 0),
          (x) => [x, exact(x, t)],
        ),
      ),
    },
  })
  log(`picture: ${file}`)
  return { losses, distance, file }
}

start(import.meta.url, main)
