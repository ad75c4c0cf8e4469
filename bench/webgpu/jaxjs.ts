// jax-js on its WebGPU device: jit(valueAndGrad(...)).
import { defaultDevice, init, jit, numpy as np, valueAndGrad } from '@jax-js/jax'
import { spec, type Workload } from '../../test/golden/spec.js'
import type { Outputs, Peer, Prepare, WorkloadId } from '../peer.js'
import { type Arr, type Loss, losses, positional } from '../peers/jaxjs-losses.js'

let started: Promise<void> | undefined

const start = (): Promise<void> => {
  started ??= (async () => {
    if (!(await init('webgpu')).includes('webgpu')) throw new Error('jax-js has no WebGPU device here')
    defaultDevice('webgpu')
  })()
  return started
}

const lossOf =
  (id: WorkloadId, loss: Loss): Prepare =>
  async (inputs) => {
    await start()
    const { wrt }: Workload = spec[id]
    const names = [...wrt, ...Object.keys(inputs).filter((name) => !wrt.includes(name))]
    const arrays = names.map((name) => np.array(inputs[name]!.data as Float32Array<ArrayBuffer>, { shape: [...inputs[name]!.shape] }))
    const step = jit(valueAndGrad(positional(names, loss), { argnums: wrt.map((_, i) => i) }))
    const run = async (): Promise<Outputs> => {
      const [y, grads] = step(...arrays.map((x) => x.ref)) as [Arr, Arr[]]
      const [value, ...gs] = (await Promise.all([y, ...grads].map((x) => x.data()))) as Float32Array[]
      return { ...Object.fromEntries(wrt.map((name, i) => [name, gs[i]!])), value: value![0]! }
    }
    const dispose = (): void => {
      for (const x of arrays) x.dispose()
      step.dispose()
    }
    return { run, dispose }
  }

const ids = Object.keys(losses) as (keyof typeof losses)[]

export const jaxjs: Peer = {
  name: 'jax-js',
  dtypes: ['f32'],
  workloads: Object.fromEntries(ids.map((id) => [id, lossOf(id, losses[id])])),
}
