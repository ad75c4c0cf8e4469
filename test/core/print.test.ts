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
})
