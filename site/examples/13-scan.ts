// A loop is one equation, and so is its derivative: a scan from the last step to the first.
import { type AnyExpr, add, grad, mul, scan, sin } from 'codual'

const walk = (xs: AnyExpr) => scan((s, x) => [add(mul(0.5, s), sin(x)), null], 0, xs)[0]

grad(walk)([0, 1, 2, 3]) // [0.125, 0.135076, -0.208073, -0.989992]
