// The layers hold: core <- rules, modes, backends <- check <- index, without cycles; and the checker itself sees what breaks them.
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { cycles, floorViolations, importerViolations, layerViolations, unneededImporters } from './layers.js'
import { importsOf, resolveImport, type Source, sourcesUnder } from './sources.js'

const files = (table: Record<string, string>): readonly Source[] => Object.entries(table).map(([path, text]) => ({ path, text }))

describe('the layers of src', () => {
  const sources = sourcesUnder('src')

  it('is read from disk', () => {
    expect(sources.map((source) => source.path)).toContain('src/core/graph/expr.ts')
  })

  it('has only the imports that its layers allow', () => {
    expect(layerViolations(sources)).toEqual([])
  })

  it('has no import cycle', () => {
    expect(cycles(sources)).toEqual([])
  })

  it('has rooms in core on floors: each imports those below it at run time', () => {
    expect(floorViolations(sources)).toEqual([])
  })

  it('imports the library in the index alone, families there and in the library, and the list of all primitives in tables', () => {
    expect(importerViolations(sources)).toEqual([])
    expect(unneededImporters(sources)).toEqual([])
  })

  it('says in docs/architecture.md, in one line, what each folder is for', () => {
    const folders = [...new Set(sources.map(({ path }) => dirname(path)))].filter((folder) => folder !== 'src')
    const text = readFileSync(new URL('../../docs/architecture.md', import.meta.url), 'utf8')
    const told = new Map([...text.matchAll(/^\| `(src\/[\w/-]+)` \| (.+) \|$/gm)].map((m) => [m[1], m[2]]))
    expect([...told.keys()].sort()).toEqual(folders.sort())
    for (const purpose of told.values()) expect(purpose?.length).toBeGreaterThan(20)
  })
})

describe('the command', () => {
  const sources = sourcesUnder('command')
  /** What comes with it (tsup.config.ts). */
  const bundled = ['commander', 'cli-table3', 'fastest-levenshtein', 'simple-ascii-chart']

  it('imports entry points of the package, as its users do, and what is bundled with it', () => {
    const entries = Object.values(manifest.exports).flatMap((e) =>
      typeof e === 'string' ? [] : [e.types.replace('./dist/', 'src/').replace('.d.ts', '.ts')],
    )
    const own = new Set(sources.map(({ path }) => path))
    const others = sources.flatMap((source) =>
      importsOf(source).flatMap(({ specifier }) => {
        const target = resolveImport(source.path, specifier)
        const may =
          target === undefined ? specifier.startsWith('node:') || bundled.includes(specifier) : own.has(target) || entries.includes(target)
        return may ? [] : [`${source.path} imports ${specifier}`]
      }),
    )
    expect(sources.length).toBeGreaterThan(10)
    expect(others).toEqual([])
    // Whoever installs the package installs none of these.
    for (const name of bundled)
      expect([name, name in manifest.devDependencies, name in manifest.peerDependencies]).toEqual([name, true, false])
  })

  it('is imported by nothing in src', () => {
    expect(sourcesUnder('src').filter((source) => importsOf(source).some(({ specifier }) => /(?:^|\/)command\//.test(specifier)))).toEqual(
      [],
    )
  })
})

describe('the layer checker', () => {
  it('accepts imports downwards and within a layer', () => {
    const sources = files({
      'src/core/a.ts': `import * as O from 'fp-ts/lib/Option.js'`,
      'src/core/b.ts': `export * from './a.js'`,
      'src/rules/r.ts': `import type { A } from '../core/a.js'`,
      'src/backends/plan/p.ts': `import '../../core/a.js'`,
      'src/backends/cpu/c.ts': `import '../plan/p.js'; const k = () => import('koffi')`,
      'src/index.ts': `import './rules/r.js'; import './backends/cpu/c.js'`,
      'src/train/t.ts': `import { x } from '../index.js'; const fs = () => import('node:fs')`,
    })
    expect(layerViolations(sources)).toEqual([])
    expect(cycles(sources)).toEqual([])
  })

  it.each([
    ['core importing rules', { 'src/core/a.ts': `import '../rules/r.js'`, 'src/rules/r.ts': '' }, 'src/core/a.ts imports src/rules/r.ts'],
    [
      'a type-only import',
      { 'src/rules/r.ts': `import type { M } from '../modes/m.js'`, 'src/modes/m.ts': '' },
      'src/rules/r.ts imports src/modes/m.ts',
    ],
    [
      'an import type',
      { 'src/modes/m.ts': `type R = import('../rules/r.js').R`, 'src/rules/r.ts': '' },
      'src/modes/m.ts imports src/rules/r.ts',
    ],
    [
      'plan importing the reference',
      { 'src/backends/plan/p.ts': `export { x } from '../reference/r.js'`, 'src/backends/reference/r.ts': '' },
      'src/backends/plan/p.ts imports src/backends/reference/r.ts',
    ],
    [
      'a part of another layer, where it may import a part alone',
      {
        'src/optim/o.ts': `import '../index.js'; import '../core/errors/e.js'; import '../core/a.js'`,
        'src/index.ts': '',
        'src/core/errors/e.ts': '',
        'src/core/a.ts': '',
      },
      'src/optim/o.ts imports src/core/a.ts',
    ],
    ['a layer importing the root', { 'src/modes/m.ts': `import '../index.js'`, 'src/index.ts': '' }, 'src/modes/m.ts imports src/index.ts'],
    [
      'what is built on the library reaching into it',
      { 'src/train/t.ts': `import '../core/a.js'`, 'src/core/a.ts': '' },
      'src/train/t.ts imports src/core/a.ts',
    ],
    ['a package', { 'src/core/a.ts': `import fs from 'node:fs'` }, 'src/core/a.ts imports the package node:fs'],
    ['a static optional peer', { 'src/backends/cpu/c.ts': `import koffi from 'koffi'` }, 'src/backends/cpu/c.ts imports the package koffi'],
    ['a file outside the layers', { 'src/util.ts': '' }, 'src/util.ts is in no layer'],
    ['a missing suffix', { 'src/core/a.ts': `import './b'`, 'src/core/b.ts': '' }, 'which is no file of src'],
  ])('reports %s', (_name, table, message) => {
    expect(layerViolations(files(table)).join('\n')).toContain(message)
  })

  it('finds cycles, but not those of types alone', () => {
    const sources = files({
      'src/core/a.ts': `import { type B } from './b.js'`, // verbatimModuleSyntax keeps this import, and with it the cycle
      'src/core/b.ts': `import './c.js'`,
      'src/core/c.ts': `export * from './a.js'`,
      'src/core/d.ts': `import './a.js'; import type { E } from './e.js'`,
      'src/core/e.ts': `import './d.js'`,
      'src/core/f.ts': `import './f.js'`,
    })
    expect(cycles(sources)).toEqual([['src/core/a.ts', 'src/core/b.ts', 'src/core/c.ts'], ['src/core/f.ts']])
  })

  it('finds who imports the library, families or the list of all primitives', () => {
    const sources = files({
      'src/core/ops/families.ts': '',
      'src/families/nn.ts': '',
      'src/library/a.ts': `import './b.js'; import '../families/nn.js'`,
      'src/library/b.ts': '',
      'src/index.ts': `export * from './library/a.js'; import './families/nn.js'`,
      'src/packs/all.ts': `import { families } from '../core/ops/families.js'`,
      'src/rules/r.ts': `import type { nn } from '../core/ops/families.js'; import '../library/b.js'`,
      'src/rules/s.ts': `import { type nn } from '../core/ops/families.js'`,
      'src/modes/m.ts': `import type { nn } from '../core/ops/families.js'`,
      'src/backends/plan/p.ts': `import '../../families/nn.js'; const b = () => import('../../library/b.js')`,
      'src/optim/o.ts': `type B = import('../library/b.js').B`,
    })
    expect(importerViolations(sources)).toEqual([
      'src/rules/s.ts imports src/core/ops/families.ts',
      'src/modes/m.ts imports src/core/ops/families.ts',
      'src/backends/plan/p.ts imports src/families/nn.ts',
      'src/rules/r.ts imports src/library/b.ts',
      'src/backends/plan/p.ts imports src/library/b.ts',
      'src/optim/o.ts imports src/library/b.ts',
    ])
    expect(unneededImporters(sources)).toContain('src/instance/plugins.ts')
  })
  it('finds a room that imports one above it', () => {
    const sources = files({
      'src/core/ops/a.ts': `import '../functions/f.js'; import type { F } from '../functions/f.js'`,
      'src/core/functions/f.ts': '',
      'src/core/stray.ts': '',
    })
    expect(floorViolations(sources)).toEqual([
      'src/core/ops/a.ts imports src/core/functions/f.ts, which is above it',
      'src/core/stray.ts is in no room',
    ])
  })
})
