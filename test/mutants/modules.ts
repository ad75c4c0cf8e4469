/** The library's modules as functions, compiled once: a graph of them is made in milliseconds, with another text in the place of one. */
import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { Script } from 'node:vm'
import { build, transformSync } from 'esbuild'
import { root } from './edit.js'

type Exports = Record<string, unknown>
type Module = (exports: Exports, require: (name: string) => unknown, module: { exports: Exports }) => void

const wrapped = (code: string, path: string): Module =>
  new Script(`(function (exports, require, module) {${code}\n})`, { filename: path }).runInThisContext() as Module
const options = { format: 'cjs', platform: 'node', target: 'node20', sourcemap: false, logLevel: 'silent' } as const
/** The text of a file as a module. */
export const compiled = (text: string, path: string): Module => wrapped(transformSync(text, { ...options, loader: 'ts' }).code, path)

const sources = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((f) => f.isFile() && f.name.endsWith('.ts') && !f.name.endsWith('.d.ts') && !f.name.endsWith('.test.ts'))
    .map((f) => join(f.parentPath, f.name))

export type Modules = ReadonlyMap<string, Module>
/** All modules of the library, and of the folders of tests that run with it. */
export const modulesOf = async (...tests: readonly string[]): Promise<Modules> => {
  const entryPoints = ['src', 'test/mutants', ...tests].flatMap(sources)
  const { outputFiles } = await build({ ...options, entryPoints, bundle: false, write: false, outdir: root, outbase: root })
  return new Map(outputFiles.map((f) => [f.path.replace(/\.js$/, '.ts'), wrapped(f.text, f.path)]))
}

const outside = createRequire(join(root, 'package.json'))
/** A new graph of the modules, loaded from one of them; `other` stands in the place of one. */
export const load = (modules: Modules, entry: string, other?: { readonly path: string; readonly module: Module }): unknown => {
  const loaded = new Map<string, { exports: Exports }>()
  const at = (path: string): Exports => {
    const known = loaded.get(path)
    if (known !== undefined) return known.exports
    const own: { exports: Exports } = { exports: {} }
    loaded.set(path, own)
    const run = path === other?.path ? other.module : modules.get(path)
    if (run === undefined) throw new Error(`no module ${path}`)
    run(own.exports, (name) => (name.startsWith('.') ? at(resolve(dirname(path), name.replace(/\.js$/, '.ts'))) : outside(name)), own)
    return own.exports
  }
  return at(entry)
}
