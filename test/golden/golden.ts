// Golden values of the workloads, computed by PyTorch in float64, and the comparison with them.
import { readFileSync } from 'node:fs'
import type { FloatArray } from './data.js'
import { spec, type Workload, type WorkloadDtype, type WorkloadId } from './spec.js'

/** Of one array: its length, sum, Euclidean norm, largest absolute entry, and up to 24 entries by flat index. */
export interface GoldenArray {
  readonly length: number
  readonly sum: number
  readonly norm: number
  readonly max: number
  readonly at: Readonly<Record<string, number>>
}

/** Of one workload: `value` where it has one, and one array per gradient (or per result, for a product alone). */
export type Golden = Readonly<Record<string, number | GoldenArray>>

/** What a program computed: `value` as a number, every gradient as a flat row-major array. */
export type Outputs = Readonly<Record<string, number | FloatArray>>

export const golden = JSON.parse(readFileSync(new URL('./golden.json', import.meta.url), 'utf8')) as Readonly<Record<WorkloadId, Golden>>

const deep: readonly WorkloadId[] = ['W4', 'W7', 'W8', 'W9']

/** The largest error allowed, relative to the largest entry, when `id` ran in `dtype`. */
export const toleranceOf = (id: WorkloadId, dtype: WorkloadDtype = (spec[id] as Workload).dtype): number =>
  dtype === 'f64' ? 1e-10 : deep.includes(id) ? 1e-4 : 2e-5

export interface Agreement {
  readonly ok: boolean
  /** The largest error seen, each in the scale stated by `agreement`. */
  readonly worst: number
  /** One line for each quantity that is missing, has the wrong length, or is further off than the tolerance. */
  readonly failures: readonly string[]
}

interface Check {
  readonly what: string
  readonly got: number
  readonly want: number
  readonly scale: number
}

const summary = (data: FloatArray) => {
  let sum = 0
  let squares = 0
  let max = 0
  for (const x of data) {
    sum += x
    squares += x * x
    if (Math.abs(x) > max || Number.isNaN(x)) max = Math.abs(x)
  }
  return { sum, norm: Math.sqrt(squares), max }
}

const checksOf = (name: string, got: FloatArray, want: GoldenArray): readonly Check[] => {
  const { sum, norm, max } = summary(got)
  return [
    { what: `sum of ${name}`, got: sum, want: want.sum, scale: want.norm * Math.sqrt(want.length) },
    { what: `norm of ${name}`, got: norm, want: want.norm, scale: want.norm },
    { what: `max of ${name}`, got: max, want: want.max, scale: want.max },
    ...Object.entries(want.at).map(([i, entry]) => ({
      what: `${name}[${i}]`,
      got: got[Number(i)] ?? Number.NaN,
      want: entry,
      scale: want.max,
    })),
  ]
}

/**
 * Compares outputs with golden values. The value is measured against itself, entries and the maximum against
 * the largest entry, the norm against itself, and the sum against sqrt(length) times the norm: if the error's
 * norm is at most `tolerance` times the array's, Cauchy and Schwarz allow the sum no more. NaN never agrees.
 */
export const agreement = (got: Outputs, want: Golden, tolerance: number): Agreement => {
  const failures: string[] = []
  let worst = 0
  const judge = ({ what, got: a, want: b, scale }: Check): void => {
    const error = a === b ? 0 : Math.abs(a - b) / scale
    if (error > worst || Number.isNaN(error)) worst = error
    if (!(error <= tolerance)) failures.push(`${what}: got ${a}, want ${b} (relative error ${error.toExponential(1)})`)
  }
  for (const [name, wanted] of Object.entries(want)) {
    const mine = got[name]
    if (typeof wanted === 'number') {
      if (typeof mine === 'number') judge({ what: name, got: mine, want: wanted, scale: Math.abs(wanted) })
      else failures.push(`${name}: wanted a number, got ${mine === undefined ? 'nothing' : 'an array'}`)
    } else if (mine === undefined || typeof mine === 'number') {
      failures.push(`${name}: wanted an array of ${wanted.length}, got ${mine === undefined ? 'nothing' : 'a number'}`)
    } else if (mine.length !== wanted.length) {
      failures.push(`${name}: wanted an array of ${wanted.length}, got one of ${mine.length}`)
    } else {
      for (const check of checksOf(name, mine, wanted)) judge(check)
    }
  }
  return { ok: failures.length === 0, worst: failures.length > 0 && worst === 0 ? Number.POSITIVE_INFINITY : worst, failures }
}
