/** The proof of the proof: every fault of a list, put into the planner, is found by the verifier or by numbers. `MUTANTS=5000 vitest run test/plan/mutants.test.ts` tries more programs on those that live longest. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BuildContext, context } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { edited, pathOf, root } from '../mutants/edit.js'
import { isLooping, type Mutant, mutants } from './mutants/list.js'

const folder = mkdtempSync(join(tmpdir(), 'codual-mutants-'))
const programs = Number(process.env.MUTANTS ?? 2000)

/** The file with the fault that is bundled now; the others are parsed once for all. */
let faulty: { readonly path: string; readonly text: string } | undefined
let bundler: BuildContext
beforeAll(async () => {
  bundler = await context({
    entryPoints: [join(root, 'test/plan/mutants/subject.ts')],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    logLevel: 'silent',
    plugins: [
      {
        name: 'mutant',
        setup: (b) => {
          b.onLoad({ filter: /\.ts$/ }, (file) => (file.path === faulty?.path ? { contents: faulty.text, loader: 'ts' } : undefined))
        },
      },
    ],
  })
})
afterAll(async () => {
  await bundler.dispose()
  rmSync(folder, { recursive: true, force: true })
})

let turn: Promise<unknown> = Promise.resolve()
/** The programs over a planner with a fault, as one file. One is bundled at a time. */
const bundled = (name: string, m?: Mutant): Promise<string> => {
  const made = turn.then(async () => {
    faulty = m && { path: pathOf(m), text: edited(m) }
    const { outputFiles } = await bundler.rebuild()
    const file = join(folder, `${name}.cjs`)
    writeFileSync(file, outputFiles![0]!.text)
    return file
  })
  turn = made.catch(() => undefined)
  return made
}
/** What a run says at its end; one that does not end was killed too. */
const run = (file: string, count: number, seconds: number, first = ''): Promise<string> =>
  new Promise((done) => {
    const child = spawn(process.execPath, [file, String(count), first], { stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    let errors = ''
    child.stdout.on('data', (x: Buffer) => (out += x.toString()))
    child.stderr.on('data', (x: Buffer) => (errors += x.toString()))
    const timer = setTimeout(() => child.kill('SIGKILL'), seconds * 1000)
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      const last = out.trim().split('\n').pop()!
      done(
        signal !== null
          ? 'killed: it does not end'
          : code === 0 || code === 3
            ? last
            : `killed: ${errors.trim().split('\n').slice(-8).join(' ')}`,
      )
    })
  })

describe('faults in the planner', () => {
  it('are many', () => expect(new Set(mutants.map((m) => m.name)).size).toBe(mutants.length))
  it('are none in the planner as it is', { timeout: 600_000 }, async () => {
    expect(await run(await bundled('whole'), 60, 590)).toBe('survived')
  })
  it.concurrent.each(mutants.map((m, i) => [m.name, m, i] as const))('%s', { timeout: 1_200_000 }, async (_name, m, i) => {
    const said = await run(await bundled(`m${i}`, m), programs, 1_100, isLooping(m) ? 'loops' : '')
    expect(said).toMatch(/^killed/)
  })
})
