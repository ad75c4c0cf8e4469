// The workloads' losses in TensorFlow.js, for any of its backends.
import * as tf from '@tensorflow/tfjs-core'
import type { WorkloadId } from '../peer.js'

export type Tensors = Readonly<Record<string, tf.Tensor>>
export type Loss = (x: Tensors) => tf.Scalar

/** By rows and then over them: tfjs-wasm accumulates a whole array in one f32, which is too coarse for W2 and W15. */
const sum = (x: tf.Tensor): tf.Scalar => {
  const rows = x.rank === 1 && x.size % 256 === 0 ? tf.reshape(x, [x.size / 256, 256]) : x
  return rows.rank < 2 ? tf.sum(rows) : tf.sum(tf.sum(rows, -1))
}

const sumSquares = (x: tf.Tensor): tf.Scalar => sum(tf.square(x))
const dense = (x: tf.Tensor, W: tf.Tensor, b: tf.Tensor): tf.Tensor => tf.add(tf.matMul(x as tf.Tensor2D, W as tf.Tensor2D), b)

export const mlp: Loss = (x) => sumSquares(dense(tf.tanh(dense(x.x!, x.W1!, x.b1!)), x.W2!, x.b2!))

const lenet: Loss = ({ x, K1, c1, K2, c2, D1, d1, D2, d2, D3, d3 }) => {
  const block = (h: tf.Tensor, K: tf.Tensor, c: tf.Tensor): tf.Tensor4D => {
    const y = tf.conv2d(h as tf.Tensor4D, tf.transpose(K as tf.Tensor4D, [2, 3, 1, 0]), 1, 'valid')
    return tf.maxPool(tf.relu(tf.add(y, c)) as tf.Tensor4D, 2, 2, 'valid')
  }
  const h = block(block(tf.transpose(x!, [0, 2, 3, 1]), K1!, c1!), K2!, c2!)
  const flat = tf.reshape(tf.transpose(h, [0, 3, 1, 2]), [128, 256])
  return sumSquares(dense(tf.relu(dense(tf.relu(dense(flat, D1!, d1!)), D2!, d2!)), D3!, d3!))
}

/** The part of every step that reads the inputs, as one product: [T, B, I] to T arrays of [B, n]. */
const fromInputs = (xs: tf.Tensor, W: tf.Tensor, b: tf.Tensor): readonly tf.Tensor[] => {
  const [T, B, I] = xs.shape as [number, number, number]
  return tf.unstack(tf.reshape(dense(tf.reshape(xs, [T * B, I]), W, b), [T, B, W.shape[1]!]))
}

const rnn: Loss = ({ xs, Wx, Wh, b }) => {
  let h: tf.Tensor = tf.zeros([64, 128])
  for (const z of fromInputs(xs!, Wx!, b!)) h = tf.tanh(dense(h, Wh!, z))
  return sumSquares(h)
}

const lstm: Loss = ({ xs, Wi, Wh, b }) => {
  let h: tf.Tensor = tf.zeros([256, 64])
  let c: tf.Tensor = tf.zeros([256, 64])
  for (const z of fromInputs(xs!, Wi!, b!)) {
    const [i, f, g, o] = tf.split(dense(h, Wh!, z), 4, 1) as [tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor]
    c = tf.add(tf.mul(tf.sigmoid(f), c), tf.mul(tf.sigmoid(i), tf.tanh(g)))
    h = tf.mul(tf.sigmoid(o), tf.tanh(c))
  }
  return sumSquares(h)
}

const gru: Loss = ({ xs, Wi, Wh, b }) => {
  let h: tf.Tensor = tf.zeros([256, 64])
  for (const zx of fromInputs(xs!, Wi!, b!)) {
    const [rx, ux, nx] = tf.split(zx, 3, 1) as [tf.Tensor, tf.Tensor, tf.Tensor]
    const [rh, uh, nh] = tf.split(tf.matMul(h as tf.Tensor2D, Wh as tf.Tensor2D), 3, 1) as [tf.Tensor, tf.Tensor, tf.Tensor]
    const u = tf.sigmoid(tf.add(ux, uh))
    const n = tf.tanh(tf.add(nx, tf.mul(tf.sigmoid(tf.add(rx, rh)), nh)))
    h = tf.add(n, tf.mul(u, tf.sub(h, n)))
  }
  return sumSquares(h)
}

export const rosenbrock = (x: tf.Tensor): tf.Scalar => {
  const n = x.shape[0]! - 1
  const u = tf.slice(x, 0, n)
  const d = tf.sub(tf.slice(x, 1, n), tf.square(u))
  return tf.sum(tf.add(tf.mul(100, tf.square(d)), tf.square(tf.sub(1, u))))
}

/** x z, 100 times. */
const powers: Loss = ({ x, z }) => {
  let y = z as tf.Tensor2D
  for (let i = 0; i < 100; i++) y = tf.matMul(x as tf.Tensor2D, y)
  return sum(y)
}

const expDense: Loss = ({ W, b, x }) => sum(tf.exp(dense(W!, x!, b!)))
const squaredProduct: Loss = ({ A, B }) => sumSquares(tf.matMul(A as tf.Tensor2D, B as tf.Tensor2D))

export const losses = {
  W1: ({ x }) => sumSquares(x!),
  W2: ({ x }) => sum(tf.atan2(x!, tf.scalar(2))),
  W3: mlp,
  W4: lenet,
  W5: expDense,
  W6: powers,
  W7: rnn,
  W8: lstm,
  W9: gru,
  W10: ({ a, b }) => sum(tf.mul(tf.tanh(a!), tf.sigmoid(b!))),
  W11: ({ x, y, W, b }) => tf.mean(tf.square(tf.sub(dense(x!, W!, b!), y!))),
  W12: ({ x }) => tf.exp(x as tf.Scalar),
  W14: ({ x }) => rosenbrock(x!),
  W15s: squaredProduct,
  W15l: squaredProduct,
} satisfies Partial<Record<WorkloadId, Loss>>
