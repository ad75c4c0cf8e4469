// Fourier transforms: a compiled fft of a pair beside a transform in place, written by hand, at powers of 2. `npm run bench:fft`
import { type AnyExpr, compile, fft, tensor } from '../src/index.js'

/** Radix 2, in place, with its tables made before: what a transform costs without matrices. */
const radix2 = (n: number): ((re: Float64Array, im: Float64Array) => void) => {
  const [c, s] = [new Float64Array(n / 2), new Float64Array(n / 2)]
  for (let k = 0; k < n / 2; k++) {
    c[k] = Math.cos((2 * Math.PI * k) / n)
    s[k] = -Math.sin((2 * Math.PI * k) / n)
  }
  const bits = Math.log2(n)
  const place = Uint32Array.from({ length: n }, (_, i) =>
    Number.parseInt(i.toString(2).padStart(bits, '0').split('').reverse().join(''), 2),
  )
  return (re, im) => {
    for (let i = 0; i < n; i++) {
      const j = place[i]!
      if (j <= i) continue
      const a = re[i]!
      const b = im[i]!
      re[i] = re[j]!
      im[i] = im[j]!
      re[j] = a
      im[j] = b
    }
    for (let size = 2; size <= n; size *= 2)
      for (let from = 0; from < n; from += size)
        for (let k = 0; k < size / 2; k++) {
          const p = from + k
          const q = p + size / 2
          const at = k * (n / size)
          const wr = c[at]!
          const wi = s[at]!
          const a = re[q]! * wr - im[q]! * wi
          const b = re[q]! * wi + im[q]! * wr
          re[q] = re[p]! - a
          im[q] = im[p]! - b
          re[p] = re[p]! + a
          im[p] = im[p]! + b
        }
  }
}
/** Microseconds of a call, the least of five rounds. */
const time = (f: () => void): number => {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5; round++) {
    const start = performance.now()
    for (let i = 0; i < 100; i++) f()
    least = Math.min(least, 10 * (performance.now() - start))
  }
  return least
}
for (const n of [1000, 1009, 1024, 4096]) {
  const wave = (k: number): Float64Array => Float64Array.from({ length: n }, (_, i) => Math.sin(k * (i + 1)))
  const f = compile((re: AnyExpr, im: AnyExpr) => {
    const y = fft({ re, im })
    return [y.re, y.im] as never
  }) as unknown as (re: unknown, im: unknown) => unknown
  const [re, im] = [tensor(wave(0.7)), tensor(wave(1.3))]
  const ours = time(() => void f(re, im))
  const line = `${n}: ${ours.toFixed(0)} us`
  if (!Number.isInteger(Math.log2(n))) console.log(line)
  else {
    const plain = radix2(n)
    const [x, y, a, b] = [wave(0.7), wave(1.3), wave(0), wave(0)]
    const theirs = time(() => {
      a.set(x)
      b.set(y)
      plain(a, b)
    })
    console.log(`${line}, by hand ${theirs.toFixed(0)} us: ${(ours / theirs).toFixed(2)} times`)
  }
}
