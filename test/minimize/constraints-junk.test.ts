/** Bounds and constraints that make no sense: one error that says what and where, or a result that says why; never one that converged. */
import { describe, expect, it } from 'vitest'
import {
  type AnyExpr,
  add,
  broadcastTo,
  cast,
  expandDims,
  gt,
  isAdException,
  log,
  square,
  sub,
  sum,
  tensor,
  zeros,
} from '../../src/index.js'
import { minimize } from '../../src/minimize/index.js'

type X = AnyExpr
const f = (x: X): X => sum(square(sub(x, [1, 2]))) as X
const run = (options: unknown, method: string, x0: unknown = [0, 0], g: unknown = f) =>
  minimize(g as never, x0 as never, { method, ...(options as object) } as never)
const failure = (act: () => unknown): string => {
  try {
    act()
  } catch (e) {
    if (isAdException(e)) return e.message
    throw e
  }
  return 'nothing was refused'
}
const methods = ['sqp', 'lbfgs'] as const

describe.each(methods)('bounds, %s', (method) => {
  it.each<readonly [string, unknown, RegExp]>([
    ['NaN', { lower: Number.NaN }, /bounds\.lower has a NaN/],
    ['NaN in an array', { upper: [1, Number.NaN] }, /bounds\.upper has a NaN/],
    ['a lower bound that no number reaches', { lower: Number.POSITIVE_INFINITY }, /bounds\.lower has Infinity/],
    ['an upper bound that no number reaches', { upper: [1, Number.NEGATIVE_INFINITY] }, /bounds\.upper has -Infinity/],
    ['that exclude each other', { lower: 2, upper: [3, 1] }, /lower bound 2 is above the upper bound 1/],
    ['of another size', { lower: [1, 2, 3] }, /3 numbers and x0 has 2 there/],
    ['of as many numbers in another shape', { lower: [[0], [0]] }, /bounds\.lower has the shape \[2,1\] and x0 has \[2\] there/],
    ['empty', { lower: [] }, /0 numbers/],
    ['truth values', { lower: tensor([true, false]) }, /bounds\.lower has truth values/],
    ['true', { lower: true }, /bounds\.lower is true/],
    ['a text', { upper: 'a' }, /bounds\.upper is 'a'/],
    ['a function', { upper: () => 1 }, /bounds\.upper is a function/],
    ['a list', [0, 1], /bounds is \[0, 1\][\s\S]*give \{ lower, upper \}/],
    ['null', null, /bounds is null/],
    ['another field', { least: 1 }, /bounds has 'least'/],
  ])('%s', (_, bounds, message) => {
    expect(failure(() => run({ bounds }, method))).toMatch(message)
  })
  it('may be expressions without inputs, as x0 may, and may leave one place', () => {
    expect((run({ bounds: { lower: add(1, [1, 2]) } }, method).x as unknown as { toArray(): number[] }).toArray()).toEqual([2, 3])
    expect((run({ bounds: { lower: 1, upper: 1 } }, method).x as unknown as { toArray(): number[] }).toArray()).toEqual([1, 1])
  })
})

describe.each(methods)('constraints, %s', (method) => {
  it.each<readonly [string, unknown, RegExp]>([
    ['none', {}, /the constraints are empty/],
    ['undefined alone', { equal: undefined }, /the constraints are empty/],
    ['a list', [], /constraints is \[\][\s\S]*give \{ equal, atMost \}/],
    ['a function', (x: X) => x, /constraints is a function/],
    ['a text', 'x', /constraints is 'x'/],
    ['null', null, /constraints is null/],
    ['another field', { equals: (x: X) => x }, /constraints has 'equals'/],
    ['null in place of a function', { equal: null }, /constraints\.equal must be a function, not null/],
    ['a number in place of a function', { atMost: 0 }, /constraints\.atMost must be a function, not 0/],
    ['a list of functions', { equal: [(x: X) => sum(x)] }, /constraints\.equal must be a function, not an array of 1/],
    ['a Promise', { equal: async (x: X) => sum(x) }, /constraints\.equal returned a Promise/],
    ['nothing returned', { equal: () => undefined }, /constraints\.equal returned undefined/],
    ['null returned', { atMost: () => null }, /constraints\.atMost returned null/],
    ['a text returned', { equal: () => 'a' }, /constraints\.equal returned 'a'/],
    ['a truth value returned', { atMost: () => false }, /constraints\.atMost returned false/],
    ['a comparison returned', { atMost: (x: X) => gt(x, 0) }, /constraints\.atMost returned bool[\s\S]*return floats/],
    ['truth values in a list', { atMost: (x: X) => [gt(sum(x), 0)] }, /constraints\.atMost returned bool/],
    ['integers returned', { equal: (x: X) => cast(x, 'i32') }, /constraints\.equal returned i32/],
    ['a bigint in a record', { equal: () => ({ a: 1n }) }, /minimize: constraints\.equal returned: a: a bigint/],
    ['a Map', { equal: () => new Map() }, /minimize: constraints\.equal returned: an object of class Map/],
    ['a function returned', { equal: () => () => 0 }, /constraints\.equal returned a function/],
    ['an empty list', { equal: () => [] }, /constraints\.equal returned \[\]/],
    ['an empty array', { equal: () => zeros([0]) }, /the constraints are empty/],
    ['a constant NaN', { equal: () => Number.NaN }, /constraints\.equal at x0 has NaN/],
    ['a constant infinity', { equal: () => Number.POSITIVE_INFINITY }, /constraints\.equal at x0 has Infinity/],
    [
      'one that always holds',
      { atMost: (x: X) => sub(x, [Number.POSITIVE_INFINITY, 1]) },
      /constraints\.atMost at x0 has -Infinity[\s\S]*leave out those that always hold/,
    ],
    ['not finite at x0', { equal: (x: X) => log(sub(sum(x), 1)) }, /constraints\.equal at x0 has NaN[\s\S]*begin where/],
  ])('%s: an error', (_, constraints, message) => {
    expect(failure(() => run({ constraints }, method))).toMatch(message)
  })
  it('that throw pass on what they threw', () => {
    const equal = () => {
      throw new Error('mine')
    }
    expect(() => run({ constraints: { equal } }, method)).toThrow('mine')
  })
  it.each<readonly [string, unknown]>([
    ['a constant that is not 0', { constraints: { equal: () => 1 } }],
    ['a constant above 0', { constraints: { atMost: () => tensor([1, 0]) } }],
    ['equations that exclude each other', { constraints: { equal: (x: X) => [sub(sum(x), 1), sub(sum(x), 2)] } }],
    ['inequalities that do', { constraints: { atMost: (x: X) => [sub(sum(x), 1), sub(2, sum(x))] } }],
    ['an equation outside of the bounds', { bounds: { lower: 2 }, constraints: { equal: (x: X) => sum(x) } }],
    [
      'bounds that leave one place, where it does not hold',
      { bounds: { lower: 1, upper: 1 }, constraints: { equal: (x: X) => sub(sum(x), 3) } },
    ],
    ['a sum of squares that is -1', { constraints: { equal: (x: X) => add(sum(square(x)), 1) } }],
    ['a tree of too many', { constraints: { equal: (x: X) => ({ a: sum(x), b: sub(x, 1) }) } }],
  ])('%s: no place is found, and the result says so', (_, options) => {
    const found = run(options, method)
    expect(found.converged).toBe(false)
    expect(found.reason).toBe('infeasible')
    expect(found.violation).toBeGreaterThan(0.3)
    expect(found.steps).toBeLessThan(200)
  })
  it('constants that hold, rows that follow from others and arrays of any shape are met', () => {
    const close = (constraints: unknown, want: readonly number[]): void => {
      const found = run({ constraints }, method)
      expect(found.converged).toBe(true)
      expect((found.x as unknown as { toArray(): number[] }).toArray()).toEqual(want.map((v) => expect.closeTo(v, 7)))
    }
    close({ equal: () => 0 }, [1, 2])
    close({ atMost: () => -1 }, [1, 2])
    close({ equal: (x: X) => [sub(sum(x), 1), null, 0] }, [0, 1])
    close({ equal: (x: X) => ({ one: sub(sum(x), 1), said: 'twice', two: cast(sub(sum(x), 1), 'f32') }) }, [0, 1])
    close({ atMost: (x: X) => sub(broadcastTo(expandDims(x, 1), [2, 3]), 0.5) }, [0.5, 0.5])
  })
})

it('sqp has not converged where a function falls without end', () => {
  const found = run({}, 'sqp', [0, 0], (x: X) => sum(log(add(x, 1))))
  expect(found.converged).toBe(false)
  expect(found.reason).toBe('lineSearch')
})
