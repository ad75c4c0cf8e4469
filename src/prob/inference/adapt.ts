/** What is learned during warm-up: the step size by dual averaging, the mass matrix from the draws of growing windows. The schedule and the constants are those of Stan. */
import { denseMass, diagonalMass, type Mass } from './mass.js'

/** Dual averaging (Hoffman and Gelman 2014, 3.2): a step size whose mean acceptance is `target`. */
export interface StepSize {
  readonly current: () => number
  /** The average, which holds after warm-up. */
  readonly averaged: () => number
  readonly update: (acceptance: number) => void
  readonly restart: (stepSize: number) => void
}
export const dualAveraging = (target: number, stepSize: number): StepSize => {
  const [gamma, t0, kappa] = [0.05, 10, 0.75]
  let [mu, count, bar, logStep, logAverage] = [0, 0, 0, 0, 0]
  const restart = (step: number): void => {
    ;[mu, count, bar, logStep, logAverage] = [Math.log(10 * step), 0, 0, Math.log(step), 0]
  }
  restart(stepSize)
  return {
    restart,
    current: () => Math.exp(logStep),
    averaged: () => (count === 0 ? Math.exp(logStep) : Math.exp(logAverage)),
    update: (acceptance) => {
      count++
      const eta = 1 / (count + t0)
      bar = (1 - eta) * bar + eta * (target - acceptance)
      logStep = mu - (bar * Math.sqrt(count)) / gamma
      const weight = count ** -kappa
      logAverage = weight * logStep + (1 - weight) * logAverage
    },
  }
}

/** Means and covariances of draws as they come (Welford 1962). */
export interface Moments {
  readonly add: (x: Float64Array) => void
  readonly clear: () => void
  /** The mass matrix of the draws so far, drawn towards a small multiple of the identity; undefined of fewer than two, or if it cannot be factored. */
  readonly mass: () => Mass | undefined
}
export const momentsOf = (n: number, dense: boolean): Moments => {
  const mean = new Float64Array(n)
  const squares = new Float64Array(dense ? n * n : n)
  const before = new Float64Array(n)
  let count = 0
  return {
    clear: () => {
      count = 0
      mean.fill(0)
      squares.fill(0)
    },
    add: (x) => {
      count++
      for (let i = 0; i < n; i++) {
        before[i] = x[i]! - mean[i]!
        mean[i] = mean[i]! + before[i]! / count
      }
      if (dense) {
        for (let i = 0; i < n; i++) {
          const d = x[i]! - mean[i]!
          for (let j = 0; j < n; j++) squares[i * n + j] = squares[i * n + j]! + d * before[j]!
        }
      } else for (let i = 0; i < n; i++) squares[i] = squares[i]! + before[i]! * (x[i]! - mean[i]!)
    },
    mass: () => {
      if (count < 2) return undefined
      const weight = count / ((count + 5) * (count - 1))
      const shrunk = squares.map((v) => v * weight)
      for (let i = 0; i < n; i++) {
        const at = dense ? i * n + i : i
        shrunk[at] = shrunk[at]! + (1e-3 * 5) / (count + 5)
      }
      if (!shrunk.every((v) => Number.isFinite(v))) return undefined
      return dense ? denseMass(shrunk, n) : diagonalMass(shrunk)
    },
  }
}

/** When the mass matrix learns: from which step of the warm-up, and after which steps it is made anew. */
export interface Schedule {
  readonly from: number
  readonly ends: ReadonlySet<number>
  /** The step from which it learns nothing any more. */
  readonly to: number
}
/** Stan's windows: a start in which only the step size moves, windows of 25, 50, 100 ... steps, and an end for the step size alone. */
export const scheduleOf = (warmup: number): Schedule => {
  if (warmup < 20) return { from: warmup, ends: new Set(), to: warmup }
  const short = warmup < 150
  const from = short ? Math.floor(0.15 * warmup) : 75
  const last = short ? Math.floor(0.1 * warmup) : 50
  const to = warmup - last
  const ends = new Set<number>()
  let [begin, size] = [from, short ? to - from : 25]
  while (begin < to) {
    // A window takes the rest if no window of twice its size would fit after it.
    const end = begin + size + 2 * size > to ? to : begin + size
    ends.add(end - 1)
    begin = end
    size *= 2
  }
  return { from, ends, to }
}
