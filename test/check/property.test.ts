/** forAll: draws from declarations; failures shrink to the smallest sizes and values, and can be seen again. */
import { describe, expect, it } from 'vitest'
import { forAll, reportProperty } from '../../src/check/property.js'
import { elementwise } from '../../src/core/ops/families.js'
import * as cd from '../../src/index.js'
import { scalarRule } from '../../src/rules/define.js'
import { coreRegistry } from '../../src/rules/index.js'

const dense = cd.fn({ w: cd.f64('in', 'out'), b: cd.f64('out'), x: cd.f64('batch', 'in') }, function layer({ w, b, x }) {
  return cd.sum(cd.tanh(cd.add(cd.matmul(x, w), b)))
})
const { tanh } = elementwise
/** Right where x < 1 only. */
const wrong = coreRegistry.with(
  scalarRule(tanh, ({ x: [x], y }) => [cd.mul(cd.sub(1, cd.square(y as never)), cd.where(cd.lt(x as never, 1), 1, 1.5)) as never]),
)
const total = cd.fn({ x: cd.f64('n') }, function total({ x }) {
  return cd.sum(cd.tanh(x))
})

describe('forAll', () => {
  it('passes a right gradient, over every size', () => {
    const c = forAll(dense, { seed: 1, runs: 15, sizes: { batch: [0, 2] } })
    expect(reportProperty(c)).toMatch(/^ok {3}layer: 15 draws, \d+ comparisons \(seed 1\)$/)
  })
  it('shrinks a failure: one element, at the edge of what is wrong', () => {
    const c = forAll(total, { seed: 3, registry: wrong })
    expect(c).toMatchObject({ _tag: 'Left', left: { sizes: { n: 1 }, argument: { x: [1] } } })
    const text = reportProperty(c)
    expect(text).toContain('y0 = tanh(x) : f64 [1]')
    expect(text).toMatch(/true 0\.41997\d*, found 0\.62996\d*/)
    expect(text).toMatch(/replay: forAll\(total, \{ seed: 3, path: '[\d:]+', registry \}\)$/)
  })
  it('draws the same counterexample from its seed and path', () => {
    const first = forAll(total, { seed: 3, registry: wrong })
    const again = first._tag === 'Left' ? forAll(total, first.left.replay) : first
    expect(again).toMatchObject({ _tag: 'Left', left: { sizes: { n: 1 }, argument: { x: [1] } } })
  })
  it('draws inside the domain, integers and booleans too', () => {
    const pick = cd.fn({ x: cd.f64(4), i: cd.i32('k'), on: cd.bool() }, function pick({ x, i, on }) {
      return cd.where(on, cd.sum(cd.gather(cd.log(x), i)), 0)
    })
    const c = forAll(pick, { seed: 5, runs: 20, domain: { x: [0.5, 3] }, check: { order: 2 } })
    expect(c._tag === 'Right' ? '' : reportProperty(c)).toBe('')
  })
  it('gives what a function raises as data', () => {
    const narrow = cd.fn({ x: cd.f64('n') }, function narrow({ x }) {
      return cd.sum(cd.reshape(x as cd.AnyExpr, [2]))
    })
    const c = forAll(narrow, { seed: 1 })
    expect(c).toMatchObject({ _tag: 'Left', left: { error: { _tag: expect.any(String) } } })
  })
  it('says which inputs there are when a domain names none', () => {
    expect(() => forAll(total, { domain: { y: [0, 1] } })).toThrow(/no input 'y'/)
    expect(() => forAll((x: cd.AnyExpr) => cd.sum(x as never))).toThrow(/does not declare/)
  })
})
