// docs/linting.md: the configuration that it gives reports what its table says, at that row and by that rule, and nothing in the twin beside it.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ESLint, type Linter } from 'eslint'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cellsOf, codeIn } from '../../scripts/docs/extract.js'
import { root } from '../../scripts/docs/public-names.js'
import * as codual from '../../src/index.js'

const page = readFileSync(join(root, 'docs/linting.md'), 'utf8')
const folder = join(root, 'out', 'lint')

interface Row {
  readonly bad: string
  readonly good: string
  readonly rule: string
}
const rows = page
  .split('\n')
  .filter((line) => /^\| `/.test(line))
  .map((line): Row => {
    const [bad, good, rule] = cellsOf(line)
    return { bad: codeIn(bad), good: codeIn(good), rule: codeIn(rule) }
  })

/** A function in each line, with what the page says is in scope. */
const before = `import { ${Object.keys(codual).join(', ')}, type AnyExpr } from 'codual'
declare const x: AnyExpr, y: AnyExpr, a: AnyExpr, b: AnyExpr
declare const xs: AnyExpr[]
declare const json: any
const step = compileAsync((v: AnyExpr) => mul(v, 2), cpu())
`
const first = before.split('\n').length
const fileOf = (side: 'bad' | 'good'): string => `${before}${rows.map((r, i) => `export const f${i} = () => { ${r[side]} }`).join('\n')}\n`

const reports = new Map<string, readonly Linter.LintMessage[]>()
describe('docs/linting.md', () => {
  beforeAll(async () => {
    mkdirSync(folder, { recursive: true })
    const config = /```js\n([\s\S]*?)```/.exec(page)![1]!
    // A published package would be imported by its name; here it is the source, and the configuration is one that vite can load.
    writeFileSync(join(folder, 'eslint.config.ts'), config.replace("'codual'", `'${join(root, 'src/index.ts')}'`))
    const paths = { codual: [join(root, 'src/index.ts')] }
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ extends: '../../tsconfig.json', compilerOptions: { paths }, include: ['*.ts'] }),
    )
    for (const side of ['bad', 'good'] as const) writeFileSync(join(folder, `${side}.ts`), fileOf(side))
    const loaded = (await import(/* @vite-ignore */ pathToFileURL(join(folder, 'eslint.config.ts')).href)) as { default: Linter.Config[] }
    const eslint = new ESLint({ cwd: folder, overrideConfigFile: true, overrideConfig: loaded.default })
    for (const result of await eslint.lintFiles(['bad.ts', 'good.ts']))
      reports.set(/(\w+)\.ts$/.exec(result.filePath)![1]!, result.messages)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('has rows', () => expect(rows.length).toBeGreaterThan(15))
  it.each(rows.map((r, i) => ({ ...r, i })))('$bad', ({ rule, i }) => {
    const rulesAt = (side: string): readonly string[] =>
      reports
        .get(side)!
        .filter((m) => m.line === first + i)
        .map((m) => (m.ruleId ?? m.message).replace('@typescript-eslint/', ''))
    expect(rulesAt('bad')).toContain(rule)
    expect(rulesAt('good')).toEqual([])
  })
  it('shows every rule that it sets', () => {
    const set = [...page.matchAll(/^ {4}'(?:@typescript-eslint\/)?([\w-]+)':/gm)].map((m) => m[1])
    expect(set.length).toBeGreaterThan(10)
    expect(set.filter((rule) => !rows.some((r) => r.rule === rule))).toEqual([])
  })
  it('names effects that are there', () => {
    const effects = /const effects = (\[.*\])/.exec(page)![1]!.match(/\w+/g)!
    expect(effects.filter((name) => !(name in codual))).toEqual([])
  })
})
