// Types are stripped by Node or by esbuild; what is unfinished is told apart from what is wrong, and a mistake keeps its place.
import { describe, expect, it } from 'vitest'
import { root } from '../../command/project.js'
import { byNode, NotTypeScript, type Strip, stripIn } from '../../command/repl/typescript.js'

const refusal = (strip: Strip, code: string): Pick<NotTypeScript, 'unfinished' | 'at'> => {
  try {
    strip(code)
  } catch (error) {
    if (error instanceof NotTypeScript) return { unfinished: error.unfinished, at: error.at }
    throw error
  }
  throw new Error(`${code} was taken`)
}

describe('by Node', () => {
  /** What Node 22.23 and 26.12 throw: the message, and what stands above it in the stack. */
  const thrown: Readonly<Record<string, readonly [message: string, frame: string]>> = {
    'foo bar': ["Expected ';', '}' or <eof>", ':1\nfoo bar\n    ^^^\n'],
    'const q = 1\nconst z: number = ;': ['Expression expected', ':2\nconst q = 1\nconst z: number = ;\n                  ^\n'],
    'add([1,': ['Expression expected', ':1\nadd([1,\n'],
    '`abc': ['Unterminated template', ':1\n`abc\n^^^^\n'],
    'const f = (x: number) => {': ["Expected '}', got '<eof>'", ':1\nconst f = (x: number) => {\n'],
  }
  const strip = byNode((code) => {
    const [message, frame] = thrown[code] ?? []
    if (message === undefined) return code.replace(': number', '        ')
    const error = new SyntaxError(message)
    error.stack = `${frame}\nSyntaxError [ERR_INVALID_TYPESCRIPT_SYNTAX]: ${message}\n    at parseTypeScript (node:internal/modules/typescript:67:36)`
    throw error
  })
  it('keeps columns', () => {
    const { code, typed } = strip('const x: number = 1')
    expect(code).toBe('const x         = 1')
    expect(typed({ line: 0, column: 18 })).toEqual({ line: 0, column: 18 })
  })
  it('tells what is unfinished from what is wrong', () => {
    expect(refusal(strip, 'foo bar')).toEqual({ unfinished: false, at: { line: 0, column: 4 } })
    expect(refusal(strip, 'const q = 1\nconst z: number = ;')).toEqual({ unfinished: false, at: { line: 1, column: 18 } })
    for (const code of ['add([1,', '`abc', 'const f = (x: number) => {'])
      expect([code, refusal(strip, code).unfinished]).toEqual([code, true])
  })
})

describe('by what this process has', () => {
  it('takes types away, tells what is unfinished, and finds places again', async () => {
    const strip = await stripIn(root)
    const { code, typed } = strip!('const x: readonly number[] = f<string>(1)')
    expect(code).not.toMatch(/number|string/)
    expect(typed({ line: 0, column: code.indexOf('f(') < 0 ? code.indexOf('f ') : code.indexOf('f(') }).column).toBe(29)
    expect(refusal(strip!, 'const z: number = ;')).toEqual({ unfinished: false, at: { line: 0, column: 18 } })
    for (const unfinished of ['add([1,', '`abc', 'const f = (x: number) => {', 'type A = {'])
      expect([unfinished, refusal(strip!, unfinished).unfinished]).toEqual([unfinished, true])
  })
})
