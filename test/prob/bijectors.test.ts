/** Bijectors: inverses, volumes against determinants of Jacobians, and where they lead. */
import { describe, expect, it } from 'vitest'
import { type AnyExpr, abs, det, diagonal, evaluate, gather, jacfwd, log, reshape, type Tensor, tensor } from '../../src/index.js'
import * as prob from '../../src/prob/index.js'
import { numbers } from './quadrature.js'

const lower = (n: number, strict: boolean): number[] => {
  const at: number[] = []
  for (let i = 0; i < n; i++) for (let j = 0; j < (strict ? i : i + 1); j++) at.push(i * n + j)
  return at
}
/** Coordinates of what lies on a surface: as many as the map's argument has. */
const coordinates = (y: AnyExpr, name: string, n: number): AnyExpr => {
  if (y.shape.length === 1) return gather(y, tensor([...Array(n).keys()], [n], 'i32') as never) as AnyExpr
  const order = y.shape[0]!
  const at = lower(order, name === 'correlationCholesky')
  return gather(reshape(y, [order * order]) as AnyExpr, tensor(at, [at.length], 'i32') as never) as AnyExpr
}
const far = [-30, -3, -0.2, 0, 0.7, 4, 9]
const numbersMaps: Readonly<Record<string, readonly [prob.Bijector, readonly number[]]>> = {
  identity: [prob.identityBijector, far],
  exp: [prob.expBijector, far],
  softplus: [prob.softplusBijector, far],
  sigmoid: [prob.sigmoidBijector, far],
  tanh: [prob.tanhBijector, [-3, -0.2, 0, 0.7, 4]],
  affine: [prob.affineBijector(2, -3), far],
  'affine of arrays': [prob.affineBijector([1, 2, 3, 4, 5, 6, 7], 0.5), far],
  power: [prob.powerBijector(-1.5), [0.1, 1, 4]],
  interval: [prob.intervalBijector(-2, 5), [-9, -0.2, 0, 0.7, 4]],
  chain: [prob.chainBijectors(prob.expBijector, prob.affineBijector(1, 2), prob.powerBijector(0.5)), [-3, 0, 2]],
  inverse: [prob.inverseBijector(prob.expBijector), [0.1, 1, 7]],
  greaterThan: [prob.bijectorTo(prob.supports.greaterThan(3)), [-3, 0, 2]],
  lessThan: [prob.bijectorTo(prob.supports.lessThan(3)), [-3, 0, 2]],
}
describe.each(Object.entries(numbersMaps))('%s', (_, [map, at]) => {
  const x = tensor(at as number[]) as Tensor
  it('has its inverse', () => {
    numbers(map.inverse(map.forward(x))).forEach((v, i) => {
      expect(Math.abs(v - at[i]!) / Math.max(1, Math.abs(at[i]!))).toBeLessThan(
        1e-4 * Math.exp(-15) * Math.exp(Math.min(30, Math.abs(at[i]!))) + 1e-12,
      )
    })
  })
  it('changes volumes by its derivative', () => {
    const slopes = numbers(log(abs(diagonal(jacfwd((u: AnyExpr) => map.forward(u))(x) as AnyExpr))))
    numbers(map.logDet(x)).forEach((v, i) => {
      expect(Math.abs(v - slopes[i]!)).toBeLessThan(1e-10 * Math.max(1, Math.abs(v)))
    })
  })
  it('leads into its codomain, and rises or falls as it says', () => {
    const y = evaluate(map.forward(x)) as Tensor
    expect(numbers(map.codomain.contains(y)).every(Boolean)).toBe(true)
    if (map.direction === undefined) return
    const ys = numbers(y)
    ys.slice(1).forEach((v, i) => {
      expect(Math.sign(v - ys[i]!)).toBe(map.direction)
    })
  })
})
const vectorMaps: Readonly<Record<string, readonly [prob.Bijector, readonly number[]]>> = {
  simplex: [prob.simplexBijector, [0.3, -1.2, 2, 0.1]],
  ordered: [prob.orderedBijector, [0.3, -1.2, 2, 0.1]],
  cholesky: [prob.choleskyBijector, [0.3, -1.2, 0.5, 0.1, 0.7, -0.4]],
  positiveDefinite: [prob.positiveDefiniteBijector, [0.3, -1.2, 0.5, 0.1, 0.7, -0.4]],
  correlation: [prob.correlationBijector, [0.3, -1.2, 0.5, 0.1, 0.7, -0.4]],
  'interval, then simplex': [prob.chainBijectors(prob.intervalBijector(-1, 2), prob.simplexBijector), [0.3, -1.2, 2, 0.1]],
  'an array of positive numbers': [prob.bijectorTo(prob.supports.independent(prob.supports.positive, 1)), [0.3, -1.2, 2]],
}
describe.each(Object.entries(vectorMaps))('%s', (_, [map, at]) => {
  const x = tensor(at as number[]) as Tensor
  const y = evaluate(map.forward(x)) as Tensor
  it('has its inverse', () => {
    numbers(map.inverse(y)).forEach((v, i) => {
      expect(Math.abs(v - at[i]!)).toBeLessThan(1e-12)
    })
  })
  it('changes volumes by the determinant of its Jacobian', () => {
    const j = jacfwd((u: AnyExpr) => coordinates(map.forward(u), map.codomain.kind, at.length))(x) as AnyExpr
    expect(Math.abs(numbers(map.logDet(x))[0]! - numbers(log(abs(det(j))))[0]!)).toBeLessThan(1e-10)
  })
  it('says its shapes, also of batches, and leads into its codomain', () => {
    expect(map.shape([at.length])).toEqual([...y.shape])
    expect(map.shapeBefore(y.shape)).toEqual([at.length])
    expect(numbers(map.codomain.contains(y))).toEqual([1])
    const two = tensor([at, at.map((v) => v / 2)] as number[][]) as Tensor
    expect(map.forward(two).shape).toEqual([2, ...y.shape])
    expect(numbers(map.logDet(two))[0]).toBeCloseTo(numbers(map.logDet(x))[0]!, 12)
    expect(numbers(map.inverse(map.forward(two))).every((v, i) => Math.abs(v - numbers(two)[i]!) < 1e-12)).toBe(true)
  })
})
describe('supports', () => {
  const { supports } = prob
  it('say what they contain', () => {
    const of = (s: prob.Support, x: unknown): boolean[] => numbers(s.contains(x as never)).map(Boolean)
    expect(of(supports.integers(0, 3), [-1, 0, 1.5, 3, 4, Number.NaN])).toEqual([false, true, false, true, false, false])
    expect(of(supports.interval(0, 1, true), [0, 0.5, 1])).toEqual([false, true, false])
    expect(
      of(supports.simplex, [
        [0.5, 0.5],
        [0.5, 0.6],
        [-0.5, 1.5],
      ]),
    ).toEqual([true, false, false])
    expect(
      of(supports.counts(3), [
        [1, 2],
        [1, 1],
        [4, -1],
        [1.5, 1.5],
      ]),
    ).toEqual([true, false, false, false])
    expect(
      of(supports.ordered, [
        [1, 2],
        [2, 1],
      ]),
    ).toEqual([true, false])
    expect(
      of(supports.lowerCholesky, [
        [
          [1, 0],
          [2, 1],
        ],
        [
          [1, 1],
          [0, 1],
        ],
        [
          [1, 0],
          [2, -1],
        ],
      ]),
    ).toEqual([true, false, false])
    expect(
      of(supports.correlationCholesky, [
        [
          [1, 0],
          [0.6, 0.8],
        ],
        [
          [1, 0],
          [0.6, 0.9],
        ],
      ]),
    ).toEqual([true, false])
    expect(
      of(supports.positiveDefinite, [
        [
          [2, 1],
          [1, 2],
        ],
        [
          [1, 2],
          [2, 1],
        ],
      ]),
    ).toEqual([true, false])
    expect(of(supports.point(2), [1, 2])).toEqual([false, true])
    expect(
      of(supports.independent(supports.positive, 1), [
        [1, 2],
        [-1, 2],
      ]),
    ).toEqual([true, false])
  })
  it('of whole numbers have no smooth map', () => {
    expect(() => prob.bijectorTo(supports.integers(0))).toThrow(/whole numbers/)
    expect(() => prob.bijectorTo(supports.point(1))).toThrow(/single point/)
  })
})
