/** Errors of the vector functions against JavaScript's in f64, in units in the last place, on dense samples and special values. */
import { describe, expect, it } from 'vitest'
import { arithmeticKernels } from '../../src/backends/cpu/arithmetic.js'
import { compareKernels } from '../../src/backends/cpu/compare.js'
import { exponentialKernels, gammaKernels, trigonometricKernels } from '../../src/backends/cpu/functions.js'
import { packOf } from '../../src/core/calculus/pack.js'
import type { AnyPrimitive } from '../../src/core/graph/primitive.js'
import { compare, elementwise, special } from '../../src/core/ops/families.js'
import type { DType } from '../../src/core/types/dtype.js'
import { comparisons, floatFunctions, integerBinaries, integerUnaries, intervalsOf, tests, unitsOf } from './accuracy.js'
import { mapOver, oneByOne, ulps } from './loop-harness.js'

const elementwiseKernels = { ...arithmeticKernels, ...exponentialKernels, ...trigonometricKernels, ...gammaKernels }

interface Row {
  /** Largest error, f32 and f64. JavaScript's own functions are good to about one unit in f64. */
  readonly ulps: readonly [number, number]
  /** Intervals from which each argument is drawn. */
  readonly on: readonly (readonly [number, number])[]
  /** Sums that cancel: this much beside, absolute, in units of eps. */
  readonly absolute?: number
}
const all: Row['on'] = [
  [-4, 4],
  [-1e30, 1e30],
]
const exact = (on: Row['on'] = all): Row => ({ ulps: [0, 0], on })
const unit = [-1, 1] as const
const tiny = [-1e-3, 1e-3] as const

/** Bounds that the vector functions keep; what has none is held to its declaration. */
const bounds: { readonly [K in keyof typeof elementwise]?: Row } = {
  neg: exact(),
  abs: exact(),
  square: exact(),
  sign: exact(),
  floor: exact(),
  ceil: exact(),
  round: exact(),
  reciprocal: exact(),
  sqrt: exact(),
  rsqrt: { ulps: [1.5, 0], on: [[0, 4]] },
  cbrt: { ulps: [0.51, 1], on: [...all, [-1e-38, 1e-38]] },
  exp: { ulps: [1, 2], on: [unit, [-110, 100], [-750, 720]] },
  exp2: { ulps: [1, 2], on: [unit, [-155, 130], [-1080, 1030]] },
  expm1: { ulps: [1.6, 2], on: [tiny, [-2, 2], [-50, 100], [0, 715]] },
  log: {
    ulps: [0.8, 1],
    on: [
      [0.5, 2],
      [0, 1e-3],
      [0, 1e30],
      [0, 1e-38],
    ],
  },
  log2: {
    ulps: [1.6, 1],
    on: [
      [0.5, 2],
      [0, 1e30],
    ],
  },
  log10: {
    ulps: [1.8, 2],
    on: [
      [0.5, 2],
      [0, 1e30],
    ],
  },
  log1p: { ulps: [1.2, 1], on: [tiny, [-1, 2], [0, 1e20]] },
  sin: {
    ulps: [1.6, 2],
    on: [
      [-4, 4],
      [-8000, 8000],
      [-1e5, 1e5],
      [-1e8, 1e8],
      [-1e10, 1e10],
    ],
  },
  cos: {
    ulps: [1.6, 2],
    on: [
      [-4, 4],
      [-8000, 8000],
      [-1e5, 1e5],
      [-1e8, 1e8],
      [-1e10, 1e10],
    ],
  },
  tan: {
    ulps: [0.51, 2],
    on: [
      [-4, 4],
      [-1e5, 1e5],
      [-1e8, 1e8],
      [-1e10, 1e10],
    ],
  },
  asin: { ulps: [1.7, 2], on: [unit, [0.99, 1], tiny] },
  acos: { ulps: [1.5, 2], on: [unit, [0.99, 1], [-1, -0.99]] },
  atan: { ulps: [2.7, 2], on: [[-3, 3], [-1e5, 1e5], tiny] },
  sinh: {
    ulps: [1.6, 2],
    on: [
      [-2, 2],
      [-90, 90],
      [-711, 711],
    ],
  },
  cosh: {
    ulps: [1.4, 2],
    on: [
      [-2, 2],
      [-90, 90],
      [-711, 711],
    ],
  },
  tanh: { ulps: [1.3, 2], on: [unit, [-12, 12], tiny] },
  asinh: { ulps: [0.51, 3], on: [[-2, 2], tiny, [-1e20, 1e20]] },
  acosh: {
    ulps: [0.51, 3],
    on: [
      [1, 1.01],
      [1, 10],
      [1, 1e20],
    ],
  },
  atanh: { ulps: [0.51, 3], on: [unit, tiny] },
  erf: { ulps: [0.51, 4], on: [unit, [-7, 7], tiny] },
  // Near 1 it is 1 - erf.
  erfc: {
    ulps: [0.85, 12],
    on: [
      [-2, 2],
      [-7, 28],
    ],
  },
  lgamma: {
    ulps: [0.51, 6],
    on: [
      [0, 1],
      [0.5, 3.5],
      [3, 30],
      [0, 1e30],
    ],
  },
  sigmoid: {
    ulps: [2.1, 2],
    on: [
      [-2, 2],
      [-110, 110],
      [-750, 750],
    ],
  },
  softplus: {
    ulps: [1.8, 3],
    on: [
      [-2, 2],
      [-100, 100],
    ],
  },
  relu: exact(),
  add: exact(),
  sub: exact(),
  mul: exact(),
  strongMul: exact(),
  div: exact(),
  mod: exact(),
  pow: {
    ulps: [0.51, 0],
    on: [
      [0, 3],
      [-5, 5],
      [0, 60],
    ],
  },
  hypot: { ulps: [0.51, 2], on: all },
  atan2: {
    ulps: [2.7, 2],
    on: [
      [-2, 2],
      [-1e5, 1e5],
    ],
  },
  logaddexp: {
    ulps: [0.51, 2],
    on: [
      [-3, 3],
      [-100, 100],
    ],
    absolute: 2,
  },
  xlogy: { ulps: [0.51, 2], on: [[0, 3]] },
  maximum: exact(),
  minimum: exact(),
  copysign: exact(),
  stopGradient: exact(),
}

/** No more than this; NaN is more. Of the thousands of elements here only one that is wrong makes a message. */
const atMost = (x: number, bound: number, what: () => string): void => {
  if (!(x <= bound)) expect.fail(`${what()}: ${x}, at most ${bound}`)
}

const EPS = { f32: 2 ** -23, f64: 2 ** -52 } as const
const rowOf = (prim: AnyPrimitive): Row =>
  bounds[prim.name as keyof typeof elementwise] ?? { ulps: [unitsOf(prim, EPS.f32), unitsOf(prim, EPS.f64)], on: intervalsOf(prim) }

const SPECIAL = [0, -0, 1, -1, 0.5, -0.5, 1.5, 2, -2, 3, -3, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
const EXTREME = {
  f32: [1e-45, -1e-45, 1e-40, -1e-40, 2 ** -126, 3.4028234663852886e38, -3.4028234663852886e38, 1e9, -1e9, 2 ** 24 + 1],
  f64: [5e-324, -5e-324, 1e-310, -1e-310, 2 ** -1022, 1.7976931348623157e308, -1.7976931348623157e308, 1e9, -1e9, 2 ** 53 - 1],
}
const samples = 6000
/** Quasi-random numbers in (0, 1): steps of the golden ratio's powers, so that arguments are not related. */
const draw = (i: number, k: number): number => ((i + 0.5) * (k === 0 ? 0.6180339887498949 : 0.7548776662466927)) % 1

const argumentsOf = (arity: number, on: Row['on'], dtype: 'f32' | 'f64'): number[][] => {
  const round = dtype === 'f32' ? Math.fround : (x: number) => x
  const xs: number[][] = Array.from({ length: arity }, () => [])
  for (const [low, high] of on)
    for (let i = 0; i < samples; i++) for (let k = 0; k < arity; k++) xs[k]!.push(round(low + (high - low) * draw(i, k)))
  const special = [...SPECIAL, ...EXTREME[dtype]].map(round)
  if (arity === 1) xs[0]!.push(...special)
  else
    for (const a of special)
      for (const b of special) {
        xs[0]!.push(a)
        xs[1]!.push(b)
      }
  return xs
}

describe('vector functions', () => {
  it('are found by what is tested here: without its pack a function would be held against itself', () => {
    const base = arithmeticKernels as Readonly<Record<string, unknown>>
    for (const prim of floatFunctions) expect(base[prim.name] ?? packOf(prim)?.cpu[prim.name], prim.name).toBeDefined()
  })
  for (const prim of floatFunctions) {
    const { name } = prim
    const row = rowOf(prim)
    ;(['f32', 'f64'] as const).forEach((dtype, format) => {
      it(`${name} ${dtype}: within ${row.ulps[format]} ulp`, () => {
        const xs = argumentsOf(prim.args.length, row.on, dtype)
        const from = xs.map(() => dtype)
        const got = mapOver(prim, xs, from, dtype)
        let worst = 0
        let at = -1
        for (let i = 0; i < got.length; i++) {
          const want = prim.scalar!(...xs.map((x) => x[i]!))
          const slack = (row.absolute ?? 0) * EPS[dtype]
          if (Math.abs(got[i]! - want) <= slack * Math.max(1, Math.abs(xs[0]![i]!))) continue
          const e = ulps(got[i]!, want, dtype)
          if (e > worst) [worst, at] = [e, i]
        }
        const where =
          at < 0 ? '' : `${name}(${xs.map((x) => x[at]).join(', ')}) = ${got[at]}, not ${prim.scalar!(...xs.map((x) => x[at]!))}`
        expect(worst, where).toBeLessThanOrEqual(row.ulps[format]!)
      })
    })
    it(`${name}: the bits depend neither on the lane nor on its neighbours`, () => {
      for (const dtype of ['f32', 'f64'] as const) {
        const xs = argumentsOf(prim.args.length, [[-3, 3]], dtype).map((x) => [
          ...x.slice(0, 40),
          1e9,
          -100,
          ...x.slice(40, 60),
          2000,
          10,
          ...x.slice(-40),
        ])
        const n = xs[0]!.length
        const got = mapOver(
          prim,
          xs,
          xs.map(() => dtype),
          dtype,
        )
        const shifted = mapOver(
          prim,
          xs.map((x) => x.slice(1)),
          xs.map(() => dtype),
          dtype,
        )
        const alone = oneByOne(
          prim,
          xs,
          xs.map(() => dtype),
          dtype,
        )
        const narrow = mapOver(
          prim,
          xs,
          xs.map(() => dtype),
          dtype,
          {},
          true,
        )
        for (let i = 0; i < n; i++) {
          if (Object.is(alone[i], got[i]) && Object.is(narrow[i], got[i]) && (i === 0 || Object.is(shifted[i - 1], got[i]))) continue
          expect.fail(`${name} at ${xs.map((x) => x[i])}: ${got[i]}, alone ${alone[i]}, beside f64 ${narrow[i]}, shifted ${shifted[i - 1]}`)
        }
      }
    })
  }
  it('sin, cos and tan keep their relative accuracy beside multiples of pi / 2', () => {
    for (const dtype of ['f32', 'f64'] as const)
      for (const name of ['sin', 'cos', 'tan'] as const) {
        const x = Array.from({ length: 4000 }, (_, k) => (k * k + 1) * (Math.PI / 2)).map((v) => (dtype === 'f32' ? Math.fround(v) : v))
        const got = mapOver(elementwise[name], [x], [dtype], dtype)
        x.forEach((v, i) => {
          atMost(ulps(got[i]!, elementwise[name].scalar!(v), dtype), 2, () => `${name}(${v})`)
        })
      }
  })
})

describe('derivatives of the logarithm of gamma', () => {
  const prim = elementwise.polygamma
  const of = (n: number) => prim.scalarWith!({ n })
  // The meaning of digamma between 3 and 12 is a difference: good to 8 units itself.
  const bound = { f32: [0.51, 0.51], f64: [12, 8] } as const
  for (const n of [0, 1])
    for (const dtype of ['f32', 'f64'] as const) {
      it(`polygamma(${n}, x) ${dtype}: within ${bound[dtype][n]} ulp for x > 0, and at the ends`, () => {
        const [x] = argumentsOf(
          1,
          [
            [0, 1],
            [1, 3],
            [3, 12],
            [0, 1e6],
            [0, 1e30],
          ],
          dtype,
        ) as [number[]]
        // The zero: relative error beside it.
        x.push(
          ...Array.from({ length: 400 }, (_, i) => 1.4616321449683622 + (i - 200) * 2 ** -22).map((v) =>
            dtype === 'f32' ? Math.fround(v) : v,
          ),
        )
        const got = mapOver(prim, [x], [dtype], dtype, { n })
        x.forEach((v, i) => {
          // -1/2 is beside a zero of digamma.
          if (v === -0.5) return
          atMost(ulps(got[i]!, of(n)(v), dtype), bound[dtype][n]!, () => `${n}, ${v}: ${got[i]}, not ${of(n)(v)}`)
        })
      })
      it(`polygamma(${n}, x) ${dtype} below 0: within 16 eps of what is summed, NaN or Infinity at integers`, () => {
        const x = Array.from({ length: 6000 }, (_, i) => -20 * draw(i, 0)).map((v) => (dtype === 'f32' ? Math.fround(v) : v))
        x.push(-1, -2, -3, -1000, -(2 ** 30), -(2 ** -40), -0.5, -0.25, -7.5)
        const got = mapOver(prim, [x], [dtype], dtype, { n })
        x.forEach((v, i) => {
          const want = of(n)(v)
          if (Number.isInteger(v)) {
            expect(got[i], `${n}, ${v}`).toBe(want)
            return
          }
          const scale = Math.abs(of(n)(1 - v)) + (n === 0 ? 1 : 0) + Math.abs(want)
          atMost(Math.abs(got[i]! - want), 16 * EPS[dtype] * scale, () => `${n}, ${v}: ${got[i]}, not ${want}`)
        })
      })
    }
  it('higher ones are the meaning', () => {
    const x = [0.5, 1, 2.5, 30, -0.5]
    expect([...mapOver(prim, [x], ['f64'], 'f64', { n: 2 })]).toEqual(x.map((v) => of(2)(v)))
  })
  it('the bits depend neither on the lane nor on its neighbours', () => {
    const x = [...Array.from({ length: 60 }, (_, i) => 30 * draw(i, 0) - 8), ...SPECIAL]
    for (const n of [0, 1])
      for (const dtype of ['f32', 'f64'] as const) {
        const rounded = dtype === 'f32' ? x.map(Math.fround) : x
        const got = mapOver(prim, [rounded], [dtype], dtype, { n })
        expect(oneByOne(prim, [rounded], [dtype], dtype, { n })).toEqual([...got])
      }
  })
  it('lgamma below 0: within 16 eps of what is summed, Infinity at integers', () => {
    const f = elementwise.lgamma.scalar!
    for (const dtype of ['f32', 'f64'] as const) {
      const x = Array.from({ length: 6000 }, (_, i) => -200 * draw(i, 0)).map((v) => (dtype === 'f32' ? Math.fround(v) : v))
      x.push(-1, -2, -3, -1000, -(2 ** 30), -(2 ** -100), -0.5, -(2 ** -149))
      const got = mapOver(elementwise.lgamma, [x], [dtype], dtype)
      x.forEach((v, i) => {
        if (Number.isInteger(v)) {
          expect(got[i]).toBe(Number.POSITIVE_INFINITY)
          return
        }
        const scale = Math.abs(f(1 - v)) + Math.abs(f(v)) + 1
        atMost(Math.abs(got[i]! - f(v)), 16 * EPS[dtype] * scale, () => `lgamma(${v})`)
      })
    }
  })
})

describe('modified Bessel functions', () => {
  for (const prim of [special.besselI, special.besselIe])
    for (const n of [0, 1])
      for (const dtype of ['f32', 'f64'] as const) {
        // Both sides are good to 4 units of f64.
        const bound = dtype === 'f32' ? 0.51 : 8
        it(`${prim.name}(${n}, x) ${dtype}: within ${bound} ulp of the meaning`, () => {
          const [x] = argumentsOf(
            1,
            [
              [-1, 1],
              [-9, 9],
              [-95, 95],
              [-716, 716],
              [0, 1e30],
            ],
            dtype,
          ) as [number[]]
          x.push(8, -8)
          const f = prim.scalarWith!({ n })
          const got = mapOver(prim, [x], [dtype], dtype, { n })
          x.forEach((v, i) => {
            atMost(ulps(got[i]!, f(v), dtype), bound, () => `${prim.name}(${n}, ${v}) = ${got[i]}, not ${f(v)}`)
          })
        })
        it(`${prim.name}(${n}, x) ${dtype}: the bits do not depend on the neighbours`, () => {
          const x = [...Array.from({ length: 40 }, (_, i) => 40 * draw(i, 0) - 20), ...SPECIAL].map((v) =>
            dtype === 'f32' ? Math.fround(v) : v,
          )
          const got = mapOver(prim, [x], [dtype], dtype, { n })
          expect(oneByOne(prim, [x], [dtype], dtype, { n })).toEqual([...got])
        })
      }
  it('of higher orders are the meaning', () => {
    const x = [0.5, -3, 20]
    for (const prim of [special.besselI, special.besselIe])
      expect([...mapOver(prim, [x], ['f64'], 'f64', { n: 2 })]).toEqual(x.map((v) => prim.scalarWith!({ n: 2 })(v)))
  })
})

describe('the inverse of erf', () => {
  const f = special.erfinv.scalar!
  it('f32: within 0.55 ulp of the meaning, as near to 1 as numbers come', () => {
    const [x] = argumentsOf(
      1,
      [
        [-1, 1],
        [-1e-3, 1e-3],
        [-1e-40, 1e-40],
        [0.99, 1],
        [-1, -0.99999],
      ],
      'f32',
    ) as [number[]]
    for (let k = 0; k < 2000; k++) x.push(1 - k * 2 ** -24, k * 2 ** -24 - 1)
    const got = mapOver(special.erfinv, [x], ['f32'], 'f32')
    x.forEach((v, i) => {
      atMost(ulps(got[i]!, f(v), 'f32'), 0.55, () => `erfinv(${v}) = ${got[i]}, not ${f(v)}`)
    })
  })
  for (const dtype of ['f32', 'f64'] as const)
    it(`${dtype}: is infinite at 1 and NaN beyond, keeps the sign of 0, and has bits that do not depend on the neighbours`, () => {
      const exceptions = [1, -1, 0, -0, 1 + 2 ** -20, -2, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
      const x = [...exceptions, ...Array.from({ length: 40 }, (_, i) => 2 * draw(i, 0) - 1)].map((v) =>
        dtype === 'f32' ? Math.fround(v) : v,
      )
      const got = mapOver(special.erfinv, [x], [dtype], dtype)
      x.forEach((v, i) => {
        if (i < exceptions.length) expect(Object.is(got[i], f(v)), `erfinv(${v}) = ${got[i]}, not ${f(v)}`).toBe(true)
      })
      expect(oneByOne(special.erfinv, [x], [dtype], dtype)).toEqual([...got])
    })
})

describe('integers, booleans and casts', () => {
  const INTS = [0, 1, -1, 2, -2, 7, -7, 46341, 65537, 2147483647, -2147483648]
  const pairs = (values: readonly number[]): [number[], number[]] => [
    values.flatMap((a) => values.map(() => a)),
    values.flatMap(() => [...values]),
  ]
  const equal = (got: ArrayLike<number>, want: readonly number[], what: string): void => {
    want.forEach((w, i) => {
      expect(Object.is(got[i], w), `${what}, entry ${i}: ${got[i]}, not ${w}`).toBe(true)
    })
  }
  for (const wide of [false, true]) {
    const beside = wide ? ' beside f64' : ''
    it(`i32 arithmetic wraps${beside}`, () => {
      for (const prim of integerUnaries) {
        const want = INTS.map((x) => (prim.integer ?? prim.scalar)!(x) | 0)
        equal(mapOver(prim, [INTS], ['i32'], 'i32', {}, wide), want, prim.name)
      }
      const [a, b] = pairs(INTS)
      for (const prim of integerBinaries) {
        const f = (prim.integer ?? prim.scalar)!
        equal(
          mapOver(prim, [a, b], ['i32', 'i32'], 'i32', {}, wide),
          a.map((x, i) => f(x, b[i]!) | 0),
          prim.name,
        )
      }
    })
    it(`comparisons and tests on every dtype${beside}`, () => {
      const floats = [0, -0, 1, -1, 2.5, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
      const values: Record<DType, number[]> = { f64: floats, f32: floats, i32: INTS, bool: [0, 1] }
      for (const dtype of ['f64', 'f32', 'i32', 'bool'] as const) {
        const [a, b] = pairs(values[dtype])
        for (const prim of comparisons)
          equal(
            mapOver(prim, [a, b], [dtype, dtype], 'bool', {}, wide),
            a.map((x, i) => prim.scalar!(x, b[i]!)),
            `${prim.name} ${dtype}`,
          )
        for (const prim of tests)
          equal(
            mapOver(prim, [a], [dtype], 'bool', {}, wide),
            a.map((x) => prim.scalar!(x)),
            `${prim.name} ${dtype}`,
          )
      }
      const [p, q] = pairs([0, 1])
      equal(
        mapOver(compare.logicalAnd, [p, q], ['bool', 'bool'], 'bool', {}, wide),
        p.map((x, i) => x & q[i]!),
        'and',
      )
      equal(
        mapOver(compare.logicalOr, [p, q], ['bool', 'bool'], 'bool', {}, wide),
        p.map((x, i) => x | q[i]!),
        'or',
      )
      equal(
        mapOver(compare.logicalNot, [p], ['bool'], 'bool', {}, wide),
        p.map((x) => 1 - x),
        'not',
      )
    })
    it(`cast between every two dtypes${beside}`, () => {
      const floats = [
        0,
        -0,
        0.5,
        1.7,
        -1.7,
        3e9,
        -3e9,
        1e300,
        1e-300,
        2 ** 24 + 1,
        Number.NaN,
        Number.POSITIVE_INFINITY,
        Number.NEGATIVE_INFINITY,
      ]
      const values: Record<DType, number[]> = { f64: floats, f32: floats.map(Math.fround), i32: INTS, bool: [0, 1, 1, 0, 1] }
      for (const from of ['f64', 'f32', 'i32', 'bool'] as const)
        for (const to of ['f64', 'f32', 'i32', 'bool'] as const) {
          const f = elementwise.cast.scalarWith!({ dtype: to })
          equal(
            mapOver(elementwise.cast, [values[from]], [from], to, { dtype: to }, wide),
            values[from].map((x) => (to === 'i32' ? f(x) | 0 : f(x))),
            `${from} to ${to}`,
          )
        }
    })
    it(`where on every dtype${beside}`, () => {
      const c = [0, 1, 1, 0, 1]
      for (const dtype of ['f64', 'f32', 'i32', 'bool'] as const) {
        const [a, b] =
          dtype === 'bool'
            ? [
                [1, 0, 1, 1, 0],
                [0, 1, 0, 0, 1],
              ]
            : [
                [1, 2, 3, 4, 5],
                [-1, -2, -3, -4, -5],
              ]
        const want = c.map((x, i) => (x === 1 ? a[i]! : b[i]!))
        equal(mapOver(elementwise.where, [c, a, b], ['bool', dtype, dtype], dtype, {}, wide), want, dtype)
      }
    })
  }
  it('has a row for every primitive', () => {
    expect(Object.keys(elementwiseKernels).sort()).toEqual(Object.keys(elementwise).sort())
    expect(Object.keys(compareKernels).sort()).toEqual(Object.keys(compare).sort())
  })
})
