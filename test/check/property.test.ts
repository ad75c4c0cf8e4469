/** forAll: draws from declarations; failures shrink to the smallest sizes and values, and can be seen again. */
import { describe, expect, it } from 'vitest'
import { type Checked, checkGrad, makeCheck, report } from '../../src/check/index.js'
import { forAll, reportProperty } from '../../src/check/property.js'
import { elementwise } from '../../src/core/ops/families.js'
import * as cd from '../../src/index.js'
import { coreRegistry } from '../../src/packs/all.js'
import { scalarRule } from '../../src/rules/define.js'
import { count } from '../depth.js'

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

describe('checkGrad of a declared function without arguments', () => {
  const tree = cd.fn(
    { layers: [{ w: cd.f64('in', 'out') }, { w: cd.f32('out') }], x: cd.f64('in'), k: cd.i32('out'), on: cd.bool() },
    ({ layers, x, k, on }) =>
      cd.sum(cd.where(on, cd.mul(cd.matmul(x, layers[0].w), cd.mul(layers[1].w, cd.cast(k, 'f64'))), cd.square(cd.matmul(x, layers[0].w)))),
  )
  const off = cd.fn({ y: cd.f64('n'), x: cd.f64('n') }, function off({ x, y }) {
    return cd.sum(cd.mul(y, wrongSquare(x)))
  })
  const wrongSquare = cd.customRule((x: cd.AnyExpr) => cd.square(x), {
    frule: (x, dx) => [cd.square(x), cd.mul(3, cd.mul(x, dx as cd.AnyExpr)) as never],
  })
  const found = (c: Checked) => (c._tag === 'Left' ? c.left[0]! : undefined)

  it('draws trees, integers and booleans, one size for each name', () => {
    for (let seed = 1; seed <= count(2, 8); seed++) expect(report(checkGrad(tree, { seed })())).toMatch(/^ok {3}fn: \d+ comparisons/)
  })
  it('names what is wrong by its path, and the same seed finds the same again', () => {
    const first = found(checkGrad(off, { seed: 4 })())
    expect(first).toMatchObject({ of: 'off', path: 'x', replay: 'checkGrad(off, { seed: 4 })()' })
    const replayed = new Function('checkGrad', 'off', `return ${first!.replay}`)(checkGrad, off) as Checked
    expect(found(replayed)).toEqual(first)
    expect(found(checkGrad(off, { seed: 5 })())!.at).not.toBe(first!.at)
  })
  it('draws within sizes and domain, which the replay has too', () => {
    const options = { seed: 2, sizes: { n: [5, 5] }, domain: { x: [10, 10.5], y: [1, 1] } } as const
    const first = found(checkGrad(off, options)())!
    expect(first.at).toMatch(/^x = \[10\.\d+, 10\.\d+, 10\.\d+, 10\.\d+, 10\.\d+\], y = \[1, 1, 1, 1, 1\]$/)
    expect(first.replay).toBe('checkGrad(off, { seed: 2, sizes: { n: [5, 5] }, domain: { x: [10, 10.5], y: [1, 1] } })()')
  })
  it('is there for a registry of your own, and as an assertion', () => {
    expect(makeCheck(wrong).checkGrad(total, { domain: { x: [1, 2] } })()._tag).toBe('Left')
    expect(makeCheck(coreRegistry).checkGrad(total)()._tag).toBe('Right')
    expect(() => makeCheck(wrong).expectGradient(total, { domain: { x: [1, 2] } })()).toThrow(/wrong total/)
  })
  it('asks for arguments where nothing is declared, and for one of the two where they are given', () => {
    expect(() => checkGrad((x: cd.AnyExpr) => cd.sum(x as never))()).toThrow(
      'checkGrad: f was given no arguments, and does not declare what could be drawn.\n',
    )
    expect(() => checkGrad(total, { sizes: { n: [1, 2] } })({ x: [1] })).toThrow(/sizes says what to draw, and the arguments are given/)
    expect(() => checkGrad(total, { sizes: { n: [1.5, 2] } })()).toThrow(
      /the range of 'n' is .*\n.*\n? *fix: give \[low, high\], whole numbers from 0/,
    )
    expect(() => checkGrad(total, { domain: { y: [0, 1] } })()).toThrow(/total has no input 'y'/)
    expect(() =>
      checkGrad(
        cd.fn({ k: cd.i32(), x: cd.f64() }, ({ k, x }) => cd.mul(k, x)),
        { domain: { k: [0.2, 0.8] } },
      )(),
    ).toThrow(/the range of 'k'/)
  })
})
