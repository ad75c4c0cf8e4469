// docs/command.md: every command on it is run, and prints what stands there. Times are only held to be times.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../../command/project.js'
import { codual } from './run.js'

const page = readFileSync(join(root, 'docs/command.md'), 'utf8')
const [, file = ''] = /```typescript\n([\s\S]*?)```/.exec(page) ?? []
const blocks = [...page.matchAll(/```console\n([\s\S]*?)```/g)].map(([, text]) => text!)
/** Each command of the page, and what it prints. */
const commands = blocks
  .flatMap((block) => block.split(/^\$ /m).slice(1))
  .map((text) => [text.slice(0, text.indexOf('\n')).replace(/^codual ?/, ''), text.slice(text.indexOf('\n') + 1)] as const)
const plain = commands.filter(([line]) => !line.startsWith('repl'))
const sessions = commands.filter(([line]) => line.startsWith('repl'))

/** Times in place of what they were, and what is aligned by them. */
const timeless = (text: string): string =>
  text
    .replaceAll(/time="[\d.]+"/g, 'time="T"')
    .replaceAll(/ +[\d.]+ (?:us|ms|s)\b/g, ' T')
    .replaceAll(/ +\d+\.\d\d$/gm, ' T')
    .replaceAll(/^(entropy +)call +first call +/gm, '$1call first call ')

/** Below the repository, so that `codual` is found. */
const folder = join(root, 'out', `page-${process.pid}`)
const before = process.cwd()
beforeAll(() => {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'energy.ts'), file.replace("from 'codual'", "from '../../src/index.js'"))
  process.chdir(folder)
})
afterAll(() => {
  process.chdir(before)
  rmSync(folder, { recursive: true, force: true })
})

describe('docs/command.md', () => {
  it('has every command', () => {
    expect([...new Set(commands.map(([line]) => line.split(' ')[0]))].sort()).toEqual(['bench', 'check', 'explain', 'new', 'repl', 'show'])
  })
  it.each(plain)('codual %s', async (line, printed) => {
    const { out, err, code } = await codual(...line.split(' '))
    expect(timeless(out)).toBe(timeless(printed))
    expect(err).toBe(
      !line.startsWith('check') ? '' : line.includes('--only') ? '1/2 entropy\n2/2 energy\n' : '1/3 entropy\n2/3 energy\n3/3 cubeRule\n',
    )
    expect(code).toBe(printed.includes('1 wrong') ? 1 : 0)
  })
  it.each(sessions)('codual %s', (line, printed) => {
    const typed = [...printed.matchAll(/^codual> (.*)$/gm)].map(([, text]) => `${text}\n`)
    const { stdout, stderr, status } = spawnSync(process.execPath, ['--import', 'tsx', join(root, 'command/main.ts'), ...line.split(' ')], {
      input: typed.join(''),
      encoding: 'utf8',
      env: { ...process.env, NO_COLOR: '1', NODE_REPL_HISTORY: '' },
    })
    const told = stdout.slice(stdout.indexOf('codual> ')).replace(/codual> $/, '')
    expect(told).toBe(printed.replaceAll(/^codual> .*\n/gm, 'codual> '))
    expect(stderr).toBe('')
    expect(status).toBe(0)
  })
})
