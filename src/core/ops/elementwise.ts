/** Elementwise functions of floats: what each one is. Rules: rules/elementwise.ts; kernels: backends/*\/elementwise.ts. */
import { castNode, castPrimitive } from '../cast.js'
import { binary, unary } from '../elementwise.js'
import { asExpr } from '../expr.js'
import { lift } from '../lift.js'
import type { AnyExpr } from '../types/expr.js'
import type { DType } from '../types/dtype.js'

/** -x. */
export const neg = unary({ name: 'neg', scalar: (x) => -x!, integers: true, source: 'IEEE 754' })
/** exp x. */
export const exp = unary({ name: 'exp', scalar: (x) => Math.exp(x!), extremes: [-800, -100, 0, 100], cost: 10, source: 'DLMF 4.2.19' })
/** log x. */
export const log = unary({ name: 'log', scalar: (x) => Math.log(x!), domain: [[0.2, 4]], extremes: [0, 1e-300, 1e300], cost: 10, source: 'DLMF 4.2.2' })
/** sin x, x in radians. */
export const sin = unary({ name: 'sin', scalar: (x) => Math.sin(x!), cost: 12, source: 'DLMF 4.14.1' })
/** cos x, x in radians. */
export const cos = unary({ name: 'cos', scalar: (x) => Math.cos(x!), cost: 12, source: 'DLMF 4.14.2' })
/** tanh x, the hyperbolic tangent. */
export const tanh = unary({ name: 'tanh', scalar: (x) => Math.tanh(x!), domain: [[-3, 3]], extremes: [-100, 0, 100], cost: 12, source: 'DLMF 4.28.4' })
/** a + b. */
export const add = binary({ name: 'add', scalar: (a, b) => a! + b!, integers: true, source: 'IEEE 754' })
/** a - b. */
export const sub = binary({ name: 'sub', scalar: (a, b) => a! - b!, integers: true, source: 'IEEE 754' })
/** a b. */
export const mul = binary({ name: 'mul', scalar: (a, b) => a! * b!, integers: true, identity: [1, 1], source: 'IEEE 754' })
/** a / b. */
export const div = binary({ name: 'div', scalar: (a, b) => a! / b!, identity: [null, 1], domain: [[-2, 2], [0.5, 2]], cost: 4, source: 'IEEE 754' })

/**
 * x in another dtype: f32 rounds to nearest even, i32 truncates and saturates (NaN is 0), bool is x != 0.
 * @example cast([1.7, -1.7], 'i32')   // [1, -1]
 */
export const cast = (x: unknown, dtype: DType): AnyExpr => asExpr(castNode(lift(x, 'cast'), dtype))

/** Primitives of this family, by name. */
export const elementwise = {
  neg: neg.primitive,
  exp: exp.primitive,
  log: log.primitive,
  sin: sin.primitive,
  cos: cos.primitive,
  tanh: tanh.primitive,
  add: add.primitive,
  sub: sub.primitive,
  mul: mul.primitive,
  div: div.primitive,
  cast: castPrimitive,
} as const
