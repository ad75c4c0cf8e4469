/** Taylor series of a program along a curve, against forward mode within forward mode. */
import { Series } from '../core/calculus/taylor.js'
import { aval } from '../core/graph/aval.js'
import { asExpr, asNode, constant, input, linearize, type Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import { substitute } from '../core/graph/rewrite.js'
import { ZeroTangent } from '../core/graph/tangent.js'
import { add, mul } from '../core/ops/elementwise.js'
import { pushforward, seriesThrough } from '../modes/transform.js'
import { taylorOf } from '../rules/taylor.js'
import { roundingOf } from './derivative.js'
import type { Collector } from './findings.js'
import { bind, type Derived, dense, drawLike, evaluate } from './subject.js'
import { unlessUnknown } from './unknown.js'

const ORDER = 4
/** Derivatives of derivatives of more nodes than this are not made. */
const LARGEST = 3000
/** Both round, and each order loses some digits. */
const TOLERANCE = 1e-9

/** Derivatives of 1, 2 ... along x + t dx + t^2 ddx at t = 0, each the tangent of the one before. */
const nested = (d: Derived, dx: readonly Node[], ddx: readonly Node[], t: Node, out: Collector): readonly (readonly Node[])[] => {
  const along = (x: Node, i: number): Node => asNode(add(asExpr(x), mul(asExpr(t), add(asExpr(dx[i]!), mul(asExpr(t), asExpr(ddx[i]!))))))
  let ys: readonly Node[] = substitute(d.outs, new Map(d.wrt.map((x, i) => [x, along(x, i)])))
  const orders: (readonly Node[])[] = []
  for (let k = 0; k < ORDER; k++) {
    const made = unlessUnknown(() => dense(pushforward(d.registry, ys, new Map([[t, constant(1, 'f64')]])).tangents, ys))
    if (made === undefined) break
    if (linearize(made).nodes.length > LARGEST) {
      if (k === 0) out.looking.without(`Taylor mode: the derivative has more than ${LARGEST} nodes`)
      break
    }
    orders.push(made)
    ys = made
  }
  return orders
}

/** The coefficients of Taylor mode, times k!, are the derivatives along a curve, up to the fourth. */
export const checkJet = (d: Derived, next: () => number, out: Collector): void => {
  if (!d.modes.includes('forward') || d.wrt.length === 0 || d.outs.length === 0 || !out.on('jet')) return
  const [dx, ddx] = [d.wrt.map((x) => input(x.aval)), d.wrt.map((x) => input(x.aval))]
  const t = input(aval([], 'f64'))
  const orders = nested(d, dx, ddx, t, out)
  if (orders.length === 0) return
  const known = new Map(
    d.wrt.map((x, i) => [x, new Series(asExpr(x), (k) => (k === 1 ? asExpr(dx[i]!) : k === 2 ? asExpr(ddx[i]!) : ZeroTangent))] as const),
  )
  const series = unlessUnknown(() => seriesThrough(d.registry, d.outs, known, orders.length, taylorOf))
  if (series === undefined) return
  const zero: NDArray = { shape: [], dtype: 'f64', data: Float64Array.of(0) }
  const env = new Map([...d.env, ...bind(dx, drawLike(dx, next)), ...bind(ddx, drawLike(ddx, next)), [t, zero] as const])
  let factorial = 1
  orders.forEach((want, k) => {
    factorial *= k + 1
    const got = dense(
      series.map((s) => s.at(k + 1)),
      d.outs,
    )
    const rounding = roundingOf([...got, ...want], env)
    const exact = evaluate(want, env)
    evaluate(got, env).forEach((v, i) => {
      const bound = (): ArrayLike<number> => {
        const [a, b] = [rounding(i)(), rounding(got.length + i)()]
        return Float64Array.from(a, (x, j) => factorial * x + b[j]!)
      }
      const place = { shape: v.shape, how: `order ${k + 1}, Taylor mode against forward mode within itself` }
      const scaled = Float64Array.from(v.data, (x) => factorial * x)
      // Where the function has no such derivative both may say anything.
      if (exact[i]!.data.every(Number.isFinite)) out.near('jet', `result ${i}`, scaled, exact[i]!.data, TOLERANCE, bound, place)
    })
  })
}
