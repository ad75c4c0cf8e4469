/** What golden numbers do not say: hard matrices, equal values, empty and broadcast stacks, views, what is refused, every mode and both floats. */
import { describe, expect, it } from 'vitest'
import { random } from '../../src/check/index.js'
import * as cd from '../../src/index.js'

type E = cd.AnyExpr
const value = (x: unknown): unknown => (cd.evaluate(x as E) as unknown as cd.Tensor).toArray()
const data = (x: unknown): number[] => Array.from((cd.evaluate(x as E) as unknown as cd.Tensor).data)
/** Its value, as what functions of expressions take. */
const known = (x: unknown): E => cd.evaluate(x as E) as unknown as E
const next = random(3)
const noise = (...shape: readonly number[]): cd.Tensor =>
  cd.tensor(
    Float64Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => 2 * next() - 1),
    shape,
  ) as cd.Tensor
const furthest = (a: unknown, b: unknown): number => {
  const [x, y] = [data(a), data(b)]
  expect(x.length).toBe(y.length)
  return x.reduce((most, v, i) => (Math.abs(v - y[i]!) <= most ? most : Math.abs(v - y[i]!)), 0)
}
const near = (a: unknown, b: unknown, tolerance = 1e-12): void => expect(furthest(a, b)).toBeLessThan(tolerance)
const t = (x: unknown): E => cd.transpose(x as E) as E
const mm = (...xs: readonly unknown[]): E => xs.reduce((a, b) => cd.matmul(a as E, b as E)) as E
const definite = (n: number): cd.Tensor => {
  const a = noise(n, n)
  return known(cd.add(mm(a, t(a)), cd.eye(n, 'f64'))) as unknown as cd.Tensor
}
const hilbert = (n: number): cd.Tensor =>
  cd.tensor(Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => 1 / (i + j + 1))))
/** |A x - b| / (|A| |x|). */
const backwardError = (a: E, x: E, b: E): number => data(cd.div(cd.norm(cd.sub(cd.matmul(a, x), b)), cd.mul(cd.norm(a), cd.norm(x))))[0]!

describe('factorisations give back what was factorised', () => {
  it.each([1, 2, 5, 17, 40, 70])('of %i rows', (n) => {
    const a = noise(n, n)
    const s = definite(n)
    const l = cd.cholesky(s as never)
    near(mm(l, t(l)), s)
    near(cd.triu(l as E, 1), cd.zeros([n, n]), 1e-300)
    const { p, l: low, u } = cd.lu(a as never)
    near(mm(low, u), cd.gather(a, p as never))
    expect(Math.max(...data(cd.abs(low as E)))).toBe(1)
    const { q, r } = cd.qr(a as never)
    near(mm(q, r), a)
    near(mm(t(q), q), cd.eye(n))
    expect(Math.min(...data(cd.diag(r as E)))).toBeGreaterThanOrEqual(0)
    const { w, v } = cd.eigh(s as never)
    near(mm(cd.mul(v as E, w as E), t(v)), s, 1e-11)
    near(mm(t(v), v), cd.eye(n))
    const { u: left, s: values, vh } = cd.svd(a as never)
    near(mm(cd.mul(left as E, values as E), vh), a)
    near(mm(t(left), left), cd.eye(n))
    near(mm(vh, t(vh)), cd.eye(n))
    const b = noise(n, 5)
    near(cd.matmul(a, cd.solve(a, b as never)), b, 1e-10)
    for (const lower of [true, false])
      for (const transpose of [true, false]) {
        const half = (lower ? cd.tril(l as E) : t(l)) as E
        const x = cd.triangularSolve(half, b as never, { lower, transpose })
        near(cd.matmul(transpose ? t(half) : half, x as E), b, 1e-11)
      }
  })
  it.each([
    [7, 3],
    [3, 7],
    [40, 20],
    [20, 40],
    [33, 1],
  ])('of %i by %i', (m, n) => {
    const a = noise(m, n)
    const k = Math.min(m, n)
    for (const complete of [false, true]) {
      const { q, r } = cd.qr(a as never, { complete })
      expect([q.shape, r.shape]).toEqual([[m, complete ? m : k], [complete ? m : k, n]]) // biome-ignore format: one row
      near(mm(q, r), a)
      near(mm(t(q), q), cd.eye(complete ? m : k))
    }
    const { u, s, vh } = cd.svd(a as never, { fullMatrices: true })
    near(mm(t(u), u), cd.eye(m))
    near(mm(vh, t(vh)), cd.eye(n))
    near(mm(cd.mul(cd.slice(u as E, [0, 0], [m, k]), s as E), cd.slice(vh as unknown as E, [0, 0], [k, n])), a)
    const { p, l, u: upper } = cd.lu(a as never)
    near(mm(l, upper), cd.gather(a, p as never))
  })
  it('of singular matrices too: orthonormal vectors, zeros among the values', () => {
    const a = known(mm(noise(6, 2), noise(2, 5))) as unknown as cd.Tensor
    const { u, s, vh } = cd.svd(a as never)
    near(mm(t(u), u), cd.eye(5))
    near(mm(vh, t(vh)), cd.eye(5))
    expect(data(s).slice(2).every((x) => x < 1e-14)).toBe(true) // biome-ignore format: one row
    const { w, v } = cd.eigh(cd.zeros([4, 4]) as never)
    expect(data(w)).toEqual([0, 0, 0, 0])
    near(mm(t(v), v), cd.eye(4))
    near(mm(t(cd.qr(a as never).q), cd.qr(a as never).q), cd.eye(5))
  })
})

describe('hard matrices', () => {
  it("Hilbert's of 12 rows: solved within ten times the backward error of LAPACK", () => {
    const h = hilbert(12)
    const b = known(cd.matmul(h, cd.ones([12], 'f64')))
    expect(backwardError(h as unknown as E, known(cd.solve(h, b as never)), b)).toBeLessThan(9.3e-16)
    const x = cd.solve(h, b as never)
    expect(furthest(cd.gather(x as E, [0]), [1])).toBeLessThan(1e-6)
  })
  it('a condition of 1e12: the backward error stays that of rounding', () => {
    const n = 30
    const q = cd.qr(noise(n, n) as never).q as E
    const values = Float64Array.from({ length: n }, (_, i) => 10 ** ((-12 * i) / (n - 1)))
    const a = known(mm(cd.mul(q, values as never), t(cd.qr(noise(n, n) as never).q)))
    const b = noise(n) as unknown as E
    expect(backwardError(a, known(cd.solve(a, b as never)), b)).toBeLessThan(1e-15)
    near(cd.svdvals(a as never), values, 1e-15)
    const s = known(mm(cd.mul(q, values as never), t(q)))
    near(cd.flip(cd.eigvalsh(s as never) as E), values, 1e-15)
  })
  it('very large and very small numbers', () => {
    for (const scale of [1e200, 1e-200]) {
      const a = known(cd.mul(cd.tensor([[2, 1], [1, 2]]), scale)) // biome-ignore format: one row
      near(cd.div(cd.eigvalsh(a as never) as E, scale), [1, 3])
      near(cd.div(cd.svdvals(a as never) as E, scale), [3, 1])
      near(cd.mul(cd.inv(a as never) as E, scale), [[2 / 3, -1 / 3], [-1 / 3, 2 / 3]]) // biome-ignore format: one row
    }
    near(cd.slogdet(cd.mul(cd.eye(200, 'f64'), 1e10) as never).logdet, 200 * Math.log(1e10), 1e-9)
  })
  it.each([
    ['f64', 2 ** 1023],
    ['f32', 2 ** 127],
  ] as const)('near the largest of %s: what is finite is found', (dtype, largest) => {
    const s = [[1, 0.25], [0.25, 0.5]] // biome-ignore format: one row
    const [a, one] = [cd.mul(cd.tensor(s, undefined, dtype), largest), cd.tensor(s, undefined, dtype)] as unknown as readonly [E, E]
    const root = Math.sqrt(largest)
    const tolerance = dtype === 'f32' ? 1e-6 : 1e-14
    near(cd.div(cd.cholesky(a as never) as E, root), cd.cholesky(one as never), tolerance)
    near(cd.div(cd.eigvalsh(a as never) as E, largest), cd.eigvalsh(one as never), tolerance)
    near(cd.eigh(a as never).v, cd.eigh(one as never).v, tolerance)
    near(cd.div(cd.svdvals(a as never) as E, largest), cd.svdvals(one as never), tolerance)
    near(cd.div(cd.qr(a as never).r as E, largest), cd.qr(one as never).r, tolerance)
    near(cd.qr(a as never).q, cd.qr(one as never).q, tolerance)
    near(cd.div(cd.lu(a as never).u as E, largest), cd.lu(one as never).u, tolerance)
  })
  it('singular systems have infinities or NaN and a determinant of 0, whose derivative is right', () => {
    const a = cd.tensor([[1, 2], [2, 4]]) // biome-ignore format: one row
    expect(data(cd.solve(a, [1, 1] as never)).some((x) => !Number.isFinite(x))).toBe(true)
    near(cd.det(a as never), 0, 1e-300)
    near(cd.slogdet(a as never).sign, 0, 1e-300)
    expect(value(cd.slogdet(a as never).logdet)).toBe(Number.NEGATIVE_INFINITY)
    const gradient = cd.grad((x: E) => cd.det(x as never) as E)
    near(gradient(a as never), [[4, -2], [-2, 1]]) // biome-ignore format: one row
    near(gradient(cd.tensor([[1, 0, 0], [0, 0, 0], [0, 0, 3]]) as never), [[0, 0, 0], [0, 3, 0], [0, 0, 0]]) // biome-ignore format: one row
    near(gradient(cd.zeros([3, 3], 'f64') as never), cd.zeros([3, 3]))
  })
})

describe('NaN', () => {
  const stack = cd.tensor([[[2, 1], [1, 2]], [[2, Number.NaN], [Number.NaN, 2]], [[1, 3], [3, 1]]]) // biome-ignore format: one row
  const nans = (x: unknown): readonly boolean[] => {
    const all = data(x)
    const each = all.length / 3
    return [0, 1, 2].map((k) => all.slice(k * each, (k + 1) * each).every(Number.isNaN))
  }
  it('of one matrix stays there, and is everywhere in its factors', () => {
    expect(nans(cd.cholesky(stack as never))).toEqual([false, true, true]) // the third is not positive definite
    expect(nans(cd.eigh(stack as never).w)).toEqual([false, true, false])
    expect(nans(cd.eigh(stack as never).v)).toEqual([false, true, false])
    for (const x of Object.values(cd.svd(stack as never))) expect(nans(x)).toEqual([false, true, false])
    expect(nans(cd.det(stack as never))).toEqual([false, true, false])
    expect(nans(cd.expm(stack as never))).toEqual([false, true, false])
    expect(nans(cd.inv(stack as never))).toEqual([false, true, false])
  })
  it('and infinities end every loop', () => {
    const a = cd.full([40, 40], Number.POSITIVE_INFINITY, 'f64')
    for (const x of [cd.eigvalsh(a as never), cd.svdvals(a as never), cd.cholesky(a as never)])
      expect(data(x).every(Number.isNaN)).toBe(true)
  })
})

it('a trap for NaN names the factorisation that made it', () => {
  const singular = [[1, 2], [2, 1]] // biome-ignore format: one row
  for (const [name, f] of [
    ['cholesky', (x: E) => cd.sum(cd.cholesky(x as never) as E)],
    ['eigh', (x: E) => cd.sum(cd.eigvalsh(cd.div(x, cd.sub(1, 1)) as never) as E)],
  ] as const) {
    const run = cd.compile(f as never, cd.cpu(), { trap: 'nan' }) as unknown as (x: unknown) => unknown
    expect(() => run(singular), name).toThrow(name === 'cholesky' ? /cholesky/ : /eigh/)
  }
})

describe('equal values', () => {
  const q = known(cd.qr(noise(4, 4) as never).q)
  const withValues = (...w: readonly number[]): E => known(mm(cd.mul(q, cd.tensor([...w])), t(q)))
  const m = known(cd.add(definite(4), 0))
  const invariants: readonly (readonly [string, (x: E) => E, (x: E) => E])[] = [
    ['the sum of exp w', (x) => cd.sum(cd.exp(cd.eigvalsh(x as never) as E)) as E, (x) => cd.trace(cd.expm(x as never) as never) as E],
    [
      'the trace of v w^2 v^T',
      (x) => {
        const { w, v } = cd.eigh(x as never)
        return cd.trace(mm(cd.mul(v as E, cd.square(w as E)), t(v)) as never) as E
      },
      (x) => cd.trace(mm(x, x) as never) as E,
    ],
    ['the nuclear norm', (x) => cd.matrixNorm(x as never, { ord: 'nuc' }) as E, (x) => cd.trace(x as never) as E],
    ['the sum of s^2', (x) => cd.sum(cd.square(cd.svdvals(x as never) as E)) as E, (x) => cd.sum(cd.square(x)) as E],
  ]
  it.each(invariants)('%s has its derivative where they are equal, or nearly so', (_name, f, same) => {
    for (const x of [
      cd.eye(4, 'f64') as E,
      withValues(1, 1, 3, 3),
      withValues(2, 2, 2, 2),
      withValues(1, 1 + 1e-15, 3, 3 + 4e-15),
      withValues(1, 1 + 1e-9, 2, 4),
    ])
      near(cd.grad(f as never)(x as never), cd.grad(same as never)(x as never), 1e-6)
  })
  it.each([
    ['square', 4, 4],
    ['tall', 5, 3],
    ['wide', 3, 5],
  ] as const)('singular values that are equal, and zeros, of a %s matrix', (_name, m, n) => {
    const [left, right] = [cd.qr(noise(m, m) as never).q, cd.qr(noise(n, n) as never).q] as unknown as readonly [E, E]
    const k = Math.min(m, n)
    const turned = (...s: readonly number[]): E =>
      known(mm(cd.mul(cd.slice(left, [0, 0], [m, k]), cd.tensor([...s])), cd.slice(right, [0, 0], [k, n])))
    const f = (x: E): E => {
      const { u, s, vh } = cd.svd(x as never)
      const [s2, s4] = [cd.square(s as E), cd.square(cd.square(s as E))]
      return cd.add(
        cd.trace(mm(cd.mul(u as E, s4), t(u)) as never) as E,
        cd.add(cd.trace(mm(t(vh), cd.mul(cd.expandDims(s2, -1), vh as E)) as never) as E, cd.matrixNorm(x as never) as E),
      ) as E
    }
    const g = (x: E): E =>
      cd.add(cd.add(cd.trace(mm(x, t(x), x, t(x)) as never) as E, cd.sum(cd.square(x)) as E), cd.norm(cd.reshape(x, [-1])) as E) as E
    const none = new Array<number>(k - 2).fill(0)
    for (const x of [turned(2, 2, ...none), turned(2, 1, ...none), turned(3, 3, ...none.map(() => 3)), turned(2, 2 + 1e-15, ...none)])
      near(cd.grad(f as never)(x as never), cd.grad(g as never)(x as never), 1e-6)
    const zero = cd.zeros([m, n], 'f64') as unknown as E
    near(cd.grad(((x: E) => cd.sum(cd.square(cd.svdvals(x as never) as E))) as never)(zero as never), zero, 1e-300)
    expect(data(cd.grad(f as never)(zero as never)).every(Number.isFinite)).toBe(true)
  })
  it('of a function that depends on the vectors, where values are apart by 1e-6', () => {
    const f = (x: E): E => {
      const { w, v } = cd.eigh(x as never)
      return cd.sum(cd.mul(m, mm(cd.mul(v as E, cd.exp(w as E)), t(v)))) as E
    }
    const g = (x: E): E => cd.sum(cd.mul(m, cd.expm(cd.mul(cd.add(x, t(x)), 0.5) as never) as E)) as E
    near(cd.grad(f as never)(withValues(1, 1 + 1e-6, 2, 3) as never), cd.grad(g as never)(withValues(1, 1 + 1e-6, 2, 3) as never), 1e-7)
  })
  it('pinv and lstsq need no vectors: equal singular values are no matter', () => {
    const f = (x: E): E => cd.sum(cd.mul(m, cd.pinv(x as never) as E)) as E
    const g = (x: E): E => cd.sum(cd.mul(m, cd.inv(x as never) as E)) as E
    for (const x of [cd.eye(4, 'f64') as E, q]) near(cd.grad(f as never)(x as never), cd.grad(g as never)(x as never), 1e-11)
  })
})
