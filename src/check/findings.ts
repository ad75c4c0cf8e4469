/** What a check found, as data; and as a table for people. */
import * as E from 'fp-ts/lib/Either.js'
import { flagOf, optionsOf, shown } from '../core/errors/check-arguments.js'
import { raise } from '../core/errors/explain.js'
import type { NDArray } from '../core/graph/ndarray.js'

/**
 * The checks, by name: what each compares. Any can be switched off (`{ checks: { batch: false } }`).
 *
 * @example Object.keys(checks).includes('adjoint')   // true
 */
export const checks = {
  value: "the rule's own result is the meaning's, bit for bit",
  jvp: 'the tangent is the finite difference',
  vjp: 'the cotangent is the finite difference',
  jacobian: 'every entry of the Jacobian, in both modes, is the finite difference',
  adjoint: "<yBar, J dx> = <J' yBar, dx>",
  modes: 'mixed mode gives what reverse mode gives',
  f32: 'derivatives in f32 are those of the same expression in f64',
  kink: 'where the two sides differ, the derivative lies between them, and is the declared one',
  dtype: 'a tangent has the dtype of its argument',
  shape: 'a tangent has the shape of its argument',
  tangent: 'NoTangent exactly where there is no tangent space',
  seed: 'dense, thunk, in-place thunk, zero and broadcast seeds give the same',
  thunk: 'a thunk is built at most once, and only when asked for',
  accumulate: 'addTo(acc) is acc + cotangent; repeated arguments and fan-out add up',
  mutation: 'arguments, seeds and residuals keep every bit',
  repeat: 'the same pullback gives the same again',
  linear: 'tangents and cotangents are linear; a zero tangent gives exact zeros',
  'second order': 'forward over reverse, reverse over reverse and differences of the gradient agree; the Hessian is symmetric',
  batch: 'vmap is the stack of single results',
  commute: 'grad of vmap is vmap of grad',
  trace: 'the function is called once, not once for each entry, and gives the same expression each time',
  activity: 'the cotangents of some arguments are those of all, and the others cost nothing',
  'non-finite': 'a zero seed at an infinite partial gives zero',
  backend: "the backend gives what the reference gives, also into and added to the caller's arrays",
  registry: 'every primitive has its rules and kernels',
  inconclusive: 'finite differences say something',
} as const
/** The name of a check. */
export type CheckName = keyof typeof checks
/** Which checks run. */
export type Switches = { readonly [K in CheckName]?: boolean }

const isCheck: Readonly<Record<string, true>> = Object.fromEntries(Object.keys(checks).map((name) => [name, true]))
/** Raises unless these are checks, switched on or off. */
export const switchesOf = (given: Switches | undefined, where: string): void => {
  const switches = optionsOf(given, isCheck as { readonly [K in CheckName]: true }, `${where}: checks`)
  for (const name of Object.keys(switches) as CheckName[]) flagOf(switches[name], name, `${where}: checks`)
}

/** One disagreement. `check` names the property, `path` the argument or result, `index` the entry. */
export interface Finding {
  readonly check: CheckName
  /** Primitive or function. */
  readonly of: string
  readonly path: string
  readonly index: number
  readonly expected: string
  readonly actual: string
  readonly tolerance: number
  /** Draws the same arguments and directions again. */
  readonly seed: number
}

/** How much was compared, when nothing disagreed. */
export interface Passed {
  readonly of: string
  readonly comparisons: number
  readonly seed: number
  /** Derivatives that their rule says are not implemented: neither wrong nor checked. */
  readonly notImplemented: readonly string[]
  /** Where the function has no derivative, and what the rule gives there. */
  readonly kinks: readonly string[]
  /** Checks that did not run: switched off, or too large for their cost. */
  readonly skipped: readonly CheckName[]
}
/** What a check says: Left of what disagreed, Right of how much was compared. */
export type Checked = E.Either<readonly Finding[], Passed>

/** Gathers findings and counts comparisons. */
export class Collector {
  readonly findings: Finding[] = []
  readonly notImplemented: string[] = []
  readonly kinks: string[] = []
  readonly skipped = new Set<CheckName>()
  comparisons = 0
  constructor(
    readonly of: string,
    readonly seed: number,
    private readonly switches: Switches = {},
    /** In front of every path: which sample, which dtype. */
    public prefix = '',
  ) {
    for (const name of Object.keys(checks) as CheckName[]) if (switches[name] === false) this.skipped.add(name)
  }
  /** Is this check to run? `cheap`: false leaves it out unless it was switched on. */
  on(check: CheckName, cheap = true): boolean {
    const run = this.switches[check] ?? cheap
    if (!run) this.skipped.add(check)
    return run
  }
  note(check: CheckName, path: string, index: number, expected: unknown, actual: unknown, tolerance = 0): void {
    if (this.switches[check] === false) return
    const { of, seed } = this
    this.findings.push({
      check,
      of,
      path: this.prefix + path,
      index,
      expected: String(expected),
      actual: String(actual),
      tolerance,
      seed,
    })
  }
  /** Both arrays agree to `tolerance` of their largest entry (at least 1). */
  near(check: CheckName, path: string, got: ArrayLike<number>, want: ArrayLike<number>, tolerance: number): void {
    this.comparisons++
    if (got.length !== want.length) {
      this.note('shape', path, 0, want.length, got.length)
      return
    }
    let top = 1
    for (let i = 0; i < want.length; i++) if (Number.isFinite(want[i]!)) top = Math.max(top, Math.abs(want[i]!))
    for (let i = 0; i < want.length; i++) {
      const same = Object.is(got[i], want[i]) || Math.abs(got[i]! - want[i]!) <= tolerance * top
      if (!same) {
        this.note(check, path, i, want[i], got[i], tolerance)
        return
      }
    }
  }
  is(check: CheckName, path: string, got: unknown, want: unknown): void {
    this.comparisons++
    if (got !== want) this.note(check, path, 0, want, got)
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
  result(): Checked {
    const { of, comparisons, seed, notImplemented, kinks, skipped } = this
    return this.findings.length === 0
      ? E.right({ of, comparisons, seed, notImplemented: [...new Set(notImplemented)], kinks: [...new Set(kinks)], skipped: [...skipped] })
      : E.left(this.findings)
  }
}

/** What is given as the result of a check. */
export const checkedOf = (given: Checked, where: string): Checked =>
  given?._tag === 'Right' || (given?._tag === 'Left' && Array.isArray(given.left))
    ? given
    : raise({
        _tag: 'BadInput',
        where,
        reason: `${shown(given)} is not the result of a check.`,
        fix: 'give what checkGrad(f)(...args) or checkRule(rule) gives.',
      })

const pad = (rows: readonly (readonly string[])[]): string => {
  const widths = rows[0]!.map((_, c) => Math.max(...rows.map((r) => r[c]!.length)))
  return rows
    .map((r) =>
      r
        .map((x, c) => x.padEnd(widths[c]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/**
 * A result in words: one line when it passed (and one for each derivative to do and each kink), else a table of findings.
 *
 * @example report(checkGrad((x: AnyExpr) => sum(mul(x, x)))([1, 2]))   // 'ok   f: ...'
 */
export const report = (given: Checked): string => {
  const c = checkedOf(given, 'report')
  return c._tag === 'Right'
    ? [
        `ok   ${c.right.of}: ${c.right.comparisons} comparisons (seed ${c.right.seed})`,
        ...c.right.notImplemented.map((t) => `not implemented: ${t}`),
        ...c.right.kinks.map((k) => `kink ${k}`),
      ].join('\n')
    : pad([
        ['check', 'of', 'at', 'expected', 'actual', 'tolerance', 'seed'],
        ...c.left.map((f) => [f.check, f.of, `${f.path}[${f.index}]`, f.expected, f.actual, f.tolerance.toExponential(0), String(f.seed)]),
      ])
}

/** Several results as one: all findings, or all that was compared. */
export const together = (of: string, all: readonly Checked[]): Checked => {
  const left = all.flatMap((c) => (c._tag === 'Left' ? c.left : []))
  if (left.length > 0) return E.left(left)
  const right = all.flatMap((c) => (c._tag === 'Right' ? [c.right] : []))
  return E.right({
    of,
    comparisons: right.reduce((n, p) => n + p.comparisons, 0),
    seed: right[0]?.seed ?? 0,
    notImplemented: [...new Set(right.flatMap((p) => p.notImplemented))],
    kinks: [...new Set(right.flatMap((p) => p.kinks))],
    skipped: [...new Set(right.flatMap((p) => p.skipped))],
  })
}
