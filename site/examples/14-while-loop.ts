// Newton's method until it is near enough, and the derivative of the root it finds.
import { type AnyExpr, abs, add, div, grad, gt, mul, sub, vmap, whileLoop } from 'codual'

const root = (a: AnyExpr) =>
  whileLoop(
    (x) => gt(abs(sub(mul(x, x), a)), 1e-12),
    (x) => mul(0.5, add(x, div(a, x))),
    1,
    { maxSteps: 50 },
  )

grad((a: AnyExpr) => root(a)[0])(4) // 0.25
vmap((a: AnyExpr) => root(a)[1].steps)([1, 9, 100]) // [0, 6, 8]
