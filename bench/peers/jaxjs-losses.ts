// The workloads' losses in jax-js, for any of its devices. Every use of an array but its last takes `.ref`:
// jax-js's functions consume what they are given.
import { lax, nn, numpy as np } from '@jax-js/jax'
import type { WorkloadId } from '../peer.js'

export type Arr = np.Array
/** Inputs by name; a loss takes `.ref` of each, and the caller disposes of them. */
export type Arrays = Readonly<Record<string, Arr>>
export type Loss = (x: Arrays) => Arr

const record = (names: readonly string[], xs: readonly Arr[]): Arrays => Object.fromEntries(names.map((name, i) => [name, xs[i]!]))

/** f over a record of borrowed arrays, as the positional function that consumes them which jax-js wants. */
export const positional =
  <A>(names: readonly string[], f: (x: Arrays) => A) =>
  (...xs: Arr[]): A => {
    const y = f(record(names, xs))
    for (const x of xs) x.dispose()
    return y
  }

/** In two steps: jax-js accumulates a whole array in one f32, which is too coarse for W2 and W15. */
const sumRows = (x: Arr): Arr => np.sum(np.sum(x.reshape([-1, 256]), 1))
const sumSquares = (x: Arr): Arr => np.sum(np.square(x))
/** x W + b; consumes x, borrows W and b. */
const dense = (x: Arr, W: Arr, b: Arr): Arr => np.matmul(x, W.ref).add(b.ref)

export const mlp: Loss = (x) => sumSquares(dense(np.tanh(dense(x.x!.ref, x.W1!, x.b1!)), x.W2!, x.b2!))

const lenet: Loss = ({ x, K1, c1, K2, c2, D1, d1, D2, d2, D3, d3 }) => {
  const block = (h: Arr, K: Arr, c: Arr): Arr => {
    const y = lax.conv(h, K.ref, [1, 1], 'VALID').add(c.ref.reshape([-1, 1, 1]))
    const [n, channels, size] = y.shape as [number, number, number]
    return np.max(nn.relu(y).reshape([n, channels, size / 2, 2, size / 2, 2]), [3, 5])
  }
  const flat = block(block(x!.ref, K1!, c1!), K2!, c2!).reshape([128, 256])
  return sumSquares(dense(nn.relu(dense(nn.relu(dense(flat, D1!, d1!)), D2!, d2!)), D3!, d3!))
}

/** The part of every step that reads the inputs, as one product: [T, B, I] to T arrays of [B, n]. */
const fromInputs = (xs: Arr, W: Arr, b: Arr): Arr[] => np.unstack(dense(xs.ref, W, b))

const rnn: Loss = ({ xs, Wx, Wh, b }) => {
  let h = np.zeros([64, 128], { dtype: xs!.dtype })
  for (const z of fromInputs(xs!, Wx!, b!)) h = np.tanh(np.matmul(h, Wh!.ref).add(z))
  return sumSquares(h)
}

const lstm: Loss = ({ xs, Wi, Wh, b }) => {
  let h = np.zeros([256, 64], { dtype: xs!.dtype })
  let c = np.zeros([256, 64], { dtype: xs!.dtype })
  for (const z of fromInputs(xs!, Wi!, b!)) {
    const [i, f, g, o] = np.split(np.matmul(h, Wh!.ref).add(z), 4, 1) as [Arr, Arr, Arr, Arr]
    c = nn
      .sigmoid(f)
      .mul(c)
      .add(nn.sigmoid(i).mul(np.tanh(g)))
    h = nn.sigmoid(o).mul(np.tanh(c.ref))
  }
  c.dispose()
  return sumSquares(h)
}

const gru: Loss = ({ xs, Wi, Wh, b }) => {
  let h = np.zeros([256, 64], { dtype: xs!.dtype })
  for (const zx of fromInputs(xs!, Wi!, b!)) {
    const [rx, ux, nx] = np.split(zx, 3, 1) as [Arr, Arr, Arr]
    const [rh, uh, nh] = np.split(np.matmul(h.ref, Wh!.ref), 3, 1) as [Arr, Arr, Arr]
    const u = nn.sigmoid(ux.add(uh))
    const n = np.tanh(nx.add(nn.sigmoid(rx.add(rh)).mul(nh)))
    h = n.ref.add(u.mul(h.sub(n)))
  }
  return sumSquares(h)
}

const powers: Loss = ({ x, z }) => {
  let y = z!.ref
  for (let i = 0; i < 100; i++) y = np.matmul(x!.ref, y)
  return np.sum(y)
}

export const rosenbrock: Loss = ({ x }) => {
  const n = x!.shape[0]! - 1
  const u = x!.ref.slice([0, n])
  const d = x!.ref.slice([1, n + 1]).sub(np.square(u.ref))
  return np.sum(
    np
      .square(d)
      .mul(100)
      .add(np.square(np.array(1, { dtype: u.dtype }).sub(u))),
  )
}

const expDense: Loss = ({ W, b, x }) => np.sum(np.exp(np.matmul(W!.ref, x!.ref).add(b!.ref)))
const squaredProduct: Loss = ({ A, B }) => sumRows(np.square(np.matmul(A!.ref, B!.ref)))

export const losses = {
  W1: ({ x }) => sumSquares(x!.ref),
  W2: ({ x }) => sumRows(np.arctan2(x!.ref, np.full([100352], 2, { dtype: x!.dtype }))),
  W3: mlp,
  W4: lenet,
  W5: expDense,
  W5d: expDense,
  W6: powers,
  W7: rnn,
  W8: lstm,
  W9: gru,
  W10: ({ a, b }) => np.sum(np.tanh(a!.ref).mul(nn.sigmoid(b!.ref))),
  W11: ({ x, y, W, b }) => np.mean(np.square(dense(x!.ref, W!, b!).sub(y!.ref))),
  W12: ({ x }) => np.exp(x!.ref),
  W14: rosenbrock,
  W15s: squaredProduct,
  W15l: squaredProduct,
} satisfies Partial<Record<WorkloadId, Loss>>
