/** What no type checker has seen: every solver with junk in each place: a result or one AdError. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import { key } from '../../src/random/index.js'
import * as solve from '../../src/solve/index.js'
import { broken } from '../errors/hostile.js'

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
  { maxSteps: {} },
  { maxSteps: 3, tol: 1 },
  JSON.parse('{ "__proto__": { "x": 1 } }'),
  ...broken.map(([, make]) => make()),
]
type Anything = (...args: readonly unknown[]) => unknown
const same = (x: cd.AnyExpr) => cd.mul(0.5, x)
const good: Readonly<Record<string, readonly unknown[]>> = {
  linearSolve: [same, cd.tensor([1, 2]), {}, { maxSteps: 2 }],
  root: [same, cd.tensor([1, 2]), {}, { maxSteps: 2 }],
  fixedPoint: [same, cd.tensor([1, 2]), {}, { maxSteps: 2 }],
  odeEvent: [
    (_t: cd.AnyExpr, y: cd.AnyExpr) => y,
    (_t: cd.AnyExpr, y: cd.AnyExpr) => cd.sum(y),
    cd.tensor([1, 2]),
    cd.tensor([0, 1]),
    {},
    { maxSteps: 2 },
  ],
  sdeint: [
    (_t: cd.AnyExpr, y: cd.AnyExpr) => y,
    (_t: cd.AnyExpr, y: cd.AnyExpr) => y,
    key(0),
    cd.tensor([1, 2]),
    cd.tensor([0, 1]),
    {},
    { substeps: 2 },
  ],
  odeint: [(_t: cd.AnyExpr, y: cd.AnyExpr) => y, cd.tensor([1, 2]), cd.tensor([0, 1]), {}, { maxSteps: 2 }],
}
describe('junk', () => {
  it.each(Object.entries(solve as unknown as Readonly<Record<string, Anything>>).filter(([, f]) => typeof f === 'function'))(
    '%s',
    (name, f) => {
      const args = good[name]!
      const wrong: string[] = []
      args.forEach((_, at) => {
        for (const [k, value] of junk.entries())
          try {
            f(...args.map((x, i) => (i === at ? value : x)))
          } catch (e) {
            if (!cd.isAdException(e))
              wrong.push(`${name}, junk ${k} at ${at}: ${e instanceof Error ? `${e.name}: ${e.message}` : String(e)}`)
          }
      })
      expect(wrong).toEqual([])
    },
  )
})
