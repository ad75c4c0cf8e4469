/**
 * Pictures of the playground, by Chromium: what each example of the gallery gives (site/pictures), and each tab for the documentation (docs/images).
 * `npm run site:pictures` after an example or a view has changed; names of examples make those pictures alone. They are in the repository, since making them needs a browser.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { build, preview } from 'vite'
import { root } from './docs/public-names.js'

/** Size of a picture of the gallery, and of a page of the documentation. */
const CARD = { width: 480, height: 300 }
const PAGE = { width: 1480, height: 660 }

/** A program with something to see in each tab. */
const shown = `import { f64, fn, grad, matmul, relu, sum } from 'codual'

const loss = fn({ w: f64(2, 2), x: f64(2, 1) }, ({ w, x }) =>
  sum(relu(matmul(w, matmul(w, x)))))

const w = [[0.5, -1], [0.75, 1]]
const x = [[1], [2]]
loss({ w, x })
grad(loss, { wrt: 'w' })({ w, x })
`
const tabs = ['Output', 'Program', 'Graph', 'Modes', 'Steps', 'Memory', 'Check', 'Plot'] as const

const only = process.argv.slice(2)
const folder = join(root, 'site')
const configFile = join(folder, 'vite.config.ts')
await build({ root: folder, configFile, logLevel: 'error' })
const server = await preview({ root: folder, configFile, logLevel: 'error', preview: { host: '127.0.0.1', port: 0 } })
const address = server.resolvedUrls!.local[0]!
const browser = await chromium.launch({
  executablePath: process.env.CODUAL_CHROMIUM ?? '/usr/bin/chromium',
  chromiumSandbox: false,
  args: ['--disable-dev-shm-usage', '--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'],
})
const open = async (viewport: { readonly width: number; readonly height: number }): Promise<Page> => {
  const page = await browser.newPage({ viewport, colorScheme: 'light' })
  await page.goto(address)
  await finished(page)
  return page
}
const finished = (page: Page): Promise<void> => page.locator('#status', { hasText: /Ran in|Stopped/ }).waitFor({ timeout: 120_000 })
const show = async (page: Page, tab: string): Promise<void> => {
  await page.click(`#tab-${tab}`)
  await page.locator(`#panel[aria-labelledby=tab-${tab}][aria-busy=false]`).waitFor()
  await page.waitForTimeout(400)
}

try {
  const cards = await open({ width: 984, height: 760 })
  const pictures = join(folder, 'pictures')
  mkdirSync(pictures, { recursive: true })
  const names = readdirSync(join(folder, 'examples'))
    .sort()
    .map((file) => file.replace(/\.ts$/, ''))
  if (only.length === 0)
    for (const file of readdirSync(pictures)) if (!names.includes(file.replace(/\.jpg$/, ''))) rmSync(join(pictures, file))
  for (const [i, name] of names.entries()) {
    if (only.length > 0 && !only.includes(name)) continue
    await show(cards, 'Output')
    await cards.selectOption('#gallery', String(i))
    await finished(cards)
    await cards.waitForTimeout(300)
    const panel = cards.locator('#panel')
    const drawn = panel.locator('.plot canvas, canvas.heat')
    // What is drawn says more than numbers; of a program without a drawing, its graph does; of one that fails, its error.
    if ((await drawn.count()) > 0) await drawn.last().scrollIntoViewIfNeeded()
    else if ((await panel.locator('.fault').count()) === 0) {
      await show(cards, 'Graph')
      if ((await panel.locator('svg').count()) === 0) await show(cards, 'Output')
    }
    const place = (await ((await drawn.count()) > 0
      ? drawn.last()
      : (await panel.locator('svg').count()) > 0
        ? panel.locator('svg').last()
        : panel
    ).boundingBox())!
    const box = (await panel.boundingBox())!
    const x = Math.max(box.x, Math.min(place.x - 8, box.x + box.width - CARD.width))
    const y = Math.max(box.y, Math.min(place.y - 56, 760 - CARD.height))
    await cards.screenshot({ path: join(pictures, `${name}.jpg`), type: 'jpeg', quality: 62, clip: { x, y, ...CARD } })
    console.log(name)
  }
  if (only.length === 0) {
    const page = await open(PAGE)
    await page.locator('.cm-content').click()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.insertText(shown)
    await page.keyboard.press('ControlOrMeta+Enter')
    await page.locator('#panel table').first().waitFor()
    await finished(page)
    for (const tab of tabs) {
      await show(page, tab)
      if (tab === 'Modes')
        for (const name of ['From the start', 'Next', 'Next', 'Next', 'Next'])
          await page.locator('#panel button', { hasText: name }).click()
      if (tab === 'Check') {
        await page.locator('#panel button').click()
        await page.locator('#panel pre.good').waitFor({ timeout: 60_000 })
      }
      await page.waitForTimeout(tab === 'Plot' ? 2500 : 300)
      await page.screenshot({ path: join(root, 'docs/images', `playground-${tab.toLowerCase()}.png`) })
    }
    console.log(`${tabs.length} tabs, ${readFileSync(join(root, 'docs/images/playground-graph.png')).length} bytes of the graph's`)
  }
} finally {
  await browser.close()
  await server.close()
}
