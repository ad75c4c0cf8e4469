/**
 * The lanes of the WebGPU tests: software Vulkan drivers found on this machine. The loader reads VK_DRIVER_FILES once, when the first
 * instance is made, so one process has one driver: write one test file per lane. Open in beforeAll, destroy in afterAll: a device that
 * lives at exit may crash the process.
 */
import { existsSync, mkdirSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'

export type LaneName = 'lavapipe' | 'swiftshader'

export interface Lane {
  readonly name: LaneName
  /** The driver's manifest, for VK_DRIVER_FILES. */
  readonly icd: string
}

const variables: { readonly [K in LaneName]: string } = { lavapipe: 'CODUAL_WEBGPU_LAVAPIPE', swiftshader: 'CODUAL_WEBGPU_SWIFTSHADER' }

/** Where the driver's manifest is looked for. */
const manifest = (name: LaneName): string => process.env[variables[name]] ?? join(homedir(), '.cache', 'codual-webgpu', name, 'icd.json')

/** The lanes of this machine. */
export const lanes: readonly Lane[] = (['lavapipe', 'swiftshader'] as const)
  .map((name) => ({ name, icd: manifest(name) }))
  .filter((lane) => existsSync(lane.icd))

/** The lane, or undefined with a line that names it and says how to have it (an error with CODUAL_REQUIRE_WEBGPU=1). */
export const findLane = (name: LaneName): Lane | undefined => {
  const lane = lanes.find((l) => l.name === name)
  if (lane === undefined) {
    const missing = `no driver manifest at ${manifest(name)}: npm run webgpu:drivers (Debian), or set ${variables[name]} to an icd.json.`
    if (process.env.CODUAL_REQUIRE_WEBGPU === '1') throw new Error(`webgpu lane ${name} is required: ${missing}`)
    console.warn(`webgpu lane ${name} is skipped: ${missing}`)
  }
  return lane
}

let opened: Lane | undefined
let gpu: GPU | undefined

/** Sets the driver of this process, before Dawn makes its instance. A second lane in one process is an error. */
export const useLane = (lane: Lane): void => {
  if (opened !== undefined && opened.name !== lane.name) throw new Error(`this process already uses the driver ${opened.name}`)
  opened = lane
  process.env.VK_DRIVER_FILES = lane.icd
  const cache = join(tmpdir(), 'codual-mesa-cache')
  process.env.MESA_SHADER_CACHE_DIR ??= cache
  mkdirSync(cache, { recursive: true })
}

/** Options of Dawn's: its Vulkan backend, and what CODUAL_DAWN adds. */
export const dawnOptions = (): string[] => ['backend=vulkan', ...(process.env.CODUAL_DAWN?.split(' ') ?? [])]
/** Dawn's `navigator.gpu` on the lane's driver; WebGPU's constants become globals. */
export const openGpu = async (lane: Lane): Promise<GPU> => {
  useLane(lane)
  const dawn = await import('webgpu')
  Object.assign(globalThis, dawn.globals)
  gpu ??= dawn.create(dawnOptions())
  return gpu
}

/** A device of the lane's driver with the adapter's own limits and the features that kernels can use. Destroy it in afterAll. */
export const openDevice = async (lane: Lane): Promise<GPUDevice> => {
  const adapter = await (await openGpu(lane)).requestAdapter()
  if (adapter === null) throw new Error(`lane ${lane.name}: ${lane.icd} gives no adapter`)
  const { maxBufferSize, maxStorageBufferBindingSize, maxStorageBuffersPerShaderStage, maxComputeWorkgroupStorageSize } = adapter.limits
  return adapter.requestDevice({
    requiredLimits: { maxBufferSize, maxStorageBufferBindingSize, maxStorageBuffersPerShaderStage, maxComputeWorkgroupStorageSize },
    requiredFeatures: (['shader-f16', 'subgroups', 'timestamp-query'] as GPUFeatureName[]).filter((f) => adapter.features.has(f)),
  })
}
