/** Elementwise operations of two and three arguments, and identities: what each one is. Their calculus is in rules/arithmetic.ts. */

import { dtypeOf } from '../errors/check-arguments.js'
import { aval, isFloat } from '../graph/aval.js'
import { castNode } from '../graph/cast.js'
import { apply, asExpr } from '../graph/expr.js'
import { lift, liftPair } from '../graph/lift.js'
import { typed } from '../graph/operation.js'
import { NO_PARAMS, type NoParams, type Primitive, primitive } from '../graph/primitive.js'
import { sameShape } from '../graph/shape.js'
import { flatten, unflatten } from '../graph/tree.js'
import { declared } from '../graph/weak.js'
import type { DType } from '../types/dtype.js'
import type { AnyExpr } from '../types/expr.js'
import type { BinaryOp, CastFn, ChoosingOp, FloatBinaryOp, IdentityFn, WhereFn } from '../types/signatures/elementwise.js'
import { and, or } from './compare.js'
import { binary, broadcastAvals, elementwisePrimitive as declare, refuseThird } from './lifted.js'
import * as special from './special/functions.js'
import { stopped } from './stopped.js'

// ---- arithmetic ------------------------------------------------------------------------------------------------------

/**
 * a + b.
 *
 * Shapes  a and b broadcast.   Dtype  promoted; i32 wraps.   Rule  dy = da + db.   Source  IEEE 754.
 * @example add([1, 2], 3)   // [4, 5]
 */
export const add: BinaryOp<'add'> = binary({
  name: 'add',
  unbounded: false,
  zeros: 'terms',
  scalar: (a, b) => a! + b!,
  integers: true,
  source: 'IEEE 754',
})
/**
 * a - b.
 *
 * Shapes  a and b broadcast.   Dtype  promoted; i32 wraps.   Rule  dy = da - db.   Source  IEEE 754.
 * @example sub([1, 2], 3)   // [-2, -1]
 */
export const sub: BinaryOp<'sub'> = binary({
  name: 'sub',
  unbounded: false,
  zeros: 'terms',
  scalar: (a, b) => a! - b!,
  integers: true,
  source: 'IEEE 754',
})
/**
 * a b.
 *
 * Shapes  a and b broadcast.   Dtype  promoted; i32 wraps.   Rule  dy = b da + a db.   Source  IEEE 754.
 * @example mul([1, 2], 3)   // [3, 6]
 */
export const mul: BinaryOp<'mul'> = binary({
  name: 'mul',
  unbounded: false,
  scalar: (a, b) => a! * b!,
  integer: (a, b) => Math.imul(a!, b!),
  integers: true,
  identity: [1, 1],
  zeros: 0,
  source: 'IEEE 754',
})
/**
 * a b, but a where a is 0, whatever b is: a strong zero.
 *
 * Shapes  a and b broadcast.   Rule  dy = strongMul(da, b) + strongMul(a, db).   Source  Enzyme's strong zero; TensorFlow multiply_no_nan.
 *         Derivatives use it to multiply a (co)tangent that may hold masked zeros by a partial: they stay 0 even if the partial is
 *         infinite.
 * @example strongMul([0, 2], [Infinity, 3])   // [0, 6]
 */
export const strongMul: FloatBinaryOp<'strongMul'> = binary({
  name: 'strongMul',
  unbounded: false,
  scalar: (a, b) => (a === 0 ? a : a! * b!),
  identity: [1, 1],
  zeros: 0,
  extremes: [0, 1e300, Number.POSITIVE_INFINITY, Number.NaN],
  kinks: [{ at: [0, Number.POSITIVE_INFINITY], partials: [Number.POSITIVE_INFINITY, 0], why: 'linear in each argument; zero absorbs' }],
  source: 'Enzyme strong zero',
})
/**
 * a / b.
 *
 * Domain  b != 0; x / 0 is infinite, 0 / 0 NaN.   Dtype  promoted; i32 and bool become f64.
 * Rule    dy = (da - y db) / b.   Source  IEEE 754.
 * @example div([1, 2], 4)   // [0.25, 0.5]
 */
export const div: FloatBinaryOp<'div'> = binary({
  name: 'div',
  scalar: (a, b) => a! / b!,
  identity: [null, 1],
  zeros: 0,
  domain: [
    [-2, 2],
    [0.5, 2],
  ],
  extremes: [0, -2],
  cost: 4,
  source: 'IEEE 754',
})
/**
 * a modulo b, with the sign of b: a - b floor(a / b).
 *
 * Domain  b != 0; NaN for floats, 0 for i32 there.   Dtype  promoted; i32 stays.   Rule  dy = da - floor(a / b) db.   Source  NumPy mod.
 * @example mod([5, -5], 3)   // [2, 1]
 */
export const mod: BinaryOp<'mod'> = binary({
  name: 'mod',
  scalar: (a, b) => special.modulo(a!, b!),
  integers: true,
  domain: [
    [0.6, 0.9],
    [0.4, 0.55],
  ],
  extremes: [0, -3, 7.5],
  cost: 8,
  source: 'NumPy mod',
})

// ---- powers ----------------------------------------------------------------------------------------------------------

// ---- choices ---------------------------------------------------------------------------------------------------------

/** The operation that of two booleans is what logic makes of them; of others what the primitive does. */
const choosing = <const N extends string>(own: BinaryOp<N>, logic: (a: AnyExpr, b: AnyExpr) => AnyExpr): ChoosingOp<N> => {
  const name = own.primitive.name
  const f = (a: unknown, b: unknown, third: unknown = undefined, list: unknown = undefined): AnyExpr => {
    if (third !== undefined && list === undefined) refuseThird(name, third)
    const [x, y] = liftPair(a, b, name, 'order')
    return x.dtype === 'bool' ? logic(asExpr(x), asExpr(y)) : asExpr(apply(own.primitive, [x, y], NO_PARAMS))
  }
  return typed(Object.assign(f, { primitive: own.primitive }))
}
/**
 * The larger of a and b; NaN where one is NaN.
 *
 * Shapes  a and b broadcast.   Dtype  promoted; i32 and bool stay.   Rule  the cotangent goes to the larger; at a tie, half to each.   Source  NumPy
 *         maximum.
 * @example maximum([1, 5], 3)   // [3, 5]
 */
export const maximum: ChoosingOp<'maximum'> = choosing(
  binary({
    name: 'maximum',
    unbounded: false,
    scalar: (a, b) => Math.max(a!, b!),
    integers: true,
    extremes: [0, -0, Number.NaN],
    kinks: [{ at: [1, 1], partials: [0.5, 0.5], why: 'ties share, and the shares sum to 1' }],
    source: 'NumPy maximum',
  }),
  or,
)
/**
 * The smaller of a and b; NaN where one is NaN.
 *
 * Shapes  a and b broadcast.   Dtype  promoted; i32 and bool stay.   Rule  the cotangent goes to the smaller; at a tie, half to each.   Source  NumPy
 *         minimum.
 * @example minimum([1, 5], 3)   // [1, 3]
 */
export const minimum: ChoosingOp<'minimum'> = choosing(
  binary({
    name: 'minimum',
    unbounded: false,
    scalar: (a, b) => Math.min(a!, b!),
    integers: true,
    extremes: [0, -0, Number.NaN],
    kinks: [{ at: [1, 1], partials: [0.5, 0.5], why: 'ties share, and the shares sum to 1' }],
    source: 'NumPy minimum',
  }),
  and,
)
/**
 * |a| with the sign of b (the sign bit: -0 is negative; NaN counts as positive).
 *
 * Shapes  a and b broadcast.   Rule  dy = sign(a) sign(b) da, 0 at a = 0; none for b.   Source  IEEE 754 copySign.
 * @example copysign([1, -2], -1)   // [-1, -2]
 */
export const copysign: FloatBinaryOp<'copysign'> = binary({
  name: 'copysign',
  unbounded: false,
  scalar: (a, b) => special.copySign(a!, b!),
  domain: [
    [0.2, 2],
    [-2, 2],
  ],
  extremes: [0, -0, -3],
  kinks: [{ at: [0, 1], partials: [0, 0], why: 'as abs at 0' }],
  source: 'IEEE 754 copySign',
})

const branch = (shape: readonly number[], dtype: DType = 'f64') => ({
  shape,
  dtype,
  domain: dtype === 'bool' ? ([0, 2] as const) : ([-2, 2] as const),
})
const whereSample = (c: readonly number[], a: readonly number[], b: readonly number[], dtype?: DType) => ({
  args: [branch(c, 'bool'), branch(a, dtype), branch(b, dtype)],
  params: NO_PARAMS,
})
/** Selection: a where the condition holds, else b. */
const wherePrimitive: Primitive<'where', NoParams, readonly ['int', 'float', 'float']> = primitive({
  ...declare(['int', 'float', 'float'] as const, {
    name: 'where',
    unbounded: false,
    scalar: (c, a, b) => (c !== 0 ? a! : b!),
    source: 'NumPy where',
  }),
  dtypes: ['bool', 'any', 'any'],
  shapeRule: (args) => {
    const [c, a, b] = args
    if (a === b && sameShape(c!.shape, a!.shape)) return a!
    const shape = broadcastAvals(args, 'where')
    return sameShape(a!.shape, shape) ? a! : sameShape(b!.shape, shape) ? b! : aval(shape, a!.dtype)
  },
  samples: [
    whereSample([], [], []),
    whereSample([5], [5], [5]),
    whereSample([2, 3], [2, 3], [2, 3]),
    whereSample([0], [0], [0]),
    whereSample([2, 3], [3], []),
    whereSample([3], [2, 3], [2, 1]),
    whereSample([2, 1], [], [1, 4]),
    whereSample([4], [4], [4], 'i32'),
    whereSample([4], [4], [4], 'bool'),
  ],
})
/**
 * a where the condition holds, b elsewhere. A condition that is not bool is compared with 0.
 *
 * Shapes  all three broadcast.   Dtype  of a and b, promoted.   Source  NumPy where.
 * Rule    dy = where(c, da, db); aBar = where(c, yBar, 0), bBar = where(c, 0, yBar): the cotangent is masked, not multiplied.
 * Errors  ShapeMismatch when the shapes do not broadcast.
 * @example where([1, 0], [1, 2], 9)   // [1, 9]
 */
export const where: WhereFn = typed(
  Object.assign(
    (condition: unknown, a: unknown, b: unknown): AnyExpr => {
      const c = castNode(lift(condition, 'where'), 'bool')
      const [x, y] = liftPair(a, b, 'where')
      return asExpr(apply(wherePrimitive, [c, x, y], NO_PARAMS))
    },
    { primitive: wherePrimitive },
  ),
)
/**
 * Another name of `where`.
 *
 * @example select([1, 0], [1, 2], 9)   // [1, 9]
 */
export const select: WhereFn = where

// ---- identities ------------------------------------------------------------------------------------------------------

/**
 * The same values, taken as constants by every derivative. For a tree, every leaf; integers and booleans stay as they are.
 *
 * Rule  dy = 0.   Source  JAX stop_gradient. Plans copy nothing for it.
 * @example stopGradient([1, 2])   // [1, 2]
 */
export const stopGradient: IdentityFn = typed(
  Object.assign(
    (tree: unknown): unknown => {
      const { leaves, def } = flatten(tree, 'stopGradient')
      const stop = (leaf: unknown): AnyExpr => {
        const x = lift(leaf, 'stopGradient')
        return isFloat(x.dtype) ? stopped(asExpr(x)) : asExpr(x)
      }
      return unflatten(def, leaves.map(stop))
    },
    { primitive: stopped.primitive },
  ),
)

/**
 * x in another dtype: f32 rounds to nearest even, i32 truncates and saturates (NaN is 0), bool is x != 0.
 *
 * Rule  dy = dx in the dtype of y; none through i32 and bool.   Source  IEEE 754; WebAssembly trunc_sat.
 * Errors  BadInput for an invalid dtype.
 * @example cast([1.7, -1.7], 'i32')   // [1, -1]
 */
export const cast: CastFn = typed((x: unknown, dtype: DType): AnyExpr => asExpr(declared(lift(x, 'cast'), dtypeOf(dtype, 'cast'))))
