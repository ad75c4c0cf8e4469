// What is watched: sources beside the file and below it, and nothing else; each change once.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { watching } from '../../command/watch.js'

const until = async (done: () => boolean): Promise<void> => {
  const end = Date.now() + 20_000
  while (!done() && Date.now() < end) await new Promise((next) => setTimeout(next, 20))
}

it('runs again when a source changes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'codual-watch-'))
  mkdirSync(join(folder, 'node_modules'))
  mkdirSync(join(folder, 'below'))
  const file = join(folder, 'a.ts')
  writeFileSync(file, '')
  let runs = 0
  const said: string[] = []
  const start = () => {
    runs++
    return spawn(process.execPath, ['-e', 'process.exitCode = 1'])
  }
  const close = watching(file, start, (text) => said.push(text))
  try {
    await until(() => said.length === 1)
    expect([runs, said]).toEqual([1, ['exit code 1; waiting for changes, ctrl-c leaves']])
    writeFileSync(file, '1')
    writeFileSync(file, '2')
    await until(() => said.length === 2)
    expect(runs).toBe(2)
    writeFileSync(join(folder, 'below', 'b.ts'), '')
    await until(() => said.length === 3)
    expect(runs).toBe(3)
    for (const other of ['notes.txt', 'node_modules/c.ts', '.a.codual-1.mjs']) writeFileSync(join(folder, other), '')
    await new Promise((next) => setTimeout(next, 600))
    expect(runs).toBe(3)
  } finally {
    close()
    rmSync(folder, { recursive: true, force: true })
  }
})
