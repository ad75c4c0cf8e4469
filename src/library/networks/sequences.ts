/** Layers and losses over sequences: attention, and connectionist temporal classification. */
import { flagOf, integerOf, type Names, numberOf, optionsOf } from '../../core/errors/check-arguments.js'
import { raise, showShape } from '../../core/errors/explain.js'
import { asExpr, asNode, constant, type Node } from '../../core/graph/expr.js'
import { lift, liftAll, liftFloat } from '../../core/graph/lift.js'
import { typed } from '../../core/graph/operation.js'
import { broadcastShapes } from '../../core/graph/shape.js'
import { checkpoint } from '../../core/ops/checkpoint.js'
import { and, eq, ge, gt, isfinite, le, lt, ne } from '../../core/ops/compare.js'
import { scan } from '../../core/ops/control-flow.js'
import { add, div, maximum, mul, stopGradient, sub, where } from '../../core/ops/elementwise.js'
import { exp, log } from '../../core/ops/functions.js'
import { takeAlongAxis } from '../../core/ops/indexing.js'
import { iotaNode, liftIndices } from '../../core/ops/indexing-gather.js'
import { concatNode } from '../../core/ops/layout-join.js'
import { broadcastNode, reshapeNode, swapLast, transposeNode } from '../../core/ops/layout-move.js'
import { sliceAxis } from '../../core/ops/layout-slice.js'
import { matmul } from '../../core/ops/products.js'
import { max, mean, sum } from '../../core/ops/reductions.js'
import type { AnyExpr } from '../../core/types/expr.js'
import type { AttentionFn, AttentionOptions, CtcFn, CtcOptions } from '../../core/types/signatures/sequences.js'
import { reduction as reductionKind, reductions } from './loss-reduction.js'

const attentionOptions: Names<AttentionOptions> = { mask: true, causal: true, scale: true }
/** Queries of more rows than this are taken so many at a time. */
const WHOLE = 128
const BLOCK = 64
const infinity = Number.NEGATIVE_INFINITY

interface Attending {
  readonly scale: number
  readonly causal: boolean
}
/** Rows of the result for some rows of the queries, from row `first`. */
const rowsOf = (
  q: AnyExpr,
  k: AnyExpr,
  v: AnyExpr,
  mask: AnyExpr | undefined,
  first: AnyExpr | number,
  { scale, causal }: Attending,
): AnyExpr => {
  const products = matmul(mul(q, scale) as AnyExpr, asExpr(swapLast(asNode(k)))) as AnyExpr
  const [n, m] = products.shape.slice(-2) as [number, number]
  const biased = mask === undefined || mask.dtype === 'bool' ? products : add(products, mask)
  const kept = mask === undefined || mask.dtype !== 'bool' ? biased : where(mask, biased, infinity)
  const [row, column] = [asExpr(iotaNode([n, 1], 0, 'i32')), asExpr(iotaNode([1, m], 1, 'i32'))]
  const scores = causal ? where(le(column, add(row, first as never)), kept, infinity) : kept
  const top = stopGradient(max(scores, { axis: -1, keepdims: true }))
  // A row of which nothing is kept has no largest score, and is zeros.
  const e = exp(sub(scores, where(isfinite(top), top, 0)))
  const total = sum(e, { axis: -1, keepdims: true })
  return div(matmul(e, v) as AnyExpr, where(gt(total, 0), total, 1))
}
/** An axis as so many blocks of a length, in front. */
const inBlocks = (x: Node, axis: number, count: number, length: number): Node => {
  const shape = x.shape.flatMap((d, i) => (i === axis ? [count, length] : [d]))
  return transposeNode(
    reshapeNode(sliceAxis(x, axis, 0, count * length), shape),
    [axis, ...shape.keys()].filter((a, i) => i === 0 || a !== axis),
  )
}
/**
 * The rows of v, weighted for each row of q by softmax(q k^T scale): attention. Long sequences are taken some rows of q at a time and computed again on the way back, so that no array of rows by rows is kept.
 *
 * `mask` is true where a score counts, or a number that is added to it, and broadcasts against [..., n, m]; with `causal` row i sees k's rows up to i. Where q has more heads (the third axis from the end) than k and v, each of theirs serves as many of q's. A row without any score is zeros.
 *
 * Shapes  q: [..., n, d], k: [..., m, d], v: [..., m, e] -> [..., n, e].   Source  Vaswani et al. 2017; scale 1 / sqrt(d).
 * Rule    by composition.   Errors  ShapeMismatch for shapes that do not belong together, BadInput for options of another form.
 * @example scaledDotProductAttention(tensor([[1, 0]]), tensor([[1, 0], [1, 0]]), tensor([[2], [4]]))   // [[3]]
 */
export const scaledDotProductAttention: AttentionFn = typed((q: unknown, k: unknown, v: unknown, options?: AttentionOptions): AnyExpr => {
  const op = 'scaledDotProductAttention'
  const given = optionsOf(options, attentionOptions, op)
  const lifted = liftAll([q, k, v], op, 'float') as [Node, Node, Node]
  const mask = given.mask === undefined ? undefined : lift(given.mask, op, lifted[0].dtype)
  const grouped = inGroups(lifted, mask, op)
  const [queries, keys, values] = grouped.arrays
  const n = queries.shape.at(-2)!
  const how = {
    scale: given.scale === undefined ? 1 / Math.sqrt(Math.max(1, queries.shape.at(-1)!)) : numberOf(given.scale, 'scale', op),
    causal: flagOf(given.causal, 'causal', op),
  }
  const y =
    n <= WHOLE
      ? asNode(rowsOf(asExpr(queries), asExpr(keys), asExpr(values), grouped.mask && asExpr(grouped.mask), 0, how))
      : byBlocks(queries, keys, values, grouped.mask, how)
  return asExpr(grouped.ungroup(y))
})
const byBlocks = (q: Node, k: Node, v: Node, mask: Node | undefined, how: Attending): Node => {
  const [rows, n] = [q.shape.length - 2, q.shape.at(-2)!]
  const count = Math.floor(n / BLOCK)
  const rest = n - count * BLOCK
  const own = mask !== undefined && mask.shape.length > 1 && mask.shape.at(-2) === n
  const maskRows = mask === undefined ? 0 : mask.shape.length - 2
  const start = asExpr(iotaNode([count], 0, 'i32'))
  const xs = [asExpr(inBlocks(q, rows, count, BLOCK)), mul(start, BLOCK), ...(own ? [asExpr(inBlocks(mask, maskRows, count, BLOCK))] : [])]
  const part = ([qs, first, kept]: readonly AnyExpr[]): AnyExpr =>
    rowsOf(qs!, asExpr(k), asExpr(v), kept ?? (mask && asExpr(mask)), first!, how)
  const [, ys] = (scan as unknown as (f: unknown, init: unknown, xs: unknown, o: object) => readonly [unknown, AnyExpr])(
    (carry: unknown, x: readonly AnyExpr[]) => [carry, part(x)],
    [],
    xs,
    { checkpoint: 'nothing' },
  )
  const stacked = asNode(ys)
  const order = stacked.shape.map((_, i) => i)
  const back = transposeNode(stacked, [...order.slice(1, rows + 1), 0, ...order.slice(rows + 1)])
  const done = reshapeNode(back, [...back.shape.slice(0, rows), count * BLOCK, back.shape.at(-1)!])
  if (rest === 0) return done
  const last = (checkpoint as unknown as (f: unknown) => (...xs: readonly AnyExpr[]) => AnyExpr)((qs: AnyExpr, kept?: AnyExpr) =>
    part([qs, asExpr(constant(count * BLOCK, 'i32')), ...(kept === undefined ? [] : [kept])]),
  )
  const tail = [sliceAxis(q, rows, count * BLOCK, rest), ...(own ? [sliceAxis(mask, maskRows, count * BLOCK, rest)] : [])]
  return concatNode([done, asNode(last(...tail.map(asExpr)))], rows)
}
/** Heads of queries with those of keys and values: as they are, or in groups, one for each head of keys. */
const inGroups = (arrays: readonly [Node, Node, Node], mask: Node | undefined, op: string) => {
  const [q, k, v] = arrays
  const unfit = (reason: string, fix: string): never =>
    raise({ _tag: 'ShapeMismatch', op, shapes: [q.shape, k.shape, v.shape], reason, fix })
  if (
    Math.min(q.shape.length, k.shape.length, v.shape.length) < 2 ||
    q.shape.at(-1) !== k.shape.at(-1) ||
    k.shape.at(-2) !== v.shape.at(-2)
  )
    unfit(
      `q ${showShape(q.shape)}, k ${showShape(k.shape)} and v ${showShape(v.shape)} do not belong together.`,
      'give q [..., n, d], k [..., m, d], v [..., m, e].',
    )
  const [heads, kept] = [q.shape.at(-3) ?? 1, k.shape.at(-3) ?? 1]
  const groups = heads / kept
  const [n, m] = [q.shape.at(-2)!, k.shape.at(-2)!]
  const same = kept === 1 || heads === 1 || heads === kept
  if (!same && (!Number.isInteger(groups) || v.shape.at(-3) !== kept))
    unfit(`${heads} heads of q are no multiple of the ${kept} of k.`, 'give as many, or a multiple.')
  const split = (x: Node, to: readonly number[]): Node => reshapeNode(x, [...x.shape.slice(0, -3), ...to, ...x.shape.slice(-2)])
  const parts = same ? arrays : ([split(q, [kept, groups]), split(k, [kept, 1]), split(v, [kept, 1])] as const)
  const batch = parts
    .slice(1)
    .reduce<readonly number[] | undefined>((s, x) => s && broadcastShapes(s, x.shape.slice(0, -2)), parts[0].shape.slice(0, -2))
  if (batch === undefined) return unfit('their leading axes do not broadcast.', 'give the same leading axes, or 1.')
  const full = same ? [...batch, n, m] : [...batch.slice(0, -2), heads, n, m]
  if (mask !== undefined && (mask.shape.length > full.length || !broadcastShapes(mask.shape, full)?.every((d, i) => d === full[i])))
    raise({
      _tag: 'ShapeMismatch',
      op,
      shapes: [mask.shape, full],
      reason: `the mask ${showShape(mask.shape)} does not broadcast against the scores ${showShape(full)}.`,
      fix: `give one of shape ${showShape([n, m])}.`,
    })
  const grouping = !same && mask !== undefined && mask.shape.length > 2
  const wide = grouping ? split(mask, mask.shape.at(-3) === 1 ? [1, 1] : [kept, groups]) : mask
  const q0 = broadcastNode(parts[0], [...batch, ...parts[0].shape.slice(-2)])
  return {
    arrays: [q0, parts[1], parts[2]] as const,
    mask: wide,
    ungroup: (y: Node): Node => (same ? y : reshapeNode(y, [...y.shape.slice(0, -4), heads, ...y.shape.slice(-2)])),
  }
}

const ctcOptions: Names<CtcOptions> = { blank: true, reduction: true, zeroInfinity: true }
/** Less than any logarithm of a probability, and far from overflow when such are added. */
const NEVER = -1e30
/** log(e^a + e^b + ...), of numbers from NEVER on. */
const logSum = (xs: readonly AnyExpr[]): AnyExpr => {
  const top = stopGradient(xs.reduce((a, b) => maximum(a, b)))
  return add(top, log(xs.map((x): AnyExpr => exp(sub(x, top))).reduce((a, b) => add(a, b))))
}
/**
 * Connectionist temporal classification: -log of the probability of all ways to write the target with blanks and repetitions over the steps.
 *
 * `mean` is that of the losses, each divided by the length of its target; an impossible target has an infinite loss, or 0 (and no gradient) with `zeroInfinity`.
 *
 * Shapes  logP: [t, n, k] log probabilities, targets: [n, s] i32, inputLengths, targetLengths: [n] i32 -> [], or [n] without a reduction.
 * Rule    by composition.   Source  Graves et al. 2006; PyTorch ctc_loss.
 * Errors  ShapeMismatch for shapes that do not belong together, DTypeMismatch for targets that are not i32, BadInput for a blank out of range.
 * @example ctcLoss(tensor([[[-1, -0.5]], [[-1, -0.5]]]), [[1]], [2], [1])   // 0.20562
 */
export const ctcLoss: CtcFn = typed(
  (logP: unknown, targets: unknown, inputLengths: unknown, targetLengths: unknown, options?: CtcOptions): AnyExpr => {
    const op = 'ctcLoss'
    const { blank: given = 0, reduction, zeroInfinity } = optionsOf(options, ctcOptions, op)
    const p = liftFloat(logP, op)
    const labels = liftIndices(targets, op)
    const [steps, lengths] = [liftIndices(inputLengths, op), liftIndices(targetLengths, op)]
    const blank = integerOf(given, 'blank', op)
    const [t, n, k] = p.shape as readonly [number, number, number]
    const s = labels.shape[1]!
    if (
      p.shape.length !== 3 ||
      labels.shape.length !== 2 ||
      labels.shape[0] !== n ||
      [steps, lengths].some((x) => x.shape.length !== 1 || x.shape[0] !== n)
    )
      raise({
        _tag: 'ShapeMismatch',
        op,
        shapes: [p.shape, labels.shape, steps.shape, lengths.shape],
        reason: `logP ${showShape(p.shape)}, targets ${showShape(labels.shape)} and lengths ${showShape(steps.shape)}, ${showShape(lengths.shape)} do not belong together.`,
        fix: 'give [t, n, k], [n, s], [n] and [n].',
      })
    if (blank < 0 || blank >= k)
      raise({ _tag: 'BadInput', where: op, reason: `blank is ${blank} of ${k} classes.`, fix: `give 0 to ${k - 1}.` })
    if (t === 0) raise({ _tag: 'ShapeMismatch', op, shapes: [p.shape], reason: 'there are no steps.', fix: 'give at least one.' })
    // Blanks around and between the labels: 2 s + 1 places.
    const places = 2 * s + 1
    const blanks = broadcastNode(constant(blank, 'i32'), [n, s, 1])
    const between = reshapeNode(concatNode([blanks, reshapeNode(labels, [n, s, 1])], 2), [n, 2 * s])
    const written = concatNode([between, broadcastNode(constant(blank, 'i32'), [n, 1])], 1)
    const place = asExpr(iotaNode([1, places], 1, 'i32'))
    const never = (width: number): Node => broadcastNode(constant(NEVER, p.dtype), [n, width])
    const moved = (x: AnyExpr, by: number): AnyExpr =>
      places <= by ? asExpr(never(places)) : asExpr(concatNode([never(by), sliceAxis(asNode(x), 1, 0, places - by)], 1))
    const before =
      places <= 2 ? written : concatNode([broadcastNode(constant(blank, 'i32'), [n, 2]), sliceAxis(written, 1, 0, places - 2)], 1)
    const mayJump = and(ne(asExpr(written), blank), ne(asExpr(written), asExpr(before)))
    const emitted = (row: AnyExpr): AnyExpr => maximum(takeAlongAxis(row, asExpr(written) as never, { axis: 1 }) as AnyExpr, NEVER)
    const first = where(lt(place, 2), emitted(asExpr(reshapeNode(sliceAxis(p, 0, 0, 1), [n, k]))), NEVER)
    const step = (alpha: AnyExpr, x: readonly [AnyExpr, AnyExpr]): readonly [AnyExpr, null] => {
      const reached = logSum([alpha, moved(alpha, 1), where(mayJump, moved(alpha, 2), NEVER)])
      const next = maximum(add(reached, emitted(x[0])), NEVER)
      return [where(asExpr(reshapeNode(asNode(lt(x[1], asExpr(steps))), [n, 1])), next, alpha), null]
    }
    const xs = [asExpr(sliceAxis(p, 0, 1, t - 1)), add(asExpr(iotaNode([t - 1], 0, 'i32')), 1)]
    const [alpha] = (scan as unknown as (f: unknown, init: unknown, xs: unknown) => readonly [AnyExpr])(step, first, xs)
    const end = mul(2, asExpr(reshapeNode(lengths, [n, 1])))
    const isEnd = (x: AnyExpr): AnyExpr => sum(where(eq(place, x), alpha, 0), { axis: 1 })
    const last = isEnd(end)
    const inner = where(gt(asExpr(lengths), 0), isEnd(sub(end, 1)), NEVER)
    const total = logSum([last, inner])
    const possible = ge(total, NEVER / 2)
    const other = flagOf(zeroInfinity, 'zeroInfinity', op) ? 0 : Number.POSITIVE_INFINITY
    const losses = where(possible, mul(-1, total), other)
    if (reduction === undefined || reduction === 'mean') return mean(div(losses, maximum(asExpr(lengths), 1)))
    return reductions[reductionKind.read(reduction, 'reduction', op, [])](losses)
  },
)
