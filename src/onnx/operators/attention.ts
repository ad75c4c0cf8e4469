/** Parts of transformers: attention with its caches, rotary positions, gated activations. */
import {
  type AnyExpr,
  add,
  and,
  arange,
  broadcastTo,
  concat,
  div,
  eq,
  exp,
  gather,
  ge,
  le,
  lt,
  matmul,
  max,
  mod,
  mul,
  pad,
  repeat,
  reshape,
  rmsNorm,
  set,
  sigmoid,
  slice,
  stack,
  sub,
  sum,
  tanh,
  transpose,
  where,
  zeros,
} from '../../index.js'
import { axisIn, type Call, like, type Operator, type Sizes, type Table } from '../call.js'
import { asIndex } from '../value.js'

/** [batch, steps, heads size] as [batch, heads, steps, size]; of rank 4 it is that already. */
const inHeads = (c: Call, x: AnyExpr, heads: string): AnyExpr => {
  if (x.shape.length !== 3) return x
  const [batch, steps, all] = x.shape as readonly [number, number, number]
  const n = c.int(heads)
  return transpose(reshape(x, [batch, steps, n, all / n]), [0, 2, 1, 3])
}
/** 0, 1 ... n - 1 along one axis of four. */
const along = (n: number, axis: number): AnyExpr =>
  reshape(
    arange(n, 'i32'),
    [1, 1, 1, 1].map((one, i) => (i === axis ? n : one)),
  )
/** Which keys a query may see by its place: none behind it where `causal`, none too far away; `offset` is the place of the first query. */
const visible = (c: Call, queries: number, keys: number, offset: AnyExpr | number): AnyExpr | undefined => {
  const causal = c.int('is_causal', 0) !== 0
  const [left, right] = [c.int('left_window_size', -1), c.int('right_window_size', -1)]
  const distance = sub(add(along(queries, 2), offset), along(keys, 3))
  const rules = [
    ...(causal ? [ge(distance, 0)] : []),
    ...(left >= 0 ? [le(distance, left)] : []),
    ...(right >= 0 ? [ge(distance, -right)] : []),
  ]
  return rules.length === 0 ? undefined : rules.reduce<AnyExpr>((a, b) => and(a, b), rules[0]!)
}
/** e^x over its sum along the last axis, of what may be seen; a query that sees nothing gets zeros. */
const weightsOf = (scores: AnyExpr, seen: AnyExpr | undefined): AnyExpr => {
  const kept = seen === undefined ? scores : where(seen, scores, Number.NEGATIVE_INFINITY)
  const most = max(kept, { axis: -1, keepdims: true })
  const isNone = eq(most, Number.NEGATIVE_INFINITY)
  const powers = exp(sub(kept, where(isNone, 0, most)))
  const total = sum(powers, { axis: -1, keepdims: true })
  return div(powers, where(isNone, 1, total))
}
const attention: Operator = {
  since: [23, 24, 25],
  read: (c) => {
    const [q, given] = [inHeads(c, c.in(0).x, 'q_num_heads'), inHeads(c, c.in(1).x, 'kv_num_heads')]
    const [pastK, pastV, lengths] = [c.maybe(4), c.maybe(5), c.maybe(6)]
    const k = pastK === undefined ? given : concat([pastK.x, given], { axis: 2 })
    const own = inHeads(c, c.in(2).x, 'kv_num_heads')
    const v = pastV === undefined ? own : concat([pastV.x, own], { axis: 2 })
    const [heads, queries, size] = q.shape.slice(1) as [number, number, number]
    const [groups, keys] = k.shape.slice(1) as [number, number, number]
    // Several heads of queries share one of keys.
    const shared = (x: AnyExpr): AnyExpr => (groups === heads ? x : repeat(x, heads / groups, { axis: 1 }))
    const scale = c.float('scale', 1 / Math.sqrt(size))
    const raw = mul(matmul(q, transpose(shared(k), [0, 1, 3, 2])), scale)
    const cap = c.float('softcap', 0)
    const capped = cap > 0 ? mul(tanh(div(raw, cap)), cap) : raw

    const n = lengths === undefined ? undefined : reshape(asIndex(lengths.x), [-1, 1, 1, 1])
    const offset = pastK !== undefined ? pastK.x.shape[2]! : n === undefined ? 0 : sub(n, queries)
    let seen = visible(c, queries, keys, offset)
    const both = (more: AnyExpr): void => {
      seen = seen === undefined ? more : and(seen, more)
    }
    if (n !== undefined) both(lt(along(keys, 3), n))
    const mask = c.maybe(3)
    // A mask that is shorter than the keys hides those behind it.
    const short = mask === undefined ? 0 : keys - mask.x.shape.at(-1)!
    const wide = (x: AnyExpr, fill: number): AnyExpr =>
      short <= 0 ? x : pad(x, [...x.shape.slice(1).map((): [number, number] => [0, 0]), [0, short]], fill)
    let scores = capped
    if (mask?.type.name === 'bool') both(wide(mask.x, 0))
    else if (mask !== undefined) scores = add(scores, wide(mask.x, Number.NEGATIVE_INFINITY))
    const weights = weightsOf(scores, seen)
    const y = matmul(weights, shared(v))
    const flat = c.in(0).x.shape.length === 3 ? reshape(transpose(y, [0, 2, 1, 3]), [q.shape[0]!, queries, -1]) : y
    const biased = seen === undefined ? scores : where(seen, scores, Number.NEGATIVE_INFINITY)
    const shown = [raw, capped, biased, weights][c.int('qk_matmul_output_mode', 0)] ?? c.refuse('there is no such qk_matmul_output_mode.')
    const out = broadcastTo(shown, [q.shape[0]!, heads, queries, keys])
    return [like(c.in(0), flat), like(c.in(1), k), like(c.in(2), v), like(c.in(0), out)]
  },
}
/** Pairs of a head's numbers turned by angles of their position. */
const rotary: Operator = {
  since: [23],
  read: (c) => {
    const x = c.in(0)
    const isFlat = x.x.shape.length === 3
    const heads = isFlat ? inHeads(c, x.x, 'num_heads') : x.x
    const size = heads.shape[3]!
    const turned = c.int('rotary_embedding_dim', 0) || size
    const [head, rest] = [part(heads, 0, turned, 1), turned === size ? undefined : part(heads, turned, size, 1)]
    const positions = c.maybe(3)
    const table = (i: number): AnyExpr => {
      const cache = c.in(i).x
      const rows = positions === undefined ? cache : gather(cache, asIndex(positions.x))
      return reshape(rows, [rows.shape[0]!, 1, rows.shape[1]!, rows.shape[2]!])
    }
    const [cosines, sines] = [table(1), table(2)]
    const interleaved = c.int('interleaved', 0) !== 0
    const half = turned / 2
    const [a, b] = interleaved
      ? [part(head, 0, turned, 2), part(head, 1, turned, 2)]
      : [part(head, 0, half, 1), part(head, half, turned, 1)]
    const [re, im] = [sub(mul(cosines, a), mul(sines, b)), add(mul(sines, a), mul(cosines, b))]
    const y = interleaved ? reshape(stack([re, im], { axis: -1 }), head.shape) : concat([re, im], { axis: 3 })
    const all = rest === undefined ? y : concat([y, rest], { axis: 3 })
    return like(x, isFlat ? reshape(transpose(all, [0, 2, 1, 3]), x.x.shape) : all)
  },
}
/** A part of the last of four axes. */
const part = (x: AnyExpr, from: number, to: number, step: number): AnyExpr =>
  slice(x, [0, 0, 0, from], [...x.shape.slice(0, 3), to] as [number, number, number, number], [1, 1, 1, step])

const swish = (x: AnyExpr, alpha: number): AnyExpr => mul(x, sigmoid(alpha === 1 ? x : mul(x, alpha)))
/** An update written into a cache, from a place of each example on. */
const written: Operator = {
  since: [24],
  read: (c) => {
    const [cache, update] = [c.in(0), c.in(1)]
    const { shape } = update.x
    const axis = axisIn(c, c.int('axis', -2), shape.length)
    const places = (i: number): AnyExpr => reshape(arange(shape[i]!, 'i32'), only(shape, i))
    const start = c.maybe(2)
    const from = start === undefined ? zeros([1], 'i32') : asIndex(start.x)
    const row = add(reshape(from, [-1, ...shape.slice(1).map(() => 1)]), places(axis))
    const at = shape.map((_, i) =>
      i === axis ? (c.text('mode', 'linear') === 'circular' ? mod(row, cache.x.shape[axis]!) : row) : places(i),
    )
    return like(cache, set(cache.x, at as never, update.x as never))
  },
}
/** The sizes of a shape along one axis alone. */
const only = (shape: Sizes, axis: number): number[] => shape.map((d, i) => (i === axis ? d : 1))

export const attentions: Table = {
  Attention: attention,
  RMSNormalization: {
    since: [23],
    read: (c) => {
      const x = c.in(0)
      const axis = axisIn(c, c.int('axis', -1), x.x.shape.length)
      return like(x, mul(rmsNorm(x.x, { axis: x.x.shape.map((_, i) => i).slice(axis), eps: c.float('epsilon', 1e-5) }), c.in(1).x))
    },
  },
  RotaryEmbedding: rotary,
  SwiGLU: { since: [28], read: (c) => like(c.in(0), mul(swish(c.in(0).x, c.float('alpha', 1)), c.in(1).x)) },
  Swish: { since: [24], read: (c) => like(c.in(0), swish(c.in(0).x, c.float('alpha', 1))) },
  TensorScatter: written,
}
