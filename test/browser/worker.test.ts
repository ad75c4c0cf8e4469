/** `codual/worker` in a real page: LeNet learns in a worker with the bits of the page's own thread, which does nothing for long meanwhile. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundled } from '../backends/worker.js'
import { hasChromium, howToHave, openChromium } from './chromium.js'

const required = process.env.CODUAL_REQUIRE_BROWSER === '1'
if (!hasChromium) console.warn(`the test of a worker in a page is skipped: ${howToHave}`)
const limit = 240_000
const STEPS = 200

/** What the page does: the losses of so many steps. */
declare const window: {
  readonly ready?: boolean
  readonly train: (where: 'worker' | 'page', steps: number) => Promise<readonly number[]>
  readonly loseWorker: () => Promise<readonly [string, number]>
}

const pageFile = `
import { add, compile, compileAsync, conv, cpu, crossEntropy, evaluate, f32, fn, fori, i32, isTensor, matmul, maxPool, mul, onDevice, relu, reshape, sin, sum, tensor, valueAndGrad } from 'codual'
import { adam, applyUpdates } from 'codual/optim'
import { worker } from 'codual/worker'
const backend = worker({ start: () => new Worker('/worker.js', { type: 'module' }) })
const shapes = { c1: [6, 1, 5, 5], c2: [16, 6, 5, 5], w1: [256, 120], w2: [120, 84], w3: [84, 10] }
const net = Object.fromEntries(Object.entries(shapes).map(([k, s]) => [k, f32(...s)]))
const forward = (p, x) => {
  const y = maxPool(relu(conv(x, p.c1)), { window: 2 })
  const z = reshape(maxPool(relu(conv(y, p.c2)), { window: 2 }), [128, 256])
  return matmul(relu(matmul(relu(matmul(z, p.w1)), p.w2)), p.w3)
}
const loss = fn({ params: net, x: f32(128, 1, 28, 28), y: i32(128) }, ({ params, x, y }) => crossEntropy(forward(params, x), y))
const optimiser = adam({ learningRate: 0.001 })
const step = fn({ params: net, moments: optimiser.init(net), x: f32(128, 1, 28, 28), y: i32(128) }, ({ params, moments, x, y }) => {
  const { value, grad } = valueAndGrad(loss, { wrt: 'params' })({ params, x, y })
  const { updates, state } = optimiser.update(grad, moments, params)
  return { params: applyUpdates(params, updates), moments: state, value }
})
const wave = (shape, a, b) => tensor(Float32Array.from({ length: shape.reduce((m, n) => m * n, 1) }, (_, i) => a * Math.sin(b * (i + 1))), shape)
const params = Object.fromEntries(Object.entries(shapes).map(([k, s]) => [k, wave(s, 0.1, 1.7)]))
const start = { params, moments: evaluate(optimiser.init(params)) }
const batches = Array.from({ length: 4 }, (_, k) => ({ x: wave([128, 1, 28, 28], 1, 0.37 + k), y: tensor(Int32Array.from({ length: 128 }, (_, i) => (3 * i + k) % 10)) }))
const there = compileAsync(step, backend)
const here = compile(step)
const made = {}
window.train = async (where, steps) => {
  // The first call traces the function.
  if (made[where] === undefined) {
    const value = tensor(0, [], 'f32')
    const state = where === 'worker' ? await onDevice(start, backend) : copy(start)
    const into = (where === 'worker' ? there : here).into({ ...state, value })
    made[where] = async (batch) => {
      await into({ ...state, ...batch })
      return value.item()
    }
  }
  const losses = []
  for (let i = 0; i < steps; i++) {
    losses.push(await made[where](batches[i % 4]))
    // A turn of the page between steps, as drawing would have.
    await new Promise((later) => setTimeout(later))
  }
  return losses
}
const copy = (t) => (isTensor(t) ? tensor(t.data.slice(), t.shape, t.dtype) : Object.fromEntries(Object.entries(t).map(([k, x]) => [k, copy(x)])))
window.loseWorker = async () => {
  const f = compileAsync((x) => sum(mul(x, x)), backend)
  const endless = compileAsync((x) => fori(1e9, (_k, c) => sin(c), x), backend)
  await endless.prepare([1])
  const waiting = endless([2]).then(String, (e) => e.error._tag)
  await new Promise((later) => setTimeout(later, 50))
  backend.dispose()
  return [await waiting, (await f([3])).item()]
}
window.ready = true
`
const workerFile = `import { serve } from 'codual/worker'\nserve()`

interface Traced {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  readonly dur?: number
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}
/** Milliseconds of the tasks of the page's main thread, the longest first: of its processor, which other work on this machine does not stretch. */
const tasksOf = (trace: Buffer): readonly number[] => {
  const { traceEvents } = JSON.parse(trace.toString()) as { readonly traceEvents: readonly Traced[] }
  const mains = new Set(
    traceEvents.filter((e) => e.name === 'thread_name' && e.args?.name === 'CrRendererMain').map((e) => `${e.pid} ${e.tid}`),
  )
  return traceEvents
    .filter((e) => e.ph === 'X' && e.name === 'RunTask' && mains.has(`${e.pid} ${e.tid}`))
    .map((e) => (e.tdur ?? Number.NaN) / 1000)
    .sort((a, b) => b - a)
}

const sum = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0)

it('Chromium is there where it is required', () => {
  expect(hasChromium || !required, howToHave).toBe(true)
})

describe.skipIf(!hasChromium)('a page with a worker', () => {
  let browser: Browser | undefined
  let server: Server | undefined
  let page: Page
  const errors: string[] = []
  beforeAll(async () => {
    const scripts: Readonly<Record<string, string>> = { '/page.js': await bundled(pageFile), '/worker.js': await bundled(workerFile) }
    server = createServer(({ url }, answer) => {
      const script = scripts[url ?? '']
      answer.setHeader('Content-Type', script === undefined ? 'text/html' : 'text/javascript')
      answer.end(
        script ?? '<!doctype html><title>worker</title><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>',
      )
    })
    await new Promise<void>((done) => server!.listen(0, '127.0.0.1', done))
    browser = await openChromium()
    page = await browser.newPage()
    page.on('pageerror', (e) => errors.push(String(e)))
    await page.goto(`http://127.0.0.1:${(server!.address() as AddressInfo).port}/`)
    await page.waitForFunction(() => window.ready === true, undefined, { timeout: limit })
  }, limit)
  afterAll(async () => {
    await browser?.close()
    await new Promise((done) => server?.close(done))
  }, 60_000)

  /** The losses of a training, and the tasks of the page's thread meanwhile. */
  const trained = async (where: 'worker' | 'page') => {
    const first = await page.evaluate((where) => window.train(where, 2), where)
    await browser!.startTracing(page, { categories: ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline'] })
    const rest = await page.evaluate(([where, steps]) => window.train(where, steps), [where, STEPS] as const)
    return { losses: [...first, ...rest], tasks: tasksOf(await browser!.stopTracing()) }
  }
  it('the bits of the page, and no task of 10 milliseconds', { timeout: limit }, async () => {
    const there = await trained('worker')
    const here = await trained('page')
    expect(there.losses).toEqual(here.losses)
    expect(here.losses.at(-1)).toBeLessThan(0.8 * here.losses[0]!)
    expect(there.tasks.length).toBeGreaterThan(STEPS)
    expect(there.tasks[0]).toBeLessThan(10)
    // Each step is a task of the page where it has no worker.
    expect(sum(there.tasks)).toBeLessThan(0.25 * sum(here.tasks))
  })
  it('a worker that is ended is one error, and the next call starts another', { timeout: limit }, async () => {
    expect(await page.evaluate(() => window.loseWorker())).toEqual(['Device', 9])
    expect(errors).toEqual([])
  })
})
