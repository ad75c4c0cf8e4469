/** What calls and functions leave behind where threads share their steps: nothing in this thread's memory, in that which is shared, and no thread. */
import { afterAll, expect, it } from 'vitest'
import { type Started, type Starter, starter } from '../../src/backends/threads/system.js'
import * as cd from '../../src/index.js'
import { count } from '../depth.js'
import { growth, turn } from '../memory.js'
import { threaded, untilHelped } from './threads.js'

/** Threads that run now, told when they begin and when they are gone. */
const counted = () => {
  const start = starter()
  if (typeof start === 'string') throw new Error(start)
  const running = new Set<Started>()
  const counting: Starter = (text, ended) => {
    const one = start(text, () => {
      running.delete(one)
      ended()
    })
    running.add(one)
    return one
  }
  return { start: counting, running }
}
const CALLS = 10_000
const FUNCTIONS = count(150, 1000)
const { start, running } = counted()
const { backend, crew } = threaded(3, { start })
afterAll(() => backend.endThreads())

const wave = (shape: readonly number[], seed: number): cd.Tensor =>
  cd.tensor(
    Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => Math.sin((i + 1) * seed)),
    shape as never,
  ) as never

it('10,000 calls in steady state allocate nothing, in place and with fresh results', { timeout: 300_000 }, async () => {
  const loss = cd.fn({ w: cd.f32(16, 16), x: cd.f32(8, 16) }, ({ w, x }) => cd.mean(cd.square(cd.tanh(cd.matmul(x, w)))))
  const step = cd.compile(cd.valueAndGrad(loss, { wrt: 'w' }), backend)
  const input = { w: wave([16, 16], 1.3), x: wave([8, 16], 0.7) }
  const first = (step as unknown as (x: unknown) => unknown)(input)
  const into = (step.into as unknown as (o: unknown) => (x: unknown) => unknown)(first)
  expect(Number(/share (\d+)/.exec(step.explain().threads!)![1])).toBeGreaterThan(0)
  expect(await untilHelped(crew, () => into(input))).toBe(true)
  /** With a turn of the event loop now and then, in which threads are told. */
  const calls = (call: () => unknown) => async (): Promise<void> => {
    for (let i = 0; i < CALLS; i++) {
      call()
      if (i % 1000 === 0) await turn()
    }
  }
  const before = backend.stats()
  const helped = crew().helped()
  expect(await growth(calls(() => into(input)))).toBeLessThan(64 * 1024)
  const after = backend.stats()
  expect(crew().helped()).toBeGreaterThan(helped)
  expect([after.arrays - before.arrays, after.growths - before.growths, after.memoryBytes]).toEqual([0, 0, before.memoryBytes])
  expect(await growth(calls(() => (step as unknown as (x: unknown) => unknown)(input)))).toBeLessThan(64 * 1024)
  expect(backend.stats().memoryBytes).toBe(before.memoryBytes)
  expect(running.size).toBe(2)
  step.dispose()
})

it('many functions that are made, called and disposed of', { timeout: 600_000 }, async () => {
  const round = async (from: number, n: number): Promise<void> => {
    for (let i = from; i < from + n; i++) {
      const f = cd.compile((x: cd.AnyExpr) => cd.cumsum(cd.add(cd.sin(cd.mul(x, i + 1)), cd.pow(x, i % 7))), backend)
      f(new Float64Array(64 + (i % 50)))
      f.dispose()
      if (i % 20 === 0) {
        backend.clearCache()
        await turn()
      }
    }
    backend.clearCache()
    await turn()
  }
  await round(0, FUNCTIONS)
  const [kernels, memory] = [backend.kernels(), backend.memoryBytes()]
  // A function that is kept weighs fifteen kilobytes.
  expect(await growth((k) => round((k + 1) * FUNCTIONS, FUNCTIONS))).toBeLessThan(4096 * FUNCTIONS)
  expect([backend.kernels(), backend.memoryBytes()]).toEqual([kernels, memory])
  expect(running.size).toBe(2)
  // The threads still take part.
  const f = cd.compile((a: cd.AnyExpr) => cd.matmul(a, a), backend)
  expect(await untilHelped(crew, () => f(wave([64, 64], 0.3) as never))).toBe(true)
  f.dispose()
})

it('backends with threads that are ended one after the other leave no thread', { timeout: 300_000 }, async () => {
  for (let i = 0; i < 20; i++) {
    const other = threaded(3, { start })
    const f = cd.compile((a: cd.AnyExpr) => cd.matmul(a, a), other.backend)
    f(wave([64, 64], 0.3) as never)
    f.dispose()
    other.backend.endThreads()
  }
  for (let i = 0; i < 1000 && running.size > 2; i++) await new Promise((later) => setTimeout(later, 5))
  expect(running.size).toBe(2)
})
