/** A size that was not met before needs no new code: kernels have sizes in their records, and what they compute is that of a backend that never met another size, to the bit. */
import { expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import { random } from '../../src/check/index.js'
import { asExpr } from '../../src/core/graph/expr.js'
import { iotaNode } from '../../src/core/ops/positions.js'
import * as cd from '../../src/index.js'
import { count } from '../depth.js'

type E = cd.AnyExpr
const loose = cd as unknown as Record<string, (...xs: readonly unknown[]) => E>
const next = random(11)
const floats = (dtype: 'f32' | 'f64', ...shape: number[]): cd.Tensor =>
  cd.tensor(
    Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => 4 * next() - 2),
    shape as [number],
    dtype as 'f64',
  ) as unknown as cd.Tensor
const places = (below: number, ...shape: number[]): cd.Tensor =>
  cd.tensor(
    Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => Math.floor(below * next())),
    shape as [number],
    'i32' as 'f64',
  ) as unknown as cd.Tensor
const spd = (n: number): cd.Tensor =>
  cd.tensor(
    Array.from({ length: 9 * n }, (_, i) => (i % 9 === 0 || i % 9 === 4 || i % 9 === 8 ? 5 + next() : 0.5)),
    [n, 3, 3],
  ) as unknown as cd.Tensor

/** The first sizes are where code is made: 0, and 1, by which loops around a kernel have fewer axes, among them. */
const rows: readonly (readonly [
  name: string,
  f: (...xs: E[]) => unknown,
  at: (n: number) => readonly cd.Tensor[],
  first: readonly number[],
  then: readonly number[],
])[] = [
  ['rows taken, of f32', (x, i) => loose.take!(x, i, { axis: 0 }), (n) => [floats('f32', n, 5), places(n, 2 * n)], [0, 1, 4], [7, 64, 3]],
  ['rows of batches', (x, i) => loose.take!(x, i, { axis: 1 }), (n) => [floats('f64', 3, n, 2), places(n, 9)], [1, 4], [7, 64, 3]],
  [
    'elements along a line',
    (x, i) => loose.takeAlongAxis!(x, i, { axis: 1 }),
    (n) => [floats('f32', 3, n), places(n, 3, n + 1)],
    [4],
    [2, 7, 64, 3],
  ],
  [
    'elements along columns',
    (x, i) => loose.takeAlongAxis!(x, i, { axis: 0 }),
    (n) => [floats('f64', n, 3), places(n, n + 1, 3)],
    [1, 4],
    [2, 7, 64],
  ],
  ['rows added, totals of all', (x, i) => loose.segmentSum!(x, i, 6), (n) => [floats('f32', n, 3), places(6, n)], [0, 8], [5, 9, 64, 33]],
  [
    'rows added, totals of some',
    (x, i) => loose.segmentSum!(x, i, 900),
    (n) => [floats('f32', n, 40), places(900, n)],
    [1, 200],
    [2, 77, 201],
  ],
  ['rows added, in lists', (x, i) => loose.segmentSum!(x, i, 70), (n) => [floats('f32', n, 1000), places(70, n)], [70], [36, 60, 99]],
  [
    'rows of f64 added',
    (x, i) => loose.segmentSum!(x, i, i.shape[0] as number),
    (n) => [floats('f64', n, 3), places(n, n)],
    [1, 4],
    [7, 64, 3],
  ],
  [
    'elements added along a line',
    (x, i) =>
      (cd.grad as unknown as (f: unknown) => (x: E) => E)((y: E) => loose.sum!(loose.square!(loose.takeAlongAxis!(y, i, { axis: 1 }))))(x),
    (n) => [floats('f32', 3, n), places(n, 3, 2 * n)],
    [1, 4],
    [7, 64, 3],
  ],
  [
    'positions among sorted',
    (x, i) => loose.searchsorted!(x, i),
    (n) => [cd.tensor([1, 2, 3, 5, 8]) as unknown as cd.Tensor, floats('f64', n)],
    [0, 1, 4],
    [7, 64, 3],
  ],
  ['running sums of a line', (x) => loose.cumsum!(x), (n) => [floats('f32', n)], [0, 1, 4], [7, 64, 3]],
  ['running sums of columns', (x) => loose.cumsum!(x, { axis: 0 }), (n) => [floats('f32', n, 9)], [1, 4], [7, 64, 3]],
  [
    'running products of strips',
    (x) => loose.cumprod!(x, { axis: 1, reverse: true }),
    (n) => [floats('f64', 2, 3, n)],
    [9],
    [64, 11, 4097],
  ],
  [
    'a recurrence',
    (a, b) => loose.linearRecurrence!(a, b, { axis: 0 }),
    (n) => [floats('f64', n, 3), floats('f64', n, 3)],
    [1, 4],
    [7, 64, 3],
  ],
  ['a long sort', (x) => loose.sort!(x), (n) => [floats('f32', n)], [600], [513, 1000, 512, 777]],
  ['the best of rows', (x) => loose.argmax!(x, { axis: 1 }), (n) => [floats('f32', n, 10)], [0, 1, 4], [7, 64, 3]],
  [
    'positions',
    (x) => loose.mul!(asExpr(iotaNode(x.shape as readonly number[], 0, 'f32')), x),
    (n) => [floats('f32', n, 5000)],
    [1, 4],
    [7, 64, 3],
  ],
  ['small matrices', (x) => loose.cholesky!(x), (n) => [spd(n)], [0, 1, 4], [7, 64, 3]],
]

for (const [name, f, at, first, then] of rows)
  it(name, () => {
    const backend = makeCpu({ poison: true, verify: true })
    const on = (b: cd.SyncBackend) => cd.compile(f as never, b) as unknown as (...xs: readonly cd.Tensor[]) => cd.Tensor
    const run = on(backend)
    for (const n of first) run(...at(n))
    const { modules } = backend.stats()
    expect(modules).toBeGreaterThan(0)
    for (const n of then) {
      const xs = at(n)
      const y = run(...xs)
      expect([n, backend.stats().modules]).toEqual([n, modules])
      expect(y.data).toEqual(on(makeCpu({ poison: true }))(...xs).data)
    }
  })

/** A step of a random program over rows: x is [n, 4], and so is what it gives. */
const steps: readonly ((x: E, places: E) => E)[] = [
  (x) => loose.tanh!(x),
  (x) => loose.mul!(loose.sigmoid!(x), 0.5),
  (x) => loose.exp!(loose.neg!(loose.square!(x))),
  (x) => loose.matmul!(x, [[0.5, 1, 0, -1], [1, -0.5, 2, 0], [0, 1, 1, 0.25], [-1, 0, 0.5, 1]]), // biome-ignore format: a matrix
  (x) => loose.softmax!(x, { axis: 1 }),
  (x) => loose.softmax!(x, { axis: 0 }),
  (x) => loose.sub!(x, loose.mean!(x, { axis: 0, keepdims: true })),
  (x) => loose.cumsum!(x, { axis: 0 }),
  (x) => loose.cummax!(x, { axis: 0, reverse: true }),
  (x, places) => loose.take!(x, places, { axis: 0 }),
  (x, places) => loose.add!(x, loose.segmentSum!(loose.sin!(x), places, x.shape[0])),
  (x) => loose.concat!([loose.slice!(x, [1, 0], [x.shape[0], 4]), loose.slice!(x, [0, 0], [1, 4])], { axis: 0 }),
  (x) => loose.transpose!(loose.square!(loose.transpose!(x))),
]
it('random programs at sizes in turn, proven, have the bits of backends that met one size, and make code at the first ones alone', () => {
  let still = 0
  const programs = count(8, 60, 150)
  for (let p = 0; p < programs; p++) {
    const chain = Array.from({ length: 3 + Math.floor(4 * next()) }, () => Math.floor(steps.length * next()))
    const f = (x: E, i: E): E => loose.sum!(loose.square!(chain.reduce((y, k) => steps[k]!(y, i), x)))
    const on = (b: cd.SyncBackend) => cd.compile(cd.grad(f as never), b) as unknown as (...xs: readonly cd.Tensor[]) => cd.Tensor
    const backend = makeCpu({ verify: true, poison: true })
    const run = on(backend)
    for (const n of [5, 12]) run(floats('f32', n, 4), places(n, n))
    const { modules } = backend.stats()
    for (const n of [7, 33, 3, 11]) {
      const xs = [floats('f32', n, 4), places(n, n)]
      const y = run(...xs)
      expect([chain, n, y.data]).toEqual([chain, n, on(makeCpu())(...xs).data])
    }
    if (backend.stats().modules === modules) still++
  }
  expect(still).toBeGreaterThan(0.8 * programs)
})
