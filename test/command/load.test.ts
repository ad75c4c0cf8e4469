// A file of TypeScript as one module beside it: the module is gone before the file runs, so nothing stays where a file never ends and is killed; and what it throws names its own lines.
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../../command/project.js'

/** What a process prints that loads a file with this text, how it ends if it is killed when it prints `running`, and which files are there then. */
const loaded = async (text: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'codual load-'))
  const file = join(folder, 'a.ts')
  writeFileSync(file, text)
  const program = `const { bundled } = await import('./command/load.ts')
    const { esbuildIn } = await import('./command/project.ts')
    await bundled(${JSON.stringify(file)}, await esbuildIn(process.cwd())).then((all) => console.log(JSON.stringify(all)), (e) => console.log(e.stack))`
  try {
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], { cwd: root })
    let [printed, told] = ['', '']
    child.stderr.on('data', (data) => {
      told += String(data)
    })
    child.stdout.on('data', (data) => {
      printed += String(data)
      if (printed.includes('running')) child.kill('SIGTERM')
    })
    const signal = await new Promise((done) => child.once('close', (_code, by) => done(by)))
    return { printed, told, signal, files: readdirSync(folder) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

it('leaves no file where it is killed while it loads', async () => {
  const endless = "import { writeSync } from 'node:fs'\nwriteSync(1, 'running')\nfor (let i: number = 0; ; i++) Math.sqrt(i)\n"
  expect(await loaded(endless)).toEqual({ printed: 'running', told: '', signal: 'SIGTERM', files: ['a.ts'] })
}, 60_000)
it('gives what the file exports, and the lines of what it throws', async () => {
  expect(await loaded('export const one: number = 1\n')).toEqual({ printed: '{"one":1}\n', told: '', signal: null, files: ['a.ts'] })
  const { printed, files } = await loaded("type A = number\nconst f = (x: A): A => {\n  throw new Error('no ' + x)\n}\nf(3)\n")
  expect(printed).toMatch(/^Error: no 3\n(?:.*\n)*? +at .*a\.ts:3:9/)
  expect(files).toEqual(['a.ts'])
}, 60_000)
