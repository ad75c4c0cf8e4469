/** Declaring, compiling and running functions on the default backend. */

import { evaluateWith } from '../core/functions/compile.js'
import { compileOn } from '../core/functions/compile-async.js'
import { type Env, runCore, runSyncCore } from '../core/functions/effects.js'
import { isExpr as isExprCore } from '../core/graph/expr.js'
import { typed } from '../core/graph/operation.js'
import { isTensor as isTensorCore } from '../core/graph/tensor.js'
import type { AnyExpr, Tensor } from '../core/types/expr.js'
import type * as running from '../core/types/signatures/run.js'
import type * as transforms from '../core/types/signatures/transforms.js'
import { backend, context } from './context.js'
import { compileAsyncOf, fnOf, showOf } from './functions.js'

/**
 * A typed function of one tree of inputs: their declaration, and a body from expressions to an expression (or a tree of them).
 *
 * Called with values it runs, with expressions it inlines; `compile` traces it once per signature. Named axes are bound at each call.
 * `{ name }` is what errors and `show` call it, the body's own name unless given.
 * Errors  ShapeMismatch, DTypeMismatch or BadInput if an argument is not as declared.
 * @example fn({ x: f64('n'), w: f64('n') }, ({ x, w }) => sum(mul(x, w)))({ x: [1, 2], w: [3, 4] })   // 11
 */
export const fn: transforms.FnFn = /*#__PURE__*/ typed(fnOf(context.runtime))
/**
 * The values of expressions (a tree of them) that depend on no input, on the default backend.
 *
 * Errors  BadInput for an expression that depends on an input, which leaked out of a trace.
 * @example evaluate({ y: add([1, 2], 3) })   // { y: [4, 5] }
 */
export const evaluate: running.EvaluateFn = /*#__PURE__*/ typed(evaluateWith(backend))
/**
 * A plain function that plans f once per signature (tree, shapes, dtypes) and then only runs; on the default backend unless given one.
 *
 * Captured tensors are read at every call; captured numbers stay what they were when it was traced. `.into(outputs)` writes into the
 * caller's tensors, `.explain()` tells what runs and what it costs. On an asynchronous backend it gives promises. `{ trap: 'nan' }`: a call
 * whose result holds a NaN is an error that names the equation that made it first ('nonFinite': an infinity too).
 * Errors  thrown as AdException.
 * @example compile(grad((x) => sum(mul(x, x))))([1, 2, 3])   // [2, 4, 6]
 */
export const compile: running.CompileFn = /*#__PURE__*/ typed(compileOn(backend))
/**
 * `compile` with promises on any backend.
 *
 * Errors  rejects with an AdException.
 * @example await compileAsync((x) => sum(mul(x, x)), cpu())([1, 2, 3])   // 14
 */
export const compileAsync: running.CompileAsyncFn = /*#__PURE__*/ typed(compileAsyncOf)
/**
 * The program of a function (or of expressions) as text: its inputs, one line per equation, its results. Deterministic.
 *
 * Errors  BadInput if the size of a named axis is not known, or a plain function does not declare its arguments.
 * @example
 * show(fn({ x: f64(2) }, ({ x }) => sum(x)))   // 'fn(x: f64 [2])\n  y0 = sum(x) {axes [0]} : f64 []\n  return y0...'
 * show(mul(tensor([1, 2]), 3))                 // 'expression()\n  y0 = mul(captured0, 3) : f64 [2]\n  return y0'
 */
export const show: running.ShowFn = /*#__PURE__*/ typed(showOf)
/**
 * A function as an effect of fp-ts: run(f)(...inputs) is a ReaderTaskEither. Nothing happens before it is given its Env and run;
 * then it is traced once per signature and backend.
 *
 * Errors  Left of an AdError.
 * @example await run((x) => sum(mul(x, x)))([1, 2])({ backend: cpu() })()   // Right(5)
 */
export const run: running.RunFn<Env> = /*#__PURE__*/ typed(runCore)
/**
 * A function run at once on a synchronous backend, with failure as a value: Left of an AdError, or Right of the result.
 *
 * @example runSync(cpu())((x) => sum(mul(x, x)))([1, 2])   // Right(5)
 */
export const runSync: running.RunSyncFn = /*#__PURE__*/ typed(runSyncCore)
/**
 * Is x a tensor of this copy of codual? It never throws.
 *
 * @example isTensor([1, 2])   // false
 */
export const isTensor = (x: unknown): x is Tensor => isTensorCore(x)
/**
 * Is x an expression of this copy of codual? A tensor is not one. It never throws.
 *
 * @example isExpr(add(1, 2))   // true
 */
export const isExpr = (x: unknown): x is AnyExpr => isExprCore(x)
