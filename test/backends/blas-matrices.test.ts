/** What is done to matrices around LAPACK's factorisations: transposes, triangles and the test of finiteness, at every small size. */
import { describe, expect, it } from 'vitest'
import { matricesOf } from '../../src/backends/blas/matrices.js'

const memory = new WebAssembly.Memory({ initial: 1 })
const all = matricesOf(memory)
const [FROM, TO] = [1024, 16384]
const SIZES = [0, 1, 2, 3, 4, 5, 7, 15, 16, 17, 31, 33]

describe.each(['f32', 'f64'] as const)('%s', (type) => {
  const Floats = type === 'f32' ? Float32Array : Float64Array
  const { transpose, lower, finite } = all[type]
  const place = (count: number): { readonly from: Float32Array | Float64Array; readonly to: Float32Array | Float64Array } => ({
    from: new Floats(memory.buffer, FROM, count).map((_, i) => i + 1.5),
    // One more on each side, which nothing may write.
    to: new Floats(memory.buffer, TO - Floats.BYTES_PER_ELEMENT, count + 2).fill(-1),
  })
  const given = (from: ArrayLike<number>): void => new Floats(memory.buffer, FROM, from.length).set(from)
  it('transposes', () => {
    for (const m of SIZES)
      for (const n of SIZES) {
        const { from, to } = place(m * n)
        given(from)
        transpose(TO, FROM, m, n)
        const want = Array.from({ length: m * n }, (_, at) => (at % m) * n + Math.floor(at / m) + 1.5)
        expect([...to], `${m} x ${n}`).toEqual([-1, ...want, -1])
      }
  })
  it('copies the lower triangle, with zeros above it', () => {
    for (const n of SIZES) {
      const { from, to } = place(n * n)
      given(from)
      lower(TO, FROM, n)
      const want = Array.from({ length: n * n }, (_, at) => (at % n <= Math.floor(at / n) ? at + 1.5 : 0))
      expect([...to], `${n}`).toEqual([-1, ...want, -1])
    }
  })
  it('finds what is not finite, wherever it lies', () => {
    for (const n of SIZES) {
      given(place(n).from)
      expect(finite(FROM, n)).toBe(true)
      for (const x of [Number.NaN, Infinity, -Infinity])
        for (let at = 0; at < n; at++) {
          const from = place(n).from
          from[at] = x
          given(from)
          expect(finite(FROM, n), `${x} at ${at} of ${n}`).toBe(false)
        }
      // Large numbers that are finite, and what is behind the last one.
      given(new Floats(n + 1).fill(type === 'f32' ? 3e38 : 1e308).map((x, i) => (i === n ? Number.NaN : x)))
      expect(finite(FROM, n)).toBe(true)
    }
  })
})
