/** Every function of random numbers with junk in each place. */
import { expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import * as random from '../../src/random/index.js'
import { some } from '../depth.js'
import { broken } from '../errors/hostile.js'

const k = random.key(9)
const f = random as unknown as Readonly<Record<string, (...xs: readonly unknown[]) => unknown>>

it('junk in every place is an error of ours, or drawn', () => {
  const junk = [
    undefined,
    null,
    {},
    'x',
    Number.NaN,
    -7,
    [],
    [[1], [2, 3]],
    ['a'],
    true,
    () => 1,
    Symbol('s'),
    1n,
    new Date(0),
    cd.tensor(1, [], 'i32'),
    { dtype: 3 },
    ...broken.map(([, make]) => make()),
  ]
  const wrong: string[] = []
  for (const [name, g] of Object.entries(f))
    for (const args of [
      [k, [2], 1, 2],
      [k, 2, 3, {}],
      [k, cd.tensor([1, 2]), {}, {}],
      [cd.tensor([1, 2]), 0.5, k],
    ] as const)
      args.forEach((_, at) => {
        for (const x of some(junk, 5))
          try {
            g(...args.map((a, i) => (i === at ? x : a)))
          } catch (e) {
            if (!cd.isAdException(e)) wrong.push(`${name}: place ${junk.indexOf(x)} of the junk at ${at}: ${String(e)}`)
          }
      })
  expect(wrong).toEqual([])
})
