/** Masked programs of a primitive at a sample: of what it does not read itself, and where it overflows. */
import { aval } from '../core/graph/aval.js'
import { asExpr, asNode, constant, input, linearize, type Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import { substitute } from '../core/graph/rewrite.js'
import { add, cbrt, mul, sqrt, sub, tanh, where } from '../core/ops/elementwise.js'
import { sliceAxis } from '../core/ops/layout/slice.js'
import type { AnyExpr } from '../core/types/expr.js'
import { pushforward } from '../modes/transform.js'
import { withAll } from './derivative.js'
import type { Collector } from './findings.js'
import { addsUp, contracts, Inputs, type Masked } from './masked.js'
import { type Derived, dense, derivativesOf, drawLike, evaluate, total } from './subject.js'

const NEAR = 2 ** -20
const ROOT = 2 ** -10
/** A number of which two overflow. */
const HUGE = 1e200

const of = (f: (...xs: AnyExpr[]) => AnyExpr, ...xs: readonly Node[]): Node => asNode(f(...xs.map(asExpr)))
const literal = (x: number): Node => constant(x, 'f64')
const choose = (mask: Node, a: Node, b: Node): Node => of(where as never, mask, a, b)

/** Which entries of each argument have no say in any result at this point. */
const unreadOf = (d: Derived, next: () => number): readonly (readonly boolean[])[] => {
  const xBars = dense(d.xBars!, d.wrt)
  const draws = [0, 1].map(() => evaluate(xBars, withAll(d.env, d.seeds, drawLike(d.seeds, next))))
  return d.wrt.map((_, j) => Array.from(draws[0]![j]!.data, (v, k) => v === 0 && draws[1]![j]!.data[k] === 0))
}
/** Two programs: what is not read is singular before; and it is used again where a mask hides it, so that both parts are added into one accumulator. */
// long: two programs over the same few helpers
const withoutSay = (d: Derived, unread: readonly (readonly boolean[])[]): readonly Masked[] => {
  const made = (
    what: string,
    before: (inputs: Inputs, j: number, none: readonly boolean[]) => readonly [Node, Node],
    more: (x: Node) => Node | undefined,
  ) => {
    const inputs = new Inputs()
    for (const [i, x] of d.inputs.entries())
      if (!d.active.includes(i)) inputs.list.push({ node: x, value: d.env.get(x)!, name: '', active: false })
    const pairs = d.wrt.map((_, j) => before(inputs, j, unread[j]!))
    const ys = (k: 0 | 1): Node[] => [
      ...substitute(d.outs, new Map(d.wrt.map((x, j) => [x, pairs[j]![k]]))),
      ...pairs.flatMap((p) => more(p[k]) ?? []),
    ]
    return { what, inputs: inputs.list, own: ys(0), other: ys(1), seeds: 'any' as const }
  }
  const nameOf = (j: number): string => d.paths[d.active[j]!]!
  const x0 = (j: number): ArrayLike<number> => d.env.get(d.wrt[j]!)!.data
  /** Like an argument, of these numbers where it is read and where it is not. */
  const numbers = (j: number, none: readonly boolean[], read: (x: number) => number, unreadNumber: (x: number) => number): Float64Array =>
    Float64Array.from(x0(j), (v, k) => (none[k] ? unreadNumber(v) : read(v)))
  const mask = (inputs: Inputs, j: number, none: readonly boolean[]): Node =>
    inputs.mask(
      none.map((n) => !n),
      d.wrt[j]!.shape,
    )
  const steep = made(
    'an infinite slope before what is not read',
    (inputs, j, none) => {
      const { shape } = d.wrt[j]!
      const m = mask(inputs, j, none)
      const x = inputs.moving(
        nameOf(j),
        shape,
        numbers(
          j,
          none,
          (v) => v - ROOT,
          (v) => v,
        ),
      )
      const t = inputs.moving(
        `the root's argument beside ${nameOf(j)}`,
        shape,
        numbers(
          j,
          none,
          () => NEAR,
          () => 0,
        ),
      )
      return [of(add as never, x, of(sqrt, t)), of(add as never, x, choose(m, of(sqrt, choose(m, t, literal(1))), literal(0)))]
    },
    () => undefined,
  )
  // A second use of the argument, of which nothing is seen: what is added into one accumulator.
  const infinite = made(
    'an infinite factor before what is not read, and is cut out behind a where',
    (inputs, j, none) => {
      const { shape } = d.wrt[j]!
      const rows = shape[0] ?? 0
      const row = none.length / Math.max(1, rows)
      // The last row is not in the part.
      const masked = none.map((n, k) => n && k < none.length - row)
      const m = mask(inputs, j, masked)
      const x = inputs.moving(
        nameOf(j),
        shape,
        Float64Array.from(x0(j), (v) => v - ROOT),
      )
      const t = inputs.moving(
        `the factor beside ${nameOf(j)}`,
        shape,
        Float64Array.from(x0(j), () => 1),
      )
      const c = inputs.still(
        shape,
        numbers(
          j,
          masked,
          () => 1,
          () => Number.POSITIVE_INFINITY,
        ),
      )
      const by = (u: Node): Node => of(mul as never, literal(ROOT), of(tanh, of(mul as never, t, u)))
      return [of(add as never, x, by(c)), of(add as never, x, choose(m, by(choose(m, c, literal(1))), literal(ROOT)))]
    },
    (x) =>
      x.shape.length === 0 || x.shape[0]! < 2 ? undefined : choose(constant(0, 'bool'), sliceAxis(x, 0, 0, x.shape[0]! - 1), literal(0)),
  )
  return [steep, infinite]
}

/** The primitive where it overflows, behind a where that leaves all of it out. */
const overflowing = (d: Derived): Masked => {
  const inputs = new Inputs()
  for (const [i, x] of d.inputs.entries())
    if (!d.active.includes(i)) inputs.list.push({ node: x, value: d.env.get(x)!, name: '', active: false })
  const xs = d.wrt.map((x, j) => inputs.moving(d.paths[d.active[j]!]!, x.shape, new Float64Array(x.aval.size).fill(HUGE)))
  const regular = d.wrt.map((x) => inputs.still(x.shape, d.env.get(x)!.data))
  const hidden = (args: readonly Node[]): Node[] =>
    substitute(d.outs, new Map(d.wrt.map((x, j) => [x, args[j]!]))).map((y) => choose(constant(0, 'bool'), y, literal(0)))
  return {
    what: 'where it overflows, behind a where',
    inputs: inputs.list,
    own: hidden(xs),
    other: hidden(xs.map((x, j) => choose(constant(0, 'bool'), x, regular[j]!))),
    seeds: 'any',
  }
}

/** What must hold of a primitive at a sample. */
export const maskedSample = (d: Derived, next: () => number): readonly Masked[] => {
  if (d.wrt.length === 0 || d.outs.length === 0) return []
  // A sum of nothing is a number, and so is a product with a 0.
  const counts =
    d.xBars !== undefined && !addsUp(dense(d.xBars, d.wrt), d.seeds) && d.wrt.every((x) => !d.env.get(x)!.data.includes(0 as never))
  const unread = counts ? unreadOf(d, next) : []
  // A contraction adds its products as numbers: an infinite one is not masked.
  const whole = contracts([...d.outs, ...derivativesOf(d)]) ? [] : [overflowing(d)]
  return [...(unread.some((u) => u.includes(true)) ? withoutSay(d, unread) : []), ...whole]
}

/**
 * A direction along which nothing changes is a direction all the same: cbrt(f - f(x)) has the derivative along it that it has along the line x + s d, where the
 * literal 1 is pushed. No entry of d is 0, so none of it is held still. Asked where one number is made of all: of parts it is not known which were given as 0.
 */
export const checkAlongLine = (d: Derived, out: Collector): void => {
  if (!d.modes.includes('forward') || d.wrt.length !== 1 || d.wrt[0]!.aval.size < 2 || total(d.outs) !== 1) return
  // Of a sum of one's own nothing is known.
  if (
    d.dys === undefined ||
    !linearize(dense(d.dys, d.outs)).nodes.some((n) => n.prim?.structure?.kind === 'fold' && n.prim.structure.by === 'sum')
  )
    return
  const x = d.wrt[0]!
  const size = x.aval.size
  // Its sum is 0, exactly.
  const along = Float64Array.from({ length: size }, (_, k) =>
    k < size - 3 || size % 2 === 0 ? (k % 2 === 0 ? 1 : -1) : k === size - 1 ? -2 : 1,
  )
  const dx: NDArray = { shape: x.shape, dtype: 'f64', data: along }
  const values = evaluate(d.outs, d.env)
  const ends = values.map((v) => input(aval(v.shape, 'f64')))
  const singular = (ys: readonly Node[]): Node[] => ys.map((y, i) => of(cbrt, of(sub as never, y, ends[i]!)))
  const [t, direction] = [input(aval([], 'f64')), input(x.aval)]
  const line = of(add as never, x, of(mul as never, t, direction))
  const given = pushforward(d.registry, singular(d.outs), new Map([[x, direction]])).tangents
  const moved = pushforward(d.registry, singular(substitute(d.outs, new Map([[x, line]]))), new Map([[t, literal(1)]])).tangents
  if ([...given, ...moved].some((y) => y._tag === 'NotImplemented')) return
  const env = withAll(withAll(d.env, [t, direction], [{ shape: [], dtype: 'f64', data: new Float64Array(1) }, dx]), ends, values)
  const want = evaluate(dense(moved, d.outs), env)
  evaluate(dense(given, d.outs), env).forEach((v, i) => {
    out.near('non-finite', `result ${i}`, v.data, want[i]!.data, 1e-9, undefined, {
      shape: v.shape,
      how: 'forward, along a direction of sum 0 against a line',
    })
  })
}
