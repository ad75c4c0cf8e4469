/** Builders of contractions and of the operations of neural networks. */
import { sizeOf } from '../../../src/core/graph/shape.js'
import { CAP, type Draw, dtypeOf, rankOf, redraw, ref, shapeOf, type Value } from './draw.js'
import type { Builder, Row } from './elementwise.js'
import { apart, like, positions, within } from './guards.js'
import type { Template } from './program.js'

const small = (d: Draw, v: Value): Value => within(d, v, [-4, 4])
const floats = (d: Draw, low: number, high: number): Value =>
  small(
    d,
    d.float(
      (v) => rankOf(v) >= low && rankOf(v) <= high,
      () => d.shape(d.between(low, high)),
    ),
  )
const side = (d: Draw): number => d.of([1, 2, 3, 3, 4, 5, 8, ...(d.chance(0.08) ? [0, 16] : [])])

/** A second factor of this shape: often the first again, turned. */
const factor = (d: Draw, shape: readonly number[], a: Value): Value => {
  if (sizeOf(shape) > CAP) redraw('large')
  const turned = [...shapeOf(a).slice(0, -2), ...shapeOf(a).slice(-2).reverse()]
  if (d.chance(0.3) && turned.length === shape.length && turned.every((n, i) => n === shape[i])) return d.op('transpose', ref(a))
  return small(d, like(d, shape, dtypeOf(a)))
}
const matmul: Builder = (d) => {
  const a = floats(d, 1, 4)
  const s = shapeOf(a)
  const k = s[s.length - 1]!
  const batch = s.slice(0, -2)
  const shape = d.of<readonly number[]>([
    [k],
    [k, side(d)],
    [k, side(d)],
    [k, side(d)],
    [...batch, k, side(d)],
    [...batch.map((n) => (d.chance(0.5) ? 1 : n)), k, side(d)],
  ])
  const b = factor(d, shape, a)
  const y = d.chance(0.25) && rankOf(b) > 1 && rankOf(a) > 1 && shape.length === 2 ? turnedProduct(d, a, b) : d.op('matmul', ref(a), ref(b))
  // The product beside one of its factors, and beside what it is added to.
  if (d.chance(0.3)) d.op('add', ref(y), ref(like(d, shapeOf(y), dtypeOf(y))))
}
/** (bᵀ aᵀ): both factors are views. */
const turnedProduct = (d: Draw, a: Value, b: Value): Value => d.op('matmul', ref(d.op('transpose', ref(b))), ref(d.op('transpose', ref(a))))
const matmulAdd: Builder = (d) => {
  const a = floats(d, 2, 3)
  const s = shapeOf(a)
  const b = factor(d, [s[s.length - 1]!, side(d)], a)
  const out = [...s.slice(0, -1), shapeOf(b)[1]!]
  d.op('matmulAdd', ref(like(d, out, dtypeOf(a))), ref(a), ref(b))
}
const linear: Builder = (d) => {
  const x = floats(d, 1, 3)
  const n = side(d)
  const w = factor(d, [shapeOf(x)[rankOf(x) - 1]!, n], x)
  d.op('linear', ref(x), ref(w), ...(d.chance(0.3) ? [] : [ref(like(d, [n], dtypeOf(x)))]))
}
/** Letters of one operand, then of others that share some; results keep some. */
const einsum: Builder = (d) => {
  const a = floats(d, 1, 4)
  const letters = 'abcdefgh'
  const size = new Map<string, number>()
  let used = 0
  const fresh = (n: number): string => {
    const c = letters[used++] ?? redraw('letters')
    size.set(c, n)
    return c
  }
  const first = shapeOf(a).map((n) => {
    const same = [...size].find(([, m]) => m === n && d.chance(0.12))
    return same?.[0] ?? fresh(n)
  })
  const operands = [a]
  const terms = [first.join('')]
  for (let k = 0; k < d.of([0, 1, 1, 1, 2]); k++) {
    const own = [...size.keys()].filter(() => d.chance(0.6))
    if (d.chance(0.6)) own.push(fresh(d.between(1, 4)))
    own.sort(() => d.next() - 0.5)
    if (own.length > 4) own.length = 4
    operands.push(
      small(
        d,
        like(
          d,
          own.map((c) => size.get(c)!),
          dtypeOf(a),
        ),
      ),
    )
    terms.push(own.join(''))
  }
  const kept = [...size.keys()].filter((c) => terms.some((t) => t.includes(c)) && d.chance(0.5)).sort(() => d.next() - 0.5)
  if (sizeOf(kept.map((c) => size.get(c)!)) > CAP || sizeOf([...size.values()]) > 3000) redraw('large')
  d.op('einsum', d.chance(0.9) ? `${terms.join(',')}->${kept.join('')}` : terms.join(','), ...operands.map(ref))
}
const tensordot: Builder = (d) => {
  const a = floats(d, 1, 3)
  const n = d.int(rankOf(a) + 1)
  const b = factor(d, [...shapeOf(a).slice(rankOf(a) - n), ...(d.chance(0.5) ? [side(d)] : [])], a)
  if (d.chance(0.5)) d.op('tensordot', ref(a), ref(b), n)
  else d.op('tensordot', ref(a), ref(b), [Array.from({ length: n }, (_, i) => rankOf(a) - n + i), Array.from({ length: n }, (_, i) => i)])
}
const dot: Builder = (d) => {
  const a = floats(d, 1, 3)
  const k = shapeOf(a)[rankOf(a) - 1]!
  const b = factor(d, d.chance(0.3) ? [k] : [...(d.chance(0.3) ? [side(d)] : []), k, side(d)], a)
  d.op('dot', ref(a), ref(b))
}
const same =
  (name: 'vecdot' | 'vdot'): Builder =>
  (d) => {
    const a = floats(d, 1, name === 'vecdot' ? 2 : 3)
    d.op(name, ref(a), ref(small(d, d.chance(0.2) ? a : like(d, shapeOf(a), dtypeOf(a)))))
  }
const joined =
  (name: 'outer' | 'kron'): Builder =>
  (d) => {
    const a = floats(d, 1, 2)
    const b = floats(d, 1, 2)
    if (dtypeOf(a) !== dtypeOf(b) || a.array.data.length * b.array.data.length > CAP) redraw('large')
    d.op(name, ref(a), ref(b))
  }
const trace: Builder = (d) => {
  const [m, n] = [d.between(1, 4), d.between(1, 4)]
  const x = ref(like(d, d.chance(0.7) ? [m, n] : [2, m, n]))
  d.op('trace', x, ...(d.chance(0.5) ? [{ offset: d.between(-1, 1) }] : []))
}

interface Window {
  readonly x: Value
  readonly spatial: readonly number[]
}
const planes = (d: Draw, channels: number, empty = 0.04): Window => {
  const spatial = d.chance(0.25) ? [d.between(3, 7)] : [d.between(2, 5), d.between(2, 5)]
  const shape = [d.chance(empty) ? 0 : d.between(1, 2), channels, ...spatial]
  return { x: small(d, like(d, shape)), spatial }
}
const padding = (d: Draw, spatial: readonly number[], window: readonly number[]): Template =>
  d.of<Template>(['same', 'valid', 0, 1, spatial.map((_, i) => [d.int(Math.min(2, window[i]!)), d.int(Math.min(2, window[i]!))])])
const conv: Builder = (d) => {
  const groups = d.of([1, 1, 1, 2])
  const inner = d.between(1, 2)
  const { x, spatial } = planes(d, groups * inner)
  const window = spatial.map(() => d.between(1, 3))
  const k = small(d, like(d, [groups * d.between(1, 2), inner, ...window]))
  const options: { [key: string]: Template } = {}
  if (d.chance(0.4)) options.stride = d.chance(0.5) ? 2 : spatial.map(() => d.between(1, 2))
  if (d.chance(0.6)) options.padding = padding(d, spatial, window)
  if (d.chance(0.25)) options.dilation = spatial.map(() => d.between(1, 2))
  if (groups > 1) options.groups = groups
  d.op('conv', ref(x), ref(k), ...(Object.keys(options).length === 0 ? [] : [options]))
  // Cotangents of one argument that come from two places are added up in one.
  if (d.chance(0.3)) d.op('conv', ref(x), ref(d.op('sin', ref(k))))
}
const pool =
  (name: 'maxPool' | 'avgPool'): Builder =>
  (d) => {
    const { x, spatial } = planes(d, d.between(1, 2))
    if (name === 'maxPool') apart(d, x)
    const window = spatial.map(() => d.between(1, 3))
    const options: { [key: string]: Template } = { window: d.chance(0.3) ? window[0]! : window }
    if (d.chance(0.5)) options.stride = d.chance(0.5) ? 1 : spatial.map(() => d.between(1, 3))
    if (d.chance(0.5)) options.padding = padding(d, spatial, d.chance(0.5) ? window : window.map(() => 1))
    if (name === 'avgPool' && d.chance(0.4)) options.countIncludePad = true
    if (name === 'maxPool' && options.padding === undefined && d.chance(0.25)) options.dilation = 2
    if (d.chance(0.3)) options.ceilMode = true
    d.op(name, ref(x), options)
  }
const alongAxis =
  (name: 'softmax' | 'logSoftmax'): Builder =>
  (d) => {
    const v = d.float(
      (x) => rankOf(x) > 0,
      () => d.shape(d.between(1, 3)),
    )
    d.op(
      name,
      ref(within(d, v, [-9, 9])),
      ...(d.chance(0.5) ? [] : [{ axis: d.chance(0.3) && rankOf(v) > 1 ? [0, -1] : d.int(rankOf(v)) }]),
    )
  }
/** Enough elements, apart from each other, that a variance is not close to 0. */
const varied = (d: Draw, v: Value, axes: readonly number[]): void => {
  if (axes.reduce((n, a) => n * shapeOf(v)[a]!, 1) < 2) redraw('no spread')
  apart(d, v, axes)
}
const layerNorm: Builder = (d) => {
  const v = floats(d, 1, 3)
  const last = rankOf(v) - 1
  const axis = d.chance(0.6) ? undefined : d.int(rankOf(v))
  varied(d, v, [axis ?? last])
  const n = [shapeOf(v)[axis ?? last]!]
  d.op('layerNorm', ref(v), {
    ...(axis !== undefined && { axis }),
    ...(d.chance(0.4) && { eps: 0.01 }),
    ...(d.chance(0.5) && { scale: ref(like(d, n)) }),
    ...(d.chance(0.5) && { bias: ref(like(d, n)) }),
  })
}
const batchNorm: Builder = (d) => {
  const v = floats(d, 2, 4)
  varied(
    d,
    v,
    shapeOf(v).flatMap((_, i) => (i === 1 ? [] : [i])),
  )
  const n = [shapeOf(v)[1]!]
  d.op('batchNorm', ref(v), {
    ...(d.chance(0.5) && { scale: ref(like(d, n)) }),
    ...(d.chance(0.5) && { bias: ref(like(d, n)) }),
    ...(d.chance(0.3) && { mean: ref(like(d, n)), variance: ref(within(d, like(d, n), [0.4, 2])) }),
  })
}
const batchStatistics: Builder = (d) => {
  const v = floats(d, 2, 4)
  const [mean, variance] = d.emit('batchStatistics', [ref(v)])
  if (d.chance(0.5) && mean !== undefined && variance !== undefined) d.op('add', ref(mean), ref(variance))
}
const crossEntropy: Builder = (d) => {
  const logits = within(
    d,
    d.float(
      (v) => rankOf(v) >= 1 && v.array.data.length > 0,
      () => [d.between(1, 4), d.between(2, 4)],
    ),
    [-6, 6],
  )
  const s = shapeOf(logits)
  const classes = s[s.length - 1]!
  const targets = d.chance(0.5) ? ref(d.op('softmax', ref(like(d, s, dtypeOf(logits))))) : positions(d, classes, s.slice(0, -1))
  const index = typeof targets === 'number' || (typeof targets === 'object' && targets !== null && 'ref' in targets)
  if (!index) redraw('targets')
  d.op('crossEntropy', ref(logits), targets, ...(d.chance(0.4) ? [] : [{ reduction: d.of(['mean', 'sum', 'none']) }]))
}
const embedding: Builder = (d) => {
  const table = d.float(
    (v) => rankOf(v) === 2,
    () => [d.between(2, 5), d.between(1, 4)],
  )
  const e = d.op('embedding', ref(table), positions(d, shapeOf(table)[0]!, d.of([[2], [3], [2, 2]])))
  // Tied: the table is read again by the product with its transpose.
  if (d.chance(0.5)) d.op('matmul', ref(small(d, e)), ref(d.op('transpose', ref(small(d, table)))))
}
const dropout: Builder = (d) => {
  const v = d.float()
  d.op('dropout', ref(v), ref(like(d, shapeOf(v), 'bool')), d.of([0, 0.25, 0.5]))
}

export const contractRows: readonly Row[] = [
  { name: 'matmul', weight: 2, build: matmul },
  { name: 'matmulAdd', weight: 0.5, build: matmulAdd },
  { name: 'linear', weight: 0.5, build: linear },
  { name: 'einsum', weight: 1.2, build: einsum },
  { name: 'tensordot', weight: 0.4, build: tensordot },
  { name: 'dot', weight: 0.3, build: dot },
  { name: 'vecdot', weight: 0.3, build: same('vecdot') },
  { name: 'vdot', weight: 0.3, build: same('vdot') },
  { name: 'outer', weight: 0.3, build: joined('outer') },
  { name: 'kron', weight: 0.2, build: joined('kron') },
  { name: 'trace', weight: 0.2, build: trace },
]
export const nnRows: readonly Row[] = [
  { name: 'conv', weight: 1, build: conv },
  { name: 'maxPool', weight: 0.6, build: pool('maxPool') },
  { name: 'avgPool', weight: 0.6, build: pool('avgPool') },
  { name: 'softmax', weight: 0.6, build: alongAxis('softmax') },
  { name: 'logSoftmax', weight: 0.5, build: alongAxis('logSoftmax') },
  { name: 'layerNorm', weight: 0.4, build: layerNorm },
  { name: 'batchNorm', weight: 0.4, build: batchNorm },
  { name: 'batchStatistics', weight: 0.3, build: batchStatistics },
  { name: 'crossEntropy', weight: 0.5, build: crossEntropy },
  { name: 'embedding', weight: 0.5, build: embedding },
  { name: 'dropout', weight: 0.3, build: dropout },
]
