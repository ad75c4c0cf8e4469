/** Robust losses: the minima of curves with outliers that SciPy's least_squares finds. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type AnyExpr, add, at, exp, mul, neg, sin, sub, tensor } from '../../src/index.js'
import { type Loss, leastSquares } from '../../src/minimize/index.js'

interface Problem {
  readonly model: 'line' | 'decay' | 'wave'
  readonly x: number[]
  readonly y: number[]
  readonly scale: number
  readonly start: number[]
  readonly found: Readonly<Record<Exclude<Loss, 'squares'>, { readonly value: number; readonly x: number[]; readonly evaluations: number }>>
}
const problems = JSON.parse(readFileSync(new URL('robust.json', import.meta.url), 'utf8')) as readonly Problem[]
const models = {
  line: (b: AnyExpr, x: AnyExpr) => add(at(b, 0), mul(at(b, 1), x)),
  decay: (b: AnyExpr, x: AnyExpr) => add(mul(at(b, 0), exp(neg(mul(at(b, 1), x)))), at(b, 2)),
  wave: (b: AnyExpr, x: AnyExpr) => mul(at(b, 0), sin(add(mul(at(b, 1), x), at(b, 2)))),
} as const

describe.each(['huber', 'softL1', 'cauchy', 'arctan'] as const)('%s', (loss) => {
  const solved = problems.map(({ model, x, y, scale, start }) =>
    leastSquares((b) => sub(models[model](b as AnyExpr, tensor(x) as never), y) as AnyExpr, tensor(start), { loss, scale }),
  )
  it('has the minima of SciPy', () =>
    problems.forEach(({ found }, k) => {
      const { value, x } = found[loss]
      expect(Math.abs(solved[k]!.value / value - 1), `problem ${k}`).toBeLessThan(1e-9)
      x.forEach((v, i) => {
        expect(Math.abs(solved[k]!.x.data[i]! - v), `problem ${k}`).toBeLessThan(1e-6)
      })
      expect(solved[k]!.converged, `problem ${k}`).toBe(true)
    }))
  it('evaluates about as often', () => {
    const total = solved.reduce((sum, { evaluations }) => sum + evaluations.residuals, 0)
    expect(total).toBeLessThan(1.3 * problems.reduce((sum, { found }) => sum + found[loss].evaluations, 0))
  })
})

describe('outliers', () => {
  const x = Array.from({ length: 30 }, (_, i) => i / 10)
  const clean = x.map((v, i) => 1 + 2 * v + 0.1 * Math.sin(17 * i))
  const line = (b: AnyExpr): AnyExpr => models.line(b, tensor(x) as never) as AnyExpr
  const solve = (y: number[], loss: Loss) => leastSquares((b) => sub(line(b as AnyExpr), y) as AnyExpr, [1, 2], { loss, scale: 0.2 })
  it('hardly change the solution, its errors included', () => {
    const spoilt = clean.map((v, i) => (i % 10 === 3 ? v + 1e4 : v))
    const without = solve(clean, 'cauchy')
    const withThem = solve(spoilt, 'cauchy')
    without.x.data.forEach((v, i) => {
      expect(Math.abs(withThem.x.data[i]! - v)).toBeLessThan(0.02)
    })
    without.errors.data.forEach((v, i) => {
      const ratio = withThem.errors.data[i]! / v
      expect(ratio).toBeGreaterThan(0.8)
      expect(ratio).toBeLessThan(1.5)
    })
  })
  it('weigh nothing more where the loss is least squares within its scale', () => {
    const plain = solve(clean, 'squares')
    const huber = leastSquares((b) => sub(line(b as AnyExpr), clean) as AnyExpr, [1, 2], { loss: 'huber', scale: 10 })
    expect(Array.from(huber.covariance.data)).toEqual(Array.from(plain.covariance.data, (v) => expect.closeTo(v, 14)))
    expect(huber.value).toBeCloseTo(plain.value, 14)
  })
})
