// Rosenbrock's valley by L-BFGS: the whole step, line search and all, is one compiled function.
import { add, compile, f64, fn, mul, square, sub, tensor } from 'codual'
import { lbfgs } from 'codual/optim'
import { curve } from 'playground'

const point = { x: f64(), y: f64() }
const method = lbfgs({ memory: 5 })
const step = compile(
  fn({ params: point, state: method.init(point) }, ({ params, state }) =>
    method.step(({ x, y }) => add(square(sub(1, x)), mul(100, square(sub(y, square(x))))), params, state),
  ),
)

const start = { x: tensor(-1.2), y: tensor(1) }
let now = { params: start, state: method.init(start) }
const valley = curve('log10 of the value')
for (let i = 0; i < 100; i++) {
  const { params, state, value } = step(now)
  now = { params, state }
  valley(i, Math.log10(value.item()))
  if (value.item() < 1e-20) break
}
now.params.x // 1
