// The page's build: the network is trained and written, and the unseen digits are packed; nothing of codual is in the page.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import { asset } from '../browser/asset.js'
import { packDigits } from '../browser/pack.js'
import { trained } from './model.js'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  plugins: [asset('digits', 'digits.bin', () => packDigits(0)), asset('model', 'model.onnx', async () => (await trained()).bytes)],
  optimizeDeps: { exclude: ['onnxruntime-web'] },
  build: { outDir: 'dist', emptyOutDir: true, target: 'es2022' },
})
