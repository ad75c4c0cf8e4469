// The manifest keeps its promises: entry points with types for both module systems, only peers at run time, commands that exist.
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }

const root = new URL('../../', import.meta.url)
const at = (path: string): string => fileURLToPath(new URL(path, root))

describe('package.json', () => {
  it('has every entry point: its declarations, a module for each of src for bundlers, few files for Node', () => {
    const files = {
      '.': 'index',
      './blas': 'backends/blas/index',
      './check': 'check/index',
      './check/property': 'check/property',
      './display': 'display/index',
      './minimize': 'minimize/index',
      './mpi': 'mpi/index',
      './nn': 'nn/index',
      './onnx': 'onnx/index',
      './onnxruntime': 'backends/onnxruntime/index',
      './optim': 'optim/index',
      './prob': 'prob/index',
      './random': 'random/index',
      './reference': 'instance/reference',
      './solve': 'solve/index',
      './threads': 'backends/threads/index',
      './train': 'train/index',
      './train/node': 'train/node',
      './worker': 'backends/worker/index',
    }
    expect(Object.keys(manifest.exports)).toEqual([...Object.keys(files), './package.json'])
    for (const [entry, file] of Object.entries(files)) {
      const modules = `./dist/${file}.js`
      expect(Object.entries(manifest.exports[entry as keyof typeof files])).toEqual([
        ['types', `./dist/${file}.d.ts`],
        ['module', modules],
        ['node', `./dist/node/${file}.js`],
        ['default', modules],
      ])
      expect(existsSync(at(`src/${file}.ts`))).toBe(true)
    }
  })

  it('chooses modules by condition: in Node and in development the whole one, in a bundle for users the other, of the same names', async () => {
    for (const [name, { node, development, default: plain }] of Object.entries(manifest.imports)) {
      expect(development).toBe(node)
      // Two builds of the same sources, with the samples of the checker and without.
      if (name.includes('*')) {
        expect([name, node, plain]).toEqual(['#ops/*', './dist/core/sampled/*', './dist/core/ops/*'])
        continue
      }
      const namesOf = async (path: string): Promise<string[]> =>
        Object.keys((await import(at(path.replace('./dist/', 'src/').replace('.js', '.ts')))) as object)
      const [whole, short] = [await namesOf(node), await namesOf(plain)]
      expect(short.length).toBeGreaterThan(0)
      expect(whole).toEqual(expect.arrayContaining(short))
    }
  })

  it('needs fp-ts and io-ts at run time and nothing else', () => {
    expect(manifest).not.toHaveProperty('dependencies')
    expect(manifest).not.toHaveProperty('optionalDependencies')
    const optional = Object.keys(manifest.peerDependenciesMeta)
    expect(Object.keys(manifest.peerDependencies).filter((name) => !optional.includes(name))).toEqual(['fp-ts', 'io-ts'])
  })

  it('has one command, made of command/main.ts, and nothing that is installed for it', () => {
    expect(manifest.bin).toEqual({ codual: 'dist/command/main.js' })
    expect(readFileSync(at('command/main.ts'), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
  })

  it('has commands whose files exist', () => {
    const named = Object.values(manifest.scripts).flatMap((command) => /^tsx (\S+)/.exec(command)?.[1] ?? [])
    expect(named.length).toBeGreaterThan(0)
    expect(named.filter((path) => !existsSync(at(path)))).toEqual([])
  })
})

describe('package-lock.json', () => {
  const lock = JSON.parse(readFileSync(at('package-lock.json'), 'utf8')) as {
    version: string
    packages: Record<
      string,
      {
        resolved?: string
        integrity?: string
        devDependencies?: unknown
        peerDependencies?: unknown
        optionalDependencies?: Record<string, string>
      }
    >
  }

  it('records what is installed, by hash and not by address', () => {
    const entries = Object.entries(lock.packages).filter(([path]) => path !== '')
    expect(entries.length).toBeGreaterThan(0)
    expect(entries.filter(([, entry]) => entry.resolved !== undefined).map(([path]) => path)).toEqual([])
    expect(entries.filter(([, entry]) => entry.integrity === undefined).map(([path]) => path)).toEqual([])
  })

  it('has every optional package (the builds for other platforms), without which npm ci refuses to install', () => {
    const installed = new Set(
      Object.keys(lock.packages).map((path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)),
    )
    const optional = Object.values(lock.packages).flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}))
    expect(optional.length).toBeGreaterThan(0)
    expect(optional.filter((name) => !installed.has(name))).toEqual([])
  })

  it('agrees with package.json', () => {
    expect(lock.version).toBe(manifest.version)
    expect(lock.packages['']?.devDependencies).toEqual(manifest.devDependencies)
    expect(lock.packages['']?.peerDependencies).toEqual(manifest.peerDependencies)
  })
})

describe('a release', () => {
  const text = (path: string): string => readFileSync(at(path), 'utf8')

  it('has one version: of the package, its citation, its changelog and its README', () => {
    const { version } = manifest
    const [, cited, date] = /^version: (\S+)\ndate-released: (\S+)$/m.exec(text('CITATION.cff')) ?? []
    const [, newest, released] = /^## \[(\d[^\]]*)\] - (\S+)$/m.exec(text('CHANGELOG.md')) ?? []
    expect({ cited, newest }).toEqual({ cited: version, newest: version })
    expect(date).toBe(released)
    expect(text('README.md')).toContain(`Version ${version}, `)
  })

  it('is published by a workflow that tests what it publishes, and says where it comes from', () => {
    const workflow = text('.github/workflows/publish.yml')
    expect(workflow).toMatch(/id-token: write/)
    const steps = [...workflow.matchAll(/- run: (.*?)(?: #.*)?$/gm)].map((m) => m[1]!)
    expect(steps.at(-1)).toMatch(/^npm publish --provenance .*--ignore-scripts$/)
    expect(steps).toEqual(expect.arrayContaining(['npm run check', 'npm test', 'npm run test:package', 'npm run smoke']))
    const names = steps.flatMap((step) => /^npm run ([\w:]+)/.exec(step)?.[1] ?? [])
    expect(names.filter((name) => !(name in manifest.scripts))).toEqual([])
  })

  it('has pages for contributors whose commands and links lead somewhere', () => {
    for (const page of ['CONTRIBUTING.md', 'SECURITY.md', 'docs/runtimes.md']) {
      const links = [...text(page).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map((m) => m[1]!)
      expect(links.filter((link) => !existsSync(new URL(link, new URL(page, root))))).toEqual([])
      const names = [...text(page).matchAll(/npm run ([\w:]+)/g)].map((m) => m[1]!)
      expect(names.filter((name) => !(name in manifest.scripts))).toEqual([])
    }
  })
})

describe('the test runner', () => {
  it('exposes the garbage collector, for the leak tests', () => {
    expect(typeof globalThis.gc).toBe('function')
  })
})
