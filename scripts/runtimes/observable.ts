/** A notebook in Observable's format, built by its kit and opened in a browser without a network: what its cells show. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { chromium } from 'playwright-core'
import { quiet } from './homes.js'

/** The kit that builds notebooks. */
export const kit = '@observablehq/notebook-kit@2.1.8'
const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }

/** What each element of `codual/display` says, as text and with how many pictures. Throws where a cell is in error. `user` has the package and the kit installed. */
export const runObservable = async (
  user: string,
  file: string,
  executablePath: string,
): Promise<readonly { readonly text: string; readonly pictures: number; readonly cells: number }[]> => {
  const folder = join(user, 'observable')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'index.html'), readFileSync(file, 'utf8').replaceAll(/npm:codual@\^[\d.]+/g, 'codual'))
  const build = join(user, 'node_modules/@observablehq/notebook-kit/dist/bin/notebooks.js')
  execFileSync(process.execPath, [build, 'build', '--out', 'dist', 'index.html'], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    try {
      const body = readFileSync(join(folder, 'dist', path === '/' ? 'index.html' : path))
      response.setHeader('Content-Type', TYPES[extname(path === '/' ? '.html' : path) || '.html'] ?? 'application/octet-stream')
      response.end(body)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise<void>((ok) => server.listen(0, '127.0.0.1', () => ok()))
  const browser = await chromium.launch({ executablePath, headless: true, chromiumSandbox: false, args: [...quiet] })
  try {
    const page = await browser.newPage()
    await page.route(/^https?:\/\/(?!127\.0\.0\.1)/, (route) => route.abort())
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    const wanted = readFileSync(file, 'utf8').match(/\.element\(\)\n/g)?.length ?? 0
    await page.waitForFunction(
      `document.querySelectorAll('.codual').length >= ${wanted} || document.querySelector('.observablehq--error')`,
      undefined,
      { timeout: 60_000 },
    )
    const errors = (await page.evaluate(
      `[...document.querySelectorAll('.observablehq--error')].map((e) => e.textContent)`,
    )) as readonly string[]
    if (errors.length > 0) throw new Error(errors.join('\n'))
    return (await page.evaluate(
      `[...document.querySelectorAll('.codual')].map((e) => ({ text: e.innerText, pictures: e.querySelectorAll('svg').length, cells: e.querySelectorAll('td').length }))`,
    )) as never
  } finally {
    await browser.close()
    server.close()
  }
}

/** What the cells of examples/notebooks/observable.html show: a start of each text, pictures, and whether there is a table. */
const expected: readonly (readonly [text: RegExp, pictures: number, table: boolean])[] = [
  [/^f64 \[20, 30\], from 0 to 74\.875, mean 37\.4375/, 0, true],
  [/^grad\(fn\)\(w: f32 \[2\], x: f32 \[8, 2\], y: f32 \[8\]\)\n {2}y0 = /, 1, false],
  [/^ended by epochs; [\s\S]*30 epochs; at the end loss \d/, 1, false],
  [/^sin t/m, 1, false],
]
/** What is wrong with what is shown, a line for each. */
export const wrongIn = (shown: Awaited<ReturnType<typeof runObservable>>): readonly string[] =>
  expected.flatMap(([text, pictures, table], i) => {
    const s = shown[i]
    const right = s !== undefined && text.test(s.text) && s.pictures === pictures && s.cells > 0 === table
    return right ? [] : [`element ${i + 1}: ${JSON.stringify(s)}`]
  })
