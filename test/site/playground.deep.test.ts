/** The playground in a real browser: what a visitor does, from the first keystroke to a link and a visit without a network. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import type { PreviewServer } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { examplesOf } from '../../scripts/docs/described.js'
import { publicNames, shortPath } from '../../scripts/docs/public-names.js'
import { declarations } from '../../site/build/declarations.js'
import { addressOf, programOf } from '../../site/docs/programs.js'
import { languageOf } from '../../site/language/service.js'
import type { Printed } from '../../site/run/messages.js'
import { hasChromium, howToHave, openChromium } from '../browser/chromium.js'
import { sample } from '../depth.js'
import { agrees, expectedOf, plain } from './expected.js'
import { openPage, servePlayground } from './page.js'

const required = process.env.CODUAL_REQUIRE_BROWSER === '1'
if (!hasChromium) console.warn(`the tests of the playground are skipped: ${howToHave}`)
const root = fileURLToPath(new URL('../../', import.meta.url))
const pictures = join(root, 'out', 'browser')
const limit = 120_000
const patience = { timeout: 20_000 }

/** What the page shows its console. */
declare const window: Window & {
  readonly playground: { readonly values: () => readonly { readonly line: number; readonly value: Printed }[] }
}

const wrong = `import { f64, fn, grad, matmul, square, sum } from 'codual'

const loss = fn({ w: f64(2, 3), x: f64(4, 1) }, ({ w, x }) => sum(square(matmul(w, x))))
grad(loss, { wrt: 'w' })({ w: [[1, 0, 2], [0, 1, 1]], x: [[1], [2], [3]] })
`
const mended = wrong.replace('f64(4, 1)', 'f64(3, 1)')
const valuesOf = (page: Page): Promise<readonly { readonly line: number; readonly value: Printed }[]> =>
  page.evaluate(() => window.playground.values())

it('Chromium is there where it is required', () => {
  expect(hasChromium || !required, howToHave).toBe(true)
})

describe.skipIf(!hasChromium)('the playground', () => {
  let browser: Browser | undefined
  let server: PreviewServer | undefined
  let address = ''
  beforeAll(async () => {
    mkdirSync(pictures, { recursive: true })
    // The first build after a change of src makes the declarations anew; Chromium would wait for it too long.
    ;({ server, address } = await servePlayground())
    browser = await openChromium()
  }, 3 * limit)
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  }, 60_000)
  const open = (where = address, options: Parameters<typeof openPage>[2] = {}) => openPage(browser!, where, options)

  it('underlines a mistake of shapes while typing; mended and run, it shows value, derivative, graph, memory, check and plot', {
    timeout: limit,
  }, async () => {
    const start = performance.now()
    const { page, context, complaints, type, show, finished } = await open()
    await finished()
    const opened = performance.now() - start
    const underlined = page.locator('.cm-lintRange-error')
    // The compiler is warm once it has answered a first time.
    await type(wrong)
    await underlined.first().waitFor()
    await type(mended)
    await expect.poll(() => underlined.count(), patience).toBe(0)
    await type("import { matmul, ones } from 'codual'\n\nmatmul(ones([2, 3]), ones([3, 1]))")
    await expect.poll(() => underlined.count(), patience).toBe(0)
    for (let i = 0; i < '3, 1]))'.length; i++) await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Delete')
    const pressed = performance.now()
    await page.keyboard.type('4')
    await underlined.first().waitFor()
    const underline = performance.now() - pressed
    console.warn(`playground: first result after ${opened.toFixed(0)} ms, underlined ${underline.toFixed(0)} ms after the key`)
    await underlined.first().hover()
    expect(await page.locator('.cm-tooltip .cm-diagnostic').first().innerText()).toBe(
      'matmul: inner axes differ: a is [2, 3], b is [4, 1] (3 is not 4)',
    )

    await type(mended)
    await expect.poll(() => underlined.count(), patience).toBe(0)
    await page.keyboard.press('ControlOrMeta+Enter')
    await finished()
    const [, value] = await valuesOf(page)
    expect(plain(value!.value)).toEqual([
      [14, 28, 42],
      [10, 20, 30],
    ])
    expect(await page.locator('.cm-value').innerText()).toContain('[[14, 28, 42], [10, 20, 30]]')
    expect(await page.locator('#panel table').innerText()).toMatch(/14\s+28\s+42/)
    await show('Program')
    await page.locator('#panel .beside').waitFor()
    expect(await page.locator('#panel').innerText()).toMatch(/y0 = matmul\(w, x\) : f64 \[2, 1\][\s\S]*grad\(fn\)[\s\S]*transpose\(x\)/)
    // The lines of the derivative of matmul have the number of matmul, and pressing it marks them.
    await page.locator('#panel button.number', { hasText: '1' }).click()
    expect(await page.locator('#panel .together').allInnerTexts()).toEqual([
      expect.stringContaining('matmul(w, x)'),
      expect.stringContaining('matmul(w, x)'),
      expect.stringContaining('transpose(x)'),
      expect.stringContaining('matmul('),
    ])
    await show('Graph')
    await page.locator('#panel svg').first().waitFor()
    expect(await page.locator('#panel svg').count()).toBe(2)
    expect(await page.locator('#panel svg').first().locator('.node.apply').count()).toBe(3)
    expect(await page.locator('#panel svg .dead title').first().textContent()).toMatch(/^matmul: the cotangent of argument 1 is never made/)
    await page.screenshot({ path: join(pictures, 'playground.png') })
    await show('Modes')
    await page.locator('#panel tbody tr').first().waitFor()
    expect(await page.locator('#panel tbody tr').allInnerTexts()).toEqual([
      expect.stringMatching(/^y0 = matmul\(w, x\) : f64 \[2, 1\]\s+\[\[7\], \[5\]\]\s+\[\[9\], \[8\]\]\s+\[\[14\], \[10\]\]$/),
      expect.stringMatching(/^y1 = square/),
      expect.stringMatching(/^y2 = sum/),
    ])
    await page.locator('#panel button', { hasText: 'From the start' }).click()
    for (let i = 0; i < 4; i++) await page.locator('#panel button', { hasText: 'Next' }).click()
    expect(await page.locator('#panel [role=status]').innerText()).toBe('Reverse, 1 of 3: the cotangent of y2 is 1.')
    expect(await page.locator('#panel tbody td:nth-child(4):visible').count()).toBe(1)
    await show('Steps')
    expect(await page.locator('#panel tbody tr').count()).toBeGreaterThan(1)
    await show('Memory')
    expect(await page.locator('#panel svg .life').count()).toBeGreaterThan(2)
    await show('Check')
    await page.click('#panel button')
    await page.locator('#panel pre.good').waitFor({ timeout: 60_000 })
    expect(await page.locator('#panel pre').innerText()).toMatch(/^ok[\s\S]*replay: checkGrad\(loss, \{ seed: 1 \}\)\(\{"w":/)
    await show('Plot')
    await page.locator('#panel canvas').waitFor()
    await page.locator('#panel [role=status]', { hasText: 'Differences confirm the derivative at all 201 points.' }).waitFor()
    expect(complaints).toEqual([])
    await context.close()
    expect(opened).toBeLessThan(20_000)
    expect(underline).toBeLessThan(10_000)
  })

  it('marks on the plot where the checker is not sure: at a kink', { timeout: limit }, async () => {
    const { page, context, type, show, finished } = await open()
    await finished()
    await type("import { grad, relu, sub, sum } from 'codual'\n\ngrad((x) => sum(relu(sub(x, 0.6151))))([1, 2])\n")
    await page.click('#run')
    await finished()
    await show('Plot')
    await page.locator('#panel li').waitFor()
    expect(await page.locator('#panel li').allInnerTexts()).toEqual(['x = 0.6151: the derivative jumps from 0 to 1'])
    expect(await page.locator('#panel .key').allInnerTexts()).toEqual(['f', "f'", 'not sure'])
    await context.close()
  })

  it('opens an example from a picture of the gallery, which axe finds nothing in', { timeout: limit }, async () => {
    const { page, context, complaints, finished } = await open()
    await finished()
    await page.click('#pictures')
    const cards = page.locator('#dialog .card')
    const files = readdirSync(join(root, 'site', 'examples')).sort()
    await cards.last().waitFor()
    expect(await cards.count()).toBe(files.length)
    await cards.last().scrollIntoViewIfNeeded()
    const loaded = (): Promise<number> =>
      cards
        .last()
        .locator('img')
        .evaluate((img) => (img as HTMLImageElement).naturalWidth)
    await expect.poll(loaded, patience).toBeGreaterThan(300)
    await page.evaluate(readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'))
    expect(((await page.evaluate('axe.run()')) as AxeResults).violations.map((v) => v.id)).toEqual([])
    await page.screenshot({ path: join(pictures, 'playground-gallery.png') })
    await page.keyboard.press('Escape')
    expect(await page.locator('#dialog').isVisible()).toBe(false)
    await page.click('#pictures')
    await cards.filter({ hasText: 'vmap' }).first().click()
    await finished()
    expect(await page.locator('.cm-content').innerText()).toContain('vmap')
    expect(complaints).toEqual([])
    await context.close()
  })

  it('runs a program on the backend of its choice', { timeout: limit }, async () => {
    const { page, context, type, finished, status } = await open()
    await finished()
    const program = `import { compileAsync, f32, fn, grad, mul, sin, sum } from 'codual'
import { backend } from 'playground'

const f = fn({ x: f32(3) }, ({ x }) => sum(mul(x, sin(x))))
backend.name
;(await compileAsync(grad(f), backend)({ x: [0, 1, 2] })).x
`
    await type(program)
    const values = async (): Promise<readonly unknown[]> => (await valuesOf(page)).filter((v) => v.line > 4).map((v) => plain(v.value))
    await page.click('#run')
    await finished()
    const onCpu = await values()
    expect(onCpu[0]).toBe('cpu')
    await page.selectOption('#where', 'webgpu')
    await expect.poll(async () => (await values())[0], patience).toBe('webgpu')
    await expect.poll(async () => (await values()).length, patience).toBe(2)
    expect(await status()).toMatch(/^Ran in \d+ ms$/)
    const onGpu = (await values())[1] as readonly number[]
    for (const [i, g] of (onCpu[1] as readonly number[]).entries()) expect(onGpu[i]).toBeCloseTo(g, 5)
    await type('const two = 1 + 1\n')
    await page.click('#run')
    await page.locator('#status', { hasText: 'the program does not import backend of playground' }).waitFor()
    await context.close()
  })

  it('underlines nothing in an example', { timeout: 3 * limit }, () => {
    const language = languageOf(declarations())
    const folder = join(root, 'site', 'examples')
    const underlined = sample(readdirSync(folder).sort(), 6).flatMap((file) =>
      language.problems(readFileSync(join(folder, file), 'utf8')).map((p) => `${file}: ${p.message}`),
    )
    expect(underlined).toEqual([])
  })

  it('shows types and docstrings where the pointer rests, completes names, and imports what is chosen', { timeout: limit }, async () => {
    const { page, context, type, finished } = await open()
    await finished()
    await type("import { f64, fn, mul } from 'codual'\nconst f = fn({ x: f64(3) }, ({ x }) => mul(x, 2))\n")
    await page
      .locator('.cm-line', { hasText: 'const f' })
      .getByText('mul', { exact: false })
      .first()
      .hover({ position: { x: 8, y: 8 } })
    const word = page.locator('.cm-line', { hasText: 'const f' })
    const box = (await word.boundingBox())!
    const letter = await page.evaluate(() => {
      const line = [...document.getElementById('editor')!.shadowRoot!.querySelectorAll('.cm-line')].find((l) =>
        l.textContent!.startsWith('const f'),
      )!
      const range = document.createRange()
      const nodes = document.createTreeWalker(line, NodeFilter.SHOW_TEXT)
      let before = 0
      const at = line.textContent!.indexOf('mul') + 1
      for (let n = nodes.nextNode(); n !== null; n = nodes.nextNode()) {
        const { length } = n.textContent!
        if (at < before + length) {
          range.setStart(n, at - before)
          range.setEnd(n, at - before + 1)
          break
        }
        before += length
      }
      return range.getBoundingClientRect().x + 2
    })
    await page.mouse.move(letter, box.y + box.height / 2)
    await page.locator('.cm-documented').waitFor()
    expect(await page.locator('.cm-documented').innerText()).toMatch(/mul[\s\S]*Expr<[\s\S]*\[3\]/)
    await page.mouse.move(5, 5)
    await page.locator('.cm-line').last().click()
    await page.keyboard.press('ControlOrMeta+End')
    await page.keyboard.type('const y = softpl')
    await page.locator('.cm-tooltip-autocomplete li', { hasText: 'softplus' }).waitFor()
    await page.waitForTimeout(200)
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('.cm-line').first().innerText(), patience).toContain('softplus')
    await context.close()
  })

  it('marks the line of an error, stops an endless loop while the page stays quick, and runs again', { timeout: limit }, async () => {
    const { page, context, type, finished, status } = await open()
    await finished()
    await type("import { log } from 'codual'\nconst a = 1\nthrow new Error('of mine')\n")
    await page.click('#run')
    await page.locator('.cm-fault').waitFor()
    expect(await page.locator('.cm-fault').innerText()).toContain('of mine')
    expect(await page.locator('#panel .fault').innerText()).toBe('Error: of mine')
    expect(await status()).toBe('Stopped by an error in line 3')

    await type("console.log('before')\nfor (;;) {}\n")
    await page.click('#run')
    await page.locator('#panel', { hasText: 'before' }).waitFor()
    expect(await status()).toBe('Running ...')
    const asked = performance.now()
    expect(await page.evaluate(() => 1 + 1)).toBe(2)
    expect(performance.now() - asked).toBeLessThan(2000)
    await page.click('#stop')
    expect(await status()).toBe('Stopped')
    await type("import { curve } from 'playground'\nconst c = curve('c')\nfor (let i = 0; ; i++) { console.log(i); c(i, i) }\n")
    await page.click('#run')
    await page.locator('#panel', { hasText: 'Only the first 1000 lines' }).waitFor()
    await page.click('#stop')
    expect(await status()).toBe('Stopped')
    expect(await page.locator('#panel .entry').count()).toBe(1001)
    await type('const two = 1 + 1\n')
    await page.keyboard.press('ControlOrMeta+Enter')
    await finished()
    expect((await valuesOf(page)).map((v) => plain(v.value))).toEqual([2])

    await type('const a = \nlet 3 = (')
    await page.click('#run')
    await page.locator('.cm-fault').waitFor()
    expect(await status()).toBe('This cannot be read as TypeScript.')
    await context.close()
  })

  it('folds long values, which unfold', { timeout: limit }, async () => {
    const { page, context, type, finished } = await open()
    await finished()
    await type("import { arange, reshape } from 'codual'\n\nreshape(arange(60), [30, 2])\n'a'.repeat(5000)\n")
    await page.click('#run')
    await finished()
    expect(await page.locator('#panel tr').count()).toBe(20)
    await page.locator('#panel summary', { hasText: '10 more rows' }).click()
    await expect.poll(() => page.locator('#panel tr').count(), patience).toBe(30)
    expect(await page.locator('#panel tr').last().innerText()).toMatch(/58\s+59/)
    await page.locator('#panel summary', { hasText: '1,000 more characters' }).click()
    await expect.poll(async () => (await page.locator('#panel details pre').allInnerTexts()).join('').length, patience).toBe(1000)
    await context.close()
  })

  it('runs again when a slider moves, and draws a curve while the program runs', { timeout: limit }, async () => {
    const { page, context, type, finished } = await open()
    await finished()
    await type(`import { curve, plot, slider } from 'playground'
const w = slider('w', -2, 2, 0.5)
plot([0, 1, 2], { line: [0, w, 2 * w] }, { title: 'a line' })
const loss = curve('loss')
for (let i = 0; i < 3; i++) loss(i, i * w)
`)
    await page.click('#run')
    await finished()
    await expect.poll(() => page.locator('#panel canvas').count(), patience).toBe(2)
    const at = async (): Promise<unknown> => (await valuesOf(page)).filter((v) => v.line === 2).map((v) => plain(v.value))[0]
    expect(await at()).toBe(0.5)
    await page.locator('#panel input[type=range]').focus()
    await page.keyboard.press('End')
    await expect.poll(at, patience).toBe(2)
    await expect.poll(() => page.locator('#panel canvas').count(), patience).toBe(2)
    await context.close()
  })

  it('shares a program by its address, which runs nothing before one presses Run', { timeout: limit }, async () => {
    const { page, context, type, finished } = await open(address, { permissions: ['clipboard-read', 'clipboard-write'] })
    await finished()
    await type('const six = 2 * 3\n')
    await page.click('#share')
    await page.locator('#status', { hasText: 'copied' }).waitFor()
    const link = await page.evaluate(() => navigator.clipboard.readText())
    expect(link).toBe(page.url())
    await context.close()

    const other = await open(link)
    await other.page.locator('#status', { hasText: 'From a link' }).waitFor()
    expect(await other.page.locator('.cm-content').innerText()).toContain('const six = 2 * 3')
    await other.page.waitForTimeout(500)
    expect(await valuesOf(other.page)).toEqual([])
    await other.page.click('#run')
    await other.finished()
    expect((await valuesOf(other.page)).map((v) => plain(v.value))).toEqual([6])
    await other.context.close()

    const cut = await open(link.slice(0, -4))
    await cut.page.locator('#status.bad', { hasText: 'cut' }).waitFor()
    await cut.context.close()
  })

  it('gives a program neither storage nor network nor the page, under a policy without inline or evaluated scripts', {
    timeout: limit,
  }, async () => {
    const { page, context, type, finished } = await open()
    await finished()
    const policy = await page.locator('meta[http-equiv=Content-Security-Policy]').getAttribute('content')
    expect(policy).toMatch(/^default-src 'none'; script-src 'self' 'wasm-unsafe-eval' blob:;/)
    expect(policy).not.toMatch(/unsafe-inline|'unsafe-eval'|https?:|connect-src|\*/)
    await page.evaluate(() => localStorage.setItem('secret', 'x'))
    await type(`const worker = globalThis as any
const trial = async (f: () => unknown) => { try { return String(await f()) } catch (e) { return (e as Error).name } }
worker.origin
await trial(() => worker.caches.keys())
await trial(() => new Promise((yes, no) => { const r = worker.indexedDB.open('x'); r.onsuccess = yes; r.onerror = no }))
await trial(() => worker.fetch(${JSON.stringify(address)}))
await trial(() => worker.eval('1'))
await trial(() => worker.importScripts(${JSON.stringify(`${address}service.js`)}))
typeof worker.localStorage
typeof worker.document
`)
    await page.click('#run')
    await finished()
    const seen = new Map((await valuesOf(page)).map((v) => [v.line, plain(v.value)]))
    expect([3, 4, 5, 6, 7, 9, 10].map((line) => seen.get(line))).toEqual([
      'null',
      'SecurityError',
      'SecurityError',
      'TypeError',
      'EvalError',
      'undefined',
      'undefined',
    ])
    await context.close()
  })

  it('gives in every example of the gallery what its comments say', { timeout: 3 * limit }, async () => {
    const { page, context, complaints, finished, status } = await open()
    await finished()
    const folder = join(root, 'site', 'examples')
    const files = readdirSync(folder).sort()
    expect(await page.locator('#gallery option').count()).toBe(files.length + 1)
    const wrongOnes: string[] = []
    for (const [i, file] of sample([...files.entries()], 6)) {
      await page.selectOption('#gallery', String(i))
      await finished()
      const expected = expectedOf(readFileSync(join(folder, file), 'utf8'))
      if (expected.length === 0) wrongOnes.push(`${file}: says nothing of what it gives`)
      const values = await valuesOf(page)
      for (const { line, value } of expected) {
        const got = values.find((v) => v.line === line)
        if (got === undefined || !agrees(value, plain(got.value)))
          wrongOnes.push(
            `${file}:${line}: ${JSON.stringify(value)}, got ${got === undefined ? 'nothing' : JSON.stringify(plain(got.value))}`,
          )
      }
      const fails = file.includes('error-with-its-line')
      if (/Stopped/.test(await status()) !== fails) wrongOnes.push(`${file}: ${await status()}`)
    }
    expect(wrongOnes).toEqual([])
    expect(complaints).toEqual([])
    await context.close()
  })

  it('runs the examples of docstrings, as the links of the documentation open them', { timeout: limit }, async () => {
    const wrongOnes: string[] = []
    let compared = 0
    const examples = [
      ['cholesky', 'codual'],
      ['scan', 'codual'],
      ['hessian', 'codual'],
      ['applyUpdates', 'codual/optim'],
      ['uniform', 'codual/random'],
    ] as const
    const tried = sample(examples, 3)
    for (const [name, entry] of tried) {
      const of = publicNames().find((n) => n.name === name && n.entry === entry)!
      const [example] = examplesOf(of)
      const program = programOf(shortPath(of.file), example!.code)!
      const { page, context, finished, status } = await open(address + addressOf(program).replace(/^.*#/, '#'))
      await page.locator('#status', { hasText: 'From a link' }).waitFor()
      await page.click('#run')
      await finished()
      if (/Stopped/.test(await status())) wrongOnes.push(`${name}: ${await status()}`)
      const values = await valuesOf(page)
      for (const { line, value } of expectedOf(program)) {
        compared += 1
        const got = values.find((v) => v.line === line)
        if (got === undefined || !agrees(value, plain(got.value))) wrongOnes.push(`${name}:${line}`)
      }
      await context.close()
    }
    expect(wrongOnes).toEqual([])
    expect(compared).toBeGreaterThanOrEqual(tried.length)
  })

  it('has its first program in the page itself, until the editor is loaded', { timeout: limit }, async () => {
    const first = readFileSync(join(root, 'site/examples/01-first-derivative.ts'), 'utf8')
    const page = await browser!.newPage()
    await page.route('**/assets/page-*.js', () => {})
    await page.goto(address)
    expect(await page.locator('#first').innerText()).toBe(first.trimEnd())
    await page.goto(`${address}#p=abc`)
    await page.reload()
    await expect.poll(() => page.locator('#first').count(), patience).toBe(0)
    await page.close()
    const whole = await open()
    await whole.finished()
    expect(await whole.page.locator('#first').isVisible()).toBe(false)
    expect(await whole.page.locator('.cm-content').innerText()).toContain(first.split('\n')[2]!)
    await whole.context.close()
  })

  it('moves nothing about while it opens, wide and on a phone', { timeout: limit }, async () => {
    for (const viewport of [
      { width: 1280, height: 860 },
      { width: 390, height: 844 },
    ]) {
      const { page, context, finished } = await open(address, { viewport })
      await finished()
      const shift = await page.evaluate(
        () =>
          new Promise<number>((resolve) => {
            let sum = 0
            new PerformanceObserver((list) => {
              for (const entry of list.getEntries()) sum += (entry as PerformanceEntry & { readonly value: number }).value
            }).observe({ type: 'layout-shift', buffered: true })
            setTimeout(() => resolve(sum), 500)
          }),
      )
      // Values beside the lines of the editor may wrap one of them.
      expect(shift, `${viewport.width}`).toBeLessThan(0.05)
      await context.close()
    }
  })
  it('has nothing that axe finds, in light and dark, wide and on a phone, where nothing is wider than the screen', {
    timeout: limit,
  }, async () => {
    const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
    for (const options of [
      { colorScheme: 'light' },
      { colorScheme: 'dark', viewport: { width: 390, height: 844 }, hasTouch: true },
    ] as const) {
      const { page, context, finished, show } = await open(address, options)
      await finished()
      for (const tab of ['Output', 'Program', 'Graph', 'Modes', 'Steps', 'Memory', 'Check', 'Plot']) {
        await show(tab)
        await page.waitForTimeout(150)
        await page.evaluate(axe)
        const { violations } = (await page.evaluate('axe.run()')) as AxeResults
        expect(violations.map((v) => `${tab}: ${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(' | ')}`)).toEqual([])
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
      }
      await page.screenshot({ path: join(pictures, `playground-${options.colorScheme}.png`) })
      await context.close()
    }
  })

  it('is worked by keyboard alone', { timeout: limit }, async () => {
    const { page, context, finished } = await open()
    await finished()
    await page.locator('#tab-Output').focus()
    await page.keyboard.press('ArrowRight')
    expect(await page.locator('#tab-Program').getAttribute('aria-selected')).toBe('true')
    await page.keyboard.press('End')
    expect(await page.locator('#tab-Plot').getAttribute('aria-selected')).toBe('true')
    // From the top: the example, Run, Copy link, the editor, which Tab leaves again.
    await page.locator('#gallery').focus()
    const reached: string[] = []
    for (let i = 0; i < 6; i++) {
      await page.keyboard.press('Tab')
      reached.push(await page.evaluate(() => document.activeElement!.id))
    }
    expect(reached).toEqual(['pictures', 'run', 'where', 'share', 'editor', 'tab-Plot'])
    await context.close()
  })

  it('opens and runs without a network after one visit', { timeout: limit }, async () => {
    const { page, context, finished } = await open()
    await finished()
    const kept = (): Promise<string | undefined> =>
      page.evaluate(async () => (await navigator.serviceWorker.getRegistration())?.active?.state)
    await expect.poll(kept, patience).toBe('activated')
    const { httpServer } = server!
    void server!.close()
    if ('closeAllConnections' in httpServer) httpServer.closeAllConnections()
    server = undefined
    await expect(fetch(address)).rejects.toThrow()
    await page.reload()
    await finished()
    expect((await valuesOf(page)).length).toBeGreaterThan(1)
    await page.locator('.cm-content').click()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.insertText('const a: string = 1\n')
    await page.locator('.cm-lintRange-error').first().waitFor()
    await context.close()
  })
})
