// Special functions against values computed with 30 digits (mpmath 1.3.0; they agree with the tables of Abramowitz and Stegun, chapters 6 and 7).
import { describe, expect, it } from 'vitest'
import * as s from '../../src/core/ops/special/functions.js'

const relative = (got: number, want: number): number => (got === want ? 0 : Math.abs(got - want) / Math.abs(want))
const agree = (rows: readonly (readonly [number, number])[], f: (x: number) => number, tolerance = 1e-13): void => {
  for (const [x, want] of rows) expect(relative(f(x), want), `at ${x}: ${f(x)} is not ${want}`).toBeLessThan(tolerance)
}

const erf = [
  [0.0625, 0.07043197772238707],
  [0.25, 0.27632639016823696],
  [0.5, 0.5204998778130465],
  [0.75, 0.7111556336535151],
  [1.0, 0.8427007929497149],
  [1.25, 0.9229001282564583],
  [1.5, 0.9661051464753108],
  [2.0, 0.9953222650189527],
  [2.5, 0.999593047982555],
  [3.0, 0.9999779095030014],
  [4.0, 0.9999999845827421],
  [5.5, 0.9999999999999927],
  [-0.5, -0.5204998778130465],
  [-2.0, -0.9953222650189527],
  [1e-8, 1.1283791670955126e-8],
] as const

const erfc = [
  [0.25, 0.7236736098317631],
  [0.5, 0.4795001221869535],
  [0.75, 0.28884436634648486],
  [1.0, 0.15729920705028513],
  [1.5, 0.033894853524689274],
  [2.0, 0.004677734981047266],
  [3.0, 2.209049699858544e-5],
  [4.0, 1.541725790028002e-8],
  [5.0, 1.537459794428035e-12],
  [6.0, 2.1519736712498913e-17],
  [10.0, 2.088487583762545e-45],
  [15.0, 7.212994172451207e-100],
  [20.0, 5.395865611607901e-176],
  [25.0, 8.300172571196523e-274],
  [-0.5, 1.5204998778130465],
  [-2.0, 1.9953222650189528],
  [-4.0, 1.999999984582742],
] as const

const lgamma = [
  [1e-5, 11.512919692895826],
  [0.1, 2.252712651734206],
  [0.25, 1.2880225246980774],
  [0.5, 0.5723649429247001],
  [0.75, 0.20328095143129538],
  [1.25, -0.09827183642181316],
  [1.4375, -0.12120242719902266],
  [1.5, -0.12078223763524522],
  [1.75, -0.08440112102048555],
  [2.25, 0.1248717148923966],
  [2.5, 0.2846828704729192],
  [3.5, 1.2009736023470743],
  [5.0, 3.1780538303479458],
  [8.5, 9.549267257300997],
  [10.0, 12.801827480081469],
  [12.5, 18.734347511936445],
  [25.0, 54.78472939811232],
  [100.0, 359.1342053695754],
  [1000.0, 5905.220423209181],
  [1000000.0, 12815504.569147611],
  [-0.5, 1.2655121234846454],
  [-1.5, 0.860047015376481],
  [-2.25, 0.5555015450206475],
  [-5.5, -4.517832174007741],
  [0.9990234375, 0.0005644719118551234],
  [2.0009765625, 0.00041318279306425424],
] as const

/** Order, argument, value. */
const polygamma = [
  [0, 0.1, -10.423754940411076],
  [0, 0.25, -4.2274535333762655],
  [0, 0.5, -1.9635100260214235],
  [0, 0.75, -1.0858608797864722],
  [0, 1.0, -0.5772156649015329],
  [0, 1.25, -0.22745353337626542],
  [0, 1.4375, -0.023613544005297898],
  [0, 1.46875, 0.006865411470735777],
  [0, 1.5, 0.03648997397857652],
  [0, 1.75, 0.24747245354686118],
  [0, 2.0, 0.42278433509846713],
  [0, 2.5, 0.7031566406452432],
  [0, 5.0, 1.5061176684318005],
  [0, 10.0, 2.251752589066721],
  [0, 50.0, 3.901989673427892],
  [0, 1000.0, 6.907255195648812],
  [0, -0.5, 0.03648997397857652],
  [0, -1.25, 3.714139120213528],
  [0, -3.75, -1.6923885983113303],
  [1, 0.25, 17.19732915450711],
  [1, 0.5, 4.934802200544679],
  [1, 1.0, 1.6449340668482264],
  [1, 1.5, 0.9348022005446793],
  [1, 2.0, 0.6449340668482264],
  [1, 4.0, 0.2838229557371153],
  [1, 10.0, 0.10516633568168575],
  [1, 100.0, 0.010050166663333571],
  [1, -0.5, 8.934802200544679],
  [1, -2.25, 19.37941051186914],
  [2, 0.5, -16.82879664423432],
  [2, 1.0, -2.4041138063191885],
  [2, 2.0, -0.4041138063191886],
  [2, 3.5, -0.1082040516417274],
  [2, 20.0, -0.0026281224023146548],
  [2, -0.25, 122.69736678366236],
  [3, 0.5, 97.40909103400244],
  [3, 1.0, 6.493939402266829],
  [3, 2.25, 0.32454400918839604],
  [3, 10.0, 0.0023199013042898686],
  [3, -1.5, 194.59427621918763],
  [7, 0.5, 1290440.218185598],
  [7, 3.0, 0.8623752376394704],
  [7, 12.5, 1.977407971032112e-5],
  [7, -0.75, 330352636.8640203],
] as const

describe('values to 1e-13 relative', () => {
  it('erf', () => agree(erf, s.erf))
  it('erfc, far into the tail', () => agree(erfc, s.erfc))
  it('lgamma, beside its zeros too', () => agree(lgamma, s.lgamma))
  it('digamma beside its zero and up to 3, to 4 units in the last place', () => {
    agree(
      [
        [0.9921875, -0.5901406000143219],
        [1.25, -0.22745353337626542],
        [1.458984375, -0.0025652823906988924],
        [1.46484375, 0.003103222758586692],
        [1.75, 0.24747245354686118],
        [2.9375, 0.8977950244290334],
      ],
      s.digamma,
      4 * 2 ** -52,
    )
  })
  it('polygamma of tiny negative and of huge arguments', () => {
    for (const x of [-5e-324, -1e-310]) {
      expect(s.digamma(x)).toBe(Number.POSITIVE_INFINITY)
      expect(s.polygamma(1, x)).toBe(Number.POSITIVE_INFINITY)
    }
    agree(
      [
        [1e200, 1e-200],
        [1e305, 1e-305],
      ],
      (x) => s.polygamma(1, x),
    )
  })
  it('polygamma of orders 0, 1, 2, 3 and 7', () => {
    for (const [n, x, want] of polygamma) agree([[x, want]], (v) => s.polygamma(n, v))
  })
  it('closed forms', () => {
    const gamma = 0.5772156649015329
    agree(
      [
        [1, -gamma],
        [0.5, -gamma - 2 * Math.LN2],
      ],
      s.digamma,
    )
    agree(
      [
        [1, Math.PI ** 2 / 6],
        [0.5, Math.PI ** 2 / 2],
      ],
      (x) => s.polygamma(1, x),
    )
    agree([[1, Math.PI ** 4 / 15]], (x) => s.polygamma(3, x))
    agree([[0.5, Math.log(Math.PI) / 2]], s.lgamma)
  })
})

describe('laws', () => {
  const points = Array.from({ length: 200 }, (_, i) => 0.037 + i * 0.0713)
  it('erf is odd, and erf + erfc is 1', () => {
    for (const x of points) {
      expect(s.erf(-x)).toBe(-s.erf(x))
      expect(Math.abs(s.erf(x) + s.erfc(x) - 1)).toBeLessThan(3e-16)
      expect(Math.abs(s.erfc(x) + s.erfc(-x) - 2)).toBeLessThan(5e-16)
    }
  })
  it('lgamma(x + 1) = lgamma(x) + log x, across every seam of the algorithm', () => {
    for (const x of [...points, ...points.map((p) => -p)])
      if (x % 1 !== 0) expect(Math.abs(s.lgamma(x + 1) - s.lgamma(x) - Math.log(Math.abs(x)))).toBeLessThan(3e-14)
  })
  it('polygamma(n, x + 1) = polygamma(n, x) + (-1)^n n! / x^(n + 1)', () => {
    for (const [n, factorial] of [
      [0, 1],
      [1, 1],
      [2, 2],
      [3, 6],
      [5, 120],
    ] as const)
      for (const x of points) {
        const [a, b, c] = [s.polygamma(n, x + 1), s.polygamma(n, x), ((-1) ** n * factorial) / x ** (n + 1)]
        expect(Math.abs(a - b - c)).toBeLessThan(1e-13 * (Math.abs(b) + Math.abs(c) + 1))
      }
  })
  it('reflection: digamma(1 - x) - digamma(x) = pi cot(pi x)', () => {
    for (const x of [0.1, 0.3, 0.45, 0.7])
      expect(relative(s.digamma(1 - x) - s.digamma(x), Math.PI / Math.tan(Math.PI * x))).toBeLessThan(1e-12)
  })
})

describe('at the ends', () => {
  const infinity = Number.POSITIVE_INFINITY
  it('erf and erfc', () => {
    expect([s.erf(infinity), s.erf(-infinity), s.erfc(infinity), s.erfc(-infinity), s.erf(NaN), s.erfc(NaN), s.erfc(30)]).toEqual([
      1,
      -1,
      0,
      2,
      NaN,
      NaN,
      0,
    ])
    expect(Object.is(s.erf(-0), -0)).toBe(true)
  })
  it('the poles of the gamma family', () => {
    expect([0, -1, -7, infinity, -infinity, NaN].map(s.lgamma)).toEqual([infinity, infinity, infinity, infinity, infinity, NaN])
    expect([s.lgamma(1), s.lgamma(2)].map(Math.abs)).toEqual([0, 0])
    expect([s.digamma(0), s.digamma(-0), s.digamma(-1), s.digamma(infinity), s.digamma(-infinity)]).toEqual([
      -infinity,
      infinity,
      NaN,
      infinity,
      NaN,
    ])
    expect([s.polygamma(1, -2), s.polygamma(2, -2), s.polygamma(1, infinity)]).toEqual([infinity, NaN, 0])
  })
})

describe('scalar functions that JavaScript lacks', () => {
  it('roundHalfEven', () => {
    expect([0.5, 1.5, 2.5, -0.5, -1.5, 2.4, 2.6, 0.49999999999999994, 4503599627370495.5, 1e300].map(s.roundHalfEven)).toEqual([
      0, 2, 2, -0, -2, 2, 3, 0, 4503599627370496, 1e300,
    ])
    expect([-0, NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map(s.roundHalfEven)).toEqual([
      -0,
      NaN,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
    ])
  })
  it('modulo has the sign of the divisor', () => {
    expect([s.modulo(5, 3), s.modulo(-5, 3), s.modulo(5, -3), s.modulo(-5, -3), s.modulo(6, -3), s.modulo(-6, 3), s.modulo(1, 0)]).toEqual([
      2,
      1,
      -1,
      -2,
      -0,
      0,
      NaN,
    ])
    expect([s.modulo(5, Number.POSITIVE_INFINITY), s.modulo(5.5, 2)]).toEqual([5, 1.5])
  })
  it('copySign reads the sign bit', () => {
    expect([s.copySign(3, -0), s.copySign(-3, 0), s.copySign(-3, -2), s.copySign(0, -1)]).toEqual([-3, 3, -3, -0])
  })
  it('power is IEEE 754 pow where JavaScript is not', () => {
    expect([
      s.power(1, NaN),
      s.power(1, Infinity),
      s.power(-1, -Infinity),
      s.power(NaN, 0),
      s.power(0, 0),
      s.power(-2, 3),
      s.power(-2, 0.5),
    ]).toEqual([1, 1, 1, 1, 1, -8, NaN])
  })
  it('sigmoid, softplus and logAddExp neither overflow nor lose the tail', () => {
    expect(relative(s.sigmoid(-700), Math.exp(-700))).toBeLessThan(1e-15)
    expect([s.sigmoid(1000), s.sigmoid(-1000), s.softplus(1000), s.softplus(-1000)]).toEqual([1, 0, 1000, 0])
    expect(relative(s.softplus(-40), Math.exp(-40))).toBeLessThan(1e-15)
    const infinity = Number.POSITIVE_INFINITY
    expect([
      s.logAddExp(1000, 1000),
      s.logAddExp(1000, 0),
      s.logAddExp(-infinity, -infinity),
      s.logAddExp(-infinity, 3),
      s.logAddExp(infinity, infinity),
    ]).toEqual([1000 + Math.LN2, 1000, -infinity, 3, infinity])
  })
})
