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
import { type Loss, losses, mlp, rosenbrock, type Tensors } from './tfjs-losses.js'

// tfjs-core's Node bundle holds no gradients; its folder of them is CommonJS to Node, and registers them globally.
createRequire(import.meta.url)('@tensorflow/tfjs-core/dist/register_all_gradients.js')

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

export const workloads = {
  W1: lossOf('W1', losses.W1),
  W2: lossOf('W2', losses.W2),
  W3: lossOf('W3', losses.W3),
  W4: lossOf('W4', losses.W4),
  W5: lossOf('W5', losses.W5),
  W7: lossOf('W7', losses.W7),
  W8: lossOf('W8', losses.W8),
  W9: lossOf('W9', losses.W9),
  W10: lossOf('W10', losses.W10),
  W11: lossOf('W11', losses.W11),
  W12: lossOf('W12', losses.W12),
  W13: hvp,
  W14: lossOf('W14', losses.W14),
  W14h: hessian,
  W15s: lossOf('W15s', losses.W15s),
  W15l: lossOf('W15l', losses.W15l),
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
