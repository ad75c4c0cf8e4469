/** A process that goes on making functions stays as large as it is: scripts/check-memory.ts at a size for tests, in a process of its own. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..', '..')

describe('2,000 functions, with 4 MiB for what is cached', () => {
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
        '2000',
        '--cache',
        '4',
        '--growth',
        '30',
        ...flags,
      ]
      const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
      expect(stdout.match(/^ok .*2000 functions/gm), `${stdout}${stderr}`).toHaveLength(4)
      expect(status, `${stdout}${stderr}`).toBe(0)
    }, 300_000)
})
