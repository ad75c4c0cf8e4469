// Operations on bits against JavaScript's own, on every backend: patterns of both signs, counts inside and outside of 0 to 31.
import { describe, expect, it } from 'vitest'
import { random } from '../../src/check/index.js'
import { PATTERNS } from '../../src/core/ops/shift.js'
import {
  type AdError,
  type AnyExpr,
  add,
  bitwiseAnd,
  bitwiseNot,
  bitwiseOr,
  bitwiseXor,
  cast,
  compile,
  cpu,
  evaluate,
  grad,
  isAdException,
  leftShift,
  map,
  mul,
  reference,
  rightShift,
  rightShiftLogical,
  show,
  sub,
  sum,
  tensor,
} from '../../src/index.js'

const errorOf = (f: () => unknown): AdError | undefined => {
  try {
    f()
  } catch (e) {
    if (isAdException(e)) return e.error
    throw e
  }
  return undefined
}
const next = random(7)
const word = (): number => Math.floor(next() * 2 ** 32) | 0
const a = Int32Array.from({ length: 61 }, (_, i) => PATTERNS[i] ?? word())
const b = Int32Array.from({ length: 61 }, (_, i) => PATTERNS[PATTERNS.length - 1 - i] ?? word())
const counts = Int32Array.from({ length: 61 }, (_, i) => (i < 40 ? i - 4 : word()))
const inside = (n: number): boolean => n >= 0 && n < 32
const left = (x: number, n: number): number => (inside(n) ? x << n : 0)
const right = (x: number, n: number): number => (inside(n) ? x >> n : x < 0 ? -1 : 0)
const logical = (x: number, n: number): number => (inside(n) ? (x >>> n) | 0 : 0)

const backends = { reference: reference(), cpu: cpu(), 'cpu without SIMD': cpu({ simd: false }) }
type Pair = (x: AnyExpr, y: AnyExpr) => AnyExpr
const pairs: readonly (readonly [string, Pair, (x: number, y: number) => number, Int32Array])[] = [
  ['bitwiseAnd', bitwiseAnd, (x, y) => x & y, b],
  ['bitwiseOr', bitwiseOr, (x, y) => x | y, b],
  ['bitwiseXor', bitwiseXor, (x, y) => x ^ y, b],
  ['leftShift', leftShift, left, counts],
  ['rightShift', rightShift, right, counts],
  ['rightShiftLogical', rightShiftLogical, logical, counts],
  ['add', add, (x, y) => (x + y) | 0, b],
  ['sub', sub, (x, y) => (x - y) | 0, b],
  ['mul', mul, Math.imul, b],
]

describe.each(Object.entries(backends))('on %s', (_, backend) => {
  const run = (f: Pair, x: Int32Array, y: Int32Array): readonly number[] => [...compile(f, backend)(tensor(x), tensor(y)).data] as number[]
  it.each(pairs)('%s', (_name, f, want, second) => {
    expect(run(f, a, second)).toEqual([...a].map((x, i) => want(x, second[i]!)))
    // Beside an f64 in the same loop, whose lanes are twice as wide; twice, so that it is one loop.
    expect(run((x, y) => add(cast(f(x, y), 'f64'), cast(f(x, y), 'f64')), a, second)).toEqual([...a].map((x, i) => 2 * want(x, second[i]!)))
  })
  it('a literal second argument, or first', () => {
    for (const [, f, want] of pairs)
      for (const n of [0, 1, 7, 31, 32, -1]) {
        expect(run((x) => f(x, n as never), a, b)).toEqual([...a].map((x) => want(x, n)))
        expect(run((_x, y) => f(n as never, y), a, counts)).toEqual([...counts].map((y) => want(n, y)))
      }
  })
  it('bitwiseNot, and sums of hashes that wrap', () => {
    expect(run((x) => bitwiseNot(x), a, b)).toEqual([...a].map((x) => ~x))
    const hash = (x: number): number => Math.imul(x ^ (x >>> 15), 0x2c1b3c6d) + 12345
    expect(run((x) => add(mul(bitwiseXor(x, rightShiftLogical(x, 15)), 0x2c1b3c6d), 12345), a, b)).toEqual([...a].map((x) => hash(x) | 0))
  })
  it('broadcast, rank 0, empty axes, within map', () => {
    const at = (f: () => AnyExpr) => compile(f, backend)().toArray()
    expect(at(() => leftShift([[1], [2]], [0, 1, 2]))).toEqual([[1, 2, 4], [2, 4, 8]]) // biome-ignore format: one row
    expect(at(() => bitwiseXor(5, 3))).toBe(6)
    expect(at(() => bitwiseAnd(tensor([], [0, 3], 'i32'), 1))).toEqual([])
    expect(compile(() => bitwiseAnd(tensor([], [2, 0, 3], 'i32'), 1), backend)().shape).toEqual([2, 0, 3])
    expect(at(() => bitwiseOr([[true], [false]], [true, false]))).toEqual([[true, true], [true, false]]) // biome-ignore format: one row
    expect(run((x, y) => map((p, q) => bitwiseXor(rightShift(p, 3), leftShift(p, q)) as never, x as never, y as never), a, counts)).toEqual(
      [...a].map((x, i) => (x >> 3) ^ left(x, counts[i]!)),
    )
  })
})

describe('shifts by a literal', () => {
  it('are a primitive with that count; by 0 they are x itself', () => {
    const x = tensor([1, 2], [2], 'i32')
    expect(show(leftShift(x, 3))).toContain('shiftBy(captured0) {left 3}')
    expect(show(leftShift(x, 32))).toContain('leftShift(captured0, 32)')
    expect(show(rightShift(leftShift(x, 3), 0))).not.toContain('right')
  })
})

describe('no derivatives, and errors', () => {
  it('nothing flows through bits', () => {
    expect(grad((x) => sum(mul(x, cast(bitwiseAnd(cast(x, 'i32'), 1), 'f64'))))([1, 2, 3]).toArray()).toEqual([1, 0, 1])
  })
  it('floats, and numbers that no i32 holds', () => {
    for (const f of [bitwiseAnd, leftShift] as readonly unknown[] as readonly ((x: unknown, y: unknown) => unknown)[]) {
      expect(errorOf(() => f(tensor([1.5]), 1))).toMatchObject({ _tag: 'DTypeMismatch' })
      expect(errorOf(() => f([1.5], 1))?._tag).toBe('BadInput')
      expect(errorOf(() => f([1], 2 ** 32))?._tag).toBe('BadInput')
      expect(errorOf(() => f([1], 'x'))?._tag).toBe('BadInput')
      expect(errorOf(() => f([1, 2], [1, 2, 3]))?._tag).toBe('ShapeMismatch')
    }
    expect(errorOf(() => bitwiseNot(tensor([1.5]) as never))).toMatchObject({ _tag: 'DTypeMismatch' })
    expect(evaluate(bitwiseNot(true)).item()).toBe(false)
  })
})
