/** Every function of distributions, given what nobody means: a value, or one error of the library that names the function. */
import { expect, it } from 'vitest'
import { isAdException, tensor } from '../../src/index.js'
import * as distributions from '../../src/prob/index.js'
import * as inference from '../../src/prob/inference/index.js'
import { key } from '../../src/random/index.js'
import { some } from '../depth.js'

const junk: readonly unknown[] = [
  undefined,
  null,
  Number.NaN,
  -1,
  0,
  1.5,
  Number.POSITIVE_INFINITY,
  'x',
  true,
  [],
  [1, 'x'],
  [[1], [2, 3]],
  {},
  () => 1,
  Symbol('s'),
  10n,
  new Date(0),
  new Map(),
  new Proxy({}, { get: () => { throw new Error('nobody may look') } }), // biome-ignore format: one row
  tensor([1, 2], [2], 'i32'),
  tensor([[1, 2], [3, 4]]), // biome-ignore format: one row
]
const own = ['normal', 'poisson'].map((n) => (distributions as never as Record<string, (x: number) => unknown>)[n]!(1))
const wrong: string[] = []
/** Runs f; whatever it throws must be the library's own. */
const tried = (name: string, f: () => unknown): unknown => {
  try {
    return f()
  } catch (e) {
    if (!isAdException(e)) wrong.push(`${name}: ${String(e)}`)
    return undefined
  }
}
/** All but those of inference, which run what they are given. */
const functions = Object.entries(distributions).filter((e): e is [string, never] => typeof e[1] === 'function' && !(e[0] in inference))
it('refuses junk in its own words, wherever it stands', () => {
  expect(functions.length).toBeGreaterThan(50)
  for (const [name, f] of some(functions, 16) as unknown as readonly (readonly [string, (...x: readonly unknown[]) => unknown])[])
    for (const [i, x] of [...junk, ...own].entries()) {
      for (const args of [[x], [0.5, x], [x, 0.5], [0.5, 0.5, x], [own[0], x], [[1, 1], x], [0.5, 0.5, 0.7, x]])
        tried(`${name}, of ${args.length}: junk ${i}`, () => f(...args))
    }
  expect([...new Set(wrong.map((w) => w.replace(/, of.*?:.*?:/, '')))].slice(0, 40)).toEqual([])
})
it('the same of what a distribution and a bijector are given', () => {
  wrong.length = 0
  const d = distributions.gamma([1, 2], 3)
  for (const x of junk) {
    tried('sample', () => d.sample(x as never))
    tried('sample', () => d.sample(key(0), x as never))
    tried('logProb', () => d.logProb(x as never))
    tried('cdf', () => d.cdf(x as never))
    tried('icdf', () => d.icdf(x as never))
    tried('contains', () => d.support.contains(x as never))
    tried('forward', () => distributions.expBijector.forward(x as never))
    tried('logDet', () => distributions.simplexBijector.logDet(x as never))
    tried('inverse', () => distributions.correlationBijector.inverse(x as never))
  }
  expect([...new Set(wrong)]).toEqual([])
})
