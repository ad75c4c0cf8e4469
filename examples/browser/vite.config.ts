// The page's build: `codual` is the source tree, and the digits become one asset.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import { asset } from './asset.js'
import { packDigits } from './pack.js'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  plugins: [asset('digits', 'digits.bin', () => packDigits())],
  resolve: { alias: { codual: fileURLToPath(new URL('../../src/index.ts', import.meta.url)) } },
  build: { outDir: 'dist', emptyOutDir: true, target: 'es2022' },
})
