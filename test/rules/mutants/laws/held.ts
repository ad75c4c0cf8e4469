/** Zeros beside what is infinite in arrays: what is guarded off adds nothing, what is let through has the derivatives that it has without a guard (test/laws/zeros.ts). */
import type { AnyPrimitive } from '../../../../src/core/graph/primitive.js'
import { coreRegistry } from '../../../../src/rules/index.js'
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
]

export const held: Laws = {
  'what is guarded off adds nothing': () => asked.map((a) => [[0], [found(...a)]] as const),
}
