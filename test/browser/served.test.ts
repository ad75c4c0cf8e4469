/** The page of examples/served in a real browser: ONNX Runtime gives, for digits never seen, what codual gives, and reads one that is drawn. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import type { PreviewServer } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadDigits, thinned } from '../../examples/digits/data.js'
import { trained } from '../../examples/served/model.js'
import { tensor } from '../../src/index.js'
import { hasChromium, howToHave, openChromium, servePage } from './chromium.js'

const required = process.env.CODUAL_REQUIRE_BROWSER === '1'
if (!hasChromium) console.warn(`the test of the served page is skipped: ${howToHave}`)
const pictures = join(fileURLToPath(new URL('../../', import.meta.url)), 'out', 'browser')
const limit = 120_000

/** What the page shows this test. */
declare const window: { readonly served?: { readonly chances: Float32Array; readonly digits: Int32Array } }

it('Chromium is there where it is required', () => {
  expect(hasChromium || !required, howToHave).toBe(true)
})

describe.skipIf(!hasChromium)('the served page', () => {
  let browser: Browser | undefined
  let server: PreviewServer | undefined
  let address = ''
  beforeAll(async () => {
    ;({ server, address } = await servePage('served'))
    browser = await openChromium()
  }, limit)
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  }, 60_000)

  it('reads unseen digits as codual does, and one that is drawn', { timeout: limit }, async () => {
    const page = await browser!.newPage({ viewport: { width: 900, height: 1200 } })
    const errors: string[] = []
    page.on('console', (m) => {
      if (m.type() === 'error') errors.push(m.text())
    })
    page.on('pageerror', (e) => errors.push(String(e)))
    await page.goto(address)
    await page.waitForFunction(() => window.served !== undefined, undefined, { timeout: limit })
    const served = await page.evaluate(() => ({ chances: [...window.served!.chances], digits: [...window.served!.digits] }))

    // The page's images have 16 greys.
    const { images, labels, count } = thinned(loadDigits().test, 1000)
    const { chances } = await trained()
    const ours = chances({ images: tensor(images.map((v) => Math.fround(Math.round(15 * v) / 15)), [count, 1, 28, 28]) }).chances // biome-ignore format: one call
    expect(served.chances.length).toBe(10 * count)
    expect(served.chances.reduce((worst, p, i) => Math.max(worst, Math.abs(p - ours.data[i]!)), 0)).toBeLessThan(1e-5)
    const right = served.digits.filter((digit, i) => digit === labels[i]).length / count
    expect(right).toBeGreaterThan(0.94)
    const text = (id: string): Promise<string> => page.locator(`#${id}`).innerText()
    expect(await text('unseen')).toBe(`${(100 * right).toFixed(1)} %`)
    expect(await text('status')).toBe('Read by ONNX Runtime, in this page: inputs images, outputs chances')
    expect(await text('size')).toMatch(/^\d\d kB$/)
    expect(await page.locator('#gallery figcaption').allInnerTexts()).toHaveLength(24)

    await page.locator('#pad').scrollIntoViewIfNeeded()
    const at = (await page.locator('#pad').boundingBox())!
    await page.mouse.move(at.x + 0.52 * at.width, at.y + 0.15 * at.height)
    await page.mouse.down()
    await page.mouse.move(at.x + 0.48 * at.width, at.y + 0.85 * at.height, { steps: 8 })
    await page.mouse.up()
    await expect.poll(() => text('own'), { timeout: 30_000 }).toMatch(/^1 \(\d+ %\)$/)
    await page.screenshot({ path: join(pictures, 'served.png'), fullPage: true })
    expect(errors).toEqual([])
    await page.close()
  })
})
