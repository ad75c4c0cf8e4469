/** Derivatives by differences: Richardson's tables of steps on both sides of a point, with an estimate of their own error. */
import { functionOf, numberOf } from '../core/errors/check-arguments.js'

/** An estimate of a derivative and a bound on its error; for an infinite derivative, the steepest difference that was seen. */
export interface Estimate {
  readonly value: number
  readonly error: number
}
/** What a function of one number does at 0. A slope is infinite where its differences grow without end. */
export type Slope =
  | ({ readonly _tag: 'Smooth' } & Estimate)
  /** The slopes of the two sides differ, or the value jumps between them. */
  | {
      readonly _tag: 'Kink'
      readonly left: Estimate
      readonly right: Estimate
      /** The value jumps on both sides: it is no limit of those around it. */
      readonly isolated?: boolean
    }
  /** The function has no value on the other side. */
  | ({ readonly _tag: 'OneSided' } & Estimate)
  | { readonly _tag: 'Unknown'; readonly reason: string }

/** Steps: the first, relative to the scale of the argument, and each a quarter of the one before. */
export const FIRST = 0.25
const RATIO = 4
const LEVELS = 15
/** RATIO to the power of minus a level. */
const SHRUNK = Array.from({ length: LEVELS }, (_, k) => RATIO ** -k)
/** Columns of a table: more do not help against rounding. */
const COLUMNS = 4
/** Levels that a side must have a value at, the finest ones. */
const FINEST = 6
const EPS = 2 ** -52
/** What underflows on its way is rounded by some units of the least number. */
const UNDERFLOW = 2 ** -1070

/** Values of a vector function at 0 and at steps on both sides. */
interface Samples {
  readonly h: readonly number[]
  readonly at0: ArrayLike<number>
  readonly right: readonly ArrayLike<number>[]
  readonly left: readonly ArrayLike<number>[]
}
const sampled = (f: (t: number) => ArrayLike<number>, scale: number): Samples => {
  const h = Array.from({ length: LEVELS }, (_, k) => FIRST * scale * SHRUNK[k]!)
  return { h, at0: f(0), right: h.map(f), left: h.map((t) => f(-t)) }
}

/** Steps of a column are seen from this many times their rounding, which moves them by up to so many times itself. */
const SEEN = 4
const MOVES = 2
/** From level to level a step shrinks against its rounding, which grows fourfold: by so much at least, or it is rounding that was underestimated. */
const FALLS = 1.5
/** From this ratio of successive steps on no end of them is seen; up to the other one a series of whole powers may have it. */
const ENDLESS = 0.997
const SLOW = 0.4
const EVEN = 1.5
const UNEVEN = 0.9
/** The finest level at which the steps of a column are more than rounding. */
const lastSeen = (step: readonly number[], rounding: readonly number[], first: number): number => {
  let finer = 0
  for (let m = step.length - 1; m > first + 2; m--) {
    const size = step[m]! * SHRUNK[m]!
    const before = step[m - 1]! * SHRUNK[m - 1]!
    const two = step[m - 2]! * SHRUNK[m - 2]!
    const seen = step[m]! > SEEN * rounding[m]! && step[m - 1]! > SEEN * rounding[m - 1]!
    if (seen && size >= finer && before >= FALLS * size && two >= FALLS * before) return m
    finer = Math.max(finer, size)
  }
  return -1
}
/**
 * How far each entry of a column of Richardson's table still is from the limit, were the steps from entry to entry to go on as the finest do that are seen: what
 * finer entries show, and a geometric series after them. Where all powers are whole this is little; with a power close to 1 it is many times the last step.
 */
const ahead = (
  column: readonly number[],
  rounding: readonly number[],
  first: number,
): { readonly slow: boolean; readonly rest: readonly number[]; readonly seen: number; readonly floor: number } => {
  const moved = column.map((x, k) => (k > first ? x - column[k - 1]! : 0))
  const step = moved.map(Math.abs)
  const seen = lastSeen(step, rounding, first)
  const rest = column.map(() => 0)
  let floor = 0
  for (let k = step.length - 1; k > seen; k--) floor = Math.max(floor, step[k]! * SHRUNK[k]!)
  if (seen < 0) return { slow: false, rest, seen, floor }
  // The last two ratios, and after the finest level the step before: one may be small by chance.
  const bound = (k: number): number => (step[k]! + MOVES * rounding[k]!) / Math.max(0, step[k - 1]! - MOVES * rounding[k - 1]!)
  const [last, before] = [moved[seen]! / moved[seen - 1]!, moved[seen - 1]! / moved[seen - 2]!]
  const [least, most] = [Math.min(last, before), Math.max(Math.abs(last), Math.abs(before))]
  // Steps that grow do so evenly, or they are rounding.
  const ratio = Math.min(Math.max(bound(seen), bound(seen - 1)), most > 1 && least < most / EVEN ? UNEVEN : Number.POSITIVE_INFINITY)
  const next = Math.max(step[seen]!, step[seen - 1]! * bound(seen - 1))
  // A power goes on: where the next step is far less than that, what was seen was a structure of that size.
  if (seen + 1 < rest.length && next * Math.min(ratio, 1) > RATIO * (step[seen + 1]! + SEEN * rounding[seen + 1]!))
    return { slow: false, rest, seen, floor }
  const leastTail = seen === rest.length - 1 ? step[seen - 1]! / RATIO : 0
  const tail = ratio < ENDLESS ? Math.max(leastTail, (next * ratio) / (1 - ratio)) : Number.POSITIVE_INFINITY
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (let k = rest.length - 1; k >= first; k--) {
    const [x, noise] = [column[k]!, SEEN * rounding[k]!]
    rest[k] = k > seen ? tail * Math.min(1, ratio ** (k - seen)) : tail + Math.max(0, x - low, high - x)
    if (k > seen) continue
    low = Math.min(low, x + noise)
    high = Math.max(high, x - noise)
  }
  return { slow: most > SLOW, rest, seen, floor }
}

/** Columns 0, 1, ... of Richardson's table; entries before the first are NaN. */
const tableOf = (d: readonly number[], power: 1 | 2): readonly (readonly number[])[] => {
  const table = [d]
  for (let j = 1; j < COLUMNS; j++) {
    const before = table[j - 1]!
    const factor = RATIO ** (power * j) - 1
    table.push(before.map((x, k) => (k < j ? Number.NaN : x + (x - before[k - 1]!) / factor)))
  }
  return table
}

/** `slow`: other powers than whole ones were seen. */
interface Limit extends Estimate {
  readonly slow: boolean
}
/**
 * The limit of values d at falling steps whose error is a series in step^power, or has other powers, which are found by how slowly it falls. Of all entries of
 * Richardson's table the one with the least error: how far it is from its neighbours, what rounding may do, and what is to come. Finer steps must agree with it, or
 * there is a structure at their size that it does not see.
 */
const limit = (d: readonly number[], power: 1 | 2, roundingAt: (level: number) => number): Limit => {
  const rounding = d.map((_, k) => roundingAt(k))
  const table = tableOf(d, power)
  const all = table.map((column, j) => ahead(column, rounding, j))
  // Rounding as the differences themselves show it.
  const { seen, floor } = all[0]!
  const noise = rounding.map((r, m) => (seen < 0 ? r : Math.max(r, floor / 2 / SHRUNK[m]!)))
  const rate = RATIO ** power
  let best: Estimate = { value: d.at(-1)!, error: Number.POSITIVE_INFINITY }
  for (let k = 1; k < d.length; k++)
    for (let j = 0; j < COLUMNS && j <= k; j++) {
      const value = table[j]![k]!
      const before = table[Math.max(0, j - 1)]!
      let error = Math.max(Math.abs(value - before[k - 1]!), Math.abs(value - before[k]!))
      // What follows adds to it.
      if (!(error + 2 * noise[k]! < best.error)) continue
      // What a series of whole powers leaves is less in later columns, what others leave is the same in all.
      for (let i = 0; i < COLUMNS && i <= k; i++) if (i >= j || all[i]!.slow) error = Math.max(error, all[i]!.rest[k]!)
      // Neighbours that agree by chance: the next one does not.
      if (k + 1 < d.length) error = Math.max(error, Math.abs(table[j]![k + 1]! - value) - MOVES * rounding[k + 1]!)
      error += 2 * noise[k]!
      if (!(error < best.error)) continue
      // How far differences are from it shrinks from step to step as those of a series do.
      let off = 0
      for (let m = 0; m < d.length; m++) {
        const apart = Math.abs(d[m]! - value)
        if (m <= k) off = Math.max(off / rate, apart)
        else {
          off /= rate
          if (!(apart <= 2 * off + 8 * noise[m]!)) error = Math.max(error, apart - 8 * noise[m]!)
        }
      }
      if (error < best.error) best = { value, error }
    }
  return { ...best, slow: all.some((x) => x.slow) }
}

/** From level to level differences grow by more than this where a slope is infinite, and so do their steps: those that pass 0 grow too. */
const STEEPENS = 1.25
/** The slope on one side; `jumps`: the value at 0 is not the limit of the values beside it. */
interface Side extends Estimate {
  readonly jumps: boolean
}
/** Slopes of one side from values at rising distance 0; undefined where the function has no value there. */
const sideOf = (at0: number, values: readonly number[], h: readonly number[], sign: 1 | -1, noise: number): Side | undefined => {
  // Coarse steps may leave the domain.
  let from = values.length
  while (from > 0 && Number.isFinite(values[from - 1]!)) from--
  if (values.length - from < FINEST) return undefined
  const [v, s] = [values.slice(from), h.slice(from)]
  const rounding = (k: number): number => (2 * noise) / s[k]! + ((4 * EPS * Math.abs(v[k]! - at0)) / (s[k]! * s[k]!)) * h[0]!
  const d = v.map((x, k) => (sign * (x - at0)) / s[k]!)
  const last = d.length - 1
  const growth = [last, last - 1, last - 2].map((k) => d[k]! / d[k - 1]!)
  if (!Number.isFinite(d[last]!)) return { value: Number.NaN, error: Number.POSITIVE_INFINITY, jumps: false }
  const real = Math.abs(v[last]! - at0) > 64 * noise
  if (real && growth.every((g) => g > 0.97 * RATIO)) {
    const beside = v.slice(1).map((x, k) => (sign * (v[k]! - x)) / (s[k]! - s[k + 1]!))
    return { ...limit(beside, 1, (k) => rounding(k + 1)), jumps: true }
  }
  const step = [last, last - 1, last - 2].map((k) => Math.abs(d[k]! - d[k - 1]!))
  if (real && growth.every((g) => g > STEEPENS) && step[0]! > STEEPENS * step[1]! && step[1]! > STEEPENS * step[2]!)
    return { value: d[last]! > 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY, error: Math.abs(d[last]!), jumps: false }
  return { ...limit(d, 1, rounding), jumps: false }
}

/** What entry i of sampled values does at 0. `noise`: how far rounding may move a value. */
const slopeAt = ({ h, at0, right, left }: Samples, i: number, given: number): Slope => {
  const f0 = at0[i]!
  if (!Number.isFinite(f0)) return { _tag: 'Unknown', reason: `the function is ${f0} there` }
  const [r, l] = [right.map((v) => v[i]!), left.map((v) => v[i]!)]
  const noise = Math.max(given, EPS * Math.abs(f0), UNDERFLOW)
  const [a, b] = [sideOf(f0, r, h, 1, noise), sideOf(f0, l, h, -1, noise)]
  if (a === undefined && b === undefined) return { _tag: 'Unknown', reason: 'the function has no value around the point' }
  if (a === undefined || b === undefined) return { _tag: 'OneSided', ...(a ?? b)! }
  const differ = Math.abs(a.value - b.value)
  const steep = !Number.isFinite(a.value) || !Number.isFinite(b.value)
  if (steep && a.value === b.value) return { _tag: 'Smooth', value: a.value, error: Math.min(a.error, b.error) }
  if (a.error + b.error === Number.POSITIVE_INFINITY)
    return { _tag: 'Smooth', value: (Number.isFinite(a.value) ? a : b).value, error: Number.POSITIVE_INFINITY }
  const apart = steep || !(differ <= 10 * (a.error + b.error) + 1e-6 * Math.max(Math.abs(a.value), Math.abs(b.value)))
  if (a.jumps || b.jumps || apart) return { _tag: 'Kink', left: b, right: a, isolated: a.jumps && b.jumps }
  let from = h.length
  while (from > 0 && Number.isFinite(r[from - 1]!) && Number.isFinite(l[from - 1]!)) from--
  const [rs, ls, hs] = [r.slice(from), l.slice(from), h.slice(from)]
  const d = rs.map((x, k) => (x - ls[k]!) / (2 * hs[k]!))
  const central = limit(d, 2, (k) => noise / hs[k]! + (4 * EPS * Math.abs(d[k]!) * h[0]!) / hs[k]!)
  const sides = a.error < b.error ? a : b
  // Neither side has a limit, and their mean seems to: by chance.
  if (sides.error > 1e3 * central.error + 1e-6 * Math.abs(central.value))
    return { _tag: 'Smooth', value: central.value, error: sides.error }
  // A power that is seen in the mean of both sides is in them too.
  const { value, error } =
    central.error <= sides.error ? central : { value: sides.value, error: central.slow ? central.error : sides.error }
  return { _tag: 'Smooth', value, error }
}

/** Slopes of every entry of a vector function at 0; `noise`: how far rounding may move each value. */
export const slopes = (f: (t: number) => ArrayLike<number>, scale: number, noise: (entry: number) => number): readonly Slope[] => {
  const samples = sampled(f, scale)
  return Array.from(samples.at0, (_, i) => slopeAt(samples, i, noise(i)))
}

/** The slope as one number with its error: that of a kink is the middle, with half of the difference. */
const estimate = (s: Slope): Estimate => {
  switch (s._tag) {
    case 'Unknown':
      return { value: Number.NaN, error: Number.POSITIVE_INFINITY }
    case 'Kink':
      return { value: (s.left.value + s.right.value) / 2, error: Math.abs(s.left.value - s.right.value) / 2 + s.left.error + s.right.error }
    default:
      return { value: s.value, error: s.error }
  }
}

/**
 * f'(0) by central differences at 15 steps, each a quarter of the one before, with Richardson extrapolation. `error` bounds truncation (the
 * distance between entries of the table) and rounding. At a kink it is half of the difference between the two sides.
 *
 * Errors  BadInput unless f is a function.
 * Source  Richardson 1911; Ridders 1982.
 * @example derivative((t) => Math.sin(t)).value   // 1.000000000
 */
export const derivative = (f: (t: number) => number, scale = 1): Estimate => {
  functionOf(f, 'the first argument', 'derivative')
  return estimate(
    slopes(
      (t) => [f(t)],
      numberOf(scale, 'the scale', 'derivative'),
      () => 0,
    )[0]!,
  )
}

/**
 * The derivative on one side of 0 (`side` 1 or -1), by Richardson's table of (f(h) - f(0)) / h. At a kink the two sides differ. The result is
 * infinite if the differences grow without bound, and NaN if the function has no value on that side.
 *
 * @example oneSided((t) => Math.abs(t), -1).value   // -1
 */
export const oneSided = (f: (t: number) => number, side: 1 | -1, scale = 1): Estimate => {
  functionOf(f, 'the first argument', 'oneSided')
  const sign = numberOf(side, 'the side', 'oneSided') < 0 ? -1 : 1
  const samples = sampled((t) => [f(t)], numberOf(scale, 'the scale', 'oneSided'))
  const f0 = samples.at0[0]!
  const values = (sign === 1 ? samples.right : samples.left).map((v) => v[0]!)
  const s = sideOf(f0, values, samples.h, sign, EPS * Math.abs(f0))
  return s === undefined ? { value: Number.NaN, error: Number.POSITIVE_INFINITY } : { value: s.value, error: s.error }
}

/** What differences say of a derivative that somebody gave. */
export type Verdict =
  | { readonly _tag: 'Right' }
  /** Right, and there is a kink: between its slopes. */
  | { readonly _tag: 'AtKink'; readonly low: number; readonly high: number }
  | { readonly _tag: 'Wrong'; readonly expected: string; readonly tolerance: number }
  | { readonly _tag: 'Undecided'; readonly reason: string }
const RIGHT: Verdict = { _tag: 'Right' }
/** Differences are sure to this many of their own error estimates. */
const SURE = 10

const judgeOne = (given: number, { value, error }: Estimate, tolerance: number): Verdict => {
  if (given === value) return RIGHT
  const wrong = (sure: number): Verdict => ({ _tag: 'Wrong', expected: numeral(value), tolerance: Math.max(tolerance, sure) })
  // Steeper and steeper as far as the steps go; a number as large as the steepest may still be the end of it.
  if (!Number.isFinite(value))
    return Number.isNaN(value) || !Number.isFinite(given) || given * Math.sign(value) > 0.1 * error ? NO_LIMIT : wrong(0)
  const [off, within] = [Math.abs(given - value), SURE * error]
  const size = Math.max(Math.abs(given), Math.abs(value))
  if (!Number.isFinite(given)) return within <= 0.01 * Math.abs(value) || error <= 1e-12 ? wrong(0) : NO_LIMIT
  if (off <= tolerance * size) return RIGHT
  if (off > within && within <= 0.5 * size) return wrong(within / size)
  if (within <= 0.1 * size) return RIGHT
  const known = within < Number.POSITIVE_INFINITY ? `give the slope to within ${within.toPrecision(1)}` : 'do not converge'
  return { _tag: 'Undecided', reason: `differences ${known}, and the derivative is ${given.toPrecision(3)}` }
}
const NO_LIMIT: Verdict = { _tag: 'Undecided', reason: 'differences have no limit' }
/** A number as messages have it: at most ten digits. */
export const numeral = (x: number): string => String(Number(x.toPrecision(10)))

/** Holds a derivative against the slope, relative to its own size. At a kink it must lie between the two slopes. */
export const judge = (given: number, slope: Slope, tolerance: number): Verdict => {
  if (slope._tag === 'Unknown') return { _tag: 'Undecided', reason: slope.reason }
  if (slope._tag !== 'Kink') return judgeOne(given, slope, tolerance)
  const { left, right } = slope
  const [low, high] = left.value < right.value ? [left, right] : [right, left]
  const sides = [judgeOne(given, low, tolerance), judgeOne(given, high, tolerance)]
  if (sides.some((s) => s._tag === 'Right') || (given >= low.value && given <= high.value))
    return { _tag: 'AtKink', low: low.value, high: high.value }
  if (slope.isolated === true) return { _tag: 'Undecided', reason: 'the function jumps on both sides' }
  const [a, b] = [numeral(low.value), numeral(high.value)]
  // The function goes on through the kink: NaN is no slope of it.
  if (Number.isNaN(given)) return { _tag: 'Wrong', expected: a === b ? a : `between ${a} and ${b}`, tolerance }
  return sides.find((s) => s._tag === 'Undecided') ?? { _tag: 'Wrong', expected: a === b ? a : `between ${a} and ${b}`, tolerance }
}
