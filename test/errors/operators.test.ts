/** JavaScript's operators do not see arrays: what they would make of them in silence is one error that names the operation. */
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'

type X = Record<string, number> & number
const grad = cd.grad as unknown as (f: (x: X) => unknown) => (x: unknown) => unknown
const message = (f: () => unknown): string => {
  try {
    f()
  } catch (e) {
    expect(cd.isAdException(e) && e.error._tag).toBe('BadInput')
    return (e as Error).message
  }
  return 'no error'
}
const uses: readonly (readonly [name: string, use: (x: X) => unknown])[] = [
  ['x * 2', (x) => x * 2],
  ['x + 1', (x) => x + 1],
  ["x + ''", (x) => (x as unknown as string) + ''],
  ['2 - x', (x) => 2 - x],
  ['-x', (x) => -x],
  ['+x', (x) => +x],
  ['x ** 2', (x) => x ** 2],
  ['x | 0', (x) => x | 0],
  ['x > 0 ? x : 0', (x) => (x > 0 ? x : 0)],
  ['x <= 2', (x) => x <= 2],
  // biome-ignore lint/suspicious/noDoubleEquals: the operator that coerces
  ['x == 1', (x) => (x as unknown) == 1],
  ['Math.sin(x)', (x) => Math.sin(x)],
  ['Number(x)', (x) => Number(x)],
  ['isNaN(x)', (x) => Number.isNaN(Math.abs(x))],
  ['new Float64Array([x])', (x) => Float64Array.of(x)],
]

describe('operators of JavaScript on an expression, and on a tensor', () => {
  it.each(uses)('%s', (_, use) => {
    expect(message(() => grad(use)(3))).toMatch(
      /operator of JavaScript.*was given an expression[\s\S]*operators\.test\.ts[\s\S]*mul\(x, 2\).*where/,
    )
    expect(message(() => use(cd.tensor(3) as unknown as X))).toMatch(/was given a tensor[\s\S]*x\.item\(\)/)
  })
  it.each([
    ['x[0]', (x: X) => x[0]],
    ['x.length', (x: X) => x.length],
    ['[...x]', (x: X) => [...(x as unknown as number[])]],
    [
      'const [a] = x',
      (x: X) => {
        const [a] = x as unknown as number[]
        return a
      },
    ],
  ])('%s of an expression', (_, use) => {
    expect(message(() => grad(use as (x: X) => unknown)([1, 2]))).toMatch(/at\(x, 0\).*unstack\(x\)[\s\S]*x\.shape/)
  })
  it('text is as it was', () => {
    const seen: string[] = []
    grad((x) => {
      seen.push(`${x}`, String(x), [x].join())
      return x
    })(3)
    expect(new Set(seen)).toEqual(new Set(['Expr input: f64 []']))
    expect(`${cd.tensor([1, 2])}`).toBe('Tensor f64 [2] [1, 2]')
  })
  it.each([
    ['NoTangent', cd.NoTangent, /NoTangent: it would see NaN[\s\S]*no tangent space/],
    ['ZeroTangent', cd.ZeroTangent, /ZeroTangent: it would see NaN[\s\S]*exactly zero/],
  ] as const)('%s is no number either', (name, zero, says) => {
    for (const [, use] of uses) expect(message(() => use(zero as never))).toMatch(says)
    expect([Object.keys(zero), Object.isFrozen(zero), JSON.stringify(zero)]).toEqual([['_tag'], true, `{"_tag":"${name}"}`])
  })
  it.each([
    ['a thunk', cd.thunk(() => cd.ZeroTangent), /a thunk: it would see NaN[\s\S]*built on demand/],
    [
      'an inplaceable thunk',
      cd.inplaceableThunk(
        () => cd.ZeroTangent,
        (acc) => acc,
      ),
      /a thunk: it would see NaN/,
    ],
    ['NotImplemented', cd.notImplemented('f', 'a reason'), /NotImplemented: it would see NaN[\s\S]*return it as it is/],
  ] as const)('%s is no number', (_, tangent, says) => {
    for (const [, use] of uses) expect(message(() => use(tangent as never))).toMatch(says)
  })
  it('JSON.stringify of an expression says what to write instead', () => {
    const e = cd.mul([1, 2], 3)
    for (const x of [e, { a: [e] }])
      expect(message(() => JSON.stringify(x))).toMatch(
        /Expr mul: f64 \[2\][\s\S]*toJSON\(toProgram\(f\)[\s\S]*show\(x\)[\s\S]*evaluate\(x\)/,
      )
    expect(message(() => grad((x) => JSON.stringify(x))(3))).toMatch(/Expr input: f64 \[\]/)
  })
  it('what is true of objects stays: x === x, typeof x, x.shape', () => {
    expect(
      grad((x) => (Object.is(x, x) && typeof x === 'object' && (x as unknown as cd.AnyExpr).shape.length === 0 ? x : 0))(3),
    ).toMatchObject({
      dtype: 'f64',
    })
  })
})
