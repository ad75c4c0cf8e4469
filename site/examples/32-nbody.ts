// Which launch brings a probe to Mars? The flight is a scan of leapfrog steps; Levenberg and Marquardt's method makes the miss zero.
import { add, at, compile, div, type Expr, f64, fn, mul, scan, sqrt, sub, sum, tensor } from 'codual'
import { levenbergMarquardt } from 'codual/optim'
import { plot } from 'playground'

// Lengths in radii of Earth's orbit, times in years: the sun pulls with (2 pi)^2 / r^2.
const G = 4 * Math.PI ** 2
const steps = 300
const duration = Math.sqrt(((1 + 1.524) / 2) ** 3) / 2
const h = duration / steps
const pull = (x: Expr<[2]>) => div(mul(-G, x), mul(sum(mul(x, x)), sqrt(sum(mul(x, x)))))
const fly = fn({ launch: f64(2) }, ({ launch }) =>
  scan(
    ({ x, v }) => {
      const half = add(v, mul(h / 2, pull(x)))
      const next = add(x, mul(h, half))
      return [{ x: next, v: add(half, mul(h / 2, pull(next))) }, next]
    },
    { x: tensor([1, 0]), v: launch },
    null,
    { length: steps },
  ),
)
// Mars is on the other side of the sun when the probe arrives.
const miss = (launch: Expr<[2]>) => sub(fly({ launch })[0].x, tensor([-1.524, 0]))
const method = levenbergMarquardt()
const aim = compile(
  fn({ params: f64(2), state: method.init(f64(2)) }, ({ params, state }) => method.step((launch) => miss(launch), params, state)),
)
let now = { params: tensor([0, 6.6]), state: method.init(tensor([0, 6.6])) }
for (let i = 0; i < 12; i++) {
  const { params, state } = aim(now)
  now = { params, state }
}
const path = compile(fly)({ launch: now.params })[1]
const xs = path.toArray()
plot(
  xs.map(([x]) => x!),
  xs.map(([, y]) => y!),
  { title: 'From Earth to Mars', points: true },
)
at(now.params, 1) // 6.904545
