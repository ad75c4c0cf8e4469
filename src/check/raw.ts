/** A rule's own results, before the modes project them: kinds, dtypes, shapes; laziness, repetition, accumulation and cost. */
import { evaluateNodes } from '../backends/reference/index.js'
import { type Registry, ruleFor } from '../core/calculus/rule.js'
import { isFloat, showAval } from '../core/graph/aval.js'
import { APPLY, asExpr, asNode, constant, input, linearize, type Node, OUTPUT, resultAvals } from '../core/graph/expr.js'
import type { NDArray } from '../core/graph/ndarray.js'
import type { AnyPrimitive } from '../core/graph/primitive.js'
import { sameShape, stridesOf } from '../core/graph/shape.js'
import { type Forced, type Tangent, unthunk, ZeroTangent } from '../core/graph/tangent.js'
import { broadcastNode } from '../core/ops/layout/move.js'
import { listFrom } from '../modes/returned.js'
import { configOf } from '../modes/transform.js'
import type { Collector } from './findings.js'
import { drawLike } from './subject.js'

/** The number that the next node will carry: differences count the nodes that were built. */
const clock = (): number => constant(0, 'f64').id

interface Called {
  readonly registry: Registry
  readonly prim: AnyPrimitive
  readonly params: unknown
  readonly inputs: readonly Node[]
  readonly ys: readonly Node[]
}
const kindOf = (prim: AnyPrimitive, i: number) => prim.args[prim.variadic ? 0 : i]

/**
 * An elementwise rule may answer in the shape that its arguments broadcast to (the modes sum it), and a rule over arguments of several
 * dtypes in the promoted one. Otherwise a tangent is of its argument's shape and dtype.
 */
const checkSpace = (t: Forced, like: Node, { prim, inputs, ys }: Called, path: string, out: Collector): void => {
  if (t._tag !== 'Expr') return
  const n = asNode(t)
  const floats = new Set([...inputs, ...ys].map((x) => x.dtype).filter(isFloat))
  const broadcast = prim.class === 'elementwise' && (n.shape.length === 0 || [...inputs, ...ys].some((x) => sameShape(x.shape, n.shape)))
  out.comparisons++
  if (n.dtype !== like.dtype && floats.size === 1)
    out.note('dtype', `${path}, as the rule gives it`, 0, showAval(like.aval), showAval(n.aval))
  if (!sameShape(n.shape, like.shape) && !broadcast)
    out.note('shape', `${path}, as the rule gives it`, 0, showAval(like.aval), showAval(n.aval))
}

/** The frule as it is: one tangent per result, of its space; tangents that are all zero give zero and build nothing. */
export const checkFruleAlone = (c: Called, out: Collector): void => {
  const { registry, prim, params, inputs, ys } = c
  const frule = ruleFor(registry, prim, 'frule', 'the checker')
  const active = inputs.map((x) => isFloat(x.dtype))
  const context = { y: asExpr(ys[0]!), ys: ys.map(asExpr), active, config: configOf(registry) }
  const dxs = inputs.map((x): Tangent => (isFloat(x.dtype) ? asExpr(input(x.aval)) : { _tag: 'NoTangent' }))
  const { dys, ys: own } = frule(inputs.map(asExpr), dxs, params as never, context)
  out.is('shape', 'results of the frule', own.length, ys.length)
  out.is('shape', 'tangents of the frule', dys.length, ys.length)
  dys.forEach((t, i) => {
    const y = ys[i]
    if (y === undefined) return
    const f = unthunk(t)
    if (isFloat(y.dtype)) checkSpace(f, y, c, `dy ${i}`, out)
    else out.is('tangent', `dy ${i} of a ${y.dtype} result`, f._tag, 'NoTangent')
  })
}

/** The rrule and its pullback as they are. */
export const checkRruleAlone = (c: Called, env: ReadonlyMap<Node, NDArray>, next: () => number, out: Collector): void => {
  const { registry, prim, params, inputs, ys } = c
  const rrule = ruleFor(registry, prim, 'rrule', 'the checker')
  const mask = inputs.map((x, i) => isFloat(x.dtype) && kindOf(prim, i) === 'float')
  const exact = [...inputs, ...ys].some((n) => n.dtype === 'f32') ? 1e-6 : 1e-12
  const context = { y: asExpr(ys[0]!), ys: ys.map(asExpr), active: mask, config: configOf(registry) }
  const made = rrule(inputs.map(asExpr), params as never, context)
  const seeds = ys.map((y) => (isFloat(y.dtype) ? input(y.aval) : undefined))
  const yBars = seeds.map((s): Forced => (s === undefined ? ZeroTangent : asExpr(s)))
  const symbols = seeds.flatMap((s) => (s === undefined ? [] : [s]))
  const numbers = new Map(env)
  drawLike(symbols, next).forEach((v, i) => {
    numbers.set(symbols[i]!, v)
  })
  const pull = (bars: readonly Forced[], active: readonly boolean[]): readonly Tangent[] =>
    listFrom(prim, 'pullback', made.pullback(bars, active), inputs.length, 'cotangent', 'argument')
  const numbersOf = (t: Tangent): ArrayLike<number> | undefined => {
    const f = unthunk(t)
    return f._tag === 'Expr' ? evaluateNodes([asNode(f)], numbers)[0]!.data : undefined
  }
  const first = pull(yBars, mask)
  first.forEach((t, i) => {
    const x = inputs[i]
    if (x === undefined) return
    const f = unthunk(t)
    // The same object when forced again: built once.
    out.is('thunk', `forced again, argument ${i}`, unthunk(t), f)
    if (kindOf(prim, i) === 'int') out.is('tangent', `argument ${i} has no tangent space`, f._tag, 'NoTangent')
    else if (mask[i]) {
      if (f._tag === 'NoTangent') out.note('tangent', `argument ${i}`, 0, 'ZeroTangent or a value', 'NoTangent')
      checkSpace(f, x, c, `xBar ${i}`, out)
    }
  })
  const base = first.map((t, i) => (mask[i] ? numbersOf(t) : undefined))
  if (out.on('repeat')) {
    for (let k = 0; k < 2; k++)
      pull(yBars, mask).forEach((t, i) => {
        if (base[i] !== undefined)
          out.near('repeat', `argument ${i}`, numbersOf(t) ?? [], base[i]!, 0, undefined, { how: 'the pullback called again' })
      })
    // With another seed, what a pullback of its own gives for that.
    const others = seeds.map((s) => (s === undefined ? undefined : input(s.aval)))
    const symbolsOf = others.flatMap((s) => (s === undefined ? [] : [s]))
    drawLike(symbolsOf, next).forEach((v, i) => {
      numbers.set(symbolsOf[i]!, v)
    })
    const otherBars = others.map((s): Forced => (s === undefined ? ZeroTangent : asExpr(s)))
    const fresh = rrule(inputs.map(asExpr), params as never, context).pullback(otherBars, mask)
    pull(otherBars, mask).forEach((t, i) => {
      if (mask[i])
        out.near('repeat', `argument ${i}`, numbersOf(t) ?? [], numbersOf(fresh[i]!) ?? [], 0, undefined, {
          how: 'the pullback called with another seed',
        })
    })
  }
  if (out.on('seed')) checkZeroSeeds(pull, seeds, mask, out)
  // A rule over programs builds those until it knows what goes round: nodes that nothing runs.
  const lazy = prim.class !== 'elementwise' && prim.programs === undefined
  if (out.on('activity')) checkSubsets(lazy, pull, yBars, mask, base, numbersOf, exact, out)
  if (out.on('accumulate')) checkInPlace(first, base, c, numbers, exact, '', next, out)
  if (ys.length > 1) checkMissing(c, pull, seeds, mask, numbers, exact, next, out)
}

/** Of thunks with a way of their own into an accumulator: it adds the cotangent, and its block holds what is not zero of it. */
const checkInPlace = (
  ts: readonly Tangent[],
  base: readonly (ArrayLike<number> | undefined)[],
  { inputs }: Called,
  numbers: ReadonlyMap<Node, NDArray>,
  exact: number,
  how: string,
  next: () => number,
  out: Collector,
): void => {
  ts.forEach((t, i) => {
    const want = base[i]
    if (t._tag !== 'InplaceableThunk' || want === undefined) return
    const acc = input(inputs[i]!.aval)
    const start = drawLike([acc], next)[0]!
    const added = asNode(t.addTo(asExpr(acc)))
    const place = { shape: acc.shape, how }
    const sum = evaluateNodes([added], new Map([...numbers, [acc, start]]))[0]!.data
    const total = Float64Array.from(start.data, (v, k) => v + want[k]!)
    out.near('accumulate', `addTo of argument ${i}`, sum, total, exact, undefined, place)
    const { block } = t
    if (block === undefined) return
    const value = asNode(block.value())
    out.is('shape', `the block of argument ${i}`, value.shape.join(), block.sizes.join(), place)
    if (value.shape.join() !== block.sizes.join()) return
    const data = new Float64Array(acc.aval.size)
    const part = evaluateNodes([value], numbers)[0]!.data
    const [all, own] = [stridesOf(acc.shape), stridesOf(block.sizes)]
    for (let k = 0; k < part.length; k++)
      data[block.starts.reduce((at, s, axis) => at + (s + (Math.floor(k / own[axis]!) % block.sizes[axis]!)) * all[axis]!, 0)] = part[k]!
    out.near('accumulate', `the block of argument ${i}`, data, want, exact, undefined, place)
  })
}

/** Results without a cotangent, in every subset of the first four: as if theirs were zeros, in place too. */
const checkMissing = (
  c: Called,
  pull: (bars: readonly Forced[], active: readonly boolean[]) => readonly Tangent[],
  seeds: readonly (Node | undefined)[],
  mask: readonly boolean[],
  numbers: ReadonlyMap<Node, NDArray>,
  exact: number,
  next: () => number,
  out: Collector,
): void => {
  const floats = seeds.flatMap((s, i) => (s === undefined ? [] : [i])).slice(0, 4)
  if (floats.length < 2 || !out.on('seed')) return
  const values = (ts: readonly Tangent[]): readonly (ArrayLike<number> | undefined)[] =>
    ts.map((t, i) => {
      const f = unthunk(t)
      if (!mask[i] || f._tag === 'NotImplemented') return undefined
      return f._tag === 'Expr' ? evaluateNodes([asNode(f)], numbers)[0]!.data : new Float64Array(c.inputs[i]!.aval.size)
    })
  for (let m = 1; m < 2 ** floats.length - 1; m++) {
    const there = seeds.map((_, i) => !floats.includes(i) || (m >> floats.indexOf(i)) % 2 === 1)
    const bars = (otherwise: (s: Node) => Forced): readonly Forced[] =>
      seeds.map((s, i) => (s === undefined ? ZeroTangent : there[i] ? asExpr(s) : otherwise(s)))
    const some = pull(
      bars(() => ZeroTangent),
      mask,
    )
    const want = values(
      pull(
        bars((s) => asExpr(broadcastNode(constant(0, s.dtype), s.shape))),
        mask,
      ),
    )
    const how = `results ${floats.filter((i) => there[i]).join(', ')} alone have a cotangent`
    values(some).forEach((v, i) => {
      if (v !== undefined && want[i] !== undefined)
        out.near('seed', `argument ${i}`, v, want[i], exact, undefined, { shape: c.inputs[i]!.shape, how })
    })
    if (out.on('accumulate')) checkInPlace(some, want, c, numbers, exact, how, next, out)
  }
}

/** Seeds that are all zero give zeros, and no node is built. */
const checkZeroSeeds = (
  pull: (bars: readonly Forced[], active: readonly boolean[]) => readonly Tangent[],
  seeds: readonly (Node | undefined)[],
  mask: readonly boolean[],
  out: Collector,
): void => {
  const before = clock()
  const zeros = pull(
    seeds.map(() => ZeroTangent),
    mask,
  ).map(unthunk)
  const built = clock() - before - 1
  zeros.forEach((f, i) => {
    if (f._tag === 'Expr') out.note('seed', `zero seed, argument ${i}`, 0, 'ZeroTangent', 'an expression')
  })
  out.is('seed', 'nodes built for a zero seed', built, 0)
}

/** What to write where a pullback builds what is not asked for. */
const LAZILY = 'a pullback of several arguments builds each cotangent when it is asked for: wrap it in thunk(...)'
/** Which cotangents are asked for, in words. */
const wordsOfArguments = (active: readonly boolean[]): string => {
  const those = active.flatMap((asked, i) => (asked ? [i] : []))
  return those.length === 1
    ? `the cotangent of argument ${those[0]} alone is`
    : `the cotangents of arguments ${those.slice(0, -1).join(', ')} and ${those.at(-1)} alone are`
}

/**
 * Every subset of the arguments: the same cotangents. `lazy`: and nothing is built that they do not need. (The partials of an elementwise rule
 * are one list: those of the other arguments are built, never reached, and so never run.)
 */
const checkSubsets = (
  lazy: boolean,
  pull: (bars: readonly Forced[], active: readonly boolean[]) => readonly Tangent[],
  yBars: readonly Forced[],
  mask: readonly boolean[],
  base: readonly (ArrayLike<number> | undefined)[],
  numbersOf: (t: Tangent) => ArrayLike<number> | undefined,
  exact: number,
  out: Collector,
): void => {
  const places = mask.flatMap((m, i) => (m ? [i] : [])).slice(0, 6)
  /** What was built with a node: an application of several results with all of these. */
  const withSiblings = (n: Node, before: number): number =>
    n.kind === OUTPUT && n.args[0]!.id > before ? 0 : n.kind === APPLY && n.prim!.multi ? 1 + resultAvals(n).length : 1
  /** Nodes built for nothing: not below any cotangent that was asked for. */
  const wasted = (active: readonly boolean[]): number => {
    const before = clock()
    const asked = pull(yBars, active).flatMap((t, i) => (active[i] ? [unthunk(t)] : []))
    const built = clock() - before - 1
    const roots = asked.flatMap((f) => (f._tag === 'Expr' ? [asNode(f)] : []))
    return built - linearize(roots).nodes.reduce((count, n) => count + (n.id > before ? withSiblings(n, before) : 0), 0)
  }
  const usual = lazy ? wasted(mask) : 0
  for (let m = 1; m < 2 ** places.length - 1; m++) {
    const active = mask.map((_, i) => places.includes(i) && (m >> places.indexOf(i)) % 2 === 1)
    const how = `${wordsOfArguments(active)} asked for`
    const got = pull(yBars, active)
    for (const i of places)
      if (active[i] && base[i] !== undefined)
        out.near('activity', `argument ${i}`, numbersOf(got[i]!) ?? [], base[i]!, exact, undefined, { how })
    if (lazy) out.is('activity', 'nodes built for nothing', Math.max(0, wasted(active) - usual), 0, { how, fix: LAZILY })
  }
}
