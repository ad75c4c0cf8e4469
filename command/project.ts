/** Where packages are: codual itself, the project's own copy of it, and what the project has installed. */
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

interface Manifest {
  readonly name?: string
  readonly version: string
  readonly bin?: { readonly codual?: string }
}
const manifestIn = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

const rootFrom = (folder: string): string =>
  existsSync(join(folder, 'package.json')) && manifestIn(folder).name === 'codual' ? folder : rootFrom(dirname(folder))
/** The folder of the package that this file belongs to. */
export const root: string = realpathSync(rootFrom(dirname(fileURLToPath(import.meta.url))))
export const version: string = manifestIn(root).version
/** Does the command run from its sources, by a loader of TypeScript? */
export const isSource: boolean = import.meta.url.endsWith('.ts')

/** The file that a module of this name is, for files of `folder`. */
export const resolveFrom = (folder: string, name: string): string | undefined => {
  try {
    return createRequire(join(folder, 'noop.js')).resolve(name)
  } catch {
    return undefined
  }
}
/** What an entry of a package's `exports` is for `import`. */
const entryOf = (entry: unknown): string | undefined => {
  if (typeof entry === 'string') return entry
  if (typeof entry !== 'object' || entry === null) return undefined
  const found = Object.entries(entry).find(([condition]) => ['import', 'node', 'default'].includes(condition))
  return found && entryOf(found[1])
}
/** The file that `import` finds; Node resolves for `require`, which may be another. */
const importPath = (folder: string, name: string): string | undefined => {
  const [, own = name, rest = ''] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(name) ?? []
  const manifest = resolveFrom(folder, `${own}/package.json`)
  if (manifest === undefined) return resolveFrom(folder, name)
  const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly exports?: Readonly<Record<string, unknown>> }
  const entry = entryOf(exports?.[`.${rest}`])
  return entry === undefined ? resolveFrom(folder, name) : join(dirname(manifest), entry)
}
/** A module that the project in `folder` has installed. Default exports of CommonJS are taken apart. */
export const importFrom = async (folder: string, name: string): Promise<Readonly<Record<string, unknown>> | undefined> => {
  const path = importPath(folder, name)
  if (path === undefined) return undefined
  const module = (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>
  return { ...(module.default as object | undefined), ...module }
}

/** The esbuild of a project: its own, or that of its tsx. */
export const esbuildIn = async (folder: string): Promise<Readonly<Record<string, unknown>> | undefined> => {
  const tsx = resolveFrom(folder, 'tsx')
  return (await importFrom(folder, 'esbuild')) ?? (tsx === undefined ? undefined : importFrom(dirname(realpathSync(tsx)), 'esbuild'))
}

/** The command of the project's own copy of codual, where that is another one: arrays of two copies do not mix. */
export const otherCommand = (folder: string): string | undefined => {
  const manifest = resolveFrom(folder, 'codual/package.json')
  if (manifest === undefined) return undefined
  const other = realpathSync(dirname(manifest))
  const bin = other === root ? undefined : manifestIn(other).bin?.codual
  return bin === undefined ? undefined : join(other, bin)
}
