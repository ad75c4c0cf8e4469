// Floors of packs: what a pack's rows and the base's are made of is of the base, of the pack itself, or of the packs that it needs.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Pack, packOf } from '../../src/core/calculus/pack.js'
import { type AnyPrimitive, isPrimitive } from '../../src/core/graph/primitive.js'
import { type Declared, reaching } from './reach.js'
import { root, sourcesUnder } from './sources.js'

/** The packs by name, in an order in which each stands above those that it needs. */
const floors = [
  'exponentials',
  'trigonometric',
  'gamma',
  'bitwise',
  'contract',
  'indexing',
  'special',
  'triangular',
  'qr',
  'eigh',
  'svd',
  'systems',
  'fourier',
  'nn',
  'control',
  'custom',
  'tap',
]
const packs = new Map<string, Pack>()
const nameOf = (pack: Pack | undefined): string => [...packs].find(([, p]) => p === pack)?.[0] ?? 'base'
beforeAll(async () => {
  for (const file of readdirSync(join(root, 'src/packs'))) {
    const name = file.replace('.ts', '')
    if (name !== 'all') packs.set(name, ((await import(join(root, 'src/packs', file))) as Record<string, Pack>)[`${name}Pack`]!)
  }
})
const allNeeds = (pack: Pack): ReadonlySet<Pack> => new Set([pack, ...pack.needs.flatMap((p) => [...allNeeds(p)])])

type Module = Readonly<Record<string, { readonly primitive?: unknown } | undefined>>
const imported = new Map<string, Module>()
const primitiveAt = async ({ path, name }: Declared): Promise<AnyPrimitive | undefined> => {
  if (!path.startsWith('src/core/')) return undefined
  const module = imported.get(path) ?? ((await import(join(root, path))) as Module)
  imported.set(path, module)
  const value = module[name]
  const found = value?.primitive ?? value
  return isPrimitive(found) ? found : undefined
}
/** The primitives that a value is made of, with the pack of each. */
const madeOf = async (reached: readonly Declared[]): Promise<ReadonlyMap<string, string>> => {
  const found = new Map<string, string>()
  for (const d of reached) {
    const p = await primitiveAt(d)
    if (p !== undefined) found.set(p.name, nameOf(packOf(p)))
  }
  return found
}
/** What it is made of above its floor. */
const above = (made: ReadonlyMap<string, string>, allowed: readonly string[]): readonly string[] =>
  [...made].filter(([, pack]) => pack !== 'base' && !allowed.includes(pack)).map(([name, pack]) => `${name} of ${pack}`)

describe('packs', () => {
  const sources = sourcesUnder('src')
  const reach = reaching(sources)

  it('stand on floors: each needs packs below it', () => {
    expect([...packs.keys()].sort()).toEqual([...floors].sort())
    for (const [name, { needs }] of packs)
      for (const below of needs.map(nameOf)) expect(floors.indexOf(below), `${name} needs ${below}`).toBeLessThan(floors.indexOf(name))
  })

  it.each(floors)('%s is made of the base, of itself and of what it needs', async (name) => {
    const made = await madeOf(reach({ path: `src/packs/${name}.ts`, name: `${name}Pack` }))
    expect(made.size).toBeGreaterThan(0)
    expect(above(made, [...allNeeds(packs.get(name)!)].map(nameOf))).toEqual([])
  })

  it.each([
    ['rules', { path: 'src/rules/base.ts', name: 'rules' }],
    ['kernels', { path: 'src/backends/cpu/facets.ts', name: 'shippedFacets' }],
  ])('the base is made of itself: %s', async (_name, from) => {
    const made = await madeOf(reach(from))
    expect(made.get('mul')).toBe('base')
    expect(above(made, [])).toEqual([])
  })

  it.each(floors.filter((f) => f !== 'custom'))('operations of %s are too', async (name) => {
    const path = `src/families/${name}.ts`
    const names = Object.keys((await import(join(root, path))) as object)
    const made = await madeOf(names.flatMap((n) => reach({ path, name: n })))
    expect(made.size).toBeGreaterThan(0)
    expect(above(made, [...allNeeds(packs.get(name)!)].map(nameOf))).toEqual([])
  })
  it.each(floors)('%s needs what it says', async (name) => {
    const { needs } = packs.get(name)!
    const path = `src/families/${name}.ts`
    const names = name === 'custom' ? [] : Object.keys((await import(join(root, path))) as object)
    const made = await madeOf([
      ...reach({ path: `src/packs/${name}.ts`, name: `${name}Pack` }),
      ...names.flatMap((n) => reach({ path, name: n })),
    ])
    expect(needs.map(nameOf).filter((n) => ![...made.values()].includes(n))).toEqual([])
  })

  it('are seen to reach above: by a name, a namespace, or what another file is made of; not by types and samples', async () => {
    const wrong = (text: string): Promise<readonly string[]> =>
      madeOf(
        reaching([
          ...sources,
          {
            path: 'src/rules/other.ts',
            text: `import { cos } from '../core/ops/elementwise.js'\nconst by = { cos }\nexport const other = () => by`,
          },
          { path: 'src/packs/wrong.ts', text },
        ])({ path: 'src/packs/wrong.ts', name: 'wrongPack' }),
      ).then((made) => above(made, ['bitwise']))
    expect(await wrong(`import { sin } from '../core/ops/elementwise.js'\nexport const wrongPack = { f: () => sin(1) }`)).toEqual([
      'sin of trigonometric',
    ])
    expect(await wrong(`import * as op from '../families/trigonometric.js'\nexport const wrongPack = [op.tan]`)).toEqual([
      'tan of trigonometric',
    ])
    expect(await wrong(`import { other } from '../rules/other.js'\nexport const wrongPack = other()`)).toEqual(['cos of trigonometric'])
    expect(
      await wrong(
        `import { sin, add } from '../core/ops/elementwise.js'\nexport const wrongPack: typeof sin = { samples: [sin], add, cos: 1 }`,
      ),
    ).toEqual([])
  })
})
