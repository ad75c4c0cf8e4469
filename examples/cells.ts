// Recurrent cells are functions of their parameters, an input and a state. An LSTM and a GRU, unrolled over a sequence, and the
// gradients of both: the gradient has the tree and the shapes of the parameters, and the compiler knows them.
import {
  add,
  compile,
  cpu,
  type Expr,
  f32,
  fn,
  grad,
  matmul,
  mul,
  sigmoid,
  split,
  square,
  sub,
  sum,
  tanh,
  tensor,
  unstack,
  zeros,
} from '../src/index.js'
import { type Log, start } from './entry.js'

const time = 5
const batch = 4
const inputs = 3
const hidden = 8
type State = Expr<readonly [4, 8], 'f32'>

/** Long short-term memory (Hochreiter and Schmidhuber 1997, with a forget gate): gates i, f, g, o by one product and one split. */
const lstmCell = fn(
  { p: { wi: f32(inputs, 32), wh: f32(hidden, 32), b: f32(32) }, x: f32(batch, inputs), h: f32(batch, hidden), c: f32(batch, hidden) },
  ({ p, x, h, c }) => {
    const [i, f, g, o] = split(add(add(matmul(x, p.wi), matmul(h, p.wh)), p.b), 4, { axis: -1 })
    const next = add(mul(sigmoid(f), c), mul(sigmoid(i), tanh(g)))
    return { h: mul(sigmoid(o), tanh(next)), c: next }
  },
)

/** Gated recurrent unit (Cho et al. 2014; the reset gate after the product): gates r, z and the candidate n. */
const gruCell = fn(
  { p: { wi: f32(inputs, 24), wh: f32(hidden, 24), b: f32(24) }, x: f32(batch, inputs), h: f32(batch, hidden) },
  ({ p, x, h }) => {
    const [rx, zx, nx] = split(add(matmul(x, p.wi), p.b), 3, { axis: -1 })
    const [rh, zh, nh] = split(matmul(h, p.wh), 3, { axis: -1 })
    const r = sigmoid(add(rx, rh))
    const z = sigmoid(add(zx, zh))
    return add(mul(sub(1, z), tanh(add(nx, mul(r, nh)))), mul(z, h))
  },
)

/** The sum of squares of the last state: a scalar to differentiate. A cell called with expressions inlines. */
const lstm = fn({ p: { wi: f32(inputs, 32), wh: f32(hidden, 32), b: f32(32) }, xs: f32(time, batch, inputs) }, ({ p, xs }) => {
  let s: { readonly h: State; readonly c: State } = { h: zeros([4, 8], 'f32'), c: zeros([4, 8], 'f32') }
  for (const x of unstack(xs)) s = lstmCell({ p, x, ...s })
  return sum(square(s.h))
})
const gru = fn({ p: { wi: f32(inputs, 24), wh: f32(hidden, 24), b: f32(24) }, xs: f32(time, batch, inputs) }, ({ p, xs }) => {
  let h: State = zeros([4, 8], 'f32')
  for (const x of unstack(xs)) h = gruCell({ p, x, h })
  return sum(square(h))
})

/** An array of small numbers, the same in every run. */
const wave = <const S extends number[]>(...shape: S) => {
  const size = shape.reduce((a, b) => a * b, 1)
  return tensor(
    Float32Array.from({ length: size }, (_, i) => 0.4 * Math.sin(1 + 1.7 * i)),
    shape,
  )
}

export const main = (log: Log) => {
  const xs = wave(time, batch, inputs)
  const report = (
    name: string,
    value: number,
    g: Readonly<Record<'wi' | 'wh' | 'b', { readonly shape: readonly number[]; readonly data: Float32Array }>>,
  ) => {
    log(`${name}: loss ${value.toFixed(6)}`)
    const norms = Object.entries(g).map(([leaf, t]) => {
      const norm = Math.hypot(...t.data)
      log(`  gradient of p.${leaf.padEnd(3)} shape [${t.shape}], norm ${norm.toFixed(6)}`)
      return norm
    })
    return { value, shapes: Object.values(g).map((t) => [...t.shape]), norms }
  }
  const pLstm = { wi: wave(inputs, 32), wh: wave(hidden, 32), b: wave(32) }
  const pGru = { wi: wave(inputs, 24), wh: wave(hidden, 24), b: wave(24) }
  return {
    lstm: report('LSTM', lstm({ p: pLstm, xs }).item(), compile(grad(lstm, { wrt: 'p' }), cpu())({ p: pLstm, xs })),
    gru: report('GRU', gru({ p: pGru, xs }).item(), compile(grad(gru, { wrt: 'p' }), cpu())({ p: pGru, xs })),
  }
}

start(import.meta.url, main)
