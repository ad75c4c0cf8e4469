/**
 * The operators of codual on the reference interpreter: no planner, no WebAssembly. They weigh half of the others in a bundle, and run where code may not be
 * compiled; each operation takes a walk over its elements, so they are for small problems.
 */

import { reference } from '../backends/reference/index.js'
import { from } from '../core/calculus/pack.js'
import { makeCustomRule } from '../core/extend/custom-rule.js'
import { evaluateWith, makeRuntime } from '../core/functions/compile.js'
import { compileOn } from '../core/functions/compile-async.js'
import { typed } from '../core/graph/operation.js'
import type * as running from '../core/types/signatures/run.js'
import type * as transforms from '../core/types/signatures/transforms.js'
import type { VmapFn } from '../core/types/signatures/vmap.js'
import { vmap as vmapOf } from '../modes/operators/batching.js'
import { grad as gradOf, valueAndGrad as valueAndGradOf } from '../modes/operators/gradient.js'
import { hessian as hessianOf, jacfwd as jacfwdOf, jacrev as jacrevOf } from '../modes/operators/jacobian.js'
import { hvp as hvpOf, vjp as vjpOf } from '../modes/operators/pullback.js'
import type { Context } from '../modes/operators/shared.js'
import { jvp as jvpOf, linearize as linearizeOf } from '../modes/operators/tangent.js'
import { jet as jetOf } from '../modes/operators/taylor.js'
import { customPack } from '../packs/custom.js'
import { rules } from '../rules/base.js'
import { taylorOf } from '../rules/taylor.js'
import { fnOf } from './functions.js'

const context: Context = { registry: rules, runtime: makeRuntime(reference()) }

/** `grad` of codual, on the reference interpreter. */
export const grad: transforms.GradFn = typed(gradOf(context))
/** `valueAndGrad` of codual, on the reference interpreter. */
export const valueAndGrad: transforms.ValueAndGradFn = typed(valueAndGradOf(context))
/** `jvp` of codual, on the reference interpreter. */
export const jvp: transforms.JvpFn = typed(jvpOf(context))
/** `vjp` of codual, on the reference interpreter. */
export const vjp: transforms.VjpFn = typed(vjpOf(context))
/** `hvp` of codual, on the reference interpreter. */
export const hvp: transforms.HvpFn = typed(hvpOf(context))
/** `linearize` of codual, on the reference interpreter. */
export const linearize: transforms.LinearizeFn = typed(linearizeOf(context))
/** `jet` of codual, on the reference interpreter. */
export const jet: transforms.JetFn = typed(jetOf(context, taylorOf))
/** `vmap` of codual, on the reference interpreter. */
export const vmap: VmapFn = typed(vmapOf(context))
/** `jacfwd` of codual, on the reference interpreter. */
export const jacfwd: transforms.JacFn = typed(jacfwdOf(context))
/** `jacrev` of codual, on the reference interpreter. */
export const jacrev: transforms.JacFn = typed(jacrevOf(context))
/** `hessian` of codual, on the reference interpreter. */
export const hessian: transforms.HessianFn = typed(hessianOf(context))
/** `customRule` of codual, on the reference interpreter. */
export const customRule: transforms.CustomRuleFn = typed(from(customPack, makeCustomRule(context.runtime)))
/** `fn` of codual, on the reference interpreter. */
export const fn: transforms.FnFn = typed(fnOf(context.runtime))
/** `evaluate` of codual, on the reference interpreter. */
export const evaluate: running.EvaluateFn = typed(evaluateWith(reference()))
/** `compile` of codual, whose default backend is the reference interpreter here. */
export const compile: running.CompileFn = typed(compileOn(reference()))
