/** Bundles of the packed package, as users' bundlers make them, and run. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build } from 'esbuild'
import { build as vite } from 'vite'

/** What is no part of a bundle: optional peers, and what only Node has. */
const external = ['node:*', 'webgpu', 'koffi', 'vitest', 'cli-progress', 'fast-check']

/** A module bundled for browsers, as one file. */
const bundlers = {
  esbuild: async (file: string, out: string): Promise<void> => {
    await build({ entryPoints: [file], bundle: true, format: 'esm', platform: 'browser', outfile: out, external, logLevel: 'silent' })
  },
  vite: async (file: string, out: string): Promise<void> => {
    await vite({
      configFile: false,
      root: join(file, '..'),
      logLevel: 'silent',
      build: {
        emptyOutDir: false,
        outDir: join(out, '..'),
        lib: { entry: file, formats: ['es'], fileName: () => out.split('/').at(-1)! },
        rollupOptions: { external: [/^node:/, 'webgpu', 'koffi'] },
      },
    })
  },
} as const
export const bundlerNames = Object.keys(bundlers) as readonly (keyof typeof bundlers)[]

/** Bundles a program in the folder where the package is installed, and runs the bundle in an empty folder. */
export const runBundled = async (bundler: keyof typeof bundlers, user: string, program: string, empty: string): Promise<void> => {
  const file = join(user, `program-${bundler}.js`)
  writeFileSync(file, program)
  const folder = mkdtempSync(join(empty, 'bundle-'))
  const out = join(folder, 'bundle.mjs')
  await bundlers[bundler](file, out)
  execFileSync(process.execPath, [out], { cwd: folder, stdio: 'pipe' })
}

export interface Alone {
  /** What is wrong with those that do not run, or have not what they export. */
  readonly wrong: readonly string[]
  readonly tried: number
  /** Those whose bundle has a byte of a path, by a part of it. */
  readonly having: (part: string) => readonly string[]
}
/** Every export of an entry point alone in a bundle, which is run. */
export const exportsAlone = async (user: string, entry: string): Promise<Alone> => {
  const list = `console.log(JSON.stringify(Object.keys(await import(${JSON.stringify(entry)}))))`
  const names = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', list], { cwd: user, encoding: 'utf8' }),
  ) as readonly string[]
  const folder = join(user, 'alone')
  mkdirSync(folder)
  const require = createRequire(join(user, 'package.json'))
  const wrong: string[] = []
  const inputs = new Map<string, readonly string[]>()
  try {
    for (const name of names) writeFileSync(join(folder, `${name}.js`), `export { ${name} } from ${JSON.stringify(entry)}\n`)
    // Some at once: esbuild reads the package once for all of them.
    for (let at = 0; at < names.length; at += 50) {
      const some = names.slice(at, at + 50)
      const { outputFiles, metafile } = await build({
        metafile: true,
        entryPoints: some.map((name) => join(folder, `${name}.js`)),
        outdir: folder,
        bundle: true,
        format: 'cjs',
        platform: 'browser',
        write: false,
        external,
        logLevel: 'silent',
      })
      for (const [out, made] of Object.entries(metafile.outputs)) {
        const held = Object.entries(made.inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : []))
        inputs.set(out.split('/').at(-1)!.replace('.js', ''), held)
      }
      outputFiles.forEach(({ text }, i) => {
        const module = { exports: {} as Readonly<Record<string, unknown>> }
        try {
          new Function('module', 'exports', 'require', text)(module, module.exports, require)
          if (module.exports[some[i]!] === undefined) wrong.push(`${some[i]} is not in its bundle`)
        } catch (e) {
          wrong.push(`${some[i]}: ${(e as Error).message}`)
        }
      })
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  return {
    wrong,
    tried: names.length,
    having: (part) => [...inputs].flatMap(([name, paths]) => (paths.some((p) => p.includes(part)) ? [name] : [])),
  }
}
