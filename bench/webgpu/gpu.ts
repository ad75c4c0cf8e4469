// What kernels reach on an adapter: products in TFLOP/s, loops and folds in GB/s, with the device's clock; beside PyTorch where CODUAL_TORCH names a Python that has it with CUDA.
// `CODUAL_TORCH=python3 npm run bench:webgpu:gpu [-- --elements 1e8 --only product,sum --json file]`
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import * as cd from '../../src/index.js'

const { values } = parseArgs({
  options: {
    elements: { type: 'string', default: '1e8' },
    only: { type: 'string' },
    json: { type: 'string' },
    dawn: { type: 'string', multiple: true },
  },
})
const N = Number(values.elements)

type Loose = (...args: readonly unknown[]) => cd.AnyExpr
const op = cd as unknown as Readonly<Record<string, Loose>>
interface Case {
  readonly name: string
  readonly shapes: readonly (readonly number[])[]
  readonly f: Loose
  readonly flops?: number
  readonly bytes?: number
}
const product = (name: string, batch: number, m: number, k: number, n: number, order = 'nn'): Case => {
  const lead = batch > 1 ? [batch] : []
  const turned = (x: unknown, t: boolean): unknown => (t ? op.transpose!(x, batch > 1 ? [0, 2, 1] : [1, 0]) : x)
  return {
    name: `product ${name}`,
    shapes: [
      [...lead, ...(order[0] === 't' ? [k, m] : [m, k])],
      [...lead, ...(order[1] === 't' ? [n, k] : [k, n])],
    ],
    f: (x, y) => op.matmul!(turned(x, order[0] === 't'), turned(y, order[1] === 't')),
    flops: 2 * batch * m * n * k,
  }
}
/** One product after the other in one pass, each of the one before: what is left is the kernel, without the start of a pass. */
const inARow = (size: number, count: number): Case => ({
  name: `product ${size}, ${count} in a row`,
  shapes: [
    [size, size],
    [size, size],
  ],
  f: (x, y) => Array.from({ length: count }).reduce<unknown>((z) => op.matmul!(z, y), x) as cd.AnyExpr,
  flops: 2 * size ** 3 * count,
})
const rows = [N / 1000, 1000]
const side = Math.round(Math.sqrt(N))
const cases: readonly Case[] = [
  product('1024', 1, 1024, 1024, 1024),
  product('2048', 1, 2048, 2048, 2048),
  product('4096', 1, 4096, 4096, 4096),
  inARow(1024, 10),
  inARow(2048, 10),
  inARow(4096, 10),
  product('2048 nt', 1, 2048, 2048, 2048, 'nt'),
  product('2048 tn', 1, 2048, 2048, 2048, 'tn'),
  product('1536x8192x1536', 1, 1536, 8192, 1536),
  product('512', 1, 512, 512, 512),
  product('64x784x32', 1, 64, 784, 32),
  product('128x784x512', 1, 128, 784, 512),
  product('64 of 128x64x128', 64, 128, 64, 128),
  product('64 of 512x64x512', 64, 512, 64, 512, 'nt'),
  { name: 'add', shapes: [[N], [N]], f: (x, y) => op.add!(x, y), bytes: 12 * N },
  { name: 'tanh', shapes: [[N]], f: (x) => op.tanh!(x), bytes: 8 * N },
  { name: 'sum', shapes: [[N]], f: (x) => op.sum!(x), bytes: 4 * N },
  { name: 'sum of rows', shapes: [rows], f: (x) => op.sum!(x, { axis: 1 }), bytes: 4 * N },
  { name: 'sum of columns', shapes: [rows], f: (x) => op.sum!(x, { axis: 0 }), bytes: 4 * N },
  { name: 'softmax', shapes: [rows], f: (x) => op.softmax!(x, { axis: 1 }), bytes: 8 * N },
  { name: 'transpose', shapes: [[side, side]], f: (x) => op.transpose!(x), bytes: 8 * side * side },
]

interface Peer {
  readonly device: string
  readonly seconds: Readonly<Record<string, number>>
}
const torch = (): Peer | undefined => {
  const python = process.env.CODUAL_TORCH
  if (python === undefined) return undefined
  const script = fileURLToPath(new URL('./gpu.py', import.meta.url))
  const { stdout, stderr, status } = spawnSync(python, [script, String(N)], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${python} ${script}: ${stderr}`)
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as Peer
}

const dawn = await import('webgpu')
Object.assign(globalThis, dawn.globals)
const gpu: GPU = dawn.create(['disable-dawn-features=timestamp_quantization', ...(values.dawn ?? [])])
Object.defineProperty(globalThis, 'navigator', { value: { gpu }, configurable: true })
const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' })
if (adapter === null) throw new Error('no adapter')
const requiredLimits: Record<string, number> = {}
for (const l of [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxStorageBuffersPerShaderStage',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
] as const)
  requiredLimits[l] = adapter.limits[l]
const requiredFeatures = (['shader-f16', 'subgroups', 'timestamp-query'] as GPUFeatureName[]).filter((f) => adapter.features.has(f))
if (!requiredFeatures.includes('timestamp-query')) throw new Error('the adapter has no timestamp-query')
const device = await adapter.requestDevice({ requiredLimits, requiredFeatures })

// Every pass that the backend encodes is stamped while `stamped` is set.
const query = device.createQuerySet({ type: 'timestamp', count: 2 })
const resolved = device.createBuffer({ size: 16, usage: 0x0204 })
const staging = device.createBuffer({ size: 16, usage: 0x0009 })
let stamped = false
const encoder = device.createCommandEncoder.bind(device)
device.createCommandEncoder = (d) => {
  const e = encoder(d)
  const begin = e.beginComputePass.bind(e)
  const timestampWrites = { querySet: query, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 }
  e.beginComputePass = (p) => begin(stamped ? { ...p, timestampWrites } : p)
  return e
}
/** Seconds of the last pass. */
const passSeconds = async (): Promise<number> => {
  const e = encoder()
  e.resolveQuerySet(query, 0, 2, resolved, 0)
  e.copyBufferToBuffer(resolved, 0, staging, 0, 16)
  device.queue.submit([e.finish()])
  await staging.mapAsync(1)
  const [begin, end] = new BigUint64Array(staging.getMappedRange().slice(0))
  staging.unmap()
  return Number(end! - begin!) / 1e9
}

const backend = cd.webgpu({ device })
const place = async (shape: readonly number[]): Promise<cd.Tensor> => {
  const size = shape.reduce((a, b) => a * b, 1)
  const data = new Float32Array(size)
  for (let i = 0, z = 1; i < size; i++) {
    z = (Math.imul(z, 1664525) + 1013904223) | 0
    data[i] = z / 2 ** 31
  }
  return (await cd.onDevice(cd.tensor(data, [...shape]) as never, backend as never)) as unknown as cd.Tensor
}
type Run = (...x: readonly cd.Tensor[]) => Promise<cd.Tensor>
/** A GPU at rest takes some hundred milliseconds of work until its clocks are up. */
const busy = await (async () => {
  const x = await place([512, 512])
  const run = (cd.compileAsync as unknown as (f: Loose, b: cd.AsyncBackend) => { into: (t: cd.Tensor) => Run })(
    (a) => op.matmul!(a, a),
    backend,
  ).into(await place([512, 512]))
  return async (ms: number): Promise<void> => {
    for (const end = performance.now() + ms; performance.now() < end; await device.queue.onSubmittedWorkDone())
      for (let k = 0; k < 20 && performance.now() < end; k++) await run(x)
  }
})()

const peer = torch()
const adapterName = [adapter.info.vendor, adapter.info.device, adapter.info.description].filter((x) => x !== '').join(' ')
console.log(`${adapterName}${peer === undefined ? '' : `; PyTorch on ${peer.device}`}; ${N} elements`)
console.log('case                      kernels us                     call us   kernels / PyTorch')
const results: object[] = []
for (const { name, shapes, f, flops, bytes } of cases) {
  if (values.only !== undefined && !values.only.split(',').some((o) => name.startsWith(o))) continue
  const x = await Promise.all(shapes.map(place))
  const compiled = (cd.compileAsync as unknown as (f: Loose, b: cd.AsyncBackend) => Run & { into: (t: cd.Tensor) => Run })(f, backend)
  const first = await compiled(...x)
  const into = await place(first.shape)
  const run = compiled.into(into)
  await run(...x)
  let [kernels, call] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let r = 0; r < 3; r++) {
    await busy(r === 0 ? 300 : 50)
    for (let k = 0; k < 3; k++) {
      stamped = true
      await run(...x)
      stamped = false
      kernels = Math.min(kernels, await passSeconds())
    }
    const t = performance.now()
    for (let k = 0; k < 8; k++) await run(...x)
    await device.queue.onSubmittedWorkDone()
    call = Math.min(call, (performance.now() - t) / 8e3)
  }
  const rate = flops === undefined ? `${(bytes! / kernels / 1e9).toFixed(0)} GB/s` : `${(flops / kernels / 1e12).toFixed(2)} TFLOP/s`
  const other = peer?.seconds[name]
  const ratio = other === undefined ? '' : (other / kernels).toFixed(2)
  console.log(
    `${name.padEnd(24)} ${(1e6 * kernels).toFixed(1).padStart(10)} ${rate.padStart(16)} ${(1e6 * call).toFixed(1).padStart(16)}   ${ratio}`,
  )
  results.push({ name, kernels, call, peer: other })
  for (const t of [...x, into]) (t as unknown as cd.DeviceTensor).dispose()
}
if (values.json !== undefined)
  writeFileSync(values.json, JSON.stringify({ adapter: adapterName, peer: peer?.device, results }, undefined, 1))
backend.dispose()
device.destroy()
