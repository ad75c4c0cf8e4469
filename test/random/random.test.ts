/** Keys in loops and under vmap, the same numbers on every backend, as JSON, of every shape and dtype; and what cannot be drawn. */

import { describe, expect, it } from 'vitest'
import { checkGrad } from '../../src/check/index.js'
import * as cd from '../../src/index.js'
import * as random from '../../src/random/index.js'

const value = (x: unknown): unknown => cd.evaluate(x as cd.AnyExpr).toArray()
const key = random.key(9)
const errorOf = (f: () => unknown): cd.AdError | undefined => {
  try {
    f()
  } catch (e) {
    if (cd.isAdException(e)) return e.error
    throw e
  }
  return undefined
}

/** Sizes from which on gamma numbers that are not taken at once are gathered. */
const MANY = 2048
describe('gamma numbers of many elements', () => {
  const drawn = (a: unknown, n: number, dtype: 'f32' | 'f64', k = key): readonly number[] =>
    cd.evaluate(random.gamma(k, a as number, { shape: [n], dtype })).toArray() as readonly number[]
  it.each(['f32', 'f64'] as const)('are those of few, to the bit: %s', (dtype) => {
    // Elements with a = 1 are not taken in one of twenty cases: more than one share of them.
    for (const a of [0.3, 1, 2.5, 40]) {
      const many = drawn(a, MANY + 3, dtype)
      expect(many.slice(0, MANY - 1)).toEqual(drawn(a, MANY - 1, dtype))
      expect(new Set(many).size).toBeGreaterThan(0.99 * MANY)
    }
    const mixed = cd.tensor(
      Array.from({ length: MANY }, (_, i) => 0.2 + (i % 7)),
      [MANY],
      dtype,
    )
    const few = cd.slice(mixed, [0], [MANY - 1])
    expect(drawn(mixed, MANY, dtype).slice(0, MANY - 1)).toEqual(drawn(few, MANY - 1, dtype))
  })
  it('of several keys, and of any shape', () => {
    const keys = random.splitKey(key, 3)
    const all = value(
      cd.vmap((k: cd.AnyExpr) => random.gamma(k as never, 1, { shape: [MANY] }))(keys as never),
    ) as readonly (readonly number[])[]
    all.forEach((row, i) => {
      expect(row).toEqual(drawn(1, MANY, 'f64', cd.evaluate(cd.at(keys, i)) as never))
    })
    expect((value(random.gamma(key, 1, { shape: [2, MANY] })) as readonly (readonly number[])[]).flat()).toEqual(drawn(1, 2 * MANY, 'f64'))
  })
  it('have the slopes of few', () => {
    const slope = (n: number): readonly number[] => {
      const a = cd.tensor(
        Array.from({ length: n }, (_, i) => 0.5 + (i % 5)),
        [n],
      )
      return value(cd.grad((x: cd.AnyExpr) => cd.sum(random.gamma(key, x) as cd.AnyExpr) as never)(a as never)) as readonly number[]
    }
    expect(slope(MANY).slice(0, MANY - 1)).toEqual(slope(MANY - 1))
  })
})

/** Each that draws of a key alone, into a shape. */
const drawn: Readonly<Record<string, (key: random.Key, shape: readonly number[]) => unknown>> = {
  bits: random.bits,
  uniform: random.uniform,
  'uniform f32': (k, shape) => random.uniform(k, shape, { min: -1, max: 2, dtype: 'f32' }),
  normal: random.normal,
  'normal f32': (k, shape) => random.normal(k, shape, { dtype: 'f32' }),
  truncatedNormal: (k, shape) => random.truncatedNormal(k, -1, 2, { shape, dtype: 'f32' }),
  exponential: random.exponential,
  gumbel: (k, shape) => random.gumbel(k, shape, { dtype: 'f32' }),
  laplace: random.laplace,
  logistic: random.logistic,
  cauchy: random.cauchy,
  maxwell: (k, shape) => random.maxwell(k, shape, { dtype: 'f32' }),
  rademacher: random.rademacher,
  lognormal: (k, shape) => random.lognormal(k, 0.5, { shape }),
  rayleigh: (k, shape) => random.rayleigh(k, 2, { shape }),
  pareto: (k, shape) => random.pareto(k, 3, { shape, dtype: 'f32' }),
  weibull: (k, shape) => random.weibull(k, 2, 1.5, { shape }),
  triangular: (k, shape) => random.triangular(k, -1, 0.5, 2, { shape }),
  geometric: (k, shape) => random.geometric(k, 0.3, { shape }),
  ball: (k, shape) => random.ball(k, 3, shape),
  'ball of order 1': (k, shape) => random.ball(k, 2, shape, { p: 1, dtype: 'f32' }),
  bernoulli: (k, shape) => random.bernoulli(k, 0.4, { shape }),
  randint: (k, shape) => random.randint(k, shape, -3, 11),
  gamma: (k, shape) => random.gamma(k, 0.7, { shape }),
  beta: (k, shape) => random.beta(k, 2, 0.5, { shape, dtype: 'f32' }),
  dirichlet: (k, shape) => random.dirichlet(k, [1, 2], { shape }),
  studentT: (k, shape) => random.studentT(k, 3, { shape }),
  poisson: (k, shape) => random.poisson(k, cd.tensor([2, 20, 3]), { shape: [...shape, 3] }),
  categorical: (k, shape) => random.categorical(k, [0, 1, 0.5], { shape }),
  choice: (k, shape) => random.choice(k, 5, { shape, p: [0.1, 0.2, 0.3, 0.2, 0.2] }),
  multivariateNormal: (k, shape) => random.multivariateNormal(k, [1, 2], { factor: [[1, 0], [1, 1]], shape }), // biome-ignore format: one row
  'multivariateNormal of a covariance': (k, shape) => random.multivariateNormal(k, [1, 2], { covariance: [[4, 1], [1, 3]], shape }), // biome-ignore format: one row
  orthogonal: (k, shape) => random.orthogonal(k, 2, { shape }),
}
const names = Object.keys(drawn)
const draw = (name: string, k: random.Key, shape: readonly number[]): cd.AnyExpr => drawn[name]!(k, shape) as cd.AnyExpr

describe.each(names)('%s', (name) => {
  it('under vmap over keys is the stack', () => {
    const keys = random.splitKey(key, 3)
    const mapped = cd.vmap((k) => draw(name, k, [4]))(keys)
    const stacked = cd.stack(cd.unstack(keys).map((k) => draw(name, k, [4])) as never)
    expect(value(mapped)).toEqual(value(stacked))
  })
  it('rank 0, axes of length 1, and empty ones', () => {
    expect(cd.evaluate(draw(name, key, [])).shape.slice(0, 0)).toEqual([])
    const one = cd.evaluate(draw(name, key, []))
    expect(cd.evaluate(draw(name, key, [1, 1])).toArray()).toEqual([[one.toArray()]])
    expect(cd.evaluate(draw(name, key, [2, 0])).shape.slice(0, 2)).toEqual([2, 0])
  })
  it('the reference and plain JavaScript draw the same', () => {
    const run = (backend: cd.CpuBackend | ReturnType<typeof cd.reference>) =>
      cd.compile((k: cd.AnyExpr) => draw(name, k, [7]), backend as never)(key)
    const got = run(cd.cpu())
    for (const other of [cd.reference(), cd.cpu({ simd: false })]) {
      const want = run(other)
      expect(want.dtype).toBe(got.dtype)
      if (got.dtype === 'i32' || got.dtype === 'bool' || name.startsWith('uniform')) expect(got.toArray()).toEqual(want.toArray())
      else expect(cd.treeAllClose(got, want, got.dtype === 'f32' ? { rtol: 2e-5, atol: 1e-6 } : { rtol: 1e-11, atol: 1e-13 })).toBe(true)
    }
  })
})

describe('types', () => {
  it('are those of the values', () => {
    // Not what the place where it stands wants, which takes any.
    const drawn = cd.evaluate({ w: random.glorotNormal(key, [2, 3]), n: random.normal(key, [3]), u: random.uniform(key, [3]) })
    const dtypes: readonly 'f64'[] = [drawn.w.dtype, drawn.n.dtype, drawn.u.dtype]
    expect(dtypes).toEqual(['f64', 'f64', 'f64'])
    const a: cd.Expr<[2, 3], 'f32'> = random.uniform(key, [2, 3], { dtype: 'f32' })
    const b: cd.Expr<[], 'f64'> = random.normal(key)
    const c: cd.Expr<[5, 2], 'i32'> = random.splitKey(key, 5)
    const d: cd.Expr<[4], 'bool'> = random.bernoulli(key, 0.5, { shape: [4] })
    const e: cd.Expr<[3], 'f32'> = random.gamma(key, cd.tensor(new Float32Array([1, 2, 3]), [3]))
    const f: cd.Expr<[7], 'i32'> = random.permutation(key, 7)
    const g: cd.Expr<[2], 'f32'> = random.dropout(cd.tensor(new Float32Array(2), [2]), 0.5, key)
    const h: cd.Expr<[2], 'i32'> = random.foldIn(key, 3)
    const i: cd.Expr<[6], 'i32'> = random.poisson(key, 3, { shape: [6] })
    // @ts-expect-error a key is i32
    expect(() => random.uniform(cd.tensor([1, 2], [2]))).toThrow()
    // @ts-expect-error no such dtype
    expect(() => random.normal(key, [2], { dtype: 'i32' })).toThrow()
    for (const [x, shape, dtype] of [
      [a, [2, 3], 'f32'],
      [b, [], 'f64'],
      [c, [5, 2], 'i32'],
      [d, [4], 'bool'],
      [e, [3], 'f32'],
      [f, [7], 'i32'],
      [g, [2], 'f32'],
      [h, [2], 'i32'],
      [i, [6], 'i32'],
    ] as const)
      expect([x.shape, x.dtype]).toEqual([shape, dtype])
  })
})

describe('keys', () => {
  it('in a scan that splits them: the unrolled numbers', () => {
    const step = (k: cd.AnyExpr) => {
      const [next, own] = cd.unstack(random.splitKey(k)) as readonly cd.AnyExpr[]
      return [next, random.normal(own!, [2], { dtype: 'f32' })] as const
    }
    const scan = cd.scan as unknown as (f: unknown, init: unknown, xs: undefined, options: object) => readonly cd.AnyExpr[]
    const [, ys] = scan(step, key, undefined, { length: 4 })
    let k = cd.cast(key, 'i32') as cd.AnyExpr
    const rows: cd.AnyExpr[] = []
    for (let i = 0; i < 4; i++) {
      const [next, y] = step(k)
      rows.push(y)
      k = next!
    }
    expect(value(ys)).toEqual(value(cd.stack(rows as never)))
  })
  it('of seeds and of numbers that are computed are those of the same numbers', () => {
    const seeded = cd.compile((s: cd.AnyExpr) => random.key(s))
    expect(seeded(cd.tensor(5, [], 'i32')).toArray()).toEqual([0, 5])
    const folded = cd.vmap((i) => random.foldIn(key, i))(cd.arange(3, 'i32'))
    expect(value(folded)).toEqual([0, 1, 2].map((i) => value(random.foldIn(key, i))))
    expect(cd.evaluate(random.splitKey(key, 0)).shape).toEqual([0, 2])
  })
  it('are an argument of what is compiled: another key is no other plan', () => {
    const f = cd.compile((k: cd.AnyExpr) => random.uniform(k, [3]))
    for (const seed of [0, 1, 2 ** 40]) expect(f(random.key(seed)).toArray()).toEqual(value(random.uniform(random.key(seed), [3])))
  })
  it('as JSON: what has no custom rule', () => {
    const program = cd.toProgram((k: cd.AnyExpr) => random.normal(k, [3], { dtype: 'f32' }))(key)
    const read = cd.fromJSON(JSON.parse(JSON.stringify(cd.toJSON(program))))
    expect(read._tag).toBe('Right')
    if (read._tag === 'Right')
      expect(value((cd.fromProgram(read.right) as (k: unknown) => unknown)(key))).toEqual(value(random.normal(key, [3], { dtype: 'f32' })))
  })
})

describe('derivatives', () => {
  it('of bounds, means and factors, and of gamma numbers, are right', () => {
    const { uniform, truncatedNormal, multivariateNormal, permutation, choice, gamma, studentT } = random
    const passes = (f: (...xs: never[]) => unknown, ...xs: readonly unknown[]): void =>
      expect(
        (checkGrad(f as never, { checks: { 'second order': false } } as never) as (...xs: readonly unknown[]) => { _tag: string })(...xs)
          ._tag,
      ).toBe('Right')
    passes((a: cd.AnyExpr, b: cd.AnyExpr) => cd.sum(uniform(key, [3], { min: a, max: b })), [0, 1, 2], [3])
    passes((a: cd.AnyExpr, b: cd.AnyExpr) => cd.sum(cd.square(truncatedNormal(key, a, b, { shape: [3] }))), -0.5, [0.5, 1, 2])
    passes((m: cd.AnyExpr, l: cd.AnyExpr) => cd.sum(cd.square(multivariateNormal(key, m, { factor: l }))), [1, 2], [[1, 0], [2, 3]]) // biome-ignore format: one row
    passes((x: cd.AnyExpr) => cd.sum(cd.mul(permutation(key, x), cd.arange(4))), [1, 2, 3, 4])
    passes((x: cd.AnyExpr) => cd.sum(cd.square(choice(key, x, { shape: [3] }))), [1, 2, 3, 4])
    passes((x: cd.AnyExpr) => cd.sum(random.dropout(x, 0.5, key)), [1, 2, 3])
    // The sampler is no smooth function of a: its rule is held against the closed form of golden values instead. Both modes agree.
    for (const f of [gamma, studentT] as const) {
      const g = (a: cd.AnyExpr) => cd.sum(f(key, a, { shape: [5] }))
      expect((cd.grad(g)(1.3) as unknown as cd.Tensor).item()).toBeCloseTo((cd.jvp(g)(1.3, 1)[1] as unknown as cd.Tensor).item(), 12)
    }
  })
  it('of whole numbers: none', () => {
    expect(value(cd.grad((r: cd.AnyExpr) => cd.sum(cd.cast(random.poisson(key, r), 'f64')))(3))).toBe(0)
  })
})

describe('what cannot be drawn is one clear error', () => {
  const k = key
  const f = random as unknown as Readonly<Record<string, (...xs: readonly unknown[]) => unknown>>
  it.each([
    ['key', [-1], 'BadInput', /the seed is -1, it must be from 0/],
    ['key', [1.5], 'BadInput', /the seed must be a whole number, not 1.5/],
    ['key', [2 ** 53], 'BadInput', /whole number/],
    ['key', [cd.tensor([1, 2], [2], 'i32')], 'BadInput', /i32 \[2\], it must be a whole number or an i32 of rank 0/],
    ['key', [cd.tensor(1)], 'BadInput', /f64 \[\]/],
    ['uniform', [0], 'BadInput', /the key is 0/],
    ['uniform', [[0, 1]], 'BadInput', /the key is \[0, 1\]/],
    ['uniform', [cd.tensor([1, 2])], 'BadInput', /the key is f64 \[2\], it must be i32 \[2\]/],
    ['normal', [random.splitKey(key), [2]], 'BadInput', /i32 \[2, 2\]/],
    ['normal', [k, [-1]], 'BadInput', /\[-1\] is not a shape/],
    ['normal', [k, [1.5]], 'BadInput', /whole numbers/],
    ['normal', [k, 3], 'BadInput', /the shape must be an array/],
    ['bits', [k, [2 ** 16, 2 ** 16]], 'BadInput', /not a shape of at most 2147483647 elements/],
    ['normal', [k, [2], { dtype: 'i32' }], 'BadInput', /dtype is 'i32'/],
    ['normal', [k, [2], { scale: 3 }], 'BadInput', /there is no option scale/],
    ['uniform', [k, [2], { min: cd.tensor([1, 2, 3]) }], 'ShapeMismatch', /do not broadcast to \[2\]/],
    ['splitKey', [k, -1], 'BadInput', /n is -1/],
    ['foldIn', [k, 2 ** 32], 'BadInput', /i is 4294967296/],
    ['bernoulli', [k, 1.5], 'BadInput', /p is 1.5, it must be from 0 to 1/],
    ['bernoulli', [k, [0.5, Number.NaN]], 'BadInput', /p is NaN/],
    ['randint', [k, [2], 5, 5], 'BadInput', /min is 5 and max is 5/],
    ['randint', [k, [2], 0, 2 ** 31 + 1], 'BadInput', /max is 2147483649/],
    ['randint', [k, [2], 0, cd.tensor(1.5)], 'BadInput', /max is f64/],
    ['gamma', [k, -1], 'BadInput', /a is -1, it must be positive/],
    ['gamma', [k, [[1], [0]]], 'BadInput', /a is 0/],
    ['gamma', [k, 'x'], 'BadInput', /a is 'x'/],
    ['gamma', [k, cd.tensor([1, 2, 3]), { shape: [2] }], 'ShapeMismatch', /do not broadcast to \[2\]/],
    ['beta', [k, cd.tensor([1, 2]), cd.tensor([1, 2, 3])], 'ShapeMismatch', /do not broadcast/],
    ['dirichlet', [k, 1], 'ShapeMismatch', /rank 0/],
    ['studentT', [k, 0], 'BadInput', /df is 0/],
    ['poisson', [k, -2], 'BadInput', /rate is -2/],
    ['categorical', [k, 1], 'BadInput', /axis is -1, the array has rank 0/],
    [
      'categorical',
      [
        k,
        [
          [1, 2],
          [3, 4],
        ],
        { shape: [3] },
      ],
      'ShapeMismatch',
      /./,
    ],
    ['permutation', [k, -1], 'BadInput', /n is -1/],
    ['permutation', [k, [1, 2], { axis: 1 }], 'BadInput', /axis is 1/],
    ['choice', [k, 3, { shape: [4], replace: false }], 'BadInput', /4 of 3 without replacement/],
    ['choice', [k, 3, { p: [0.5, 0.5] }], 'ShapeMismatch', /it must have \[3\]/],
    ['choice', [k, 0], 'BadInput', /nothing to choose from/],
    ['dropout', [[1], 1, k], 'BadInput', /rate is 1/],
    ['dropout', [[1], -0.1, k], 'BadInput', /rate is -0.1/],
    ['glorotUniform', [k, [3]], 'BadInput', /the shape is \[3\]/],
    ['heNormal', [k, [3, 3], { inAxis: 1, outAxis: 1 }], 'BadInput', /both 1/],
    ['multivariateNormal', [k, [1, 2], { factor: [[1]] }], 'ShapeMismatch', /the factor \[1, 1\]/],
    ['multivariateNormal', [k, [1, 2], {}], 'BadInput', /one of covariance and factor is needed/],
    ['orthogonal', [k, -1], 'BadInput', /n is -1/],
  ] as const)('%s, case %#', (name, args, tag, message) => {
    const error = errorOf(() => f[name]!(...args))
    expect(error?._tag).toBe(tag)
    expect(cd.explain(error!)).toMatch(message)
  })
})

describe('categorical without replacement', () => {
  const logits = cd.tensor([[0, 1, 0.5, 2], [3, 0, 0, 0]]) // biome-ignore format: rows
  it('draws each class once at most, and all of them where as many are asked for', () => {
    for (let i = 0; i < 20; i++) {
      const drawn = cd
        .evaluate(random.categorical(random.key(i), logits, { shape: [4, 2], replace: false }))
        .toArray() as unknown as number[][]
      for (const row of [0, 1]) expect(drawn.map((d) => d[row]).sort()).toEqual([0, 1, 2, 3])
    }
  })
  it('the first of two is as likely as with one draw', () => {
    const keys = random.splitKey(random.key(5), 4000)
    const firsts = cd.evaluate(cd.vmap((k) => random.categorical(k, [0, Math.log(3)], { shape: [2], replace: false }))(keys) as cd.AnyExpr)
    const ones = Array.from({ length: 4000 }, (_, i) => firsts.data[2 * i] as number).reduce((a, b) => a + b, 0)
    expect(Math.abs(ones / 4000 - 0.75)).toBeLessThan(3.3 * Math.sqrt((0.75 * 0.25) / 4000))
  })
  it('more than there are is an error', () => {
    expect(() => random.categorical(random.key(1), [0, 0], { shape: [3], replace: false })).toThrow(/3 draws of 2 classes/)
  })
})

describe('parameters of the transformed distributions', () => {
  const key = random.key(9)
  it.each([
    ['lognormal', (a: cd.AnyExpr) => random.lognormal(key, a, { shape: [5] }), 0.7],
    ['rayleigh', (a: cd.AnyExpr) => random.rayleigh(key, a, { shape: [5] }), 1.3],
    ['pareto', (a: cd.AnyExpr) => random.pareto(key, a, { shape: [5] }), 2.5],
    ['weibull in its scale', (a: cd.AnyExpr) => random.weibull(key, a, 1.5, { shape: [5] }), 2],
    ['weibull in its concentration', (a: cd.AnyExpr) => random.weibull(key, 2, a, { shape: [5] }), 1.5],
    ['triangular in left', (a: cd.AnyExpr) => random.triangular(key, a, 1, 3, { shape: [5] }), -0.5],
    ['triangular in its mode', (a: cd.AnyExpr) => random.triangular(key, 0, a, 3, { shape: [5] }), 1],
    ['triangular in right', (a: cd.AnyExpr) => random.triangular(key, 0, 1, a, { shape: [5] }), 3],
  ] as const)('%s: derivatives are differences at a fixed key', (_name, f, at) => {
    const total = (a: cd.AnyExpr) => cd.sum(cd.mul(f(a) as cd.AnyExpr, cd.tensor([1, -2, 3, 0.5, 1.5])))
    const h = 1e-6
    const run = cd.compile(total)
    const want = (run(at + h).item() - run(at - h).item()) / (2 * h)
    expect(cd.grad(total)(at).item()).toBeCloseTo(want, 6)
    expect(cd.jvp(total)(at, 1)[1].item()).toBeCloseTo(want, 6)
  })
  it('geometric numbers are as likely as they should be, signs even', () => {
    const n = 40000
    const counts = [0, 0, 0, 0]
    for (const x of cd.evaluate(random.geometric(key, 0.3, { shape: [n] })).data) counts[Math.min(3, x - 1)]!++
    const p = [0.3, 0.21, 0.147, 0.343]
    for (const [i, c] of counts.entries()) expect(Math.abs(c - n * p[i]!)).toBeLessThan(3.5 * Math.sqrt(n * p[i]! * (1 - p[i]!)))
    const signs = cd.evaluate(random.rademacher(key, [n])).data
    expect(signs.every((x) => x === 1 || x === -1)).toBe(true)
    expect(Math.abs(signs.reduce((a, b) => a + b, 0))).toBeLessThan(3.5 * Math.sqrt(n))
  })
  it('what they cannot be is an error', () => {
    for (const f of [
      () => random.lognormal(key, -1),
      () => random.rayleigh(key, 0),
      () => random.pareto(key, -2),
      () => random.weibull(key, 1, 0),
      () => random.triangular(key, 0, 4, 3),
      () => random.triangular(key, 1, 1, 1),
      () => random.geometric(key, 0),
      () => random.geometric(key, 1.5),
      () => random.ball(key, 0 as number),
      () => random.ball(key, 2, [], { p: -1 }),
      () => random.rademacher(key, [2], { dtype: 'bool' as never }),
      () => random.cauchy(key, [2], { dtypes: 'f32' } as never),
    ])
      expect(f).toThrow(/BadInput/)
  })
})
