/**
 * The library as plain modules of Node's, for the tests: built once for a run, so that no process transforms it again, and calls between modules are calls of the engine's own. What the runner
 * transforms reads each imported name from an object, and runs more slowly for it. Source maps lead from a stack back to src.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import type { Plugin } from 'vitest/config'

const options = { format: 'esm', platform: 'node', target: 'node20', sourcemap: 'linked', logLevel: 'error' } as const

/** Builds src into a folder of this process, and resolves what is imported of src to it. */
export const native = (root: string): Plugin => {
  mkdirSync(join(root, 'out'), { recursive: true })
  const folder = mkdtempSync(join(root, 'out', 'native-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((f) => f.endsWith('.ts') && !f.endsWith('.d.ts'))
    .map((f) => join(root, 'src', f))
  buildSync({ ...options, entryPoints: sources, outdir: join(folder, 'src'), outbase: join(root, 'src') })
  const built = new Map(sources.map((f) => [f, join(folder, `${f.slice(root.length + 1, -'.ts'.length)}.js`)]))
  return {
    name: 'native',
    enforce: 'pre',
    config: () => ({ test: { server: { deps: { external: [/\/out\/native-[^/]*\/src\//] } } } }),
    resolveId: (id, importer) => {
      const path = id.startsWith('file:') ? fileURLToPath(id) : id
      const whole = path.startsWith('.') ? importer && resolve(dirname(importer), path) : path
      return whole && built.get(whole.replace(/\.js$/, '.ts'))
    },
  }
}
