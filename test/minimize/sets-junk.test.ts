/** What no type checker has seen: every projection, proximal operator and gradient method with junk in each place: a result or one AdError. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import * as projections from '../../src/minimize/projections.js'
import * as proximal from '../../src/minimize/proximal.js'
import { projectedGradient, proximalGradient } from '../../src/minimize/proximal-gradient.js'
import { broken } from '../errors/hostile.js'

type Anything = (...args: readonly unknown[]) => unknown
const cyclic: { self?: unknown } = {}
cyclic.self = cyclic
const junk: readonly unknown[] = [
  undefined,
  null,
  {},
  'x',
  Number.NaN,
  -7,
  [],
  [[1], [2, 3]],
  ['a'],
  [null],
  true,
  () => undefined,
  () => 'x',
  () => ({ a: 1 }),
  Symbol('s'),
  1n,
  cyclic,
  new Date(0),
  new Map(),
  cd.tensor([1, 2]),
  cd.tensor(1, [], 'i32'),
  cd.NoTangent,
  { maxSteps: 3, tol: 1 },
  JSON.parse('{ "__proto__": { "x": 1 } }'),
  ...broken.map(([, make]) => make()),
]
/** What each takes by name. */
const named: Readonly<Record<string, object>> = {
  projectBox: { lower: 0, upper: 1 },
  projectHyperplane: { normal: [1, 2], offset: 1 },
  projectHalfspace: { normal: [1, 2], offset: 1 },
  projectAffine: { A: [[1, 2]], b: [1] },
  proxElasticNet: { scale: 1, l1: 1, l2: 1 },
  proxHuber: { scale: 1, delta: 1 },
  proxGroupLasso: { scale: 1, groups: [0, 1], weights: [1, 2] },
}
const functions = Object.entries({ ...projections, ...proximal } as unknown as Readonly<Record<string, Anything>>).filter(([name]) =>
  /^(project|prox)/.test(name),
)
const matrices = ['projectPSD', 'proxNuclear']
const wrong = (name: string, f: () => unknown): readonly string[] => {
  try {
    f()
  } catch (e) {
    if (!cd.isAdException(e)) return [`${name}: ${e instanceof Error ? `${e.name}: ${e.message}` : String(e)}`]
  }
  return []
}

describe('junk', () => {
  it.each(functions)('%s', (name, f) => {
    const x = matrices.includes(name) ? [[1, 2], [3, 4]] : [1, 2] // biome-ignore format: a matrix
    const options = named[name] ?? (name.startsWith('prox') ? { scale: 1 } : { radius: 1 })
    const at = (k: number): string => `${name}, junk ${k}`
    expect(wrong(name, () => f(x, ...(f.length > 1 ? [options] : [])))).toEqual([])
    expect(
      junk.flatMap((value, k) => [...wrong(at(k), () => f(value, options)), ...wrong(`${at(k)} as options`, () => f(x, value))]),
    ).toEqual([])
    for (const key of Object.keys(options))
      expect(junk.flatMap((value, k) => wrong(`${at(k)} as ${key}`, () => f(x, { ...options, [key]: value })))).toEqual([])
  })
  it.each(Object.entries({ proximalGradient, projectedGradient } as unknown as Readonly<Record<string, Anything>>))('%s', (name, f) => {
    const good = [(x: cd.AnyExpr) => cd.sum(cd.square(x)), (x: cd.AnyExpr) => x, [1, 2], {}, { maxSteps: 2 }]
    for (const place of good.keys())
      expect(
        junk.flatMap((value, k) => wrong(`${name}, junk ${k} at ${place}`, () => f(...good.map((x, i) => (i === place ? value : x))))),
      ).toEqual([])
  })
})
