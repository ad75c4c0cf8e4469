/** Second derivatives: forward over reverse, reverse over reverse, and differences of the gradient. */
import { asExpr, input, type Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import { pullback, pushforward } from '../modes/transform.js'
import { direction, flatNoise, innerNoise, slopesBy } from './derivative.js'
import { ALL, type Collector } from './findings.js'
import { type Derived, dense, drawLike, evaluate, flat, inner, movedBy } from './subject.js'

/** H dx of <yBar, f> in both ways, against differences of the gradient; and <u, H v> = <v, H u>. */
export const checkSecondOrder = (d: Derived, directions: number, next: () => number, out: Collector): void => {
  if (d.dys === undefined || d.xBars === undefined) return
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
    const [u, v] = [drawLike(d.wrt, next), direction(d, next)]
    const yBar = drawLike(d.outs, next)
    const at = (dx: readonly NDArray[], weight: readonly NDArray[]): Map<Node, NDArray> => {
      const env = new Map(d.env)
      const set = (nodes: readonly Node[], values: readonly NDArray[]): void => {
        nodes.forEach((n, i) => {
          env.set(n, values[i]!)
        })
      }
      set(d.seeds, yBar)
      set(d.tangents, dx)
      set(weights, weight)
      return env
    }
    const [flatU, flatV] = [flat(u), flat(v)]
    /** <other, H dx> with how far rounding may move it. */
    const product = (programs: readonly Node[], env: Map<Node, NDArray>, other: Float64Array) => {
      const terms = flat(evaluate(programs, env))
      return { value: inner(terms, other), moves: () => innerNoise(terms, other, flatNoise(programs, env)) }
    }
    const uHv = product(forward, at(v, u), flatU)
    const vHu = product(reverse, at(v, u), flatV)
    const symmetric = product(forward, at(u, v), flatV)
    if (![uHv, vHu, symmetric].every((p) => Number.isFinite(p.value))) {
      if (Object.is(uHv.value, vHu.value)) out.undecidedAt(ALL, `the second derivative is ${uHv.value}`, { how: 'second order' })
      else
        out.near('second order', ALL, [vHu.value], [uHv.value], 0, undefined, { how: 'reverse over reverse against forward over reverse' })
      continue
    }
    const both = (p: typeof uHv, how: string): void =>
      out.near('second order', ALL, [p.value], [uHv.value], 1e-10, () => [p.moves() + uHv.moves()], { how })
    both(vHu, 'reverse over reverse against forward over reverse')
    both(symmetric, 'the Hessian is symmetric: <v, H u> against <u, H v>')
    const env0 = at(v, u)
    const gradientAt = (t: number): readonly number[] => {
      const env = movedBy(d, v, t)
      for (const s of d.seeds) env.set(s, env0.get(s)!)
      return [inner(flat(evaluate(xBars, env)), flatU)]
    }
    const noise = (): number => innerNoise(flat(evaluate(xBars, env0)), flatU, flatNoise(xBars, env0))
    const { first, again } = slopesBy(gradientAt, d, noise)
    const place = { how: 'along a direction; differences of the gradient' }
    out.holds('second order', ALL, 0, uHv.value, first[0]!, 10 * d.tolerance, { rounding: uHv.moves, again: again(0), place })
  }
}
