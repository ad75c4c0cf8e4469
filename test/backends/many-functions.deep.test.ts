/** Functions that are made in one turn of the event loop, where no finalizer runs: what they hold is counted, and the least recently used is dropped. */
import { expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import * as cd from '../../src/index.js'

const unary = [cd.sin, cd.cos, cd.tanh, cd.exp, cd.square, cd.abs, cd.neg, cd.atan] as const
const different =
  (i: number) =>
  (x: cd.AnyExpr): cd.AnyExpr => {
    let y: cd.AnyExpr = x
    for (let k = i + 1; k > 0; k = Math.floor(k / 8)) y = unary[k % 8]!(y)
    return cd.sum(y)
  }

it('a bounded number of kernels is held, and a function that was dropped is right when it is called again', () => {
  const backend = makeCpu({ cacheBytes: 2 ** 18 })
  const x = cd.tensor([0.1, 0.2, 0.3])
  const held = Array.from({ length: 200 }, (_, i) => cd.compile(different(i), backend))
  const first = held.map((f) => f(x).toArray())
  // 64 of them stay however large they are, and a few plans in the cache.
  expect(backend.kernels()).toBeLessThanOrEqual(96)
  expect(held.map((f) => f(x).toArray())).toEqual(first)
  expect(held[0]!.explain().steps.length).toBeGreaterThan(0)
  for (const f of held) f.dispose()
  backend.clearCache()
  expect(backend.kernels()).toBe(0)
})
