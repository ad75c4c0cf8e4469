// What is asked for wrongly is one message and exit code 2; what is found is exit code 1.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { version } from '../../command/project.js'
import { codual, fixture } from './run.js'

const small = fixture('small.ts')
let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'codual-command-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('what is wrong with a call', () => {
  const cases: readonly (readonly [what: string, args: readonly string[], message: RegExp])[] = [
    ['a file that is not there', ['check', 'no/such.ts'], /^codual: there is no file no\/such\.ts\.$/m],
    ['a folder', ['check', 'src'], /^codual: src is a folder\.\n {2}fix: give a file\.$/m],
    [
      'another kind of file',
      ['check', 'README.md'],
      /^codual: README\.md is not a module\.\n {2}fix: give a file that ends in \.ts, \.mts, \.js, \.mjs\.$/m,
    ],
    [
      'a file that throws',
      ['check', fixture('throws.ts')],
      /throws\.ts cannot be loaded\.\n {2}add: shapes \[2\] and \[3\] do not broadcast\.\n[\s\S]*fix: axes/,
    ],
    [
      'a file with nothing to check',
      ['check', fixture('nothing.mjs')],
      /nothing\.mjs has nothing to check\.\n {2}fix: export functions made by fn, rules or plugins\.$/m,
    ],
    [
      'checks of a name that is not exported',
      ['check', fixture('misnamed.mjs')],
      /checks\.enrgy of \S+ does not match an export\.\n {2}fix: Perhaps you meant energy\. It exports energy\.$/m,
    ],
    [
      'an option of a check that is none',
      ['check', fixture('misused.ts')],
      /checks\.total of \S+ is invalid\.\n {2}BadInput: checkGrad: there is no option ordr\.[\s\S]*perhaps you meant order/,
    ],
    [
      'a name that the file has not',
      ['check', small, '--only', 'enrgy'],
      /has no enrgy to check\.\n {2}fix: Perhaps you meant energy\. It has energy, wrong, mask, cubeRule, volume\.$/m,
    ],
    ['a name that is not checked', ['check', small, '--only', 'helper'], /helper of \S+ is not checked: it has no arguments/],
    ['a seed that is too large', ['check', small, '--seed', '1e300'], /A seed is a whole number from 0 to 2147483647\./],
    ['a seed that is no number', ['check', small, '--seed', 'one'], /A seed is a whole number/],
    ['a reporter that is none', ['check', small, '--reporter', 'xml'], /Allowed choices are table, json, junit, github\./],
    ['an option that is none', ['check', small, '--sed', '1'], /unknown option '--sed'\n\(Did you mean --seed\?\)/],
    ['no file', ['check'], /missing required argument 'file'/],
    [
      'a command that is none',
      ['chekc', small],
      /^codual: chekc is neither a command nor a file\.\n {2}fix: Perhaps you meant check\. codual --help lists/m,
    ],
    ['watching where nobody looks', ['check', small, '--watch'], /--watch needs a terminal\.\n {2}fix: leave --watch out\./],
    ['no name', ['show', small], /does not name a function\.\n {2}fix: write FILE#name/],
    [
      'an unknown name',
      ['show', `${small}#enrgy`],
      /does not export enrgy\.\n {2}fix: Perhaps you meant energy\. It exports energy, wrong, helper, mask, cubeRule, volume, size, checks\.$/m,
    ],
    ['what is no function', ['explain', `${small}#size`], /size of \S+ is not a function\./],
    ['a rule where a function belongs', ['bench', `${fixture('rules.ts')}#factor`], /factor is a rule, not a function\./],
    [
      'a function without arguments',
      ['show', `${small}#helper`],
      /there are no arguments for helper[\s\S]*fix: export const checks = \{ helper: \{ args: \[\.\.\.\] \} \}, or declare/,
    ],
    ['a size that is none', ['show', `${small}#energy`, '--size', 'n=x'], /A size is a name and a whole number, as in n=1000\./],
    ['a size of no dimension', ['show', `${small}#energy`, '--size', 'm=3'], /has no axis 'm'\.[\s\S]*name one of n\./],
    ['two formats', ['show', `${small}#energy`, '--dot', '--json'], /--dot and --json are different formats\./],
    ['no baseline', ['bench', `${small}#energy`, '--baseline', 'no.json'], /there is no baseline no\.json\.\n {2}fix: write it first/],
  ]
  it.each(cases)('%s', async (_what, args, message) => {
    const { code, out, err } = await codual(...args)
    expect(err).toMatch(message)
    expect(err).not.toMatch(/\n\s+at .*command\/command/)
    expect(out).toBe('')
    expect(code).toBe(2)
  })

  it('a baseline that is no JSON, of another form, or without the function', async () => {
    const [broken, other, without] = ['broken.json', 'other.json', 'without.json'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ]
    writeFileSync(broken, '{"a": ')
    writeFileSync(other, '{"a": {"format": 1, "value": {"call": "fast"}}}')
    const measured = { firstCall: 1, call: 1, peakBytes: 0 }
    writeFileSync(without, JSON.stringify({ 'a.ts#f': { format: 1, name: 'f', value: measured, gradient: measured } }))
    const against = (file: string) => codual('bench', `${small}#energy`, '--baseline', file)
    expect(await against(broken)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/broken\.json is not JSON: [\s\S]*fix: write it again/),
    })
    expect(await against(other)).toMatchObject({ code: 2, err: expect.stringMatching(/other\.json was not written by codual bench: a\./) })
    expect(await against(without)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/has no test\/command\/fixtures\/small\.ts#energy\.[\s\S]*it has a\.ts#f/),
    })
  })
})

describe('help', () => {
  it("lists the commands, and the version is the package's", async () => {
    const { code, out } = await codual('--help')
    expect(code).toBe(0)
    for (const name of ['repl', 'check', 'show', 'explain', 'bench', 'new']) expect(out).toMatch(new RegExp(`^ {2}${name} `, 'm'))
    expect(await codual('--version')).toEqual({ code: 0, out: `${version}\n`, err: '' })
    expect((await codual('check', '--help')).out.replaceAll(/\s+/g, ' ')).toContain(
      '--reporter <format> the output format (choices: "table", "json", "junit", "github", default: "table")',
    )
  })
})

describe('codual check', () => {
  it('prints a table, what is wrong, and what was not checked', async () => {
    const { code, out, err } = await codual('check', small)
    expect(err).toBe('1/5 energy\n2/5 wrong\n3/5 mask\n4/5 cubeRule\n5/5 volume\n')
    expect(out).toMatch(
      /^name +kind +verdict +compared +undecided +seconds\nenergy +function +right +\d+ +0 +[\d.]+\nwrong +function +wrong/,
    )
    expect(out).toMatch(/\nwrong \(test\/command\/fixtures\/small\.ts:10\)\n {2}wrong wrong: the derivative is wrong: argument 0/)
    expect(out).toMatch(/\nnot checked:\n {2}mask: its result is not a float\n {2}helper: it has no arguments: export const checks = /)
    expect(out).toMatch(/\n3 right, 1 wrong, 2 not checked \(seed 1\)\n$/)
    expect(code).toBe(1)
  })
  it('checks what it is asked for, with the seed that it is given', async () => {
    const { code, out } = await codual('check', small, '--only', 'energy', '--seed', '7')
    expect(out).toMatch(/\n1 right, 0 wrong \(seed 7\)\n$/)
    expect(code).toBe(0)
  })
})

describe('codual show and explain', () => {
  it('print a program, its derivative, and its plan, at the sizes that are asked for', async () => {
    expect((await codual('show', `${small}#energy`, '--size', 'n=4')).out).toMatch(
      /^fn\(p\.w: f64 \[\], x: f64 \[4\]\)\n {2}y0 = sin\(x\) : f64 \[4\]\n/,
    )
    expect((await codual('show', `${small}#energy`, '--size', 'n=4', '--derivative')).out).toMatch(/^grad\(fn\)\(.*\n[\s\S]*cos\(x/)
    // By the rule of the file, which no other registry has.
    expect((await codual('show', `${small}#volume`, '--size', 'n=4', '--derivative')).out).toMatch(/^grad\(fn\)\(x: f64 \[4\]\)\n/)
    expect((await codual('show', `${small}#wrong`)).out).toMatch(/^wrong\(x0: f64 \[2\]\)/)
    expect((await codual('explain', `${small}#energy`, '--size', 'n=4')).out).toMatch(
      /^cpu: \d+ steps?, \d+ kernels?, .*\n {2}step {2}kernel/,
    )
  })
  it('write graphs, and JSON that fromJSON reads', async () => {
    const { fromJSON } = await import('../../src/index.js')
    const json = await codual('show', `${small}#energy`, '--size', 'n=4', '--json')
    expect(fromJSON(JSON.parse(json.out))._tag).toBe('Right')
    const dot = (await codual('show', `${small}#energy`, '--size', 'n=4', '--dot')).out
    expect(dot).toMatch(/^digraph "energy" \{\n/)
    expect(dot).toContain('n0 [label="p.w\\nf64 []", shape=box];')
    // p.w, x, sin, mul, sum, mul, and the result.
    expect(dot.match(/\[label=/g)).toHaveLength(7)
    expect(dot.match(/ -> /g)).toHaveLength(7)
    const mermaid = (await codual('show', `${small}#energy`, '--size', 'n=4', '--mermaid')).out
    expect(mermaid).toMatch(/^flowchart TD\n {2}n0\["p\.w<br\/>f64 \[\]"\]\n/)
    expect(mermaid.match(/ --> /g)).toHaveLength(7)
  })
  it('write graphs of what only a file has: its primitives, and derivatives by its rules', async () => {
    const kernel = (await codual('show', `${fixture('rules.ts')}#fromBehind`, '--derivative', '--mermaid')).out
    expect(kernel.match(/turnedRound/g)).toHaveLength(2)
    const volume = (await codual('show', `${small}#volume`, '--size', 'n=2', '--derivative', '--dot')).out
    expect(volume).toMatch(/^digraph "derivative of volume" /)
    expect(volume).toContain('label="mul\\nf64 [2]"')
  })
})

describe('codual bench', () => {
  it('saves a baseline, and fails where it is 10 % slower', async () => {
    const file = join(folder, 'baseline.json')
    const of = `${small}#energy`
    const saved = await codual('bench', of, '--save', file)
    expect(saved.code).toBe(0)
    expect(saved.out).toMatch(/^energy +call +first call +peak memory\nvalue +[\d.]+ us .*\ngradient +[\d.]+ us/)
    const key = 'test/command/fixtures/small.ts#energy'
    const written = JSON.parse(readFileSync(file, 'utf8')) as Record<string, { value: { call: number }; gradient: { call: number } }>
    expect(Object.keys(written)).toEqual([key])
    // Times that no machine reaches, and times that each does.
    const scaled = (by: number) => {
      const b = written[key]!
      writeFileSync(
        file,
        JSON.stringify({
          [key]: { ...b, value: { ...b.value, call: b.value.call * by }, gradient: { ...b.gradient, call: b.gradient.call * by } },
        }),
      )
    }
    scaled(1000)
    const fine = await codual('bench', of, '--baseline', file)
    expect([fine.code, fine.err]).toEqual([0, ''])
    expect(fine.out).toContain('of the baseline')
    scaled(1e-6)
    const slow = await codual('bench', of, '--baseline', file)
    expect(slow.code).toBe(1)
    expect(slow.err).toBe('slower than the baseline by more than 10 %: value, gradient\n')
  })
})

describe('codual new', () => {
  it('refuses a folder with something in it, and a file', async () => {
    const full = join(folder, 'full')
    mkdirSync(full)
    writeFileSync(join(full, 'a.txt'), '')
    expect(await codual('new', full)).toMatchObject({ code: 2, err: expect.stringMatching(/is not empty\./) })
    expect(await codual('new', join(full, 'a.txt'))).toMatchObject({ code: 2, err: expect.stringMatching(/is a file\./) })
  })
  it('writes a project whose name npm takes', async () => {
    const { code, out } = await codual('new', join(folder, 'My Springs'))
    expect(code).toBe(0)
    expect(out).toMatch(/My Springs is ready\. Next:\n/)
    expect(JSON.parse(readFileSync(join(folder, 'My Springs/package.json'), 'utf8'))).toMatchObject({
      name: 'my-springs',
      dependencies: { codual: `^${version}` },
    })
    for (const file of ['tsconfig.json', '.gitignore', 'README.md', 'src/energy.ts', 'test/energy.test.ts'])
      expect([file, existsSync(join(folder, 'My Springs', file))]).toEqual([file, true])
  })
})
