/** Arrays that stay on the device between calls: a buffer each. */
import type { DeviceArray } from '../../core/backend.js'
import { raise } from '../../core/explain.js'
import type { NDArray, TypedArray } from '../../core/ndarray.js'
import type { DType } from '../../core/types/dtype.js'
import type { Device } from './memory.js'
import { fromDevice, toDevice } from './words.js'

export class WebGpuArray implements DeviceArray {
  readonly backend = 'webgpu'
  private disposed = false
  private constructor(
    private readonly device: Device,
    private readonly memory: GPUBuffer,
    readonly size: number,
    readonly dtype: DType,
  ) {}

  /** Copies an array to the device; raises OutOfMemory. */
  static async place(device: Device, { data, dtype }: NDArray): Promise<WebGpuArray> {
    if (dtype === 'f64')
      raise({
        _tag: 'Unsupported',
        backend: 'webgpu',
        what: 'WGSL has no f64',
        fix: "make the tensor with dtype 'f32' (tensor(data, shape, 'f32')), or keep it on cpu().",
      })
    device.alive()
    const { gpu } = device
    gpu.pushErrorScope('out-of-memory')
    const memory = device.storage(4 * data.length)
    if (data.length > 0) gpu.queue.writeBuffer(memory, 0, toDevice(data, dtype))
    device.stats.bytesWritten += 4 * data.length
    if ((await gpu.popErrorScope()) !== null) {
      device.free(memory)
      raise({ _tag: 'OutOfMemory', backend: 'webgpu', neededBytes: 4 * data.length, limitBytes: device.limitBytes })
    }
    return new WebGpuArray(device, memory, data.length, dtype)
  }

  /** The buffer, on this device; an error where it is gone. */
  on(device: Device, where: string): GPUBuffer {
    if (this.disposed) raise({ _tag: 'BadInput', where, reason: 'a tensor was disposed.', fix: 'place it with onDevice again.' })
    if (this.device !== device) {
      this.device.alive()
      raise({
        _tag: 'BadInput',
        where,
        reason: 'a tensor is on another device.',
        fix: 'read it back with onHost, and place it on this one.',
      })
    }
    return this.memory
  }

  async read(): Promise<TypedArray> {
    const { device, size, dtype } = this
    const memory = this.on(device, 'onHost')
    const read = await device.exclusive(async () => {
      device.alive()
      const staging = device.takeStaging(4 * size)
      const encoder = device.gpu.createCommandEncoder()
      if (size > 0) encoder.copyBufferToBuffer(memory, 0, staging, 0, 4 * size)
      device.submit(encoder)
      return device.readStaging(staging, 4 * size)
    })
    return read((mapped) => fromDevice(mapped, 0, size, dtype).slice())
  }

  dispose(): void {
    this.disposed = true
    this.device.free(this.memory)
  }
}
