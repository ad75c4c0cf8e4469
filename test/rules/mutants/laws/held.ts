/** Zeros beside what is infinite in arrays: what is guarded off adds nothing, what is let through has the derivatives that it has without a guard (test/laws/zeros.ts). */
import type { AnyPrimitive } from '../../../../src/core/graph/primitive.js'
import * as cd from '../../../../src/index.js'
import { coreRegistry } from '../../../../src/packs/all.js'
import { type Before, casesOf, type Guard, lookedAt } from '../../../laws/zeros.js'
import type { Laws } from './law.js'

const found = (name: string, at: number, before: Before, guard: Guard, operator: string): number => {
  const k = casesOf(coreRegistry.rules.get(name)!.primitive as AnyPrimitive, at + 1)[at]!
  return lookedAt(k, before, guard, operator)?.wrong.length ?? -1
}
const asked: readonly (readonly [name: string, at: number, before: Before, guard: Guard, operator: string])[] = [
  ...(['solve', 'cholesky', 'svd'] as const).map((name) => [name, 0, 'itself', 'where', 'reverse of vmap'] as const),
  ['eigh', 0, 'root', 'where', 'vmap of reverse'],
  ['solve', 0, 'itself', 'where', 'reverse of reverse of vmap'],
  ['matmul', 0, 'logarithm', 'where', 'reverse of vmap'],
  ['matmul', 0, 'root', 'where', 'reverse of reverse of vmap'],
  ['matmul', 0, 'root', 'where', 'vmap of forward of mixed'],
  ['conv', 0, 'logarithm', 'where', 'reverse of vmap'],
  ['cumprod', 0, 'itself', 'where', 'reverse of vmap'],
  ['linearRecurrence', 0, 'itself', 'where', 'mixed of vmap'],
  ['matmul', 0, 'logarithm', 'cond', 'reverse of vmap'],
  ['solve', 0, 'itself', 'whileLoop', 'reverse of vmap'],
  ['customRule', 0, 'logarithm', 'cond', 'reverse of vmap'],
]

/** A running product of which the last is not seen, and infinite. */
const cut = (x: cd.AnyExpr): cd.AnyExpr => cd.sum(cd.where(cd.lt(cd.arange(3), 2), cd.cumprod(x), 0)) as cd.AnyExpr
export const held: Laws = {
  'factors after what is seen have no say': () => [
    [[4, 2, 0], cd.grad(cut as never, { mode: 'reverse' } as never)([2, 3, Number.POSITIVE_INFINITY] as never)],
  ],
  'what is guarded off adds nothing': () => asked.map((a) => [[0], [found(...a)]] as const),
}
