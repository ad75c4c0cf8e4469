// The README: short, and true: its links lead to files of the package, its sizes and times are those that were measured, its table is that of docs/speed.md.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import measured from '../../docs/measured.json' with { type: 'json' }
import manifest from '../../package.json' with { type: 'json' }
import { root } from '../../scripts/docs/public-names.js'
import { recorded } from '../../scripts/sizes.js'

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const page = (path: string): string => readFileSync(join(root, path), 'utf8')

describe('README.md', () => {
  it('has at most 120 lines', () => expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(120))

  it('links to files that the package has', () => {
    const links = [...readme.matchAll(/\]\(([^)#]+)/g)].map((m) => m[1]!)
    expect(links.length).toBeGreaterThan(15)
    for (const link of links) {
      expect(existsSync(join(root, link)), link).toBe(true)
      expect(manifest.files, link).toContain(link)
    }
  })

  it('names commands that there are', () => {
    const commands = [...readme.matchAll(/npm run ([\w:]+)/g)].map((m) => m[1]!)
    expect(commands.length).toBeGreaterThan(2)
    for (const command of commands) expect(Object.keys(manifest.scripts)).toContain(command)
  })

  it('says what bundles weigh as docs/sizes.md does', () => {
    const sizes = recorded()
    const [, gradient, product] = /`grad`, `sum` and `mul` bundle to (\d+) kB \(gzip\), `mul` alone to (\d+) kB/.exec(readme)!
    expect(Number(gradient)).toBe(Math.round(sizes.get('`grad`, `sum`, `mul` on cpu()')!))
    expect(Number(product)).toBe(Math.round(sizes.get('`mul`')!))
    const features = page('docs/features.md')
    for (const [text, name] of [
      [/`mul` (\d+) kB/, '`mul`'],
      [/a gradient (\d+) kB/, '`grad`, `sum`, `mul` on cpu()'],
      [/or (\d+) kB on the reference interpreter/, '`grad`, `sum`, `mul` on reference()'],
    ] as const)
      expect(Number(text.exec(features)![1]), name).toBe(Math.round(sizes.get(name)!))
  })

  it('says what its two commands take as it was measured', () => {
    const minutes = Math.ceil(measured.test.seconds / 60)
    expect(readme).toMatch(new RegExp(`^npm test +# .*: ${minutes} minutes on two cores; test:all has the rest$`, 'm'))
    expect(measured.digits.seconds).toBeLessThan(60)
    expect(measured.digits.accuracy).toBeGreaterThanOrEqual(0.98)
    expect(readme).toMatch(/^npm ci && npm run example:digits +# .*98 % of 2,000 unseen ones, in under a minute$/m)
  })

  it('has the rows and the date of docs/speed.md', () => {
    const speed = page('docs/speed.md')
    const rows = [...readme.matchAll(/^\| W\d+ \|.*\|$/gm)].map((m) => m[0])
    expect(rows.length).toBeGreaterThan(4)
    const cells = (row: string): readonly string[] => row.split('|').map((c) => c.trim())
    const all = [...speed.matchAll(/^\| (W[\w, ]+) \|.*\|$/gm)].map((m) => cells(m[0]))
    for (const row of rows) {
      const [, name, , ...ratios] = cells(row)
      const there = all.find((r) => r[1]!.split(', ').includes(name!))!
      const at = there[1]!.split(', ').indexOf(name!)
      const alone = there.slice(3).map((c) => (there[1]!.includes(', ') ? (c.split(', ')[at] ?? c) : c))
      expect(ratios, name).toEqual(alone)
    }
    const [, date] = /measured on (\d+ \w+ \d{4})/.exec(speed)!
    expect(readme).toContain(`, on ${date}.`)
  })
})
