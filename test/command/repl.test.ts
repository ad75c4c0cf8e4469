// The REPL, driven as a user drives it: lines in, printed values out.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { float32Text, printed } from '../../command/repl/printed.js'
import { add, isAdException } from '../../src/index.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

const drive = (lines: readonly string[]): { readonly output: string; readonly error: string; readonly status: number | null } => {
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--import', 'tsx', 'command/main.ts', 'repl'], {
    cwd: root,
    input: `${lines.join('\n')}\n`,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1', NODE_REPL_HISTORY: '' },
  })
  return { output: stdout, error: stderr, status }
}

describe('float32Text', () => {
  it.each([
    [Math.fround(0.1), '0.1'],
    [Math.fround(1 / 3), '0.33333334'],
    [Math.fround(Math.PI), '3.1415927'],
    [16777216, '16777216'],
    [2 ** -149, '1e-45'],
    [-0, '-0'],
    [0, '0'],
    [Number.NaN, 'NaN'],
    [Number.NEGATIVE_INFINITY, '-Infinity'],
  ])('prints %d as %s', (x, text) => {
    expect(float32Text(x)).toBe(text)
  })
})

describe('an error', () => {
  it('prints once, in words and in colours where there are some', () => {
    let error: unknown
    try {
      add([1, 2], [1, 2, 3] as never)
    } catch (e) {
      error = e
    }
    expect(isAdException(error)).toBe(true)
    const plain = printed(error, {})
    expect(plain).toMatch(/^add: shapes \[2\] and \[3\] do not broadcast\.\n {2}fix: [^\n]+$/)
    const coloured = printed(error, { colors: true })
    expect(coloured.startsWith('\u001B[31madd: shapes')).toBe(true)
    expect(coloured).toContain('\n\u001B[32m  fix: ')
    expect(stripVTControlCharacters(coloured)).toBe(plain)
  })
})

describe('codual repl', () => {
  it('prints errors once, and programs and plans as text', () => {
    const { output, error, status } = drive([
      'foo',
      'sum([1, 2], 0)',
      'show(fn({ x: f64(2) }, ({ x }) => sum(x)))',
      'const step = compile(grad((x) => sum(mul(tanh(x), x))))',
      'step([1, 2, 3]).shape',
      'step.explain()',
      'toProgram((x) => sum(x))([1, 2])',
      'zeros([2])',
    ])
    expect(error).toBe('')
    expect(status).toBe(0)
    expect(output).toContain('Uncaught ReferenceError: foo is not defined')
    expect(output).toMatch(
      /Uncaught:\nBadInput: sum: 0 where options may stand\.\n {2}sum\(\[1, 2\], 0\)\n {2}\^\n {2}fix: write \{ axis: 0 \}[^\n]*\ncodual>/,
    )
    expect(output).not.toContain('_tag')
    expect(output).not.toContain('    at ')
    expect(output).toContain('> fn(x: f64 [2])\n  y0 = sum(x) {axes [0]} : f64 []\n  return y0\n')
    expect(output).toMatch(
      /> cpu: 1 step, 1 kernel, 48 flops, 56 bytes moved, [^\n]*\n {2}step {2}kernel +sizes +flops +bytes +reads +writes\n {5}0 {2}loop tanh/,
    )
    expect(output).toContain('> f(x0: f64 [2])\n  y0 = sum(x0) {axes [0]} : f64 []\n  return y0\n')
    expect(output).toContain('> Expr f64 [2] [0, 0]')
  })

  it('has codual in scope, prints typed arrays well, and lets a name be defined again', () => {
    const { output, error, status } = drive([
      'grad((x) => sum(mul(x, x)))([1, 2, 3]).data',
      'evaluate(add(1, 2)).item() + 39',
      'new Float32Array([0.1, 0.2])',
      'new Float64Array(30)',
      'const sum = 5',
      "'sum is ' + sum",
      'typeof codual.sum',
      'prob.normal(0, 1).logProb(0)',
      'minimizers.minimize((x) => square(sub(x, 3)), 0).x.item().toFixed(6)',
      '.doc minimizers.minimize',
    ])
    expect(error).toBe('')
    expect(status).toBe(0)
    expect(output).toMatch(/^codual \d+\.\d+\.\d+: \d+ names are in scope/)
    expect(output).toContain('Float64Array(3) [2, 4, 6]')
    expect(output).toContain('> 42\n')
    expect(output).toContain('Float32Array(2) [0.1, 0.2]')
    expect(output).toContain('... 6 more]')
    expect(output).toContain("> 'sum is 5'")
    expect(output).toContain("> 'function'")
    expect(output).toContain('Expr f64 [] -0.91894')
    expect(output).toContain("> '3.000000'")
    expect(output).toMatch(/codual\/minimize/)
  })
})
