/** The device: found in a browser or through Dawn in Node, with the adapter's own limits, and told apart from a lost one. */

import { raise } from '../../core/errors/explain.js'
import { flag, list, type OptionsOf, object, oneOf } from '../../core/errors/options.js'
import type { KernelTable } from '../../core/extend/kernel-table.js'
import { bytes, kernelsOption } from '../shared.js'

/** A GPUDevice, by what every version of its type has: this package's types need no library of WebGPU's. */
interface DeviceLike {
  readonly features: { has(name: string): boolean }
  readonly limits: object
  readonly queue: object
  readonly lost: Promise<unknown>
  destroy(): unknown
}

export const webgpuOptions = {
  /** A GPUDevice to use; otherwise one is opened (and destroyed by dispose). */
  device: object<DeviceLike>(),
  /** Which adapter, where there are several. */
  powerPreference: oneOf('low-power', 'high-performance'),
  /** Dawn's options in Node, such as 'backend=vulkan'. */
  dawn: list<string>(),
  /** Largest memory of a program in bytes (default and limit: what the adapter allows in one storage binding). */
  memoryBytes: bytes,
  /**
   * How f32 values are stored between the kernels of a program: 'f16' takes half of the memory and of its traffic, where the adapter has
   * shader-f16 (otherwise Unsupported). Kernels compute and add up in f32; a value is rounded when it is stored: 11 significant bits, 6e-8
   * to 65504, beyond which lies Infinity. Arguments, results and sums that several kernels add to keep f32; tensors on the device are
   * stored as `onDevice` says (default: 'f32').
   */
  storage: oneOf('f32', 'f16'),
  /** Show of every plan, before it runs, that it computes what its program says (default: off). Slow: every element is looked at. */
  verify: flag(),
  /** Fill the memory with NaN before every call, so that a kernel that reads what was not written shows (default: off). */
  poison: flag(),
  /** Bytes that cached plans, and pipelines, may take (default 32 MiB). */
  cacheBytes: bytes,
  /** Kernels of primitives of your own: `definePlugin(...).kernels.webgpu`. */
  kernels: kernelsOption<KernelTable<unknown, unknown>>(),
}
/** Options of `webgpu`. */
export type WebGpuOptions = OptionsOf<typeof webgpuOptions>

/** An open device and what the backend needs to know of it. */
export interface Opened {
  readonly device: GPUDevice
  readonly adapter: string
  /** Runs on the CPU: cores are few, barriers dear. */
  readonly software: boolean
  readonly subgroups: boolean
  readonly f16: boolean
  /** Quotients and square roots of the driver's are rounded, as software drivers' are: kernels take them as they come. */
  readonly rounds: boolean
  /** Opened by us: dispose destroys it. */
  readonly own: boolean
}

/** Raises Unsupported where f16 cannot be stored. */
export const needF16 = ({ f16, adapter }: Pick<Opened, 'f16' | 'adapter'>): void => {
  if (!f16)
    raise({
      _tag: 'Unsupported',
      backend: 'webgpu',
      what: `storage as f16 without shader-f16 (${adapter})`,
      fix: "leave out storage: 'f16', or use another adapter.",
    })
}

/** `navigator.gpu`, where there is one (Node 20 has no navigator). */
const browserGpu = (): GPU | undefined => (typeof navigator === 'undefined' ? undefined : (navigator as { readonly gpu?: GPU }).gpu)

/** In a page or a worker of one, where no package can be had. */
const inBrowser = (): boolean => 'document' in globalThis || 'WorkerGlobalScope' in globalThis

/** Dawn's instances, by their options: kept, since a device does not outlive the instance it came from. */
const instances = new Map<string, GPU>()
/** Dawn through the optional package `webgpu`. */
const dawnGpu = async (options: readonly string[]): Promise<GPU> => {
  let dawn: { readonly create: (options: string[]) => GPU; readonly globals: object }
  try {
    const name = 'webgpu'
    dawn = (await import(/* @vite-ignore */ name)) as typeof dawn
  } catch {
    return raise({
      _tag: 'Device',
      backend: 'webgpu',
      ...(inBrowser()
        ? { reason: 'this page has no navigator.gpu.', fix: 'use a browser with WebGPU, over https or on localhost, or use cpu().' }
        : { reason: 'there is no navigator.gpu, and the package webgpu is not installed.', fix: 'npm install webgpu, or use cpu().' }),
    })
  }
  for (const [k, v] of Object.entries(dawn.globals))
    if (!(k in globalThis)) Object.defineProperty(globalThis, k, { value: v, configurable: true })
  const key = options.join('\n')
  let gpu = instances.get(key)
  if (gpu === undefined) {
    gpu = dawn.create([...options])
    instances.set(key, gpu)
  }
  return gpu
}

const wanted = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxStorageBuffersPerShaderStage',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
] as const

const softwareNames = /swiftshader|llvmpipe|lavapipe|software|basic render/i

/** Opens a device with the adapter's limits and the features that kernels can use. */
export const openDevice = async (options: WebGpuOptions): Promise<Opened> => {
  if (options.device !== undefined) {
    const device = options.device as GPUDevice // the one cast: see DeviceLike
    const info = device.adapterInfo as GPUAdapterInfo | undefined
    const opened = describe(device, info, false, browserGpu())
    if (options.storage === 'f16') needF16(opened)
    return opened
  }
  const gpu = browserGpu() ?? (await dawnGpu(options.dawn ?? []))
  const adapter = await gpu.requestAdapter(options.powerPreference === undefined ? {} : { powerPreference: options.powerPreference })
  if (adapter === null)
    return raise({
      _tag: 'Device',
      backend: 'webgpu',
      reason: 'no adapter was found.',
      fix: 'install a Vulkan, Metal or D3D12 driver, or use cpu().',
    })
  if (options.storage === 'f16') needF16({ f16: adapter.features.has('shader-f16'), adapter: nameOf(adapter.info) })
  const requiredLimits: Record<string, number> = {}
  for (const l of wanted) requiredLimits[l] = adapter.limits[l]
  const requiredFeatures = (['shader-f16', 'subgroups', 'timestamp-query'] as GPUFeatureName[]).filter((f) => adapter.features.has(f))
  const device = await adapter.requestDevice({ requiredLimits, requiredFeatures })
  return describe(device, adapter.info, true, gpu)
}

const nameOf = (info: GPUAdapterInfo | undefined): string =>
  info === undefined ? 'unknown' : [info.vendor, info.architecture, info.device, info.description].filter((x) => x !== '').join(' ')

const describe = (device: GPUDevice, info: GPUAdapterInfo | undefined, own: boolean, gpu: GPU | undefined): Opened => {
  const adapter = nameOf(info)
  return {
    device,
    adapter,
    software: softwareNames.test(adapter),
    // Without subgroup_id a shader does not know which invocations share a subgroup.
    subgroups: device.features.has('subgroups' as GPUFeatureName) && gpu?.wgslLanguageFeatures?.has('subgroup_id') === true,
    f16: device.features.has('shader-f16'),
    rounds: softwareNames.test(adapter),
    own,
  }
}
