// The page's build: `codual` is the source tree, and the digits become one asset.
import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'
import { packDigits } from './pack.js'

const id = 'virtual:digits'

/** `virtual:digits` is the address of the packed digits: an asset of the build, or a route of the development server. */
const digits = (): Plugin => {
  let building = false
  return {
    name: 'digits',
    configResolved(config) {
      building = config.command === 'build'
    },
    configureServer(server) {
      server.middlewares.use('/digits.bin', (_, answer) => {
        answer.setHeader('Content-Type', 'application/octet-stream')
        answer.end(packDigits())
      })
    },
    resolveId: (source) => (source === id ? `\0${id}` : undefined),
    load(loaded) {
      if (loaded !== `\0${id}`) return undefined
      if (!building) return `export default '/digits.bin'`
      const reference = this.emitFile({ type: 'asset', name: 'digits.bin', source: packDigits() })
      return `export default import.meta.ROLLUP_FILE_URL_${reference}`
    },
  }
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  plugins: [digits()],
  resolve: { alias: { codual: fileURLToPath(new URL('../../src/index.ts', import.meta.url)) } },
  build: { outDir: 'dist', emptyOutDir: true, target: 'es2022' },
})
