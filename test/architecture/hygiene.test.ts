// What src never has: a stray `any`, a silenced compiler, code from strings; and what no file of the repository names: a machine.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { functionsOver, places, root, type Source, sourcesUnder } from './sources.js'

/**
 * The files of src that may write `any`: the type of a primitive whose parameters are of any kind (a variance that `unknown` cannot say), and the question whether
 * something is a shape, which TypeScript answers of `[N, 3]` for a type parameter N in this form alone.
 */
const anyAllowed = ['src/core/graph/primitive.ts', 'src/core/types/shape.ts']

const isAny = (node: ts.Node): boolean => node.kind === ts.SyntaxKind.AnyKeyword

const runsText = (node: ts.Node): boolean =>
  (ts.isCallExpression(node) || ts.isNewExpression(node)) &&
  ts.isIdentifier(node.expression) &&
  ['eval', 'Function'].includes(node.expression.text)

/** `Math.max(...list)`: the stack overflows where the list is long. */
const spreadsIntoExtremes = (node: ts.Node): boolean =>
  ts.isCallExpression(node) && node.arguments.some(ts.isSpreadElement) && /^Math\.(max|min|hypot)$/.test(node.expression.getText())

const silenced = (source: Source): readonly string[] =>
  source.text.split('\n').flatMap((line, i) => (/@ts-(ignore|nocheck|expect-error)/.test(line) ? [`${source.path}:${i + 1}`] : []))

describe('src', () => {
  const sources = sourcesUnder('src')

  it('writes `any` in at most two files', () => {
    expect(anyAllowed.length).toBe(2)
    expect(sources.filter((source) => !anyAllowed.includes(source.path)).flatMap((source) => places(source, isAny))).toEqual([])
  })

  it('silences no type error', () => {
    expect(sources.flatMap(silenced)).toEqual([])
  })

  it('spreads no list into Math.max and its like: greatestOf and leastOf take lists of any length', () => {
    expect(sources.flatMap((source) => places(source, spreadsIntoExtremes))).toEqual([])
  })

  it('makes no code from text, so that it runs under a Content-Security-Policy without unsafe-eval', () => {
    expect(sources.flatMap((source) => places(source, runsText))).toEqual([])
  })
})

describe('the hygiene checks', () => {
  const at = (text: string): Source => ({ path: 'a.ts', text })

  it('see each kind of any, and no word that only looks like one', () => {
    expect(places(at('let x = 1\nconst y = x as any\ntype T = Record<string, any>\n// any\nconst any = "any"'), isAny)).toEqual([
      'a.ts:2',
      'a.ts:3',
    ])
  })

  it('see a list in Math.max', () => {
    expect(places(at('Math.max(1, ...list)\nMath.max(a, b)\nf(...list)'), spreadsIntoExtremes)).toEqual(['a.ts:1'])
  })

  it('see code from text', () => {
    expect(places(at('new Function("return 1")\neval("1")\nmyEval("1")'), runsText)).toEqual(['a.ts:1', 'a.ts:2'])
  })

  it('see long functions, by the lines of their bodies, and the reason above one', () => {
    const body = '{\n  f()\n  f()\n}'
    const text = [`function a() ${body}`, `const b = () => ${body}`, `// long: a table\nexport const c = (x: number) => ${body}`].join('\n')
    expect(functionsOver(at(text), 3)).toEqual(['a.ts a', 'a.ts b'])
    expect(functionsOver(at(text), 4)).toEqual([])
    const inside = `class D {\n  /** Documented. */\n  // long: one switch\n  e() ${body}\n  get g() ${body}\n}\ncall(() => ${body})`
    expect(functionsOver(at(inside), 3)).toEqual(['a.ts g', 'a.ts 13'])
    expect(functionsOver(at(`// long:\nfunction h() ${body}`), 3)).toEqual(['a.ts h'])
    expect(
      functionsOver(at(`// long: an expression counts too\nconst i = () => [\n  1,\n  2,\n]\nconst j = () => [\n  1,\n  2,\n]`), 3),
    ).toEqual(['a.ts j'])
  })

  it('see a silenced compiler', () => {
    expect(silenced(at(`const a = 1\n// @${'ts-ignore'}\nconst b: string = a`))).toEqual(['a.ts:2'])
  })
})

describe('the files of the repository', () => {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  const files = listed.split('\0').filter((path) => path !== '')
  // Written in pieces, so that this file does not hold what it forbids.
  const forbidden = [
    new RegExp(`\\.\\./${'shared'}(?![\\w.-])`),
    new RegExp(`(^|[^\\w.~-])/${'(work|root|home|Users)'}/\\w`, 'm'),
    new RegExp(`${'registry'}\\.[a-z]+\\.(org|com)`),
  ]
  const mentions = (text: string): boolean => forbidden.some((pattern) => pattern.test(text))

  const textOf = (path: string): string | undefined => {
    try {
      const bytes = readFileSync(join(root, path))
      return bytes.includes(0) ? undefined : bytes.toString('utf8')
    } catch {
      return undefined // listed, but deleted from the working tree or a link to nothing
    }
  }

  it('are listed by git', () => {
    expect(files).toContain('package.json')
  })

  it('name no machine path and no registry host', () => {
    expect(files.filter((path) => mentions(textOf(path) ?? ''))).toEqual([])
  })

  it('would be found out if they did', () => {
    expect(mentions(`see ../${'shared'}/NOTES.md`)).toBe(true)
    expect(mentions(`cd /${'work'}/main`)).toBe(true)
    expect(mentions(`"https://${'registry'}.npmjs.org/x"`)).toBe(true)
    expect(mentions(`import './${'shared'}.js'; import '../${'shared'}.js'; a/${'work'}/b; "network/${'home'}"`)).toBe(false)
  })
})
