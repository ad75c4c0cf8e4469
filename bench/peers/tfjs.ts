// TensorFlow.js as a peer: its WebAssembly backend (XNNPACK), with the two kernels of W4's gradient that this
// backend lacks, Conv2DBackpropFilter and MaxPoolGrad, run by its CPU backend. It has no f64, so no W5d and no W6.
import { createRequire } from 'node:module'
import type { MathBackendCPU } from '@tensorflow/tfjs-backend-cpu'
import '@tensorflow/tfjs-backend-cpu'
import type { BackendWasm } from '@tensorflow/tfjs-backend-wasm'
import '@tensorflow/tfjs-backend-wasm'
import * as tf from '@tensorflow/tfjs-core'
import { spec, type Workload } from '../../test/golden/spec.js'
import type { Inputs, Outputs, Peer, Prepare, WorkloadId } from '../peer.js'

// tfjs-core's Node bundle holds no gradients; its folder of them is CommonJS to Node, and registers them globally.
createRequire(import.meta.url)('@tensorflow/tfjs-core/dist/register_all_gradients.js')

type Tensors = Readonly<Record<string, tf.Tensor>>
type Loss = (x: Tensors) => tf.Scalar

const lacking = ['Conv2DBackpropFilter', 'MaxPoolGrad'] as const

/** Registers, for the wasm backend, the CPU backend's kernel with its data carried there and back. */
const borrow = (kernelName: string): void => {
  if (tf.getKernel(kernelName, 'wasm') !== undefined) return
  const kernel = tf.getKernel(kernelName, 'cpu')
  if (kernel === undefined) throw new Error(`tfjs-cpu has no ${kernelName}`)
  tf.registerKernel({
    kernelName,
    backendName: 'wasm',
    kernelFunc: ({ inputs, attrs, backend }) => {
      const wasm = backend as BackendWasm
      const cpu = tf.findBackend('cpu') as MathBackendCPU
      const carried = Object.fromEntries(
        Object.entries(inputs).map(([name, t]) => [
          name,
          cpu.makeTensorInfo(t!.shape, t!.dtype, wasm.readSync(t!.dataId) as tf.TypedArray),
        ]),
      )
      const y = kernel.kernelFunc({ inputs: carried, attrs: attrs ?? {}, backend: cpu })
      if (Array.isArray(y)) throw new Error(`${kernelName} has several results`)
      const back = wasm.makeOutput(y.shape, y.dtype)
      wasm.typedArrayFromHeap(back).set(cpu.readSync(y.dataId) as Float32Array)
      for (const t of [...Object.values(carried), y]) cpu.disposeData(t.dataId)
      return back
    },
  })
}

let started: Promise<void> | undefined

const start = (): Promise<void> => {
  started ??= (async () => {
    tf.enableProdMode()
    if (tf.findBackend('cpu') === null) throw new Error('tfjs-cpu is not registered')
    if (!(await tf.setBackend('wasm'))) throw new Error('tfjs-wasm does not start here')
    await tf.ready()
    lacking.forEach(borrow)
  })()
  return started
}

const tensorsOf = (inputs: Inputs): Tensors =>
  Object.fromEntries(
    Object.entries(inputs).map(([name, { shape, data }]) => {
      if (!(data instanceof Float32Array)) throw new Error('tfjs has no f64')
      return [name, tf.tensor(data, [...shape])]
    }),
  )

const read = (t: tf.Tensor): Float32Array => t.dataSync() as Float32Array

/** tidy, but f's result is no business of tidy's: it would walk a typed array entry by entry in search of tensors. */
const tidily = <A>(f: () => A): A => {
  let out: { readonly a: A } | undefined
  tf.tidy(() => {
    out = { a: f() }
  })
  return out!.a
}

const dispose = (x: Tensors) => () => {
  for (const t of Object.values(x)) t.dispose()
}

const gradients = (x: Tensors, wrt: readonly string[], loss: Loss) => {
  const differentiated = tf.valueAndGrads((...ts: tf.Tensor[]) =>
    loss({ ...x, ...Object.fromEntries(wrt.map((name, i) => [name, ts[i]!])) }),
  )
  return differentiated(wrt.map((name) => x[name]!))
}

const named = (wrt: readonly string[], grads: readonly tf.Tensor[]): Record<string, Float32Array> =>
  Object.fromEntries(wrt.map((name, i) => [name, read(grads[i]!)]))

/** The usual workload: a loss, its value and its gradients. */
const lossOf =
  (id: WorkloadId, loss: Loss): Prepare =>
  async (inputs) => {
    await start()
    const { wrt }: Workload = spec[id]
    const x = tensorsOf(inputs)
    const run = (): Outputs =>
      tidily(() => {
        const { value, grads } = gradients(x, wrt, loss)
        return { ...named(wrt, grads), value: read(value)[0]! }
      })
    const primal = () => tidily(() => read(loss(x)))
    return { run, primal, dispose: dispose(x) }
  }

/** By rows and then over them: tfjs-wasm accumulates a whole array in one f32, which is too coarse for W2 and W15. */
const sum = (x: tf.Tensor): tf.Scalar => {
  const rows = x.rank === 1 && x.size % 256 === 0 ? tf.reshape(x, [x.size / 256, 256]) : x
  return rows.rank < 2 ? tf.sum(rows) : tf.sum(tf.sum(rows, -1))
}

const sumSquares = (x: tf.Tensor): tf.Scalar => sum(tf.square(x))
const dense = (x: tf.Tensor, W: tf.Tensor, b: tf.Tensor): tf.Tensor => tf.add(tf.matMul(x as tf.Tensor2D, W as tf.Tensor2D), b)

const mlp: Loss = (x) => sumSquares(dense(tf.tanh(dense(x.x!, x.W1!, x.b1!)), x.W2!, x.b2!))

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

const rosenbrock = (x: tf.Tensor): tf.Scalar => {
  const n = x.shape[0]! - 1
  const u = tf.slice(x, 0, n)
  const d = tf.sub(tf.slice(x, 1, n), tf.square(u))
  return tf.sum(tf.add(tf.mul(100, tf.square(d)), tf.square(tf.sub(1, u))))
}

/** tfjs has no forward mode: the gradient of the gradient's product with v. */
const hvp: Prepare = async (inputs) => {
  await start()
  const { wrt }: Workload = spec.W13
  const x = tensorsOf(inputs)
  const inner: Loss = (p) => {
    const { grads } = gradients({ ...x, ...p }, wrt, mlp)
    return wrt.reduce((s: tf.Tensor, name, i) => tf.add(s, tf.sum(tf.mul(grads[i]!, x[`v${name}`]!))), tf.scalar(0)) as tf.Scalar
  }
  const run = (): Outputs => tidily(() => ({ ...named(wrt, gradients(x, wrt, inner).grads), value: read(mlp(x))[0]! }))
  return { run, dispose: dispose(x) }
}

/** tfjs has no Jacobian: one gradient of the gradient's component for each row. */
const hessian: Prepare = async (inputs) => {
  await start()
  const x = tensorsOf(inputs)
  const n = x.x!.shape[0]!
  const rows = new Float32Array(n * n)
  const component = (i: number) => (at: tf.Tensor) => tf.sum(tf.slice(tf.grad(rosenbrock)(at), i, 1))
  const run = (): Outputs => {
    for (let i = 0; i < n; i++) tidily(() => rows.set(read(tf.grad(component(i))(x.x!)), i * n))
    return { value: tidily(() => read(rosenbrock(x.x!))[0]!), x: rows }
  }
  return { run, dispose: dispose(x) }
}

const product: Prepare = async (inputs) => {
  await start()
  const x = tensorsOf(inputs)
  return { run: () => ({ C: tidily(() => read(tf.matMul(x.A as tf.Tensor2D, x.B as tf.Tensor2D))) }), dispose: dispose(x) }
}

const squaredProduct: Loss = ({ A, B }) => sumSquares(tf.matMul(A as tf.Tensor2D, B as tf.Tensor2D))

export const workloads = {
  W1: lossOf('W1', ({ x }) => sumSquares(x!)),
  W2: lossOf('W2', ({ x }) => sum(tf.atan2(x!, tf.scalar(2)))),
  W3: lossOf('W3', mlp),
  W4: lossOf('W4', lenet),
  W5: lossOf('W5', ({ W, b, x }) => sum(tf.exp(dense(W!, x!, b!)))),
  W7: lossOf('W7', rnn),
  W8: lossOf('W8', lstm),
  W9: lossOf('W9', gru),
  W10: lossOf('W10', ({ a, b }) => sum(tf.mul(tf.tanh(a!), tf.sigmoid(b!)))),
  W11: lossOf('W11', ({ x, y, W, b }) => tf.mean(tf.square(tf.sub(dense(x!, W!, b!), y!)))),
  W12: lossOf('W12', ({ x }) => tf.exp(x as tf.Scalar)),
  W13: hvp,
  W14: lossOf('W14', ({ x }) => rosenbrock(x!)),
  W14h: hessian,
  W15s: lossOf('W15s', squaredProduct),
  W15l: lossOf('W15l', squaredProduct),
  M15s: product,
  M15l: product,
} satisfies Partial<Record<WorkloadId, Prepare>>

export const tfjs: Peer = {
  name: 'tfjs-wasm',
  dtypes: ['f32'],
  workloads,
  notes: {
    W4: `${lacking.join(' and ')} run on tfjs-cpu: tfjs-wasm lacks them`,
    W5d: 'tfjs has no f64',
    W6: 'tfjs has no f64',
    W13: 'reverse over reverse: tfjs has no forward mode',
    W14h: 'one gradient of the gradient for each row: tfjs has no Jacobian',
  },
}
