// The backend onnxRuntime() on onnxruntime-web beside cpu(): values and gradients of an MLP (W3), LeNet (W4) and an unrolled RNN (W7), in f32, least times by turns, with one thread of ONNX Runtime and
// with two (a process each: its WebAssembly takes the first number). `npm run bench:onnxruntime`
import { execFileSync } from 'node:child_process'
import * as ort from 'onnxruntime-web'
import { type OnnxModule, onnxRuntime } from '../src/backends/onnxruntime/index.js'
import { compile, cpu, type Tensor, tensor } from '../src/index.js'
import { inputsOf } from '../test/golden/data.js'
import { programs } from '../test/golden/programs.js'
import type { WorkloadId } from '../test/golden/spec.js'

type Run = (x: object) => unknown
const threads = process.argv[2] === undefined ? undefined : Number(process.argv[2])
const workloads: readonly WorkloadId[] = ['W3', 'W4', 'W7']

const leavesOf = (x: unknown): readonly Tensor[] =>
  (x as { readonly _tag?: unknown })._tag === 'Tensor' ? [x as Tensor] : Object.values(x as object).flatMap(leavesOf)
/** The largest difference, relative to the largest number. */
const difference = (a: readonly Tensor[], b: readonly Tensor[]): number =>
  Math.max(
    ...a.map((t, i) => {
      const size = Array.from(t.data).reduce((m, v) => Math.max(m, Math.abs(v)), 1e-30)
      return Array.from(t.data).reduce((m, v, k) => Math.max(m, Math.abs(v - b[i]!.data[k]!)), 0) / size
    }),
  )

const measure = async (count: number): Promise<void> => {
  ort.env.wasm.numThreads = count
  ort.env.logLevel = 'error'
  const backend = onnxRuntime({ runtime: ort as unknown as OnnxModule, threads: count })
  for (const id of workloads) {
    const { whole } = programs[id]('f32')
    const x = Object.fromEntries(
      Object.entries(inputsOf(id, 'f32')).map(([name, { shape, data }]) => [name, tensor(data, [...shape] as never)]),
    )
    const there = compile(whole as never, backend) as unknown as (x: object) => Promise<unknown>
    const here = compile(whole as never, cpu()) as unknown as Run
    const far = difference(leavesOf(here(x)), leavesOf(await there(x)))
    const least = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY] as [number, number]
    const end = performance.now() + 6000
    for (let round = 0; round < 5 || (performance.now() < end && round < 400); round++) {
      const start = performance.now()
      here(x)
      const middle = performance.now()
      await there(x)
      least[0] = Math.min(least[0], middle - start)
      least[1] = Math.min(least[1], performance.now() - middle)
    }
    console.log(
      `${id}  ${count} thread${count === 1 ? ' ' : 's'}  cpu() ${least[0].toFixed(3).padStart(8)} ms  onnxRuntime() ${least[1].toFixed(3).padStart(8)} ms  ${(least[1] / least[0]).toFixed(2).padStart(6)}  differ by ${far.toExponential(0)}`,
    )
  }
}
if (threads !== undefined) await measure(threads)
else {
  console.log(`node ${process.version}, onnxruntime-web ${ort.env.versions?.web ?? ''}; time of onnxRuntime() over that of cpu()`)
  for (const count of [1, 2])
    process.stdout.write(execFileSync(process.execPath, [...process.execArgv, import.meta.filename, String(count)], { encoding: 'utf8' }))
}
process.exit(0)
