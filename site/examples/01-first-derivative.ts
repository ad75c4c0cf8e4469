// A function, its value and its gradient. Put the cursor on a line, then look at Program, Graph, Check and Plot.
import { type AnyExpr, compile, grad, mul, sin, sum } from 'codual'

const f = (x: AnyExpr) => sum(mul(x, sin(x)))

compile(f)([0, 1, 2]) // 2.660066
grad(f)([0, 1, 2]) // [0, 1.381773, 0.077004]
