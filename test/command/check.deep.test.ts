// `codual check` on a file of rules: nothing is wrong with the file as it is, and each of the mistakes that are planted in it is found, where it was planted.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { codual, fixture } from './run.js'

/** The export that a mistake is in, what is written there, and what is written in its place. */
const mistakes: readonly (readonly [name: string, right: string, wrong: string])[] = [
  ['sign', 'mul(-2, sin(mul(2, x)))', 'mul(2, sin(mul(2, x)))'],
  ['factor', '[mul(3, square(x))]', '[mul(2, square(x))]'],
  ['term', '[mul(mul(2, x), y), square(x)]', '[mul(mul(2, x), y), x]'],
  ['order', '[div(1, y), neg(div(x, square(y)))]', '[neg(div(x, square(y))), div(1, y)]'],
  ['exponent', '[pow(x, lambda - 1)]', '[pow(x, 2 - 1)]'],
  [
    'transposed',
    '[cos(y), neg(mul(x, sin(y)))],\n  [sin(y), mul(x, cos(y))]',
    '[cos(y), sin(y)],\n  [neg(mul(x, sin(y))), mul(x, cos(y))]',
  ],
  ['atZero', 'frule: (x, dx) => [mul(x, x), mul(dx, where(eq(x, 0), 0, ', 'frule: (x, dx) => [mul(x, x), mul(dx, where(eq(x, 0), 1, '],
  ['modes', '(yBar) => mul(yBar, mul(exp(x), 0.5))', '(yBar) => mul(yBar, exp(x))'],
  ['second', '({ y }) => [mul(y, sub(1, y))]', '({ y }) => [mul(y, sub(1, stopGradient(y)))]'],
  ['kernel', 'x!.data[x!.data.length - 1 - i]!', 'x!.data[i]!'],
  ['adjoint', 'repeat(yBar, 2, { axis: -1 })', 'mul(0.5, repeat(yBar, 2, { axis: -1 }))'],
]
const right = readFileSync(fixture('rules.ts'), 'utf8')
const planted = fixture(`planted-${process.pid}.ts`)

describe('codual check', () => {
  afterAll(() => rmSync(planted, { force: true }))

  it('passes a file of rules that are right', async () => {
    const { code, out, err } = await codual('check', fixture('rules.ts'))
    // Each name before its check.
    expect(err).toMatch(/^(?:\d+\/14 \w+\n){14}$/)
    expect(err.match(/\w+$/gm)).toEqual([...right.matchAll(/^export const (?!checks)(\w+)/gm)].map(([, name]) => name))
    expect(out).toMatch(/\n14 right, 0 wrong \(seed 1\)\n$/)
    expect(code).toBe(0)
  })

  it('finds every mistake that is planted in it, and nothing else', async () => {
    for (const [name, from] of mistakes) expect([name, right.split(from).length]).toEqual([name, 2])
    const text = mistakes.reduce((t, [, from, to]) => t.replace(from, to), right)
    writeFileSync(planted, text)
    const { code, out } = await codual('check', planted, '--reporter', 'json')
    const { results } = JSON.parse(out) as {
      results: readonly { name: string; verdict: string; line: number; findings: readonly { check: string }[] }[]
    }
    const wrong = results.filter((r) => r.verdict !== 'right')
    // What is computed with a wrong kernel is wrong too.
    expect(wrong.map((r) => r.name).sort()).toEqual([...mistakes.map(([name]) => name), 'fromBehind'].sort())
    for (const r of wrong) {
      expect(text.split('\n')[r.line - 1]).toContain(`export const ${r.name} `)
      expect([r.name, r.verdict, r.findings.length > 0]).toEqual([r.name, 'wrong', true])
      // A mistake in the file as such would be found by everything.
      expect([r.name, r.findings.filter(({ check }) => check === 'raises')]).toEqual([r.name, []])
    }
    expect(code).toBe(1)
  })
})
