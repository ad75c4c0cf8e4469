// The playground's build: declarations, the runner and the examples become modules, the policy a meta tag, and the list of files the service worker's.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'
import { declarations } from './build/declarations.js'
import { offline } from './build/offline.js'
import { runnerScript } from './build/runner.js'

/** Scripts of this site and of blobs (a program is one), WebAssembly, and no connection to anywhere. */
export const policy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval' blob:",
  "worker-src 'self' data:",
  "style-src 'self'",
  "img-src 'self' data:",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

const examplesFolder = fileURLToPath(new URL('examples/', import.meta.url))
/** The examples by name, in the order of the gallery: the number before the name. */
const examples = (): readonly { readonly name: string; readonly text: string }[] =>
  readdirSync(examplesFolder)
    .filter((f) => f.endsWith('.ts'))
    .sort()
    .map((f) => ({ name: f.replace(/\.ts$/, ''), text: readFileSync(`${examplesFolder}${f}`, 'utf8') }))

/** Modules whose one export is data that the build makes. */
const data = (): Plugin => {
  const makers: Readonly<Record<string, () => unknown>> = {
    'virtual:declarations': declarations,
    'virtual:runner': runnerScript,
    'virtual:examples': examples,
  }
  return {
    name: 'data',
    resolveId: (id) => (id in makers ? `\0${id}` : undefined),
    load: async (id) => {
      const make = id.startsWith('\0') ? makers[id.slice(1)] : undefined
      return make === undefined ? undefined : `export default JSON.parse(${JSON.stringify(JSON.stringify(await make()))})`
    },
  }
}
/** The first example stands in the page itself: it is seen before the editor, which takes its place, is loaded. */
const withFirstProgram = (): Plugin => ({
  name: 'first program',
  transformIndexHtml: (page) => {
    const text = examples()[0]!.text.trimEnd().replaceAll('&', '&amp;').replaceAll('<', '&lt;')
    return page.replace('<div id="editor"></div>', () => `<div id="editor"><pre id="first">${text}</pre></div>`)
  },
})
const withPolicy = (): Plugin => ({
  name: 'policy',
  apply: 'build',
  transformIndexHtml: () => [
    { tag: 'meta', attrs: { 'http-equiv': 'Content-Security-Policy', content: policy }, injectTo: 'head-prepend' },
  ],
})

export default defineConfig(({ command }) => ({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  define: { 'import.meta.env.BUILT': String(command === 'build') },
  plugins: [data(), withFirstProgram(), withPolicy(), offline()],
  // Found by a worker, it would be prepared late, and the page loaded a second time.
  optimizeDeps: { include: ['typescript'] },
  worker: { format: 'es', plugins: () => [data()] },
  build: {
    outDir: fileURLToPath(new URL('../out/site/page/playground', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 8000,
  },
}))
