/** Masked programs made of any program: of a batch of two examples the second is not seen, or does not move. */
import { isAdException } from '../core/errors/error.js'
import { aval } from '../core/graph/aval.js'
import { asExpr, asNode, constant, input, linearize, type Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import type { AnyPrimitive } from '../core/graph/primitive.js'
import { customPrimitive } from '../core/ops/custom.js'
import { add, cbrt, mul, reciprocal, sqrt, tanh, where } from '../core/ops/elementwise.js'
import { concatNode } from '../core/ops/layout/join.js'
import { broadcastNode, reshapeNode } from '../core/ops/layout/move.js'
import { sliceAxis } from '../core/ops/layout/slice.js'
import { mapped, scalarProgram } from '../core/ops/map.js'
import type { AnyExpr } from '../core/types/expr.js'
import { batch } from '../modes/vmap.js'
import { coreRegistry } from '../packs/all.js'
import type { Collector } from './findings.js'
import { addsProducts, checkMasked, Inputs, type Masked, writesProducts } from './masked.js'
import { type Derived, derivativesOf, total } from './subject.js'

const EXAMPLES = 2
/** How far the first example lies from the point, and the root of it. */
const NEAR = 2 ** -20
const ROOT = 2 ** -10

const of = (f: (...xs: AnyExpr[]) => AnyExpr, ...xs: readonly Node[]): Node => asNode(f(...xs.map(asExpr)))
const literal = (x: number): Node => constant(x, 'f64')
const twice = (a: NDArray): NDArray => {
  const data = new (a.data.constructor as Float64ArrayConstructor)(EXAMPLES * a.data.length) as NDArray['data']
  data.set(a.data as never)
  data.set(a.data as never, a.data.length)
  return { shape: [EXAMPLES, ...a.shape], dtype: a.dtype, data }
}
/** Numbers by example. */
const each = (shape: readonly number[], [first, second]: readonly [number, number]): Float64Array => {
  const size = shape.reduce((n, d) => n * d, 1)
  return new Float64Array(EXAMPLES * size).fill(first, 0, size).fill(second, size)
}
/** One for each example, beside an array of this shape. */
const beside = (x: Node, like: Node): Node => reshapeNode(x, [EXAMPLES, ...like.shape.slice(1).map(() => 1)])

/** The program of a subject in a batch, over arguments made by `argument` (given its value and name), and masked by `seen`. */
class Examples {
  readonly inputs = new Inputs()
  readonly mask: Node
  constructor(
    readonly d: Derived,
    readonly what: string,
  ) {
    this.mask = this.inputs.mask([true, false])
  }
  /** a in the first example, b in the second. */
  choose(a: Node, b: Node): Node {
    return of(where as never, beside(this.mask, a.shape.length > 0 ? a : b), a, b)
  }
  /** The float results for these arguments. */
  results(args: readonly Node[]): Node[] {
    const { d } = this
    return batch(d.registry, d.outs, new Map(d.inputs.map((x, i) => [x, args[i]!])), EXAMPLES)
  }
  /** An input that is not differentiated, or whose tangent is not asked here. */
  still(i: number): Node {
    const v = twice(this.d.env.get(this.d.inputs[i]!)!)
    const node = input(aval(v.shape, v.dtype))
    this.inputs.list.push({ node, value: v, name: '', active: false })
    return node
  }
  moving(i: number, by = 0): Node {
    const { d } = this
    const v = twice(d.env.get(d.inputs[i]!)!)
    return this.inputs.moving(d.paths[i]!, v.shape, v.data.map((x: number, k: number) => (k < v.data.length / 2 ? x - by : x)) as never)
  }
  /** Arguments: each that is differentiated is made twice, for the program itself and for that which is never singular. */
  args(make: (i: number) => readonly [Node, Node]): readonly [Node[], Node[]] {
    const pairs = this.d.inputs.map((_, i): readonly [Node, Node] => {
      if (this.d.active.includes(i)) return make(i)
      const x = this.still(i)
      return [x, x]
    })
    return [pairs.map((p) => p[0]), pairs.map((p) => p[1])]
  }
  program(own: readonly Node[], other: readonly Node[]): Masked {
    return { what: this.what, inputs: this.inputs.list, own, other, seeds: 'any' }
  }
}
const shapeOf = (d: Derived, i: number): readonly number[] => d.inputs[i]!.shape
/** Hides the second example: a where puts zeros there, a slice leaves it out. */
const hidden = { where: 'where', slice: 'a slice' } as const
const hide = (e: Examples, by: keyof typeof hidden, y: Node): Node => (by === 'where' ? e.choose(y, literal(0)) : sliceAxis(y, 0, 0, 1))

/** Each argument is x + sqrt(t), and t is 0 in an example that is not seen. */
const steepBefore = (d: Derived, by: keyof typeof hidden): Masked => {
  const e = new Examples(d, `an infinite slope before, and ${hidden[by]} behind`)
  const [own, other] = e.args((i) => {
    const x = e.moving(i, ROOT)
    const t = e.inputs.moving(`the root's argument beside ${d.paths[i]}`, x.shape, each(shapeOf(d, i), [NEAR, 0]))
    return [of(add as never, x, of(sqrt, t)), of(add as never, x, e.choose(of(sqrt, e.choose(t, literal(1))), literal(0)))]
  })
  return e.program(
    e.results(own).map((y) => hide(e, by, y)),
    e.results(other).map((y) => hide(e, by, y)),
  )
}
/** Each argument is x + tanh(t c) / 1024, and c is infinite in an example that where leaves out: no function that is known to be singular. */
const infiniteBefore = (d: Derived): Masked => {
  const e = new Examples(d, 'an infinite factor before, and where behind')
  const [own, other] = e.args((i) => {
    const x = e.moving(i, ROOT)
    const t = e.inputs.moving(`the factor beside ${d.paths[i]}`, x.shape, each(shapeOf(d, i), [1, 1]))
    const c = e.inputs.still(x.shape, each(shapeOf(d, i), [1, Number.POSITIVE_INFINITY]))
    const made = (u: Node): Node => of(mul as never, literal(ROOT), of(tanh, of(mul as never, t, u)))
    return [of(add as never, x, made(c)), of(add as never, x, e.choose(made(e.choose(c, literal(1))), literal(ROOT)))]
  })
  return e.program(
    e.results(own).map((y) => hide(e, 'where', y)),
    e.results(other).map((y) => hide(e, 'where', y)),
  )
}

/** The same where the factor is a literal, and nothing is seen of either example. */
const infiniteLiteralBefore = (d: Derived): Masked => {
  const e = new Examples(d, 'an infinite literal before, and where behind')
  const [own, other] = e.args((i) => {
    const x = e.moving(i)
    const t = e.inputs.moving(`the factor beside ${d.paths[i]}`, x.shape, each(shapeOf(d, i), [1, 1]))
    const made = (c: number): Node => of(add as never, x, of(mul as never, literal(ROOT), of(tanh, of(mul as never, t, literal(c)))))
    return [made(Number.POSITIVE_INFINITY), made(1)]
  })
  const none = (ys: readonly Node[]): Node[] => ys.map((y) => of(where as never, constant(0, 'bool'), y, literal(0)))
  return e.program(none(e.results(own)), none(e.results(other)))
}

/** Choosing within a map: what a walk inside of it knows. */
const chosenInMap = (mask: Node, a: Node, b: Node): Node => {
  const xs = [input(aval([], 'bool')), input(aval([], 'f64')), input(aval([], 'f64'))]
  const [y] = mapped(scalarProgram(xs, [of(where as never, ...xs)]), [broadcastNode(mask, a.shape), a, b])
  return y!
}
const still = { where: 'a where', map: 'a where in a map', concat: 'a concat' } as const
/** The arguments of the second example do not move, and the results are singular there: cbrt(y 0), tanh(y Infinity). */
const stillBefore = (d: Derived, by: keyof typeof still): Masked => {
  const e = new Examples(d, `what ${still[by]} holds still, and a singular function behind`)
  const [args] = e.args((i) => {
    const x = e.moving(i)
    const k = e.still(i)
    const y =
      by === 'where'
        ? e.choose(x, k)
        : by === 'map'
          ? chosenInMap(beside(e.mask, x), x, k)
          : concatNode([sliceAxis(x, 0, 0, 1), sliceAxis(k, 0, 1, 1)], 0)
    return [y, y]
  })
  const ys = e.results(args)
  const singular = (regular: boolean): Node[] =>
    ys.flatMap((y) => {
      const factor = (second: number): Node => e.inputs.still([EXAMPLES], [1, regular ? 1 : second])
      const steep = of(cbrt, of(mul as never, y, beside(factor(0), y)))
      if (by === 'concat') return [steep]
      return [steep, of(tanh, of(mul as never, y, beside(factor(Number.POSITIVE_INFINITY), y)))]
    })
  return e.program(singular(false), singular(true))
}
/** A factor beside results that are infinite in an example that a slice leaves out: what a singular function made is known behind elementwise and layout operations. */
const infiniteBeside = (d: Derived): Masked => {
  const e = new Examples(d, 'beside what is infinite, and a slice behind')
  const [own, other] = e.args((i) => {
    const x = e.still(i)
    const made = (second: number): Node => of(mul as never, x, beside(of(reciprocal, e.inputs.still([EXAMPLES], [1, second])), x))
    return [made(0), made(1)]
  })
  const factors = d.outs.map((y, i) => e.inputs.moving(`the factor of result ${i}`, [EXAMPLES, ...y.shape], each(y.shape, [1, 1])))
  const beyond = (ys: readonly Node[]): Node[] => ys.map((y, i) => sliceAxis(of(mul as never, factors[i]!, y), 0, 0, 1))
  return e.program(beyond(e.results(own)), beyond(e.results(other)))
}

/**
 * Are all of these operations elementwise, or of layout? What a singular function made is known behind such alone, where nothing but a slice masks it; and not
 * within what a rule composes of others.
 */
const movesOnly = (d: Derived): boolean =>
  linearize(d.outs).nodes.every(
    (n) => n.prim === null || n.prim.class === 'layout' || (n.prim.class === 'elementwise' && isKnown(d, n.prim)),
  )
const isKnown = ({ registry }: Derived, prim: AnyPrimitive): boolean =>
  registry.ruleOf(prim)?.form !== undefined || coreRegistry.byPrimitive.has(prim)
/** Of more numbers second derivatives are not asked. */
const SMALL = 8

/**
 * What must hold of any program that has a batch rule. Left out is what a rule of a customRule multiplies, which its author wrote, and second derivatives where
 * sums of products are on the way, which add their products as numbers, or products that a rule writes out.
 */
export const checkMaskedExamples = (d: Derived, order: 1 | 2, next: () => number, out: Collector): void => {
  if (linearize(d.outs).nodes.some((n) => n.prim === customPrimitive)) return
  const moves = movesOnly(d)
  let guarded: readonly Masked[]
  let filled: readonly Masked[]
  try {
    guarded = [steepBefore(d, 'where'), infiniteBefore(d), infiniteLiteralBefore(d), stillBefore(d, 'where'), stillBefore(d, 'map')]
    filled = [steepBefore(d, 'slice'), stillBefore(d, 'concat'), ...(moves ? [infiniteBeside(d)] : [])]
  } catch (e) {
    // Without a batch there are no examples.
    if (isAdException(e) && e.error._tag === 'MissingRule' && e.error.rule === 'batch') return
    throw e
  }
  const second = order === 2 && total([...d.inputs, ...d.outs]) <= SMALL && !addsProducts(derivativesOf(d)) && !writesProducts(d)
  if (second && moves) checkMasked(d.registry, d.modes, [...guarded, ...filled], 2, next, out)
  else {
    checkMasked(d.registry, d.modes, guarded, second ? 2 : 1, next, out)
    checkMasked(d.registry, d.modes, filled, 1, next, out)
  }
}
