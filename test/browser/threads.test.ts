/** `codual/threads` in a real page: with isolation two threads compute the bits of one; without it one thread does, and says why. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium, howToHave, openChromium } from './chromium.js'

const required = process.env.CODUAL_REQUIRE_BROWSER === '1'
if (!hasChromium) console.warn(`the test of threads in a page is skipped: ${howToHave}`)
const limit = 120_000

/** What the page says. */
interface Said {
  readonly isolated: boolean
  readonly threads: string
  readonly same: boolean
  readonly helped: number
  /** Threads that are left after `endThreads`. */
  readonly errors: readonly string[]
}
declare const window: { readonly said?: Said }

const program = `
import { cpu, compile, fn, f32, matmul, sum, tanh, tensor, valueAndGrad } from './src/index.js'
import { makeCpu } from './src/backends/cpu/index.js'
import { sharingOf } from './src/backends/threads/cut.js'
import { starter } from './src/backends/threads/system.js'
import { threadsBy } from './src/backends/threads/threads.js'
const errors = []
addEventListener('error', (e) => errors.push(e.message))
let crew
const made = threadsBy(starter(), { sharing: sharingOf(2), patience: 10000 })
const threads = { ...made, crew: made.crew && (() => (crew = made.crew())) }
const f = fn({ a: f32(256, 256), b: f32(256, 256) }, ({ a, b }) => valueAndGrad((a) => sum(tanh(matmul(a, b))))(a))
const [one, two] = [compile(f, cpu()), compile(f, makeCpu({ threads }))]
const wave = (s) => tensor(Float32Array.from({ length: 256 * 256 }, (_, i) => Math.sin(s * i)), [256, 256])
const x = { a: wave(1.3), b: wave(0.7) }
const bits = (y) => new Uint32Array(y.grad.data.buffer, y.grad.data.byteOffset, y.grad.data.length).join() + y.value.item()
const want = bits(one(x))
let same = true
for (let k = 0; k < 400 && (crew === undefined ? k < 3 : crew.helped() < 20); k++) {
  same &&= bits(two(x)) === want
  await new Promise((later) => setTimeout(later, 5))
}
window.said = { isolated: crossOriginIsolated, threads: two.explain().threads, same, helped: crew?.helped() ?? 0, errors }
`

it('Chromium is there where it is required', () => {
  expect(hasChromium || !required, howToHave).toBe(true)
})

describe.skipIf(!hasChromium)('threads in a page', () => {
  let browser: Browser | undefined
  let server: Server | undefined
  beforeAll(async () => {
    const { outputFiles } = await build({
      stdin: { contents: program, resolveDir: fileURLToPath(new URL('../../', import.meta.url)), loader: 'js' },
      bundle: true,
      format: 'esm',
      target: 'es2022',
      write: false,
      external: ['koffi', 'webgpu', 'node:*'],
    })
    const script = outputFiles[0]!.text
    server = createServer(({ url }, answer) => {
      if (url?.startsWith('/isolated')) {
        answer.setHeader('Cross-Origin-Opener-Policy', 'same-origin')
        answer.setHeader('Cross-Origin-Embedder-Policy', 'require-corp')
      }
      if (url === '/program.js') {
        answer.setHeader('Content-Type', 'text/javascript')
        answer.end(script)
        return
      }
      answer.setHeader('Content-Type', 'text/html')
      answer.end('<!doctype html><title>threads</title><link rel="icon" href="data:,"><script type="module" src="/program.js"></script>')
    })
    await new Promise<void>((done) => server!.listen(0, '127.0.0.1', done))
    browser = await openChromium()
  }, limit)
  afterAll(async () => {
    await browser?.close()
    await new Promise((done) => server?.close(done))
  }, 60_000)

  const said = async (path: string): Promise<Said> => {
    const page = await browser!.newPage()
    await page.goto(`http://127.0.0.1:${(server!.address() as AddressInfo).port}${path}`)
    await page.waitForFunction(() => window.said !== undefined, undefined, { timeout: limit })
    const result = await page.evaluate(() => window.said!)
    await page.close()
    return result
  }
  it('an isolated page has two threads', { timeout: limit }, async () => {
    const { helped, ...rest } = await said('/isolated')
    expect(rest).toEqual({ isolated: true, threads: expect.stringMatching(/^2, which share \d+ steps$/), same: true, errors: [] })
    expect(helped).toBeGreaterThan(0)
  })
  it('a page that is not has one, and says why', { timeout: limit }, async () => {
    expect(await said('/')).toEqual({
      isolated: false,
      threads: expect.stringMatching(/^none: (this engine shares no memory|the page is not isolated)/),
      same: true,
      helped: 0,
      errors: [],
    })
  })
})
