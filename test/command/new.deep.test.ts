// What `codual new` writes passes its own test and its check. scripts/package-command.ts compiles it too, with what is packed.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../../command/project.js'
import { codual } from './run.js'

/** Below the repository, where its compiler and its loader are found; `codual` is its sources. */
const project = join(root, 'out', `new-${process.pid}`)
const node = (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8', env: { ...process.env, ...env } })
  return { status, stdout, stderr }
}

describe('codual new', () => {
  beforeAll(async () => {
    expect(await codual('new', project)).toMatchObject({ code: 0, err: '' })
  })
  afterAll(() => rmSync(project, { recursive: true, force: true }))

  it('passes its own test', () => {
    const loader = pathToFileURL(join(root, 'node_modules/tsx/dist/loader.mjs')).href
    const { status, stdout } = node(['--import', loader, '--test', 'test/energy.test.ts'], {
      TSX_TSCONFIG_PATH: join(root, 'tsconfig.json'),
    })
    expect(stdout).toMatch(/# pass 1\n/)
    expect(status).toBe(0)
  })
  it('is checked', () => {
    const { status, stdout, stderr } = node(
      [
        '--import',
        pathToFileURL(join(root, 'node_modules/tsx/dist/loader.mjs')).href,
        join(root, 'command/main.ts'),
        'check',
        'src/energy.ts',
      ],
      {
        TSX_TSCONFIG_PATH: join(root, 'tsconfig.json'),
      },
    )
    expect(stdout).toMatch(/3 right, 0 wrong, 1 not checked \(seed 1\)\n$/)
    expect(stderr).toBe('1/3 springs\n2/3 energy\n3/3 forces\n')
    expect(status).toBe(0)
  })
})
