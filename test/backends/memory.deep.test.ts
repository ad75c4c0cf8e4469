/** A process that goes on making functions stays as large as it is: scripts/check-memory.ts at a size for tests, in a process of its own. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { count } from '../depth.js'

const root = join(import.meta.dirname, '..', '..')

const functions = count(1000, 1000, 2000)
/**
 * MiB: what each leaves behind, 15 kB at most, and 10 that the heap of a process that did other things before takes for a while (12,000 plain calls, alone, end smaller than they began).
 * What is kept without bound takes 35 for 1,000 functions, 75 for 2,000.
 */
const growth = 10 + (15 * functions) / 1000

describe('many functions, with 4 MiB for what is cached', () => {
  for (const [name, flags] of [
    ['SIMD', []],
    ['plain JavaScript', ['--plain']],
  ] as const)
    it(`compiled and disposed, compiled and forgotten, called, or of ever other shapes: memory stays (${name})`, () => {
      const args = [
        '--expose-gc',
        '--import',
        'tsx',
        'scripts/check-memory.ts',
        '--functions',
        String(functions),
        '--cache',
        '4',
        '--growth',
        String(growth),
        ...flags,
      ]
      const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
      expect(stdout.match(new RegExp(`^ok .*${functions} functions`, 'gm')), `${stdout}${stderr}`).toHaveLength(4)
      expect(status, `${stdout}${stderr}`).toBe(0)
    }, 300_000)
})
