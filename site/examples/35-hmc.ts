// Hamiltonian Monte Carlo: chains are vmap of a scan, and each step follows the gradient of the density (here a bent normal distribution).
import {
  add,
  at,
  compile,
  type Expr,
  evaluate,
  f64,
  fn,
  fori,
  grad,
  log,
  lt,
  mean,
  minimum,
  mul,
  scan,
  square,
  sub,
  sum,
  vmap,
  where,
} from 'codual'
import { key, normal, uniform } from 'codual/random'
import { plot } from 'playground'

const energy = (x: Expr<[2]>) => add(mul(0.5, square(at(x, 0))), mul(2, square(sub(at(x, 1), square(at(x, 0))))))
const slope = grad((x: Expr<[2]>) => energy(x))
const h = 0.15
const slide = (x: Expr<[2]>, p: Expr<[2]>) =>
  fori(
    12,
    (_, { x, p }) => {
      const half = sub(p, mul(h / 2, slope(x)))
      const next = add(x, mul(h, half))
      return { x: next, p: sub(half, mul(h / 2, slope(next))) }
    },
    { x, p },
  )
const total = (x: Expr<[2]>, p: Expr<[2]>) => add(energy(x), mul(0.5, sum(square(p))))
const chain = fn(
  { momenta: f64('draws', 2), u: f64('draws'), start: f64(2) },
  ({ momenta, u, start }) =>
    scan(
      (x, { p, u }) => {
        const end = slide(x, p)
        const accepted = lt(log(u), minimum(0, sub(total(x, p), total(end.x, end.p))))
        const next = where(accepted, end.x, x)
        return [next, next]
      },
      start,
      { p: momenta, u },
    )[1],
)
const draws = 400
const chains = 4
const sample = compile(vmap(chain))
const points = sample({
  momenta: evaluate(normal(key(1), [chains, draws, 2])),
  u: evaluate(uniform(key(2), [chains, draws])),
  start: [
    [0, 0],
    [1, 1],
    [-1, 1],
    [0, 1],
  ],
})
const all = points.toArray().flat()
plot(
  all.map(([x]) => x!),
  all.map(([, y]) => y!),
  { title: 'draws of four chains', points: true },
)
evaluate(mean(points, { axis: [0, 1] })) // [0.126069, 1.107898]
