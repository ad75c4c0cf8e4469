// What a page loads of `codual/train`: nothing of Node's, and no terminal.
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

const imports = async (entry: string) => {
  const { metafile } = await build({
    entryPoints: [fileURLToPath(new URL(`../../src/${entry}`, import.meta.url))],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    packages: 'external',
    external: ['node:*'],
    write: false,
    metafile: true,
    outdir: 'out',
  })
  const inputs = Object.values(metafile.inputs).flatMap((x) => x.imports)
  return [...new Set(inputs.filter((x) => x.external === true).map((x) => x.path.replace(/^fp-ts\/.*|^io-ts.*/, 'fp-ts')))].sort()
}

it('codual/train asks for no more than codual does, codual/train/node for files and the bar', async () => {
  const core = await imports('index.ts')
  expect(core).toContain('fp-ts')
  expect(await imports('train/index.ts')).toEqual(core)
  expect(await imports('train/node.ts')).toEqual([...core, 'cli-progress', 'node:fs/promises'].sort())
})
