/** What a check found, as data; and as a table for people. */

import type { Either } from 'fp-ts/lib/Either.js'
import { left, right } from '../core/errors/either.js'
import { type AdError, isAdException } from '../core/errors/error.js'
import { explain } from '../core/errors/explain.js'
import type { NDArray } from '../core/graph/ndarray.js'
import { type CheckName, checks, type Switches } from './check-names.js'
import { type Condition, illConditioned, offBy } from './condition.js'
import { judge, numeral, type Slope } from './finite-differences.js'
import type { OnKink } from './kinks.js'
import { type Looked, Looking, lookedTogether } from './looked.js'
import { reduced } from './mistakes.js'

/** One mistake. `check` names the property, `path` the argument or result, `index` the entry. */
export interface Finding {
  readonly check: CheckName
  /** Primitive or function. */
  readonly of: string
  readonly path: string
  /** The entry, counted in row-major order. */
  readonly index: number
  /** The entry of an array of several axes, as a reader counts: `[1, 0]`; empty for a number. */
  readonly entry: string
  /** What is true: a derivative by differences, or what the other way gives. */
  readonly expected: string
  /** What was found. */
  readonly actual: string
  /** How it was found: by which mode, under which change. */
  readonly how: string
  /** In which sample, in which dtype. */
  readonly in: string
  /** The arguments. */
  readonly at: string
  readonly tolerance: number
  /** Draws the same arguments and directions again. */
  readonly seed: number
  /** Other checks that fail for the same reason. */
  readonly also: readonly CheckName[]
  /** A line that finds it again. */
  readonly replay: string
  /** What to write instead, where that is known; else empty. */
  readonly fix: string
  /** Where the check looked that found it. */
  readonly looked: Looked
}
/** A finding while its check goes on. */
type Found = Omit<Finding, 'looked'>

/** How much was compared, when nothing disagreed. */
export interface Passed {
  readonly of: string
  readonly comparisons: number
  readonly seed: number
  /** Derivatives that their rule says are not implemented: neither wrong nor checked. */
  readonly notImplemented: readonly string[]
  /** Where the function has no derivative, and what the rule gives there. */
  readonly kinks: readonly string[]
  /** What differences could not decide, and why: neither right nor wrong. */
  readonly undecided: readonly string[]
  /** Checks that did not run: switched off, or too large for their cost. */
  readonly skipped: readonly CheckName[]
  /** Where it looked, and what it left out. */
  readonly looked: Looked
}
/** What a check says: Left of what disagreed, Right of how much was compared. */
export type Checked = Either<readonly Finding[], Passed>

/** Numbers as a reader writes them, at most `most` of them. */
export const shownNumbers = (data: ArrayLike<number>, most = 6): string => {
  const list = Array.from({ length: Math.min(most, data.length) }, (_, i) => String(data[i]))
  return `[${list.join(', ')}${data.length > most ? `, ... (${data.length})` : ''}]`
}
/** Entry `index` of an array of this shape, as a reader counts. */
export const entryOf = (shape: readonly number[], index: number): string => {
  if (shape.length === 0) return ''
  const at: number[] = []
  let rest = index
  for (let d = shape.length - 1; d >= 0; d--) {
    at.unshift(rest % Math.max(1, shape[d]!))
    rest = Math.floor(rest / Math.max(1, shape[d]!))
  }
  return `[${at.join(', ')}]`
}

/** Where a comparison stands beside what it compares. */
export interface Place {
  /** The array that `index` counts in. */
  readonly shape?: readonly number[]
  /** By which mode, under which change. */
  readonly how?: string
  /** What to write instead, where that is known. */
  readonly fix?: string
}
/** What is known beside a derivative and its slope. */
export interface Held {
  /** How far rounding may have moved the derivative that is given. */
  readonly rounding?: () => number
  /** How far the derivative moves when the arguments move by less than differences see. */
  readonly condition?: () => Condition
  /**
   * A primitive that lies on a declared kink: where the function has a value on one side alone, its slope there may be that of one side of the kink, and where
   * several have kinks the whole may have none.
   */
  readonly kink?: () => OnKink | undefined
  /** The slope by other steps. */
  readonly again?: () => Slope
  /** The slope with what the function rounds inside, where that is more than was known and may make up for a derivative that is off by so much. */
  readonly rough?: (off: number) => Slope | undefined
  /** Is it near kinks along several entries? Then it is judged along the directions that keep ties. */
  readonly elsewhere?: () => boolean
  /** The least and greatest derivative at points around this one, where it is at a kink. */
  readonly around?: () => readonly [number, number] | undefined
  readonly place?: Place
  /** Where a kink may come from. */
  readonly near?: string
}
/** Why a derivative is not decided that differences contradict by no more than that. */
export const INSIDE = 'rounding inside the function may account for the difference'
/** Differences of two ways are excused up to this many of what rounding may do. */
const ROUNDINGS = 16

/** Did differences show no limit? */
const endless = (s: Slope): boolean => (s._tag === 'Smooth' || s._tag === 'OneSided') && s.error === Number.POSITIVE_INFINITY

/** Gathers findings and counts comparisons. */
export class Collector {
  readonly findings: Found[] = []
  /** Where this check looks. */
  readonly looking = new Looking()
  readonly notImplemented: string[] = []
  readonly kinks: string[] = []
  readonly undecided: string[] = []
  readonly skipped = new Set<CheckName>()
  comparisons = 0
  /** The arguments at which comparisons are made now. */
  point: () => string = () => ''
  /** How the point was chosen at which comparisons are made now. */
  place = 'as given'
  /** Derivatives that are off by at most this are right. */
  atol = 0
  /** Are kinks and what is not decided counted? Not at points that a check chose itself, of which many lie outside of the domain. */
  counts = true
  /** What to write in the place of what loses a zero: asked where one was lost, with how that was found. */
  advice: (how: string) => string = () => ''
  /** The check that findings are of, whatever they were found by. */
  private as: CheckName | undefined
  /** Why a derivative that differences contradict is not called wrong. */
  private excuse: string | undefined
  /** Runs a part whose findings are all of one check. `excuse`: why differences decide nothing in it. */
  under(check: CheckName, excuse: string | undefined, part: () => void): void {
    this.as = check
    this.excuse = excuse
    try {
      part()
    } finally {
      this.as = undefined
      this.excuse = undefined
    }
  }
  constructor(
    readonly of: string,
    readonly seed: number,
    private readonly switches: Switches = {},
    /** Which sample, which dtype, which change of the arguments. */
    public prefix = '',
    /** The line that runs this check again. */
    readonly replay = '',
  ) {
    for (const name of Object.keys(checks) as CheckName[]) if (switches[name] === false) this.skipped.add(name)
  }
  /** Is this check to run? `cheap`: false leaves it out unless it was switched on. */
  on(check: CheckName, cheap = true): boolean {
    const run = this.switches[check] ?? cheap
    if (!run) this.skipped.add(check)
    return run
  }
  note(
    check: CheckName,
    path: string,
    index: number,
    expected: unknown,
    actual: unknown,
    tolerance = 0,
    { shape = [], how = '', fix = '' }: Place = {},
  ): void {
    if (this.switches[check] === false) return
    const { of, seed, replay, as = check } = this
    const [given, wanted] = [actual, expected].map((x) => (typeof x === 'number' ? numeral(x) : String(x)))
    this.findings.push({
      check: as,
      of,
      path,
      index,
      entry: entryOf(shape, index),
      expected: wanted!,
      actual: given!,
      how,
      in: this.prefix,
      at: this.point(),
      tolerance,
      seed,
      also: [],
      replay,
      fix,
    })
  }
  /** What says that something is not there (a rule, a kernel) is thrown on, for who leaves it out and goes on. */
  throwsMissing = false
  /** Runs a part of a check; what it raises is a finding, whoever threw it. */
  guard(path: string, part: () => void): void {
    try {
      part()
    } catch (e) {
      if (this.throwsMissing && isAdException(e) && isMissing(e.error)) throw e
      const known = isAdException(e)
      const facet = known && (e.error._tag === 'MissingRule' || e.error._tag === 'MissingKernel')
      this.note(facet ? 'registry' : 'raises', path, 0, facet ? 'a rule' : 'a result', known ? inOneLine(e.error) : `${e}`)
    }
  }
  /** Counts what differences could not decide. */
  undecidedAt(path: string, reason: string, place: Place = {}): void {
    const text = [this.prefix, place.how ?? '', `${path}: ${reason}`].filter((x) => x !== '').join('; ')
    if (this.counts) this.undecided.push(text)
    if (this.counts && this.switches.inconclusive === true) this.note('inconclusive', path, 0, 'a decision', reason, 0, place)
  }
  /** Counts a place where the slopes of two sides differ, and what the rule gives there. */
  kinkAt(path: string, given: number, low: number, high: number, near: string): void {
    const front = this.prefix === '' ? '' : `${this.prefix}; `
    if (this.counts) this.kinks.push(`${front}${path}: ${numeral(given)} between ${numeral(low)} and ${numeral(high)}${near}`)
  }
  /** Notes a derivative at several kinks that is that of none of the pieces around. */
  conventionAt(path: string, text: string): void {
    if (this.counts) this.kinks.push([this.prefix, `${path}: ${text}`].filter((x) => x !== '').join('; '))
  }
  /**
   * Holds a derivative against a slope. What is wrong must be so beyond what rounding may have done to it, by other steps too, and where the function has a kink, beyond the
   * derivatives around the point.
   */
  holds(check: CheckName, path: string, index: number, given: number, slope: Slope, tolerance: number, more: Held): void {
    this.comparisons++
    const { place = {}, rounding, again, around, elsewhere } = more
    const at = `${path}${entryOf(place.shape ?? [], index)}`
    const v = judge(given, slope, tolerance)
    if (v._tag === 'Right' || offBy(given, slope) <= this.atol) return
    if (v._tag === 'AtKink') return void this.kinkAt(at, given, v.low, v.high, more.near ?? '')
    if (v._tag === 'Undecided') {
      // Rounding that was not known of looks like a slope without a limit.
      const calm = endless(slope) ? more.rough?.(0) : undefined
      if (calm === undefined || judge(given, calm, tolerance)._tag !== 'Right') this.undecidedAt(at, v.reason, place)
      return
    }
    const other = again === undefined ? v : judge(given, again(), tolerance)
    if (other._tag === 'Right' || other._tag === 'AtKink') return
    if (other._tag === 'Undecided') return void this.undecidedAt(at, other.reason, place)
    const rounded = more.rough?.(offBy(given, slope))
    if (rounded !== undefined) {
      const sure = judge(given, rounded, tolerance)
      if (sure._tag === 'Right') return
      if (sure._tag !== 'Wrong') return void this.undecidedAt(at, INSIDE, place)
    }
    if (elsewhere?.()) return
    const range = around?.()
    if (range !== undefined) {
      const slack = 1e-5 * Math.max(Math.abs(range[0]), Math.abs(range[1]))
      if (given >= range[0] - slack && given <= range[1] + slack) return void this.kinkAt(at, given, range[0], range[1], more.near ?? '')
    }
    const kink = more.kink?.()
    if (kink !== undefined && slope._tag === 'OneSided')
      return void this.undecidedAt(at, `${kink.name} lies on a kink, of which one side alone has values`, place)
    if (kink?.several && slope._tag === 'Smooth')
      return void this.undecidedAt(at, `${kink.name} lies on a kink that the whole does not have`, place)
    if (this.excuse !== undefined) return void this.undecidedAt(at, this.excuse, place)
    const moves = rounding?.() ?? 0
    const value = slope._tag === 'Smooth' || slope._tag === 'OneSided' ? slope.value : Number.NaN
    if (Math.abs(given - value) <= ROUNDINGS * moves || moves === Number.POSITIVE_INFINITY)
      return void this.undecidedAt(at, `rounding may move the derivative by ${numeral(moves)}, and it is ${numeral(given)}`, place)
    const ill = more.condition && illConditioned(given, slope, more.condition)
    if (ill !== undefined) this.undecidedAt(at, ill, place)
    else this.note(check, path, index, v.expected, given, v.tolerance, place)
  }
  /**
   * Two ways to the same array agree to `tolerance` of its largest entry. `rounding`: how far rounding may move each entry; it is asked only where they do not.
   */
  near(
    check: CheckName,
    path: string,
    got: ArrayLike<number>,
    want: ArrayLike<number>,
    tolerance: number,
    rounding?: () => ArrayLike<number>,
    place: Place = {},
  ): void {
    this.comparisons++
    if (got.length !== want.length) {
      this.note('shape', path, 0, want.length, got.length, 0, place)
      return
    }
    let top = 0
    for (let i = 0; i < want.length; i++) {
      const x = Math.max(Math.abs(want[i]!), Math.abs(got[i]!))
      if (Number.isFinite(x)) top = Math.max(top, x)
    }
    let moves: ArrayLike<number> | undefined
    for (let i = 0; i < want.length; i++) {
      const off = Math.abs(got[i]! - want[i]!)
      if (Object.is(got[i], want[i]) || got[i] === want[i] || off <= tolerance * top || off <= this.atol) continue
      moves ??= rounding?.() ?? []
      const bound = moves[i] ?? 0
      if (off <= ROUNDINGS * bound) continue
      if (bound === Number.POSITIVE_INFINITY) {
        this.undecidedAt(`${path}${entryOf(place.shape ?? [], i)}`, 'rounding may make it anything', place)
        continue
      }
      this.note(check, path, i, want[i], got[i], tolerance, place)
      return
    }
  }
  is(check: CheckName, path: string, got: unknown, want: unknown, place: Place = {}): void {
    this.comparisons++
    if (got !== want) this.note(check, path, 0, want, got, 0, place)
  }
  /** Remembers arrays; the function that it gives compares them with what they were. */
  keeps(what: string, arrays: readonly NDArray[]): () => void {
    const before = arrays.map((a) => a.data.slice())
    return () => {
      arrays.forEach((a, i) => {
        this.near('mutation', `${what} ${i}`, a.data, before[i]!, 0)
      })
    }
  }
  /** What was found: each mistake once. */
  mistakes(): readonly Finding[] {
    const looked = this.looking.result()
    const lost = (f: Found): boolean => f.check === 'non-finite' || f.also.includes('non-finite') || f.actual === 'NaN'
    return reduced(this.findings).map((f) => ({ ...f, ...(lost(f) && { fix: this.advice(f.how) }), looked }))
  }
  result(): Checked {
    const { of, comparisons, seed, notImplemented, kinks, undecided, skipped } = this
    return this.findings.length === 0
      ? right({
          of,
          comparisons,
          seed,
          notImplemented: [...new Set(notImplemented)],
          kinks: [...new Set(kinks)],
          undecided: [...new Set(undecided)],
          skipped: [...skipped],
          looked: this.looking.result(),
        })
      : left(this.mistakes())
  }
}
const isMissing = ({ _tag }: AdError): boolean =>
  _tag === 'MissingRule' || _tag === 'MissingKernel' || _tag === 'Unsupported' || _tag === 'NotImplemented' || _tag === 'NotDifferentiable'
const inOneLine = (e: AdError): string =>
  explain(e)
    .split('\n')
    .filter((l) => !/^\s*at /.test(l))
    .map((l) => l.trim())
    .join(' ')

/** Several results as one: the mistakes of all, each once, or all that was compared. */
export const together = (of: string, all: readonly Checked[]): Checked => {
  const failed = all.flatMap((c) => (c._tag === 'Left' ? c.left : []))
  const looked = lookedTogether(all.flatMap((c) => (c._tag === 'Right' ? [c.right.looked] : c.left.slice(0, 1).map((f) => f.looked))))
  if (failed.length > 0) return left(reduced(failed).map((f) => ({ ...f, looked })))
  const passed = all.flatMap((c) => (c._tag === 'Right' ? [c.right] : []))
  const once = (list: (p: Passed) => readonly string[]): readonly string[] => [...new Set(passed.flatMap(list))]
  return right({
    of,
    comparisons: passed.reduce((n, p) => n + p.comparisons, 0),
    seed: passed[0]?.seed ?? 0,
    notImplemented: once((p) => p.notImplemented),
    kinks: once((p) => p.kinks),
    undecided: once((p) => p.undecided),
    skipped: [...new Set(passed.flatMap((p) => p.skipped))],
    looked,
  })
}
/** A result, with more said of where it looked. */
export const lookedToo = (c: Checked, more: Partial<Looked>): Checked =>
  c._tag === 'Right'
    ? right({ ...c.right, looked: { ...c.right.looked, ...more } })
    : left(c.left.map((f) => ({ ...f, looked: { ...f.looked, ...more } })))
