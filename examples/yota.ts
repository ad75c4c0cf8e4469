// Yota.jl #134: a dense layer's gradient computed a cotangent of x that nobody asked for, 8 MiB of 73 MiB. Here what `wrt` does not
// name is never built: the plan has no kernel for it, and no buffer.
import { add, compile, cpu, type Explanation, exp, f32, fn, matmul, sum, valueAndGrad } from '../src/index.js'
import { expectThat, type Log, start } from './entry.js'

// The layer of the thread: W is 512 x 256, x is 256 x 4096.
const loss = fn({ W: f32(512, 256), b: f32(512, 1), x: f32(256, 4096) }, ({ W, b, x }) => sum(exp(add(matmul(W, x), b))))
const bytesOfX = 4 * 256 * 4096

/** How often a plan writes a buffer of this size. */
const writesOfSize = (plan: Explanation, bytes: number): number =>
  plan.steps.flatMap((s) => s.writes).filter((w) => w.endsWith(`(${bytes} B)`)).length

const row = (name: string, gemms: number, loops: number, peak: number): string =>
  `${name.padEnd(22)}${String(gemms).padStart(8)}${String(loops).padStart(8)}${(peak / 2 ** 20).toFixed(1).padStart(12)}`

export const main = (log: Log) => {
  // `explain` plans and does not run: the figures are the plan's own.
  const without = compile(valueAndGrad(loss, { wrt: ['W', 'b'] }), cpu()).explain()
  const withX = compile(valueAndGrad(loss, { wrt: ['W', 'b', 'x'] }), cpu()).explain()
  const gemms = { without: without.counts.gemm ?? 0, withX: withX.counts.gemm ?? 0 }
  const sizedAsX = { without: writesOfSize(without, bytesOfX), withX: writesOfSize(withX, bytesOfX) }

  log('Yota.jl #134: 73.01 MiB allocated by one gradient, 8 MiB of it for the gradient of x that was not asked for.')
  log(`${'codual, gradient of'.padEnd(22)}${'products'.padStart(8)}${'loops'.padStart(8)}${'peak MiB'.padStart(12)}`)
  log(row('W, b', gemms.without, without.counts.loop ?? 0, without.peakBytes))
  log(row('W, b and x', gemms.withX, withX.counts.loop ?? 0, withX.peakBytes))
  log(`buffers of the size of x written: ${sizedAsX.without} without x's gradient, ${sizedAsX.withX} with it`)

  expectThat(gemms.without === 2, 'W x and one product for the gradient of W')
  expectThat(gemms.withX === 3, 'one product more when x is asked for')
  expectThat(sizedAsX.without === 0 && sizedAsX.withX > 0, 'no buffer of the size of x unless its gradient is asked for')
  return { gemms, sizedAsX, peakBytes: { without: without.peakBytes, withX: withX.peakBytes } }
}

start(import.meta.url, main)
