// Remainders and quotients of i32 on the CPU: exact for every sign, at the smallest number, by -1 and by 0, in vectors and in what is left of them.
import { describe, expect, it } from 'vitest'
import * as cd from '../../src/index.js'

const LOW = -2147483648
const EDGES = [0, 1, -1, 2, -2, 3, -3, 7, -7, 10, 46341, 65537, 1073741824, 2147483646, 2147483647, -2147483647, LOW]
let state = 1
/** Numbers of every size, the same in every run. */
const some = (n: number): number[] =>
  Array.from({ length: n }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    return state >> (Math.imul(state, 0x9e3779b1) >>> 27)
  })
const a = [...EDGES.flatMap((x) => EDGES.map(() => x)), ...some(3001)]
const b = [...EDGES.flatMap(() => EDGES), ...some(3001)]
/** In whole numbers of any size. */
const floored = (x: number, y: number): { readonly q: number; readonly r: number } => {
  if (y === 0) return { q: 0, r: 0 }
  const [m, n] = [BigInt(x), BigInt(y)]
  const r = ((m % n) + n) % n
  return { q: Number((m - r) / n), r: Number(r) }
}
const expected = a.map((x, i) => floored(x, b[i]!))
const i32 = (x: readonly number[]) => cd.tensor(x as number[], [x.length], 'i32')

describe('i32 on the CPU', () => {
  const f = cd.compile(cd.fn({ x: cd.i32('n'), y: cd.i32('n') }, ({ x, y }) => ({ r: cd.mod(x, y), s: cd.remainder(x, y) })))
  it('mod and remainder have the sign of the divisor; 0 by 0', () => {
    for (const n of [a.length, 1, 2, 3, 5]) {
      const from = n === a.length ? 0 : 290
      const got = f({ x: i32(a.slice(from, from + n)), y: i32(b.slice(from, from + n)) })
      const want = expected.slice(from, from + n).map((e) => e.r)
      expect(got.r.toArray()).toEqual(want)
      expect(got.s.toArray()).toEqual(want)
    }
  })
  it('floorDivide', () => {
    const g = cd.compile(cd.fn({ x: cd.i32('n'), y: cd.i32('n') }, ({ x, y }) => cd.floorDivide(x, y)))
    // The one quotient that i32 has not, LOW / -1, wraps, as NumPy's.
    expect(expected.filter((e) => e.q > 2147483647).length).toBe(1)
    const want = expected.map((e) => e.q | 0)
    expect(g({ x: i32(a), y: i32(b) }).toArray()).toEqual(want)
    expect(cd.evaluate(cd.floorDivide(i32(a), i32(b))).toArray()).toEqual(want)
    for (const d of [-1, LOW, 7]) expect(cd.evaluate(cd.floorDivide(i32(a), d)).toArray()).toEqual(a.map((x) => floored(x, d).q | 0))
  })
  it('fmod has the sign of the dividend', () => {
    const g = cd.compile(cd.fn({ x: cd.i32('n'), y: cd.i32('n') }, ({ x, y }) => cd.fmod(x, y)))
    const want = a.map((x, i) => (b[i] === 0 ? 0 : (x % b[i]!) + 0))
    expect(g({ x: i32(a), y: i32(b) }).toArray()).toEqual(want)
    expect(cd.evaluate(cd.fmod(i32(a), i32(b))).toArray()).toEqual(want)
  })
  it('by one number, and in a loop that is of f64 too', () => {
    for (const d of [3, -7, 10, 1000003, LOW, -1, 0]) {
      const h = cd.compile(cd.fn({ x: cd.i32('n'), z: cd.f64('n') }, ({ x, z }) => cd.add(cd.mod(x, d), z)))
      const got = h({ x: i32(a), z: cd.tensor(a.map(() => 0.5)) }).toArray() as number[]
      expect(got).toEqual(a.map((x) => floored(x, d).r + 0.5))
    }
  })
})

describe('f32 on the CPU', () => {
  const single = (n: number, edges: readonly number[]): Float32Array => {
    const words = new Int32Array(some(n))
    // bits of any kind, and numbers near each other
    return Float32Array.from({ length: n }, (_, i) => {
      if (i < edges.length) return edges[i]!
      const bits = new Float32Array(new Int32Array([words[i]!]).buffer)[0]!
      return i % 3 === 0
        ? bits
        : i % 3 === 1
          ? (words[i]! % 4096) / 8
          : Math.fround((words[i]! % 2 ** 24) * 2 ** (((words[i]! >>> 24) % 60) - 30))
    })
  }
  const edges = [
    0,
    -0,
    1,
    -1,
    3,
    -3,
    0.1,
    -0.1,
    1e-45,
    -1e-45,
    1.5e-38,
    3.4e38,
    -3.4e38,
    134217728,
    134217727,
    1e30,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.NaN,
  ]
  const x = single(
    20_000,
    edges.flatMap((e) => edges.map(() => e)),
  )
  const y = single(
    20_000,
    edges.flatMap(() => edges),
  )
  // whole multiples and their neighbours, where a quotient that is rounded goes wrong
  for (let i = 400; i < 12_000; i++) {
    const q = 1 + ((i * 2654435761) % 2 ** (1 + (i % 26)))
    const near = new Int32Array(Float32Array.of(Math.fround(q * y[i]!)).buffer)
    near[0]! += (i % 5) - 2
    x[i] = new Float32Array(near.buffer)[0]!
  }
  it('mod is that of exact arithmetic to the bit, whatever its sign and size', () => {
    const f = cd.compile(cd.fn({ x: cd.f32('n'), y: cd.f32('n') }, ({ x, y }) => cd.mod(x, y)))
    const got = f({ x: cd.tensor(x, [x.length]), y: cd.tensor(y, [y.length]) }).data
    let fast = 0
    for (let i = 0; i < x.length; i++) {
      const [a, b] = [x[i]!, y[i]!]
      const r = a % b
      const want = Math.fround(r === 0 ? (b < 0 ? -0 : 0) : r < 0 !== b < 0 ? r + b : r)
      if (!Object.is(got[i], want)) throw new Error(`${a} mod ${b} is ${want}, not ${got[i]}`)
      if (Math.abs(a / b) < 2 ** 27) fast++
    }
    expect(fast).toBeGreaterThan(5000)
  })
  it('in a loop that is of f64 too', () => {
    const f = cd.compile(
      cd.fn({ x: cd.f32('n'), y: cd.f32('n'), z: cd.f64('n') }, ({ x, y, z }) => cd.add(cd.cast(cd.mod(x, y), 'f64'), z)),
    )
    const got = f({ x: cd.tensor(x, [x.length]), y: cd.tensor(y, [y.length]), z: cd.tensor(new Float64Array(x.length).fill(0.5)) }).data
    const alone = cd.compile(cd.fn({ x: cd.f32('n'), y: cd.f32('n') }, ({ x, y }) => cd.mod(x, y)))({
      x: cd.tensor(x, [x.length]),
      y: cd.tensor(y, [y.length]),
    }).data
    expect([...got]).toEqual(Array.from(alone, (r) => r + 0.5))
  })
})
