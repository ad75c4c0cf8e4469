// The page's build: `codual` is the source tree, and the digits become one asset.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import { asset } from './asset.js'
import { packDigits } from './pack.js'

const source = (path: string): string => fileURLToPath(new URL(`../../src/${path}`, import.meta.url))

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  plugins: [asset('digits', 'digits.bin', () => packDigits())],
  resolve: {
    alias: [
      { find: /^codual$/, replacement: source('index.ts') },
      { find: /^codual\/worker$/, replacement: source('backends/worker/index.ts') },
    ],
  },
  worker: { format: 'es' },
  build: { outDir: 'dist', emptyOutDir: true, target: 'es2022' },
})
