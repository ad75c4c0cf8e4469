/** Masked programs of an elementwise primitive: at arguments where it, or a derivative of it, is infinite or has no value, and nothing is seen of them. */
import type { Registry } from '../core/calculus/rule.js'
import { isFloat } from '../core/graph/aval.js'
import { applyAny, asExpr, asNode, constant, input, type Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import type { AnyPrimitive, Sample } from '../core/graph/primitive.js'
import { NoTangent, type Tangent, unthunk, ZeroTangent } from '../core/graph/tangent.js'
import { add, mul, square, sub, where } from '../core/ops/elementwise.js'
import { gatherNode } from '../core/ops/indexing/gather.js'
import { concatNode } from '../core/ops/layout/join.js'
import { broadcastNode } from '../core/ops/layout/move.js'
import { sliceAxis } from '../core/ops/layout/slice.js'
import { iotaNode } from '../core/ops/positions.js'
import type { AnyExpr } from '../core/types/expr.js'
import { configOf } from '../modes/transform.js'
import type { Collector } from './findings.js'
import { checkMasked, checkOnes, checkOrders, Inputs, type Masked } from './masked.js'
import { bind, evaluate, type Mode } from './subject.js'

/** Where partials of many functions are infinite. */
const ENDS = [0, 1, -1, 1000]
const LITERALS = [0, 1, -1, 2, 0.5]

const of = (f: (...xs: AnyExpr[]) => AnyExpr, ...xs: readonly Node[]): Node => asNode(f(...xs.map(asExpr)))
const literal = (x: number): Node => constant(x, 'f64')

/** All combinations of ends, the regular point first. */
const combinations = (regular: readonly number[], ends: readonly (readonly number[])[]): readonly (readonly number[])[] => {
  let all: readonly (readonly number[])[] = [[]]
  for (const list of ends) all = all.flatMap((xs) => list.map((x) => [...xs, x]))
  return [regular, ...all]
}

export interface Elementwise {
  readonly prim: AnyPrimitive
  readonly sample: Sample
  /** A regular point: what a sample drew. */
  readonly values: readonly NDArray[]
}

/** Its arguments as rows of points, of which the first alone is seen. */
class Rows {
  readonly inputs = new Inputs()
  readonly mask: Node
  readonly size: number
  constructor(
    private readonly e: Elementwise,
    readonly what: string,
    private readonly points: readonly (readonly number[])[],
    private readonly floats: readonly number[],
    seen = (row: number): boolean => row === 0,
  ) {
    this.size = points.length
    this.mask = this.inputs.mask(points.map((_, k) => seen(k)))
  }
  choose(a: Node, b: Node): Node {
    return of(where as never, this.mask, a, b)
  }
  regular(j: number): Node {
    return literal(this.points[0]![j]!)
  }
  /** The j-th float argument. */
  moving(j: number): Node {
    return this.inputs.moving(
      `argument ${this.floats[j]}`,
      [this.size],
      this.points.map((p) => p[j]!),
    )
  }
  still(j: number): Node {
    return this.inputs.still(
      [this.size],
      this.points.map((p) => p[j]!),
    )
  }
  apply(xs: readonly Node[]): Node {
    const { prim, sample, values } = this.e
    const args = sample.args.map((_, i) => {
      const j = this.floats.indexOf(i)
      const v = values[i]!
      return j >= 0 ? xs[j]! : broadcastNode(constant(Number(v.data[0] ?? 0), v.dtype), [this.size])
    })
    const [y] = applyAny(prim, args, sample.params)
    return y!.shape.length === 0 ? broadcastNode(y!, [this.size]) : y!
  }
  program(own: readonly Node[], other: readonly Node[], seeds: Masked['seeds'] = 'any'): Masked {
    return { what: this.what, inputs: this.inputs.list, own, other, seeds }
  }
}

/** Its float arguments, a regular point and its ends; nothing where it has other results, or arguments of another dtype. */
interface Ends {
  readonly e: Elementwise
  readonly floats: readonly number[]
  readonly regular: readonly number[]
  /** Points at which it may be singular, after the regular one. */
  readonly finite: Points
}
type Points = readonly (readonly number[])[]
const endsOf = (e: Elementwise): Ends | undefined => {
  const { prim, sample, values } = e
  if (prim.class !== 'elementwise' || prim.multi || prim.alias === true || values.some((v) => v.data.length === 0)) return undefined
  const isArgument = (i: number): boolean => prim.args[prim.variadic ? 0 : i] === 'float'
  const floats = sample.args.flatMap((a, i) => (isArgument(i) && (a.dtype === undefined || a.dtype === 'f64') ? [i] : []))
  if (floats.length === 0 || sample.args.some((a, i) => !floats.includes(i) && a.dtype !== undefined && isFloat(a.dtype))) return undefined
  const regular = floats.map((i) => Number(values[i]!.data[0]))
  const near = [...new Set([...prim.extremes, ...prim.kinks.flatMap((k) => k.at), ...ENDS])].filter((x) => Math.abs(x) <= 1e6)
  const all = (list: readonly number[]): Points =>
    combinations(
      regular,
      floats.map(() => list),
    )
  // Of many arguments all combinations are many.
  const few = floats.length > 2 ? near.slice(0, 4) : near
  return { e, floats, regular, finite: all(few) }
}
const first = (y: Node): Node => sliceAxis(y, 0, 0, 1)
const hidden = (r: Rows, y: Node): Node => r.choose(y, literal(0))

/** Behind it something that leaves the ends out. */
const behind = ({ e, floats, regular }: Ends, what: string, points: Points, hide: (r: Rows, y: Node) => Node): Masked => {
  const r = new Rows(e, what, points, floats)
  const xs = regular.map((_, j) => r.moving(j))
  const safe = xs.map((x, j) => r.choose(x, r.regular(j)))
  return r.program([hide(r, r.apply(xs))], [hide(r, r.apply(safe))])
}
/** A factor beside it, whose partial it is. */
const beside = ({ e, floats, regular, finite }: Ends): Masked => {
  const r = new Rows(e, 'beside a factor, behind it a slice', finite, floats)
  const xs = regular.map((_, j) => r.still(j))
  const safe = xs.map((x, j) => r.choose(x, r.regular(j)))
  const a = r.inputs.moving('the factor', [r.size], new Float64Array(r.size).fill(1))
  const product = (ys: readonly Node[]): Node => first(of(mul as never, a, r.apply(ys)))
  return r.program([product(xs)], [product(safe)])
}
/** (f(x) - c)^2, where c is its value: a zero that arithmetic made beside partials that may be infinite. */
const root = (r: Rows, y: Node): Node => {
  const [at] = evaluate([y], new Map(r.inputs.list.map((g) => [g.node, g.value])))
  return of(square, of(sub as never, y, r.inputs.still([r.size], at!.data)))
}
/** What is read once and masked once: the part that is masked has no say, and the other is as it is, NaN or not. */
const halfRead = ({ e, floats, regular, finite }: Ends): Masked => {
  const r = new Rows(e, 'read once, and masked once', finite, floats)
  const xs = regular.map((_, j) => r.moving(j))
  const safe = xs.map((x, j) => r.choose(x, r.regular(j)))
  const y = r.apply(xs)
  const read = root(r, y)
  const sum = (masked: Node): Node => of(add as never, hidden(r, masked), read)
  return r.program([sum(y)], [sum(r.apply(safe))], 'literal')
}
/** What does not move at the ends. */
const still = ({ e, floats, regular }: Ends, what: string, points: Points, hold: (r: Rows, x: Node, k: Node) => Node): Masked => {
  const r = new Rows(e, what, points, floats)
  const xs = regular.map((_, j) => r.moving(j))
  const held = (regularly: boolean): Node[] => xs.map((x, j) => hold(r, x, regularly ? broadcastNode(r.regular(j), [r.size]) : r.still(j)))
  return r.program([r.apply(held(false))], [r.apply(held(true))])
}
/** A literal in the place of one argument, behind it a where that leaves out all. */
const literals = ({ e, floats, regular, finite }: Ends): readonly Masked[] =>
  floats.length < 2
    ? []
    : regular.flatMap((_, j) =>
        LITERALS.map((c) => {
          const r = new Rows(e, `with the literal ${c}, behind it a where`, finite, floats, () => false)
          const xs = regular.map((__, k) => (k === j ? literal(c) : r.moving(k)))
          const safe = xs.map((x, k) => (k === j ? r.regular(k) : r.choose(x, r.regular(k))))
          return r.program([hidden(r, r.apply(xs))], [hidden(r, r.apply(safe))])
        }),
      )

/** A rule that is called outside of any walk, by an algebra or another rule, knows no zeros: there every one is hard. */
const checkAlone = (registry: Registry, modes: readonly Mode[], { e, floats, regular, finite }: Ends, out: Collector): void => {
  const r = new Rows(e, '', finite, floats)
  const xs = regular.map((_, j) => r.moving(j))
  const y = r.apply(xs)
  const { prim, args, payload } = { prim: e.prim, args: y.args, payload: y.payload }
  if (y.prim !== prim) return
  const config = configOf(registry)
  const active = args.map((x) => xs.includes(x))
  const context = { y: asExpr(y), ys: [asExpr(y)], active, config }
  const env = bind(
    r.inputs.list.map((g) => g.node),
    r.inputs.list.map((g) => g.value),
  )
  const zero = (like: Node): Node => {
    const t = input(like.aval)
    env.set(t, { shape: t.shape, dtype: t.dtype, data: new Float64Array(t.aval.size) })
    return t
  }
  const none = (t: Tangent | undefined, how: string, path: string): void => {
    const given = t === undefined ? ZeroTangent : unthunk(t)
    if (given._tag !== 'Expr') return
    const [v] = evaluate([asNode(given)], env)
    out.near('non-finite', path, v!.data, new Float64Array(v!.data.length), 0, undefined, { shape: v!.shape, how })
  }
  const { frule, rrule } = registry.ruleOf(prim) ?? {}
  if (modes.includes('forward') && frule !== undefined) {
    const dxs = args.map((x, i): Tangent => (active[i] ? asExpr(zero(x)) : isFloat(x.dtype) ? ZeroTangent : NoTangent))
    none(frule(args.map(asExpr), dxs, payload as never, context).dys[0], 'the frule alone, of zeros', 'result 0')
  }
  if (modes.includes('reverse') && rrule !== undefined)
    rrule(args.map(asExpr), payload as never, context)
      .pullback([asExpr(zero(y))], active)
      .forEach((t, i) => {
        if (active[i]) none(t, 'the pullback alone, of zeros', `argument ${i}`)
      })
}

/** What must hold of an elementwise primitive where it is singular. */
export const checkMaskedEnds = (
  registry: Registry,
  modes: readonly Mode[],
  e: Elementwise,
  order: 1 | 2,
  next: () => number,
  out: Collector,
): void => {
  const ends = endsOf(e)
  if (ends === undefined) return
  const { finite } = ends
  const all = [
    behind(ends, 'behind it a where', finite, hidden),
    behind(ends, 'behind it sums and products, then a where', finite, (r, y) =>
      hidden(r, of(add as never, of(mul as never, literal(3), y), of(mul as never, y, y))),
    ),
    behind(ends, 'behind it a slice', finite, (_, y) => first(y)),
    behind(ends, 'behind it a gather', finite, (_, y) => gatherNode(y, iotaNode([1], 0, 'i32'), { axis: 0, batchDims: 0 })),
    beside(ends),
    halfRead(ends),
    still(ends, 'held still by a where', finite, (r, x, k) => r.choose(x, k)),
    still(ends, 'held still by a concat', finite, (r, x, k) => concatNode([first(x), sliceAxis(k, 0, 1, r.size - 1)], 0)),
  ]
  checkMasked(registry, modes, all, order, next, out)
  checkMasked(registry, modes, literals(ends), 1, next, out)
  checkAlone(registry, modes, ends, out)
  const soft = new Rows(e, '', finite, ends.floats)
  const y = soft.apply(ends.regular.map((_, j) => soft.moving(j)))
  const squared = root(soft, y)
  checkOnes(registry, modes, soft.inputs.list, [squared], out)
  if (order === 2 && ends.floats.length === 1) checkOrders(registry, modes, soft.inputs.list, y, out)
}
