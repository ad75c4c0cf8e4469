// Derivatives of higher order: the sparse Hessian of Rosenbrock's function of 100,000 variables beside its gradient, and jets beside nested jvps.
// `npm run bench:higher-order`
import { linearize, type Node } from '../src/core/graph/expr.js'
import * as cd from '../src/index.js'

/** Medians of the times of calls that take turns, in ms. */
const milliseconds = (calls: readonly (() => unknown)[], rounds = 61): readonly number[] => {
  const times = calls.map((): number[] => [])
  for (let r = 0; r < rounds; r++)
    calls.forEach((call, i) => {
      const t = performance.now()
      call()
      if (r >= 10) times[i]!.push(performance.now() - t)
    })
  return times.map((list) => list.sort((a, b) => a - b)[list.length >> 1]!)
}
const line = (what: string, ms: number, of: number): void =>
  console.log(`${what.padEnd(44)} ${ms.toFixed(3).padStart(9)} ms ${(ms / of).toFixed(2).padStart(8)}`)

const n = 100_000
const rosenbrock = (x: cd.AnyExpr) => {
  const [a, b] = [cd.at(x, ':-1'), cd.at(x, '1:')]
  return cd.sum(cd.add(cd.mul(100, cd.square(cd.sub(b, cd.square(a)))), cd.square(cd.sub(1, a))))
}
const x = cd.tensor(Float64Array.from({ length: n }, (_, i) => Math.sin(i)))
let start = performance.now()
const { colours, rows } = cd.hessianSparsity(rosenbrock)(x)
console.log(`pattern of ${rows.length} entries, ${colours} colours: ${(performance.now() - start).toFixed(0)} ms`)
const gradient = cd.compile(cd.grad(rosenbrock))
const values = cd.compile((u: cd.AnyExpr) => cd.sparseHessian(rosenbrock)(u).values)
const whole = cd.compile(cd.sparseHessian(rosenbrock))
start = performance.now()
const [g, v, h] = [gradient(x), values(x), whole(x)]
console.log(`preparation of all three: ${(performance.now() - start).toFixed(0)} ms`)
const [intoG, intoV, intoH] = [gradient.into(g), values.into(v), whole.into(h)]
const [tg, tv, th] = milliseconds([() => intoG(x), () => intoV(x), () => intoH(x)]) as readonly [number, number, number]
line('Rosenbrock 100,000, .into: gradient', tg, tg)
line('  entries of the Hessian', tv, tg)
line('  entries, rows and columns', th, tg)
const [fg, fv] = milliseconds([() => gradient(x), () => values(x)]) as readonly [number, number]
line('  fresh results: gradient', fg, fg)
line('  entries of the Hessian', fv, fg)

/** Ten layers of tanh, of 1,000 elements; the derivatives of orders 1 to k in one direction. */
const chain = (u: cd.AnyExpr): cd.AnyExpr => Array.from({ length: 10 }).reduce<cd.AnyExpr>((y) => cd.tanh(y), u)
const nodes = (f: unknown): number =>
  linearize((cd.toProgram(f as (u: cd.AnyExpr) => cd.AnyExpr)(0.3) as unknown as { readonly outputs: readonly Node[] }).outputs).nodes
    .length
let nested = chain
for (let order = 1; order <= 6; order++) {
  const before = nested
  nested = (u) => cd.jvp(before)(u, cd.add(cd.mul(u, 0), 1) as never)[1] as cd.AnyExpr
  const jet = (u: cd.AnyExpr) => cd.jet(chain, { order })(u, [cd.add(cd.mul(u, 0), 1) as never])[1][order - 1] as cd.AnyExpr
  const point = cd.tensor(Float64Array.from({ length: 1000 }, (_, i) => Math.sin(i)))
  const [one, many] = [cd.compile(jet), cd.compile(nested)]
  const [t1, tn] = milliseconds([() => one(point), () => many(point)], 31) as readonly [number, number]
  console.log(`order ${order}: jet ${nodes(jet)} nodes, ${t1.toFixed(3)} ms; nested jvp ${nodes(nested)} nodes, ${tn.toFixed(3)} ms`)
}
