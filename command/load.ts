/** Files of users, loaded: TypeScript by what their project has for it. */
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Failure, fail, inWords, perhaps } from './failure.js'
import { esbuildIn, isSource } from './project.js'

/** A file and what it exports. */
export interface Loaded {
  readonly path: string
  readonly text: string
  readonly exports: Readonly<Record<string, unknown>>
}

const KINDS = ['.ts', '.mts', '.js', '.mjs']
const isTyped = (path: string): boolean => /^\.m?ts$/.test(extname(path))

type Builds = { readonly build: (options: object) => Promise<{ readonly outputFiles: readonly { readonly contents: Uint8Array }[] }> }

/**
 * An import that removes the file at `path`. As the first import of that file it runs when all modules are read and before any of them runs: a module that never
 * ends, and is killed, leaves no file.
 */
const removing = (path: string): string =>
  `import ${JSON.stringify(`data:text/javascript,${encodeURIComponent(`import{rmSync}from'node:fs';rmSync(${JSON.stringify(path)},{force:true})`)}`)}`

/** A file as one module beside it, until it is read: its imports are found as its own are. */
export const bundled = async (path: string, esbuild: Builds): Promise<Loaded['exports']> => {
  const beside = join(dirname(path), `.${basename(path, extname(path))}.codual-${process.pid}.mjs`)
  const { outputFiles } = await esbuild.build({
    banner: { js: removing(beside) },
    entryPoints: [path],
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: 'inline',
    write: false,
    logLevel: 'silent',
  })
  writeFileSync(beside, outputFiles[0]!.contents)
  try {
    process.setSourceMapsEnabled(true)
    return (await import(pathToFileURL(beside).href)) as Loaded['exports']
  } finally {
    rmSync(beside, { force: true })
  }
}

/**
 * A module, by the first way there is. esbuild resolves `./x.js` to `./x.ts`, which Node's own types do not; and what it makes is a module of Node whatever
 * the project is, where tsx loads a second copy of the library for projects of CommonJS.
 */
const imported = async (path: string): Promise<Loaded['exports']> => {
  const url = pathToFileURL(path).href
  if (!isTyped(path) || isSource) return import(url) as Promise<Loaded['exports']>
  const esbuild = (await esbuildIn(dirname(path))) as Builds | undefined
  if (esbuild !== undefined) return bundled(path, esbuild)
  if ((process.features as { readonly typescript?: unknown }).typescript) return import(url) as Promise<Loaded['exports']>
  return fail(
    `${path} is TypeScript, which Node ${process.version} cannot load by itself.`,
    'npm install --save-dev tsx (or esbuild), or use Node 22.18 or later.',
  )
}

/** What `FILE` exports. */
export const load = async (file: string): Promise<Loaded> => {
  const path = resolve(file)
  if (!existsSync(path)) return fail(`there is no file ${file}.`)
  if (!statSync(path).isFile()) return fail(`${file} is a folder.`, 'give a file.')
  if (!KINDS.includes(extname(path))) return fail(`${file} is not a module.`, `give a file that ends in ${KINDS.join(', ')}.`)
  try {
    const text = readFileSync(path, 'utf8')
    // In the order of the file: a module lists its exports by the alphabet.
    const exports = Object.entries(await imported(path)).sort(([a], [b]) => lineOf({ text }, a) - lineOf({ text }, b))
    return { path, text, exports: Object.fromEntries(exports) }
  } catch (error) {
    if (error instanceof Failure) throw error
    return fail(`${file} cannot be loaded.\n${inWords(error).replace(/^/gm, '  ')}`)
  }
}

/** The line, from 1, where a file exports a name; 1 where that is not seen. */
export const lineOf = ({ text }: Pick<Loaded, 'text'>, name: string): number => {
  const at = text
    .split('\n')
    .findIndex((line) => new RegExp(`^\\s*export\\s+(?:const|let|var|(?:async\\s+)?function)\\s+${name}\\b`).test(line))
  return at + 1 || 1
}

/** `FILE#name`: the file, and the export that is meant. */
export const loadNamed = async (given: string): Promise<{ readonly loaded: Loaded; readonly name: string; readonly value: unknown }> => {
  const at = given.lastIndexOf('#')
  if (at <= 0 || at === given.length - 1)
    return fail(`'${given}' does not name a function.`, 'write FILE#name, as in src/energy.ts#energy.')
  const [file, name] = [given.slice(0, at), given.slice(at + 1)]
  const loaded = await load(file)
  const names = Object.keys(loaded.exports)
  if (!names.includes(name))
    return fail(
      `${file} does not export ${name}.`,
      names.length === 0 ? 'it exports nothing.' : `${perhaps(name, names)}It exports ${names.join(', ')}.`,
    )
  return { loaded, name, value: loaded.exports[name] }
}
