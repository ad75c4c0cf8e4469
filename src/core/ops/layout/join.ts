/** Layout: arrays joined and cut: concat, split, stack, unstack. */
import { badInput, badShape, showShape } from '../../errors/explain.js'
import { aval } from '../../graph/aval.js'
import { type Codec, natural, naturals, record } from '../../graph/codec.js'
import { apply, applyMulti, type Node } from '../../graph/expr.js'
import { type Primitive, primitive } from '../../graph/primitive.js'
import { forEachIndex, stridesOf } from '../../graph/shape.js'

const family = 'layout'

export interface AxisParams {
  readonly axis: number
}
export const axisCodec: Codec<AxisParams> = record({ axis: natural })

export const concatPrimitive: Primitive<'concat', AxisParams, readonly 'float'[]> = primitive({
  name: 'concat',
  family,
  args: ['float'] as readonly 'float'[],
  variadic: true,
  class: 'layout',
  codec: axisCodec,
  shapeRule: (xs, { axis }) => {
    const [first] = xs
    if (first === undefined) return badInput('concat', 'nothing to concatenate.', 'pass at least one array.')
    if (!(Number.isInteger(axis) && axis >= 0 && axis < first.shape.length))
      badInput('concat', `axis ${axis} is out of range for rank ${first.shape.length}.`, `arrays of rank 0 are joined by stack.`)
    for (const x of xs)
      if (x.shape.length !== first.shape.length || x.dtype !== first.dtype || x.shape.some((d, i) => i !== axis && d !== first.shape[i]))
        badShape(
          'concat',
          xs.map((y) => y.shape),
          `${showShape(first.shape)} and ${showShape(x.shape)} differ away from axis ${axis}.`,
          `all other axes must be equal.`,
        )
    return aval(
      first.shape.map((d, i) => (i === axis ? xs.reduce((n, x) => n + x.shape[axis]!, 0) : d)),
      first.dtype,
    )
  },
  meaning: (xs, { axis }, [out]) => {
    const strides = stridesOf(out!.shape)
    let at = 0
    for (const x of xs) {
      const offset = at * strides[axis]!
      forEachIndex(x.shape, [strides], (o, flat) => {
        out!.data[offset + o[0]!] = x.data[flat]!
      })
      at += x.shape[axis]!
    }
  },
  samples: [
    { args: [{ shape: [2] }, { shape: [3] }], params: { axis: 0 } },
    { args: [{ shape: [2, 1] }, { shape: [2, 3] }, { shape: [2, 0] }], params: { axis: 1 } },
    { args: [{ shape: [1, 2] }, { shape: [3, 2] }, { shape: [2, 2] }], params: { axis: 0 } },
    { args: [{ shape: [1, 2, 2] }], params: { axis: 0 } },
  ],
  showParams: ({ axis }) => `axis ${axis}`,
  source: 'NumPy concatenate',
})
export const concatNode = (xs: readonly Node[], axis: number): Node => (xs.length === 1 ? xs[0]! : apply(concatPrimitive, xs, { axis }))

export interface SplitParams {
  readonly axis: number
  readonly sizes: readonly number[]
}

export const splitPrimitive: Primitive<'split', SplitParams, readonly ['float']> = primitive({
  name: 'split',
  family,
  args: ['float'],
  multi: true,
  class: 'layout',
  codec: record({ axis: natural, sizes: naturals }),
  shapeRule: ([x], { axis, sizes }) => {
    if (sizes.reduce((a, b) => a + b, 0) !== x!.shape[axis])
      badShape(
        'split',
        [x!.shape, sizes],
        `sizes ${showShape(sizes)} do not add up to ${x!.shape[axis]} (axis ${axis} of ${showShape(x!.shape)}).`,
      )
    return sizes.map((n) =>
      aval(
        x!.shape.map((d, i) => (i === axis ? n : d)),
        x!.dtype,
      ),
    )
  },
  meaning: ([x], { axis, sizes }, outs) => {
    const strides = stridesOf(x!.shape)
    let at = 0
    sizes.forEach((n, k) => {
      const offset = at * strides[axis]!
      forEachIndex(outs[k]!.shape, [strides], (o, flat) => {
        outs[k]!.data[flat] = x!.data[offset + o[0]!]!
      })
      at += n
    })
  },
  samples: [
    { args: [{ shape: [6] }], params: { axis: 0, sizes: [2, 4] } },
    { args: [{ shape: [2, 5] }], params: { axis: 1, sizes: [1, 0, 4] } },
    { args: [{ shape: [3, 2] }], params: { axis: 0, sizes: [3] } },
  ],
  showParams: ({ axis, sizes }) => `axis ${axis} ${showShape(sizes)}`,
  source: 'NumPy split',
})
export const splitNode = (x: Node, axis: number, sizes: readonly number[]): readonly Node[] =>
  applyMulti(splitPrimitive, [x], { axis, sizes })
