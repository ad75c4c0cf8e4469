// The package build: ESM, CommonJS and both kinds of declarations for every entry point.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, isAbsolute, join } from 'node:path'
import { defineConfig } from 'tsup'

/** Source maps of CommonJS name the bundler's own output by the path of this machine: they name it as it lies beside them. */
const relativeMaps = (): void => {
  for (const name of readdirSync('dist', { recursive: true, encoding: 'utf8' }).filter((f) => f.endsWith('.cjs.map'))) {
    const path = join('dist', name)
    const map = JSON.parse(readFileSync(path, 'utf8')) as { file: string; sources: readonly string[] }
    const near = (source: string): string => (isAbsolute(source) ? basename(source) : source)
    writeFileSync(path, JSON.stringify({ ...map, file: near(map.file), sources: map.sources.map(near) }))
  }
}

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    'check/index': 'src/check/index.ts',
    'check/property': 'src/check/property.ts',
    'optim/index': 'src/optim/index.ts',
    'random/index': 'src/random/index.ts',
    'solve/index': 'src/solve/index.ts',
    'train/index': 'src/train/index.ts',
    'train/node': 'src/train/node.ts',
  },
  format: ['esm', 'cjs'],
  // tsup 8 hands TypeScript a `baseUrl`, which TypeScript 6 reports as deprecated.
  dts: { compilerOptions: { ignoreDeprecations: '6.0' } },
  clean: true,
  splitting: true,
  sourcemap: true,
  target: 'es2022',
  platform: 'neutral',
  external: [/^node:/],
  onSuccess: async () => relativeMaps(),
})
