/** Steady state: a prepared gradient written into the caller's arrays allocates no tensor, and memory does not grow. */
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import * as cd from '../../src/index.js'

const collect = (globalThis as { gc?: () => void }).gc
const used = (): number => {
  collect?.()
  collect?.()
  const m = process.memoryUsage()
  return m.heapUsed + m.arrayBuffers
}

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
/** Bytes that 10,000 calls leave behind. */
const growth = (call: () => unknown): number => {
  for (let i = 0; i < CALLS; i++) call() // until compiled code and feedback have settled
  const before = used()
  for (let i = 0; i < CALLS; i++) call()
  return used() - before
}

describe('a compiled gradient with .into', () => {
  it('the collector is there to be asked', () => expect(collect).toBeTypeOf('function'))
  it('allocates no tensor in 10,000 calls, and the memory of the backend stays', () => {
    const { backend, step, input, first } = prepared()
    const into = (step.into as (o: unknown) => (x: unknown) => unknown)(first)
    const bytes = backend.memoryBytes()
    const made = countTypedArrays(() => into(input), 1000)
    expect(made).toBe(0)
    expect(growth(() => into(input))).toBeLessThan(64 * 1024)
    expect(backend.memoryBytes()).toBe(bytes)
  })
  it('fresh results cost exactly their own arrays', () => {
    const { step, input } = prepared()
    expect(countTypedArrays(() => (step as (x: unknown) => unknown)(input), 100)).toBe(2 * 100)
  })
  it('a deliberate leak is found by the same measure', () => {
    const { step, input } = prepared()
    const kept: unknown[] = []
    expect(growth(() => kept.push((step as (x: unknown) => unknown)(input)))).toBeGreaterThan(CALLS * 1024)
  })
})

/** Float32Arrays that `call` makes, counted at their constructor and at slice. */
const countTypedArrays = (call: () => unknown, times: number): number => {
  const { slice } = Float32Array.prototype
  let made = 0
  Float32Array.prototype.slice = function (this: Float32Array<ArrayBuffer>, ...args) {
    made++
    return slice.apply(this, args) as Float32Array<ArrayBuffer>
  }
  const Original = globalThis.Float32Array
  globalThis.Float32Array = new Proxy(Original, {
    construct: (target, args, self) => {
      made++
      return Reflect.construct(target, args, self)
    },
  })
  try {
    for (let i = 0; i < times; i++) call()
  } finally {
    globalThis.Float32Array = Original
    Float32Array.prototype.slice = slice
  }
  return made
}
