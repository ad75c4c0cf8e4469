/**
 * Products and factorisations of a system library against the backend's own and the reference: matrices of every layout, stacks, both floats, values that are
 * not finite, random programs in all modes. `CODUAL_REQUIRE_BLAS=1` makes a missing library an error.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blas } from '../../src/backends/blas/index.js'
import { blasOf } from '../../src/backends/blas/over.js'
import { leadingOf } from '../../src/backends/blas/products.js'
import { type CpuBackend, makeCpu } from '../../src/backends/cpu/index.js'
import { reference } from '../../src/backends/reference/index.js'
import * as cd from '../../src/index.js'
import { count } from '../depth.js'
import { checkProgram } from '../laws/generator/checks.js'
import { generate } from '../laws/generator/generate.js'
import { laneOf } from '../laws/generator/lanes.js'
import { laws } from '../laws/generator/laws.js'
import { type Asked, everything, library, OF_ANY_SIZE } from './system-blas.js'

const made = (): { readonly backend: CpuBackend; readonly asked: Asked } => {
  const asked: Asked = new Map()
  return { backend: makeCpu({ verify: true, poison: true, blas: everything(asked) }), asked }
}
let seed = 1
const next = (): number => {
  seed = (seed * 16807) % 2147483647
  return seed / 2147483647 - 0.5
}
const drawn = (shape: readonly number[], dtype: 'f32' | 'f64'): cd.Tensor<readonly number[], 'f32' | 'f64'> => {
  const numbers = Array.from({ length: shape.reduce((a, b) => a * b, 1) }, next)
  return cd.tensor(new (dtype === 'f32' ? Float32Array : Float64Array)(numbers), shape, dtype) as never
}
const magnitudes = (x: cd.Tensor): cd.Tensor => cd.tensor(x.data.map(Math.abs) as Float64Array, x.shape, x.dtype as 'f64')
/** Compiled for a backend, and called. */
const runs = (f: unknown, backend: cd.Backend<'sync'>, ...args: readonly unknown[]): cd.Tensor & readonly cd.Tensor[] =>
  (cd.compile(f as never, backend as never) as unknown as (...given: readonly unknown[]) => cd.Tensor & readonly cd.Tensor[])(...args)
/** The largest difference beside the largest number. */
const apart = (x: ArrayLike<number>, y: ArrayLike<number>): number => {
  let [most, size] = [0, 1e-300]
  for (let i = 0; i < x.length; i++) {
    const same = Object.is(x[i], y[i]) || (Number.isNaN(x[i]) && Number.isNaN(y[i])) || x[i] === y[i]
    most = Math.max(most, same ? 0 : Math.abs(x[i]! - y[i]!))
    if (!same && Number.isNaN(x[i]! - y[i]!)) return Number.POSITIVE_INFINITY
    if (Number.isFinite(y[i])) size = Math.max(size, Math.abs(y[i]!))
  }
  return most / size
}

describe.skipIf(library === undefined)('products by the library', () => {
  it('are told a matrix by the distance of its rows, or of those of its transpose, and nothing else', () => {
    const size = 8
    const axis = fc.integer({ min: 1, max: 4 })
    const stride = fc.integer({ min: -3, max: 12 }).map((x) => 4 * x)
    fc.assert(
      fc.property(axis, axis, stride, stride, (m, n, row, column) => {
        const leading = leadingOf(m, n, row, column, size)
        if (leading === 0) return
        const [rows, columns] = leading > 0 ? [leading, 1] : [1, -leading]
        // As BLAS asks of it.
        expect(Math.abs(leading)).toBeGreaterThanOrEqual(leading > 0 ? n : m)
        for (let i = 0; i < m; i++)
          for (let j = 0; j < n; j++)
            if (size * (i * rows + j * columns) !== i * row + j * column) expect.fail(`element ${i}, ${j} lies elsewhere`)
      }),
      { numRuns: count(2000, 10_000) },
    )
    // Nothing that it could take is left out: rows, transposes, vectors with steps.
    expect([
      leadingOf(3, 4, 32, 8, 8),
      leadingOf(3, 4, 8, 24, 8),
      leadingOf(3, 4, 80, 8, 8),
      leadingOf(1, 4, 0, 8, 8),
      leadingOf(1, 4, 0, 16, 8),
    ]).toEqual([4, -3, 10, 4, -2])
    expect([leadingOf(3, 4, 16, 8, 8), leadingOf(3, 4, 0, 8, 8), leadingOf(3, 4, -32, 8, 8), leadingOf(3, 4, 32, 16, 8)]).toEqual([
      0, 0, 0, 0,
    ])
  })

  it('agree with the reference in any layout: transposed, parts, reversed, broadcast, stacks, sums', () => {
    const { backend, asked } = made()
    const by = [
      (x: cd.AnyExpr) => x,
      (x: cd.AnyExpr) =>
        cd.slice(x, [...x.shape.slice(1).map(() => 0), 1], [
          ...x.shape.slice(0, -1),
          (x.shape.at(-1) as number) - 1,
        ] as never) as cd.AnyExpr,
      (x: cd.AnyExpr) => cd.flip(x, { axis: -2 }),
    ]
    const sizes = fc.integer({ min: 1, max: 9 })
    fc.assert(
      fc.property(
        fc.record({
          m: sizes,
          n: sizes,
          k: sizes,
          stack: fc.integer({ min: 0, max: 3 }),
          a: fc.nat(3),
          b: fc.nat(3),
          ta: fc.boolean(),
          tb: fc.boolean(),
          shared: fc.boolean(),
          dtype: fc.constantFrom('f32' as const, 'f64' as const),
          more: fc.boolean(),
        }),
        ({ m, n, k, stack, a, b, ta, tb, shared, dtype, more }) => {
          const lead = stack === 0 ? [] : [stack]
          const swapped = (x: cd.AnyExpr): cd.AnyExpr => cd.swapaxes(x as never, -1, -2) as cd.AnyExpr
          const of = (i: number, t: boolean) => (x: cd.AnyExpr) => (t ? swapped(by[i % 3]!(x)) : by[i % 3]!(x))
          const grown = (i: number, rows: number, columns: number): readonly number[] => [rows, columns + (i % 3 === 1 ? 2 : 0)]
          const x = drawn([...lead, ...grown(a, ...((ta ? [k, m] : [m, k]) as [number, number]))], dtype)
          const y = drawn([...(shared ? [] : lead), ...grown(b, ...((tb ? [n, k] : [k, n]) as [number, number]))], dtype)
          const f = (p: cd.AnyExpr, q: cd.AnyExpr): cd.AnyExpr => {
            const c = cd.matmul(of(a, ta)(p) as never, of(b, tb)(q) as never) as cd.AnyExpr
            return more ? cd.add(cd.matmul(of(a, ta)(p) as never, cd.mul(of(b, tb)(q), 0.5) as never), c) : c
          }
          const got = runs(f, backend, x, y)
          const want = runs(f, reference(), x, y)
          expect(got.shape).toEqual(want.shape)
          // What a sum may be off by is a share of the sum of magnitudes: terms of either sign may leave next to nothing.
          const most = runs(f, reference(), ...[x, y].map(magnitudes))
          const share = 2 * (k + 3) * (dtype === 'f32' ? 2 ** -24 : 2 ** -53)
          for (let i = 0; i < want.data.length; i++)
            if (!(Math.abs(got.data[i]! - want.data[i]!) <= share * most.data[i]!))
              expect.fail(`element ${i} is ${got.data[i]}, not ${want.data[i]} (${share * most.data[i]!})`)
        },
      ),
      { numRuns: count(300, 500, 1000) },
    )
    for (const type of ['f32', 'f64']) {
      expect(asked.get(`product ${type}`)).toBeGreaterThan(50)
      expect(asked.get(`product ${type} +=`)).toBeGreaterThan(5)
    }
    // Matrices of no layout of BLAS are copied, and none is refused.
    expect([...asked.keys()].some((name) => name.endsWith('refused'))).toBe(false)
  })

  it('go to the library from so many multiplications on, and the memory may grow between calls', () => {
    const asked: Asked = new Map()
    const backend = makeCpu({
      blas: everything(asked, { ...OF_ANY_SIZE, multiplications: 4096, columns: 16, channels: 16, copying: 16 }),
    })
    const f = cd.compile((x: cd.AnyExpr, y: cd.AnyExpr) => cd.matmul(x as never, y as never) as cd.AnyExpr, backend)
    for (const n of [15, 16, 400, 17]) {
      const [x, y] = [drawn([n, n], 'f64'), drawn([n, n], 'f64')]
      const want = cd.compile((p: cd.AnyExpr, q: cd.AnyExpr) => cd.matmul(p as never, q as never) as cd.AnyExpr, makeCpu())(
        x,
        y,
      ) as unknown as cd.Tensor
      expect(apart((f(x, y) as unknown as cd.Tensor).data, want.data)).toBeLessThan(1e-13)
    }
    expect([...asked]).toEqual([['product f64', 3]])
    expect(backend.stats().growths).toBeGreaterThan(0)
  })

  it('of few rows or columns with a matrix beyond the caches are computed by the own kernel, unless the library may use more than one thread; of vectors always', () => {
    const asked: Asked = new Map()
    library!.setThreads(1)
    const backend = makeCpu({
      blas: everything(asked, {
        multiplications: 4096,
        columns: 16,
        channels: 16,
        copying: 16,
        far: 8 * 200 * 300,
        vectors: 8 * 200 * 100,
      }),
    })
    const f = cd.compile((x: cd.AnyExpr, y: cd.AnyExpr) => cd.matmul(x as never, y as never) as cd.AnyExpr, backend)
    for (const [m, k, n] of [
      [1, 200, 300],
      [3, 200, 300],
      [300, 200, 3],
      [4, 200, 300], // not few in f64
      [3, 200, 299], // not far
      [1, 200, 120], // a vector
      [120, 200, 1],
      [1, 200, 30], // a vector with less
    ] as const) {
      const [x, y] = [drawn([m, k], 'f64'), drawn([k, n], 'f64')]
      const want = cd.evaluate(cd.matmul(x as never, y as never) as never) as cd.Tensor
      expect(apart((f(x, y) as unknown as cd.Tensor).data, want.data)).toBeLessThan(1e-12)
    }
    expect(Object.fromEntries(asked)).toEqual({ 'product f64, refused': 5, 'product f64': 3 })
    library!.setThreads(2)
    f(drawn([3, 200], 'f64'), drawn([200, 300], 'f64'))
    f(drawn([1, 200], 'f64'), drawn([200, 120], 'f64'))
    library!.setThreads(1)
    expect(Object.fromEntries(asked)).toEqual({ 'product f64, refused': 6, 'product f64': 4 })
  })

  it('keep NaN and infinities where a sum has them, and nothing of what was in the memory', () => {
    const { backend } = made()
    const x = cd.tensor([
      [Number.NaN, 1, 2],
      [1, Number.POSITIVE_INFINITY, 0],
      [1, 2, 3],
    ])
    const y = cd.tensor([
      [1, 2],
      [3, -4],
      [5, 6],
    ])
    const f = (p: cd.AnyExpr, q: cd.AnyExpr) => cd.matmul(p as never, q as never) as cd.AnyExpr
    const got = cd.compile(f, backend)(x as never, y as never) as unknown as cd.Tensor
    expect([...got.data]).toEqual([Number.NaN, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 22, 12])
  })
})

describe.skipIf(library === undefined)('factorisations by the library', () => {
  type Of = (x: cd.AnyExpr, y: cd.AnyExpr) => readonly cd.AnyExpr[]
  const any = <T>(x: T): never => x as never
  const table: Readonly<Record<string, Of>> = {
    cholesky: (x) => [cd.cholesky(any(cd.add(cd.matmul(any(x), any(cd.swapaxes(any(x), -1, -2))), cd.eye(x.shape.at(-2) as number))))],
    'cholesky, upper': (x) => [
      cd.cholesky(any(cd.add(cd.matmul(any(x), any(cd.swapaxes(any(x), -1, -2))), cd.eye(x.shape.at(-2) as number))), { upper: true }),
    ],
    'cholesky of what is not symmetric': (x) => {
      const square = cd.matmul(any(x), any(cd.swapaxes(any(x), -1, -2))) as cd.AnyExpr
      const above = cd.triu(any(square), 1)
      const beside = cd.sub(any(above), any(cd.swapaxes(any(above), -1, -2)))
      return [cd.cholesky(any(cd.add(any(cd.add(any(square), any(beside))), cd.eye(x.shape.at(-2) as number))))]
    },
    lu: (x) => Object.values(cd.lu(any(x))) as cd.AnyExpr[],
    qr: (x) => Object.values(cd.qr(any(x))) as cd.AnyExpr[],
    svd: (x) => Object.values(cd.svd(any(x))) as cd.AnyExpr[],
    svdvals: (x) => [cd.svdvals(any(x))],
    eigh: (x) => Object.values(cd.eigh(any(cd.matmul(any(cd.swapaxes(any(x), -1, -2)), any(x))))) as cd.AnyExpr[],
    solve: (x, y) => [cd.solve(any(x), any(y))],
    inv: (x) => [cd.inv(any(x))],
    det: (x) => [cd.det(any(x))],
    ...Object.fromEntries(
      [true, false].flatMap((lower) =>
        [true, false].flatMap((transpose) =>
          [true, false].map((unitDiagonal): [string, Of] => [
            `triangularSolve ${lower} ${transpose} ${unitDiagonal}`,
            (x, y) => [
              cd.triangularSolve(any(cd.add(cd.mul(x, 0.3), cd.mul(3, cd.eye(x.shape.at(-1) as number)))), any(y), {
                lower,
                transpose,
                unitDiagonal,
              }),
            ],
          ]),
        ),
      ),
    ),
  }
  const primitives: Readonly<Record<string, string>> = { svdvals: 'svd', solve: 'lu', inv: 'lu', det: 'lu' }
  const square = new Set(['solve', 'inv', 'det', ...Object.keys(table).filter((name) => name.startsWith('tri'))])
  for (const [name, f] of Object.entries(table))
    for (const dtype of ['f32', 'f64'] as const)
      it(`${name} of ${dtype}: values and gradients as of the reference, of one matrix and of stacks`, () => {
        const { backend, asked } = made()
        const shapes = square.has(name)
          ? [
              [9, 9],
              [24, 24],
              [2, 3, 11, 11],
            ]
          : [
              [9, 9],
              [24, 24],
              [33, 12],
              [2, 3, 11, 10],
              [40, 9],
            ]
        for (const shape of shapes) {
          const [m, n] = shape.slice(-2) as [number, number]
          // Well conditioned, and with singular values that are well apart.
          const noise = drawn(shape, dtype)
          const x = cd.tensor(
            Array.from(noise.data, (v, i) => 0.3 * v + (Math.floor(i / n) % m === i % n ? 2 + (i % n) : 0)) as never,
            any(shape),
            dtype,
          )
          const y = drawn([...shape.slice(0, -2), m, 5], dtype)
          const weigh = (xs: readonly cd.AnyExpr[]): cd.AnyExpr =>
            xs
              .filter((e) => e.dtype === dtype)
              .map((e) => cd.sum(cd.mul(e, cd.cos(cd.arange((e.shape.at(-1) as number | undefined) ?? 1) as never))))
              .reduce((p, q) => cd.add(p, q))
          const both = (p: cd.AnyExpr, q: cd.AnyExpr): unknown => {
            const all = f(p, q)
            return [...all, cd.grad(any((r: cd.AnyExpr) => weigh(f(r, q))))(any(p))]
          }
          const got = runs(both, backend, x, y)
          const want = runs(both, makeCpu(), x, y)
          for (const [i, t] of got.entries())
            expect(apart(t.data, want[i]!.data), `${name} ${shape} result ${i}`).toBeLessThan(dtype === 'f32' ? 3e-4 : 1e-10)
        }
        const primitive = name.split(/[ ,]/)[0]!
        expect(asked.get(primitives[primitive] ?? primitive)).toBeGreaterThan(0)
        expect([...asked.keys()].filter((key) => key.endsWith('refused') && !key.startsWith('product'))).toEqual([])
      })

  it('of matrices that are singular, not definite or not finite are as the backend has them', () => {
    const { backend, asked } = made()
    const n = 12
    const numbers = Array.from({ length: n * n }, next)
    const matrices = {
      zeros: numbers.map(() => 0),
      equal: numbers.map((_, i) => numbers[i % n]!),
      'with NaN': numbers.map((x, i) => (i === 40 ? Number.NaN : x)),
      'with infinity': numbers.map((x, i) => (i === 0 ? Number.POSITIVE_INFINITY : x)),
      huge: numbers.map((x) => 1e300 * x),
      tiny: numbers.map((x) => 1e-300 * x),
      'not definite': numbers.map((x, i) => (i % (n + 1) === 0 ? -1 : x)),
      'a zero on the diagonal': numbers.map((x, i) => (i === 5 * n + 5 ? 0 : x)),
    }
    const fs: Readonly<Record<string, (x: cd.AnyExpr) => unknown>> = {
      cholesky: (x) => [cd.cholesky(any(x))],
      lu: (x) => [(cd.lu(any(x)) as { readonly u: cd.AnyExpr }).u],
      solve: (x) => [cd.solve(any(x), any(cd.eye(n)))],
      'triangular solve': (x) => [cd.triangularSolve(any(x), any(cd.eye(n)), { lower: true })],
      r: (x) => [(cd.qr(any(x)) as { readonly r: cd.AnyExpr }).r],
      eigenvalues: (x) => [cd.eigvalsh(any(x))],
      'singular values': (x) => [cd.svdvals(any(x))],
    }
    const finite = (t: cd.Tensor): readonly string[] =>
      Array.from(t.data, (v) => (Number.isNaN(v) ? 'NaN' : Number.isFinite(v) ? 'finite' : 'infinite'))
    for (const [what, data] of Object.entries(matrices))
      for (const [name, f] of Object.entries(fs)) {
        const x = cd.tensor(data, any([n, n]))
        const got = runs(f, backend, x)[0]!
        const want = runs(f, makeCpu(), x)[0]!
        // What is left of a singular matrix by rounding decides which infinities a solution has.
        if (name === 'solve' && (what === 'equal' || what === 'zeros')) continue
        expect(finite(got), `${name} of a matrix ${what}`).toEqual(finite(want))
        if (what !== 'equal' || name !== 'r') expect(apart(got.data, want.data), `${name} of a matrix ${what}`).toBeLessThan(1e-9)
      }
    expect([...asked.keys()].filter((key) => key.endsWith('refused')).length).toBeGreaterThan(3)
  })
})

describe.skipIf(library === undefined)('large matrices of f32', () => {
  const any = <T>(x: T): never => x as never
  /** Element (i, j) of matrices row by row, in f64. */
  type At = (i: number, j: number) => number
  const at = ({ data, shape }: cd.Tensor, matrix = 0): At => {
    const [m, n] = shape.slice(-2) as [number, number]
    return (i, j) => data[matrix * m * n + i * n + j]!
  }
  /** The Frobenius norm of what is given by its elements. */
  const norm = (m: number, n: number, x: At): number => {
    let sum = 0
    for (let i = 0; i < m; i++) for (let j = 0; j < n; j++) sum += x(i, j) ** 2
    return Math.sqrt(sum)
  }
  const product =
    (k: number, x: At, y: At): At =>
    (i, j) => {
      let sum = 0
      for (let l = 0; l < k; l++) sum += x(i, l) * y(l, j)
      return sum
    }
  const turned =
    (x: At): At =>
    (i, j) =>
      x(j, i)
  const columnsTimes =
    (x: At, by: At): At =>
    (i, j) =>
      x(i, j) * by(0, j)
  const fs: Readonly<Record<string, (x: cd.AnyExpr) => Readonly<Record<string, unknown>>>> = {
    qr: (x) => cd.qr(any(x)) as never,
    eigh: (x) => cd.eigh(any(cd.add(x, cd.swapaxes(any(x), -1, -2) as never))) as never,
    svd: (x) => cd.svd(any(x)) as never,
  }
  const asked: Asked = new Map()
  const backend = makeCpu({ verify: true, poison: true, blas: everything(asked) })
  const found = (name: string, x: cd.Tensor, by: cd.Backend<'sync'> = backend): Readonly<Record<string, cd.Tensor>> =>
    runs(fs[name], by, x) as never

  it('are factorised in f32 from the sizes on from which the own kernels do it', () => {
    const names = new Set<string>()
    const fortran = (name: string, parameters: string): ReturnType<NonNullable<typeof library>['fortran']> => {
      names.add(name)
      return library!.fortran(name, parameters)
    }
    const spied = { ...library!, fortran }
    const by = makeCpu({ blas: blasOf(spied) })
    for (const [name, routine, most] of [
      ['qr', 'geqrf', 40],
      ['eigh', 'syevd', 36],
      ['svd', 'gesdd', 34],
    ] as const)
      for (const [n, letter] of [
        [most, 'd'],
        [most + 1, 's'],
      ] as const) {
        names.clear()
        found(name, drawn([n, n], 'f32') as cd.Tensor, by)
        expect(
          [...names].filter((called) => called.endsWith(routine)),
          `${name} ${n}`,
        ).toEqual([`${letter}${routine}`])
      }
  })

  it('have residuals and departures from orthogonality of a tenth of what the tests of LAPACK accept, 30 n units', () => {
    for (const [name, shapes] of Object.entries({
      qr: [
        [44, 44],
        [101, 60],
        [2, 50, 42],
      ],
      eigh: [
        [44, 44],
        [2, 61, 61],
      ],
      svd: [
        [44, 44],
        [130, 41],
        [2, 50, 42],
      ],
    }))
      for (const shape of shapes) {
        const x = drawn(shape, 'f32') as cd.Tensor
        const [m, n] = shape.slice(-2) as [number, number]
        const all = found(name, x)
        for (let k = 0; k < (shape.length > 2 ? 2 : 1); k++) {
          const given = at(x, k)
          const a: At = name === 'eigh' ? (i, j) => Math.fround(given(i, j) + given(j, i)) : given
          const row =
            (t: cd.Tensor): At =>
            (_, j) =>
              t.data[k * n + j]!
          const [left, back] =
            name === 'qr'
              ? [at(all.q!, k), product(n, at(all.q!, k), at(all.r!, k))]
              : name === 'eigh'
                ? [at(all.v!, k), product(n, columnsTimes(at(all.v!, k), row(all.w!)), turned(at(all.v!, k)))]
                : [at(all.u!, k), product(n, columnsTimes(at(all.u!, k), row(all.s!)), at(all.vh!, k))]
          const [square, unit] = [product(m, turned(left), left), 3 * n * 2 ** -23]
          expect(
            norm(m, n, (i, j) => a(i, j) - back(i, j)),
            `${name} ${shape}`,
          ).toBeLessThan(unit * norm(m, n, a))
          expect(
            norm(n, n, (i, j) => square(i, j) - Number(i === j)),
            `${name} ${shape}`,
          ).toBeLessThan(unit)
        }
      }
    for (const name of Object.keys(fs)) expect(asked.get(name)).toBeGreaterThan(1)
    expect([...asked.keys()].filter((key) => key.endsWith('refused'))).toEqual([])
  })

  it('are as with the own kernels where they are huge, tiny or not finite', () => {
    const n = 44
    const numbers = Array.from({ length: n * n }, next)
    for (const [what, f] of Object.entries<(x: number, i: number) => number>({
      huge: (x) => 6e38 * x,
      large: (x) => 1e37 * x,
      tiny: (x) => 1e-37 * x,
      'with NaN': (x, i) => (i === 40 ? Number.NaN : x),
      'with infinity': (x, i) => (i === 0 ? Number.POSITIVE_INFINITY : x),
    }))
      for (const name of ['qr', 'svd']) {
        const x = cd.tensor(Float32Array.from(numbers, f), any([n, n]), 'f32') as unknown as cd.Tensor
        const [got, want] = [found(name, x), found(name, x, makeCpu())]
        for (const [part, { data }] of Object.entries(want)) {
          const kinds = (all: ArrayLike<number>): readonly string[] =>
            Array.from(all, (v) => (Number.isNaN(v) ? 'NaN' : Number.isFinite(v) ? 'finite' : 'infinite'))
          expect(kinds(got[part]!.data), `${part} of ${name}, ${what}`).toEqual(kinds(data))
          if (part === 's' && what !== 'huge') expect(apart(got[part]!.data, data)).toBeLessThan(n * 2 ** -24)
        }
      }
  })
})

it.skipIf(library === undefined)('leaves every other kernel of WebAssembly to the backend, those without arguments too', () => {
  const { backend, asked } = made()
  const x = drawn([5000], 'f32')
  const f = (v: cd.AnyExpr): unknown => [
    cd.add(v, cd.arange(5000) as never),
    cd.argmax(v),
    cd.sort(v),
    cd.topk(v, 3 as never).values,
    cd.cumsum(v),
    cd.maxPool(cd.reshape(v, [1, 1, 50, 100]) as never, { window: [2, 2] } as never),
    cd.rfft(v as never),
    cd.take(v, cd.tensor([1, 4999], [2], 'i32') as never),
  ]
  const got = runs(f, backend, x)
  const want = runs(f, makeCpu(), x)
  for (const [i, t] of cd.treeLeaves(got as never).entries())
    expect((t as unknown as cd.Tensor).data).toEqual((cd.treeLeaves(want as never)[i] as unknown as cd.Tensor).data)
  expect([...asked]).toEqual([])
})

describe.skipIf(library === undefined)('convolutions by the library', () => {
  const few = (min: number, max: number) => fc.integer({ min, max })
  const any = <T>(x: T): never => x as never
  const byColumns = (asked: Asked): CpuBackend =>
    makeCpu({
      verify: true,
      poison: true,
      blas: everything(asked, { ...OF_ANY_SIZE, channels: 2 }),
    })
  it('agree with it for images of long rows, whose columns do not fit at once', () => {
    for (const dtype of ['f32', 'f64'] as const)
      for (const stride of [
        [1, 1],
        [1, 2],
        [2, 2],
        [2, 3],
      ])
        for (const from of [1, 2]) {
          const [x, k] = [drawn([2, from, 40, 901], dtype), drawn([4, from, 3, 3], dtype)]
          const f = ({ x, k }: { readonly x: cd.AnyExpr; readonly k: cd.AnyExpr }): unknown =>
            cd.conv(any(x), any(k), any({ stride, padding: 1 }))
          const loss = (g: never): unknown => cd.sum(cd.square(f(g) as cd.AnyExpr))
          const both = (p: cd.AnyExpr, q: cd.AnyExpr): unknown => {
            const slopes = cd.grad(any(loss), any({ wrt: ['x', 'k'] }))(any({ x: p, k: q })) as unknown as { x: cd.AnyExpr; k: cd.AnyExpr }
            return [f({ x: p, k: q }), slopes.x, slopes.k]
          }
          const asked: Asked = new Map()
          const want = runs(both, makeCpu(), x, k)
          for (const [i, t] of runs(both, byColumns(asked), x, k).entries())
            expect(apart(t.data, want[i]!.data), `${dtype} ${stride} ${from}: ${i}`).toBeLessThan(dtype === 'f32' ? 1e-5 : 1e-13)
          expect([...asked.keys()].sort()).toEqual(from === 1 ? ['conv'] : ['conv', 'convInput', 'convKernel'])
        }
  })
  it('agree with the backend, values and both gradients, with steps, padding, gaps and groups, and in sums', () => {
    const { backend, asked } = made()
    // Few channels go by columns there: 1 to 4.
    const asksColumns: Asked = new Map()
    const gathering = byColumns(asksColumns)
    fc.assert(
      fc.property(
        fc.record({
          images: few(1, 3),
          groups: few(1, 2),
          from: few(1, 4),
          to: few(1, 4),
          size: fc.tuple(few(1, 8), few(1, 8)),
          kernel: fc.tuple(few(1, 3), few(1, 3)),
          stride: fc.oneof({ weight: 2, arbitrary: fc.constant([1, 1]) }, { weight: 1, arbitrary: fc.tuple(few(1, 3), few(1, 3)) }),
          padding: fc.array(few(0, 2), { minLength: 4, maxLength: 4 }),
          dilation: fc.tuple(few(1, 2), few(1, 2)),
          dtype: fc.constantFrom('f32' as const, 'f64' as const),
          twice: fc.boolean(),
        }),
        ({ images, groups, from, to, size, kernel, stride, padding, dilation, dtype, twice }) => {
          const reach = (i: number): number => dilation[i as 0]! * (kernel[i as 0]! - 1) + 1
          fc.pre(size[0] + padding[0]! + padding[1]! >= reach(0) && size[1] + padding[2]! + padding[3]! >= reach(1))
          const [x, k] = [drawn([images, groups * from, ...size], dtype), drawn([groups * to, from, ...kernel], dtype)]
          const options = { stride, dilation, groups, padding: [padding.slice(0, 2), padding.slice(2)] }
          const f = (p: cd.AnyExpr, q: cd.AnyExpr): unknown => {
            const y = cd.conv(any(p), any(q), any(options)) as cd.AnyExpr
            // Twice: cotangents are added to accumulators.
            return [y, cd.sum(cd.square(twice ? cd.add(y, cd.conv(any(cd.mul(p, 2)), any(q), any(options)) as cd.AnyExpr) : y))]
          }
          type Both = { readonly x: cd.AnyExpr; readonly k: cd.AnyExpr }
          const both = (p: cd.AnyExpr, q: cd.AnyExpr): unknown => {
            const loss = ({ x, k }: Both): unknown => (f(x, k) as readonly unknown[])[1]
            const slopes = cd.grad(any(loss), any({ wrt: ['x', 'k'] }))(any({ x: p, k: q })) as unknown as Both
            return [(f(p, q) as readonly unknown[])[0], slopes.x, slopes.k]
          }
          const want = runs(both, makeCpu(), x, k)
          for (const by of [backend, gathering])
            for (const [i, t] of runs(both, by, x, k).entries())
              expect(apart(t.data, want[i]!.data), `result ${i}`).toBeLessThan(dtype === 'f32' ? 1e-5 : 1e-13)
        },
      ),
      { numRuns: count(300, 500, 2000) },
    )
    for (const name of ['conv', 'convInput', 'convKernel', 'convInputAdd', 'convKernelAdd'])
      expect(asked.get(name) ?? 0, name).toBeGreaterThan(10)
    expect(asksColumns.get('conv') ?? 0).toBeGreaterThan((asksColumns.get('convInput') ?? 0) + 5)
  })
})

describe.skipIf(library === undefined)('random programs by the library', () => {
  it('hold in values, gradients and all laws', { timeout: 600_000 }, () => {
    const { backend, asked } = made()
    const lanes = { oracle: reference(), lanes: [laneOf('library', backend)], without: new Map() }
    const many = count(100, 150, 400)
    for (let s = 1; s <= many; s++) {
      const { program } = generate(50_000 + s)
      expect(checkProgram(program, laws, { lanes }), `seed ${50_000 + s}`).toBeUndefined()
    }
    const done = (prefix: string): number =>
      [...asked].reduce((n, [key, times]) => n + (key.startsWith(prefix) && !key.endsWith('refused') ? times : 0), 0)
    expect(done('product')).toBeGreaterThan(many / 4)
  })
})

it.skipIf(library === undefined)('is found by blas(), once for each path, named by explain(), and takes its threads', () => {
  const found = blas()
  expect(found.library).toMatch(/OpenBLAS|BLIS|MKL|Accelerate/)
  expect(found.reason).toBeUndefined()
  expect(blas({ threads: 1 })).toBe(found)
  expect(blas({ path: library!.path }).library).toBe(found.library)
  const backend = cd.cpu({ blas: found })
  expect(backend).toBe(cd.cpu({ blas: blas() }))
  expect(backend).not.toBe(cd.cpu())
  const f = cd.compile((x: cd.AnyExpr) => cd.matmul(x as never, x as never) as cd.AnyExpr, backend)
  const explained = f.explain(...([drawn([20, 20], 'f64')] as never))
  expect(explained.blas).toBe(found.library)
  expect(String(explained)).toContain(`system library: ${found.library}`)
  expect(cd.compile((x: cd.AnyExpr) => cd.sin(x), cd.cpu({ blas: found, simd: false })).explain(...([1] as never)).blas).toBe(
    'none: there is no WebAssembly',
  )
})
