// The package build: ESM, CommonJS and both kinds of declarations for every entry point.
import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    'check/index': 'src/check/index.ts',
    'check/property': 'src/check/property.ts',
    'optim/index': 'src/optim/index.ts',
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
})
