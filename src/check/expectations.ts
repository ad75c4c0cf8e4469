/** What the author of a function or rule gives to its check: directions, cotangents, and the derivatives that are expected. */
import { shown } from '../core/errors/check-arguments.js'
import { badInput } from '../core/errors/explain.js'
import { type OptionsOf, or, raw, readGiven } from '../core/errors/options.js'
import { isExpr, type Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import { isTensor, Tensor } from '../core/graph/tensor.js'
import { below, hasParts, LEAF, partsAlong, type TreeDef } from '../core/graph/tree.js'
import { flatNoise, innerNoise, roundingOf, SAME, slopesBy, topOf, withAll } from './derivative.js'
import type { Collector } from './findings.js'
import { kinkAmong } from './kinks.js'
import { hasF32, known } from './program.js'
import {
  type Derived,
  dense,
  direction,
  drawLike,
  evaluate,
  flat,
  inner,
  liftedSubject,
  movedBy,
  place,
  type Subject,
  total,
} from './subject.js'

/** Values, or a function of the arguments that gives them. */
type Reference = unknown
export const expectedOptions = {
  /**
   * The cotangents of the arguments, as `vjp` gives them, for `cotangents` (for 1, and so the gradient, of a scalar): of one argument its own, of several a list. What is
   * undefined or null in it is not compared.
   */
  gradient: raw<Reference>(),
  /** The tangents of the result along `tangents`, as `jvp` gives them. */
  tangent: raw<Reference>(),
}
/** The derivatives that an author expects. */
export type Expected = OptionsOf<typeof expectedOptions>
export const expectations = {
  /** A direction to check along in addition to the random ones: a list with the tangent of each argument, null where it does not move. */
  tangents: or<readonly unknown[], undefined>(undefined, (given, what, where) =>
    Array.isArray(given) ? given : badInput(where, `${what} is ${shown(given)}.`, 'give a list with the tangent of each argument.'),
  ),
  /** The cotangents of the result, in its structure. */
  cotangents: raw(),
  /** The derivatives that are expected: values, or functions of the arguments that give them. */
  expected: or<Expected, undefined>(undefined, (given, what, where) => {
    const read = readGiven(expectedOptions, given, `${where}: ${what}`)
    return Object.keys(read).length > 0 ? read : badInput(where, `${what} says nothing.`, 'give { gradient } or { tangent }.')
  }),
}
/** What the author of a function or rule tells its check. */
export type Expectations = OptionsOf<typeof expectations>
/** A tangent is expected along tangents. */
export const consistent = <E extends Expectations>(given: E, where: string): E =>
  given.expected?.tangent !== undefined && given.tangents === undefined
    ? badInput(where, 'expected.tangent is that along which tangents?', 'give tangents too.')
    : given

/** What a program's arguments and results look like to its author. */
export interface Trees {
  readonly args: TreeDef
  readonly results: TreeDef
  /** The arguments as the author gave them: for functions that give what is expected. */
  readonly given: readonly unknown[]
}

/** The leaves of a value along a structure; undefined for what is not there. */
const leavesAlong = (
  def: TreeDef,
  x: unknown,
  path: string,
  where: string,
): readonly { readonly leaf: unknown; readonly path: string }[] => {
  if (def._tag === 'Leaf') return [{ leaf: x, path }]
  if (!hasParts(def)) return []
  if (def._tag === 'Object') return leavesAlong(def.items[0], partsAlong(def, x)?.[0], path, where)
  return def.items.flatMap((d, i) => {
    const key = def._tag === 'Tuple' ? i : def.keys[i]!
    const one = x === undefined || x === null ? undefined : (x as Readonly<Record<string | number, unknown>>)[key]
    return leavesAlong(d, one, below(path, String(key)), where)
  })
}
/** The numbers of a leaf, of an array of this shape; undefined where there are none. */
const numbersOf = (leaf: unknown, like: Node, path: string, where: string): NDArray | undefined => {
  if (leaf === undefined || leaf === null) return undefined
  const tag = (leaf as { readonly _tag?: unknown })._tag
  if (tag === 'NoTangent') return undefined
  const { shape, dtype } = like
  if (tag === 'ZeroTangent') return { shape, dtype, data: new Float64Array(like.aval.size) }
  const data = isExpr(leaf)
    ? evaluate([leaf], new Map())[0]!.data
    : isTensor(leaf)
      ? leaf.data
      : ArrayBuffer.isView(leaf)
        ? (leaf as unknown as ArrayLike<number>)
        : [leaf].flat(Number.POSITIVE_INFINITY)
  const numbers = Float64Array.from(data as ArrayLike<number>)
  if (numbers.length !== like.aval.size || (Array.isArray(data) && !data.every((v) => typeof v === 'number')))
    badInput(
      where,
      `${path} is ${shown(leaf)}, and what it belongs to has ${like.aval.size} element${like.aval.size === 1 ? '' : 's'}.`,
      'give it in the structure and shape of that.',
    )
  return { shape, dtype, data: numbers }
}

const along = (def: TreeDef, x: unknown, nodes: readonly Node[], path: string, where: string): readonly (NDArray | undefined)[] =>
  leavesAlong(def, x, path, where).map(({ leaf, path: at }, i) => numbersOf(leaf, nodes[i]!, at, where))
const zeros = (n: Node): NDArray => ({ shape: n.shape, dtype: n.dtype, data: new Float64Array(n.aval.size) })
const one = (args: TreeDef, x: unknown): unknown => (args._tag === 'Tuple' && args.items.length === 1 ? [x] : x)
const called = (reference: Reference, given: readonly unknown[]): unknown =>
  typeof reference === 'function' ? (reference as (...xs: readonly unknown[]) => unknown)(...given) : reference

/** Along the tangents that are given: differences entry by entry, the tangents that are expected, and reverse mode against forward mode. */
const holdTangents = (
  d: Derived,
  dx: readonly NDArray[],
  yBar: readonly NDArray[],
  want: readonly (NDArray | undefined)[],
  out: Collector,
): void => {
  const how = 'along the given tangents'
  const dys = d.dys && dense(d.dys, d.outs)
  const env = withAll(d.env, d.tangents, dx)
  const got = dys && evaluate(dys, env)
  if (dys !== undefined && got !== undefined && out.on('jvp')) {
    const rounding = flatNoise(d.outs, d.env)
    const { first, again, rough } = slopesBy(
      (t) => flat(evaluate(d.moving, movedBy(d, dx, t))),
      d,
      (j) => rounding[j]!,
      topOf(flat(dx)),
    )
    flat(got).forEach((value, j) => {
      const { array, index } = place(d.outs, j)
      out.holds('jvp', `result ${array}`, index, value, first[j]!, d.tolerance, {
        rounding: () => flatNoise(dys, env)[j] ?? 0,
        kink: () => kinkAmong(d),
        again: again(j),
        rough: rough(j),
        place: { shape: d.outs[array]!.shape, how: `forward mode, ${how}` },
      })
    })
  }
  const bound = dys && roundingOf(dys, env)
  want.forEach((w, i) => {
    if (w !== undefined && got !== undefined)
      out.near('expected', `result ${i}`, got[i]!.data, w.data, d.tolerance, bound!(i), { shape: w.shape, how: `forward mode, ${how}` })
  })
  if (d.xBars === undefined || got === undefined || !out.on('adjoint')) return
  const xBars = dense(d.xBars, d.wrt)
  const pulled = withAll(d.env, d.seeds, yBar)
  const [forward, reverse] = [inner(flat(got), flat(yBar)), inner(flat(evaluate(xBars, pulled)), flat(dx))]
  if (Number.isFinite(forward) && Number.isFinite(reverse))
    out.near(
      'adjoint',
      'the given tangents',
      [reverse],
      [forward],
      SAME,
      () => [
        innerNoise(flat(got), flat(yBar), flatNoise(dys!, env)) +
          innerNoise(flat(evaluate(xBars, pulled)), flat(dx), flatNoise(xBars, pulled)),
      ],
      {
        how: `<J' yBar, dx> (reverse) against <yBar, J dx> (forward), ${how}`,
      },
    )
}

/** What an author gives, held at a point. */
export const checkExpectations = (
  s: Subject,
  given: Expectations,
  trees: Trees,
  next: () => number,
  out: Collector,
  where: string,
): void => {
  const { tangents, cotangents, expected } = given
  if (tangents === undefined && cotangents === undefined && expected === undefined) return
  const d = known(hasF32(s.ys) ? liftedSubject(s) : s, () => {})
  const positions = d.ys.map((y) => d.outs.indexOf(y))
  /** Leaves of results, as the float results in their order; of one that stands there twice the sum. */
  const ofResults = (x: unknown, path: string): (NDArray | undefined)[] => {
    const leaves = along(trees.results, x, d.ys, path, where)
    return d.outs.map((_, j) =>
      leaves.reduce<NDArray | undefined>(
        (sum, v, i) =>
          positions[i] !== j || v === undefined
            ? sum
            : sum === undefined
              ? v
              : { ...v, data: Float64Array.from(v.data, (a, k) => a + sum.data[k]!) },
        undefined,
      ),
    )
  }
  const scalar = total(d.outs) === 1
  if (cotangents === undefined && expected?.gradient !== undefined && !scalar)
    badInput(where, 'the function gives more than one number: which cotangents is expected.gradient for?', 'give cotangents too.')
  const yBar: readonly NDArray[] =
    cotangents !== undefined
      ? ofResults(cotangents, 'cotangents').map((v, j) => v ?? zeros(d.outs[j]!))
      : scalar
        ? d.outs.map((y) => ({ ...zeros(y), data: new Float64Array(y.aval.size).fill(1) }))
        : drawLike(d.outs, next)
  const ofArguments = (x: unknown, path: string): (NDArray | undefined)[] => {
    const leaves = along(trees.args, x, d.inputs, path, where)
    return d.active.map((i) => leaves[i])
  }
  const dx = tangents === undefined ? direction(d, next) : ofArguments(tangents, 'tangents').map((v, j) => v ?? zeros(d.wrt[j]!))
  const wanted = expected?.tangent === undefined ? [] : ofResults(called(expected.tangent, trees.given), 'expected.tangent')
  if (tangents !== undefined || cotangents !== undefined) holdTangents(d, dx, yBar, wanted, out)
  if (expected?.gradient === undefined) return
  const want = ofArguments(one(trees.args, called(expected.gradient, trees.given)), 'expected.gradient')
  const ways: (readonly [mode: string, nodes: readonly Node[], env: Map<Node, NDArray>])[] = []
  if (d.xBars !== undefined) ways.push(['reverse', dense(d.xBars, d.wrt), withAll(d.env, d.seeds, yBar)])
  for (const [mode, nodes, env] of ways) {
    const got = evaluate(nodes, env)
    const rounding = roundingOf(nodes, env)
    want.forEach((w, j) => {
      if (w !== undefined)
        out.near('expected', d.paths[d.active[j]!]!, got[j]!.data, w.data, d.tolerance, rounding(j), {
          shape: w.shape,
          how: `${mode} mode, against the expected gradient`,
        })
    })
  }
}

const tuple = (n: number): TreeDef => ({ _tag: 'Tuple', items: Array.from({ length: n }, () => LEAF) })
/** The structures of a primitive's application: a list of arguments; one result, or a list of them. */
export const flatTrees = (s: Subject, params: unknown): Trees => ({
  args: tuple(s.inputs.length),
  results: s.ys.length === 1 ? LEAF : tuple(s.ys.length),
  given: [...s.values.map((v) => new Tensor(v.shape, v.dtype, v.data)), params],
})
