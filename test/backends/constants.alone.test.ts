// Constant vectors made at the entry of a kernel, as some engines want them, are the same numbers: to the bit.
import { describe, expect, it, vi } from 'vitest'

const engine = vi.hoisted(() => ({ atEntry: false }))
vi.mock('../../src/backends/cpu/wasm/constants.js', () => ({ constantsAtEntry: () => engine.atEntry }))
const {
  cpu,
  compile,
  concat,
  erf,
  erfinv,
  exp,
  gelu,
  grad,
  lgamma,
  log1p,
  logaddexp,
  sigmoid,
  sin,
  stack,
  sum,
  tan,
  tanh,
  tensor,
  cumsum,
  maxPool,
  sort,
} = await import('../../src/index.js')
type E = import('../../src/index.js').AnyExpr
type T = import('../../src/index.js').Tensor

const functions = { erf, erfinv, exp, gelu, lgamma, log1p, sigmoid, sin, tan, tanh }
const xs = Array.from({ length: 517 }, (_, i) => Math.sin(i) * (i % 7 === 0 ? 30 : 0.9))
/** The same program on a backend that makes its kernels in one way and on one that makes them in the other. */
const twice = (f: (x: E) => E, x: T, k: number): readonly T[] =>
  [false, true].map((atEntry, i) => {
    engine.atEntry = atEntry
    const backend = cpu({ memoryBytes: 2 ** 30 + 2 * k + i })
    return (compile as unknown as (f: unknown, b: unknown) => (x: T) => T)(f, backend)(x)
  })
let count = 0

describe.each(['f32', 'f64'] as const)('of %s', (dtype) => {
  const x = tensor(xs, [xs.length], dtype) as unknown as T
  it.each(Object.entries(functions))('%s and its gradient', (_name, given) => {
    const f = given as unknown as (x: E) => E
    const both = (v: E) => stack([f(v), grad((w: E) => sum(f(w)) as never)(v as never)] as never) as E
    const [without, withThem] = twice(both, x, count++)
    expect(withThem!.toArray()).toEqual(without!.toArray())
  })
  it('functions of two, sums, pools, in one program', () => {
    const image = (v: E): E => maxPool(concat([v, v, v, v]) as never, { window: 2 }) as E
    const program = (v: E): E => {
      const r = cumsum(logaddexp(v, sort(v)) as E) as E
      return sum(r) as E
    }
    const [without, withThem] = twice(program, x, count++)
    expect(withThem!.item()).toBe(without!.item())
    const y = tensor(xs.slice(0, 512), [2, 4, 8, 8], dtype) as unknown as T
    const [a, b] = twice(image, y, count++)
    expect(b!.toArray()).toEqual(a!.toArray())
  })
})
