/** What a check found, as data; and as a table for people. */
import * as E from 'fp-ts/lib/Either.js'

/** One disagreement. `check` names the property, `path` the argument or result, `index` the entry. */
export interface Finding {
  readonly check:
    | 'value'
    | 'jvp'
    | 'vjp'
    | 'adjoint'
    | 'modes'
    | 'dtype'
    | 'shape'
    | 'tangent'
    | 'accumulate'
    | 'linear'
    | 'thunk'
    | 'second order'
    | 'batch'
    | 'kink'
    | 'not implemented'
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
}
export type Checked = E.Either<readonly Finding[], Passed>

/** Gathers findings and counts comparisons. */
export class Collector {
  readonly findings: Finding[] = []
  comparisons = 0
  constructor(
    private readonly of: string,
    private readonly seed: number,
  ) {}
  note(check: Finding['check'], path: string, index: number, expected: unknown, actual: unknown, tolerance = 0): void {
    this.findings.push({ check, of: this.of, path, index, expected: String(expected), actual: String(actual), tolerance, seed: this.seed })
  }
  /** Both arrays agree to `tolerance` of their largest entry (at least 1). */
  near(check: Finding['check'], path: string, got: ArrayLike<number>, want: ArrayLike<number>, tolerance: number): void {
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
  is(check: Finding['check'], path: string, got: unknown, want: unknown): void {
    this.comparisons++
    if (got !== want) this.note(check, path, 0, want, got)
  }
  result(): Checked {
    return this.findings.length === 0 ? E.right({ of: this.of, comparisons: this.comparisons, seed: this.seed }) : E.left(this.findings)
  }
}

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
 * A result in words: one line when it passed, else a table of findings.
 *
 * @example report(checkGrad((x) => sum(mul(x, x)), [[1, 2]]))   // 'ok   f: ... comparisons (seed 1)'
 */
export const report = (c: Checked): string =>
  c._tag === 'Right'
    ? `ok   ${c.right.of}: ${c.right.comparisons} comparisons (seed ${c.right.seed})`
    : pad([
        ['check', 'of', 'at', 'expected', 'actual', 'tolerance', 'seed'],
        ...c.left.map((f) => [f.check, f.of, `${f.path}[${f.index}]`, f.expected, f.actual, f.tolerance.toExponential(0), String(f.seed)]),
      ])
