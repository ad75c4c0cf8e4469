// The package: `dist` has a module for each of src, for bundlers, which leave out what nobody names; `dist/node` has the same in few files, which load faster.
// Declarations are the compiler's (tsconfig.build.json). ES modules alone: Node has `require` of them.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { defineConfig, type Options } from 'tsup'
import { withoutArrows } from './scripts/functions.js'
import { shakeable, withOps, withoutSamples, withPacks, withPrimitives } from './scripts/shakeable.js'

const modules = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((f) => f.endsWith('.ts'))
  .map((f) => join('src', f))

/** Which exports of modules of operations are primitives. */
const exported = JSON.parse(execFileSync(process.execPath, ['--import', 'tsx', 'scripts/primitives.ts'], { encoding: 'utf8' })) as Record<
  string,
  readonly string[]
>
/** Modules that package.json chooses by condition: a bundle for users has others in their place. */
const CONDITIONAL: Readonly<Record<string, string>> = {
  'src/core/errors/hints.js': '#hints',
  'src/backends/plan/verify.js': '#verify',
  'src/core/graph/samples.js': '#samples',
}
const conditional = (source: string, code: string): string =>
  code.replace(/from"(\.[^"]*)"/g, (whole, path: string) => {
    const name = CONDITIONAL[relative('.', join(dirname(source), path)).replaceAll('\\', '/')]
    return name === undefined ? whole : `from"${name}"`
  })

/** The module in src of one in dist. */
const sourceOf = (path: string): string =>
  join(
    'src',
    path
      .replace(/^.*?dist\//, '')
      .replace(/^core\/sampled\//, 'core/ops/')
      .replace(/\.js$/, '.ts'),
  )
const shared: Options = {
  silent: true,
  format: ['esm'],
  dts: false,
  sourcemap: false,
  splitting: true,
  target: 'es2022',
  platform: 'neutral',
  external: [/^node:/],
}

/** Modules for bundlers, each by itself; `change` says what becomes of its declarations. */
const alone = (name: string, entry: readonly string[], outDir: string, change: (source: string, code: string) => string): Options => ({
  ...shared,
  name,
  entry: [...entry],
  outDir,
  bundle: false,
  esbuildOptions: (o) => {
    o.minifyWhitespace = true
    o.minifySyntax = true
    o.minifyIdentifiers = true
  },
  plugins: [
    {
      name: 'shakeable',
      renderChunk: (code, { path }) => {
        const source = sourceOf(path)
        return {
          code: withOps(
            source,
            withPacks(source, conditional(source, shakeable(path, withPrimitives(source, change(source, code), exported)))),
          ),
        }
      },
    },
  ],
})

/** The licence of a package that the command has in it, which asks to come along. */
const licenceOf = (folder: string): string => {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name: string; version: string }
  const file = readdirSync(folder).find((f) => /^licen[cs]e/i.test(f))
  if (file === undefined) throw new Error(`${folder} has no licence`)
  return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
}

/** What CommonJS in the command requires of Node. */
const REQUIRE = `import { createRequire as codualRequire } from 'node:module'; const require = codualRequire(import.meta.url);`

/** What `dist/node` has a file of its own for. */
const entries: Readonly<Record<string, string>> = {
  index: 'src/index.ts',
  'backends/blas/index': 'src/backends/blas/index.ts',
  'backends/onnxruntime/index': 'src/backends/onnxruntime/index.ts',
  'check/index': 'src/check/index.ts',
  'check/property': 'src/check/property.ts',
  'display/index': 'src/display/index.ts',
  'minimize/index': 'src/minimize/index.ts',
  'mpi/index': 'src/mpi/index.ts',
  'nn/index': 'src/nn/index.ts',
  'onnx/index': 'src/onnx/index.ts',
  'optim/index': 'src/optim/index.ts',
  'prob/index': 'src/prob/index.ts',
  'random/index': 'src/random/index.ts',
  'instance/reference': 'src/instance/reference.ts',
  'solve/index': 'src/solve/index.ts',
  'backends/threads/index': 'src/backends/threads/index.ts',
  'train/index': 'src/train/index.ts',
  'train/node': 'src/train/node.ts',
  webgpu: 'src/backends/webgpu/index.ts',
  'backends/worker/index': 'src/backends/worker/index.ts',
  'backends/worker/thread': 'src/backends/worker/thread.ts',
}

export default defineConfig([
  alone('modules', modules, 'dist', withoutSamples),
  alone(
    'operations with samples',
    modules.filter((m) => m.startsWith(join('src', 'core', 'ops'))),
    'dist/core/sampled',
    (_source, code) => code,
  ),
  {
    ...shared,
    name: 'node',
    entry: entries,
    outDir: 'dist/node',
    plugins: [{ name: 'without arrow functions', renderChunk: (code, { path }) => ({ code: withoutArrows(path, code) }) }],
    esbuildPlugins: [
      {
        name: 'of Node',
        setup: ({ onResolve }) => {
          onResolve({ filter: /\/io-ts\.js$/ }, () => ({ path: resolve('src/node/io-ts.ts') }))
          onResolve({ filter: /\/backends\/webgpu\/index\.js$/ }, () => ({ path: resolve('src/node/webgpu.ts') }))
          onResolve({ filter: /^\.\/start\.js$/ }, () => ({ path: resolve('src/node/worker.ts') }))
        },
      },
    ],
    esbuildOptions: (o) => {
      o.minifyWhitespace = true
      o.minifySyntax = true
      o.minifyIdentifiers = true
      o.lineLimit = 200 // Node shows the line that threw
    },
  },
  {
    ...shared,
    name: 'command',
    entry: { main: 'command/main.ts' },
    outDir: 'dist/command',
    platform: 'node',
    target: 'node20',
    // What the command is made of comes with it: who installs the library installs nothing more.
    noExternal: [/^(?!node:)/],
    banner: { js: REQUIRE },
    esbuildPlugins: [
      {
        name: 'the library beside the command',
        setup: ({ initialOptions, onResolve, onLoad, onEnd }) => {
          initialOptions.metafile = true
          // Entry points are files of dist/node, shared with whoever imports codual.
          onResolve({ filter: /^\.\.?\/.*src\// }, ({ path, resolveDir }) => {
            const source = relative('.', resolve(resolveDir, path)).replaceAll('\\', '/').replace(/\.js$/, '.ts')
            if (!source.startsWith('src/')) return undefined
            const [name] = Object.entries(entries).find(([, entry]) => entry === source) ?? []
            if (name === undefined) throw new Error(`the command imports ${source}, which is no entry point`)
            return { path: `../node/${name}.js`, external: true }
          })
          // Tables here have no colours of their own.
          onResolve({ filter: /^@colors\/colors/ }, () => ({ path: 'colours', namespace: 'none' }))
          onLoad({ filter: /^/, namespace: 'none' }, () => ({ contents: '' }))
          onEnd(({ metafile }) => {
            const packages = Object.keys(metafile?.inputs ?? {}).flatMap(
              (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
            )
            mkdirSync('dist/command', { recursive: true })
            writeFileSync('dist/command/LICENSES.txt', [...new Set(packages)].sort().map(licenceOf).join('\n'))
          })
        },
      },
    ],
    esbuildOptions: (o) => {
      o.minify = true
      o.lineLimit = 200
      o.legalComments = 'eof'
    },
  },
])
