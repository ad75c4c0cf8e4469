/** What imports weigh: bundled by esbuild, minified, gzip -9, of the packed package; and the table of docs/sizes.md, which they are held to. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

export interface Weighed {
  readonly name: string
  readonly code: string
  /** What it may never weigh more than, in bytes. */
  readonly most: number
}
const mlp = 'valueAndGrad, compile, fn, f32, add, matmul, mean, relu, softmax, sub, square, transpose'
export const weighed: readonly Weighed[] = [
  { name: '`tensor`', code: `export { tensor } from 'codual'`, most: 8_900 },
  { name: '`mul`', code: `export { mul } from 'codual'`, most: 14_800 },
  { name: '`matmul`', code: `export { matmul } from 'codual'`, most: 30_000 },
  { name: '`svd`', code: `export { svd } from 'codual'`, most: 55_400 },
  {
    name: '`grad`, `sum`, `mul` on reference()',
    code: `export { grad } from 'codual/reference'; export { mul, sum } from 'codual'`,
    most: 45_100,
  },
  { name: '`grad`, `sum`, `mul` on cpu()', code: `export { grad, mul, sum } from 'codual'`, most: 91_600 },
  {
    name: '`adam` and `valueAndGrad` of an MLP',
    code: `export { ${mlp} } from 'codual'; export { adam, applyUpdates } from 'codual/optim'`,
    most: 121_300,
  },
  { name: '`dense`, `sequential` of codual/nn', code: `export { dense, sequential } from 'codual/nn'`, most: 117_800 },
  { name: '`transformer` of codual/nn', code: `export { transformer } from 'codual/nn'`, most: 159_500 },
  { name: '`fit`, `accuracy` of codual/train', code: `export { accuracy, fit } from 'codual/train'`, most: 124_900 },
  { name: '`minimize` of codual/minimize', code: `export { minimize } from 'codual/minimize'`, most: 116_100 },
  { name: '`curveFit` of codual/minimize', code: `export { curveFit } from 'codual/minimize'`, most: 107_600 },
  { name: '`normal` of codual/prob', code: `export { normal } from 'codual/prob'`, most: 52_500 },
  { name: '`nuts` of codual/prob', code: `export { nuts } from 'codual/prob'`, most: 185_500 },
  { name: '`odeint` of codual/solve', code: `export { odeint } from 'codual/solve'`, most: 152_800 },
  { name: '`fromONNX` of codual/onnx', code: `export { fromONNX } from 'codual/onnx'`, most: 261_300 },
  { name: '`toONNX` of codual/onnx', code: `export { toONNX } from 'codual/onnx'`, most: 113_300 },
  { name: '`onnxRuntime` of codual/onnxruntime', code: `export { onnxRuntime } from 'codual/onnxruntime'`, most: 108_500 },
  { name: '`worker` of codual/worker', code: `export { worker } from 'codual/worker'`, most: 13_600 },
  { name: '`render` of codual/display', code: `export { render } from 'codual/display'`, most: 90_300 },
  { name: 'everything of `codual`', code: `export * from 'codual'`, most: 378_200 },
]

/** Bytes of a bundle: minified, and compressed. fp-ts and io-ts are in it where it needs them. */
export const weigh = async (code: string, folder: string): Promise<{ readonly minified: number; readonly gzip: number }> => {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: folder, loader: 'js' },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    external: ['node:*', 'webgpu', 'koffi'],
    logLevel: 'silent',
  })
  const { contents } = outputFiles[0]!
  return { minified: contents.length, gzip: gzipSync(contents, { level: 9 }).length }
}

const page = join(fileURLToPath(new URL('..', import.meta.url)), 'docs/sizes.md')
const kB = (bytes: number): string => (bytes / 1000).toFixed(1)
/** The row of the table for one of them. */
const row = (name: string, minified: number, gzip: number, most: number): string =>
  `| ${name} | ${kB(minified)} | ${kB(gzip)} | ${kB(most)} |`
const ROW = /^\| (.*?) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$/gm
/** What the table says that each weighs, compressed, in kB. */
export const recorded = (): ReadonlyMap<string, number> =>
  new Map([...readFileSync(page, 'utf8').matchAll(ROW)].map(([, name, , gzip]) => [name!, Number(gzip)]))
/** Writes what was weighed into the table. */
export const record = (found: readonly (Weighed & { readonly minified: number; readonly gzip: number })[]): void => {
  const text = readFileSync(page, 'utf8')
  const rows = found.map((f) => row(f.name, f.minified, f.gzip, f.most))
  const [head, tail] = [text.slice(0, text.search(ROW)), text.slice(text.search(ROW)).replaceAll(ROW, '').replace(/^\n*/, '')]
  writeFileSync(page, `${head}${rows.join('\n')}\n${tail === '' ? '' : `\n${tail}`}`)
}
