/** What random programs over own primitives are made of, the options of their checks, and backends that answer later. */

import { describe, expect, it } from 'vitest'
import { forAllPrograms, forAllProgramsAsync, reportPrograms } from '../../src/check/index.js'
import { generate, sourcesOf } from '../../src/check/programs/generate.js'
import { settingOf } from '../../src/check/programs/options.js'
import { equations } from '../../src/check/programs/program.js'
import type { AsyncBackend, SyncBackend } from '../../src/core/functions/backend.js'
import type { TypedArray } from '../../src/core/graph/ndarray.js'
import * as cd from '../../src/index.js'
import { ownPlugin } from './own-primitives.js'

describe('random programs over own primitives', () => {
  it('are the same for the same seed, and hold what is said of them', () => {
    const sources = sourcesOf(settingOf(ownPlugin(), undefined, 'test', true))
    const texts = Array.from({ length: 900 }, (_, seed) => equations(generate(sources, seed)))
    expect(Array.from({ length: 20 }, (_, seed) => equations(generate(sources, seed)))).toEqual(texts.slice(0, 20))
    const all = texts.join('\n')
    // Sub-programs of own primitives, rules within customRule, guards, captured tensors, literals, integers, both dtypes, casts between them.
    for (const part of [
      'map(',
      'customRule(',
      'where(',
      'captured0',
      'broadcastTo(',
      'pickRow(',
      ': f32',
      ': f64',
      'cast(',
      'stopGradient(',
    ])
      expect(all).toContain(part)
    expect(all).toMatch(/map\(.*\n(?: {4}.*\n)* {6}y\d+ = mine\/(wave|blend|hinge|softAbs|logOf)\(/)
    expect(all).toMatch(/= ([\w/]+)\((y\d+), \2\)/) // the same argument twice
    expect(all).toMatch(/= gt\(.*, 0\).*\n.*= mine\/logOf\(.*\n.*= where\(/) // a guard around an own primitive
    const own = all.match(/= mine\/(wave|blend|logOf|hinge|softAbs|polar|blockSums|pickRow|outer|smooth|applied|ranks)\(/g)!.length
    expect(own).toBeGreaterThan(300)
  })
})

describe('options', () => {
  const twice = cd.unary({ name: 'twice', scalar: (x) => 2 * x!, source: 'definition' })
  const registry = cd.coreRegistry.with(cd.scalarRule(twice, () => [2]))

  it('only: programs of these alone', () => {
    const c = forAllPrograms(registry, { runs: 10, only: ['twice', 'sin'] })
    expect(c._tag === 'Right' ? Object.keys(c.right.reached).sort() : reportPrograms(c)).toEqual(['sin', 'twice'])
  })
  it('weights: 0 is never drawn, and what is never drawn is told', () => {
    const c = forAllPrograms(registry, { runs: 1, steps: 1, weights: { twice: 0 } })
    expect(c._tag === 'Right' && c.right.unreached.length > 50 && !c.right.unreached.includes('twice')).toBe(true)
    expect(reportPrograms(c)).toContain('not reached: ')
  })
  it('dtypes: one alone', () => {
    const sources = sourcesOf(settingOf(registry, { dtypes: ['f32'], only: ['twice', 'sin', 'mul', 'where', 'gt'] }, 'test', true))
    for (let seed = 0; seed < 50; seed++) expect(equations(generate(sources, seed))).not.toContain('f64')
  })
  it('checks: what is switched off finds nothing', () => {
    const wrong = cd.coreRegistry.with({ ...cd.scalarRule(twice, () => [2]), ...cd.rule(twice.primitive, { batch: ([x]) => x }) })
    expect(forAllPrograms(wrong, { runs: 40, only: ['twice'] })).toMatchObject({ _tag: 'Left', left: { guilty: 'twice' } })
    expect(forAllPrograms(wrong, { runs: 40, only: ['twice'], checks: { batch: false, commute: false } })._tag).toBe('Right')
  })
  it('a backend without a kernel is told, not left out in silence', () => {
    const { registry: own } = ownPlugin()
    const all = cd.coreRegistry.with(...own.rules.values())
    const c = forAllPrograms(all, { runs: 30, only: ['outer', 'sin'] })
    expect(c).toMatchObject({ _tag: 'Right', right: { without: { cpu: ['outer'] } } })
    expect(reportPrograms(c)).toContain('without cpu: outer')
  })
  it('what is missing on purpose is told: derivatives and batches', () => {
    const plain = { primitive: twice.primitive }
    const c = forAllPrograms(cd.coreRegistry.with(plain), { runs: 30, only: ['twice'] })
    expect(c).toMatchObject({ _tag: 'Right', right: { without: { derivatives: ['twice'], vmap: ['twice'] } } })
  })
  it.each([
    ['no registry', () => forAllPrograms(5 as never), /forAllPrograms: 5 is not a plugin/],
    ['no options', () => forAllPrograms(registry, 5 as never), /forAllPrograms: 5 where options may stand/],
    ['another option', () => forAllPrograms(registry, { run: 3 } as never), /there is no option run[\s\S]*\{ runs, seed, /],
    ['runs', () => forAllPrograms(registry, { runs: 0 }), /runs is 0/],
    ['seed', () => forAllPrograms(registry, { seed: 0.5 }), /seed must be a whole number/],
    ['dtypes', () => forAllPrograms(registry, { dtypes: ['i32'] as never }), /dtypes are 'i32'/],
    ['only', () => forAllPrograms(registry, { only: ['thrice'] }), /only names 'thrice', which is not a primitive/],
    ['weights', () => forAllPrograms(registry, { weights: { twice: -1 } }), /the weight of twice is -1/],
    ['nothing to draw', () => forAllPrograms(registry, { only: [] }), /no primitive to be drawn/],
    ['order', () => forAllPrograms(registry, { order: 3 as never }), /order is 3/],
    ['checks', () => forAllPrograms(registry, { checks: { jvpp: true } as never }), /there is no option jvpp/],
    ['an asynchronous backend', () => forAllPrograms(registry, { backends: [cd.webgpu()] }), /the backend webgpu is asynchronous/],
    ['a report of something else', () => reportPrograms(3 as never), /3 is not the result of random programs/],
  ])('%s', (_, call, message) => {
    expect(call).toThrow(message)
  })
})

/** A backend that gives later what another one gives at once, changed by `change`. */
const later = (backend: SyncBackend, change: (x: TypedArray) => TypedArray = (x) => x): AsyncBackend => ({
  kind: 'async',
  name: 'later',
  prepare: async (program) => {
    const executable = backend.prepare(program)
    return {
      run: async (inputs) => executable.run(inputs as readonly TypedArray[]).map(change),
      explain: () => executable.explain(),
      dispose: () => executable.dispose(),
    }
  },
})

describe('backends that answer later', () => {
  it('are held against the reference', { timeout: 60_000 }, async () => {
    const plugin = ownPlugin()
    const backend = later(cd.cpu({ kernels: plugin.kernels.cpu! }))
    const c = await forAllProgramsAsync(plugin, { runs: 30, backends: [backend], only: [...plugin.ops.keys()] })
    expect(c._tag === 'Left' ? reportPrograms(c) : '').toBe('')
  })
  it('a difference is found, made small and named', { timeout: 60_000 }, async () => {
    const wrong = later(cd.cpu(), (x) => (x.length === 3 && x instanceof Float64Array ? x.map((v) => v + 1e-3) : x))
    const c = await forAllProgramsAsync(cd.coreRegistry, { runs: 30, backends: [wrong], only: ['sin', 'add'] })
    expect(c).toMatchObject({ _tag: 'Left', left: { replay: { runs: 1 } } })
    expect(c._tag === 'Left' ? c.left.findings[0] : c).toMatchObject({ check: 'backend', path: expect.stringMatching(/^result \d$/) })
    const again =
      c._tag === 'Left' ? await forAllProgramsAsync(cd.coreRegistry, { ...c.left.replay, backends: [wrong], only: ['sin', 'add'] }) : c
    expect(again).toEqual(c)
  })
})
