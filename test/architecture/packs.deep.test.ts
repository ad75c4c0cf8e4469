// Each function imported alone brings the packs of what it, its gradient and the gradient of that are made of.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { build, transform } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleValues, primitivesIn } from '../../scripts/docs/described.js'
import { publicNames, root } from '../../scripts/docs/public-names.js'
import { shakeable, withPacks } from '../../scripts/shakeable.js'
import { type Pack, packOf } from '../../src/core/calculus/pack.js'
import { expandAll, isScalarProgram } from '../../src/core/graph/expand.js'
import { asExpr, asNode, capturedTensor, INPUT, isExpr, linearize, type Node } from '../../src/core/graph/expr.js'
import type { AnyPrimitive } from '../../src/core/graph/primitive.js'
import { ones } from '../../src/modes/common.js'
import { pullback } from '../../src/modes/transform.js'
import { coreRegistry } from '../../src/packs/all.js'

const packs = new Map<Pack, string>()
const dist = mkdtempSync(join(tmpdir(), 'codual-packs-'))
beforeAll(async () => {
  for (const file of readdirSync(join(root, 'src/packs')))
    if (file !== 'all.ts')
      for (const value of Object.values((await import(join(root, 'src/packs', file))) as Readonly<Record<string, unknown>>))
        packs.set(value as Pack, file.replace('.ts', ''))
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((f) => f.endsWith('.ts'))
  await Promise.all(
    files.map(async (file) => {
      const source = join(root, 'src', file)
      const { code } = await transform(readFileSync(source, 'utf8'), { loader: 'ts', format: 'esm', target: 'es2022' })
      const to = join(dist, file.replace(/\.ts$/, '.js'))
      mkdirSync(dirname(to), { recursive: true })
      writeFileSync(to, withPacks(source, shakeable(to, code)))
    }),
  )
  writeFileSync(join(dist, 'package.json'), '{ "type": "module", "sideEffects": false }')
  symlinkSync(join(root, 'node_modules'), join(dist, 'node_modules'))
}, 120_000)
afterAll(() => rmSync(dist, { recursive: true }))

/** The packs in a bundle of each function alone. */
const bundled = async (names: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
  for (const name of names) writeFileSync(join(dist, `alone-${name}.js`), `export { ${name} } from './index.js'\n`)
  const { metafile } = await build({
    entryPoints: names.map((name) => join(dist, `alone-${name}.js`)),
    outdir: join(dist, 'out'),
    bundle: true,
    format: 'esm',
    platform: 'browser',
    metafile: true,
    write: false,
    external: ['node:*', 'koffi', 'webgpu'],
    logLevel: 'error',
  })
  return new Map(
    Object.entries(metafile.outputs).map(([out, { inputs }]) => [
      /alone-(\w+)\.js$/.exec(out)![1]!,
      new Set(
        Object.entries(inputs).flatMap(([path, { bytesInOutput }]) =>
          bytesInOutput > 0 && /\/packs\/\w+\.js$/.test(path) ? [/\/packs\/(\w+)\.js$/.exec(path)![1]!] : [],
        ),
      ),
    ]),
  )
}

const isFloat = (n: Node): boolean => n.dtype === 'f64' || n.dtype === 'f32'
const leavesIn = (value: unknown): readonly Node[] =>
  isExpr(value) ? [asNode(value)] : typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesIn) : []
/** The gradients of expressions in the arrays that they captured; none where there is nothing to differentiate, or no derivative. */
const gradients = (ys: readonly Node[], wrt: readonly Node[]): readonly Node[] => {
  if (ys.length === 0 || wrt.length === 0) return []
  try {
    const bars = pullback(coreRegistry, ys, ys.map((y) => asExpr(ones(y.aval))), wrt).cotangents // biome-ignore format: one row
    return bars.flatMap((b) => (b._tag === 'Expr' ? [asNode(b)] : []))
  } catch {
    return []
  }
}
const needed = (values: readonly unknown[]): ReadonlySet<AnyPrimitive> => {
  const ys = values.flatMap(leavesIn)
  const wrt = linearize(ys).nodes.filter((n) => n.kind === INPUT && capturedTensor(n) !== undefined && isFloat(n))
  const first = gradients(ys.filter(isFloat), wrt)
  const second = gradients(first.filter(isFloat), wrt)
  const all = [...ys, ...first, ...second]
  const roots = expandAll(
    all,
    ({ prim }) => (prim!.structure?.kind === 'loop' || isScalarProgram(prim!) ? undefined : prim!.expand),
    'packs',
    100,
  )
  return primitivesIn([...all, ...roots].map(asExpr))
}

describe('packs', () => {
  it('are in the bundle of each function that needs them', async () => {
    const functions = publicNames().filter((n) => n.entry === 'codual' && !n.type)
    const held = await bundled(functions.map((n) => n.name))
    const lacking: string[] = []
    const asked = new Set<string>()
    for (const n of functions) {
      // An example may be of several functions: what they hold together.
      const used = functions.filter((f) => new RegExp(`\\b${f.name}\\(`).test((n.doc?.text ?? '').split('@example').slice(1).join()))
      for (const p of needed(exampleValues(n))) {
        const pack = packOf(p)
        if (pack === undefined) continue
        asked.add(packs.get(pack)!)
        if (![n, ...used].some((f) => held.get(f.name)?.has(packs.get(pack)!) === true))
          lacking.push(`${n.name} builds ${p.name}, and has not the pack ${packs.get(pack)}`)
      }
    }
    expect(lacking).toEqual([])
    // tap and customRule give no expression by themselves; test/package runs them.
    expect([...packs.values()].filter((p) => !asked.has(p))).toEqual(['custom', 'tap'])
  }, 300_000)
})
