/**
 * What is masked away has no say: the derivatives of a program of which something is not seen, or does not move, are those of the program that
 * reads a regular number there. In every mode, to the second order, for given and for literal (co)tangents (docs/decisions/strong-zero.md).
 */
import { evaluateNodes } from '../backends/reference/index.js'
import { literalOf } from '../core/calculus/hard-zeros.js'
import type { Registry } from '../core/calculus/rule.js'
import { isAdException } from '../core/errors/error.js'
import { aval } from '../core/graph/aval.js'
import { asExpr, asNode, constant, input, linearize, type Node } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import type { AnyPrimitive } from '../core/graph/primitive.js'
import { dependents } from '../core/graph/program.js'
import { substitute } from '../core/graph/rewrite.js'
import { mul, where } from '../core/ops/elementwise.js'
import { ones } from '../modes/common.js'
import { regionized } from '../modes/mixed.js'
import { pullback, pushforward } from '../modes/transform.js'
import { coreRegistry } from '../packs/all.js'
import { roundingOf, withAll } from './derivative.js'
import type { Collector } from './findings.js'
import { bind, type Derived, dense, drawLike, type Mode } from './subject.js'

/** A program with what it reads, one entry for each input. */
export interface Given {
  readonly node: Node
  readonly value: NDArray
  readonly name: string
  /** Is it differentiated? */
  readonly active: boolean
}
/** A program that is singular where nothing is seen of it, and the same with regular numbers there. */
export interface Masked {
  /** What is masked, and by what. */
  readonly what: string
  readonly inputs: readonly Given[]
  readonly own: readonly Node[]
  readonly other: readonly Node[]
  /** By which (co)tangents: of a given one what arithmetic made 0 counts as given, so what is neither masked nor regular is asked of the literal 1 alone. */
  readonly seeds: 'any' | 'literal'
}

type Of = (prim: AnyPrimitive) => boolean
/** What matrices are multiplied or solved by. */
const isContraction: Of = ({ structure, stacked }) =>
  structure?.kind === 'product' || structure?.kind === 'contraction' || stacked !== undefined
const isProduct: Of = (p) => isContraction(p) || (p.structure?.kind === 'running' && p.structure.by === 'product')
const isSum: Of = (p) => isProduct(p) || ((p.structure?.kind === 'fold' || p.structure?.kind === 'running') && p.structure.by === 'sum')
/** Are there sums of products? A contraction adds its products as numbers: an operand that is infinite is not masked in it. */
export const addsProducts = (nodes: readonly Node[]): boolean => applies(nodes, isProduct)
/** Are there contractions or convolutions? */
export const contracts = (nodes: readonly Node[]): boolean => applies(nodes, isContraction)
const applies = (nodes: readonly Node[], is: Of): boolean => linearize(nodes).nodes.some((n) => n.prim !== null && is(n.prim))
/** The factors of a product of (co)tangents that a rule writes out, and of which mode it is. */
export interface WrittenProduct {
  readonly mode: 'forward' | 'reverse'
  readonly factors: readonly [Node, Node]
  /** Which of them is a (co)tangent. */
  readonly moves: readonly [boolean, boolean]
}
/**
 * The products of (co)tangents that are written out by a rule, not made by the walk: behind a where, or of what a where holds still, they are no strong products. `values`: the
 * results in the program of forward mode.
 */
export const writtenProducts = (d: Derived): { readonly products: readonly WrittenProduct[]; readonly values: readonly Node[] } => {
  const mask = asExpr(input(aval([], 'bool')))
  const hidden = (x: Node): Node => asNode(where(mask as never, asExpr(x) as never, asExpr(constant(0, x.dtype)) as never) as never)
  const ys = substitute(d.outs, new Map(d.wrt.map((x) => [x, hidden(x)])))
  const pushed = d.dys ? dense(pushforward(d.registry, ys, new Map(d.wrt.map((x, i) => [x, d.tangents[i]!]))).tangents, d.outs) : []
  const pulled = d.xBars ? dense(pullback(d.registry, d.outs.map(hidden), d.seeds.map(asExpr), d.wrt).cotangents, d.wrt) : []
  const among = (mode: WrittenProduct['mode'], made: readonly Node[], from: readonly Node[]): readonly WrittenProduct[] => {
    const linear = linearize(made)
    const reached = dependents(linear, from)
    const moving = (n: Node): boolean => reached[linear.index.get(n)] === 1
    return linear.nodes.flatMap((n) => {
      if (n.prim !== mul.primitive) return []
      const factors = n.args as unknown as WrittenProduct['factors']
      const moves = [moving(factors[0]), moving(factors[1])] as const
      return moves[0] === moves[1] ? [] : [{ mode, factors, moves }]
    })
  }
  return { products: [...among('forward', pushed, d.tangents), ...among('reverse', pulled, d.seeds)], values: ys }
}
/**
 * Are products of (co)tangents written out by a rule, with a factor that is no literal? Its first
 * derivative keeps the zeros of its first factor, and the derivatives of that are those of an ordinary product.
 */
export const writesProducts = (d: Derived): boolean =>
  writtenProducts(d).products.some(({ factors, moves }) => factors.some((f, i) => !moves[i] && literalOf(f) === undefined))
/** Are there sums on the way from `from`? A sum of nothing is a number. */
export const addsUp = (nodes: readonly Node[], from: readonly Node[]): boolean => {
  const linear = linearize(nodes)
  const reached = dependents(linear, from)
  return linear.nodes.some((n, i) => reached[i] === 1 && n.prim !== null && isSum(n.prim))
}

/** What a masked program is given, while it is made. */
export class Inputs {
  readonly list: Given[] = []
  private add(name: string, shape: readonly number[], dtype: 'f64' | 'bool', data: NDArray['data'], active: boolean): Node {
    const node = input(aval(shape, dtype))
    this.list.push({ node, value: { shape, dtype, data }, name, active })
    return node
  }
  /** Numbers that are differentiated. */
  moving(name: string, shape: readonly number[], data: ArrayLike<number>): Node {
    return this.add(name, shape, 'f64', Float64Array.from(data), true)
  }
  /** Numbers that are not. */
  still(shape: readonly number[], data: ArrayLike<number>): Node {
    return this.add('', shape, 'f64', Float64Array.from(data), false)
  }
  mask(seen: readonly boolean[], shape: readonly number[] = [seen.length]): Node {
    return this.add(
      '',
      shape,
      'bool',
      Uint8Array.from(seen, (s) => (s ? 1 : 0)),
      false,
    )
  }
}

/** A registry with the rules of the core where it has none: masks and singular functions are not of the program that is checked. */
const whole = (registry: Registry): Registry => {
  let known = wholes.get(registry)
  if (known === undefined) {
    const lacks = [...coreRegistry.byPrimitive.keys()].some((p) => !registry.byPrimitive.has(p))
    known = lacks ? [...registry.byPrimitive.values()].reduce((r, rule) => r.with(rule), coreRegistry) : registry
    wholes.set(registry, known)
  }
  return known
}
const wholes = new WeakMap<Registry, Registry>()

interface Way {
  readonly how: string
  /** Are its results those of the program (tangents), or of what is differentiated? */
  readonly of: 'results' | 'arguments'
  readonly nodes: readonly Node[]
  readonly given: boolean
}
interface Symbols {
  readonly tangents: readonly Node[]
  readonly seeds: readonly Node[]
}
/** Derivatives of a program in every way. A given (co)tangent may hold zeros that say that nothing moves; the literal 1, of which gradients are made, holds none. */
const waysOf = (
  registry: Registry,
  modes: readonly Mode[],
  wrt: readonly Node[],
  ys: readonly Node[],
  { tangents, seeds }: Symbols,
  order: 1 | 2,
): Way[] => {
  const literal = (nodes: readonly Node[]): readonly Node[] => nodes.map((n) => ones(n.aval))
  const push = (of: readonly Node[], dx: readonly Node[]): Node[] =>
    dense(pushforward(registry, of, new Map(wrt.map((x, i) => [x, dx[i]!]))).tangents, of)
  const pull = (of: readonly Node[], bars: readonly Node[]): Node[] => dense(pullback(registry, of, bars.map(asExpr), wrt).cotangents, wrt)
  const mix = (of: readonly Node[], bars: readonly Node[]): Node[] => pull(regionized(of, wrt), bars)
  const [forward, reverse] = [modes.includes('forward'), modes.includes('reverse')]
  const out: Way[] = []
  const way = (how: string, of: Way['of'], nodes: readonly Node[], given = false): readonly Node[] => {
    out.push({ how, of, nodes, given })
    return nodes
  }
  const pushed = forward ? way('forward', 'results', push(ys, literal(wrt))) : []
  const pulled = reverse ? way('reverse', 'arguments', pull(ys, literal(ys))) : []
  const mixed = forward && reverse ? way('mixed', 'arguments', mix(ys, literal(ys))) : []
  if (forward) way('forward, of a direction', 'results', push(ys, tangents), true)
  if (reverse) way('reverse, of a seed', 'arguments', pull(ys, seeds), true)
  if (forward && reverse) way('mixed, of a seed', 'arguments', mix(ys, seeds), true)
  if (order === 1) return out
  if (forward) way('forward over forward', 'results', push(pushed, literal(wrt)))
  if (reverse) way('reverse over reverse', 'arguments', pull(pulled, literal(pulled)))
  if (!forward || !reverse) return out
  way('forward over reverse', 'arguments', push(pulled, literal(wrt)))
  way('forward over reverse, of a direction', 'arguments', push(pulled, tangents), true)
  way('reverse over forward', 'arguments', pull(pushed, literal(pushed)))
  way('mixed over mixed', 'arguments', mix(mixed, literal(mixed)))
  return out
}

/** Holds masked programs against themselves without what is masked. What is not implemented is counted elsewhere. */
export const checkMasked = (
  given: Registry,
  modes: readonly Mode[],
  all: readonly Masked[],
  order: 1 | 2,
  next: () => number,
  out: Collector,
  tolerance = 1e-9,
): void => {
  if (all.length === 0 || !out.on('non-finite')) return
  // Side by side, as one: what is known of the zeros of one says nothing of those of another.
  const [inputs, own, other] = [all.flatMap((m) => m.inputs), all.flatMap((m) => m.own), all.flatMap((m) => m.other)]
  const wrt = inputs.filter((x) => x.active)
  const nodes = wrt.map((x) => x.node)
  const symbols = { tangents: nodes.map((x) => input(x.aval)), seeds: own.map((y) => input(y.aval)) }
  const registry = whole(given)
  const ways = (ys: readonly Node[]): readonly Way[] => waysOf(registry, modes, nodes, ys, symbols, order)
  let both: readonly (readonly Way[])[]
  try {
    both = [ways(own), ways(other)]
  } catch (e) {
    if (isAdException(e) && e.error._tag === 'NotImplemented') return
    throw e
  }
  const [mine, regular] = both as [readonly Way[], readonly Way[]]
  const results = all.flatMap((m) => m.own.map(() => m))
  const places = all.flatMap((m) => m.inputs.flatMap((x) => (x.active ? [m] : [])))
  let env = new Map(
    bind(
      inputs.map((x) => x.node),
      inputs.map((x) => x.value),
    ),
  )
  for (const list of [symbols.tangents, symbols.seeds]) env = withAll(env, list, drawLike(list, next))
  const [a, b] = [mine, regular].map((w) => w.flatMap((x) => x.nodes)) as [Node[], Node[]]
  const values = evaluateNodes([...a, ...b], env)
  const rounding = roundingOf(b, env, 'own')
  let at = 0
  for (const { how, of, nodes: list, given: byGiven } of mine)
    list.forEach((_, i) => {
      const [got, want] = [values[at]!, values[a.length + at]!]
      const bound = rounding(at)
      at++
      const { what, seeds } = of === 'results' ? results[i]! : places[i]!
      if (byGiven && seeds === 'literal') return
      const path = of === 'results' ? `result ${i}` : wrt[i]!.name
      // A regular program that overflows is none.
      const some = (v: NDArray): ArrayLike<number> =>
        seeds === 'literal' ? v.data : Float64Array.from(v.data, (x, k) => (Number.isFinite(want.data[k]) ? x : 0))
      out.near('non-finite', path, some(got), some(want), tolerance, bound, { shape: got.shape, how: `${how}, ${what}` })
    })
}

/** Derivatives in every way, where every given (co)tangent is 1; nothing where one is not implemented. */
const atOnes = (
  given: Registry,
  modes: readonly Mode[],
  inputs: readonly Given[],
  ys: readonly Node[],
  order: 1 | 2,
): ((how: string) => readonly NDArray[] | undefined) | undefined => {
  const wrt = inputs.flatMap((x) => (x.active ? [x.node] : []))
  const symbols = { tangents: wrt.map((x) => input(x.aval)), seeds: ys.map((y) => input(y.aval)) }
  let ways: readonly Way[]
  try {
    ways = waysOf(whole(given), modes, wrt, ys, symbols, order)
  } catch (e) {
    if (isAdException(e) && e.error._tag === 'NotImplemented') return undefined
    throw e
  }
  const env = bind(
    inputs.map((x) => x.node),
    inputs.map((x) => x.value),
  )
  for (const s of [...symbols.tangents, ...symbols.seeds])
    env.set(s, { shape: s.shape, dtype: s.dtype, data: new Float64Array(s.aval.size).fill(1) })
  return (how) => {
    const way = ways.find((w) => w.how === how)
    return way && evaluateNodes(way.nodes, env)
  }
}
/** A zero that arithmetic made is soft, whoever gave the (co)tangent: one of ones gives what the literal 1 gives, NaN or not. */
export const checkOnes = (
  registry: Registry,
  modes: readonly Mode[],
  inputs: readonly Given[],
  ys: readonly Node[],
  out: Collector,
): void => {
  const at = atOnes(registry, modes, inputs, ys, 1)
  for (const [literal, given] of [
    ['forward', 'forward, of a direction'],
    ['reverse', 'reverse, of a seed'],
    ['mixed', 'mixed, of a seed'],
  ] as const) {
    const want = at?.(literal)
    at?.(given)?.forEach((v, i) => {
      out.near('non-finite', `${given}, ${i}`, v.data, want![i]!.data, 1e-9, undefined, {
        shape: v.shape,
        how: 'of ones, against the literal 1',
      })
    })
  }
}
/** Second derivatives of a function of one number at each index are the same in every way, where they are infinite too. */
export const checkOrders = (registry: Registry, modes: readonly Mode[], inputs: readonly Given[], y: Node, out: Collector): void => {
  const at = atOnes(registry, modes, inputs, [y], 2)
  const want = at?.('forward over forward')?.[0]
  if (want === undefined) return
  const [value] = evaluateNodes(
    [y],
    bind(
      inputs.map((x) => x.node),
      inputs.map((x) => x.value),
    ),
  )
  // Where the function has no value it has no derivative.
  const some = (a: NDArray): Float64Array => Float64Array.from(a.data, (x, i) => (Number.isNaN(value!.data[i]) ? 0 : x))
  for (const how of ['reverse over reverse', 'forward over reverse', 'reverse over forward', 'mixed over mixed']) {
    const [v] = at!(how) ?? []
    if (v !== undefined)
      out.near('second order', 'argument 0', some(v), some(want), 1e-9, undefined, {
        shape: v.shape,
        how: `${how} against forward over forward`,
      })
  }
}
