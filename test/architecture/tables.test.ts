// The tables of facets are complete: every primitive once, a row for each in each table, and what a row says is what happens.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildIr } from '../../src/backends/plan/ir.js'
import { registryOf } from '../../src/core/calculus/rule.js'
import { type KernelTable, kernelTable } from '../../src/core/extend/kernel-table.js'
import { type Plugin, pluginMonoid } from '../../src/core/extend/plugin.js'
import { aval } from '../../src/core/graph/aval.js'
import { applyAny, input } from '../../src/core/graph/expr.js'
import { primitivesIn } from '../../src/core/graph/operation.js'
import { type AnyPrimitive, isPrimitive } from '../../src/core/graph/primitive.js'
import { makeProgram } from '../../src/core/graph/program.js'
import { arithmetic, exponentials, families, gamma, trigonometric } from '../../src/core/ops/families.js'
import { corePlugin } from '../../src/instance/plugins.js'
import { cpuFamilies, ruleFamilies } from '../../src/packs/all.js'

const src = join(import.meta.dirname, '..', '..', 'src')

describe('the tables', () => {
  const all = Object.entries(families).flatMap(([family, table]) => Object.values(table).map((p) => [family, p as AnyPrimitive] as const))

  it('hold every primitive that a module of core/ops exports, once, under its name, in the family that it declares', async () => {
    const found = new Set<AnyPrimitive>()
    for (const file of readdirSync(join(src, 'core/ops'), { recursive: true, encoding: 'utf8' }).filter((f) => f.endsWith('.ts')))
      for (const x of Object.values((await import(join(src, 'core/ops', file))) as Readonly<Record<string, unknown>>)) {
        const { primitive = x } = (x ?? {}) as { readonly primitive?: unknown }
        if (isPrimitive(primitive)) found.add(primitive)
      }
    const held = new Set(all.map(([, p]) => p))
    expect([...found].filter((p) => !held.has(p)).map((p) => p.name)).toEqual([])
    expect(new Set(all.map(([, p]) => p.name)).size).toBe(all.length)
    for (const [family, table] of Object.entries(families))
      for (const [name, p] of Object.entries(table)) expect([p.name, p.family]).toEqual([name, family])
  })

  it('are in the order of names, however a loader orders exports: what is drawn from them is the same everywhere', () => {
    const { elementwise, ...others } = families
    expect(Object.keys(elementwise)).toEqual([arithmetic, exponentials, trigonometric, gamma].flatMap((table) => Object.keys(table)))
    for (const table of [arithmetic, exponentials, trigonometric, gamma, ...Object.values(others)]) {
      const names = Object.keys(table)
      expect(names).toEqual([...names].sort())
      expect(Object.keys(primitivesIn(Object.fromEntries(Object.entries(table).reverse())))).toEqual(names)
    }
  })

  it('have a row for every primitive and no other', () => {
    for (const [family, table] of Object.entries(families)) {
      const names = Object.keys(table).sort()
      expect(Object.keys(ruleFamilies[family as keyof typeof ruleFamilies]).sort()).toEqual(names)
      expect(Object.keys(cpuFamilies[family as keyof typeof cpuFamilies]).sort()).toEqual(names)
    }
  })

  it('are one plugin: the fold of their families', () => {
    const plugins = (Object.keys(families) as (keyof typeof families)[]).map(
      (name): Plugin => ({
        name,
        ops: new Map<string, AnyPrimitive>(Object.entries(families[name])),
        registry: registryOf(Object.values(ruleFamilies[name])),
        kernels: { cpu: kernelTable({ [name]: families[name] }, { [name]: cpuFamilies[name] }) as KernelTable },
        duplicates: [],
      }),
    )
    const { name, ops, registry, kernels, duplicates } = plugins.reduce(pluginMonoid.concat, pluginMonoid.empty)
    expect(duplicates).toEqual([])
    expect(corePlugin.name).toBe(name)
    expect([...corePlugin.ops]).toEqual([...ops])
    expect([...corePlugin.registry.byPrimitive]).toEqual([...registry.byPrimitive])
    expect([...corePlugin.kernels.cpu!]).toEqual([...kernels.cpu!])
  })

  it('say what happens: the planner leaves whole exactly what has a kernel, runs by its meaning or is a call', () => {
    for (const [family, p] of all) {
      const facet = (
        cpuFamilies as Readonly<Record<string, Readonly<Record<string, { readonly kind: string; readonly otherwise?: string }>>>>
      )[family]![p.name]!
      const leaves = (n: number) => ({ _tag: 'Tuple' as const, items: Array.from({ length: n }, () => ({ _tag: 'Leaf' as const })) })
      const left = p.samples.some((sample) => {
        const inputs = sample.args.map((a) => input(aval(a.shape, a.dtype ?? 'f64')))
        const outputs = applyAny(p, inputs, sample.params)
        const ir = buildIr(
          makeProgram({ name: p.name, inputs, inputTree: leaves(inputs.length), outputs, outputTree: leaves(outputs.length) }),
        )
        // What is written out may hold others that are whole.
        return ir.values.some((v) => v.kind === 'opaque' && (p.expand === undefined || v.prim === p))
      })
      if (facet.otherwise === undefined) expect(left, p.name).toBe(['whole', 'byMeaning', 'call'].includes(facet.kind))
    }
  })
})
