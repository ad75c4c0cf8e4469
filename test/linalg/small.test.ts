/** Matrices of a few rows, which the CPU works on two at a time: beside the same in plain loops, alone and in stacks of odd and even length. */
import { describe, expect, it } from 'vitest'
import { random } from '../../src/check/index.js'
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
type Float = 'f32' | 'f64'
const [cpu, plain, noSimd] = [cd.cpu({ poison: true }), cd.reference(), cd.cpu({ simd: false })]
const drawn = (dtype: Float, shape: readonly number[], seed = 1): cd.Tensor => {
  const next = random(shape.reduce((a, b) => 31 * a + b, seed))
  const numbers = Float64Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => 2 * next() - 1)
  return cd.tensor(numbers, shape, dtype as 'f64') as unknown as cd.Tensor
}
type F = (...xs: E[]) => unknown
const run = (f: F, backend: cd.SyncBackend, xs: readonly cd.Tensor[]): readonly (readonly number[])[] => {
  const y = (cd.compile(f as never, backend) as unknown as (...xs: readonly cd.Tensor[]) => unknown)(...xs)
  const all = Array.isArray(y) ? y : [y]
  return all.map((t) => Array.from((t as cd.Tensor).data))
}
const tolerance = { f64: 1e-12, f32: 3e-5 } as const
/** Equal to rounding: NaN where the other has it, infinities the same. */
const alike = (got: readonly (readonly number[])[], want: readonly (readonly number[])[], within: number): void => {
  expect(got.map((x) => x.length)).toEqual(want.map((x) => x.length))
  want.forEach((xs, k) => {
    const size = xs.reduce((m, x) => (Number.isFinite(x) ? Math.max(m, Math.abs(x)) : m), 1)
    xs.forEach((x, i) => {
      const y = got[k]![i]!
      if (Number.isFinite(x)) expect(Math.abs(x - y) / size, `${k}, ${i}: ${y} for ${x}`).toBeLessThan(within)
      else expect(y).toBe(x)
    })
  })
}
const lu: F = (a) => {
  const { p, l, u } = cd.lu(a as never)
  return [p, l, u]
}
const definite: F = (a) => cd.cholesky(cd.add(cd.matmul(a as never, cd.transpose(a as never)), cd.eye(a!.shape.at(-1) as number)) as never)
const sides = [true, false]
const triangles = sides.flatMap((lower) =>
  sides.flatMap((transpose) =>
    sides.map((unitDiagonal): { readonly lower: boolean; readonly transpose: boolean; readonly unitDiagonal: boolean } => ({
      lower,
      transpose,
      unitDiagonal,
    })),
  ),
)

describe.each(['f64', 'f32'] as const)('of %s', (dtype) => {
  it.each([1, 2, 3, 4, 7, 8, 9])('%i rows: as in plain loops', (n) => {
    for (const lead of [[], [1], [2], [5], [2, 3]]) {
      const a = drawn(dtype, [...lead, n, n])
      const lifted = cd.evaluate(cd.add(a as never, cd.mul(4, cd.eye(n)))) as unknown as cd.Tensor
      const [one, three] = [drawn(dtype, [...lead, n, 1], 2), drawn(dtype, [...lead, n, 3], 3)]
      const both = (f: F, ...xs: cd.Tensor[]): void => alike(run(f, cpu, xs), run(f, plain, xs), tolerance[dtype])
      both(definite, a)
      both(lu, a)
      both((x) => cd.inv(x as never), lifted)
      both((x) => [cd.det(x as never), cd.slogdet(x as never).logdet], lifted)
      both((x, b) => cd.solve(x as never, b as never), lifted, one)
      both(
        (x, b) => cd.grad(((m: E) => cd.sum(cd.mul(b as never, cd.solve(m as never, b as never) as never))) as never)(x as never) as never,
        lifted,
        three,
      )
      for (const t of triangles) for (const b of [one, three]) both((x, y) => cd.triangularSolve(x as never, y as never, t), lifted, b)
    }
  })
  it.each([
    [1, 4],
    [4, 1],
    [3, 8],
    [8, 3],
    [7, 9],
  ])('lu of %i x %i matrices', (m, n) => {
    const a = drawn(dtype, [3, m, n])
    alike(run(lu, cpu, [a]), run(lu, plain, [a]), tolerance[dtype])
  })
})

it('what one matrix of a stack holds changes nothing in its neighbours', () => {
  for (const n of [1, 2, 3, 8]) {
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, -1e9, 0]) {
      const stack = new Float64Array(5 * n * n)
      for (let k = 0; k < 5; k++)
        for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) stack[(k * n + i) * n + j] = i === j ? 3 : 1 / (i + j + k + 2)
      stack[3 * n * n - 1] = bad
      const a = cd.tensor(stack, [5, n, n])
      const f: F = (x) => cd.cholesky(x as never)
      const [l] = run(f, cpu, [a])
      alike([l!], run(f, plain, [a]), 1e-14)
      for (let k = 0; k < 5; k++) expect(l!.slice(k * n * n, (k + 1) * n * n).every(Number.isNaN)).toBe(k === 2)
      alike(run(lu, cpu, [a]), run(lu, plain, [a]), 1e-14)
    }
  }
})

it('pivots: the first of the largest, a NaN where there is one; columns of zeros and singular matrices', () => {
  const cases = [
    [
      [1, 2],
      [-1, 3],
    ],
    [
      [0, 0],
      [0, 5],
    ],
    [
      [0, 1],
      [0, 0],
    ],
    [
      [1, 1],
      [Number.NaN, 2],
    ],
    [
      [Number.NaN, 1],
      [5, 2],
    ],
    [
      [Number.POSITIVE_INFINITY, 1],
      [2, 2],
    ],
    [
      [1e-300, 1],
      [0, 1e300],
    ],
  ]
  const a = cd.tensor(cases as never) as unknown as cd.Tensor
  for (const backend of [cpu, noSimd]) alike(run(lu, backend, [a]), run(lu, plain, [a]), 1e-15)
  const three = cd.tensor([
    [
      [1, 2, 3],
      [2, 4, 6],
      [1, 2, 3],
    ],
    [
      [2, 2, 2],
      [-2, 1, 1],
      [2, 0, 5],
    ],
    [
      [0, 0, 0],
      [0, 0, 0],
      [0, 0, 0],
    ],
  ]) as unknown as cd.Tensor
  alike(run(lu, cpu, [three]), run(lu, plain, [three]), 1e-15)
  alike(
    run((x) => cd.det(x as never), cpu, [three]),
    [[0, 30, 0]],
    1e-15,
  )
})

it('graded matrices are factorised as exactly as in plain loops', () => {
  const n = 6
  const graded = cd.tensor(
    Float64Array.from({ length: n * n }, (_, k) => 10 ** (-3 * (Math.floor(k / n) + (k % n))) * (k % (n + 1) === 0 ? 2 : 0.5)),
    [n, n],
  ) as unknown as cd.Tensor
  const [got] = run((x) => cd.cholesky(x as never), cpu, [graded])
  const [want] = run((x) => cd.cholesky(x as never), plain, [graded])
  for (let i = 0; i < n * n; i++) expect(Math.abs(got![i]! - want![i]!)).toBeLessThanOrEqual(1e-15 * Math.abs(want![i]!))
})

it('stacks without matrices, matrices without elements, systems without sides', () => {
  for (const shape of [
    [0, 3, 3],
    [4, 0, 0],
    [0, 0],
  ]) {
    const a = drawn('f64', shape)
    const f: F = (x) => [cd.cholesky(x as never), cd.inv(x as never)]
    alike(run(f, cpu, [a]), run(f, plain, [a]), 1e-15)
  }
  expect(run((x, b) => cd.solve(x as never, b as never), cpu, [drawn('f64', [2, 2]), drawn('f64', [2, 0])])).toEqual([[]])
})

it('takes along every axis, with indices from both ends and out of range', () => {
  const x = drawn('f32', [3, 4, 2])
  const indices = [2, -1, 9, -9, 0, 3, 1, -2]
  for (const [axis, shape] of [
    [0, [1, 4, 2]],
    [1, [3, 2, 2]],
    [2, [3, 4, 1]],
    [0, [5, 4, 2]],
  ] as const) {
    const size = shape.reduce<number>((a, b) => a * b, 1)
    const at = cd.tensor(
      Int32Array.from({ length: size }, (_, i) => indices[(3 * i) % 8]!),
      shape,
      'i32',
    ) as unknown as cd.Tensor
    for (const of of [
      x,
      cd.evaluate(cd.gt(x as never, 0)) as unknown as cd.Tensor,
      cd.evaluate(cd.mul(x as never, cd.tensor(2, [], 'f64' as never))) as unknown as cd.Tensor,
    ]) {
      const f: F = (y, i) => cd.takeAlongAxis(y as never, i as never, { axis } as never)
      alike(run(f, cpu, [of, at]), run(f, plain, [of, at]), 1e-30)
    }
  }
})
