/** The augmented Lagrangian: constraints become part of the function, with multipliers that are found on the way. */
import { type AnyExpr, add, compile, div, f64, fn, maximum, mul, square, sub, sum, type Tensor, tensor, valueAndGrad } from '../index.js'
import type { Box } from './bounds.js'
import { type Constraints, checkConstraints, type EndedWithin, flat } from './constraints.js'
import { lbfgsMethod } from './lbfgs.js'
import { checkGradient, type Objective, type Point } from './objective.js'
import type { Limits, Reason } from './result.js'

interface Compiled {
  dispose(): void
}
/**
 * Minimises f + sum(l h + mu/2 h^2) + sum(max(0, m + mu g)^2 - m^2) / (2 mu) again and again, each time with better multipliers l and m; mu grows where the constraints are not met.
 * Source  Nocedal and Wright 2006, 17.4.
 */
export const constrainedMethod = (...given: Given): EndedWithin => {
  const held: Compiled[] = []
  try {
    return search(
      (x) => {
        held.push(x)
        return x
      },
      ...given,
    )
  } finally {
    for (const x of held) x.dispose()
  }
}
type Given = [
  f: (x: unknown) => AnyExpr,
  constraints: Constraints,
  point: Point,
  box: Box | undefined,
  memory: number,
  limits: Limits,
  /** Counts an evaluation of the gradient; the number so far. */
  count: () => number,
  op: string,
]
const search = (
  hold: <T extends Compiled>(x: T) => T,
  ...[f, { equal, atMost }, point, box, memory, limits, count, op]: Given
): EndedWithin => {
  const n = point.start.length
  const compiledParts = compile(
    fn({ x: f64(n) }, ({ x }) => {
      const tree = point.inside(x as AnyExpr)
      return { f: f(tree) as never, h: flat(equal, tree, op, 'constraints.equal'), g: flat(atMost, tree, op, 'constraints.atMost') }
    }),
  ) as unknown as ((args: unknown) => { f: Tensor; h: Tensor; g: Tensor }) & Compiled
  const parts = hold(compiledParts)
  const first = parts({ x: point.start })
  const [nh, ng] = [first.h.shape[0]!, first.g.shape[0]!]
  checkConstraints(first.h.data as Float64Array, first.g.data as Float64Array, op)
  const augmented = compile(
    fn({ x: f64(n), l: f64(nh), m: f64(ng), mu: f64() }, ({ x, l, m, mu }) => {
      const lagrangian = (v: AnyExpr): AnyExpr => {
        const tree = point.inside(v)
        let total = f(tree) as AnyExpr
        if (nh > 0) {
          const h = flat(equal, tree, op, 'constraints.equal')
          total = add(total, add(sum(mul(l, h)), mul(mul(0.5, mu), sum(square(h))))) as AnyExpr
        }
        if (ng > 0) {
          const active = maximum(0, add(m, mul(mu, flat(atMost, tree, op, 'constraints.atMost'))))
          total = add(total, mul(sum(sub(square(active), square(m))), div(0.5, mu))) as AnyExpr
        }
        return total
      }
      return (valueAndGrad(lagrangian as never) as unknown as (v: AnyExpr) => { value: AnyExpr; grad: AnyExpr })(x as AnyExpr) as never
    }),
  )
  hold(augmented as unknown as Compiled)
  const result = { value: tensor(0), grad: tensor(new Float64Array(n)) }
  const run = (augmented as unknown as { into(outputs: unknown): (args: unknown) => unknown }).into(result)
  const [l, m] = [new Float64Array(nh), new Float64Array(ng)]
  let mu = 10
  const lagrangian: Pick<Objective, 'gradient'> = {
    gradient: (x, into) => {
      run({ x, l, m, mu })
      into.set(result.grad.data)
      if (count() === 1) checkGradient(into, op)
      return result.value.item()
    },
  }
  /** The greatest miss: of an inequality, what counts is that it holds and that its multiplier is 0 where it holds with room. */
  const missed = (h: Float64Array, g: Float64Array): { readonly violation: number; readonly slack: number } => {
    let [violation, slack] = [0, 0]
    for (const v of h) violation = Math.max(violation, Math.abs(v))
    g.forEach((v, i) => {
      violation = Math.max(violation, v)
      slack = Math.max(slack, Math.abs(Math.max(v, -m[i]! / mu)))
    })
    return { violation, slack: Math.max(violation, slack) }
  }
  let x: Float64Array = Float64Array.from(point.start)
  let [steps, omega, eta] = [0, 0.1, 10 ** -0.1]
  const history = [first.f.item()]
  const { tolerance } = limits
  let going = true
  for (;;) {
    const inner = lbfgsMethod(lagrangian, x, box, memory, {
      tolerance: Math.max(omega, tolerance),
      maxSteps: limits.maxSteps - steps,
      onStep: (_, value, gradient, at) => {
        steps++
        history.push(value)
        going = limits.onStep(steps, value, gradient, at)
        return going
      },
    })
    x = inner.x
    const now = parts({ x })
    const [h, g] = [now.h.data as Float64Array, now.g.data as Float64Array]
    const { violation, slack } = missed(h, g)
    const met = slack <= Math.max(eta, tolerance)
    if (met) {
      for (let i = 0; i < nh; i++) l[i] = l[i]! + mu * h[i]!
      for (let i = 0; i < ng; i++) m[i] = Math.max(0, m[i]! + mu * g[i]!)
    }
    const ended = (reason: Reason): EndedWithin => ({
      x,
      value: now.f.item(),
      gradient: inner.gradient,
      steps,
      reason,
      history,
      multipliers: { equal: l, atMost: m },
      violation,
    })
    if (!going) return ended('stopped')
    // where rounding ends a search, the next one would end there too
    if (slack <= tolerance && (inner.gradient <= tolerance || inner.reason === 'rounding'))
      return ended(inner.gradient <= tolerance ? 'gradient' : 'rounding')
    if (steps >= limits.maxSteps) return ended('maxSteps')
    if (met) {
      eta = Math.max(eta / mu ** 0.9, tolerance)
      omega = Math.max(omega / mu, tolerance)
      continue
    }
    if (mu >= 1e12) return ended('infeasible')
    mu *= 10
    eta = mu ** -0.1
    omega = 1 / mu
  }
}
