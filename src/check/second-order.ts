/** Second derivatives: forward over reverse, reverse over reverse, and differences of the gradient. */
import { asExpr, input, type Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import { pullback, pushforward } from '../modes/transform.js'
import type { Collector } from './findings.js'
import { derivative } from './finite-differences.js'
import { type Derived, dense, drawLike, evaluate, flat, inner, movedBy } from './subject.js'

/** H dx of <yBar, f> in both ways, against differences of the gradient; and <u, H v> = <v, H u>. */
export const checkSecondOrder = (d: Derived, directions: number, next: () => number, out: Collector): void => {
  const xBars = dense(d.xBars, d.wrt)
  const { tangents } = pushforward(d.registry, xBars, new Map(d.wrt.map((x, j) => [x, d.tangents[j]!])))
  const weights = d.wrt.map((x) => input(x.aval))
  const { cotangents } = pullback(d.registry, xBars, weights.map(asExpr), d.wrt)
  const notYet = [...tangents, ...cotangents].find((t) => t._tag === 'NotImplemented')
  if (notYet !== undefined) {
    if (notYet._tag === 'NotImplemented') out.notImplemented.push(`${notYet.rule}, second order: ${notYet.reason}`)
    return
  }
  const forward = dense(tangents, d.wrt)
  const reverse = dense(cotangents, d.wrt)
  for (let k = 0; k < directions; k++) {
    const [u, v] = [drawLike(d.wrt, next), drawLike(d.wrt, next)]
    const env = new Map(d.env)
    const set = (nodes: readonly Node[], values: readonly NDArray[]): void => {
      nodes.forEach((n, i) => {
        env.set(n, values[i]!)
      })
    }
    set(d.seeds, drawLike(d.outs, next))
    set(d.tangents, v)
    set(weights, u)
    const [flatU, flatV] = [flat(u), flat(v)]
    const pushed = flat(evaluate(forward, env))
    const pulled = flat(evaluate(reverse, env))
    const uHv = inner(flatU, pushed)
    const size = Math.max(1, Math.abs(uHv))
    out.near('second order', 'forward over reverse and reverse over reverse', [inner(flatV, pulled) / size], [uHv / size], 1e-10)
    set(d.tangents, u)
    out.near('second order', 'symmetric: <u, H v> and <v, H u>', [inner(flatV, flat(evaluate(forward, env))) / size], [uHv / size], 1e-10)
    const gradientAt = (t: number): number => {
      const at = movedBy(d, v, t)
      for (const s of d.seeds) at.set(s, env.get(s)!)
      return inner(flat(evaluate(xBars, at)), flatU)
    }
    const bend = derivative(gradientAt, d.scale)
    const scale = Math.max(1, Math.abs(bend.value))
    if (!(bend.error <= 1e-3 * scale)) {
      out.kinks.push(`${out.prefix}second order: differences of the gradient have an error of ${bend.error.toPrecision(2)}`)
      continue
    }
    const allowed = Math.max(10 * d.tolerance, (4 * bend.error) / scale)
    out.near('second order', 'forward over reverse and differences', [uHv / scale], [bend.value / scale], allowed)
  }
}
