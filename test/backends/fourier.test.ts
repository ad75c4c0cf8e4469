// Fourier transforms on the CPU, with SIMD and in plain JavaScript: lengths of every class against the definition, lines along any axis, tables that programs share.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { makeCpu } from '../../src/backends/cpu/index.js'
import { webgpuFacets } from '../../src/backends/webgpu/facets.js'
import type { Backend } from '../../src/core/functions/backend.js'
import { aval } from '../../src/core/graph/aval.js'
import { evaluateNodes } from '../../src/core/graph/evaluate.js'
import { applyAny, asExpr, input } from '../../src/core/graph/expr.js'
import type { AnyPrimitive } from '../../src/core/graph/primitive.js'
import { fourier } from '../../src/core/ops/families.js'
import * as cd from '../../src/index.js'
import { deep, sample, whole } from '../depth.js'

type E = cd.AnyExpr
type Float = 'f64' | 'f32'
const EPS = { f64: 2 ** -52, f32: 2 ** -23 } as const
const backends = [
  ['SIMD', makeCpu({ simd: true })],
  ['plain', makeCpu({ simd: false })],
] as const
const noise = (size: number, seed: number, dtype: Float): Float64Array =>
  Float64Array.from({ length: size }, (_, i) => {
    const x = Math.sin(seed + 1.7 * i * i + i)
    return dtype === 'f64' ? x : Math.fround(x)
  })
/** A sum of which nothing is lost (Neumaier). */
const total = (count: number, term: (j: number) => number): number => {
  let [sum, lost] = [0, 0]
  for (let j = 0; j < count; j++) {
    const x = term(j)
    const next = sum + x
    lost += Math.abs(sum) >= Math.abs(x) ? sum - next + x : x - next + sum
    sum = next
  }
  return sum + lost
}
type Pair = readonly [re: ArrayLike<number>, im: ArrayLike<number>]
/** Elements of the transform of n numbers, by the definition. */
const definition = ([re, im]: Pair, at: readonly number[]): readonly [number[], number[]] => {
  const n = re.length
  const angle = (m: number): number => (2 * Math.PI * (2 * m > n ? m - n : m)) / n
  const [c, s] = [Math.cos, Math.sin].map((f) => Float64Array.from({ length: n }, (_, m) => f(angle(m)))) as [Float64Array, Float64Array]
  return [
    at.map((k) => total(2 * n, (i) => (i < n ? re[i]! * c[(i * k) % n]! : im[i - n]! * s[((i - n) * k) % n]!))),
    at.map((k) => total(2 * n, (i) => (i < n ? im[i]! * c[(i * k) % n]! : -re[i - n]! * s[((i - n) * k) % n]!))),
  ]
}
const norm = (x: ArrayLike<number>): number => {
  let sum = 0
  for (let i = 0; i < x.length; i++) sum += x[i]! ** 2
  return Math.sqrt(sum)
}
const far = (got: readonly number[], want: readonly number[], eps: number): number =>
  norm(got.map((v, i) => v - want[i]!)) / (eps * (norm(want) || 1))
/** Units of rounding. */
const bound = (n: number): number => 2 + Math.log2(n) / 4
const range = (n: number): readonly number[] => Array.from({ length: n }, (_, k) => k)
const data = (x: unknown): readonly number[] => Array.from((x as { data: ArrayLike<number> }).data)
const run = (backend: Backend, f: (...xs: E[]) => unknown, ...xs: readonly cd.Tensor[]): readonly (readonly number[])[] =>
  [(cd.compile as unknown as (f: unknown, b: Backend) => (...xs: readonly cd.Tensor[]) => unknown)(f, backend)(...xs)].flat().map(data)
const fft = (re: E, im: E, axis = -1): readonly E[] => {
  const y = cd.fft({ re, im }, { axis } as never) as unknown as cd.ComplexPair
  return [y.re, y.im]
}
const rfft = (x: E, axis = -1): readonly E[] => {
  const y = cd.rfft(x, { axis } as never) as unknown as cd.ComplexPair
  return [y.re, y.im]
}
/** The line at [o, i] of an array [outer, n, inner]. */
const lineOf = (x: ArrayLike<number>, n: number, inner: number, o: number, i: number): number[] =>
  range(n).map((k) => x[(o * n + k) * inner + i]!)

// One pass, several, in vectors and element by element; odd radices alone and with others; primes that have a pass and that have none.
const lengths = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 22, 26, 30, 49, 64, 97, 100, 121, 128, 143, 1009, 1024]
const more = [10, 14, 15, 18, 20, 24, 25, 27, 32, 34, 48, 60, 77, 81, 96, 125, 169, 210, 243, 256, 343, 512, 625, 1000, 1331, 2018, 2048]
const shapes: readonly (readonly [outer: number, inner: number])[] = [[1, 1], [3, 1], [2, 2], [1, 3], [2, 9], [1, 21], [19, 1]] // biome-ignore format: one row

describe.each(backends)('%s', (_name, backend) => {
  for (const dtype of ['f64', 'f32'] as const)
    it.each(deep ? [...lengths, ...sample(more, 9)] : lengths)(`is the definition: ${dtype} of %i`, (n) => {
      const eps = EPS[dtype]
      for (const [outer, inner] of n > 200 && !whole ? shapes.slice(1, 3) : shapes) {
        const size = outer * n * inner
        const [re, im] = [noise(size, 1, dtype), noise(size, 2, dtype)]
        const [x, y] = [cd.tensor(re, [outer, n, inner], dtype), cd.tensor(im, [outer, n, inner], dtype)]
        const [gotRe, gotIm] = run(backend, (a, b) => fft(a, b, 1), x, y) as [number[], number[]]
        const half = Math.floor(n / 2) + 1
        const [halfRe, halfIm] = run(backend, (a) => rfft(a, 1), x) as [number[], number[]]
        const back = run(backend, (a, b) => cd.irfft({ re: a, im: b } as never, { n, axis: 1 } as never), cd.tensor(halfRe, [outer, half, inner], dtype), cd.tensor(halfIm, [outer, half, inner], dtype))[0]! // biome-ignore format: one call
        expect(far(back, Array.from(re), eps)).toBeLessThan(2 * bound(n))
        for (const [o, i] of [
          [0, 0],
          [outer - 1, inner - 1],
        ] as const) {
          // biome-ignore format: one row
          const line: Pair = [lineOf(re, n, inner, o, i), lineOf(im, n, inner, o, i)]
          const want = definition(line, range(n)).flat()
          expect(far([gotRe, gotIm].flatMap((v) => lineOf(v, n, inner, o, i)), want, eps)).toBeLessThan(bound(n)) // biome-ignore format: one row
          const real = definition([line[0], line[0].length === 0 ? [] : new Float64Array(n)], range(half)).flat()
          expect(far([halfRe, halfIm].flatMap((v) => lineOf(v, half, inner, o, i)), real, eps)).toBeLessThan(bound(n)) // biome-ignore format: one row
        }
      }
    })
})

describe('long lengths', () => {
  const [, backend] = backends[0]
  // In blocks, a convolution of a length that is cut into blocks, and one that has too few factors of 2 for them.
  const long: readonly (readonly [number, Float])[] = [[2 ** 15, 'f64'], [2 ** 16, 'f32'], [3 * 2 ** 14, 'f64'], [30_011, 'f64'], [59_049, 'f32'], ...(deep ? sample([[2 ** 20, 'f64'], [2 ** 20, 'f32'], [100_003, 'f32']] as const, 2) : [])] // biome-ignore format: one row
  it.each(long)('%i %s: some elements are the definition, and it leads back', (n, dtype) => {
    const [re, im] = [noise(n, 1, dtype), noise(n, 2, dtype)]
    const y = run(backend, (a, b) => fft(a, b), cd.tensor(re, [n], dtype), cd.tensor(im, [n], dtype)) as [number[], number[]]
    const at = range(16).map((k) => (k * k * 7919 + k * 31) % n)
    const want = definition([re, im], at)
    const scale = Math.sqrt((norm(y[0]) ** 2 + norm(y[1]) ** 2) / (2 * n))
    want.forEach((w, part) => {
      w.forEach((v, i) => {
        expect(Math.abs(v - y[part]![at[i]!]!)).toBeLessThan(4 * bound(n) * EPS[dtype] * scale)
      })
    })
    const back = run(
      backend,
      (a, b) => {
        const z = cd.ifft({ re: a, im: b } as never) as unknown as cd.ComplexPair
        return [z.re, z.im]
      },
      cd.tensor(y[0], [n], dtype),
      cd.tensor(y[1], [n], dtype),
    )
    expect(far(back.flat(), [...re, ...im], EPS[dtype])).toBeLessThan(2 * bound(n))
    if (n % 2 === 1) return
    const half = run(backend, (a) => rfft(a), cd.tensor(re, [n], dtype)) as [number[], number[]]
    const first = definition([re, new Float64Array(n)], at.map((k) => k % (n / 2))) // biome-ignore format: one row
    first.forEach((w, part) => {
      w.forEach((v, i) => {
        expect(Math.abs(v - half[part]![at[i]! % (n / 2)]!)).toBeLessThan(4 * bound(n) * EPS[dtype] * scale)
      })
    })
    const whole = run(backend, (a, b) => cd.irfft({ re: a, im: b } as never), ...half.map((v) => cd.tensor(v, [v.length], dtype)))[0]!
    expect(far(whole, Array.from(re), EPS[dtype])).toBeLessThan(2 * bound(n))
  })
})

describe('of any length and shape', () => {
  it('SIMD and plain loops agree', () => {
    const length = fc.integer({ min: 1, max: deep ? 1000 : 200 })
    fc.assert(
      fc.property(fc.constantFrom<Float>('f64', 'f32'), length, fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 24 }), (dtype, n, outer, inner) => {
        const shape = [outer, n, inner]
        const size = outer * n * inner
        const xs = [1, 2].map((seed) => cd.tensor(noise(size, seed, dtype), shape, dtype))
        const f = (a: E, b: E): unknown => [...fft(a, b, 1), ...rfft(a, 1), cd.irfft({ re: a, im: b } as never, { n: 2 * n, axis: 1 } as never)]
        const [ours, plain] = backends.map(([, backend]) => run(backend, f, ...xs))
        ours!.forEach((v, k) => {
          expect(norm(v.map((x, i) => x - plain![k]![i]!)) / (norm(plain!.flat()) || 1)).toBeLessThan(2 * bound(n + 1) * EPS[dtype])
        })
      }), // biome-ignore format: one property
      { numRuns: deep ? 100 : 40, seed: 7 },
    )
  })
})

describe('tables', () => {
  it('are each program’s own, and code is that of all lengths of the same radices', () => {
    const backend = makeCpu({ simd: true })
    const compiled = (n: number): (() => readonly (readonly number[])[]) => {
      const x = cd.tensor(noise(n, 3, 'f64'))
      const f = cd.compile((a: E) => fft(a, a) as never, backend as never) as unknown as (x: cd.Tensor) => readonly cd.Tensor[]
      return () => f(x).map(data)
    }
    const [a, b, c] = [compiled(64), compiled(256), compiled(48)]
    const [first, second] = [a(), b()]
    const { modules } = backend.stats()
    expect(b()).toEqual(second)
    const third = c()
    expect(backend.stats().modules).toBe(modules + 1)
    for (let i = 0; i < 3; i++) expect([a(), b(), c()]).toEqual([first, second, third])
    expect(modules).toBeLessThanOrEqual(2)
  })
  it('in a loop, and beside each other in one program', () => {
    const rows = cd.tensor(noise(5 * 12, 4, 'f64'), [5, 12])
    for (const [, backend] of backends) {
      const looped = run(backend, (x) => (cd.scan as never as (f: unknown, c: unknown, xs: unknown) => readonly [E, E])((s: E, row: E) => [cd.add(s as never, cd.sum(row as never) as never), fft(row, row)[0]], 0, x)[1], rows) // biome-ignore format: one call
      const at = run(backend, (x) => [fft(x, x)[0], fft(cd.transpose(x as never), cd.transpose(x as never))[0]], rows)
      expect(far(looped[0]!, at[0]!, EPS.f64)).toBeLessThan(4)
      const columns = run(backend, (x) => cd.transpose(fft(x, x, 0)[0] as never), rows)
      expect(far(columns[0]!, at[1]!, EPS.f64)).toBeLessThan(4)
    }
  })
})

describe('on WebGPU', () => {
  it.each(Object.entries(fourier))('%s is a composition of products', (_name, given) => {
    const prim = given as AnyPrimitive
    const by = webgpuFacets().lowerings.get(prim)!
    for (const [shape, axis] of [
      [[6], 0],
      [[2, 4], 1],
      [[130, 2], 0],
      [[2, 66, 2], 1],
      [[134], 0],
    ] as const) {
      // biome-ignore format: one row
      const xs = prim.args.map(() => input(aval(shape, 'f64')))
      const values = new Map(xs.map((x, i) => [x, { shape, dtype: 'f64' as const, data: noise(x.aval.size, i, 'f64') }]))
      const want = evaluateNodes(applyAny(prim, xs, { axis }), values)
      const got = evaluateNodes([by(xs.map(asExpr), { axis })].flat() as never, values)
      want.forEach((w, i) => {
        expect(got[i]!.shape).toEqual(w.shape)
        expect(far(data(got[i]), data(w), EPS.f64)).toBeLessThan(30)
      })
    }
  })
})
