/** Robust losses: rho(z) of z, the square of a residual in units of its scale, which grows slower than z. */

/** rho, its derivative and its second derivative. */
export type Rho = (z: number) => readonly [value: number, first: number, second: number]
/** The losses by name.   Source  Triggs et al. 2000; the names are SciPy's. */
export const losses = {
  /** z: least squares. */
  squares: (z) => [z, 1, 0],
  /** z up to 1, then 2 sqrt(z) - 1. */
  huber: (z) => (z <= 1 ? [z, 1, 0] : [2 * Math.sqrt(z) - 1, 1 / Math.sqrt(z), -0.5 * z ** -1.5]),
  /** 2 (sqrt(1 + z) - 1). */
  softL1: (z) => [2 * (Math.sqrt(1 + z) - 1), 1 / Math.sqrt(1 + z), -0.5 * (1 + z) ** -1.5],
  /** log(1 + z). */
  cauchy: (z) => [Math.log1p(z), 1 / (1 + z), -1 / (1 + z) ** 2],
  /** arctan(z). */
  arctan: (z) => [Math.atan(z), 1 / (1 + z * z), (-2 * z) / (1 + z * z) ** 2],
} as const satisfies Readonly<Record<string, Rho>>
/** The names of losses. */
export type Loss = keyof typeof losses
