// The sign bit of a NaN is whatever the processor leaves there: nothing may depend on it.
import { describe, expect, it } from 'vitest'
import { type AnyExpr, abs, acos, compile, copysign, cpu, mul, neg, reference, sqrt, sub, type Tensor, tensor } from '../../src/index.js'

const nans: Readonly<Record<string, (b: AnyExpr) => AnyExpr>> = {
  'acos(b)': (b) => acos(b),
  'sqrt(-|b|)': (b) => sqrt(neg(abs(b))),
  'Infinity b - Infinity b': (b) => sub(mul(b, Number.POSITIVE_INFINITY), mul(b, Number.POSITIVE_INFINITY)),
  '-b': (b) => neg(mul(b, Number.NaN)),
}

describe.each(['f32', 'f64'] as const)('copysign takes a NaN for positive: %s', (dtype) => {
  it.each(Object.keys(nans))('%s', (name) => {
    const x = tensor([1.5, -2, 3, -4, 5], [5], dtype)
    const b = tensor([1.5, 2, -3, 4, Number.NaN], [5], dtype)
    const f = (a: AnyExpr, c: AnyExpr) => copysign(a, nans[name]!(c))
    for (const backend of [reference(), cpu(), cpu({ simd: false })])
      expect(Array.from((compile(f, backend)(x as never, b as never) as Tensor).data)).toEqual([1.5, 2, 3, 4, 5])
  })
})
