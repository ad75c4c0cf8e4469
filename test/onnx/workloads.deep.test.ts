// The workloads with their gradients on ONNX Runtime: the values that other systems computed, and those of the CPU backend.
import * as ort from 'onnxruntime-web'
import { describe, expect, it } from 'vitest'
import { type OnnxModule, onnxRuntime } from '../../src/backends/onnxruntime/index.js'
import { compile, cpu, type Tensor, tensor } from '../../src/index.js'
import { difference } from '../backends/sample-cases.js'
import { inputsOf } from '../golden/data.js'
import { agreement, golden, type Outputs, toleranceOf } from '../golden/golden.js'
import { dtypesOf } from '../golden/lanes.js'
import { programs } from '../golden/programs.js'
import { type WorkloadId, workloadIds } from '../golden/spec.js'

ort.env.wasm.numThreads = 1
ort.env.logLevel = 'error'
const backend = onnxRuntime({ runtime: ort as unknown as OnnxModule })
type Result = { readonly value: Tensor; readonly grad: Readonly<Record<string, Tensor>> } | { readonly C: Tensor }
const leaves = (r: Result): Readonly<Record<string, Tensor>> => ('C' in r ? { C: r.C } : { value: r.value, ...r.grad })
const outputs = (r: Result): Outputs =>
  Object.fromEntries(Object.entries(leaves(r)).map(([name, t]) => [name, (name === 'value' ? t.data[0]! : t.data) as never]))
/** Long chains of f32, whose tanh and sums differ in the last bits between runtimes. */
const bound = (id: WorkloadId, dtype: 'f32' | 'f64'): number =>
  dtype === 'f64' ? 1e-12 : ['W4', 'W7', 'W8', 'W9'].includes(id) ? 1e-4 : 1e-5

/** Values that are sums of a line of 100,352 numbers: onnxruntime-web adds them up in one f32, codual in f64. In f64 they are held to 1e-12. */
const LONG_SUMS: readonly WorkloadId[] = ['W1', 'W2']
const IN_ONE_F32 = 1e-4

describe('workloads on ONNX Runtime', () => {
  for (const id of workloadIds)
    for (const dtype of dtypesOf(id))
      it(`${id} in ${dtype}`, { timeout: 300_000 }, async () => {
        const { whole } = programs[id](dtype)
        const inputs = inputsOf(id, dtype)
        const x = Object.fromEntries(Object.entries(inputs).map(([name, { shape, data }]) => [name, tensor(data, [...shape] as never)]))
        const there = compile(whole as never, backend) as unknown as { (x: object): Promise<Result>; dispose: () => Promise<void> }
        const got = await there(x)
        await there.dispose()
        const isLong = dtype === 'f32' && LONG_SUMS.includes(id)
        const { failures } = agreement(outputs(got), golden[id], toleranceOf(id, dtype))
        expect(failures.filter((line) => !(isLong && line.startsWith('value:')))).toEqual([])
        const want = (compile(whole as never, cpu()) as unknown as (x: object) => Result)(x)
        for (const [name, t] of Object.entries(leaves(want)))
          expect(difference(leaves(got)[name]!.data, t.data), name).toBeLessThan(isLong && name === 'value' ? IN_ONE_F32 : bound(id, dtype))
      })
})
