// A rule of one's own around a function: the gradient is clipped on its way back.
import { type AnyExpr, clamp, customRule, grad, mul, sum } from 'codual'

const clipped = customRule((x: AnyExpr) => x, { rrule: (x) => [x, (yBar) => clamp(yBar, -1, 1)] })

grad((x: AnyExpr) => sum(mul(100, x)))([1, 2]) // [100, 100]
grad((x: AnyExpr) => sum(mul(100, clipped(x))))([1, 2]) // [1, 1]
