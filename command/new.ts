/** `codual new DIR`: a small project with a function, a rule, a test and a check, to begin from. */
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fail } from './failure.js'
import { version } from './project.js'

const manifest = (name: string): string =>
  `${JSON.stringify(
    {
      name,
      version: '0.0.0',
      private: true,
      type: 'module',
      scripts: {
        build: 'tsc',
        test: 'node --import tsx --test test/*.test.ts',
        check: 'codual check src/energy.ts',
        bench: 'codual bench src/energy.ts#energy --size n=1000',
      },
      dependencies: { codual: `^${version}`, 'fp-ts': '^2.16.0', 'io-ts': '^2.2.0' },
      devDependencies: { '@types/node': '^20.19.0', tsx: '^4.20.0', typescript: '^5.9.0' },
    },
    null,
    2,
  )}\n`

const tsconfig = `${JSON.stringify(
  {
    compilerOptions: {
      target: 'es2022',
      lib: ['es2023', 'dom', 'esnext.disposable'],
      module: 'nodenext',
      types: ['node'],
      strict: true,
      noUncheckedIndexedAccess: true,
      rootDir: 'src',
      outDir: 'dist',
      declaration: true,
    },
    include: ['src'],
  },
  null,
  2,
)}\n`

const energy = `// The energy of a chain of springs, and its forces. \`npm run check\` holds its derivatives against finite differences.
import { definePlugin, f64, fn, grad, mul, perElement, scalarRule, slice, sub, sum, unary } from 'codual'

/** x ** 4: a primitive of this project's own. */
export const fourth = unary({ name: 'fourth', scalar: (x) => x! ** 4, source: 'definition' })

/** Its derivative, 4 x ** 3, and its kernel. */
export const springs = definePlugin({
  name: 'springs',
  ops: { fourth },
  rules: { fourth: scalarRule(fourth, ({ x: [x] }) => [mul(4, mul(x, mul(x, x)))]) },
  kernels: { cpu: { fourth: perElement() } },
})

/** Springs between neighbours at x, of stiffness k. */
export const energy = fn({ x: f64('n'), k: f64() }, ({ x, k }) => {
  const stretch = sub(slice(x, [1]), slice(x, [0], [-1]))
  return mul(mul(0.5, k), sum(mul(stretch, stretch)))
})

/** The gradient by x and k. */
export const forces = grad(energy)

/** How \`codual check\` draws arguments: chains of two to five masses. */
export const checks = {
  energy: { sizes: { n: [2, 5] } },
  forces: { sizes: { n: [2, 5] } },
}
`

const test = `import assert from 'node:assert/strict'
import test from 'node:test'
import { energy, forces } from '../src/energy.js'

test('two springs', () => {
  const at = { x: [0, 1, 3], k: 2 }
  assert.equal(energy(at).item(), 5)
  assert.deepEqual(forces(at).x.toArray(), [-2, -2, 4])
})
`

const readme = (name: string): string => `# ${name}

- \`npm test\` runs the test, \`npm run build\` compiles.
- \`npm run check\` holds every derivative of src/energy.ts against finite differences.
- \`npm run bench\` times the energy and its gradient.
- \`npx codual repl src/energy.ts\` opens a prompt with the exports of the file.
`

/** Writes the project; gives the folder. */
export const newProject = (given: string): string => {
  const folder = resolve(given)
  if (existsSync(folder)) {
    if (!statSync(folder).isDirectory()) fail(`${given} is a file.`, 'name a folder that does not exist yet.')
    if (readdirSync(folder).length > 0) fail(`the folder ${given} is not empty.`, 'name one that does not exist yet.')
  }
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '')
  const files = {
    'package.json': manifest(name === '' ? 'project' : name),
    'tsconfig.json': tsconfig,
    '.gitignore': 'node_modules\ndist\n',
    'README.md': readme(name),
    'src/energy.ts': energy,
    'test/energy.test.ts': test,
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}
