/** Serves a folder as hosts of static files do: compressed, with an age for what has a hash in its name. */
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'
import { gzipSync } from 'node:zlib'

const kinds: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.woff2': 'font/woff2',
}

/** A server of a folder below a path such as `/codual/`, and its address without the slash at the end. */
export const serve = (folder: string, base = '/'): Promise<{ readonly server: Server; readonly address: string }> =>
  new Promise((started) => {
    const sent = new Map<string, Buffer>()
    const server = createServer((request, response) => {
      const path = decodeURIComponent((request.url ?? '/').replace(/[?#].*/, '')).replace(/\/$/, '/index.html')
      try {
        const file = normalize(path.slice(base.length - 1))
        if (!path.startsWith(base)) throw new Error('not below the base')
        const body = sent.get(file) ?? gzipSync(readFileSync(join(folder, file)))
        sent.set(file, body)
        response.writeHead(200, {
          'content-type': kinds[extname(file)] ?? 'application/octet-stream',
          'content-encoding': 'gzip',
          'content-length': body.length,
          'cache-control': file.startsWith('/assets/') || file.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
        })
        response.end(body)
      } catch {
        response.writeHead(404).end()
      }
    })
    server.listen(0, '127.0.0.1', () =>
      started({ server, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}${base.slice(0, -1)}` }),
    )
  })
