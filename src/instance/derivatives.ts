/** The derivative operators and vmap, bound to the shipped rules and the default backend: each by a call of its own, so that a bundle has those that it names. */

import { typed } from '../core/graph/operation.js'
import type * as transforms from '../core/types/signatures/transforms.js'
import type { VmapFn } from '../core/types/signatures/vmap.js'
import { vmap as vmapOf } from '../modes/operators/batching.js'
import { grad as gradOf, valueAndGrad as valueAndGradOf } from '../modes/operators/gradient.js'
import { hessian as hessianOf, jacfwd as jacfwdOf, jacrev as jacrevOf } from '../modes/operators/jacobian.js'
import { hvp as hvpOf, vjp as vjpOf } from '../modes/operators/pullback.js'
import { jvp as jvpOf, linearize as linearizeOf } from '../modes/operators/tangent.js'
import { jet as jetOf } from '../modes/operators/taylor.js'
import { taylorOf } from '../rules/taylor.js'
import { context } from './context.js'

/**
 * The gradient of a scalar function: f: R^n -> R becomes x |-> (df/dx_1, ..., df/dx_n), in the structure of its first argument.
 *
 * `wrt` names the variables (a path, a list of paths, an argument's index), `mode` the mode: 'mixed' unless given. It nests to any order. For a list the result is a record with
 * the entries of the list as keys: `{ wrt: ['params.w', 'x'] }` gives { 'params.w': ..., x: ... }. With `aux: true` f returns [scalar, aux], and the result is [gradient, aux].
 * Errors  NotScalar when f returns no scalar, NotDifferentiable when wrt is not a float, MissingRule.
 * @example
 * grad((x) => sum(mul(x, x)))([1, 2, 3])   // [2, 4, 6]
 * grad((x: AnyExpr) => [sum(x), neg(x)], { aux: true })([1, 2])   // [[1, 1], [-1, -2]]
 * const cost = fn({ p: { w: f64(), b: f64() }, x: f64() }, ({ p, x }) => mul(p.w, x))
 * grad(cost, { wrt: ['p.w', 'x'] })({ p: { w: 2, b: 0 }, x: 3 })['p.w']   // 3
 */
export const grad: transforms.GradFn = /*#__PURE__*/ typed(gradOf(context))
/**
 * f(x) and its gradient from one pass: { value, grad }; with `aux: true` f returns [scalar, aux] and aux is given too.
 *
 * Options and errors as for `grad`.
 * @example valueAndGrad((x) => sum(mul(x, x)))([1, 2, 3])   // { value: 14, grad: [2, 4, 6] }
 */
export const valueAndGrad: transforms.ValueAndGradFn = /*#__PURE__*/ typed(valueAndGradOf(context))
/**
 * The Jacobian times a tangent, forward: (x, dx) |-> [f(x), f'(x) dx].
 *
 * Several arguments are given as their tuple; only what varies needs a tangent that is not 0. Cost: a small multiple of f's, whatever the
 * number of inputs.   Source  Griewank and Walther 2008, 3.1.
 * Errors  ShapeMismatch if the tangent has another shape than x; MissingRule for a rule without frule.
 * @example jvp((x) => mul(x, x))([1, 2], [1, 10])   // [[1, 4], [2, 40]]
 */
export const jvp: transforms.JvpFn = /*#__PURE__*/ typed(jvpOf(context))
/**
 * A cotangent times the Jacobian, in reverse: (x, yBar) |-> [f(x), f'(x)^T yBar].
 *
 * Several arguments are given as their tuple; `wrt` names those whose cotangents are wanted (all, unless given). Cost: a small multiple
 * of f's, whatever the number of inputs.   Source  Griewank and Walther 2008, 3.2.
 * Errors  ShapeMismatch if the cotangent has another shape than f(x); MissingRule.
 * @example vjp((x) => mul(x, x))([1, 2], [1, 10])   // [[1, 4], [2, 40]]
 */
export const vjp: transforms.VjpFn = /*#__PURE__*/ typed(vjpOf(context))
/**
 * The Hessian of a scalar function times a tangent: (x, dx) |-> f''(x) dx, without the matrix; forward over reverse.
 *
 * Errors  NotScalar when f returns no scalar.   Source  Pearlmutter 1994.
 * @example hvp((x) => sum(mul(x, mul(x, x))))([1, 2], [1, 0])   // [6, 0]
 */
export const hvp: transforms.HvpFn = /*#__PURE__*/ typed(hvpOf(context))
/**
 * f at a point: [f(x), dx |-> f'(x) dx], the derivative there as a linear function of the tangent alone.
 *
 * The residuals are computed once, with the value, and kept as long as the derivative is. `wrt` names the variables (all, unless given); dx
 * is a tangent of these alone.
 * Errors  ShapeMismatch if dx has another shape than they have.
 * @example linearize((x) => mul(x, x))([1, 2])[1]([1, 10])   // [2, 40]
 */
export const linearize: transforms.LinearizeFn = /*#__PURE__*/ typed(linearizeOf(context))
/**
 * Derivatives of f along a curve x(t), in one pass: (x, [x', x'', ...]) |-> [f(x), [f(x(t))', f(x(t))'', ...]], at t = 0. Taylor mode.
 *
 * The series holds derivatives, not Taylor coefficients (those are d^k/k!), as that of jax.experimental.jet does; those up to `order` that are
 * not given are 0, so jet(f, { order: 4 })(x, [v]) has the derivatives in the direction v. Cost: about order^2 times f's, where nested `jvp`
 * takes 2^order. Several arguments are given as their tuple.   Source  Griewank and Walther 2008, 13; Bettencourt, Johnson and Duvenaud 2019.
 * Errors  ShapeMismatch if a derivative of x has another shape than x; BadInput unless `order` is at least 1.
 * @example jet((x) => exp(x), { order: 3 })(0, [1])   // [1, [1, 1, 1]]
 */
export const jet: transforms.JetFn = /*#__PURE__*/ typed(jetOf(context, taylorOf))
/**
 * f at every index of an axis: x: [n, ...s] for f's x: [...s]; results get the axis in front.
 *
 * `inAxes` says which axis is mapped (0 unless given; null: none, the same at every index), `outAxes` where it stands in the results: for
 * all leaves, by argument ([null, -1]), or as a tree or a prefix of it ({ params: null, x: 0 }).
 * Errors  ShapeMismatch if there is no such axis, or it has two sizes; BadInput for axes of another tree, or if none is mapped; MissingRule
 *         without a batch rule.
 * @example vmap((w, x) => mul(w, x), { inAxes: [null, 1] })(10, [[1, 2, 3], [4, 5, 6]])   // [[10, 40], [20, 50], [30, 60]]
 * @example vmap((x) => mul(x, x), { outAxes: -1 })([[1, 2], [3, 4]])   // [[1, 9], [4, 16]]
 */
export const vmap: VmapFn = /*#__PURE__*/ typed(vmapOf(context))
/**
 * The Jacobian by columns, in forward mode: shape [...f(x), ...x], one pushed basis vector per input, all at once.
 *
 * For functions with fewer inputs than outputs; otherwise `jacrev` is cheaper. Trees give a tree of blocks. `chunk` says how many vectors
 * at once: less memory, more steps.
 * Errors  NotDifferentiable if no argument is a float; BadInput for an invalid `chunk`.
 * @example jacfwd((x) => mul(x, x))([1, 2])   // [[2, 0], [0, 4]]
 */
export const jacfwd: transforms.JacFn = /*#__PURE__*/ typed(jacfwdOf(context))
/**
 * The Jacobian by rows, in reverse mode: shape [...f(x), ...x], one pulled basis vector per output, all at once.
 *
 * For functions with fewer outputs than inputs; otherwise `jacfwd` is cheaper. Trees give a tree of blocks. `chunk` says how many vectors
 * at once: less memory, more steps.
 * Errors  NotDifferentiable if no argument is a float; BadInput for an invalid `chunk`.
 * @example jacrev((x) => sum(mul(x, x)))([1, 2])   // [2, 4]
 */
export const jacrev: transforms.JacFn = /*#__PURE__*/ typed(jacrevOf(context))
/**
 * The matrix of second derivatives of a scalar function, shape [...x, ...x]: forward over reverse.
 *
 * Errors  NotScalar when f returns no scalar. For a product with one vector use `hvp`: it never builds the matrix.
 * @example hessian((x) => prod(x))([2, 3])   // [[0, 1], [1, 0]]
 */
export const hessian: transforms.HessianFn = /*#__PURE__*/ typed(hessianOf(context))
