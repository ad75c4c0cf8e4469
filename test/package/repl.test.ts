// The REPL, driven as a user drives it: lines in, printed values out.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { float32Text } from '../../scripts/repl-print.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

const drive = (lines: readonly string[]): { readonly output: string; readonly error: string; readonly status: number | null } => {
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--import', 'tsx', 'scripts/repl.ts'], {
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

describe('npm run repl', () => {
  it('has codual in scope, prints typed arrays well, and lets a name be defined again', () => {
    const { output, error, status } = drive([
      'grad((x) => sum(mul(x, x)))([1, 2, 3]).data',
      'evaluate(add(1, 2)).item() + 39',
      'new Float32Array([0.1, 0.2])',
      'new Float64Array(30)',
      'const sum = 5',
      "'sum is ' + sum",
      'typeof codual.sum',
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
  })
})
