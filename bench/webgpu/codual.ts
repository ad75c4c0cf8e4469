// codual on webgpu(): the inputs stay on the device, as the peers' do; every result is read.
import * as cd from '../../src/index.js'
import { programs } from '../../test/golden/programs.js'
import { workloadIds } from '../../test/golden/spec.js'
import type { FloatArray, Outputs, Peer, Prepare, Prepared, WorkloadId } from '../peer.js'

type FloatTensor = cd.Tensor<number[], cd.Float>
interface Result {
  readonly value: FloatTensor
  readonly grad: Readonly<Record<string, FloatTensor>>
}

/** The backend that every row uses. */
export const backend: cd.WebGpuBackend = cd.webgpu()

const lossOf =
  (id: WorkloadId): Prepare =>
  async (inputs): Promise<Prepared> => {
    const tensors = Object.fromEntries(
      Object.entries(inputs).map(([name, { shape, data }]) => [name, cd.tensor(data, [...shape]) as unknown as FloatTensor]),
    )
    const x = await cd.onDevice(tensors, backend)
    const step = cd.compileAsync(programs[id]('f32').whole, backend)
    const run = async (): Promise<Outputs> => {
      const { value, grad } = (await step(x as never)) as unknown as Result
      const out: Record<string, number | FloatArray> = { value: value.data[0]! }
      for (const name in grad) out[name] = grad[name]!.data as FloatArray
      return out
    }
    const dispose = (): void => {
      step[Symbol.dispose]()
      for (const t of Object.values(x)) t.dispose()
    }
    return { run, dispose }
  }

export const codual: Peer = {
  name: 'codual',
  dtypes: ['f32'],
  workloads: Object.fromEntries(workloadIds.map((id) => [id, lossOf(id)])),
}
