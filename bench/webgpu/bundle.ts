// The page as one file, for a browser and for Node alike.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'vite'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** The golden values are read from a file: in the bundle they are text. */
const files: Plugin = {
  name: 'golden-values',
  enforce: 'pre',
  resolveId: (id) => (id === 'node:fs' ? '\0golden' : undefined),
  load: (id) =>
    id === '\0golden'
      ? `export const readFileSync = () => ${JSON.stringify(readFileSync(at('../../test/golden/golden.json'), 'utf8'))}`
      : undefined,
}

/** Builds page.ts as an ES module into a folder, and gives its code. */
export const bundle = async (): Promise<string> => {
  const built = await build({
    root: at('.'),
    configFile: false,
    logLevel: 'error',
    plugins: [files],
    build: {
      write: false,
      minify: false,
      target: 'es2022',
      lib: { entry: at('page.ts'), formats: ['es'], fileName: 'page' },
      rollupOptions: { external: ['webgpu', 'koffi'], output: { codeSplitting: false } as never },
    },
  })
  const [first] = Array.isArray(built) ? built : [built]
  if (first === undefined || !('output' in first)) throw new Error('vite built nothing')
  const chunks = first.output.filter((o) => o.type === 'chunk')
  if (chunks.length !== 1) throw new Error(`one file was expected, not ${chunks.map((c) => c.fileName).join(', ')}`)
  return chunks[0]!.code
}
