/** `tap`: the same values, shown to a function whenever they are computed. */
import { functionOf } from '../errors/check-arguments.js'
import { type Codec, codecOf } from '../graph/codec.js'
import { apply, asExpr } from '../graph/expr.js'
import { lift } from '../graph/lift.js'
import type { NDArray } from '../graph/ndarray.js'
import { typed } from '../graph/operation.js'
import { type Primitive, primitive } from '../graph/primitive.js'
import { Tensor } from '../graph/tensor.js'
import { flatten, unflatten } from '../graph/tree.js'
import type { AnyExpr, Tensor as PublicTensor } from '../types/expr.js'
import type { TapFn } from '../types/signatures/tap.js'

/** Who is shown the values: what it gives is not read. */
export interface TapParams {
  readonly f: (x: PublicTensor) => unknown
}
const isTap = (u: unknown): u is TapParams => typeof u === 'object' && u !== null && typeof (u as Partial<TapParams>).f === 'function'
/** A function never comes from JSON. */
const tapCodec: Codec<TapParams> = codecOf('a function', isTap)

const sampled: TapParams = { f: () => undefined }

export const tapPrimitive: Primitive<'tap', TapParams, readonly ['float']> = primitive({
  name: 'tap',
  structure: { kind: 'same' },
  unbounded: false,
  family: 'tap',
  args: ['float'],
  dtypes: ['any'],
  codec: tapCodec,
  shapeRule: ([x]) => x!,
  meaning: ([x], _params, [y]) => {
    y!.data.set(x!.data as never)
  },
  effect: ([x], { f }) => void f(new Tensor(x!.shape, x!.dtype, x!.data.slice()) as unknown as PublicTensor),
  cost: 0,
  samples: [
    { args: [{ shape: [], dtype: 'f64' }], params: sampled },
    { args: [{ shape: [2, 3], dtype: 'f64' }], params: sampled },
    { args: [{ shape: [0], dtype: 'f64' }], params: sampled },
    { args: [{ shape: [3], dtype: 'i32' }], params: sampled },
  ],
  showParams: ({ f }) => f.name,
  source: 'the identity',
})

/**
 * x itself, passed to f as a tensor (a copy) whenever it is computed: at every call, and in a loop at every step. For a tree, every leaf.
 *
 * Dead code is not computed, and not shown; a value that a loop does not change is computed once; under vmap f sees all examples at once. The same x
 * tapped twice with the same function is shown once. f may run compiled functions; an exception that it throws ends the call. A program with a tap has
 * no JSON form.
 *
 * Rule    dy = dx: its derivatives are not shown, `tapGradient` shows them.
 * Errors  BadInput unless f is a function.
 * @example
 * const seen: number[] = []
 * const last = fori(3, (_k, c: AnyExpr) => tap(mul(c, 2), (v) => seen.push(v.item())), 1)
 * evaluate(last)   // 8
 * seen             // [2, 4, 8]
 */
export const tap: TapFn = typed((tree: unknown, f: TapParams['f']): unknown => {
  const params: TapParams = { f: functionOf(f, 'f', 'tap') }
  const { leaves, def } = flatten(tree, 'tap')
  return unflatten(
    def,
    leaves.map((leaf): AnyExpr => asExpr(apply(tapPrimitive, [lift(leaf, 'tap')], params))),
  )
})

/** Primitives of this family, by name. */
export const tapFamily = { tap: tapPrimitive } as const

/** What a backend calls for it: the meaning, and then whoever is shown. */
export const tapped = (args: readonly NDArray[], params: TapParams, outs: readonly NDArray[]): void => {
  tapPrimitive.meaning(args, params, outs)
  tapPrimitive.effect!(args, params)
}
