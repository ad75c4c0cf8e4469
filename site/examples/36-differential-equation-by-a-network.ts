// A network solves u'' = -u with u(0) = 0 and u'(0) = 1: jet gives its derivatives, and L-BFGS makes the residual small.
import { add, compile, dot, type Expr, type Exprs, evaluate, f64, fn, jet, mean, mul, square, tanh, tensor, vmap } from 'codual'
import { lbfgs } from 'codual/optim'
import { key, normal } from 'codual/random'
import { plot } from 'playground'

const net = { w: f64(12), b: f64(12), v: f64(12) }
type Net = Exprs<typeof net>
// x + x^2 times a network: both conditions at 0 hold as it is written.
const u = (p: Net, x: Expr<[]>) => add(x, mul(square(x), dot(p.v, tanh(add(mul(p.w, x), p.b)))))
const second = (p: Net, x: Expr<[]>) => jet((t: Expr<[]>) => u(p, t), { order: 2 })(x, [tensor(1)])[1][1]!
const residuals = vmap(
  fn({ p: net, x: f64() }, ({ p, x }) => add(second(p, x), u(p, x))),
  { inAxes: { p: null, x: 0 } },
)
const places = tensor(Array.from({ length: 30 }, (_, i) => i / 10))
const method = lbfgs()
const step = compile(
  fn({ params: net, state: method.init(net) }, ({ params, state }) =>
    method.step((p) => mean(square(residuals({ p, x: places }))), params, state),
  ),
)
const start = evaluate({ w: normal(key(1), [12]), b: normal(key(2), [12]), v: mul(0.1, normal(key(3), [12])) })
let now = { params: start, state: method.init(start) }
for (let i = 0; i < 150; i++) {
  const { params, state } = step(now)
  now = { params, state }
}
const solution = compile(
  vmap(
    fn({ p: net, x: f64() }, ({ p, x }) => u(p, x)),
    { inAxes: { p: null, x: 0 } },
  ),
)({ p: now.params, x: places })
plot(places, { network: solution, sine: places.toArray().map(Math.sin) }, { title: 'u' })
Math.max(...places.toArray().map((x, i) => Math.abs(solution.data[i]! - Math.sin(x)))) < 0.01 // true
