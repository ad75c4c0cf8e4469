/** Second derivatives: those of the gradient, checked as any function's are; and the Hessian is symmetric. */
import { isAdException } from '../core/errors/error.js'
import type { Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import type { Forced } from '../core/graph/tangent.js'
import { pushforward } from '../modes/transform.js'
import { checkDirections, checkJacobian, flatNoise, innerNoise } from './derivative.js'
import type { Collector } from './findings.js'
import { kinkAmong } from './kinks.js'
import { ALL } from './mistakes.js'
import { type Derived, dense, derive, direction, drawLike, evaluate, flat, inner, type Subject, stopsOf, total } from './subject.js'

/** Hessians of at most this many rows are compared entry by entry. */
const SMALL = 32

/** What a derivative of second order lacks: what a rule says of it, or undefined. */
const lacking = (build: () => Derived): NotImplementedError | undefined => {
  try {
    const { dys = [], xBars = [] } = build()
    const t = [...dys, ...xBars].find((v) => v._tag === 'NotImplemented')
    return t?._tag === 'NotImplemented' ? t : undefined
  } catch (e) {
    // Of a first derivative that is made of what has none.
    if (isAdException(e) && e.error._tag === 'NotImplemented') return e.error
    throw e
  }
}
type NotImplementedError = { readonly rule: string; readonly reason: string }
type Given = Derived & { readonly dys: readonly Forced[]; readonly xBars: readonly Forced[] }

/** The derivative of the gradient of <yBar, f>, as a subject. */
const gradientOf = (d: Given, yBar: readonly NDArray[]): Derived =>
  derive(
    alongSeeds(d, dense(d.xBars, d.wrt), d.seeds, yBar, (i) => `the cotangent of result ${i}`),
    stopsOf(d),
  )
/** d by those arguments that have second derivatives; the others are told of. */
const knownTwice = (d: Given, yBar: readonly NDArray[], out: Collector): Given | undefined => {
  const lack = lacking(() => gradientOf(d, yBar))
  if (lack === undefined) return d
  out.notImplemented.push(`${lack.rule}, second order: ${lack.reason}`)
  const by = (active: readonly number[]): Given => derive({ ...d, active }) as Given
  const lacks = (given: Given): boolean => lacking(() => gradientOf(given, yBar)) !== undefined
  const active = d.active.filter((i) => !lacks(by([i])))
  const rest = active.length === 0 ? undefined : by(active)
  return rest === undefined || lacks(rest) ? undefined : rest
}

/** The derivative of the gradient of <yBar, f>: forward over reverse and reverse over reverse against differences, and <u, H v> = <v, H u>. */
export const checkSecondOrder = (given: Derived, directions: number, next: () => number, out: Collector): void => {
  if (given.dys === undefined || given.xBars === undefined) return
  const drawn = drawLike(given.outs, next)
  // Of a scalar function its own second derivative, not one of a multiple.
  const yBar = total(given.outs) === 1 ? drawn.map((v) => ({ ...v, data: new Float64Array(v.data.length).fill(1) })) : drawn
  const d = knownTwice(given as Given, yBar, out)
  if (d === undefined) return
  const gradient = gradientOf(d, yBar)
  const kink = kinkAmong(d)
  const excuse = kink === undefined ? undefined : `${kink.name} lies on a kink, where a derivative is a convention`
  out.under('second order', excuse, () => {
    const kinked = checkDirections(gradient, directions, next, out)
    if (total(gradient.wrt) <= SMALL) checkJacobian(gradient, out, kinked)
    // Forward over forward: the tangents of results, by the arguments and by their tangents.
    const dx = direction(d, next)
    const forward = derive(
      alongSeeds(d, dense(d.dys, d.outs), d.tangents, dx, (i) => `the tangent of ${d.paths[d.active[i]!]}`),
      stopsOf(d),
    )
    if (![...(forward.dys ?? []), ...(forward.xBars ?? [])].some((t) => t._tag === 'NotImplemented')) checkDirections(forward, 1, next, out)
    checkSymmetry(d, gradient, next, out)
  })
}

/** Derivative programs of a subject as functions of its arguments and of their seeds. */
const alongSeeds = (
  d: Derived,
  ys: readonly Node[],
  seeds: readonly Node[],
  values: readonly NDArray[],
  path: (i: number) => string,
): Subject => ({
  ...d,
  ys,
  inputs: [...d.inputs, ...seeds],
  values: [...d.inputs.map((x) => d.env.get(x)!), ...values],
  paths: [...d.paths, ...seeds.map((_, i) => path(i))],
  active: [...d.active, ...seeds.map((_, i) => d.inputs.length + i)],
  tolerance: 10 * d.tolerance,
})

const checkSymmetry = (d: Derived, gradient: Derived, next: () => number, out: Collector): void => {
  const xBars = gradient.outs
  const pushed = dense(pushforward(d.registry, dense(d.xBars!, d.wrt), new Map(d.wrt.map((x, j) => [x, d.tangents[j]!]))).tangents, d.wrt)
  if (xBars.length === 0) return
  const [u, v] = [direction(d, next), direction(d, next)]
  const product = (along: readonly NDArray[], other: readonly NDArray[]) => {
    const env = new Map<Node, NDArray>(gradient.env)
    d.tangents.forEach((t, i) => {
      env.set(t, along[i]!)
    })
    const terms = flat(evaluate(pushed, env))
    const weight = flat(other)
    return { value: inner(terms, weight), moves: () => innerNoise(terms, weight, flatNoise(pushed, env)) }
  }
  const [a, b] = [product(v, u), product(u, v)]
  if (Number.isFinite(a.value) && Number.isFinite(b.value))
    out.near('second order', ALL, [b.value], [a.value], 1e-10, () => [a.moves() + b.moves()], {
      how: 'the Hessian is symmetric: <v, H u> against <u, H v>',
    })
}
