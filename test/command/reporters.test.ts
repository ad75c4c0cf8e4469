// The same run in each of the ways that it is told.
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import type { CheckRun, Result } from '../../command/check.js'
import { reporters } from '../../command/reporters.js'

const looked = { rules: [], overrides: [], leftOut: [] } as unknown as NonNullable<Result['passed']>['looked']
const passed: Result['passed'] = {
  of: 'energy',
  comparisons: 233,
  seed: 1,
  notImplemented: [],
  kinks: ['relu at 0: 0'],
  undecided: ['entry [1]'],
  skipped: ['batch'],
  looked,
}
const base = { findings: [], seconds: 0.5 } as const
const finding = {
  check: 'jacobian',
  of: 'cube',
  path: 'argument 0',
  fix: '',
  replay: 'checkRule(cube)',
  looked,
} as unknown as Result['findings'][number]
const run: CheckRun = {
  file: join(process.cwd(), 'src/my, rules.ts'),
  seed: 1,
  results: [
    { ...base, name: 'energy', kind: 'function', verdict: 'right', passed, text: 'ok   energy: 233 comparisons', line: 3 },
    {
      ...base,
      name: 'cube',
      kind: 'rule',
      verdict: 'wrong',
      findings: [finding],
      text: 'wrong <cube> & "more": 50%\n  true 3, found 2',
      line: 7,
    },
    { ...base, name: 'broken', kind: 'function', verdict: 'raised', text: 'TypeError: x', line: 9 },
    { ...base, name: 'helper', kind: '', verdict: 'not checked', text: 'it has no arguments', line: 12, seconds: 0 },
  ],
}
const plain = (_style: string, text: string): string => text

describe('reporters', () => {
  it('table: a row for each, what is left open, what is wrong, what was not checked', () => {
    expect(reporters.table(run, plain)).toBe(`name    kind      verdict  compared  undecided  seconds
energy  function  right         233          1     0.50
cube    rule      wrong                            0.50
broken  function  raised                           0.50
energy: kink: relu at 0: 0
energy: not decided: entry [1]
energy: skipped: batch

cube (src/my, rules.ts:7)
  wrong <cube> & "more": 50%
    true 3, found 2

broken (src/my, rules.ts:9)
  TypeError: x

not checked:
  helper: it has no arguments

1 right, 2 wrong, 1 not checked (seed 1)`)
  })
  it('json: data, without where it looked', () => {
    const { results, ...rest } = JSON.parse(reporters.json(run)) as { results: readonly Record<string, unknown>[] }
    expect(rest).toEqual({ format: 1, file: 'src/my, rules.ts', seed: 1, right: 1, wrong: 2, unchecked: 1 })
    expect(results.map((r) => [r.name, r.verdict, r.line])).toEqual([
      ['energy', 'right', 3],
      ['cube', 'wrong', 7],
      ['broken', 'raised', 9],
      ['helper', 'not checked', 12],
    ])
    expect(results[0]).toMatchObject({ comparisons: 233, undecided: ['entry [1]'], kinks: ['relu at 0: 0'], skipped: ['batch'] })
    expect(results[1]!.findings).toEqual([{ check: 'jacobian', of: 'cube', path: 'argument 0', fix: '', replay: 'checkRule(cube)' }])
  })
  it('junit: XML with failures and skipped cases', () => {
    const xml = reporters.junit(run)
    expect(xml).toContain('<testsuites name="codual check" tests="4" failures="2" skipped="1" time="1.500">')
    expect(xml).toContain('<testcase classname="src/my, rules.ts" name="energy" file="src/my, rules.ts" line="3" time="0.500"/>')
    expect(xml).toContain('<failure message="wrong &lt;cube&gt; &amp; &quot;more&quot;: 50%">wrong &lt;cube&gt;')
    expect(xml).toContain('<skipped message="it has no arguments"/>')
    // Every element is closed: the compiler reads it as JSX.
    const { parseDiagnostics } = ts.createSourceFile(
      'x.tsx',
      `const x = (${xml.replace(/<\?xml.*\?>\n/, '')})`,
      ts.ScriptTarget.ES2022,
      false,
      ts.ScriptKind.TSX,
    ) as unknown as { parseDiagnostics: readonly unknown[] }
    expect(parseDiagnostics).toEqual([])
  })
  it('github: annotations of lines', () => {
    expect(reporters.github(run).split('\n')).toEqual([
      '::error file=src/my%2C rules.ts,line=7,title=codual check cube::wrong <cube> & "more": 50%25%0A  true 3, found 2',
      '::error file=src/my%2C rules.ts,line=9,title=codual check broken::TypeError: x',
      '::notice file=src/my%2C rules.ts,line=12,title=codual check helper::not checked: it has no arguments',
      '1 right, 2 wrong, 1 not checked (seed 1)',
    ])
  })
})
