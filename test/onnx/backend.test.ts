// `onnxRuntime()` as a backend: the numbers of the CPU backend, gradients and loops included, and errors that name the node.
import * as ort from 'onnxruntime-web'
import { describe, expect, it } from 'vitest'
import { type OnnxModule, onnxRuntime } from '../../src/backends/onnxruntime/index.js'
import type { AnyPrimitive } from '../../src/core/graph/primitive.js'
import { families } from '../../src/core/ops/families.js'
import {
  type AnyExpr,
  add,
  besselJ,
  compile,
  cpu,
  erf,
  explain,
  f32,
  f64,
  fn,
  isAdException,
  matmul,
  mul,
  relu,
  scan,
  sin,
  sum,
  type Tensor,
  tanh,
  tensor,
  valueAndGrad,
} from '../../src/index.js'
import { caseOf, difference } from '../backends/sample-cases.js'
import { some } from '../depth.js'
import { BOUND } from './write/given.js'

ort.env.wasm.numThreads = 1
ort.env.logLevel = 'error'
const backend = onnxRuntime({ runtime: ort as unknown as OnnxModule })
const said = async (f: () => unknown): Promise<string> => {
  try {
    await f()
  } catch (e) {
    return isAdException(e) ? explain(e.error) : String(e)
  }
  return 'nothing'
}

const loss = fn({ w: f32(3, 2), x: f32('n', 3) }, ({ w, x }) => sum(tanh(relu(matmul(x, w)))))
const w = tensor([[1, -2], [0.5, 1], [-1, 0.25]], [3, 2], 'f32') // biome-ignore format: a matrix
const x = tensor([[1, 0, 2], [0.1, 0.2, -1]], [2, 3], 'f32') // biome-ignore format: a matrix

describe('onnxRuntime()', () => {
  it('gives what the CPU gives: values and gradients, for each shape', async () => {
    const g = valueAndGrad(loss)
    const there = compile(g, backend)
    for (const rows of [x, tensor([[1, 2, 3]], [1, 3], 'f32')]) {
      const want = compile(g, cpu())({ w, x: rows } as never) as { value: Tensor; grad: { w: Tensor; x: Tensor } }
      const got = (await there({ w, x: rows } as never)) as unknown as typeof want
      expect(got.value.item()).toBeCloseTo(want.value.item() as number, 5)
      expect(difference(got.grad.w.data, want.grad.w.data)).toBeLessThan(1e-6)
      expect(difference(got.grad.x.data, want.grad.x.data)).toBeLessThan(1e-6)
    }
    await there.dispose()
  })

  it('computes f64 to 1e-12, factors beside products among it', async () => {
    const f = fn({ a: f64(4, 4) }, ({ a }) => add(erf(a), mul(matmul(a, a), 0.1)))
    const a = tensor(
      Array.from({ length: 16 }, (_, i) => Math.sin(i)),
      [4, 4],
      'f64',
    )
    const got = (await compile(f, backend)({ a } as never)) as unknown as Tensor
    expect(difference(got.data, (compile(f)({ a }) as unknown as Tensor).data)).toBeLessThan(1e-14)
  })

  it('runs loops, tensors that are captured, and targets that are written or added to', async () => {
    const scale = tensor([2, 3], [2], 'f64')
    const f = fn({ xs: f64(5, 2) }, ({ xs }) => (scan((c: AnyExpr, v: AnyExpr) => [add(mul(c, scale), v), c] as const, tensor([0, 0], [2], 'f64') as unknown as AnyExpr, xs as AnyExpr) as unknown as readonly AnyExpr[])[0]!) // biome-ignore format: one loop
    const xs = tensor(
      Array.from({ length: 10 }, (_, i) => i / 10),
      [5, 2],
      'f64',
    )
    const there = compile(f as never, backend) as unknown as {
      (a: object): Promise<Tensor>
      into: (y: Tensor, o?: object) => (a: object) => Promise<Tensor>
    }
    const want = (compile(f as never) as unknown as (a: object) => Tensor)({ xs })
    expect(difference((await there({ xs })).data, want.data)).toBeLessThan(1e-14)
    const y = tensor([1, 1], [2], 'f64') as unknown as Tensor
    await there.into(y)({ xs })
    expect(difference(y.data, want.data)).toBeLessThan(1e-14)
    await there.into(y, { accumulate: true })({ xs })
    expect(y.data[0]).toBeCloseTo(2 * want.data[0]!, 10)
    scale.data[0] = 1
    expect((await there({ xs })).data[0]).not.toBeCloseTo(want.data[0]!, 3)
  })

  it('loads the package that is installed, where none is given', async () => {
    const there = compile(loss, onnxRuntime({ threads: 1, session: { logSeverityLevel: 3 } }))
    expect(
      difference(
        ((await there({ w, x } as never)) as unknown as Tensor).data,
        (compile(loss)({ w, x } as never) as unknown as Tensor).data,
      ),
    ).toBeLessThan(1e-6)
  })

  it('explains a program by its nodes', async () => {
    const e = await compile(loss, backend).explain({ w, x } as never)
    expect(e.backend).toBe('onnxRuntime')
    expect(e.counts).toMatchObject({ MatMul: 1, Relu: 1, Tanh: 1 })
    expect(e.steps.map((s) => s.ops[0])).toContain('matmul')
    expect(e.flops).toBeGreaterThan(24)
  })

  it('names a primitive that is not written, with the line, and a node that the runtime refuses', async () => {
    const text = await said(() => compile((v: AnyExpr) => besselJ(1, v) as never, backend)([1, 2] as never))
    expect(text).toContain('ONNX has no kernel for `besselJ`')
    expect(text).toMatch(/backend\.test\.ts:\d+/)
    const refusing: OnnxModule = {
      ...(ort as unknown as OnnxModule),
      InferenceSession: {
        create: async () => {
          throw new Error("Could not find an implementation for Sin(7) node with name 'Sin_0'")
        },
      },
    }
    const second = await said(() => compile((v: AnyExpr) => sin(v), onnxRuntime({ runtime: refusing }))([1, 2] as never))
    expect(second).toContain('the node Sin_0 (Sin), which sin is written as: Could not find an implementation')
  })

  it('refuses what is no module, and options that it does not have', async () => {
    expect(await said(() => onnxRuntime({ runtime: {} as never }))).toContain('the runtime is')
    expect(await said(() => onnxRuntime({ threads: 0 }))).toContain('threads is 0')
    expect(await said(() => onnxRuntime({ thread: 1 } as never))).toContain('thread')
  })

  it('runs every family at a sample as the other backends do', { timeout: 120_000 }, async () => {
    let ran = 0
    for (const table of Object.values(families))
      for (const prim of some(Object.values(table) as unknown as readonly AnyPrimitive[], 2)) {
        const c = caseOf(prim, prim.samples[0]!, 'f32')!
        const want = cpu().prepare(c.program).run(c.inputs)
        const made = await said(async () => {
          const x = await backend.prepare(c.program)
          const got = await x.run(c.inputs)
          want.forEach((y, i) => {
            expect(difference(got[i] as never, y), `${prim.name}, result ${i}`).toBeLessThan(BOUND.f32)
          })
          x.dispose()
          ran++
        })
        if (made !== 'nothing') expect(made).toContain('ONNX has no kernel for')
      }
    expect(ran).toBeGreaterThan(20)
  })
})
