/** Arrays that stay on the device between calls: a buffer each. */

import { badInput, raise } from '../../core/errors/explain.js'
import type { DeviceArray, PlaceOptions } from '../../core/functions/backend.js'
import type { NDArray, TypedArray } from '../../core/graph/ndarray.js'
import type { DType } from '../../core/types/dtype.js'
import { aligned } from '../plan/memory.js'
import { needF16 } from './device.js'
import type { Device } from './memory.js'
import { fromDevice, fromF16, toDevice, toF16 } from './words.js'

export class WebGpuArray implements DeviceArray {
  readonly backend = 'webgpu'
  private disposed = false
  private constructor(
    private readonly device: Device,
    private readonly memory: GPUBuffer,
    readonly size: number,
    readonly dtype: DType,
    /** Elements are stored as f16. */
    readonly half: boolean,
  ) {}

  /** Copies an array to the device, f32 as f16 where that is asked for; raises OutOfMemory, and Unsupported without shader-f16. */
  static async place(device: Device, { data, dtype }: NDArray, { storage }: PlaceOptions = {}): Promise<WebGpuArray> {
    if (dtype === 'f64')
      raise({
        _tag: 'Unsupported',
        backend: 'webgpu',
        what: 'WGSL has no f64',
        fix: "make the tensor with dtype 'f32' (tensor(data, shape, 'f32')), or keep it on cpu().",
      })
    device.alive()
    if (storage === 'f16') needF16(device.opened)
    const half = storage === 'f16' && dtype === 'f32'
    const stored = half ? toF16(data as Float32Array) : toDevice(data, dtype)
    const bytes = (half ? 2 : 4) * data.length
    const { gpu } = device
    gpu.pushErrorScope('out-of-memory')
    const memory = device.storage(bytes)
    if (data.length > 0) gpu.queue.writeBuffer(memory, 0, stored)
    device.stats.bytesWritten += bytes
    if ((await gpu.popErrorScope()) !== null) {
      device.free(memory)
      raise({ _tag: 'OutOfMemory', backend: 'webgpu', neededBytes: bytes, limitBytes: device.limitBytes })
    }
    return new WebGpuArray(device, memory, data.length, dtype, half)
  }

  /** The buffer, on this device; an error where it is gone. */
  on(device: Device, where: string): GPUBuffer {
    if (this.disposed) badInput(where, 'a tensor was disposed.', 'place it with onDevice again.')
    if (this.device !== device) {
      this.device.alive()
      badInput(where, 'a tensor is on another device.', 'read it back with onHost, and place it on this one.')
    }
    return this.memory
  }

  async read(): Promise<TypedArray> {
    const { device, size, dtype, half } = this
    const bytes = (half ? 2 : 4) * size
    const memory = this.on(device, 'onHost')
    const read = await device.exclusive(async () => {
      device.alive()
      const staging = device.takeStaging(bytes)
      const encoder = device.gpu.createCommandEncoder()
      if (size > 0) encoder.copyBufferToBuffer(memory, 0, staging, 0, aligned(bytes, 4))
      device.submit(encoder)
      return device.readStaging(staging, bytes)
    })
    return read((mapped) => (half ? fromF16(new Uint16Array(mapped, 0, size)) : fromDevice(mapped, 0, size, dtype).slice()))
  }

  dispose(): void {
    this.disposed = true
    this.device.free(this.memory)
  }
}
