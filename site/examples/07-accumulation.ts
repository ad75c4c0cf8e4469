// x is used ten times, so ten cotangents meet in its gradient: nine of them are added in place. See Memory.
import { compile, type Expr, f64, fn, grad, matmul, sum } from 'codual'

const n = 16
const loss = fn({ x: f64(n, n), z: f64(n, n) }, ({ x, z }) => {
  let y: Expr<readonly [16, 16], 'f64'> = z
  for (let i = 0; i < 10; i++) y = matmul(x, y)
  return sum(y)
})
const identity = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => Number(i === j)))

const gradient = compile(grad(loss, { wrt: 'x' }))
const plan = gradient.explain()
plan.steps.filter((s) => s.kernel === 'gemm f64 +=').length // 9
gradient({ x: identity, z: identity }).shape // [16, 16]
