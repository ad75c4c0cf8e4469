/** Recurrent layers: one loop over the steps for each direction. */
import {
  type AnyExpr,
  add,
  arange,
  clamp,
  elu,
  flip,
  gather,
  leakyRelu,
  lt,
  matmul,
  mul,
  relu,
  reshape,
  reverseSequence,
  sigmoid,
  slice,
  softplus,
  softsign,
  stack,
  sub,
  swapaxes,
  tanh,
  transpose,
  where,
  zeros,
} from '../../index.js'
import { type Call, like, type Operator, type Table } from '../call.js'
import { scanned } from '../loops.js'
import { asIndex } from '../value.js'

type Activation = (x: AnyExpr) => AnyExpr
/** Activations by ONNX's names, with the numbers that they have where the node gives none. */
const activations: Readonly<Record<string, (alpha: number | undefined, beta: number | undefined) => Activation>> = {
  affine:
    (a = 1, b = 0) =>
    (x) =>
      add(mul(x, a), b),
  elu:
    (a = 1) =>
    (x) =>
      elu(x, { alpha: a }),
  hardsigmoid:
    (a = 0.2, b = 0.5) =>
    (x) =>
      clamp(add(mul(x, a), b), 0, 1),
  leakyrelu:
    (a = 0.01) =>
    (x) =>
      leakyRelu(x, { slope: a }),
  relu: () => (x) => relu(x),
  scaledtanh:
    (a = 1, b = 1) =>
    (x) =>
      mul(a, tanh(mul(x, b))),
  sigmoid: () => (x) => sigmoid(x),
  softplus: () => (x) => softplus(x),
  softsign: () => (x) => softsign(x),
  tanh: () => (x) => tanh(x),
  thresholdedrelu:
    (a = 1) =>
    (x) =>
      where(lt(a, x), x, 0),
}
/** The activations of direction d, which has so many. */
const activationsOf = (c: Call, d: number, standard: readonly string[]): readonly Activation[] => {
  const names = c.has('activations') ? c.texts('activations') : []
  const [alphas, betas] = [c.floats('activation_alpha', []), c.floats('activation_beta', [])]
  // Numbers are in the order of the activations that take them.
  let [a, b] = [0, 0]
  const all = names.map((name) => {
    const make = activations[name.toLowerCase()] ?? c.refuse(`there is no activation ${JSON.stringify(name)}.`)
    const [takesA, takesB] = [
      /affine|elu$|hardsigmoid|scaledtanh|thresholded/.test(name.toLowerCase()) && name.toLowerCase() !== 'relu',
      /affine|hardsigmoid|scaledtanh/.test(name.toLowerCase()),
    ]
    return make(takesA ? alphas[a++] : undefined, takesB ? betas[b++] : undefined)
  })
  const own = all.slice(d * standard.length, (d + 1) * standard.length)
  return own.length === standard.length ? own : standard.map((name) => activations[name]!(undefined, undefined))
}

/** The state of a direction: h, and c of an LSTM. */
type State = readonly AnyExpr[]
/** One step: the state before, and X W^T + biases of this step. */
type Step = (state: State, gates: AnyExpr) => State
/** A part of the last axis: part k of so many columns. */
const part = (x: AnyExpr, k: number, hidden: number, n = 1): AnyExpr => {
  const rank = x.shape.length
  const [from, to] = [new Array<number>(rank).fill(0), [...x.shape]]
  from[rank - 1] = k * hidden
  to[rank - 1] = (k + n) * hidden
  return slice(x, from, to)
}
interface Direction {
  /** Recurrent weights [gates hidden, hidden], transposed. */
  readonly r: AnyExpr
  /** The recurrent biases, apart from those of the input. */
  readonly rb: AnyExpr
  readonly hidden: number
  readonly act: readonly Activation[]
  readonly clip: Activation
  /** Of an LSTM: peepholes of i, o and f. */
  readonly peepholes: readonly AnyExpr[] | undefined
}
type Cell = (c: Call, d: Direction) => Step

const rnnCell: Cell =
  (_c, { r, rb, act, clip }) =>
  ([h], x) => [act[0]!(clip(add(add(x, matmul(h!, r)), rb)))]
const gruCell: Cell = (c, { r, rb, hidden, act, clip }) => {
  const [f, g] = act as [Activation, Activation]
  const later = c.int('linear_before_reset', 0) !== 0
  return ([h], x) => {
    const two = matmul(h!, part(r, 0, hidden, 2))
    const gates = add(add(part(x, 0, hidden, 2), two), part(rb, 0, hidden, 2))
    const z = f(clip(part(gates, 0, hidden)))
    const reset = f(clip(part(gates, 1, hidden)))
    const [rh, rbh] = [part(r, 2, hidden), part(rb, 2, hidden)]
    const own = later ? mul(reset, add(matmul(h!, rh), rbh)) : add(matmul(mul(reset, h!), rh), rbh)
    const candidate = g(clip(add(part(x, 2, hidden), own)))
    return [add(mul(sub(1, z), candidate), mul(z, h!))]
  }
}
const lstmCell: Cell = (c, { r, rb, hidden, act, clip, peepholes }) => {
  const [f, g, last] = act as [Activation, Activation, Activation]
  const coupled = c.int('input_forget', 0) !== 0
  return ([h, cell], x) => {
    const gates = add(add(x, matmul(h!, r)), rb)
    const seen = (k: number, p: number, state: AnyExpr): AnyExpr =>
      peepholes === undefined ? part(gates, k, hidden) : add(part(gates, k, hidden), mul(peepholes[p]!, state))
    const input = f(clip(seen(0, 0, cell!)))
    const forget = coupled ? sub(1, input) : f(clip(seen(2, 2, cell!)))
    const next = add(mul(forget, cell!), mul(input, g(clip(part(gates, 3, hidden)))))
    const out = f(clip(seen(1, 1, next)))
    return [mul(out, last(next)), next]
  }
}

/** A layer of so many gates whose cells have so many arrays of state. */
const recurrent = (gates: number, states: number, standard: readonly string[], cell: Cell): Operator => ({
  since: gates === 3 ? [1, 3, 7, 14] : [1, 7, 14],
  read: (c) => {
    const [x, w, r] = [c.in(0), c.in(1), c.in(2)]
    // Layout 1 has the batch in front.
    const batchFirst = c.int('layout', 0) !== 0
    const xs = batchFirst ? swapaxes(x.x, 0, 1) : x.x
    const [steps, batch] = xs.shape as readonly [number, number, number]
    const hidden = c.int('hidden_size', r.x.shape[2]!)
    const way = c.text('direction', 'forward')
    const ways = way === 'bidirectional' ? [false, true] : [way === 'reverse']
    const lengths = c.maybe(4) === undefined ? undefined : asIndex(c.in(4).x)
    const known = c.known(c.maybe(4))
    const ragged = known?.every((n) => n === steps) === true ? undefined : lengths
    const limit = c.float('clip', 0)
    const clip: Activation = limit > 0 ? (t) => clamp(t, -limit, limit) : (t) => t
    const initial = (i: number, d: number): AnyExpr => {
      const v = c.maybe(i)
      if (v === undefined) return zeros([batch, hidden], xs.dtype)
      return gather(v.x, d, { axis: batchFirst ? 1 : 0 })
    }
    const outputs = ways.map((backwards, d) => {
      const b = c.maybe(3) === undefined ? zeros([2 * gates * hidden], xs.dtype) : gather(c.in(3).x, d)
      const peepholes = c.maybe(7) === undefined ? undefined : gather(c.in(7).x, d)
      const step = cell(c, {
        r: transpose(gather(r.x, d)),
        rb: slice(b, [gates * hidden], [2 * gates * hidden]),
        hidden,
        act: activationsOf(c, d, standard),
        clip,
        peepholes: peepholes === undefined ? undefined : [0, 1, 2].map((k) => part(peepholes, k, hidden)),
      })
      const turned = (t: AnyExpr): AnyExpr =>
        !backwards ? t : ragged === undefined ? flip(t, { axis: 0 }) : reverseSequence(t, ragged, { axis: 0, batchAxis: 1 })
      const inputs = add(matmul(turned(xs), transpose(gather(w.x, d))), slice(b, [0], [gates * hidden]))
      const start = Array.from({ length: states }, (_, k) => initial(5 + k, d))
      const { last, ys } = loop(step, start, inputs, ragged)
      return { last, ys: turned(ys) }
    })
    const axis = batchFirst ? 1 : 0
    const ys = stack(
      outputs.map((o) => o.ys),
      { axis: 1 },
    ) // [steps, directions, batch, hidden]
    const all = [
      batchFirst ? transpose(ys, [2, 0, 1, 3]) : ys,
      ...Array.from({ length: states }, (_, k) =>
        stack(
          outputs.map((o) => o.last[k]!),
          { axis },
        ),
      ),
    ]
    return all.map((t) => like(x, t))
  },
})
/** All steps of a direction; beyond an example's length its state stays and its output is 0. */
const loop = (step: Step, start: State, inputs: AnyExpr, lengths: AnyExpr | undefined): { readonly last: State; readonly ys: AnyExpr } => {
  const places = arange(inputs.shape[0]!, 'i32')
  const rows = lengths === undefined ? undefined : reshape(lengths, [-1, 1])
  const within = rows === undefined ? undefined : lt(reshape(places, [-1, 1, 1]), rows)
  const body = (state: State, at: { readonly x: AnyExpr; readonly on?: AnyExpr }): readonly [State, State] => {
    const next = step(state, at.x)
    if (at.on === undefined) return [next, [next[0]!]]
    return [next.map((t, k) => where(at.on!, t, state[k]!)), [where(at.on, next[0]!, 0)]]
  }
  const xs: { readonly x: AnyExpr; readonly on?: AnyExpr } = within === undefined ? { x: inputs } : { x: inputs, on: within }
  const [last, ys] = scanned(body, start, xs)
  return { last, ys: ys[0]! }
}

export const recurrents: Table = {
  GRU: recurrent(3, 1, ['sigmoid', 'tanh'], gruCell),
  LSTM: recurrent(4, 2, ['sigmoid', 'tanh', 'tanh'], lstmCell),
  RNN: recurrent(1, 1, ['tanh'], rnnCell),
}
