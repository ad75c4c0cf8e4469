// The Hessian times a vector, without the Hessian: the derivative of the gradient along v.
import { type AnyExpr, exp, grad, jvp, mul, sum } from 'codual'

const f = (x: AnyExpr) => sum(mul(x, exp(x)))

const [, tangent] = jvp(grad(f))([0, 1], [1, 1])
tangent // [2, 8.154845]
