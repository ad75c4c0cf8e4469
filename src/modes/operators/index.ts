/** The operators that users call: functions to functions, over the rules of a registry. */
import type { TaylorOf } from '../../core/calculus/taylor.js'
import { vmap } from './batching.js'
import { clipGradient, reverseGradient, straightThrough, tapGradient } from './estimators.js'
import { gaussNewtonProduct } from './gauss-newton.js'
import { grad, valueAndGrad } from './gradient.js'
import { hessian, jacfwd, jacrev } from './jacobian.js'
import { hvp, vjp } from './pullback.js'
import type { Context } from './shared.js'
import { hessianSparsity, sparseHessian, sparseJacobian, sparsity } from './sparse.js'
import { jvp, linearize } from './tangent.js'
import { jet } from './taylor.js'

export const makeOperators = (c: Context, taylorOf: TaylorOf) => ({
  grad: grad(c),
  valueAndGrad: valueAndGrad(c),
  jvp: jvp(c),
  vjp: vjp(c),
  hvp: hvp(c),
  linearize: linearize(c),
  jet: jet(c, taylorOf),
  vmap: vmap(c),
  jacfwd: jacfwd(c),
  jacrev: jacrev(c),
  hessian: hessian(c),
  sparsity: sparsity(c),
  hessianSparsity: hessianSparsity(c),
  sparseJacobian: sparseJacobian(c),
  sparseHessian: sparseHessian(c),
  gaussNewtonProduct: gaussNewtonProduct(c),
  straightThrough: straightThrough(c),
  clipGradient: clipGradient(c),
  reverseGradient: reverseGradient(c),
  tapGradient: tapGradient(c),
})
