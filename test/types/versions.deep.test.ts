// What users' compilers make of the declarations: TypeScript 5.9, 6.0 and 7, with the strictest options; and what an import costs.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { sample, whole } from '../depth.js'
import { after, ONE_OF_EACH, programOf, SETTINGS } from './parameters/program.js'

/** With CODUAL_TYPES=all everything goes on with the result of each call; else these three. */
const GOES_ON = process.env.CODUAL_TYPES === 'all' ? after : ['cd.add(y, y)', 'cd.reshape(y, [-1])', 'plain(y)']
/** A compiler takes half a minute of a core, and a busy machine gives it a part of one. */
const LIMIT = 600_000
const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
// Inside node_modules, so that the packages that the declarations import are found.
const work = join(root, 'node_modules', '.cache', 'codual-types')
const compilers = { '5.9': 'typescript-5', '6.0': 'typescript', '7.0': 'typescript-7' } as const
const tsc = (compiler: string): string => join(root, 'node_modules', compiler, 'bin', 'tsc')

interface Config {
  readonly include: readonly string[]
  readonly exclude?: readonly string[]
  readonly skipLibCheck?: boolean
}
const write = (name: string, { include, exclude = [], skipLibCheck = true }: Config): string => {
  const path = join(work, `tsconfig.${name}.json`)
  const compilerOptions = {
    target: 'ES2022',
    lib: ['ES2023', 'DOM', 'DOM.Iterable', 'ESNext.Disposable'],
    module: 'ESNext',
    moduleResolution: 'Bundler',
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    types: [],
    skipLibCheck,
  }
  writeFileSync(path, JSON.stringify({ compilerOptions, include, exclude }))
  return path
}

beforeAll(() => {
  rmSync(work, { recursive: true, force: true })
  mkdirSync(join(work, 'bare'), { recursive: true })
  const emit = [
    '--declaration',
    '--emitDeclarationOnly',
    '--noEmit',
    'false',
    // What is wrong in src `npm run check:types` says; here it would take twice as long as the declarations.
    '--noCheck',
    '--outDir',
    join(work, 'src'),
    '--rootDir',
    join(root, 'src'),
  ]
  execFileSync(process.execPath, [tsc('typescript'), '-p', join(root, 'tsconfig.src.json'), ...emit])
  for (const part of [
    ['test', 'types', 'fixtures'],
    ['test', 'programs'],
  ])
    cpSync(join(root, ...part), join(work, ...part), { recursive: true, filter: (path) => !path.endsWith('.test.ts') })
  writeFileSync(
    join(work, 'test', 'types', 'fixtures', 'parameters.ts'),
    programOf('../../../src/index.js', SETTINGS, ONE_OF_EACH, GOES_ON),
  )
  writeFileSync(join(work, 'bare', 'import.ts'), "import { f64 } from '../src/index.js'\nexport const x = f64(2)\n")
}, LIMIT)

/** The oldest and the newest in depth. With the one of this repository `npm run check:types` compiles the same files against src, and `npm run test:package` programs against declarations. */
const tried = sample(Object.entries(compilers), 2)
describe('the fixtures and the programs of test/programs, against declarations alone', () => {
  for (const [version, compiler] of tried)
    it(`compile with TypeScript ${version}, and each @ts-expect-error is needed`, { timeout: LIMIT }, () => {
      const run = spawnSync(process.execPath, [tsc(compiler), '--version'], { encoding: 'utf8' })
      expect(run.stdout).toContain(`Version ${version}.`)
      // The program with a call of each function takes the oldest two fifths of its time: in depth the newest has it alone.
      const exclude = whole || version === '7.0' ? [] : ['test/types/fixtures/parameters.ts']
      const { stdout } = spawnSync(process.execPath, [tsc(compiler), '-p', write('fixtures', { include: ['test'], exclude })], {
        encoding: 'utf8',
      })
      expect(stdout).toBe('')
    })
})

describe('an import and nothing else', () => {
  const instantiations = (include: string, skipLibCheck: boolean): number => {
    const args = [tsc('typescript'), '-p', write('bare', { include: [include], skipLibCheck }), '--extendedDiagnostics']
    const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    return Number(/Instantiations:\s+(\d+)/.exec(stdout)?.[1])
  }
  it('costs nothing with skipLibCheck', () => {
    expect(instantiations('bare', true)).toBeLessThan(100)
  })
  it('is held to what it costs without: 27,000 of these are the DOM library, 19,000 those of fp-ts and io-ts', () => {
    const all = instantiations('bare', false)
    expect(all).toBeGreaterThan(0)
    expect(all).toBeLessThan(1.02 * bareImport)
  })
})
/**
 * Measured with TypeScript 6.0.3; version 0.1.0 took 153,000. Linear algebra, special functions, transforms, arrays, layers and their options are 22,000 of these; the dtypes
 * that functions of several operands give for integers, booleans and mixed ones 17,000; what sizes that are type parameters become 10,300, types of signatures that take any knowledge of sizes 13,600, and
 * results that say the sizes they have 40,000.
 */
const bareImport = 219_396
