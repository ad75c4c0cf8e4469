// Which packages the command finds in a project, and that it gives way to the project's own copy of codual.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { importFrom, otherCommand, resolveFrom, root } from '../../command/project.js'

let folder = ''
const write = (path: string, text: string): void => {
  mkdirSync(join(folder, path, '..'), { recursive: true })
  writeFileSync(join(folder, path), text)
}
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'codual-project-')))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('packages of a project', () => {
  it('are found from its folder, as import has them', async () => {
    write(
      'node_modules/both/package.json',
      JSON.stringify({
        name: 'both',
        exports: {
          './package.json': './package.json',
          './api': { import: { types: './t.d.ts', default: './api.mjs' }, require: './api.cjs' },
        },
      }),
    )
    write('node_modules/both/api.mjs', 'export const by = "import"')
    write('node_modules/both/api.cjs', 'exports.by = "require"')
    write('node_modules/common/package.json', JSON.stringify({ name: 'common', main: './main.js' }))
    write('node_modules/common/main.js', 'module.exports = { by: "main" }')
    expect(await importFrom(folder, 'both/api')).toMatchObject({ by: 'import' })
    expect(await importFrom(folder, 'common')).toMatchObject({ by: 'main' })
    expect(await importFrom(folder, 'not-there')).toBeUndefined()
    expect(resolveFrom(folder, 'common')).toBe(join(folder, 'node_modules/common/main.js'))
  })
})

describe('otherCommand', () => {
  it('is that of another copy of codual, where the project has one', () => {
    expect(otherCommand(root)).toBeUndefined()
    write('node_modules/codual/package.json', JSON.stringify({ name: 'codual', version: '9.9.9' }))
    expect(otherCommand(folder)).toBeUndefined()
    write('node_modules/codual/package.json', JSON.stringify({ name: 'codual', version: '9.9.9', bin: { codual: 'cli.js' } }))
    expect(otherCommand(folder)).toBe(join(folder, 'node_modules/codual/cli.js'))
  })
})
