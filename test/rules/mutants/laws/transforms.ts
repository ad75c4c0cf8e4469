/** Fourier transforms: there and back, a shift, and the sum of squares, of every way in which they are made (one matrix, cut in two, a convolution). */
import * as cd from '../../../../src/index.js'
import { type Laws, numbers, o } from './law.js'

type E = cd.AnyExpr
type Pair = Readonly<Record<'re' | 'im', E>>
const { fft, ifft, rfft } = cd as unknown as Readonly<Record<'fft' | 'ifft' | 'rfft', (x: unknown, options?: unknown) => Pair>>
const irfft = cd.irfft as unknown as (x: unknown, options: unknown) => E
const convolve = cd.fftConvolve as unknown as (a: unknown, b: unknown) => E
const data = (x: unknown): number[] => numbers(cd.evaluate(x as E))
const wave = (n: number, by: number): number[] => Array.from({ length: n }, (_, k) => Math.sin(by * k * k + k) + 0.2)

export const transforms: Laws = {
  'a transform there and back': function* () {
    for (const n of [2, 6, 72, 67]) {
      const [re, im] = [wave(n, 0.7), wave(n, 1.3)]
      const back = ifft(fft({ re, im }))
      yield [
        [...re, ...im],
        [...data(back.re), ...data(back.im)],
      ]
    }
  },
  'a transform of what is shifted is turned': function* () {
    for (const n of [6, 72, 67]) {
      const x = wave(n, 0.7)
      const [a, b] = [fft(x), fft([x[n - 1]!, ...x.slice(0, -1)])].map(({ re, im }) => [data(re), data(im)] as const)
      const angle = (k: number): number => (-2 * Math.PI * k) / n
      const [re, im] = [a![0], a![1]]
      yield [re.map((v, k) => v * Math.cos(angle(k)) - im[k]! * Math.sin(angle(k))), b![0], 1e-8]
      yield [re.map((v, k) => v * Math.sin(angle(k)) + im[k]! * Math.cos(angle(k))), b![1], 1e-8]
    }
  },
  'the first of a transform is the sum, and squares add up': function* () {
    for (const n of [6, 72, 67]) {
      const x = wave(n, 0.7)
      const { re, im } = fft(x)
      yield [x.reduce((s, v) => s + v, 0), data(re)[0]]
      yield [n * x.reduce((s, v) => s + v * v, 0), [...data(re), ...data(im)].reduce((s, v) => s + v * v, 0)]
    }
  },
  'half of a transform is its first part, and leads back': function* () {
    for (const n of [1, 2, 7, 12]) {
      const x = wave(n, 0.7)
      const [whole, half] = [fft(x), rfft(x)]
      const count = Math.floor(n / 2) + 1
      yield [data(whole.re).slice(0, count), data(half.re)]
      yield [data(whole.im).slice(0, count), data(half.im)]
      yield [x, data(irfft(half, { n }))]
    }
  },
  'a convolution by transforms is the sum of products': () => {
    const [a, b] = [wave(5, 0.7), wave(3, 1.3)]
    const sums = Array.from({ length: 7 }, (_, k) => a.reduce((s, v, j) => s + v * (b[k - j] ?? 0), 0))
    return [[sums, data(convolve(a, b))]]
  },
  'a transform along each axis': () => {
    const x = [wave(6, 0.7), wave(6, 1.1), wave(6, 0.3), wave(6, 0.9)]
    const turned = (cd.transpose as unknown as (v: unknown) => E)(x)
    const along = fft(x, { axis: 0 })
    const other = fft(turned)
    const back = cd.transpose as unknown as (v: unknown) => E
    const whole = cd.reshape(wave(24, 0.4) as never, [2, 3, 4])
    const last = (cd.transpose as unknown as (v: unknown, order: readonly number[]) => E)(whole, [1, 2, 0])
    return [
      [data(along.re), data(back(other.re))],
      [data(along.im), data(back(other.im))],
      [
        data((cd.transpose as unknown as (v: unknown, order: readonly number[]) => E)(fft(whole, { axis: 0 }).re, [1, 2, 0])),
        data(fft(last).re),
      ],
    ]
  },
  'derivatives of a transform in both modes': () =>
    [6, 72, 67].map((n) => {
      const x = wave(n, 0.7)
      const f = (v: E): E => o.sum(o.sin(fft(v).im))
      const slope = (o.jvp(f)(x, wave(n, 1.9)) as readonly unknown[])[1]
      return [numbers(slope), [numbers(o.grad(f)(x)).reduce((s, v, k) => s + v * wave(n, 1.9)[k]!, 0)], 1e-8] as const
    }),
}
