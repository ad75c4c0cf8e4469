/** The library's declarations as data: what the editor's TypeScript reads. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import manifest from '../../package.json' with { type: 'json' }

const root = fileURLToPath(new URL('../../', import.meta.url))
const built = join(root, 'out/site/types')
const stamp = join(built, 'stamp')

/** Names the sources, so that declarations are made again only when a source has changed. */
const sourcesHash = (): string => {
  const hash = createHash('sha256')
  for (const file of readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).sort())
    if (file.endsWith('.ts')) hash.update(file).update(readFileSync(join(root, 'src', file)))
  return hash.digest('hex')
}

/** Declarations of all of src under out/site/types. */
const emit = (): void => {
  const hash = sourcesHash()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return
  rmSync(built, { recursive: true, force: true })
  mkdirSync(built, { recursive: true })
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json', '--outDir', built], {
    cwd: root,
    stdio: 'inherit',
  })
  writeFileSync(stamp, hash)
}

/** Entry points that a page can import: all but those of Node, and of files, which a program without a network has none of. */
export const entries: readonly string[] = Object.keys(manifest.exports).filter(
  (name) => !['./blas', './mpi', './onnx', './onnxruntime', './train/node', './check/property', './package.json'].includes(name),
)
/** The globals of a program, and the module `playground`. */
const own = ['globals.d.ts', 'playground.d.ts']
const libraries = ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts']

/**
 * Texts of declarations by their paths in the editor: the standard library under /lib, packages under /node_modules.
 * Only files that the entry points reach are included.
 */
export const declarations = (): Readonly<Record<string, string>> => {
  emit()
  const types = (entry: string): string => {
    const target = (manifest.exports as Readonly<Record<string, { readonly types: string } | string>>)[entry]!
    return typeof target === 'string' ? target : target.types
  }
  const program = ts.createProgram(
    entries.map((e) => join(built, relative('dist', types(e)))),
    {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      lib: libraries,
      types: [],
      skipLibCheck: true,
      noEmit: true,
    },
  )
  const files: Record<string, string> = {}
  const packages = new Set<string>()
  for (const { fileName, text } of program.getSourceFiles()) {
    const ofPackage = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(fileName)
    if (fileName.startsWith(built)) files[`/node_modules/codual/dist/${relative(built, fileName)}`] = text
    else if (ofPackage?.[1] === 'typescript') files[`/lib/${fileName.replace(/.*\//, '')}`] = text
    else if (ofPackage !== null) {
      files[fileName.slice(ofPackage.index)] = text
      packages.add(`/node_modules/${ofPackage[1]}/package.json`)
    }
  }
  for (const path of packages) files[path] = readFileSync(join(root, path), 'utf8')
  files['/node_modules/codual/package.json'] = JSON.stringify({
    name: 'codual',
    type: 'module',
    types: manifest.types,
    exports: manifest.exports,
  })
  const language = join(dirname(fileURLToPath(import.meta.url)), '../language')
  for (const name of own) files[`/${name}`] = readFileSync(join(language, name), 'utf8')
  return files
}
