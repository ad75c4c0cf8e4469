/** Layers and losses over sequences: attention, and connectionist temporal classification. */
import { badInput, badShape, showShape } from '../../core/errors/explain.js'
import { flag, integer, number, type OptionsOf, raw } from '../../core/errors/options.js'
import { broadcastShapes } from '../../core/graph/shape.js'
import { add, div, maximum, minimum, mul, stopGradient, sub, where } from '../../core/ops/arithmetic.js'
import { arrayOf, literal, part, positions } from '../../core/ops/arrays.js'
import { and, eq, ge, gt, isfinite, le, lt, ne } from '../../core/ops/compare.js'
import { full } from '../../core/ops/construct.js'
import { concat } from '../../core/ops/joins.js'
import { broadcastTo, reshape, transpose } from '../../core/ops/layout/layout.js'
import { array, axis, floats, indices, operation } from '../../core/ops/operation.js'
import { max, mean, sum } from '../../core/ops/reductions.js'
import type { AnyExpr, Arg, PlainBool } from '../../core/types/expr.js'
import type { AttentionFn, CtcFn, ReverseSequenceFn } from '../../core/types/signatures/sequences.js'
import { matmul } from '../../families/contract.js'
import { checkpoint, scan } from '../../families/control.js'
import { exp, log } from '../../families/exponentials.js'
import { takeAlongAxis } from '../../families/indexing.js'
import { lossOptions, reductions } from './loss-reduction.js'

/** Queries of more rows than this are taken so many at a time. */
const WHOLE = 128
const BLOCK = 64
const infinity = Number.NEGATIVE_INFINITY
const joined = (xs: readonly AnyExpr[], axis: number): AnyExpr => concat(xs, { axis })
const loop = scan as unknown as (f: unknown, init: unknown, xs: unknown, options?: object) => readonly [AnyExpr, AnyExpr]

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
  const products = matmul(mul(q, scale), transpose(k))
  const [n, m] = products.shape.slice(-2) as [number, number]
  const biased = mask === undefined || mask.dtype === 'bool' ? products : add(products, mask)
  const kept = mask === undefined || mask.dtype !== 'bool' ? biased : where(mask, biased, infinity)
  const [row, column] = [positions([n, 1], 0), positions([1, m], 1)]
  const scores = causal ? where(le(column, add(row, first)), kept, infinity) : kept
  const top = stopGradient(max(scores, { axis: -1, keepdims: true }))
  // A row of which nothing is kept has no largest score, and is zeros.
  const e = exp(sub(scores, where(isfinite(top), top, 0)))
  const total = sum(e, { axis: -1, keepdims: true })
  return div(matmul(e, v), where(gt(total, 0), total, 1))
}
/** An axis as so many blocks of a length, in front. */
const inBlocks = (x: AnyExpr, axis: number, count: number): AnyExpr => {
  const shape = x.shape.flatMap((d, i) => (i === axis ? [count, BLOCK] : [d]))
  return transpose(
    reshape(part(x, axis, 0, count * BLOCK), shape),
    [axis, ...shape.keys()].filter((a, i) => i === 0 || a !== axis),
  )
}
const attentionOptions = {
  /** True where a score counts, or a number that is added to it; broadcasts against [..., n, m]. */
  mask: raw<Arg | PlainBool>(),
  /** Row i of q sees k's rows up to i. */
  causal: flag(),
  /** 1 / sqrt(d) unless given. */
  scale: number(),
}
/** Options of `scaledDotProductAttention`. */
interface AttentionOptions extends OptionsOf<typeof attentionOptions> {}
/**
 * The rows of v, weighted for each row of q by softmax(q k^T scale): attention. Long sequences are processed in blocks of rows of q and recomputed in the reverse pass, so that no
 * n by m array is kept.
 *
 * `mask` is true where a score counts, or a number that is added to it, and broadcasts against [..., n, m]; with `causal` row i sees k's rows up to i. If q has more heads (the
 * third axis from the end) than k and v, each of theirs serves a group of q's. A row in which no score counts is zeros.
 *
 * Shapes  q: [..., n, d], k: [..., m, d], v: [..., m, e] -> [..., n, e].   Source  Vaswani et al. 2017; scale 1 / sqrt(d).
 * Rule    by composition.   Errors  ShapeMismatch for shapes that do not fit together, BadInput for invalid options.
 * @example scaledDotProductAttention(tensor([[1, 0]]), tensor([[1, 0], [1, 0]]), tensor([[2], [4]]))   // [[3]]
 */
export const scaledDotProductAttention: AttentionFn<AttentionOptions> = operation(
  'scaledDotProductAttention',
  { q: floats, k: floats, v: floats },
  attentionOptions,
  (given, o, op) => {
    const { q, k, v, mask, ungroup } = inGroups(given, o.mask === undefined ? undefined : arrayOf(o.mask, op, 'any', given.q.dtype), op)
    const how = { scale: o.scale ?? 1 / Math.sqrt(Math.max(1, q.shape.at(-1)!)), causal: o.causal }
    return ungroup(q.shape.at(-2)! <= WHOLE ? rowsOf(q, k, v, mask, 0, how) : byBlocks(q, k, v, mask, how))
  },
)
const byBlocks = (q: AnyExpr, k: AnyExpr, v: AnyExpr, mask: AnyExpr | undefined, how: Attending): AnyExpr => {
  const [rows, n] = [q.shape.length - 2, q.shape.at(-2)!]
  const count = Math.floor(n / BLOCK)
  const rest = n - count * BLOCK
  const own = mask !== undefined && mask.shape.length > 1 && mask.shape.at(-2) === n ? mask : undefined
  const ownRows = own === undefined ? 0 : own.shape.length - 2
  const start = positions([count], 0)
  const xs = [inBlocks(q, rows, count), mul(start, BLOCK), ...(own ? [inBlocks(own, ownRows, count)] : [])]
  const block = ([qs, first, kept]: readonly AnyExpr[]): AnyExpr => rowsOf(qs!, k, v, kept ?? mask, first!, how)
  const [, ys] = loop((carry: unknown, x: readonly AnyExpr[]) => [carry, block(x)], [], xs, { checkpoint: 'nothing' })
  const order = ys.shape.map((_, i) => i)
  const back = transpose(ys, [...order.slice(1, rows + 1), 0, ...order.slice(rows + 1)])
  const done = reshape(back, [...back.shape.slice(0, rows), count * BLOCK, back.shape.at(-1)!])
  if (rest === 0) return done
  const last = (checkpoint as unknown as (f: unknown) => (...xs: readonly AnyExpr[]) => AnyExpr)((qs: AnyExpr, kept?: AnyExpr) =>
    block([qs, literal(count * BLOCK, 'i32'), ...(kept === undefined ? [] : [kept])]),
  )
  const tail = [part(q, rows, count * BLOCK, rest), ...(own ? [part(own, ownRows, count * BLOCK, rest)] : [])]
  return joined([done, last(...tail)], rows)
}
interface Heads {
  readonly q: AnyExpr
  readonly k: AnyExpr
  readonly v: AnyExpr
}
/** Heads of queries with those of keys and values: as they are, or in groups, one for each head of keys. */
const inGroups = ({ q, k, v }: Heads, mask: AnyExpr | undefined, op: string) => {
  const unfit = (reason: string, fix: string): never => badShape(op, [q.shape, k.shape, v.shape], reason, fix)
  if (
    Math.min(q.shape.length, k.shape.length, v.shape.length) < 2 ||
    q.shape.at(-1) !== k.shape.at(-1) ||
    k.shape.at(-2) !== v.shape.at(-2)
  )
    unfit(
      `q ${showShape(q.shape)}, k ${showShape(k.shape)} and v ${showShape(v.shape)} do not fit together.`,
      'give q [..., n, d], k [..., m, d], v [..., m, e].',
    )
  const [heads, kept] = [q.shape.at(-3) ?? 1, k.shape.at(-3) ?? 1]
  const groups = heads / kept
  const [n, m] = [q.shape.at(-2)!, k.shape.at(-2)!]
  const same = kept === 1 || heads === 1 || heads === kept
  if (!same && (!Number.isInteger(groups) || v.shape.at(-3) !== kept))
    unfit(`${heads} heads of q are not a multiple of the ${kept} of k.`, 'give as many, or a multiple.')
  const split = (x: AnyExpr, to: readonly number[]): AnyExpr => reshape(x, [...x.shape.slice(0, -3), ...to, ...x.shape.slice(-2)])
  const parts = same ? { q, k, v } : { q: split(q, [kept, groups]), k: split(k, [kept, 1]), v: split(v, [kept, 1]) }
  const leading = (x: AnyExpr): readonly number[] => x.shape.slice(0, -2)
  const batch = [parts.k, parts.v].reduce<readonly number[] | undefined>((s, x) => s && broadcastShapes(s, leading(x)), leading(parts.q))
  if (batch === undefined) return unfit('their leading axes do not broadcast.', 'give the same leading axes, or 1.')
  const scores = same ? [...batch, n, m] : [...batch.slice(0, -2), heads, n, m]
  if (mask !== undefined && (mask.shape.length > scores.length || !broadcastShapes(mask.shape, scores)?.every((d, i) => d === scores[i])))
    badShape(
      op,
      [mask.shape, scores],
      `the mask ${showShape(mask.shape)} does not broadcast against the scores ${showShape(scores)}.`,
      `give one of shape ${showShape([n, m])}.`,
    )
  const grouping = !same && mask !== undefined && mask.shape.length > 2
  return {
    ...parts,
    q: broadcastTo(parts.q, [...batch, ...parts.q.shape.slice(-2)]),
    mask: grouping ? split(mask, mask.shape.at(-3) === 1 ? [1, 1] : [kept, groups]) : mask,
    ungroup: (y: AnyExpr): AnyExpr => (same ? y : reshape(y, [...y.shape.slice(0, -4), heads, ...y.shape.slice(-2)])),
  }
}

const reverseOptions = {
  /** The axis of the steps, the first unless given. */
  axis: axis(0),
  /** The axis of the examples, the second unless given. */
  batchAxis: axis(1),
}
/** Options of `reverseSequence`. */
interface ReverseSequenceOptions extends OptionsOf<typeof reverseOptions> {}
/**
 * The first `lengths` entries of each sequence in reverse, the others where they are: along an axis (the first by default) of each example along another (the second by default).
 *
 * Shapes  x: [t, n, ...], lengths: [n] i32 -> x's.   Dtype  x's.   Rule  xBar = yBar reversed alike.   Source  ONNX ReverseSequence; TensorFlow reverse_sequence.
 * Errors  ShapeMismatch unless lengths is a vector with one for each example, DTypeMismatch for lengths that are not i32, BadInput for an axis out of range or named twice.
 * @example reverseSequence(tensor([[1, 4], [2, 5], [3, 6]]), [2, 3])   // [[2, 6], [1, 5], [3, 4]]
 */
export const reverseSequence: ReverseSequenceFn<ReverseSequenceOptions> = operation(
  'reverseSequence',
  { x: array, lengths: indices },
  reverseOptions,
  ({ x, lengths }, { axis: along, batchAxis: over }, op) => {
    if (along === over) badInput(op, `axis and batchAxis are both ${along}.`, 'give two of them.')
    const [t, n] = [x.shape[along]!, x.shape[over]!]
    if (lengths.shape.length !== 1 || lengths.shape[0] !== n)
      badShape(op, [x.shape, lengths.shape], `lengths ${showShape(lengths.shape)} do not fit x ${showShape(x.shape)}.`, `give [${n}].`)
    const shape = x.shape.map((d, i) => (i === along || i === over ? d : 1))
    const place = positions(shape, along)
    const each = minimum(reshape(lengths, x.shape.map((_, i) => (i === over ? n : 1))), t) // biome-ignore format: one row
    const from = where(lt(place, each), sub(sub(each, 1), place), place)
    return takeAlongAxis(x, broadcastTo(from, x.shape) as never, { axis: along })
  },
)

/** Less than any logarithm of a probability, and far from overflow when such are added. */
const NEVER = -1e30
/** log(e^a + e^b + ...), of numbers from NEVER on. */
const logSum = (xs: readonly AnyExpr[]): AnyExpr => {
  const top = stopGradient(xs.reduce((a, b) => maximum(a, b)))
  return add(top, log(xs.map((x): AnyExpr => exp(sub(x, top))).reduce((a, b) => add(a, b))))
}
const ctcOptions = {
  /** The class that stands for nothing. */
  blank: integer(0),
  ...lossOptions,
  /** Is the loss of an impossible target 0? */
  zeroInfinity: flag(),
}
/** Options of `ctcLoss`. */
interface CtcOptions extends OptionsOf<typeof ctcOptions> {}
/**
 * Connectionist temporal classification: -log of the probability of all ways to write the target with blanks and repetitions over the steps.
 *
 * `mean` is that of the losses, each divided by the length of its target; an impossible target has an infinite loss, or 0 (and no gradient) with `zeroInfinity`.
 *
 * Shapes  logP: [t, n, k] log probabilities, targets: [n, s] i32, inputLengths, targetLengths: [n] i32 -> [], or [n] without a reduction.
 * Rule    by composition.   Source  Graves et al. 2006; PyTorch ctc_loss.
 * Errors  ShapeMismatch for shapes that do not fit together, DTypeMismatch for targets that are not i32, BadInput for a blank out of range.
 * @example ctcLoss(tensor([[[-1, -0.5]], [[-1, -0.5]]]), [[1]], [2], [1])   // 0.20562
 */
export const ctcLoss: CtcFn<CtcOptions> = operation(
  'ctcLoss',
  { logP: floats, targets: indices, inputLengths: indices, targetLengths: indices },
  ctcOptions,
  ({ logP: p, targets: labels, inputLengths: steps, targetLengths: lengths }, { blank, reduction: by, zeroInfinity }, op) => {
    const [t, n, k] = p.shape as readonly [number, number, number]
    const s = labels.shape[1]!
    if (
      p.shape.length !== 3 ||
      labels.shape.length !== 2 ||
      labels.shape[0] !== n ||
      [steps, lengths].some((x) => x.shape.length !== 1 || x.shape[0] !== n)
    )
      badShape(
        op,
        [p.shape, labels.shape, steps.shape, lengths.shape],
        `logP ${showShape(p.shape)}, targets ${showShape(labels.shape)} and lengths ${showShape(steps.shape)}, ${showShape(lengths.shape)} do not fit together.`,
        'give [t, n, k], [n, s], [n] and [n].',
      )
    if (blank < 0 || blank >= k) badInput(op, `blank is ${blank} of ${k} classes.`, `give 0 to ${k - 1}.`)
    if (t === 0) badShape(op, [p.shape], 'there are no steps.', 'give at least one.')
    // Blanks around and between the labels: 2 s + 1 places.
    const places = 2 * s + 1
    const blanks = (shape: readonly number[]): AnyExpr => full(shape, blank, 'i32')
    const between = reshape(joined([blanks([n, s, 1]), reshape(labels, [n, s, 1])], 2), [n, 2 * s])
    const written = joined([between, blanks([n, 1])], 1)
    const place = positions([1, places], 1)
    /** x moved behind so many others. */
    const behind = (others: AnyExpr, x: AnyExpr): AnyExpr => {
      const by = others.shape[1]!
      return joined([others, part(x, 1, 0, places - by)], 1)
    }
    const never = (width: number): AnyExpr => full([n, width], NEVER, p.dtype)
    const moved = (x: AnyExpr, by: number): AnyExpr => (places <= by ? never(places) : behind(never(by), x))
    const before = places <= 2 ? written : behind(blanks([n, 2]), written)
    const mayJump = and(ne(written, blank), ne(written, before))
    const emitted = (row: AnyExpr): AnyExpr => maximum(takeAlongAxis(row, written, { axis: 1 }), NEVER)
    const first = where(lt(place, 2), emitted(reshape(part(p, 0, 0, 1), [n, k])), NEVER)
    const step = (alpha: AnyExpr, [row, at]: readonly [AnyExpr, AnyExpr]): readonly [AnyExpr, null] => {
      const reached = logSum([alpha, moved(alpha, 1), where(mayJump, moved(alpha, 2), NEVER)])
      const next = maximum(add(reached, emitted(row)), NEVER)
      return [where(reshape(lt(at, steps), [n, 1]), next, alpha), null]
    }
    const [alpha] = loop(step, first, [part(p, 0, 1, t - 1), add(positions([t - 1], 0), 1)])
    const end = mul(2, reshape(lengths, [n, 1]))
    const isEnd = (x: AnyExpr): AnyExpr => sum(where(eq(place, x), alpha, 0), { axis: 1 })
    const last = isEnd(end)
    const inner = where(gt(lengths, 0), isEnd(sub(end, 1)), NEVER)
    const total = logSum([last, inner])
    const losses = where(ge(total, NEVER / 2), mul(-1, total), zeroInfinity ? 0 : Number.POSITIVE_INFINITY)
    return by === 'mean' ? mean(div(losses, maximum(lengths, 1))) : reductions[by](losses)
  },
)
