/** What is done to matrices around LAPACK's factorisations: transposes, triangles, signs and the test of finiteness, at every small size. */
import { describe, expect, it } from 'vitest'
import { matricesOf } from '../../src/backends/blas/matrices.js'
import { flips } from '../../src/core/matrices/gauge.js'

const memory = new WebAssembly.Memory({ initial: 1 })
const all = { f32: matricesOf(memory, 'f32'), f64: matricesOf(memory, 'f64') }
const [FROM, TO] = [1024, 16384]
const SIZES = [0, 1, 2, 3, 4, 5, 7, 15, 16, 17, 31, 33]

describe.each(['f32', 'f64'] as const)('%s', (type) => {
  const Floats = type === 'f32' ? Float32Array : Float64Array
  const { turn, clearAbove, finite, deciding, signed } = all[type]
  const size = Floats.BYTES_PER_ELEMENT
  const place = (count: number): { readonly from: Float32Array | Float64Array; readonly to: Float32Array | Float64Array } => ({
    from: new Floats(memory.buffer, FROM, count).map((_, i) => i + 1.5),
    // One more on each side, which nothing may write.
    to: new Floats(memory.buffer, TO - Floats.BYTES_PER_ELEMENT, count + 2).fill(-1),
  })
  const given = (from: ArrayLike<number>): void => new Floats(memory.buffer, FROM, from.length).set(from)
  it('turns', () => {
    for (const m of SIZES)
      for (const n of SIZES) {
        const { from, to } = place(m * n)
        given(from)
        turn(TO, m * size, FROM, n * size, m, n)
        const want = Array.from({ length: m * n }, (_, at) => (at % m) * n + Math.floor(at / m) + 1.5)
        expect([...to], `${m} x ${n}`).toEqual([-1, ...want, -1])
      }
  })
  it('clears what is above the diagonal', () => {
    for (const n of SIZES) {
      const { to } = place(n * n)
      for (let i = 0; i < n * n; i++) to[1 + i] = i + 1.5
      clearAbove(TO, n * size, n)
      const want = Array.from({ length: n * n }, (_, at) => (at % n <= Math.floor(at / n) ? at + 1.5 : 0))
      expect([...to], `${n}`).toEqual([-1, ...want, -1])
    }
  })
  it('gives columns the sign by which they are unique', () => {
    for (const n of SIZES.slice(1)) {
      const { to } = place(n * n)
      for (let i = 0; i < n * n; i++) to[1 + i] = Math.sin(3 * i * i)
      const want = Array.from(to)
      for (let j = 0; j < n; j++) {
        const sign = flips(
          new Floats(n).map((_, i) => to[1 + i * n + j]!),
          0,
          n,
        )
          ? -1
          : 1
        for (let i = 0; i < n; i++) want[1 + i * n + j]! *= sign
      }
      deciding(TO, n * size, n, n, FROM)
      signed(TO, n * size, TO, n * size, n, n, FROM)
      expect([...to], `${n}`).toEqual(want)
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
