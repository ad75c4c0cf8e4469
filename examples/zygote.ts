// Zygote.jl #1206: two closures with the same body cost 1.13 us or 12 ns a call, by which one ran first. Here a function is what it
// computes: ten closures of one expression share one plan, in any order.

import type { AnyExpr } from '../src/index.js'
import { add, compile, cpu, matmul, mean, square, sub, tensor, valueAndGrad } from '../src/index.js'
import { expectThat, type Log, start } from './entry.js'

const x = tensor([
  [1, 2, 3],
  [4, 5, 6],
])
const target = tensor([[1], [2]])

/** A loss that captures its own weights and learning rate; each call makes a new closure, and every second one a wrapped one. */
const makeLoss = (k: number) => {
  const bias = k + 1.5
  const layer = (w: AnyExpr) => add(matmul(x, w), bias)
  const wrapped = (w: AnyExpr) => ((f: (v: AnyExpr) => AnyExpr) => f(w))(layer)
  const f = k % 2 === 0 ? layer : wrapped
  return (w: AnyExpr) => mean(square(sub(f(w), target)))
}

export const main = (log: Log) => {
  const backend = cpu({ cacheBytes: 2 ** 20 }) // a backend, and so a plan cache, of this example's own
  backend.clearCache()
  const before = backend.cache()
  const closures = Array.from({ length: 10 }, (_, k) => compile(valueAndGrad(makeLoss(k)), backend))
  const values = closures.map((f) => f([[0.1], [0.2], [0.3]]).value.item())
  const after = backend.cache()
  const misses = after.misses - before.misses
  const hits = after.hits - before.hits

  log('Zygote.jl #1206: the same function, written as two closures: 1.13 us or 12 ns a call, depending on which ran first.')
  log(`codual: 10 closures, ${after.plans} plan: made ${misses} time, found ${hits} times`)
  log(`their values differ as their captured numbers do: ${values.map((v) => v.toFixed(3)).join(' ')}`)

  expectThat(after.plans === 1 && misses === 1 && hits === 9, 'one plan for ten closures')
  return { plans: after.plans, misses, hits, values }
}

start(import.meta.url, main)
