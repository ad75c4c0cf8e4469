// Values and gradients of expressions over arrays, for the tests of rules.
import { expect } from 'vitest'
import { evaluateNodes } from '../../src/backends/reference/index.js'
import { isAdException } from '../../src/core/errors/error.js'
import { aval } from '../../src/core/graph/aval.js'
import { asExpr, asNode, constant, input, type Node } from '../../src/core/graph/expr.js'
import { allocate, type NDArray, toNested } from '../../src/core/graph/ndarray.js'
import { sizeOf } from '../../src/core/graph/shape.js'
import { sum } from '../../src/core/ops/reductions.js'
import type { DType } from '../../src/core/types/dtype.js'
import type { AnyExpr } from '../../src/core/types/expr.js'
import { instantiate } from '../../src/modes/common.js'
import { denseCotangents } from '../../src/modes/reverse.js'
import { pullback, pushforward } from '../../src/modes/transform.js'
import { coreRegistry as registry } from '../../src/packs/all.js'

/** Numbers in [0, 1), the same for the same seed. */
export const random = (seed: number): (() => number) => {
  let s = seed >>> 0
  return () => {
    s = (s + 0x6d2b79f5) >>> 0
    let t = Math.imul(s ^ (s >>> 15), 1 | s)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}
export const array = (shape: readonly number[], dtype: DType, f: (i: number) => number): NDArray => {
  const data = allocate(dtype, sizeOf(shape))
  for (let i = 0; i < data.length; i++) data[i] = f(i)
  return { shape, dtype, data }
}
/** The value of an expression that has no inputs but tensors. */
export const evaluated = (x: unknown): NDArray => evaluateNodes([asNode(x)])[0]!
export const numbersOf = (x: unknown): number[] => Array.from(evaluated(x).data)

const close = (got: ArrayLike<number>, want: ArrayLike<number>, tolerance: number, what: string): void => {
  expect(got.length, what).toBe(want.length)
  const scale = Math.max(1, ...Array.from(want).map(Math.abs))
  for (let i = 0; i < want.length; i++)
    if (!(Math.abs(got[i]! - want[i]!) <= tolerance * scale)) expect.fail(`${what}: entry ${i} is ${got[i]}, not ${want[i]}`)
}

/** An expression's value as nested arrays. */
export const nested = (x: unknown): unknown => toNested(evaluated(x))
/** The gradient of the sum of f at x, by reverse mode; forward mode must agree. */
export const gradientOf = (f: (x: AnyExpr) => AnyExpr, shape: readonly number[], x: readonly number[]): number[] => {
  const at = input(aval(shape, 'f64'))
  const y = asNode(sum(f(asExpr(at))))
  const values = new Map([[at, array(shape, 'f64', (i) => x[i]!)]])
  const pulled = denseCotangents(pullback(registry, [y], [asExpr(constant(1, 'f64'))], [at]), [at]) as Node[]
  const dx = input(at.aval)
  const [tangent] = pushforward(registry, [y], new Map([[at, dx]])).tangents
  const dy = instantiate(tangent!, y.aval)
  const reverse = Array.from(evaluateNodes(pulled, values)[0]!.data)
  reverse.forEach((want, i) => {
    close(
      evaluateNodes([dy], new Map([...values, [dx, array(shape, 'f64', (k) => (k === i ? 1 : 0))]]))[0]!.data,
      [want],
      1e-12,
      `forward mode, entry ${i}`,
    )
  })
  return reverse
}
/** The tag of the error that f raises. */
export const errorOf = (f: () => unknown): string => {
  try {
    f()
  } catch (e) {
    if (isAdException(e)) return e.error._tag
    throw e
  }
  return 'none'
}
