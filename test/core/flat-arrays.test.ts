/** Typed arrays as arguments: they have no shape, the declaration gives it to them. */
import { describe, expect, it } from 'vitest'
import { f32, f64, fn, i32, mul, sum } from '../../src/index.js'

const shapeOf = (declared: Parameters<typeof f64>, length: number) =>
  fn({ x: f64(...declared) }, ({ x }) => mul(x, 1))({ x: new Float64Array(length) }).shape

describe('a typed array', () => {
  it.each([
    [[2, 3], 6, [2, 3]],
    [['n', 3], 6, [2, 3]],
    [[3, 'n'], 6, [3, 2]],
    [['n', 3], 0, [0, 3]],
    [['n'], 5, [5]],
    [['n', 1, 1], 4, [4, 1, 1]],
    [[], 1, []],
  ])('of the declared %j takes the size that is not known from its length %i', (declared, length, shape) => {
    expect(shapeOf(declared, length)).toEqual(shape)
  })
  it.each([
    [['n', 3], 7, /x: got \[7\], declared \[n, 3\]/],
    [['n', 'm'], 6, /x: got \[6\], declared \[n, m\]/],
    [['n', 'n'], 4, /x: got \[4\], declared \[n, n\]/],
    [['n', 0], 0, /x: got \[0\], declared \[n, 0\]/],
    [[2, 3], 7, /x: got \[7\], declared \[2, 3\]/],
  ])('of the declared %j is refused where its length %i does not say its shape', (declared, length, message) => {
    expect(() => shapeOf(declared, length)).toThrow(message)
  })
  it('binds the name for its neighbours, which are held to it', () => {
    const f = fn({ w: f32('n', 2), x: f32('n', 3), y: i32('n') }, ({ w, x }) => mul(sum(w), sum(x)))
    expect(f({ w: new Float32Array([1, 2, 3, 4]), x: new Float32Array(6).fill(1), y: [0, 0] }).item()).toBe(60)
    expect(() => f({ w: new Float32Array(4), x: new Float32Array(9), y: [0, 0] })).toThrow(/x: got \[9\], declared \[n, 3\]/)
    expect(() => f({ w: new Float32Array(4), x: new Float32Array(6), y: [0] })).toThrow(/'n' is 1 here and 2 in .*w/)
  })
  it('may take a size from a neighbour', () => {
    const f = fn({ a: f64('n'), b: f64('n', 'm') }, ({ a, b }) => mul(sum(a), b))
    expect(f({ a: [1, 2], b: new Float64Array(6) }).shape).toEqual([2, 3])
  })
})
