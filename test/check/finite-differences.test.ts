/** Estimates by differences bound their own error: smooth functions, and those with powers that are no whole numbers. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Estimate, judge, type Slope, slopes } from '../../src/check/finite-differences.js'

/** Differences are sure to this many of their error estimates. */
const SURE = 10
/** A function of h, and its slope at 0. */
interface Part {
  readonly f: (h: number) => number
  readonly slope: number
}
/** Numbers of both signs, as many of each power of ten. */
const sized = (low: number, high: number): fc.Arbitrary<number> =>
  fc
    .tuple(fc.double({ min: Math.log(low), max: Math.log(high), noNaN: true }), fc.boolean())
    .map(([x, minus]) => (minus ? -1 : 1) * Math.exp(x))

/** At a scale: a w h is a step of the first difference or less. */
const smooth = fc
  .tuple(sized(1e-3, 1e3), sized(0.1, 10), fc.integer({ min: 0, max: 4 }))
  .map(([a, rate, kind]) => (scale: number): Part => {
    const w = rate / scale
    const all: readonly Part[] = [
      { f: (h) => a * Math.sin(w * h + 0.3), slope: a * w * Math.cos(0.3) },
      { f: (h) => a * Math.exp(w * h), slope: a * w },
      { f: (h) => a / (1 + w * h + (w * h) ** 2), slope: -a * w },
      { f: (h) => a * (1 + w * h - 0.7 * (w * h) ** 2 + 0.2 * (w * h) ** 3), slope: a * w },
      { f: () => a, slope: 0 },
    ]
    return all[kind]!
  })
/** What a sum of |h|^p, sign(h) |h|^p, h log |h| and h^2 log |h| adds: a slope of 0, or an infinite one. */
const powers = (p: fc.Arbitrary<number>, coefficient: fc.Arbitrary<number>) =>
  fc.tuple(p, coefficient, fc.boolean()).map(([power, c, odd]) => (scale: number): Part => {
    const f = (h: number): number => c * (odd ? Math.sign(h) : 1) * Math.abs(h / scale) ** power
    return { f, slope: power > 1 ? 0 : odd ? c * Number.POSITIVE_INFINITY : Number.NaN }
  })
const logs = (power: 1 | 2, coefficient: fc.Arbitrary<number>) =>
  coefficient.map((c) => (scale: number): Part => {
    const f = (h: number): number => (h === 0 ? 0 : c * (h / scale) ** power * Math.log(Math.abs(h / scale)))
    return { f, slope: power > 1 ? 0 : -c * Number.POSITIVE_INFINITY }
  })
/** Rounding of its own for each h, within 1. */
const rounding = (h: number, seed: number): number => {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, h)
  let x = view.getInt32(0) ^ Math.imul(view.getInt32(4), 0x9e3779b1) ^ seed
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b)
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35)
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 31 - 1
}
interface Drawn {
  readonly slope: Slope
  readonly truth: number
}
/** The slope of a sum at a scale, with values on both sides or on one, and rounding that is told. */
const drawn = (parts: fc.Arbitrary<readonly ((scale: number) => Part)[]>, most: number): fc.Arbitrary<Drawn> =>
  fc
    .tuple(parts, sized(1e-3, 1e3), fc.constantFrom(0, 1, -1), fc.option(sized(1e-17, most), { nil: 0 }), fc.integer())
    .map(([made, signed, side, relative, seed]) => {
      const scale = Math.abs(signed)
      const all = made.map((part) => part(scale))
      const sum = (h: number): number => all.reduce((y, { f }) => y + f(h), 0)
      const base = all.reduce((y, { f }) => y + Math.abs(f(0)), 0)
      const given = Math.abs(relative) * base
      const f = (h: number): number[] => [side * h < 0 ? Number.NaN : sum(h) + given * rounding(h, seed)]
      const slope = slopes(f, scale, () => given + 2 ** -51 * base)[0]!
      return { slope, truth: all.reduce((y, part) => y + part.slope, 0) }
    })
const bounds = ({ value, error }: Estimate, truth: number): boolean => Math.abs(value - truth) <= SURE * error + 1e-15 * Math.abs(truth)
const RUNS = { numRuns: 10_000, seed: 1 }
const smoothParts = (minLength: number) => fc.array(smooth, { minLength, maxLength: 2 })
const both = (a: fc.Arbitrary<readonly ((scale: number) => Part)[]>, b: fc.Arbitrary<(scale: number) => Part>) =>
  fc.tuple(a, b).map(([xs, x]) => [...xs, x])

describe('the error of an estimate', () => {
  it('is at least a tenth of what it is off: smooth functions, and it is small', () => {
    const relative: number[] = []
    fc.assert(
      fc.property(drawn(smoothParts(1), 1e-12), ({ slope, truth }) => {
        if (slope._tag !== 'Smooth' && slope._tag !== 'OneSided') return false
        if (truth !== 0) relative.push(slope.error / Math.abs(truth))
        return bounds(slope, truth)
      }),
      RUNS,
    )
    // What Richardson's tables alone gave: 1.7e-10 and 2.3e-8.
    relative.sort((a, b) => a - b)
    const at = (q: number): number => relative[Math.floor(q * relative.length)]!
    expect([at(0.5), at(0.9)].map((x, i) => x < [2e-10, 3e-8][i]!)).toEqual([true, true])
  })
  it('also with a power between 1.14 and 3, or h^2 log h, of any size', () => {
    const power = fc.oneof(fc.constantFrom(1.14, 1.5, 1.9, 2.01, 2.3, 2.5, 2.99), fc.double({ min: 1.14, max: 2.99, noNaN: true }))
    const part = fc.oneof({ weight: 4, arbitrary: powers(power, sized(1e-15, 1e3)) }, { weight: 1, arbitrary: logs(2, sized(1e-15, 1e3)) })
    fc.assert(
      fc.property(
        drawn(both(smoothParts(0), part), 1e-7),
        ({ slope, truth }) => slope._tag !== 'Unknown' && slope._tag !== 'Kink' && bounds(slope, truth),
      ),
      RUNS,
    )
  })
  it('and with x^1.01, where rounding does not hide it', () => {
    fc.assert(
      fc.property(
        drawn(both(smoothParts(0), powers(fc.constantFrom(1.01, 1.05), sized(1e-2, 1e3))), 1e-15),
        ({ slope, truth }) => slope._tag !== 'Unknown' && slope._tag !== 'Kink' && bounds(slope, truth),
      ),
      RUNS,
    )
  })
  it('an infinite slope is never called wrong, nor is a number called right: powers below 1, h log h', () => {
    const size = sized(0.05, 1e3)
    const power = fc.oneof(fc.constantFrom(0.14, 0.5, 0.9), fc.double({ min: 0.05, max: 0.95, noNaN: true }))
    const part = fc.oneof({ weight: 3, arbitrary: powers(power, size) }, { weight: 1, arbitrary: logs(1, size) })
    fc.assert(
      fc.property(
        drawn(
          both(
            fc.array(
              smooth.map(
                (s) =>
                  (scale: number): Part =>
                    s(scale),
              ),
              { maxLength: 0 },
            ),
            part,
          ),
          1e-14,
        ),
        ({ slope, truth }) => {
          if (Number.isNaN(truth) || slope._tag === 'Unknown') return true
          const near = slope._tag === 'Kink' ? slope.right.value : slope.value
          return judge(truth, slope, 1e-7)._tag !== 'Wrong' && judge(Number.isFinite(near) ? 1.05 * near : 1, slope, 1e-7)._tag !== 'Right'
        },
      ),
      RUNS,
    )
  })
  it('a derivative at the end of a domain that falls as h^1.14 is not decided by chance', () => {
    for (const b of [1.01, 1.05, 1.14, 1.3, 1.5, 1.9])
      for (const c of [1e-3, 1, 1e3]) {
        const [slope] = slopes(
          (h) => [h > 0 ? Number.NaN : 0.7 - c * Math.abs(h) ** b],
          0.1,
          () => 1e-16,
        )
        expect(slope!._tag).toBe('OneSided')
        expect(judge(0, slope!, 1e-9)._tag, `${b}, ${c}`).not.toBe('Wrong')
      }
  })
})
