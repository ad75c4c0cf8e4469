/** Steady state: a prepared gradient written into the caller's arrays allocates no tensor, and memory does not grow. */
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import * as cd from '../../src/index.js'
import { growth, ROUNDS } from '../memory.js'

const prepared = () => {
  const backend = makeCpu()
  const loss = cd.fn({ w: cd.f32(16, 16), x: cd.f32(8, 16) }, ({ w, x }) => cd.mean(cd.square(cd.tanh(cd.matmul(x, w)))))
  const step = cd.compile(cd.valueAndGrad(loss, { wrt: 'w' }), backend)
  const input = {
    w: cd.tensor(
      Float32Array.from({ length: 256 }, (_, i) => Math.sin(i)),
      [16, 16],
    ),
    x: cd.tensor(
      Float32Array.from({ length: 128 }, (_, i) => Math.cos(i)),
      [8, 16],
    ),
  }
  return { backend, step, input, first: step(input as never) as unknown as { value: cd.Tensor; grad: cd.Tensor } }
}

const CALLS = 10_000
/** Largest weight of what holds the elements of one call's results. */
const HEADS = 1024
const calls = (call: () => unknown) => (): void => {
  for (let i = 0; i < CALLS; i++) call()
}

/** Result arrays of one call: the value, and the gradient of w. */
const ARRAYS = 2
const ARRAY_BYTES = 4 * (1 + 256)

describe('a compiled gradient, counted by the allocator and weighed by the engine', () => {
  it('.into allocates no tensor in 10,000 calls, and the memory of the backend stays', async () => {
    const { backend, step, input, first } = prepared()
    const into = (step.into as (o: unknown) => (x: unknown) => unknown)(first)
    into(input)
    const before = backend.stats()
    expect(await growth(calls(() => into(input)))).toBeLessThan(64 * 1024)
    const after = backend.stats()
    expect(after.calls - before.calls).toBe(ROUNDS * CALLS)
    expect(after.arrays - before.arrays).toBe(0)
    expect(after.arrayBytes - before.arrayBytes).toBe(0)
    expect(after.growths - before.growths).toBe(0)
    expect(after.memoryBytes).toBe(before.memoryBytes)
    expect(backend.memoryBytes()).toBe(before.memoryBytes)
  })

  it('a call runs the steps of its plan, and copies its inputs in and its results out', () => {
    const { backend, step, input } = prepared()
    const before = backend.stats()
    ;(step as (x: unknown) => unknown)(input)
    const after = backend.stats()
    expect(after.kernelCalls - before.kernelCalls).toBe(step.explain().steps.length)
    expect(after.bytesIn - before.bytesIn).toBe(4 * (256 + 128))
    expect(after.bytesOut - before.bytesOut).toBe(ARRAY_BYTES)
  })

  it('fresh results cost exactly their own arrays, and are freed when dropped', async () => {
    const { backend, step, input } = prepared()
    const before = backend.stats()
    expect(await growth(calls(() => (step as (x: unknown) => unknown)(input)))).toBeLessThan(64 * 1024)
    const after = backend.stats()
    expect(after.arrays - before.arrays).toBe(ROUNDS * CALLS * ARRAYS)
    expect(after.arrayBytes - before.arrayBytes).toBe(ROUNDS * CALLS * ARRAY_BYTES)
    expect(after.memoryBytes).toBe(before.memoryBytes)
  })

  it('results that are kept (a leak) weigh what the allocator counted', async () => {
    const { backend, step, input } = prepared()
    const kept: unknown[] = []
    const before = backend.stats()
    const weighed = await growth(calls(() => kept.push((step as (x: unknown) => unknown)(input))))
    const counted = (backend.stats().arrayBytes - before.arrayBytes) / ROUNDS
    expect(counted).toBe(CALLS * ARRAY_BYTES)
    expect(weighed).toBeGreaterThan(counted)
    // beside the elements: the heads of two arrays, two tensors and the record that holds them
    expect(weighed).toBeLessThan(counted + CALLS * HEADS)
    expect(kept.length).toBe(ROUNDS * CALLS)
  })

  it('growing is counted: a program larger than the memory grows it once', () => {
    const backend = makeCpu()
    const n = 1 << 20
    const double = cd.compile(
      cd.fn({ x: cd.f64(n) }, ({ x }) => cd.mul(x, 2)),
      backend,
    )
    const x = { x: cd.tensor(new Float64Array(n)) } as never
    const before = backend.stats()
    double(x)
    const after = backend.stats()
    expect(after.growths - before.growths).toBe(1)
    expect(before.memoryBytes).toBeLessThan(8 * n)
    expect(after.memoryBytes).toBeGreaterThanOrEqual(8 * n)
    double(x)
    expect(backend.stats().growths).toBe(after.growths)
  })
})
