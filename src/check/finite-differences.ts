/** Finite differences: 5-point central, at several steps, with an estimate of their own error. */

/** A derivative estimate and how far it may be off. */
export interface Estimate {
  readonly value: number
  readonly error: number
}

/** Steps tried, relative to the scale of the argument. */
export const steps: readonly number[] = [1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4]

/**
 * f'(0) by (f(-2h) - 8 f(-h) + 8 f(h) - f(2h)) / 12h at seven steps. The estimate is the one whose neighbours agree best with it
 * (the spread bounds truncation on one side and rounding on the other). Source: Abramowitz and Stegun 25.3.6.
 *
 * @example derivative((t) => Math.sin(t)).value   // 1 to about 1e-12
 */
export const derivative = (f: (t: number) => number, scale = 1): Estimate => {
  const values = steps.map((s) => {
    const h = s * scale
    return (f(-2 * h) - 8 * f(-h) + 8 * f(h) - f(2 * h)) / (12 * h)
  })
  let best: Estimate = { value: values[0]!, error: Number.POSITIVE_INFINITY }
  for (let i = 1; i + 1 < values.length; i++) {
    const error = Math.max(Math.abs(values[i]! - values[i - 1]!), Math.abs(values[i]! - values[i + 1]!))
    if (error < best.error) best = { value: values[i]!, error }
  }
  return best
}
