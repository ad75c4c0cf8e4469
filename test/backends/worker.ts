/** Workers of Node that serve programs, from the sources. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../../', import.meta.url))
let folder: string | undefined
let files = 0

/** A worker's file as a module, bundled with the library; 'codual' and 'codual/worker' are the sources. */
export const bundled = async (file: string): Promise<string> => {
  const { outputFiles } = await build({
    stdin: { contents: file, resolveDir: root, loader: 'ts' },
    alias: {
      'codual/threads': './src/backends/threads/index.ts',
      'codual/optim': './src/optim/index.ts',
      'codual/worker': './src/backends/worker/index.ts',
      codual: './src/index.ts',
    },
    bundle: true,
    format: 'esm',
    target: 'es2022',
    write: false,
    outdir: 'out',
    external: ['koffi', 'webgpu', 'node:*'],
  })
  return outputFiles[0]!.text
}
/** What starts a worker of this file, and the workers that were started. */
export const startingFile = async (file: string): Promise<{ readonly start: () => Worker; readonly workers: Worker[] }> => {
  folder ??= mkdtempSync(join(tmpdir(), 'codual-worker-'))
  const path = join(folder, `${++files}.mjs`)
  const { writeFile } = await import('node:fs/promises')
  await writeFile(path, await bundled(file))
  const workers: Worker[] = []
  const start = (): Worker => {
    const worker = new Worker(pathToFileURL(path), { execArgv: [] })
    worker.on('error', () => undefined)
    workers.push(worker)
    return worker
  }
  return { start, workers }
}
