/** The worker that runs programs, with the whole library in it, as one classic script. */
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url))

/** The script. Its name is a directory of its own, so that the library tells its frames from a program's in a stack. */
export const runnerScript = async (): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [path('../run/worker.ts')],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    minify: true,
    legalComments: 'none',
    charset: 'utf8',
    logLevel: 'error',
  })
  return `${outputFiles[0]!.text}\n//# sourceURL=https://codual.invalid/library/codual.js`
}
