// Loops over arrays in different orders, in tiles: what the tiles are, and that every element is where it belongs.
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import { makeLoop } from '../../src/backends/plan/body.js'
import { itemBytes } from '../../src/core/graph/aval.js'
import { add, cast, compile, mul, reference, type Tensor, tensor, transpose, where } from '../../src/index.js'

const tile = { side: 16, from: 2 ** 14, aligned: 512, narrow: 4, long: 64, turned: 16 }
/** The axes of the loop that transposes a matrix of f32. */
const sizesOf = (rows: number, columns: number): readonly number[] => {
  const at = (strides: readonly number[]) => ({ storage: 0, offset: 0, strides, dtype: 'f32' as const })
  const body = { inputs: ['f32' as const], ops: [], results: [0] }
  return makeLoop([columns, rows], body, [at([1, columns])], [at([rows, 1])], itemBytes, true, tile).sizes
}
const plain = compile as unknown as (f: unknown, backend: unknown) => (x: unknown) => Tensor
const transposed = (rows: number, columns: number, dtype: 'f32' | 'f64', backend: unknown): boolean => {
  const data = Array.from({ length: rows * columns }, (_, i) => i)
  const x = (tensor as unknown as (...args: readonly unknown[]) => Tensor)(data, [rows, columns], dtype)
  const got = plain((a: never) => transpose(a), backend)(x).data
  return data.every((_, i) => got[i] === data[(i % rows) * columns + Math.floor(i / rows)])
}

describe('tiles', () => {
  it('are near to square, and narrow where lines lie a multiple of 512 elements apart', () => {
    expect(sizesOf(1000, 1000)).toEqual([40, 40, 25, 25])
    expect(sizesOf(2048, 1024)).toEqual([8, 256, 128, 8])
    expect(sizesOf(1000, 512)).toEqual([4, 125, 128, 8])
    expect(sizesOf(100, 100)).toEqual([100, 100])
  })
  it('are square where an axis has no narrow part', () => {
    expect(sizesOf(961, 512)).toEqual([16, 31, 32, 31])
  })
  it('cover every element once', () => {
    for (const dtype of ['f32', 'f64'] as const)
      for (const [rows, columns] of [
        [512, 512],
        [1000, 512],
        [961, 512],
        [24, 1024],
        [1024, 24],
        [300, 200],
      ] as const)
        expect(transposed(rows, columns, dtype, makeCpu({ verify: dtype === 'f32' })), `${dtype} ${rows} x ${columns}`).toBe(true)
  })
  it('read blocks that are turned in registers where the body is short and nothing is folded', () => {
    const at = (strides: readonly number[], dtype: 'f32' | 'i32' = 'f32') => ({ storage: 0, offset: 0, strides, dtype })
    const body = { inputs: ['f32' as const, 'f32' as const], ops: [], results: [0] }
    const accesses = (outputs: never) => makeLoop([30, 50], body, [at([1, 30]), at([50, 1])], outputs, itemBytes, true, tile).kernel.inputs
    expect(accesses([at([50, 1])] as never)).toEqual(['turned', 'unit'])
    expect(accesses([{ ...at([50, 0]), fold: { op: 'sum', axes: [false, true], accumulate: false } }] as never)).toEqual(['any', 'unit'])
  })

  type E = Parameters<typeof transpose>[0]
  type Any = (...xs: readonly unknown[]) => never
  const [plus, times, choose, to, turn] = [add, mul, where, cast, transpose] as unknown as readonly Any[]
  const bodies: Readonly<Record<string, (a: E, b: E, n: E, p: E, w: E) => unknown>> = {
    'of one array': (_, b, n, p, w) => [turn!(b), turn!(n), turn!(p), turn!(w)],
    'with one that is not turned': (a, b) => plus!(a, turn!(b)),
    'two, and a number': (_, b, n) => plus!(times!(turn!(b), 3), turn!(to!(n, 'f32'))),
    'chosen by bools': (a, b, _n, p) => choose!(turn!(p), a, turn!(b)),
    'wide beside narrow': (a, b, n, p, w) => [
      plus!(turn!(w), turn!(b)),
      choose!(turn!(p), turn!(w), to!(turn!(n), 'f64')),
      plus!(a, to!(turn!(w), 'f32')),
    ],
  }
  it.each(Object.keys(bodies))('%s: rows and columns of every remainder, as without vectors', (name) => {
    const backends = [
      makeCpu({ verify: true, poison: true, tile: { ...tile, side: 2, from: 0, aligned: 4, narrow: 1, long: 4 } } as never),
      makeCpu({ verify: true, simd: false }),
    ]
    for (const [rows, columns] of [
      [1, 9],
      [9, 1],
      [4, 4],
      [5, 6],
      [7, 9],
      [8, 35],
      [34, 19],
      [131, 130],
    ] as const) {
      const of = (dtype: string, shape: readonly number[], k: number): Tensor =>
        (tensor as unknown as Any)(
          Array.from({ length: rows * columns }, (_, i) =>
            dtype === 'bool' ? (i * k) % 3 === 0 : dtype === 'i32' ? (i * k) % 91 : Math.sin(i * k),
          ),
          shape,
          dtype,
        )
      const turned = [columns, rows]
      const given = [of('f32', [rows, columns], 1), of('f32', turned, 2), of('i32', turned, 5), of('bool', turned, 7), of('f64', turned, 3)]
      const run = (backend: unknown): readonly unknown[] =>
        [(compile as unknown as Any)(bodies[name], backend) as unknown as (...xs: unknown[]) => unknown]
          .flatMap((f) => f(...given))
          .map((t) => [...(t as Tensor).data])
      const want = run(reference())
      for (const backend of backends) expect(run(backend), `${rows} x ${columns}`).toEqual(want)
    }
  })
})
