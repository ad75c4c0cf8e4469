/** The site of documentation: a page for each name, no dead link, examples that the playground can run; and a sample of it built and opened in Chromium. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { AxeResults } from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { entries, publicNames, root } from '../../scripts/docs/public-names.js'
import { entries as inBrowsers } from '../../site/build/declarations.js'
import { anchorsIn, deadLinks, slugOf, targetsIn, withTargets } from '../../site/docs/links.js'
import { writePages } from '../../site/docs/make.js'
import { entryPath, pathOf } from '../../site/docs/names.js'
import { allPages, deadLinksOf, documents } from '../../site/docs/pages.js'
import { addressOf, programOf, runLink } from '../../site/docs/programs.js'
import { serve } from '../../site/docs/serve.js'
import { groups } from '../../site/docs/sidebar.js'
import { programOf as programIn } from '../../site/share.js'
import { hasChromium, howToHave, openChromium } from '../browser/chromium.js'
import { allExamples } from '../docs/all-examples.js'

const pages = allPages()
const names = publicNames()

describe('the pages', () => {
  it('are one for each public name, with its signature, its line of source, its examples and what is related', () => {
    expect(new Set(names.map((n) => pathOf(n).toLowerCase())).size).toBe(names.length)
    for (const n of names) {
      const page = pages.get(pathOf(n)) ?? ''
      expect(page, n.name).toMatch(new RegExp(`^---\ntitle: .*\nprev: false\nnext: false\n---\n\n# ${n.name.replace('$', '\\$')}\n`))
      expect(page, n.name).toMatch(/\n## Signature\n\n```ts\n\S/)
      expect(page, n.name).toContain(`.ts#L${n.line})`)
      const related = [...(/\nRelated: (.*)/.exec(page)?.[1] ?? '').matchAll(/\]\(\/(.*?)\)/g)].map(([, path]) => path)
      expect(related.length, n.name).toBeGreaterThan(0)
      expect(new Set([...related, pathOf(n)]).size, n.name).toBe(related.length + 1)
      if (/@example/.test(n.doc?.text ?? '')) expect(page, n.name).toContain('\n## Example\n')
    }
  })
  it('say how a function is differentiated, batched and where it has kinks', () => {
    const abs = pages.get('names/codual/abs.md')!
    expect(abs).toContain('- Registered rule: elementwise, from partial derivatives')
    expect(abs).toContain('- Kinks: at 0 the partial is 0')
    expect(pages.get('names/codual/matmul.md')).toContain('- Registered rules: `matmul` linear in each of two arguments')
    expect(pages.get('names/codual/transpose.md')).toContain('- Registered rules: `transpose` linear')
    expect(pages.get('names/codual/matmul.md')).toMatch(/\nRelated: .*`dot`.*`tensordot`/)
    expect(pages.get('names/codual/scan.md')).toContain('[`fori`](/names/codual/fori.md)')
  })
  it('show options one a line, each below its docstring, and never how they are declared', () => {
    for (const [path, page] of pages)
      if (path.startsWith('names/'))
        expect(/\n## Signature\n[\s\S]*?\n## See also/.exec(page)?.[0] ?? '', path).not.toMatch(/\b(?:OptionsOf|Left|Must|Kind)</)
    expect(pages.get('names/display/plot.md')).toContain(
      '\nplot(series: Readonly<Record<string, ArrayLike<number>>>, options?: PlotOptions',
    )
    expect(pages.get('names/display/plot.md')).toMatch(/\n## Options\n\n```ts\n\/\*\* .* \*\/\nlog\?: boolean\n```\n/)
    expect(pages.get('names/check/types/DrawOptions.md')).toMatch(/\ntype DrawOptions = \{\n {2}\/\*\* .* \*\/\n {2}sizes\?: /)
    const property = pages.get('names/check/property/types/PropertyOptions.md')!
    expect(property).toMatch(/\n {2}runs\?: number\n/)
    expect(property).toMatch(/\n {2}check\?: CheckOptions\n/)
    expect(pages.get('names/minimize/types/CurveFitOptions.md')).toMatch(/\ntype CurveFitOptions<P> = \{\n[\s\S]*\n {2}sigma\?: /)
  })
  it('have no link that leads nowhere', () => {
    expect([...pages.values()].flatMap(targetsIn).length).toBeGreaterThan(10_000)
    expect(deadLinksOf(pages)).toEqual([])
  })
  it('are all reached from beside: every document is in a group, once', () => {
    const listed = groups.flatMap((g) => g.pages)
    expect(new Set(listed).size).toBe(listed.length)
    const own = [...documents.keys()].filter((page) => !page.startsWith('decisions/') && page !== 'index.md')
    for (const entry of Object.keys(entries)) expect([...pages.keys()]).toContain(entryPath(entry))
    expect([...listed.filter((page) => page !== 'decisions/index')].map((page) => `${page}.md`).sort()).toEqual(own.sort())
  })
  it('show no block of TypeScript that the tests of examples do not run', () => {
    const ran = new Set(allExamples().map((e) => `${e.file}:${e.line}`))
    for (const [page, file] of documents) {
      const blocks = [...readFileSync(join(root, file), 'utf8').matchAll(/^```ts\n/gm)]
      const text = readFileSync(join(root, file), 'utf8')
      for (const block of blocks) expect(ran, page).toContain(`${file}:${text.slice(0, block.index).split('\n').length + 1}`)
      expect([...pages.get(page)!.matchAll(/^```ts\n/gm)].length, page).toBe(blocks.length)
    }
  })
})

describe('links', () => {
  const two = new Map([
    ['a.md', '# A\n\n[b](b.md), [c](/b.md#what-it-is), `[no](link.md)`, ![p](images/p.png)\n\n```ts\n[1](2)\n```\n'],
    ['b.md', '# B\n\n## What it is: `x`, y\n\n[up](#b)\n'],
  ])
  it('are found outside code', () => {
    expect(targetsIn(two.get('a.md')!)).toEqual(['b.md', '/b.md#what-it-is', 'images/p.png'])
    expect(withTargets('[`f(x)`](a.md) `[g](b.md)`', (t) => `/${t}`)).toBe('[`f(x)`](/a.md) `[g](b.md)`')
  })
  it('lead to headings as GitHub names them', () => {
    expect(slugOf('What it is: `x`, y')).toBe('what-it-is-x-y')
    expect([...anchorsIn('# A\n## B\n## B\n')]).toEqual(['a', 'b', 'b-1'])
  })
  it('that lead nowhere are named', () => {
    expect(deadLinks(two, (path) => path === 'images/p.png')).toEqual(['a.md: b.md has no heading #what-it-is'])
    expect(deadLinks(new Map([['d/a.md', '[x](b.md) [y](../c.md)']]), () => false)).toEqual([
      'd/a.md: there is no b.md',
      'd/a.md: there is no ../c.md',
    ])
  })
})

describe('examples', () => {
  it('are programs with what they import', async () => {
    const program = programOf('src/core/ops/elementwise.ts', 'const x = tensor([1, 2])\ngrad((y: AnyExpr) => sum(tanh(y)))(x)')!
    expect(program).toBe(
      "import { type AnyExpr, grad, sum, tanh, tensor } from 'codual'\n\nconst x = tensor([1, 2])\ngrad((y: AnyExpr) => sum(tanh(y)))(x)\n",
    )
    const address = addressOf(program)
    expect(await programIn(address.slice(address.indexOf('#')))).toBe(program)
  })
  it('take a name of two entry points from their own', () => {
    expect(programOf('src/nn/index.ts', 'dropout(0.5)')).toContain("from 'codual/nn'")
    expect(programOf('docs/layers.md', 'dropout(0.5)')).toContain("from 'codual'")
  })
  it('that need files, or names that are not public, have no link', () => {
    expect(programOf('docs/training.md', "import { save } from 'codual/train/node'\nsave('x', {})")).toBeUndefined()
    expect(runLink('src/core/graph/expr.ts', 'linearize2(1)')).toBe('')
    expect(programOf('src/core/graph/aval.ts', 'process.exit(1)')).toBeUndefined()
  })
  it('import only what the playground has', () => {
    const worker = readFileSync(join(root, 'site/run/worker.ts'), 'utf8')
    for (const entry of inBrowsers) expect(worker, entry).toMatch(new RegExp(`^  '?${entry.replace('.', 'codual')}'?: `, 'm'))
  })
  it('of nearly all functions have a link that runs them', () => {
    const functions = names.filter((n) => !n.type && /@example/.test(n.doc?.text ?? '') && !/blas|mpi|node|property/.test(n.entry))
    const without = functions.filter((n) => !pages.get(pathOf(n))!.includes('[Run in the playground](/playground/#p='))
    expect(functions.length).toBeGreaterThan(500)
    expect(without.map((n) => n.name).length).toBeLessThan(15)
  })
})

/** Where the sample is served: below a path, as many hosts do. */
const base = '/codual/'
const required = process.env.CODUAL_REQUIRE_BROWSER === '1'
if (!hasChromium) console.warn(`the tests of the built site are skipped: ${howToHave}`)
it('Chromium is there where it is required', () => expect(hasChromium || !required, howToHave).toBe(true))

describe.skipIf(!hasChromium)('a sample of the site, built', () => {
  const folder = 'out/site-sample'
  let server: Server | undefined
  let browser: Browser | undefined
  let address = ''
  beforeAll(async () => {
    // The documents with most in them, what the links beside the pages need, and a name of each kind.
    const shown = [
      'index.md',
      'start.md',
      'language.md',
      'linear-algebra.md',
      'names/codual/at.md',
      'names/codual/cholesky.md',
      'names/codual/types/Rule.md',
      'reference/linear-algebra.md',
    ]
    const beside = new Set([...groups.flatMap((g) => g.pages.map((page) => `${page}.md`)), ...shown])
    const small = [...pages]
      .filter(([path]) => beside.has(path))
      .map(([path, text]) => [path, shown.includes(path) ? text : text.slice(0, 2000).replaceAll('```', '')] as const)
    writePages(join(root, folder, 'pages'), new Map(small))
    execFileSync(process.execPath, [join(root, 'node_modules/vitepress/bin/vitepress.js'), 'build', 'site/docs'], {
      cwd: root,
      env: { ...process.env, SITE_FOLDER: folder, SITE_BASE: base, NODE_ENV: 'production', NODE_OPTIONS: '' },
      stdio: 'pipe',
    })
    const served = await serve(join(root, folder, 'page'), base)
    server = served.server
    address = served.address
    browser = await openChromium()
    mkdirSync(join(root, 'out/browser'), { recursive: true })
  }, 360_000)
  afterAll(async () => {
    await browser?.close()
    server?.close()
  }, 60_000)
  /** A page, with what it loaded: bytes as sent, and hosts. */
  const open = async (
    path: string,
    options: Parameters<Browser['newPage']>[0] = {},
  ): Promise<{
    readonly page: Page
    readonly bytes: number
    readonly hosts: readonly string[]
    readonly complaints: readonly string[]
  }> => {
    const page = await browser!.newPage({ viewport: { width: 1280, height: 900 }, ...options })
    let bytes = 0
    const hosts = new Set<string>()
    const complaints: string[] = []
    page.on('response', (r) => {
      bytes += Number(r.headers()['content-length'] ?? 0)
      hosts.add(new URL(r.url()).host)
      if (r.status() >= 400) complaints.push(`${r.status()} ${r.url()}`)
    })
    page.on('pageerror', (e) => complaints.push(String(e)))
    await page.goto(address + path, { waitUntil: 'networkidle' })
    return { page, bytes, hosts: [...hosts], complaints }
  }

  it('loads at most 200 kB for the page of a function, all from its own host', { timeout: 120_000 }, async () => {
    const { page, bytes, hosts, complaints } = await open('/names/codual/cholesky.html')
    expect(complaints).toEqual([])
    expect(hosts).toEqual([new URL(address).host])
    expect(bytes).toBeGreaterThan(20_000)
    expect(bytes).toBeLessThan(200_000)
    expect(await page.locator('h1').innerText()).toContain('cholesky')
    expect(await page.locator('a.run').getAttribute('href')).toMatch(/^\/codual\/playground\/#p=/)
    await page.close()
  })
  it('shows braces and colons as they are written: neither attributes nor emojis are made of them', async () => {
    const built = (path: string): string => readFileSync(join(root, folder, 'page', path), 'utf8')
    for (const path of ['linear-algebra.html', 'names/codual/at.html', 'reference/linear-algebra.html']) {
      expect(built(path), path).not.toMatch(/<t[dh] (?!style|class|align)[^>]*=""/)
      expect(built(path), path).not.toMatch(/\p{Extended_Pictographic}/u)
    }
    expect(built('linear-algebra.html')).toContain('{ sign, logdet }')
    expect(built('names/codual/cholesky.html')).toContain('target="_self"')
  })
  it('finds a function by its name, without a server', { timeout: 120_000 }, async () => {
    const { page } = await open('/')
    await page.click('.DocSearch-Button')
    await page.locator('#localsearch-input').fill('cholesky')
    await page.locator('#localsearch-list a').first().waitFor()
    expect(await page.locator('#localsearch-list').innerText()).toContain('cholesky')
    await page.close()
  })
  it('has nothing that axe finds, in light and dark, wide and on a phone, where nothing is wider than the screen', {
    timeout: 120_000,
  }, async () => {
    const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
    for (const options of [{ colorScheme: 'light' }, { colorScheme: 'dark', viewport: { width: 390, height: 844 } }] as const)
      for (const path of [
        '/',
        '/start.html',
        '/language.html',
        '/names/codual/cholesky.html',
        '/names/codual/types/Rule.html',
        '/reference/linear-algebra.html',
      ]) {
        const { page, complaints } = await open(path, options)
        expect(complaints, path).toEqual([])
        await page.evaluate(axe)
        const { violations } = (await page.evaluate('axe.run()')) as AxeResults
        expect(violations.map((v) => `${path}: ${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(' | ')}`)).toEqual([])
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), path).toBe(true)
        await page.close()
      }
  })
})
