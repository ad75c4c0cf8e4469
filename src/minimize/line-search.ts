/** The line search of Moré and Thuente: a step length with enough decrease and a small slope, by safeguarded cubic interpolation. */

/** A point on the line: the step length, the value and the slope there. */
export interface OnLine {
  readonly step: number
  readonly value: number
  readonly slope: number
}
/** What is asked of a step length. */
export interface Search {
  /** The value and the slope at a step length. */
  readonly at: (step: number) => { readonly value: number; readonly slope: number }
  /** The beginning of the line, step 0, where the slope is negative. */
  readonly start: { readonly value: number; readonly slope: number }
  readonly first: number
  readonly longest: number
  /** The share of the promised decrease that is enough. */
  readonly decrease: number
  /** The share of the first slope that may be left. */
  readonly curvature: number
  readonly maxTrials: number
}
/** Where the search ended, and whether the decrease and the slope there are what was asked for. */
export interface Found extends OnLine {
  readonly met: boolean
}
/** The interval that is searched: its end of the least value, its other end, and whether a minimum lies between them for certain. */
interface Interval {
  readonly best: OnLine
  readonly other: OnLine
  readonly bracketed: boolean
}

/** The minimum of the cubic with the values and slopes of two points, as far as it lies on the side of `b` from `a`; NaN if there is none. */
const cubic = (a: OnLine, b: OnLine): number => {
  const theta = (3 * (a.value - b.value)) / (b.step - a.step) + a.slope + b.slope
  const s = Math.max(Math.abs(theta), Math.abs(a.slope), Math.abs(b.slope))
  const gamma = Math.sign(b.step - a.step) * s * Math.sqrt(Math.max(0, (theta / s) ** 2 - (a.slope / s) * (b.slope / s)))
  return a.step + ((gamma - a.slope + theta) / (gamma - a.slope + gamma + b.slope)) * (b.step - a.step)
}
/** The minimum of the parabola with the slopes of two points. */
const secant = (a: OnLine, b: OnLine): number => b.step + (b.slope / (b.slope - a.slope)) * (a.step - b.step)
const nearer = (to: number, a: number, b: number): number => (Math.abs(a - to) < Math.abs(b - to) ? a : b)
const farther = (from: number, a: number, b: number): number => (Math.abs(a - from) > Math.abs(b - from) ? a : b)
const clip = (x: number, least: number, most: number): number => Math.min(most, Math.max(least, x))

/** The next length to try after the point `at`, and the interval with that point; what lies outside of the interval so far stays between `least` and `most`. */
const refined = ({ best, other, bracketed }: Interval, at: OnLine, least: number, most: number): Interval & { readonly step: number } => {
  if (at.value > best.value) {
    // higher: there is a minimum between the two
    const parabola = best.step + (best.slope / ((best.value - at.value) / (at.step - best.step) + best.slope) / 2) * (at.step - best.step)
    const c = cubic(best, at)
    return { best, other: at, bracketed: true, step: nearer(best.step, c, parabola) === c ? c : c + (parabola - c) / 2 }
  }
  if (at.slope * Math.sign(best.slope) < 0)
    // lower, and the slope has turned: between the two again
    return { best: at, other: best, bracketed: true, step: farther(at.step, cubic(at, best), secant(best, at)) }
  const moved = { best: at, other, bracketed }
  if (Math.abs(at.slope) >= Math.abs(best.slope))
    // lower, and the slope does not shrink
    return { ...moved, step: bracketed ? cubic(at, other) : at.step > best.step ? most : least }
  // lower, and the slope shrinks: the minimum of the cubic may lie behind
  const found = cubic(at, best)
  const c = (found - at.step) * (at.step - best.step) > 0 ? found : at.step > best.step ? most : least
  const s = secant(best, at)
  if (!bracketed) return { ...moved, step: clip(farther(at.step, c, s), least, most) }
  const limit = at.step + 0.66 * (other.step - at.step)
  const step = nearer(at.step, c, s)
  return { ...moved, step: at.step > best.step ? Math.min(limit, step) : Math.max(limit, step) }
}

/** Points as they are on the function less `slope` times the step. */
const tilted = (p: OnLine, slope: number): OnLine => ({ step: p.step, value: p.value - p.step * slope, slope: p.slope - slope })

/** The change of a value that rounding may hide or feign. */
export const rounding = (value: number): number => 16 * 2 ** -52 * Math.abs(value)

/**
 * A step length at which the value has decreased enough and the slope is small (the strong Wolfe conditions). Where rounding, the longest length or the number of trials ends the search
 * before, the lowest point that was found, which may be step 0. A length at which the value is not finite is halved. Values of the result are changes from the start; where rounding hides
 * a change, it is the one that the slopes give by the trapezoidal rule.   Source  Moré and Thuente 1994; the use of slopes: Hager and Zhang 2005.
 */
export const wolfe = ({ at, start, first, longest, decrease, curvature, maxTrials }: Search): Found => {
  const origin: OnLine = { step: 0, value: 0, slope: start.slope }
  const noise = rounding(start.value)
  const pointAt = (step: number): OnLine => {
    const { value, slope } = at(step)
    const [change, bySlopes] = [value - start.value, (step * (start.slope + slope)) / 2]
    return { step, value: Math.abs(change) <= noise && Math.abs(bySlopes) <= noise ? bySlopes : change, slope }
  }
  let interval: Interval = { best: origin, other: origin, bracketed: false }
  const promised = decrease * start.slope
  let [width, before] = [longest, 2 * longest]
  let steep = true
  let step = Math.min(first, longest)
  let most = longest
  let lowest = origin
  for (let trial = 0; trial < maxTrials; trial++) {
    const point = pointAt(step)
    if (!Number.isFinite(point.value) || !Number.isFinite(point.slope)) {
      most = step
      step = interval.best.step + (step - interval.best.step) / 2
      continue
    }
    if (point.value < lowest.value) lowest = point
    const enough = point.value <= step * promised
    if (enough && Math.abs(point.slope) <= -curvature * start.slope) return { ...point, met: true }
    if (step === most && enough && point.slope <= promised) return { ...point, met: true }
    if (enough && point.slope >= 0) steep = false
    const gone = step - interval.best.step
    const [least, end] = [Math.min(most, step + 1.1 * gone), Math.min(most, step + 4 * gone)]
    if (steep && !enough && point.value <= interval.best.value) {
      // lower, but not by enough: the function less what was promised is searched
      const next = refined(
        { best: tilted(interval.best, promised), other: tilted(interval.other, promised), bracketed: interval.bracketed },
        tilted(point, promised),
        least,
        end,
      )
      interval = { best: tilted(next.best, -promised), other: tilted(next.other, -promised), bracketed: next.bracketed }
      step = next.step
    } else {
      const next = refined(interval, point, least, end)
      interval = next
      step = next.step
    }
    const { best, other } = interval
    if (interval.bracketed) {
      const gap = Math.abs(other.step - best.step)
      if (gap >= 0.66 * before) step = best.step + 0.5 * (other.step - best.step)
      before = width
      width = gap
      const [low, high] = [Math.min(best.step, other.step), Math.max(best.step, other.step)]
      if (!(step > low && step < high)) step = (low + high) / 2
      if (!(step > low && step < high) || gap <= 0.1 * high) break
    } else step = clip(step, 0, most)
  }
  return { ...lowest, met: false }
}
