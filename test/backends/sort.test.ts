// Sorting on the CPU: the kernel of WebAssembly against plain loops, to the bit, in lines that are long enough for it.
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import { UNDEALT } from '../../src/backends/cpu/wasm/sort.js'
import type { Backend } from '../../src/core/functions/backend.js'
import * as cd from '../../src/index.js'

const backends = [makeCpu({ simd: true }), makeCpu({ simd: false })]
const drawn = (n: number): number[] => Array.from({ length: n }, (_, i) => (Math.sin(12.9898 * i + 1) * 43758.5453) % 1)
const kinds: Readonly<Record<'f32' | 'i32', Readonly<Record<string, (u: number, i: number) => number>>>> = {
  f32: {
    wide: (u, i) => u * 10 ** ((i % 60) - 30),
    'a few values': (u) => Math.floor(7 * u),
    'NaN, infinities, both zeros, subnormals': (_u, i) => [Number.NaN, Infinity, -Infinity, 0, -0, 1, -1, 1e-40][(i * 7 + (i >> 3)) % 8]!,
    'all the same': () => 4,
  },
  i32: {
    wide: (u) => Math.floor(2 ** 31 * u),
    'a few values': (u) => Math.floor(7 * u),
    extremes: (_u, i) => [2 ** 31 - 1, -(2 ** 31), 0, -1, 1][(i * 3 + (i >> 2)) % 5]!,
    'all the same': () => -4,
  },
}
const shapes: readonly (readonly [shape: readonly number[], axis: number])[] = [[[511], 0], [[512], 0], [[3, 700], 1], [[520, 5], 0], [[2, 513, 3], 1], [[0, 600], 1]] // biome-ignore format: one row

/** Values and places as both backends give them, to the bit. */
const agree = (x: cd.Tensor, axis: number, descending: boolean): void => {
  const f = (v: cd.AnyExpr): unknown => [cd.sort(v, { axis, descending } as never), cd.argsort(v, { axis, descending } as never)]
  const [ours, plain] = backends.map((b) => (cd.compile as never as (f: unknown, b: Backend) => (x: cd.Tensor) => cd.Tensor[])(f, b)(x))
  for (const k of [0, 1]) expect([...ours![k]!.data].every((v, i) => Object.is(v, plain![k]!.data[i]))).toBe(true)
  expect(ours![0]!.data.length).toBe(x.data.length)
}

describe.each(['f32', 'i32'] as const)('%s', (dtype) => {
  it.each(Object.entries(kinds[dtype]))('%s: values and places, in both orders', (_kind, of) => {
    for (const [shape, axis] of shapes)
      for (const descending of [false, true]) {
        const size = shape.reduce((a, b) => a * b, 1)
        const x = cd.tensor(drawn(size).map(of), shape, dtype)
        agree(x, axis, descending)
      }
  })
})

describe('lines that are dealt into parts first', () => {
  const n = UNDEALT + 1
  const line = (of: (u: number, i: number) => number, dtype: 'f32' | 'i32', shape: readonly number[] = [n]): cd.Tensor =>
    cd.tensor(drawn(shape.reduce((a, b) => a * b, 1)).map(of), shape as number[], dtype) as never
  it.each([
    // Parts of one size; of a few and of very many numbers; keys that differ in their last bits only, and not at all.
    ['i32 wide', 'i32', kinds.i32.wide, false],
    ['i32 in a few parts', 'i32', (u: number, i: number) => (i % 1000 === 0 ? Math.floor(20 * u) * 2 ** 26 : Math.floor(5 * u)), true],
    ['i32 small', 'i32', (_u: number, i: number) => (i * 7919) % 300, true],
    ['i32 the same', 'i32', () => 3, false],
    ['f32 wide', 'f32', kinds.f32.wide, true],
    ['f32 special', 'f32', kinds.f32['NaN, infinities, both zeros, subnormals'], false],
  ] as const)('%s', (_name, dtype, of, descending) => {
    agree(line(of as (u: number, i: number) => number, dtype), 0, descending)
  })
  it('side by side', () => {
    agree(line(kinds.i32.wide!, 'i32', [n, 2]), 0, false)
  })
})
