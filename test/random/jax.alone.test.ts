/** Keys, bits and distributions beside JAX's, of which test/golden/draws.json has some (draws.py made it), and beside jax-js's. A process of its own: ONNX Runtime leaves a Worker of Node in its global scope, which jax-js takes for a browser's. */
import { init, numpy as np, random as other } from '@jax-js/jax'
import { beforeAll, describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'
import { erfinv, erfinvOf } from '../../src/random/erfinv.js'
import { gammaGradient } from '../../src/random/gamma-gradient.js'
import * as random from '../../src/random/index.js'
import { threefry2x32 } from '../../src/random/threefry.js'
import golden from '../golden/draws.json' with { type: 'json' }

const value = (x: unknown): unknown => cd.evaluate(x as cd.AnyExpr).toArray()
const data = (x: unknown): ArrayLike<number> => cd.evaluate(x as cd.AnyExpr).data as ArrayLike<number>
const N = 1000

/** FNV-1a over 32-bit words. */
const checksum = (xs: ArrayLike<number>): number => {
  let h = 0x811c9dc5
  for (let i = 0; i < xs.length; i++) h = Math.imul(h ^ xs[i]!, 0x01000193)
  return h >>> 0
}

describe('threefry', () => {
  // The known answers of Random123 (kat_vectors, threefry2x32 20).
  it.each([
    [
      [0, 0],
      [0, 0],
      [0x6b200159, 0x99ba4efe],
    ],
    [
      [-1, -1],
      [-1, -1],
      [0x1cb996fc, 0xbb002be7],
    ],
    [
      [0x13198a2e, 0x03707344],
      [0x243f6a88, 0x85a308d3],
      [0xc4923a9c, 0x483df7a0],
    ],
  ] as const)('of key %j and counter %j', (key, counter, want) => {
    const words = ([a, b]: readonly [number, number]) => [cd.full([], a | 0, 'i32'), cd.full([], b | 0, 'i32')] as const
    expect(threefry2x32(words(key), words(counter)).map((x) => (value(x) as number) >>> 0)).toEqual(want)
  })
})

describe.each(golden.keys)('seed $seed', (want) => {
  const key = random.key(want.seed)
  it('the key, its children and their bits are those of JAX', () => {
    expect(value(key)).toEqual(want.key)
    expect(value(random.splitKey(key, 5))).toEqual(want.split)
    expect([0, 1, 99, 2 ** 32 - 1].map((i) => value(random.foldIn(key, i)))).toEqual(want.foldIn)
    const bits = data(random.bits(key, [N]))
    expect([...Array.from(bits).slice(0, 3)]).toEqual(want.first)
    expect(checksum(bits)).toBe(want.bits)
    expect(checksum(data(random.bits(key, [3, 5, 2])))).toBe(want.matrix)
  })
  it('so are uniform numbers, whole numbers and orders', () => {
    expect(checksum(Array.from(data(random.uniform(key, [N], { dtype: 'f32' })), (x) => x * 2 ** 23))).toBe(want.f32)
    const double = Array.from(data(random.uniform(key, [N])), (x) => x * 2 ** 52)
    expect(checksum(double.flatMap((x) => [Math.floor(x / 2 ** 32), x % 2 ** 32]))).toBe(want.f64)
    const bounds = [[0, 6], [-7, 1000], [-(2 ** 31), 2 ** 31 - 1], [0, 2 ** 20]] as const // biome-ignore format: one row
    expect(bounds.map(([a, b]) => value(random.randint(key, [4], a, b)))).toEqual(want.randint)
    expect(value(random.permutation(key, 12))).toEqual(want.permutation)
  })
})

describe('jax-js', () => {
  beforeAll(async () => {
    await init('wasm')
  })
  it.each([0, 1, 2, 7, 42, 99, 1234567, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1])(
    'the first 1000 bits and uniform numbers of seed %j',
    async (seed) => {
      const key = () => other.key(np.array(seed, { dtype: np.uint32 }))
      const bits = (await other.bits(key(), [N]).data()) as Uint32Array
      expect(Array.from(data(random.bits(random.key(seed), [N])))).toEqual(Array.from(Int32Array.from(bits)))
      const uniform = (await other.uniform(key(), [N]).data()) as Float32Array
      expect(Array.from(data(random.uniform(random.key(seed), [N], { dtype: 'f32' })))).toEqual(Array.from(uniform))
    },
  )
})

/** Numbers in nested arrays near those of JAX, whose functions round otherwise. */
const near = (got: unknown, want: unknown, dtype: 'f32' | 'f64'): void => {
  const [a, b] = [[got].flat(9), [want].flat(9)] as [number[], number[]]
  expect(a.length).toBe(b.length)
  const [relative, absolute] = dtype === 'f32' ? [2e-6, 3e-7] : [1e-13, 1e-15]
  a.forEach((x, i) => {
    if (!(Math.abs(x - b[i]!) <= absolute + relative * Math.abs(b[i]!))) expect(x).toBe(b[i])
  })
}

describe.each(['f32', 'f64'] as const)('distributions in %s', (dtype) => {
  const want = golden[dtype]
  const key = random.key(7)
  const t = (x: number | readonly number[] | readonly (readonly number[])[]) => cd.tensor(x as number[], undefined, dtype)
  const logits = t([[0, 1, 2], [2, 0, -1]]) // biome-ignore format: one row
  const p = t([0.1, 0.2, 0.3, 0.4])
  const drawn: { readonly [K in keyof typeof want]: () => unknown } = {
    uniform: () => random.uniform(key, [2, 3], { min: -2, max: 5, dtype }),
    normal: () => random.normal(key, [8], { dtype }),
    truncatedNormal: () => random.truncatedNormal(key, t([-1, 0, 2, -9]), t([2, 0.5, 9, -3]), { shape: [2, 4] }),
    exponential: () => random.exponential(key, [8], { dtype }),
    gumbel: () => random.gumbel(key, [8], { dtype }),
    laplace: () => random.laplace(key, [8], { dtype }),
    logistic: () => random.logistic(key, [8], { dtype }),
    bernoulli: () => random.bernoulli(key, t([0.1, 0.5, 0.9]), { shape: [4, 3] }),
    gamma: () => random.gamma(key, t([0.05, 0.7, 1, 3, 400]), { shape: [4, 5] }),
    beta: () => random.beta(key, t([0.01, 0.5, 2]), 3, { shape: [2, 3] }),
    dirichlet: () => random.dirichlet(key, t([0.02, 1, 5]), { shape: [2] }),
    studentT: () => random.studentT(key, t([1, 3, 30]), { shape: [2, 3] }),
    categorical: () => random.categorical(key, logits, { shape: [4, 2] }),
    categoricalFirst: () => random.categorical(key, logits, { axis: 0 }),
    choiceP: () => random.choice(key, 4, { shape: [6], p }),
    choiceOnceP: () => random.choice(key, 4, { shape: [3], replace: false, p }),
    multivariateNormal: () => random.multivariateNormal(key, t([1, 2]), { factor: t([[1, 0], [3, 0.5]]), shape: [3] }), // biome-ignore format: one row
    glorotUniform: () => random.glorotUniform(key, [3, 2], { dtype }),
    glorotNormal: () => random.glorotNormal(key, [3, 2], { dtype }),
    heUniform: () => random.heUniform(key, [3, 2], { dtype }),
    heNormal: () => random.heNormal(key, [3, 2], { dtype }),
    lecunUniform: () => random.lecunUniform(key, [3, 2], { dtype }),
    lecunNormal: () => random.lecunNormal(key, [3, 2], { dtype }),
    heNormalConv: () => cd.reshape(random.heNormal(key, [2, 3, 1, 2], { dtype, inAxis: 1, outAxis: 0 }), [12]),
  }
  it.each(Object.keys(drawn) as (keyof typeof want)[])('%s', (name) => {
    const y = cd.evaluate(drawn[name]() as cd.AnyExpr)
    if (y.dtype === 'f32' || y.dtype === 'f64') {
      expect(y.dtype).toBe(dtype)
      near(y.toArray(), want[name], dtype)
    } else expect(y.toArray()).toEqual(want[name])
  })
})

describe('erfinv', () => {
  it.each([1e-10, 0.1, 0.5, 0.9, 0.999, 1 - 1e-6, 1 - 2 ** -24, 1 - 1e-9, 1 - 2 ** -40, 1 - 2 ** -53])('at %d, by erfc', (u) => {
    const y = cd.evaluate(erfinvOf(cd.full([], u) as cd.AnyExpr, 'f64')).item()
    // A relative error of y is one of 2 y^2 as much in erfc y.
    const error = Math.abs(cd.evaluate(cd.erfc(y)).item() / (1 - u) - 1)
    expect(error).toBeLessThan(2e-15 * (1 + 2 * y * y))
    const slope = (cd.grad((x: cd.AnyExpr) => erfinv(x, 'f64'))(u) as unknown as cd.Tensor).item()
    expect(slope / ((Math.sqrt(Math.PI) / 2) * Math.exp(y * y))).toBeCloseTo(1, 12)
  })
})

describe('whole numbers', () => {
  const key = random.key(7)
  it('poisson', () => {
    const rates = cd.tensor([0, 0.3, 4, 9.9, 10, 50, 1e4])
    expect(value(random.poisson(key, rates, { shape: [3, 7] }))).toEqual(golden.poisson)
  })
  it('choice, permutation and randint of arrays', () => {
    expect(value(random.choice(key, 5, { shape: [2, 3] }))).toEqual(golden.choice)
    expect(value(random.choice(key, 9, { shape: [4], replace: false }))).toEqual(golden.choiceOnce)
    const bound = (x: readonly number[]) => cd.tensor(x as number[], undefined, 'i32')
    expect(value(random.randint(key, [2, 3], bound([0, -5, -(2 ** 31)]), bound([10, 5, 2 ** 31 - 1])))).toEqual(golden.randintArrays)
    const x = cd.reshape(cd.arange(12), [4, 3])
    expect(value(random.permutation(key, x))).toEqual(golden.permutationRows)
    expect(value(random.permutation(key, x, { axis: 1 }))).toEqual(golden.permutationColumns)
    expect(value(random.permutation(key, x, { axis: -1, independent: true }))).toEqual(golden.permutationIndependent)
  })
})

describe('the derivative of gamma numbers by their parameter', () => {
  it.each(golden.gammaGradient as [number, number, number][])('a = %d, x = %d', (a, x, want) => {
    const got = (dtype: 'f32' | 'f64') =>
      cd.evaluate(gammaGradient(cd.full([], a, dtype) as cd.AnyExpr, cd.full([], x, dtype) as cd.AnyExpr, dtype)).item()
    expect(Math.abs(got('f64') - want)).toBeLessThanOrEqual((a > 1e5 ? 3e-10 : 1e-10) * Math.abs(want))
    expect(Math.abs(got('f32') - want)).toBeLessThanOrEqual(2e-4 * Math.abs(want))
  })
})

describe('matrices', () => {
  const key = random.key(3)
  it('orthogonal ones, and normal vectors of a covariance', () => {
    const near = (got: unknown, want: readonly (readonly number[])[]) =>
      expect(cd.treeAllClose(got as never, want as never, { rtol: 1e-12, atol: 1e-14 })).toBe(true)
    near(cd.evaluate(random.orthogonal(key, 3)), [
      [0.6285646309669353, -0.7026736387369915, -0.3334010529700177],
      [-0.4702430701203161, -0.6847939562745563, 0.5567123965331298],
      [0.6194981514913664, 0.19315018735159759, 0.7608646695864008],
    ])
    near(
      cd.evaluate(
        random.multivariateNormal(key, [1, 2], {
          covariance: [
            [4, 1],
            [1, 3],
          ],
          shape: [2],
        }),
      ),
      [
        [3.2097479535606173, 2.3574701321397002],
        [-0.42202864032599785, 0.2737639823338631],
      ],
    )
  })
})
