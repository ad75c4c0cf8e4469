/** Finite differences: 5-point central, at several steps, with an estimate of their own error; and one-sided ones, for kinks. */
import { functionOf, numberOf } from '../core/errors/check-arguments.js'

/** A derivative estimate and how far it may be off. */
export interface Estimate {
  readonly value: number
  readonly error: number
}

/** Steps tried, relative to the scale of the argument. */
export const steps: readonly number[] = [1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4]

/** Of estimates at falling steps, the one whose neighbours agree best with it: truncation on one side, rounding on the other. */
const steadiest = (values: readonly number[]): Estimate => {
  let best: Estimate = { value: values[0]!, error: Number.POSITIVE_INFINITY }
  for (let i = 1; i + 1 < values.length; i++) {
    const error = Math.max(Math.abs(values[i]! - values[i - 1]!), Math.abs(values[i]! - values[i + 1]!))
    if (error < best.error) best = { value: values[i]!, error }
  }
  return best
}

/**
 * f'(0) by (f(-2h) - 8 f(-h) + 8 f(h) - f(2h)) / 12h at seven steps. The estimate is the one whose neighbours agree best with it
 * (the spread bounds truncation on one side and rounding on the other). Source: Abramowitz and Stegun 25.3.6.
 *
 * @example derivative((t) => Math.sin(t)).value   // 1.000000000
 */
export const derivative = (f: (t: number) => number, scale = 1): Estimate => {
  functionOf(f, 'the first argument', 'derivative')
  return derivatives((t) => [f(t)], numberOf(scale, 'the scale', 'derivative'))[0]!
}

/** The same of every entry of a vector function. */
export const derivatives = (f: (t: number) => ArrayLike<number>, scale = 1): readonly Estimate[] => {
  const columns = steps.map((s) => {
    const h = s * scale
    const [a, b, c, d] = [f(-2 * h), f(-h), f(h), f(2 * h)]
    return Array.from(a, (_, i) => (a[i]! - 8 * b[i]! + 8 * c[i]! - d[i]!) / (12 * h))
  })
  return columns[0]!.map((_, i) => steadiest(columns.map((c) => c[i]!)))
}

/**
 * The derivative on one side of 0 (`side` 1 or -1) by (-3 f(0) + 4 f(h) - f(2h)) / 2h. At a kink the two sides differ.
 * Source: Abramowitz and Stegun 25.3.4.
 *
 * @example oneSided((t) => Math.abs(t), -1).value   // -1
 */
export const oneSided = (f: (t: number) => number, side: 1 | -1, scale = 1): Estimate => {
  functionOf(f, 'the first argument', 'oneSided')
  numberOf(side, 'the side', 'oneSided')
  numberOf(scale, 'the scale', 'oneSided')
  const at = f(0)
  return steadiest(
    [...steps, 3e-5, 1e-5, 3e-6, 1e-6].map((s) => {
      const h = side * s * scale
      return (-3 * at + 4 * f(h) - f(2 * h)) / (2 * h)
    }),
  )
}
