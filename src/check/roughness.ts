/** How far rounding inside a function moves its values. The function is opaque, but a continuous function has no jumps, and a rounded one has. */

/** Jumps beyond this, relative to the larger of 1 and the value, are the function's own. */
const LARGEST = 2 ** -28
/** Distances within which jumps are looked for: each so many times the one before, the first so many powers below the step of differences. */
const RATIO = 4
const NEARER = 4
/** So many of them, from the first at which the value changes. */
const DISTANCES = 3
const HALVINGS = 64
/** Rounding moves a value by up to this many of the largest jump found: not all are seen. */
export const JUMPS = 4

/** The largest rounding of values of this size that is taken for one. */
export const largestRounding = (size: number): number => LARGEST * Math.max(1, size)

/** The jump that halving ends at: always towards the half over which the value changes most. */
const jumpWithin = (f: (t: number) => number, far: number, at0: number, atFar: number): number => {
  let [a, b, fa, fb] = [0, far, at0, atFar]
  for (let k = 0; k < HALVINGS; k++) {
    const m = (a + b) / 2
    if (m === a || m === b) break
    const fm = f(m)
    if (!Number.isFinite(fm)) break
    if (Math.abs(fm - fa) >= Math.abs(fb - fm)) [b, fb] = [m, fm]
    else [a, fa] = [m, fm]
  }
  return Math.abs(fb - fa)
}

/**
 * The largest jump of f beside 0 that is small enough to be rounding. The values of a rounded function lie on a staircase: over less than one of its steps they do
 * not change, whatever the slope. Jumps are looked for on both sides, from a fraction of `step` outwards, up to `reach`.
 *
 * Source  the noise of computed functions: J. J. More and S. M. Wild, Estimating Computational Noise, 2011.
 */
export const roughness = (f: (t: number) => number, step: number, reach: number): number => {
  const at0 = f(0)
  let rough = 0
  if (!Number.isFinite(at0)) return rough
  for (const sign of [1, -1]) {
    let seen = 0
    for (let far = step * RATIO ** -NEARER; seen < DISTANCES && far <= Math.max(reach, step); far *= RATIO) {
      const value = f(sign * far)
      if (!Number.isFinite(value)) break
      if (value === at0) continue
      seen++
      const jump = jumpWithin(f, sign * far, at0, value)
      if (jump <= largestRounding(Math.max(Math.abs(at0), Math.abs(value)))) rough = Math.max(rough, jump)
    }
  }
  return rough
}
