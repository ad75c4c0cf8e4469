/** The simplex of Nelder and Mead, for functions without a useful gradient. */
import type { Box } from './bounds.js'
import { intoBox } from './lbfgs.js'
import type { Objective } from './objective.js'
import type { Ended, Limits, Reason } from './result.js'

interface Vertex {
  readonly x: Float64Array
  readonly value: number
}

/** Minimises by a simplex whose coefficients depend on the dimension; values that are not finite count as the highest.   Source  Nelder and Mead 1965; Gao and Han 2012. */
export const nelderMeadMethod = (
  of: Pick<Objective, 'value'>,
  x0: Float64Array,
  box: Box | undefined,
  { tolerance, maxSteps, onStep }: Limits,
): Ended => {
  const n = x0.length
  const [expand, contract, shrink] = n === 1 ? [2, 0.5, 0.5] : [1 + 2 / n, 0.75 - 1 / (2 * n), 1 - 1 / n]
  const vertex = (given: Float64Array): Vertex => {
    const x = intoBox(given, box)
    const value = of.value(x)
    return { x, value: Number.isNaN(value) ? Number.POSITIVE_INFINITY : value }
  }
  const begin = vertex(x0)
  const simplex = [begin]
  for (let i = 0; i < n; i++) {
    const x = Float64Array.from(begin.x)
    const by = x[i] === 0 ? 0.00025 : 0.05 * x[i]!
    x[i] = x[i]! + by
    // at a bound the simplex begins on its other side
    if (box !== undefined && (x[i]! > box.upper[i]! || x[i]! < box.lower[i]!)) x[i] = x[i]! - 2 * by
    simplex.push(vertex(x))
  }
  const history = [begin.value]
  let steps = 0
  const ordered = (): void => {
    simplex.sort((a, b) => a.value - b.value)
  }
  ordered()
  const ended = (reason: Reason): Ended => ({
    x: simplex[0]!.x,
    value: simplex[0]!.value,
    gradient: Number.NaN,
    steps,
    reason,
    history,
  })
  for (;;) {
    const [best, worst] = [simplex[0]!, simplex[n]!]
    let spread = 0
    for (const { x } of simplex)
      for (let i = 0; i < n; i++) spread = Math.max(spread, Math.abs(x[i]! - best.x[i]!) / Math.max(1, Math.abs(best.x[i]!)))
    if (spread <= tolerance && worst.value - best.value <= tolerance * Math.max(1, Math.abs(best.value))) return ended('simplex')
    if (steps >= maxSteps) return ended('maxSteps')
    const centre = new Float64Array(n)
    for (let k = 0; k < n; k++) for (let i = 0; i < n; i++) centre[i] = centre[i]! + simplex[k]!.x[i]! / n
    const at = (by: number): Vertex => vertex(centre.map((c, i) => c + by * (c - worst.x[i]!)))
    const reflected = at(1)
    const second = simplex[n - 1]!
    let taken: Vertex | undefined
    if (reflected.value < best.value) {
      const further = at(expand)
      taken = further.value < reflected.value ? further : reflected
    } else if (reflected.value < second.value) taken = reflected
    else {
      const inner = reflected.value < worst.value ? at(contract) : at(-contract)
      if (inner.value < Math.min(reflected.value, worst.value)) taken = inner
    }
    if (taken !== undefined) simplex[n] = taken
    else for (let k = 1; k <= n; k++) simplex[k] = vertex(simplex[k]!.x.map((v, i) => best.x[i]! + shrink * (v - best.x[i]!)))
    ordered()
    steps++
    history.push(simplex[0]!.value)
    if (!onStep(steps, simplex[0]!.value, Number.NaN, simplex[0]!.x)) return ended('stopped')
  }
}
