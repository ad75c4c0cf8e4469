/** How structural primitives become values and views: one row per primitive. Anything without a row runs as a whole. */
import type { Aval } from '../../core/graph/aval.js'
import { type AnyPrimitive, NO_PARAMS, type Structure } from '../../core/graph/primitive.js'
import { sizeOf, stridesOf } from '../../core/graph/shape.js'
import { add, mul } from '../../core/ops/elementwise.js'
import { concatPrimitive, type SplitParams, splitPrimitive } from '../../core/ops/layout/join.js'
import {
  broadcastToPrimitive,
  type PermParams,
  reshapePrimitive,
  type ShapeParams,
  transposePrimitive,
} from '../../core/ops/layout/move.js'
import {
  type PadParams,
  padPrimitive,
  type SliceParams,
  sliceAddPrimitive,
  slicePrimitive,
  unpadParams,
} from '../../core/ops/layout/slice.js'
import { type ReduceParams, sumPrimitive } from '../../core/ops/reduce.js'
import type { DType } from '../../core/types/dtype.js'
import type { Builder } from './builder.js'
import type { View } from './value.js'

/** The values that a primitive's results become, of those of its arguments. */
export type Lowering = (b: Builder, prim: AnyPrimitive, args: readonly number[], params: never, avals: readonly Aval[]) => readonly number[]
const as = (p: { readonly name: string }): AnyPrimitive => p as AnyPrimitive
const row = <P>(
  prim: { readonly name: string },
  lower: (b: Builder, args: readonly number[], params: P, avals: readonly Aval[]) => readonly number[],
): readonly [AnyPrimitive, Lowering] => [as(prim), (b, _prim, args, params, avals) => lower(b, args, params, avals)]

/** The next axis that is longer than 1; their number where there is none. */
const longAfter = (shape: readonly number[], axis: number): number => {
  let k = axis + 1
  while (k < shape.length && shape[k] === 1) k++
  return k
}
/** Strides of the same elements under another shape, or undefined when that needs a copy. */
export const reshapeStrides = (shape: readonly number[], strides: readonly number[], to: readonly number[]): number[] | undefined => {
  if (to.includes(0)) return stridesOf(to)
  const out = new Array<number>(to.length)
  let k = longAfter(shape, -1)
  let rest = shape[k] ?? 1
  for (let i = 0; i < to.length; i++) {
    const d = to[i]!
    out[i] = 0
    if (d === 1) continue
    // Source axes that this target axis covers must be one run.
    while (rest < d) {
      const next = longAfter(shape, k)
      if (next >= shape.length || strides[k] !== strides[next]! * shape[next]!) return undefined
      k = next
      rest *= shape[next]!
    }
    if (rest % d !== 0) return undefined
    rest /= d
    out[i] = rest * strides[k]!
    if (rest > 1) continue
    const next = longAfter(shape, k)
    if (next >= shape.length) continue
    k = next
    rest = shape[next]!
  }
  return out
}

/** The arrangement of a layout operation; a copy where views are left out. */
const arranged = (b: Builder, view: View, shape: readonly number[], dtype: DType): number => {
  const v = b.makeView(view, shape, dtype)
  return b.without.has('views') ? b.copy(v) : v
}

/**
 * A part of a value. A part of a cheap elementwise value is the same operation on parts of its arguments, so that a loop
 * that reads only parts (the gates of a cell) needs no array of the whole.
 */
const slicing = (b: Builder, x: number, p: SliceParams, aval: Aval, depth = 0): number => {
  const whole = b.value(x)
  const free = whole.kind === 'scalar' && !whole.constant && whole.prim!.cost <= 1 && depth < 4
  if (free && !p.sizes.includes(0) && !b.without.has('slices')) {
    const args = whole.args.map((a) => {
      const arg = b.value(a)
      const off = whole.shape.length - arg.shape.length
      const own = (list: readonly number[], one: number): number[] => arg.shape.map((d, i) => (d === 1 ? one : list[i + off]!))
      const part = { starts: own(p.starts, 0), sizes: own(p.sizes, 1), strides: own(p.strides, 1) }
      if (arg.shape.every((d, i) => part.sizes[i] === d && part.strides[i] === 1)) return a
      return slicing(b, a, part, { shape: part.sizes, dtype: arg.dtype, size: sizeOf(part.sizes) }, depth + 1)
    })
    return b.make('scalar', whole.prim, whole.params, args, aval.shape, aval.dtype)
  }
  const v = b.viewOf(x)
  const offset = p.sizes.includes(0) ? 0 : p.starts.reduce((o, s, i) => o + s * v.strides[i]!, v.offset)
  return arranged(b, { base: v.base, offset, strides: v.strides.map((s, i) => s * p.strides[i]!) }, aval.shape, aval.dtype)
}

/** A matrix operand: strides of its last two axes are free, its leading axes must be one run (or broadcast as a whole). */
const matrix = (b: Builder, x: number, batch: readonly number[]): number => {
  if (batch.length === 0) return x
  const v = b.value(x)
  const view = b.viewOf(x)
  const lead = v.shape.slice(0, -2)
  const strides = batch.map((_, i) => {
    const j = i - (batch.length - lead.length)
    return j < 0 || lead[j] === 1 ? 0 : view.strides[j]!
  })
  const wide = [...batch, ...v.shape.slice(-2)]
  const spread = b.makeView({ base: view.base, offset: view.offset, strides: [...strides, ...view.strides.slice(-2)] }, wide, v.dtype)
  if (reshapeStrides(batch, strides, [batch.reduce((n, d) => n * d, 1)]) !== undefined || batch.length <= 1) return spread
  return b.copy(spread)
}

/** A product of integers: sums of elementwise products over [..., m, k, n], exact as both are, in a loop like any other. */
const integerProduct = (b: Builder, x: number, y: number, a: Aval): number => {
  const [s, u] = [b.value(x).shape, b.value(y).shape]
  const view = (id: number, shape: readonly number[], at: number): number => {
    const v = b.viewOf(id)
    const strides = v.strides.slice()
    strides.splice(at, 0, 0)
    return b.makeView({ base: v.base, offset: v.offset, strides }, [...shape.slice(0, at), 1, ...shape.slice(at)], 'i32')
  }
  const rank = a.shape.length + 1
  const wide = [...a.shape.slice(0, -1), s[s.length - 1]!, a.shape[rank - 2]!]
  const terms = b.make('scalar', as(mul.primitive), NO_PARAMS, [view(x, s, s.length), view(y, u, u.length - 2)], wide, 'i32')
  return b.make('fold', as(sumPrimitive), { axes: [rank - 2] }, [terms], a.shape, 'i32')
}

/** A fold over no axis is its argument. */
const folded: Lowering = (b, prim, [x], { axes }: ReduceParams, [a]) => [
  axes.length === 0 ? x! : b.make('fold', prim, { axes }, [x!], a!.shape, a!.dtype),
]
/** A matrix product, added to the argument before its operands where there is one. */
const multiplied: Lowering = (b, prim, args, params, [a]) => {
  const [x, y] = args.slice(-2) as [number, number]
  const acc = args.length > 2 ? args[0] : undefined
  if (a!.dtype === 'i32') {
    const made = integerProduct(b, x, y, a!)
    return [acc === undefined ? made : b.make('scalar', as(add.primitive), NO_PARAMS, [acc, made], a!.shape, 'i32')]
  }
  const batch = a!.shape.slice(0, -2)
  const operands = [matrix(b, x, batch), matrix(b, y, batch), ...(acc === undefined ? [] : [acc])]
  return [b.make('gemm', prim, params, operands, a!.shape, a!.dtype)]
}
/** What the planner makes of primitives by what they declare of their elements. */
const structural: { readonly [K in Structure['kind']]?: Lowering } = { fold: folded, product: multiplied }

/** What it makes of layout operations. */
const layouts: ReadonlyMap<AnyPrimitive, Lowering> = /*#__PURE__*/ new Map([
  row<ShapeParams>(broadcastToPrimitive, (b, [x], { shape }, [a]) => {
    const v = b.viewOf(x!)
    const from = b.value(x!).shape
    const strides = shape.map((_, i) => {
      const j = i - (shape.length - from.length)
      return j < 0 || from[j] === 1 ? 0 : v.strides[j]!
    })
    return [arranged(b, { base: v.base, offset: v.offset, strides }, shape, a!.dtype)]
  }),
  row<ShapeParams>(reshapePrimitive, (b, [x], { shape }, [a]) => {
    const from = b.value(x!)
    const v = b.viewOf(x!)
    const strides = from.size === 0 ? stridesOf(shape) : reshapeStrides(from.shape, v.strides, shape)
    if (strides !== undefined) return [arranged(b, { base: v.base, offset: v.offset, strides }, shape, a!.dtype)]
    return [b.makeView({ base: b.copy(x!), offset: 0, strides: stridesOf(shape) }, shape, a!.dtype)]
  }),
  row<PermParams>(transposePrimitive, (b, [x], { perm }, [a]) => {
    const v = b.viewOf(x!)
    return [arranged(b, { base: v.base, offset: v.offset, strides: perm.map((p) => v.strides[p]!) }, a!.shape, a!.dtype)]
  }),
  row<SliceParams>(slicePrimitive, (b, [x], p, [a]) => [slicing(b, x!, p, a!)]),
  row<SplitParams>(splitPrimitive, (b, [x], { axis, sizes }, avals) => {
    let at = 0
    return sizes.map((n, k) => {
      const shape = b.value(x!).shape
      const part = slicing(
        b,
        x!,
        {
          starts: shape.map((_, i) => (i === axis ? at : 0)),
          sizes: shape.map((d, i) => (i === axis ? n : d)),
          strides: shape.map(() => 1),
        },
        avals[k]!,
      )
      at += n
      return part
    })
  }),
  row<PadParams>(padPrimitive, (b, args, p, [a]) => [
    b.make('pad', as(padPrimitive), { at: unpadParams(b.value(args[0]!).shape, p), ...p }, args, a!.shape, a!.dtype),
  ]),
  row<{ readonly axis: number }>(concatPrimitive, (b, args, p, [a]) => [
    b.make('concat', as(concatPrimitive), p, args, a!.shape, a!.dtype),
  ]),
  row<SliceParams>(sliceAddPrimitive, (b, args, p, [a]) => [b.make('sliceAdd', as(sliceAddPrimitive), p, args, a!.shape, a!.dtype)]),
])

/** How a primitive becomes values and views; undefined where it runs as a whole. */
export const loweringOf = (prim: AnyPrimitive): Lowering | undefined =>
  layouts.get(prim) ?? (prim.structure === undefined ? undefined : structural[prim.structure.kind])
