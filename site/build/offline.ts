/** The service worker: keeps every file of the build, so that the page opens without a network after one visit. */
import { createHash } from 'node:crypto'
import type { Plugin } from 'vite'

const script = (name: string, files: readonly string[]): string => `const name = ${JSON.stringify(name)}
const files = ${JSON.stringify(files)}
const fresh = (file) => new Request(file, { cache: 'no-cache' })
addEventListener('install', (e) => e.waitUntil(caches.open(name).then((c) => c.addAll(files.map(fresh))).then(() => skipWaiting())))
addEventListener('activate', (e) =>
  e.waitUntil(
    caches.keys()
      .then((all) => Promise.all(all.filter((k) => k.startsWith('codual-') && k !== name).map((k) => caches.delete(k))))
      .then(() => clients.claim()),
  ),
)
addEventListener('fetch', (e) => {
  if (e.request.method !== 'GET') return
  e.respondWith(caches.open(name).then((c) => c.match(e.request, { ignoreSearch: true, ignoreVary: true })).then((kept) => kept ?? fetch(e.request)))
})
`

/** Writes \`service.js\` beside the page. Its cache is named by what the files hold: a new build replaces an old one whole. */
export const offline = (): Plugin => ({
  name: 'offline',
  apply: 'build',
  enforce: 'post',
  generateBundle(_, bundle) {
    const hash = createHash('sha256')
    const files = Object.values(bundle).map((f) => {
      hash.update(f.fileName).update(f.type === 'chunk' ? f.code : f.source)
      return f.fileName
    })
    const kept = ['./', ...files.filter((f) => f !== 'index.html')]
    this.emitFile({ type: 'asset', fileName: 'service.js', source: script(`codual-${hash.digest('hex').slice(0, 16)}`, kept) })
  },
})
