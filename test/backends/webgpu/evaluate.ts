/** Runs rows of the scalar tables on a device: many of them in one pipeline, since pipelines are slow to build. */
import type { WgslScalar } from '../../../src/backends/webgpu/kernel.js'
import { preludeOf } from '../../../src/backends/webgpu/wgsl/library.js'
import type { WgslDType } from '../../../src/backends/webgpu/wgsl/literal.js'

/** A row at many points. */
export interface Job {
  readonly row: WgslScalar
  readonly params?: unknown
  readonly from: readonly WgslDType[]
  readonly to: WgslDType
  /** One column per argument, of equal lengths. */
  readonly x: readonly ArrayLike<number>[]
}

const WORKGROUP = 64

const typed = (dtype: WgslDType, buffer: ArrayBuffer, offset: number, length: number): Float32Array | Int32Array | Uint32Array =>
  dtype === 'f32'
    ? new Float32Array(buffer, offset * 4, length)
    : dtype === 'i32'
      ? new Int32Array(buffer, offset * 4, length)
      : new Uint32Array(buffer, offset * 4, length)
/** A register from a word of the buffer, and back: a bool is 0 or 1 there. */
const fromWord = (dtype: WgslDType, word: string): string => (dtype === 'bool' ? `(${word} != 0u)` : `bitcast<${dtype}>(${word})`)
const toWord = (dtype: WgslDType, name: string): string => (dtype === 'bool' ? `select(0u, 1u, ${name})` : `bitcast<u32>(${name})`)

/** The results of every job, one column each; `text` may change the shader. */
export const evaluateJobs = async (
  device: GPUDevice,
  jobs: readonly Job[],
  text: (wgsl: string) => string = (wgsl) => wgsl,
): Promise<readonly (Float32Array | Int32Array | Uint32Array)[]> => {
  let inputs = 0
  let outputs = 0
  const places = jobs.map((job) => {
    const n = job.x[0]!.length
    const place = { n, x: job.x.map((_, k) => inputs + k * n), y: outputs }
    inputs += n * job.x.length
    outputs += n
    return place
  })
  const data = new ArrayBuffer(inputs * 4)
  jobs.forEach((job, j) => {
    job.x.forEach((column, k) => {
      typed(job.from[k]!, data, places[j]!.x[k]!, places[j]!.n).set(column)
    })
  })
  const cases = jobs.map((job, j) => {
    const { n, x, y } = places[j]!
    const names = x.map((_, k) => `x${k}`)
    const loads = x.map((offset, k) => `let x${k} = ${fromWord(job.from[k]!, `words[${offset}u + i]`)};`)
    const value = job.row({ x: names, from: job.from, to: job.to, params: job.params })
    return `case ${j}u: { if (i < ${n}u) { ${loads.join(' ')} let y = ${value}; results[${y}u + i] = ${toWord(job.to, 'y')}; } }`
  })
  const body = `
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> results: array<u32>;
@compute @workgroup_size(${WORKGROUP}) fn main(@builtin(global_invocation_id) id: vec3u, @builtin(workgroup_id) group: vec3u) {
  let i = id.x;
  switch (group.y) {
    ${cases.join('\n    ')}
    default: {}
  }
}`
  device.pushErrorScope('validation')
  const enabled = body.includes('cd_half') ? 'enable f16;\n' : ''
  const module = device.createShaderModule({ code: enabled + text(preludeOf(body) + body) })
  const info = await module.getCompilationInfo()
  const errors = info.messages.filter((m) => m.type === 'error')
  if (errors.length > 0) throw new Error(errors.map((m) => `${m.lineNum}: ${m.message}`).join('\n'))
  const pipeline = await device.createComputePipelineAsync({ layout: 'auto', compute: { module, entryPoint: 'main' } })
  const buffer = (size: number, usage: number): GPUBuffer => device.createBuffer({ size: Math.max(16, size), usage })
  const source = buffer(inputs * 4, GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST)
  const target = buffer(outputs * 4, GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC)
  const staging = buffer(outputs * 4, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST)
  device.queue.writeBuffer(source, 0, data)
  const encoder = device.createCommandEncoder()
  const pass = encoder.beginComputePass()
  pass.setPipeline(pipeline)
  pass.setBindGroup(
    0,
    device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: [
        { binding: 0, resource: { buffer: source } },
        { binding: 1, resource: { buffer: target } },
      ],
    }),
  )
  pass.dispatchWorkgroups(Math.ceil(Math.max(...places.map((p) => p.n)) / WORKGROUP), jobs.length)
  pass.end()
  encoder.copyBufferToBuffer(target, 0, staging, 0, outputs * 4)
  device.queue.submit([encoder.finish()])
  const failure = await device.popErrorScope()
  if (failure !== null) throw new Error(failure.message)
  await staging.mapAsync(GPUMapMode.READ)
  const copy = staging.getMappedRange().slice(0)
  for (const b of [source, target, staging]) b.destroy()
  return jobs.map((job, j) => typed(job.to, copy, places[j]!.y, places[j]!.n))
}
