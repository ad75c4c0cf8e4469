// Fourier transforms against NumPy's, stft against PyTorch's (test/golden/fft.py), against the direct sums; theorems, gradients, bad input.

import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkGrad, report } from '../../src/check/index.js'
import * as cd from '../../src/index.js'
import { evaluate, fft, fftConvolve, ifft, irfft, istft, mul, rfft, square, stft, sum, tensor } from '../../src/index.js'
import { deep } from '../depth.js'

type Nested = number | readonly Nested[]
interface Row {
  readonly name: string
  readonly re: Nested
  readonly im?: Nested
  readonly options: { readonly [key: string]: unknown }
  readonly y: Nested
  readonly yIm?: Nested
}
const golden = JSON.parse(readFileSync(new URL('../golden/fft.json', import.meta.url), 'utf8')) as {
  readonly rows: readonly Row[]
  readonly convolutions: readonly (readonly [number[], number[], number[]])[]
  readonly windows: Readonly<Record<string, readonly (readonly [number, number[]])[]>>
  readonly frequencies: Readonly<Record<string, readonly (readonly [number, number[]])[]>>
}
const EPS = { f64: 2 ** -52, f32: 2 ** -23 } as const
const flat = (x: unknown): number[] => [x].flat(9) as number[]
const valuesOf = (x: unknown): number[] => flat(evaluate(x as cd.AnyExpr).toArray())
const shapeOf = (x: Nested): number[] => (Array.isArray(x) ? [x.length, ...shapeOf(x[0] as Nested)] : [])
const array = (x: Nested, dtype: 'f64' | 'f32' = 'f64'): cd.Tensor => tensor(flat(x), shapeOf(x), dtype)
const norm = (x: readonly number[]): number => Math.hypot(...x)
/** Distance in the 2-norm, relative, in units of eps. */
const far = (got: readonly number[], want: readonly number[], eps: number = EPS.f64): number =>
  got.length !== want.length ? Number.POSITIVE_INFINITY : norm(got.map((v, i) => v - want[i]!)) / (eps * (norm(want) || 1))
type Op = (x: unknown, options?: unknown) => unknown
const ops = cd as unknown as Readonly<Record<string, Op>>
const parts = (y: unknown): readonly unknown[] =>
  're' in (y as object) && 'im' in (y as object) ? [(y as cd.ComplexPair).re, (y as cd.ComplexPair).im] : [y]
const bound = (n: number): number => 4 + 4 * Math.log2(n + 1)

describe('as NumPy and PyTorch', () => {
  for (const dtype of ['f64', 'f32'] as const)
    for (const [i, { name, re, im, options, y, yIm }] of golden.rows.entries())
      it(`${name} ${dtype} of [${shapeOf(re)}], ${i}`, () => {
        const x = im === undefined ? array(re, dtype) : { re: array(re, dtype), im: array(im, dtype) }
        const got = parts(ops[name]!(x, Object.keys(options).length === 0 ? undefined : options)) as readonly cd.AnyExpr[]
        expect(got.map((v) => v.dtype)).toEqual(got.map(() => dtype))
        expect(got.map((v) => v.shape)).toEqual(got.map(() => shapeOf(y)))
        const want = [...flat(y), ...(yIm === undefined ? [] : flat(yIm))]
        expect(far(got.flatMap(valuesOf), want, EPS[dtype])).toBeLessThan(bound(flat(re).length))
      })
  it('fftConvolve: full, same and valid', () => {
    for (const [a, b, full] of golden.convolutions) {
      const [n, m] = [a.length, b.length]
      expect(far(valuesOf(fftConvolve(a, b)), full)).toBeLessThan(60)
      const start = Math.floor((m - 1) / 2)
      expect(far(valuesOf(fftConvolve(a, b, { mode: 'same' })), full.slice(start, start + n))).toBeLessThan(60)
      const valid = full.slice(Math.min(n, m) - 1, Math.max(n, m))
      expect(norm(valuesOf(fftConvolve(a, b, { mode: 'valid' })).map((v, i) => v - valid[i]!))).toBeLessThan(60 * EPS.f64 * norm(full))
    }
    const many = fftConvolve(tensor([[1, 2, 3], [4, 5, 6]], [2, 3]), [1, 1]) // biome-ignore format: one row
    expect(valuesOf(many).map(Math.round)).toEqual([1, 3, 5, 3, 4, 9, 11, 6])
  })
  it('windows and frequencies', () => {
    for (const [name, rows] of Object.entries(golden.windows))
      for (const [n, want] of rows) {
        const got = name === 'kaiser' ? cd.kaiser(n, 5.5) : (ops[name]!(n) as cd.AnyExpr)
        expect(norm(valuesOf(got).map((v, i) => v - want[i]!))).toBeLessThan(1e-15)
        if (n > 2 && name !== 'kaiser') expect(valuesOf(ops[name]!(n - 1, { periodic: true }))).toEqual(valuesOf(got).slice(0, -1))
      }
    for (const [name, rows] of Object.entries(golden.frequencies))
      for (const [n, want] of rows) expect(valuesOf((ops[name] as (n: number, d: number) => unknown)(n, 0.25))).toEqual(want)
    // One sample is the middle of its window, whatever the period.
    for (const periodic of [true, false])
      for (const w of [cd.hann, cd.hamming, cd.blackman]) expect(cd.evaluate(w(1, { periodic })).toArray()).toEqual([1])
    expect(cd.evaluate(cd.kaiser(1, 5, { periodic: true })).toArray()).toEqual([1])
    expect([cd.hann(4, { dtype: 'f32' }).dtype, cd.hann(4).shape, cd.fftfreq(3).shape]).toEqual(['f32', [4], [3]])
  })
})

const direct = (re: readonly number[], im: readonly number[]): readonly [number[], number[]] => {
  const n = re.length
  const turn = Array.from({ length: n }, (_, m) => [Math.cos((2 * Math.PI * m) / n), -Math.sin((2 * Math.PI * m) / n)] as const)
  const out: [number[], number[]] = [[], []]
  for (let k = 0; k < n; k++) {
    let [a, b] = [0, 0]
    for (let j = 0; j < n; j++) {
      const [c, s] = turn[(j * k) % n]!
      a += re[j]! * c - im[j]! * s
      b += re[j]! * s + im[j]! * c
    }
    out[0].push(a)
    out[1].push(b)
  }
  return out
}
const noise = (n: number, seed: number): number[] => Array.from({ length: n }, (_, i) => Math.sin(seed + i * i * 0.7 + i))
const both = (y: cd.ComplexPair): number[] => [...valuesOf(y.re), ...valuesOf(y.im)]

describe('of any length', () => {
  for (const n of [3, 63, 64, 65, 67, 74, 127, 134, 210, 256, 331, 1000, 1009, 1024])
    it(`${n}: the direct sum, and back`, () => {
      const [re, im] = [noise(n, 1), noise(n, 2)]
      const y = fft({ re: tensor(re), im: tensor(im) })
      expect(far(both(y), direct(re, im).flat())).toBeLessThan(bound(n))
      expect(far(both(ifft(y)), [...re, ...im])).toBeLessThan(bound(n))
      expect(far(valuesOf(irfft(rfft(tensor(re)), { n })), re)).toBeLessThan(bound(n))
    })
  it('compiled, batched and on every axis the same', () => {
    const x = tensor(noise(6 * 10, 3), [6, 10])
    const rows = cd.vmap((v) => fft(v as cd.AnyExpr) as never)(x) as unknown as cd.ComplexPair
    expect(far(both(rows), both(fft(x)))).toBeLessThan(4)
    const compiled = cd.compile((v: cd.AnyExpr) => fft(v, { axis: 0 }) as never)(x as never) as unknown as { re: cd.Tensor; im: cd.Tensor }
    const turned = fft(cd.transpose(x))
    expect(
      far(
        [...flat(compiled.re.toArray()), ...flat(compiled.im.toArray())],
        both({ re: cd.transpose(turned.re), im: cd.transpose(turned.im) } as never),
      ),
    ).toBeLessThan(4)
    expect([fft(tensor([], [0, 4])).re.shape, fft(tensor([1, 2], [2], 'i32')).re.dtype]).toEqual([[0, 4], 'f64'])
  })
})

describe('theorems', () => {
  const length = fc.integer({ min: 1, max: 150 })
  const all = { numRuns: 12, seed: 5 }
  it('Parseval, linearity, shift, convolution', () => {
    fc.assert(
      fc.property(length, fc.integer({ min: 0, max: 150 }), fc.double({ min: -3, max: 3, noNaN: true }), (n, by, c) => {
        const [a, b] = [noise(n, 4), noise(n, 5)]
        const [ya, yb] = [fft(tensor(a)), fft(tensor(b))]
        const [allA, allB] = [both(ya), both(yb)]
        expect(Math.abs(norm(allA) / Math.sqrt(n) - norm(a))).toBeLessThan(bound(n) * EPS.f64 * norm(a))
        expect(
          far(
            both(fft(tensor(a.map((v, i) => v + c * b[i]!)))),
            allA.map((v, i) => v + c * allB[i]!),
          ),
        ).toBeLessThan(bound(n) * (2 + Math.abs(c)))
        const s = by % n
        const turn = a.map((_, k) => (-2 * Math.PI * ((k * s) % n)) / n)
        const [re, im] = [valuesOf(ya.re), valuesOf(ya.im)]
        const shifted = [
          ...turn.map((t, k) => re[k]! * Math.cos(t) - im[k]! * Math.sin(t)),
          ...turn.map((t, k) => re[k]! * Math.sin(t) + im[k]! * Math.cos(t)),
        ]
        expect(far(both(fft(cd.roll(tensor(a), s))), shifted)).toBeLessThan(2 * bound(n))
        const circular = a.map((_, k) => a.reduce((y, v, j) => y + v * b[(k - j + n) % n]!, 0))
        const product = { re: cd.sub(mul(ya.re, yb.re), mul(ya.im, yb.im)), im: cd.add(mul(ya.re, yb.im), mul(ya.im, yb.re)) }
        const got = valuesOf(ifft(product as never).re)
        expect(norm(got.map((v, i) => v - circular[i]!))).toBeLessThan(8 * bound(n) * EPS.f64 * norm(a) * norm(b))
      }),
      all,
    )
  })
})

describe('istft', () => {
  it('gives back the signal of stft, with any hop, one frame or several rows', () => {
    for (const [size, hop, center] of [[8, 2, true], [8, 3, true], [7, 1, true], [8, 4, true], [6, 6, false]] as const) {
      const window = hop === size ? cd.ones([size]) : cd.hann(size, { periodic: true })
      const x = tensor(noise(48, 5), [2, 24])
      const y = istft(stft(x, { size, hop, window, center }), { size, hop, window, center })
      const n = y.shape[1]!
      expect(far(valuesOf(y), valuesOf(cd.slice(x, [0, 0], [2, n])))).toBeLessThan(40)
    }
  }) // biome-ignore format: rows
  it('a sample that no window reaches is NaN; length cuts or adds zeros', () => {
    const y = { re: tensor([1, 2, 1, 2], [2, 2]), im: tensor([0, 0, 0, 0], [2, 2]) }
    const at = (options: object): number[] => valuesOf(istft(y, { size: 2, hop: 2, center: false, ...options } as never))
    expect(at({ window: [0, 1] })).toEqual([Number.NaN, 0, Number.NaN, 0])
    expect(at({ window: [1, 1], length: 3 })).toEqual([1, 0, 2])
    expect(at({ window: [1, 1], length: 6 })).toEqual([1, 0, 2, 0, 0, 0])
  })
})

describe('gradients', () => {
  const grads: Readonly<Record<string, (x: cd.AnyExpr) => unknown>> = {
    fft: (x) => sum(square(mul(fft(x).im, [1, 2, 0, -1, 3, 1]))),
    'of a prime above 64': (x) => sum(square(mul(fft(x, { n: 67 }).re, tensor(noise(67, 6))))),
    'cut in two': (x) => sum(square(mul(ifft({ re: x, im: mul(x, x) }, { n: 66 }).im as never, tensor(noise(66, 6)) as never))),
    irfft: (x) => sum(square(mul(irfft({ re: x, im: cd.sin(x as never) as never }) as never, tensor(noise(10, 6)) as never))),
    fftConvolve: (x) => sum(square(fftConvolve(x, [1, -2, 0.5], { mode: 'same' }))),
    stft: (x) => sum(square(stft(x, { size: 4 }).re)),
    istft: (x) =>
      sum(
        square(
          istft({ re: cd.reshape(x as never, [3, 2]), im: cd.reshape(cd.sin(x as never) as never, [3, 2]) } as never, { size: 4, hop: 1 }),
        ),
      ),
    'the window of istft': (x) =>
      sum(square(istft(tensor(noise(12, 3), [4, 3]), { size: 6, hop: 2, window: cd.add(3, x as never) as never, length: 9 }))),
    irfft2: (x) => sum(square(cd.irfft2(cd.reshape(x as never, [2, 3]) as never))),
  }
  for (const [name, f] of Object.entries(grads))
    if (deep || !/prime above/.test(name))
      it(name, () => expect(report(checkGrad(f as never)(tensor(noise(6, 7)) as never))).toMatch(/^ok/))
})

describe('bad input', () => {
  const bad: readonly (readonly [() => unknown, RegExp])[] = [
    [() => fft([1, 2], { n: 0 }), /fft: n is 0/],
    [() => fft([1, 2], { n: -1 }), /fft: n is -1/],
    [() => fft([1, 2], { n: 1.5 }), /fft: n is 1.5/],
    [() => fft([1, 2], { n: 1e9 }), /fft: n is 1000000000/],
    [() => fft(tensor([1, 2]), { axis: 1 } as never), /fft: axis 1 is out of range/],
    [() => fft([1, 2], { norm: 'orthogonal' as never }), /fft: norm is/],
    [() => fft([1, 2], { axes: 0 } as never), /fft/],
    [() => fft([]), /fft: the number of points along the axis is 0/],
    [() => fft(3 as never), /fft/],
    [() => fft('x' as never), /fft/],
    [() => fft({ re: [1, 2] } as never), /fft: it has no im/],
    [() => fft({ re: tensor([1, 2]), im: tensor([1, 2, 3]) } as never), /fft/],
    [() => fft({ re: tensor([1, 2]), im: tensor([1]) } as never), /fft: the real and the imaginary part have different shapes/],
    [() => rfft({ re: [1], im: [1] } as never), /rfft: it is a complex pair/],
    [() => irfft([1]), /irfft: the number of points along the axis is 0/],
    [() => cd.fftn([[1, 2]], { s: [2], axes: [0, 1] }), /fftn: s has 1 lengths for 2 axes/],
    [() => cd.fftn([[1, 2]], { axes: [0, 0] }), /fftn/],
    [() => cd.fftn([[1, 2]], { axes: [2] }), /fftn: axis 2 is out of range/],
    [() => cd.fft2([1, 2]), /fft2: axis -2 is out of range/],
    [() => cd.fftfreq(0), /fftfreq: n is 0/],
    [() => cd.hann(-1), /hann: n is -1/],
    [() => cd.hann(4, { dtype: 'i32' as never }), /hann: dtype is/],
    [() => cd.kaiser(4, 'x' as never), /kaiser/],
    [() => fftConvolve([1, 2], [1], { mode: 'most' as never }), /fftConvolve: mode is/],
    [() => fftConvolve(1, [1]), /fftConvolve: the first is a number/],
    [() => fftConvolve([], [1]), /fftConvolve: the first has no element/],
    [() => stft([1, 2, 3], { size: 8 }), /stft: 3 samples cannot be reflected by 4/],
    [() => stft([1, 2, 3], { size: 8, center: false }), /stft: 3 samples are less than a frame of 8/],
    [() => stft([1, 2, 3], { size: 2, window: [1] }), /stft: the window has the shape \[1\]/],
    [() => stft([1, 2, 3], { size: 0 }), /stft: size is 0/],
    [() => stft([1, 2, 3], { size: 2, hop: 0 }), /stft: hop is 0/],
    [() => istft(1 as never, { size: 2 }), /istft: its shape is \[\]/],
    [() => istft([1, 2], { size: 2 }), /istft: its shape is \[2\]/],
    [() => istft(cd.zeros([2, 0]), { size: 2 }), /istft: its shape is \[2,0\]/],
    [() => istft(cd.zeros([3, 4]), { size: 8 }), /istft: its shape is \[3,4\]/],
    [() => istft(cd.zeros([5, 1]), { size: 8 }), /istft: 1 frames leave no sample/],
    [() => istft(cd.zeros([5, 4]), { size: 8, hop: -1 }), /istft: hop is -1/],
    [() => istft(cd.zeros([5, 4]), { size: 8, length: 0 }), /istft: length is 0/],
    [() => istft(cd.zeros([5, 4]), { size: 8, window: [1, 2] }), /istft: the window has the shape \[2\]/],
    [() => istft(cd.zeros([5, 4]), { sizes: 8 } as never), /istft/],
    [() => istft('x' as never, { size: 8 }), /istft/],
    [() => cd.rfft2([1, 2]), /rfft2: axis -2 is out of range/],
    [() => cd.irfft2([1, 2]), /irfft2: axis -2 is out of range/],
  ]
  for (const [f, message] of bad) it(`${message}`, () => expect(f).toThrow(message))
})

describe('windows without an element, or with one', () => {
  const windows = { hann: cd.hann, hamming: cd.hamming, blackman: cd.blackman, kaiser: (n: number, o?: object) => cd.kaiser(n, 5, o) }
  it.each(Object.entries(windows))('%s', (_name, window) => {
    for (const dtype of ['f64', 'f32'] as const)
      for (const periodic of [false, true]) {
        const [none, one] = [0, 1].map((n) => evaluate(window(n, { dtype, periodic }) as cd.AnyExpr))
        expect([none!.shape, none!.dtype, none!.toArray()]).toEqual([[0], dtype, []])
        expect([one!.shape, one!.dtype, one!.toArray()]).toEqual([[1], dtype, [1]])
      }
    for (const n of [-1, 0.5, Number.NaN]) expect(() => window(n)).toThrow(/whole number|integer/)
  })
})
