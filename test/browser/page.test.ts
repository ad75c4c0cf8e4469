/** The page of examples/browser in a real browser: LeNet learns on WebGPU and on the CPU, and goes on when the GPU does not. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { PreviewServer } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Training } from '../../examples/browser/training.js'
import { hasChromium, howToHave, openChromium, servePage } from './chromium.js'

const required = process.env.CODUAL_REQUIRE_BROWSER === '1'
if (!hasChromium) console.warn(`the tests of the browser page are skipped: ${howToHave}`)
const pictures = join(fileURLToPath(new URL('../../', import.meta.url)), 'out', 'browser')

/** What the page shows its console. */
type Shown = { readonly training: Training; readonly firstStep: ReadonlyMap<string, number> }
declare const window: Shown

/** All steps of the schedule, which every run here shares, so that runs may be compared. */
const steps = 120
const limit = 240_000

it('Chromium is there where it is required', () => {
  expect(hasChromium || !required, howToHave).toBe(true)
})

describe.skipIf(!hasChromium)('the browser page', () => {
  let browser: Browser | undefined
  let server: PreviewServer | undefined
  let address = ''
  beforeAll(async () => {
    mkdirSync(pictures, { recursive: true })
    ;({ server, address } = await servePage())
    browser = await openChromium()
  }, limit)
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  }, 60_000)

  /** Opens the page, ready to start; `check` closes it and wants a console without errors. */
  const open = async (
    query: string,
    options: BrowserContextOptions = {},
    prepare: (page: Page) => Promise<unknown> = async () => undefined,
  ) => {
    const context = await browser!.newContext({ viewport: { width: 900, height: 1200 }, ...options })
    const page = await context.newPage()
    page.setDefaultTimeout(60_000)
    const errors: string[] = []
    page.on('console', (m) => {
      if (m.type() === 'error') errors.push(m.text())
    })
    page.on('pageerror', (e) => errors.push(String(e)))
    await prepare(page)
    await page.goto(`${address}?steps=${steps}&${query}`)
    await page.locator('#toggle:enabled').waitFor()
    const text = (id: string): Promise<string> => page.locator(`#${id}`).innerText()
    return {
      page,
      text,
      toggle: () => page.click('#toggle'),
      losses: (): Promise<readonly number[]> => page.evaluate(() => [...window.training.losses]),
      accuracy: (): Promise<number | undefined> => page.evaluate(() => window.training.looks.at(-1)?.accuracy),
      until: (step: number) =>
        page.waitForFunction((n) => window.training.losses.length >= n && window.training.looks.length >= Math.floor(n / 25), step, {
          timeout: limit,
          polling: 100,
        }),
      /** Presses Pause as soon as that many steps are done: in the page, which a fast machine needs. */
      pauseAt: (step: number) =>
        page.waitForFunction(
          (n) => {
            const ready = window.training.losses.length >= n
            if (ready) document.getElementById('toggle')!.click()
            return ready
          },
          step,
          { timeout: limit, polling: 'raf' },
        ),
      shows: (id: string, wanted: RegExp) => expect.poll(() => text(id), { timeout: 30_000 }).toMatch(wanted),
      picture: (name: string) => page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true }),
      close: async () => {
        await context.close()
        expect(errors).toEqual([])
      },
    }
  }

  /** The losses of a whole run on the CPU. */
  let onCpu: readonly number[] = []

  it('trains on the CPU, reads digits it never saw and one that is drawn, and starts anew', { timeout: limit }, async () => {
    const { page, text, toggle, until, pauseAt, losses, accuracy, shows, picture, close } = await open('backend=cpu')
    expect(await text('adapter')).toMatch(/^WebAssembly, in a worker/)
    expect(await page.locator('input[value=cpu]').isChecked()).toBe(true)
    expect(await page.locator('#gallery figcaption').allInnerTexts()).toEqual(Array.from({ length: 24 }, () => '?'))
    await toggle()
    await until(steps)
    onCpu = await losses()
    expect(onCpu.length).toBe(steps)
    expect(onCpu[0]).toBeGreaterThan(2)
    expect(onCpu.slice(-20).reduce((a, b) => a + b) / 20).toBeLessThan(0.6)
    expect(await accuracy()).toBeGreaterThan(0.8)
    await shows('status', /Trained: step 120 of 120/)
    await shows('unseen', /^[89]\d\.\d %$/)
    await shows('speed', /^[\d.]+$/)
    await shows('adapter', /first step, compiled with it: \d+\.\d\d s/)
    const read = await page.locator('#gallery figcaption').allInnerTexts()
    expect(read.every((digit) => /^\d$/.test(digit))).toBe(true)
    expect(await page.locator('#gallery figure.wrong').count()).toBeLessThan(8)

    await page.locator('#pad').scrollIntoViewIfNeeded()
    const at = (await page.locator('#pad').boundingBox())!
    await page.mouse.move(at.x + 0.52 * at.width, at.y + 0.15 * at.height)
    await page.mouse.down()
    await page.mouse.move(at.x + 0.48 * at.width, at.y + 0.85 * at.height, { steps: 8 })
    await page.mouse.up()
    await shows('own', /^1$/)
    await picture('cpu')
    await page.click('#clear')
    await shows('own', /^–$/)

    await page.click('#reset')
    await shows('status', /^Ready$/)
    expect(await losses()).toEqual([])
    await toggle()
    await pauseAt(10)
    await shows('status', /^Paused/)
    expect((await losses()).slice(0, 10)).toEqual(onCpu.slice(0, 10)) // the same seed, from the start
    await close()
  })

  it('trains on WebGPU, with the losses of the CPU; by keyboard alone it moves to the CPU and goes on', { timeout: limit }, async () => {
    const { page, text, toggle, until, pauseAt, losses, shows, picture, close } = await open('')
    expect(await text('adapter')).toMatch(/swiftshader/i)
    expect(await page.locator('input[value=webgpu]').isChecked()).toBe(true)
    await toggle()
    await pauseAt(30)
    await shows('status', /^Paused/)
    await picture('webgpu')
    const onGpu = await losses()
    // Both sum in f32, each in its own order: the difference of the first steps is rounding, and training amplifies it later on.
    const distance = Math.max(...onGpu.slice(0, 10).map((loss, i) => Math.abs(loss - onCpu[i]!) / onCpu[i]!))
    expect(distance).toBeLessThan(1e-5)
    expect(distance).toBeGreaterThan(0) // not the CPU under another name
    expect(onGpu.slice(20, 30).reduce((a, b) => a + b) / 10).toBeLessThan(1.5)

    await page.locator('input[value=webgpu]').focus()
    await page.keyboard.press('ArrowRight')
    await shows('adapter', /WebAssembly/)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await until(steps)
    const both = await losses()
    expect(both.slice(0, onGpu.length)).toEqual(onGpu)
    const after = both.slice(onGpu.length, onGpu.length + 10)
    // What was learnt came along: the losses go on as on the CPU alone.
    after.forEach((loss, i) => {
      expect(Math.abs(loss - onCpu[onGpu.length + i]!)).toBeLessThan(0.05)
    })
    await close()
  })

  const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, colorScheme: 'dark', hasTouch: true }

  it('says in one line that there is no WebGPU, and trains on the CPU; on a phone, nothing is wider than the screen', {
    timeout: limit,
  }, async () => {
    const { page, text, toggle, until, picture, close } = await open('', phone, (page) =>
      page.addInitScript(() => {
        Reflect.deleteProperty(Navigator.prototype, 'gpu')
      }),
    )
    expect(await text('message')).toBe(
      'No WebGPU here, so the CPU trains: this page has no navigator.gpu. To have it, use a current Chrome, Edge, Safari or Firefox, and open the page over https or on localhost.',
    )
    expect(await text('adapter')).toMatch(/WebAssembly/)
    await toggle()
    await until(50)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    await picture('phone')
    await close()
  })

  it('says in one line that there is no adapter, also when asked for one later', { timeout: limit }, async () => {
    const { page, text, toggle, until, shows, close } = await open('', {}, (page) =>
      page.addInitScript(() => {
        GPU.prototype.requestAdapter = () => Promise.resolve(null)
      }),
    )
    const line = /^No WebGPU here, so the CPU trains: no adapter was found\. To have it, turn on hardware acceleration/
    expect(await text('message')).toMatch(line)
    await toggle()
    await until(10)
    await page.locator('label:has(input[value=webgpu])').click()
    await shows('message', line)
    await until(20)
    expect(await page.locator('input[value=cpu]').isChecked()).toBe(true)
    await close()
  })

  it('goes on on the CPU when the device is lost, from the last copy, and back on WebGPU when asked', { timeout: limit }, async () => {
    const { page, toggle, until, pauseAt, losses, shows, picture, close } = await open('', {}, (page) =>
      page.addInitScript(() => {
        const request = GPUAdapter.prototype.requestDevice
        GPUAdapter.prototype.requestDevice = async function (this: GPUAdapter, wanted?: GPUDeviceDescriptor) {
          const device = await request.call(this, wanted)
          Object.assign(globalThis, { device })
          return device
        }
      }),
    )
    await toggle()
    await until(26)
    await page.evaluate(() => (globalThis as unknown as { readonly device: GPUDevice }).device.destroy())
    await shows(
      'message',
      /^WebGPU stopped at step \d+: the device was lost.*\. The CPU goes on from step 25; choose WebGPU to go back to it\.$/,
    )
    await pauseAt(40)
    await shows('adapter', /WebAssembly/)
    await picture('lost')
    const after = (await losses()).slice(25, 35)
    after.forEach((loss, i) => {
      expect(Math.abs(loss - onCpu[25 + i]!)).toBeLessThan(0.05)
    })
    await page.locator('label:has(input[value=webgpu])').click()
    await shows('adapter', /swiftshader/i)
    await shows('message', /^$/)
    const step = (await losses()).length
    await toggle()
    await until(step + 2)
    await close()
  })
})
