// Rows of f32 that are added where indices say: totals in f64, in order, rounded once, in each of the three forms of the kernel; the shapes reach them.
import { describe, expect, it } from 'vitest'
import { addingRows } from '../../src/backends/cpu/wasm/scatter.js'
import { type AnyExpr, add, compile, cpu, grad, mul, reference, segmentSum, sum, type Tensor, take, tensor } from '../../src/index.js'

let seed = 7
const random = (): number => {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
  return seed / 2 ** 32
}
const compiled = compile as unknown as (f: unknown, backend: unknown) => (...xs: readonly unknown[]) => Tensor
const loose = { segmentSum, take, add, mul, sum, grad } as unknown as Record<string, (...xs: readonly unknown[]) => AnyExpr>
const floats = (shape: readonly number[]): Tensor => {
  const size = shape.reduce((a, b) => a * b, 1)
  // Magnitudes that differ by 2^24 and cancel: a total in f32 would be wrong.
  const data = Float32Array.from({ length: size }, () => (random() - 0.5) * (random() < 0.2 ? 2 ** 24 : 1))
  return tensor(data as never, shape as never, 'f32') as unknown as Tensor
}
const indices = (count: number, rows: number): Tensor =>
  tensor(Int32Array.from({ length: count }, () => Math.floor(random() * rows)) as never, [count] as never, 'i32') as unknown as Tensor

/** Each form, by what it needs of scratch: totals of all, a table and totals, lists. */
const forms: readonly (readonly [
  name: string,
  shapes: readonly (readonly [rows: number, width: number, added: number])[],
  scratch: (...of: [number, number, number]) => number,
])[] = [
  [
    'lists',
    [
      [70, 1000, 70],
      [300, 257, 1100],
      [100, 700, 399],
      [2100, 33, 2000],
    ],
    (rows, width, added) => 16 * Math.ceil((4 * (rows + 1 + added)) / 16) + 8 * Math.min(width, 256),
  ],
  [
    'totals of all rows',
    [
      [20, 50, 300],
      [40, 3, 100],
      [1, 5, 3],
    ],
    (rows, width) => 8 * rows * width,
  ],
  ['totals of some', [[900, 40, 200]], (rows, width, added) => 4 * rows + 8 * width * added],
]

describe('rows of f32 added up', () => {
  for (const [name, shapes, scratch] of forms)
    it(`by ${name}`, () => {
      for (const [rows, width, added] of shapes) {
        const kernel = addingRows('f32', { batches: 1, outer: 1, size: rows, count: added, bytes: 4 * width })
        expect(kernel.scratchBytes).toBe(scratch(rows, width, added))
        const [u, at] = [floats([added, width]), indices(added, rows)]
        const got = compiled((x: unknown, i: unknown) => loose.segmentSum!(x, i, rows), cpu())(u, at)
        const want = new Float64Array(rows * width)
        for (let j = 0; j < added; j++)
          for (let c = 0; c < width; c++) want[Number(at.data[j]) * width + c]! += Number(u.data[j * width + c])
        expect(Array.from(got.data as Float32Array)).toEqual(Array.from(want, Math.fround))
      }
    })
  it('into what is there, of several batches of rows', () => {
    // The adjoint of a gather along the second axis, beside another cotangent of the same array.
    const [x, v] = [floats([3, 80, 300]), floats([3, 80, 300])]
    const [at, w] = [indices(150, 80), floats([3, 150, 300])]
    const f = (a: unknown) => loose.add!(loose.sum!(loose.mul!(a, v)), loose.sum!(loose.mul!(loose.take!(a, at, { axis: 1 }), w)))
    const of = (backend: unknown): readonly number[] => Array.from(compiled(loose.grad!(f), backend)(x).data as Float32Array)
    const want = of(reference())
    of(cpu()).forEach((value, i) => {
      expect(Math.abs(value - want[i]!)).toBeLessThanOrEqual(2 ** -23 * Math.abs(want[i]!))
    })
  })
})
