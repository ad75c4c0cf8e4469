/** How values print: one line that says what they are. */
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'

const loose = cd as unknown as { readonly [name: string]: (...args: readonly unknown[]) => unknown }

describe('expressions print', () => {
  it('as what they are, in a console, in text and inside other values', () => {
    const x = cd.tensor([[1, 2]])
    const product = loose.matmul!(x, [[3], [4]])
    const text = 'Expr matmul: f64 [1, 1] (evaluate(x) gives its numbers)'
    expect(inspect(product)).toBe(text)
    expect(String(product)).toBe(text)
    expect(inspect({ y: [product] })).toBe(`{ y: [ ${text} ] }`)
    expect(inspect(loose.maxPool!(cd.tensor(new Float32Array(16), [1, 1, 4, 4]), { window: [2, 2] }))).toContain(
      'Expr maxPool: f32 [1, 1, 2, 2] (evaluate',
    )
  })
  it('inputs by their names, literals by their numbers', () => {
    const seen: string[] = []
    const f = cd.fn({ w: cd.f32(3) }, ({ w }) => {
      const [a] = [loose.mul!(w, -0) as { readonly args: readonly unknown[] }]
      seen.push(...a.args.map(String), String(w))
      return w
    })
    cd.compile(f)({ w: [1, 2, 3] } as never)
    expect(seen).toEqual(['Expr w: f32 [3]', 'Expr -0: f32 []', 'Expr w: f32 [3]'])
  })
})
describe('tensors print', () => {
  it('with their numbers', () => {
    expect(inspect(cd.tensor([1, 2], [2], 'i32'))).toBe('Tensor i32 [2] [1, 2]')
  })
  it('a vector on the line of its head, rows below each other and below the head, in columns', () => {
    const said = (...lines: readonly string[]): string => lines.join('\n')
    expect(String(cd.tensor([[1, 20, 300]]))).toBe('Tensor f64 [1, 3] [[1, 20, 300]]')
    expect(
      inspect(
        cd.tensor([
          [1, 2, 3],
          [4.5, -50, 1 / 3],
        ]),
      ),
    ).toBe(said('Tensor f64 [2, 3]', '[[      1,       2,       3],', ' [    4.5,     -50, 0.33333]]'))
    expect(String(cd.tensor([[true], [false]]))).toBe(said('Tensor bool [2, 1]', '[[ true],', ' [false]]'))
    expect(
      String(
        cd.tensor(
          [
            [[1], [2]],
            [[3], [40]],
          ],
          'i32',
        ),
      ),
    ).toBe(said('Tensor i32 [2, 2, 1]', '[[[ 1],', '  [ 2]],', '', ' [[ 3],', '  [40]]]'))
    expect(String(cd.evaluate(cd.zeros([2, 0])))).toBe('Tensor f64 [2, 0] []')
  })
  it('inside other values, each below its name', () => {
    expect(inspect({ a: cd.tensor([[1], [2]]), b: cd.tensor([3]) })).toBe(
      ['{', '  a: Tensor f64 [2, 1]', '  [[1],', '   [2]],', '  b: Tensor f64 [1] [3]', '}'].join('\n'),
    )
  })
  it('of many elements the ends of every axis, in the columns of those that are shown', () => {
    const t = cd.evaluate(cd.reshape(cd.arange(80), [10, 8]))
    expect(String(t).split('\n')).toEqual([
      'Tensor f64 [10, 8]',
      '[[ 0,  1,  2, ...,  5,  6,  7],',
      ' [ 8,  9, 10, ..., 13, 14, 15],',
      ' [16, 17, 18, ..., 21, 22, 23],',
      ' ...,',
      ' [56, 57, 58, ..., 61, 62, 63],',
      ' [64, 65, 66, ..., 69, 70, 71],',
      ' [72, 73, 74, ..., 77, 78, 79]]',
    ])
    expect(String(cd.evaluate(cd.arange(7)))).toBe('Tensor f64 [7] [0, 1, 2, ..., 4, 5, 6]')
  })
  it('what is no number of five digits: infinities, NaN, the sign of 0, whole numbers that f64 does not tell apart', () => {
    expect(String(cd.tensor([-0, Number.NaN, -1 / 0, 2 ** 53 - 1, 2 ** 53, 1e300, 1.5e-300, 123456.789]))).toContain(
      '[-0, NaN, -Infinity, ..., 1e+300, 1.5e-300, 123460]',
    )
    expect(String(cd.tensor([2 ** 53 - 1, 2 ** 53]))).toBe('Tensor f64 [2] [9007199254740991, 9.0072e+15]')
  })
})

describe('errors, explanations and programs print', () => {
  const failure = (): cd.AdException => {
    try {
      cd.sum([1, 2], 0 as never)
    } catch (e) {
      if (cd.isAdException(e)) return e
    }
    throw new Error('no error was raised')
  }
  it('an error once, in words: its data is no second text', () => {
    const e = failure()
    expect(inspect(e)).toMatch(/^BadInput: sum: 0 where options may stand\.\n {2}at .*print\.test\.ts:\d+:\d+\n {2}fix: .*\n {4}at /)
    expect(inspect(e)).not.toContain('_tag')
    // What Node prints of an error that nobody caught looks at properties alone.
    expect(inspect(e, { customInspect: false })).toMatch(/^AdException: BadInput: sum/)
    expect(inspect(e, { customInspect: false })).not.toContain('_tag')
    expect([e.name, e._tag, e.error._tag, e instanceof Error]).toEqual(['AdException', 'AdException', 'BadInput', true])
  })
  it('what explain tells as a line of figures and a table of steps; it is data as before', () => {
    const f = cd.compile(cd.grad((x: cd.AnyExpr) => cd.sum(cd.mul(cd.tanh(x), x))))
    f([1, 2, 3])
    const told = f.explain()
    const text = String(told)
    expect(text).toMatch(/^cpu: 1 step, 1 kernel, 48 flops, 56 bytes moved, 24 at the peak, /)
    expect(text.split('\n')[1]).toMatch(/^ {2}step {2}kernel +sizes +flops +bytes +reads +writes$/)
    expect(text.split('\n')[2]).toMatch(/^ {5}0 {2}loop tanh .* {2}\[3\] +48 +56 {2}input 0 \(f64 \[3\]\)/)
    expect(inspect(told)).toBe(text)
    expect(Object.keys(told)).toContain('steps')
    expect(JSON.parse(JSON.stringify(told))).toMatchObject({ backend: 'cpu', flops: 48 })
    const dropping = cd.compile(cd.grad((x: cd.AnyExpr) => cd.sum(cd.mul(x, cd.exp(cd.tensor([1, 2]))))))
    dropping([1, 2])
    expect(String(dropping.explain())).toMatch(/left out of the derivatives:\n {2}mul: the cotangent of argument 1 is/)
  })
  it('a program as show writes it, also one that was read', () => {
    const p = cd.toProgram((x) => cd.sum(x))([1, 2])
    expect(inspect(p)).toBe(cd.show(p))
    const read = cd.fromJSON(cd.toJSON(p))
    expect(inspect(read)).toContain('y0 = sum(x0) {axes [0]} : f64 []')
    const declared = cd.toProgram(
      cd.fn({ x: cd.f64('n') }, ({ x }) => cd.sum(x)),
      { n: 2 },
    )
    expect(String(declared)).toMatch(/^fn\(x: f64 \[2\]\)/)
  })
})
