// HIPS autograd #219: gradients that reach one variable by many paths were kept in a list and summed at the end. Here each product is
// added into one accumulator, and each cotangent's buffer is freed at its last use: memory is the tape and a handful of buffers.
import { compile, cpu, type Expr, f64, fn, grad, matmul, sum } from '../src/index.js'
import { expectThat, type Log, start } from './entry.js'

const steps = 100
const n = 256

// z = x z, 100 times: x is used 100 times, so 100 cotangents meet in its gradient.
const loss = fn({ x: f64(n, n), z: f64(n, n) }, ({ x, z }) => {
  let y: Expr<readonly [256, 256], 'f64'> = z
  for (let i = 0; i < steps; i++) y = matmul(x, y)
  return sum(y)
})

export const main = (log: Log) => {
  const plan = compile(grad(loss, { wrt: 'x' }), cpu()).explain()
  const matrix = 8 * n * n
  const products = plan.counts.gemm ?? 0
  const inPlace = plan.steps.filter((s) => s.kernel === 'gemm f64 +=').length

  log('autograd #219: the backward pass of 100 chained products kept 100 gradients of x and summed them at the end.')
  log(
    `codual: ${products} products, ${inPlace} of them added in place into one accumulator, ${plan.copiedAccumulators} accumulators copied`,
  )
  log(`buffers alive at once: ${plan.peakBuffers} (99 of them the tape); peak ${(plan.peakBytes / matrix).toFixed(2)} matrices`)

  expectThat(plan.peakBuffers <= 104, 'the tape and five buffers')
  expectThat(inPlace === steps - 1, 'a fan-out of 100 is 99 in-place products')
  expectThat(plan.copiedAccumulators === 0, 'no copy of an accumulator')
  return { products, inPlace, peakBuffers: plan.peakBuffers, matrices: plan.peakBytes / matrix, copied: plan.copiedAccumulators }
}

start(import.meta.url, main)
