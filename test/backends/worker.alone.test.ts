/** What calls, functions and tensors in a worker leave behind: nothing, there and here. The worker serves from this thread, so that both are weighed. */
import { MessageChannel } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { type CpuBackend, makeCpu } from '../../src/backends/cpu/index.js'
import { serve, type WorkerBackend, worker } from '../../src/backends/worker/index.js'
import * as cd from '../../src/index.js'
import { count } from '../depth.js'
import { growth, told, turn, used } from '../memory.js'

const pair = (): { readonly backend: WorkerBackend; readonly serving: CpuBackend } => {
  const { port1, port2 } = new MessageChannel()
  const serving = makeCpu()
  serve({ port: port2, backend: serving })
  return { backend: worker({ start: () => port1 }), serving }
}
const CALLS = 10_000
const FUNCTIONS = count(150, 1000)

it('10,000 calls, with results of their own and in place', { timeout: 300_000 }, async () => {
  const { backend, serving } = pair()
  const f = cd.compileAsync((x: cd.AnyExpr) => cd.tanh(cd.mul(x, 2)), backend)
  const x = cd.tensor(new Float64Array(64))
  const place = (await cd.onDevice(x, backend)) as unknown as cd.Tensor
  const into = f.into(place as never)
  const calls = (call: () => Promise<unknown>) => async (): Promise<void> => {
    for (let i = 0; i < CALLS; i++) await call()
  }
  expect(await growth(calls(() => f(x)))).toBeLessThan(256 * 1024)
  const { memoryBytes, arrays } = serving.stats()
  expect(await growth(calls(() => into(place as never)))).toBeLessThan(256 * 1024)
  // What stays there is read and written where it is.
  expect(serving.stats().arrays).toBe(arrays)
  expect(serving.stats().memoryBytes).toBe(memoryBytes)
  backend.dispose()
})

it('many functions that are disposed of, and as many that are forgotten', { timeout: 300_000 }, async () => {
  const { backend, serving } = pair()
  const made = async (i: number) => {
    const f = cd.compileAsync((x: cd.AnyExpr) => cd.cumsum(cd.add(cd.sin(cd.mul(x, i + 1)), cd.pow(x, i % 7))), backend)
    await f(new Float64Array(8 + (i % 50)))
    return f
  }
  const none = (): number => {
    serving.clearCache()
    return serving.kernels()
  }
  for (let i = 0; i < 100; i++) await (await made(i)).dispose()
  await turn()
  expect(none()).toBe(0)
  const round = async (k: number): Promise<void> => {
    for (let i = 0; i < FUNCTIONS; i++) await (await made(k * FUNCTIONS + i)).dispose()
    await turn()
    expect(none()).toBe(0)
  }
  // A function that is kept weighs fifteen kilobytes.
  expect(await growth(round)).toBeLessThan(4096 * FUNCTIONS)
  for (let i = 0; i < FUNCTIONS; i++) await made(i)
  expect(serving.kernels()).toBeGreaterThan(0)
  expect(await told(() => none() === 0)).toBe(true)
  backend.dispose()
})

it('tensors that are disposed of, and those that are forgotten', { timeout: 300_000 }, async () => {
  const { backend, serving } = pair()
  const x = cd.tensor(new Float64Array(4096))
  for (let i = 0; i < 100; i++) ((await cd.onDevice(x, backend)) as unknown as { dispose: () => void }).dispose()
  await turn()
  const bytes = serving.memoryBytes()
  for (let i = 0; i < 1000; i++) ((await cd.onDevice(x, backend)) as unknown as { dispose: () => void }).dispose()
  await turn()
  expect(serving.memoryBytes()).toBe(bytes)
  for (let i = 0; i < 40; i++) {
    for (let k = 0; k < 50; k++) await cd.onDevice(x, backend)
    await used()
  }
  // Of 64 MB.
  expect(serving.memoryBytes()).toBeLessThan(bytes + 2 ** 24)
  backend.dispose()
})
