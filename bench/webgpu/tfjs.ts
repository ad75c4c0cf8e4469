// TensorFlow.js on its WebGPU backend.
import * as tf from '@tensorflow/tfjs-core'
import '@tensorflow/tfjs-core/dist/register_all_gradients'
import '@tensorflow/tfjs-backend-webgpu'
import { spec, type Workload } from '../../test/golden/spec.js'
import type { Outputs, Peer, Prepare, WorkloadId } from '../peer.js'
import { type Loss, losses } from '../peers/tfjs-losses.js'

let started: Promise<void> | undefined

const start = (): Promise<void> => {
  started ??= (async () => {
    tf.enableProdMode()
    if (!(await tf.setBackend('webgpu'))) throw new Error('tfjs-webgpu does not start here')
    await tf.ready()
  })()
  return started
}

const lossOf =
  (id: WorkloadId, loss: Loss): Prepare =>
  async (inputs) => {
    await start()
    const { wrt }: Workload = spec[id]
    const x = Object.fromEntries(
      Object.entries(inputs).map(([name, { shape, data }]) => [name, tf.tensor(data as Float32Array, [...shape])]),
    )
    const differentiated = tf.valueAndGrads((...ts: tf.Tensor[]) =>
      loss({ ...x, ...Object.fromEntries(wrt.map((name, i) => [name, ts[i]!])) }),
    )
    const run = async (): Promise<Outputs> => {
      const { value, grads } = tf.tidy(() => differentiated(wrt.map((name) => x[name]!)))
      const results = [value, ...grads]
      const [y, ...gs] = (await Promise.all(results.map((t) => t.data()))) as Float32Array[]
      for (const t of results) t.dispose()
      return { ...Object.fromEntries(wrt.map((name, i) => [name, gs[i]!])), value: y![0]! }
    }
    const dispose = (): void => {
      for (const t of Object.values(x)) t.dispose()
    }
    return { run, dispose }
  }

const ids = Object.keys(losses) as (keyof typeof losses)[]

export const tfjs: Peer = {
  name: 'tfjs-webgpu',
  dtypes: ['f32'],
  workloads: Object.fromEntries(ids.map((id) => [id, lossOf(id, losses[id])])),
}
