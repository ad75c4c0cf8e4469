// The package: `dist` has a module for each of src, for bundlers, which leave out what nobody names; `dist/node` has the same in few files, which load faster.
// Declarations are the compiler's (tsconfig.build.json). ES modules alone: Node has `require` of them.
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { defineConfig, type Options } from 'tsup'
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
const conditional = (code: string): string => code.replaceAll(/from"[^"]*\/(hints|verify|samples)\.js"/g, 'from"#$1"')

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
          code: withOps(source, withPacks(source, conditional(shakeable(path, withPrimitives(source, change(source, code), exported))))),
        }
      },
    },
  ],
})

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
    entry: {
      index: 'src/index.ts',
      'backends/blas/index': 'src/backends/blas/index.ts',
      'check/index': 'src/check/index.ts',
      'check/property': 'src/check/property.ts',
      'nn/index': 'src/nn/index.ts',
      'optim/index': 'src/optim/index.ts',
      'random/index': 'src/random/index.ts',
      'instance/reference': 'src/instance/reference.ts',
      'solve/index': 'src/solve/index.ts',
      'train/index': 'src/train/index.ts',
      'train/node': 'src/train/node.ts',
      webgpu: 'src/backends/webgpu/index.ts',
    },
    outDir: 'dist/node',
    esbuildPlugins: [
      {
        name: 'of Node',
        setup: ({ onResolve }) => {
          onResolve({ filter: /\/io-ts\.js$/ }, () => ({ path: resolve('src/node/io-ts.ts') }))
          onResolve({ filter: /\/backends\/webgpu\/index\.js$/ }, () => ({ path: resolve('src/node/webgpu.ts') }))
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
])
