/** Normalisations. */
import {
  type AnyExpr,
  add,
  cast,
  div,
  instanceNorm,
  mean,
  mul,
  ones,
  onesLike,
  reciprocal,
  reshape,
  sqrt,
  square,
  sub,
  variance,
} from '../../index.js'
import { axesIn, axisIn, type Call, like, type Operator, type Table } from '../call.js'
import { typeOf } from '../types.js'
import { value } from '../value.js'

/** A number for each channel, beside x. */
const perChannel = (v: AnyExpr, rank: number): AnyExpr => reshape(v, [-1, ...new Array<number>(rank - 2).fill(1)])
const batch: Operator = {
  since: [1, 6, 7, 9, 14, 15],
  read: (c) => {
    const x = c.in(0)
    const rank = x.x.shape.length
    const eps = c.float('epsilon', 1e-5)
    const training = c.version >= 14 ? c.int('training_mode', 0) !== 0 : c.version < 7 && c.int('is_test', 0) === 0 && c.wants(1)
    const axis = x.x.shape.map((_, i) => i).filter((i) => i !== 1)
    const [given, spread] = [c.in(3).x, c.in(4).x]
    const m = training ? mean(x.x, { axis }) : given
    const v = training ? variance(x.x, { axis }) : spread
    const wide = (t: AnyExpr): AnyExpr => (rank < 2 ? t : perChannel(t.dtype === x.x.dtype ? t : cast(t, x.x.dtype), rank))
    const scaled = mul(sub(x.x, wide(m)), div(wide(c.in(1).x), sqrt(add(wide(v), eps))))
    const y = like(x, add(scaled, wide(c.in(2).x)))
    if (!training) return y
    // A part `momentum` of what was there stays.
    const momentum = c.float('momentum', 0.9)
    const mixed = (old: AnyExpr, now: AnyExpr): AnyExpr => add(mul(old, momentum), mul(now, 1 - momentum))
    return [y, like(c.in(3), mixed(given, m)), like(c.in(4), mixed(spread, v))]
  },
}
const layer: Operator = {
  since: [17],
  read: (c) => {
    const x = c.in(0)
    const axis = axisIn(c, c.int('axis', -1), x.x.shape.length)
    const over = { axis: x.x.shape.map((_, i) => i).slice(axis), keepdims: true }
    const m = mean(x.x, over)
    const inverse = reciprocal(sqrt(add(variance(x.x, over), c.float('epsilon', 1e-5))))
    const scaled = mul(mul(sub(x.x, m), inverse), c.in(1).x)
    const bias = c.maybe(2)
    const stash = typeOf('float')
    return [like(x, bias === undefined ? scaled : add(scaled, bias.x)), value(stash, m), value(stash, inverse)]
  },
}
const group: Operator = {
  since: [18, 21],
  read: (c) => {
    const x = c.in(0)
    const { shape } = x.x
    const groups = c.int('num_groups')
    const [n, channels] = [shape[0]!, shape[1]!]
    const split = reshape(x.x, [n, groups, -1])
    const over = { axis: [2], keepdims: true }
    const normal = div(sub(split, mean(split, over)), sqrt(add(variance(split, over), c.float('epsilon', 1e-5))))
    // In operator set 18 scale and bias are of groups, from 21 on of channels.
    const [scale, bias] = [c.in(1).x, c.in(2).x]
    if (c.version < 21 && scale.shape[0] === groups)
      return like(x, reshape(add(mul(normal, reshape(scale, [groups, 1])), reshape(bias, [groups, 1])), shape))
    if (scale.shape[0] !== channels) c.refuse(`the scale has ${scale.shape[0]} numbers for ${channels} channels.`)
    return like(x, add(mul(reshape(normal, shape), perChannel(scale, shape.length)), perChannel(bias, shape.length)))
  },
}
const meanVariance: Operator = {
  since: [9, 13],
  read: (c) => {
    const x = c.in(0)
    const axis = [...axesIn(c, c.ints('axes', [0, 2, 3]), x.x.shape.length)]
    const over = { axis, keepdims: true }
    const m = mean(x.x, over)
    const deviation = sqrt(sub(mean(square(x.x), over), square(m)))
    return like(x, div(sub(x.x, m), add(deviation, 1e-9)))
  },
}
const instance = (c: Call): AnyExpr =>
  instanceNorm(c.in(0).x, { eps: c.float('epsilon', 1e-5), scale: c.in(1).x, bias: c.in(2).x } as never)

export const normalisations: Table = {
  BatchNormalization: batch,
  GroupNormalization: group,
  InstanceNormalization: { since: [1, 6], read: (c) => like(c.in(0), instance(c)) },
  LayerNormalization: layer,
  MeanVarianceNormalization: meanVariance,
  Dropout: {
    since: [1, 6, 7, 10, 12, 13],
    known: [1, 2],
    read: (c) => {
      const x = c.in(0)
      const training = c.version >= 12 && c.maybe(2) !== undefined && c.numbers(2)[0] !== 0
      const rate = c.version >= 12 ? (c.maybe(1) === undefined ? 0.5 : c.numbers(1)[0]!) : c.float('ratio', 0.5)
      if (training && rate !== 0)
        c.refuse('it draws random numbers in training mode, and ONNX does not say which.', 'export the model for inference.')
      if (c.version < 10) return [x, like(x, onesLike(x.x))]
      return [x, value(typeOf('bool'), ones(x.x.shape, 'bool'))]
    },
  },
}
