/** Options in the place of the parameters of a function that takes none are an error, and not parameters that nobody reads. */
import { describe, expect, it } from 'vitest'
import { type AnyExpr, add, evaluate, mul, neg, sub, tensor } from '../../src/index.js'
import { fixedPoint, linearSolve, odeint, root } from '../../src/solve/index.js'

const thrown = (f: () => unknown): unknown => {
  try {
    f()
  } catch (e) {
    return (e as { readonly error?: unknown }).error
  }
  return undefined
}
const square = (x: AnyExpr): AnyExpr => sub(mul(x, x), 2)
const half = (x: AnyExpr): AnyExpr => mul(0.5, add(x, 1))

describe('options where parameters belong', () => {
  it('are refused, with what to write', () => {
    const calls: readonly (readonly [() => unknown, string])[] = [
      [() => odeint((_t, y) => neg(y), tensor(1), [0, 1], { method: 'rk4', substeps: 1 }), 'odeint(..., {}, { method, substeps })'],
      [() => root(square as never, tensor(1), { maxSteps: 2 } as never), 'root(..., {}, { maxSteps })'],
      [() => fixedPoint(half as never, tensor(5), { maxSteps: 2 } as never), 'fixedPoint(..., {}, { maxSteps })'],
      [
        () => linearSolve(((x: AnyExpr) => mul(2, x)) as never, [2, 4] as never, { maxSteps: 2 } as never),
        'linearSolve(..., {}, { maxSteps })',
      ],
    ]
    for (const [f, fix] of calls) {
      const error = thrown(f) as { readonly _tag: string }
      expect(error).toMatchObject({ _tag: 'BadInput' })
      expect(JSON.stringify(error)).toContain(fix)
    }
  })

  it('are parameters of a function that takes some, whatever they are called', () => {
    const { x } = root((v, { tolerance }) => sub(mul(v, v), tolerance), tensor(1), { tolerance: tensor(4) })
    expect(evaluate(x).item()).toBeCloseTo(2, 10)
    expect(evaluate(odeint((_t, y) => neg(y), tensor(1), [0, 1], {}, { method: 'rk4', substeps: 1 }).ys).data[1]).toBeCloseTo(0.375, 12)
    expect(evaluate(root(square as never, tensor(1)).x as AnyExpr).data[0]).toBeCloseTo(Math.SQRT2, 8)
  })
})
