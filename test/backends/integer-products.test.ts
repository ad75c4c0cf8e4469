/** Products of integers: exact, wrapped around at 32 bits as NumPy's int32, on every backend and through every view. */
import { describe, expect, it } from 'vitest'
import type { SyncBackend } from '../../src/core/functions/backend.js'
import * as c from '../../src/index.js'

/** Any operation, without its types: shapes here are data. */
type Any = Record<string, (...xs: unknown[]) => unknown>
const cd = c as unknown as Any
const backends: readonly (readonly [string, SyncBackend])[] = [
  ['reference', c.reference()],
  ['simd', c.cpu({ verify: true })],
  ['plain', c.cpu({ simd: false, verify: true })],
]
interface Ints {
  readonly shape: readonly number[]
  readonly data: Int32Array
}
/** Numbers over the whole range of an i32. */
const ints = (seed: number, ...shape: number[]): Ints => ({
  shape,
  data: Int32Array.from({ length: shape.reduce((n, d) => n * d, 1) }, (_, i) => Math.imul((i + 1) * 7919 + seed, 0x9e3779b1)),
})
const tensor = ({ data, shape }: Ints): unknown => cd.tensor!(data, shape)
/** The product of two matrices, by wrapping multiplication and addition. */
const product = (a: Ints, b: Ints, acc?: Int32Array): number[] => {
  const [m, k, n] = [a.shape[0]!, a.shape[1]!, b.shape[1]!]
  return Array.from({ length: m * n }, (_, at) => {
    let s = acc?.[at] ?? 0
    for (let l = 0; l < k; l++) s = (s + Math.imul(a.data[Math.floor(at / n) * k + l]!, b.data[l * n + (at % n)]!)) | 0
    return s
  })
}
const turned = ({ shape: [r, s], data }: Ints): Ints => ({
  shape: [s!, r!],
  data: data.map((_, i) => data[(i % r!) * s! + Math.floor(i / r!)]!),
})
const values = (y: unknown): unknown[] => {
  const t = y as { readonly dtype?: string; readonly data?: Int32Array }
  return [t.dtype, ...t.data!]
}

describe.each(backends)('%s', (_name, b) => {
  const run = (f: (...xs: never[]) => unknown, ...xs: unknown[]): unknown[] =>
    values((cd.compile!(f, b) as (...xs: unknown[]) => unknown)(...xs))
  const [A, B] = [ints(13, 5, 7), ints(29, 7, 6)]
  const AB = product(A, B)

  it('more than an f32 holds', () => {
    expect(run((x) => cd.matmul!(x, [[1]]), cd.tensor!(Int32Array.of(16777217), [1, 1]))).toEqual(['i32', 16777217])
    expect(run((x, y) => cd.dot!(x, y), cd.tensor!(Int32Array.of(16777217, 1), [2]), cd.tensor!(Int32Array.of(1, 2), [2]))).toEqual([
      'i32',
      16777219,
    ])
    expect(run((x, y) => cd.vdot!(x, y), cd.tensor!(Int32Array.of(65536, 1), [2]), cd.tensor!(Int32Array.of(65537, 5), [2]))).toEqual([
      'i32',
      65541,
    ])
  })
  it('matrices, and through transposed views', () => {
    expect(run((x, y) => cd.matmul!(x, y), tensor(A), tensor(B))).toEqual(['i32', ...AB])
    expect(run((x, y) => cd.matmul!(cd.transpose!(x), y), tensor(turned(A)), tensor(B))).toEqual(['i32', ...AB])
    expect(run((x, y) => cd.matmul!(x, cd.transpose!(y)), tensor(A), tensor(turned(B)))).toEqual(['i32', ...AB])
    expect(run((x, y) => cd.transpose!(cd.matmul!(cd.transpose!(y), cd.transpose!(x))), tensor(A), tensor(B))).toEqual(['i32', ...AB])
    const wide = ints(13, 5, 14)
    const left: Ints = { shape: [5, 7], data: A.data.map((_, i) => wide.data[Math.floor(i / 7) * 14 + 2 * (i % 7)]!) }
    expect(run((x, y) => cd.matmul!(cd.slice!(x, [0, 0], [5, 14], [1, 2]), y), tensor(wide), tensor(B))).toEqual([
      'i32',
      ...product(left, B),
    ])
  })
  it('vectors, stacks, broadcast and empty ones', () => {
    const v = ints(3, 7)
    const Av = product(A, { shape: [7, 1], data: v.data })
    expect(run((x, y) => cd.matmul!(x, y), tensor(A), tensor(v))).toEqual(['i32', ...Av])
    expect(run((x, y) => cd.dot!(x, y), tensor(A), tensor(v))).toEqual(['i32', ...Av])
    const stack = ints(5, 3, 5, 7)
    const each = [0, 1, 2].flatMap((i) => product({ shape: [5, 7], data: stack.data.subarray(35 * i, 35 * i + 35) }, B))
    expect(run((x, y) => cd.matmul!(x, y), tensor(stack), tensor(B))).toEqual(['i32', ...each])
    expect(run((x, y) => cd.matmul!(cd.broadcastTo!(x, [2, 5, 7]), y), tensor(A), tensor(B))).toEqual(['i32', ...AB, ...AB])
    expect(run((x, y) => cd.matmul!(x, y), tensor(ints(1, 2, 0)), tensor(ints(1, 0, 3)))).toEqual(['i32', 0, 0, 0, 0, 0, 0])
    expect(run((x, y) => cd.matmul!(x, y), tensor(ints(1, 0, 3)), tensor(ints(1, 3, 2)))).toEqual(['i32'])
  })
  it('into an accumulator', () => {
    const acc = ints(77, 5, 6)
    expect(run((z, x, y) => cd.matmulAdd!(z, x, y), tensor(acc), tensor(A), tensor(B))).toEqual(['i32', ...product(A, B, acc.data)])
    const twice = acc.data.map((v) => Math.imul(v, 2))
    expect(run((z, x, y) => cd.add!(cd.matmul!(x, cd.transpose!(y)), cd.mul!(z, 2)), tensor(acc), tensor(A), tensor(turned(B)))).toEqual([
      'i32',
      ...product(A, B, twice),
    ])
  })
  it('einsum, tensordot, outer, kron', () => {
    expect(run((x, y) => cd.einsum!('ij,jk->ki', x, y), tensor(A), tensor(B))).toEqual([
      'i32',
      ...turned({ shape: [5, 6], data: Int32Array.from(AB) }).data,
    ])
    expect(run((x, y) => cd.tensordot!(x, y, 1), tensor(A), tensor(B))).toEqual(['i32', ...AB])
    const C = ints(41, 6, 2)
    expect(run((x, y, z) => cd.einsum!('ij,jk,kl->il', x, y, z), tensor(A), tensor(B), tensor(C))).toEqual([
      'i32',
      ...product({ shape: [5, 6], data: Int32Array.from(AB) }, C),
    ])
    const [u, v] = [ints(2, 3), ints(9, 4)]
    const all = [...u.data].flatMap((p) => [...v.data].map((q) => Math.imul(p, q)))
    expect(run((x, y) => cd.outer!(x, y), tensor(u), tensor(v))).toEqual(['i32', ...all])
    expect(run((x, y) => cd.kron!(x, y), tensor(u), tensor(v))).toEqual(['i32', ...all])
  })
  it('booleans count, and beside a float the product is one of floats', () => {
    const [row, column] = [cd.tensor!([[true, true, false]]), cd.tensor!([[true], [true], [true]])]
    expect(run((x, y) => cd.matmul!(x, y), row, column)).toEqual(['i32', 2])
    expect(run((x, y) => cd.matmul!(x, y), row, tensor(ints(1, 3, 1)))).toEqual([
      'i32',
      ...product({ shape: [1, 3], data: Int32Array.of(1, 1, 0) }, ints(1, 3, 1)),
    ])
    expect(run((x, y) => cd.matmul!(x, y), row, cd.tensor!([0.5, 0.25, 1], [3, 1], 'f32'))).toEqual(['f32', 0.75])
  })
  it('sums that wrap, means that do not', () => {
    const big = cd.tensor!(new Int32Array(12).fill(2 ** 30), [3, 4])
    expect(run((x) => cd.sum!(x, { axis: 0 }), big)).toEqual(['i32', ...new Array(4).fill((3 * 2 ** 30) | 0)])
    expect(run((x) => cd.sum!(x, { axis: 1 }), big)).toEqual(['i32', 0, 0, 0])
    expect(run((x) => cd.mean!(x, { axis: 1 }), big)).toEqual(['f64', 2 ** 30, 2 ** 30, 2 ** 30])
    expect(run((x) => cd.prod!(x, { axis: 0 }), tensor(ints(5, 3, 4)))).toEqual([
      'i32',
      ...[0, 1, 2, 3].map((j) => [0, 1, 2].reduce((p, i) => Math.imul(p, ints(5, 3, 4).data[4 * i + j]!), 1)),
    ])
    expect(run((x) => cd.cumsum!(x, { axis: 0 }), big)).toEqual(['i32', ...[1, 2, 3].flatMap((k) => new Array(4).fill((k * 2 ** 30) | 0))])
    expect(
      run(
        (x) => cd.sum!(x, { axis: 0 }),
        cd.tensor!([
          [true, false],
          [true, true],
        ]),
      ),
    ).toEqual(['i32', 2, 1])
  })
})
