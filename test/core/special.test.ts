// Special functions against values computed with 30 digits (mpmath 1.3.0; they agree with the tables of Abramowitz and Stegun, chapters 6 and 7).
import { describe, expect, it } from 'vitest'
import * as s from '../../src/core/special.js'

const relative = (got: number, want: number): number => (got === want ? 0 : Math.abs(got - want) / Math.abs(want))
const agree = (rows: readonly (readonly [number, number])[], f: (x: number) => number, tolerance = 1e-13): void => {
  for (const [x, want] of rows) expect(relative(f(x), want), `at ${x}: ${f(x)} is not ${want}`).toBeLessThan(tolerance)
}

const erf = [
  [0.0625, 0.070431977722387078051],
  [0.25, 0.27632639016823693299],
  [0.5, 0.52049987781304653768],
  [0.75, 0.71115563365351513160],
  [1.0, 0.84270079294971486934],
  [1.25, 0.92290012825645823014],
  [1.5, 0.96610514647531072707],
  [2.0, 0.99532226501895273416],
  [2.5, 0.99959304798255504106],
  [3.0, 0.99997790950300141456],
  [4.0, 0.99999998458274209972],
  [5.5, 0.99999999999999264215],
  [-0.5, -0.52049987781304653768],
  [-2.0, -0.99532226501895273416],
  [1e-08, 1.1283791670955125599e-8],
] as const

const erfc = [
  [0.25, 0.72367360983176306701],
  [0.5, 0.47950012218695346232],
  [0.75, 0.28884436634648486840],
  [1.0, 0.15729920705028513066],
  [1.5, 0.033894853524689272933],
  [2.0, 0.0046777349810472658379],
  [3.0, 2.2090496998585441373e-5],
  [4.0, 1.5417257900280018852e-8],
  [5.0, 1.5374597944280348502e-12],
  [6.0, 2.1519736712498913117e-17],
  [10.0, 2.0884875837625447570e-45],
  [15.0, 7.2129941724512066666e-100],
  [20.0, 5.3958656116079009289e-176],
  [25.0, 8.3001725711965227520e-274],
  [-0.5, 1.5204998778130465377],
  [-2.0, 1.9953222650189527342],
  [-4.0, 1.9999999845827420997],
] as const

const lgamma = [
  [1e-05, 11.512919692895825626],
  [0.1, 2.2527126517342059020],
  [0.25, 1.2880225246980774574],
  [0.5, 0.57236494292470008707],
  [0.75, 0.20328095143129537148],
  [1.25, -0.098271836421813161464],
  [1.4375, -0.12120242719902265897],
  [1.5, -0.12078223763524522235],
  [1.75, -0.084401121020485555958],
  [2.25, 0.12487171489239659430],
  [2.5, 0.28468287047291915963],
  [3.5, 1.2009736023470742248],
  [5.0, 3.1780538303479456196],
  [8.5, 9.5492672573009977117],
  [10.0, 12.801827480081469611],
  [12.5, 18.734347511936445702],
  [25.0, 54.784729398112319190],
  [100.0, 359.13420536957539878],
  [1000.0, 5905.2204232091812118],
  [1000000.0, 1.2815504569147611660e+7],
  [-0.5, 1.2655121234846453965],
  [-1.5, 0.86004701537648101451],
  [-2.25, 0.55550154502064747059],
  [-5.5, -4.5178321740077413544],
  [0.9990234375, 0.00056447191185512338426],
  [2.0009765625, 0.00041318279306425426426],
] as const

/** Order, argument, value. */
const polygamma = [
  [0, 0.1, -10.423754940411076232],
  [0, 0.25, -4.2274535333762654081],
  [0, 0.5, -1.9635100260214234794],
  [0, 0.75, -1.0858608797864721696],
  [0, 1.0, -0.57721566490153286061],
  [0, 1.25, -0.22745353337626540809],
  [0, 1.4375, -0.023613544005297899142],
  [0, 1.46875, 0.0068654114707357767281],
  [0, 1.5, 0.036489973978576520559],
  [0, 1.75, 0.24747245354686116371],
  [0, 2.0, 0.42278433509846713939],
  [0, 2.5, 0.70315664064524318723],
  [0, 5.0, 1.5061176684318004727],
  [0, 10.0, 2.2517525890667211076],
  [0, 50.0, 3.9019896734278921970],
  [0, 1000.0, 6.9072551956488120521],
  [0, -0.5, 0.036489973978576520559],
  [0, -1.25, 3.7141391202135278304],
  [0, -3.75, -1.6923885983113303432],
  [1, 0.25, 17.197329154507110739],
  [1, 0.5, 4.9348022005446793094],
  [1, 1.0, 1.6449340668482264365],
  [1, 1.5, 0.93480220054467930942],
  [1, 2.0, 0.64493406684822643647],
  [1, 4.0, 0.28382295573711532536],
  [1, 10.0, 0.10516633568168574612],
  [1, 100.0, 0.010050166663333571395],
  [1, -0.5, 8.9348022005446793094],
  [1, -2.25, 19.379410511869137363],
  [2, 0.5, -16.828796644234319996],
  [2, 1.0, -2.4041138063191885708],
  [2, 2.0, -0.40411380631918857080],
  [2, 3.5, -0.10820405164172740300],
  [2, 20.0, -0.0026281224023146545934],
  [2, -0.25, 122.69736678366236037],
  [3, 0.5, 97.409091034002437236],
  [3, 1.0, 6.4939394022668291491],
  [3, 2.25, 0.32454400918839602279],
  [3, 10.0, 0.0023199013042898683856],
  [3, -1.5, 194.59427621918762242],
  [7, 0.5, 1.2904402181855980650e+6],
  [7, 3.0, 0.86237523763947046857],
  [7, 12.5, 1.9774079710321120989e-5],
  [7, -0.75, 3.3035263686402030649e+8],
] as const

describe('values to 1e-13 relative', () => {
  it('erf', () => agree(erf, s.erf))
  it('erfc, far into the tail', () => agree(erfc, s.erfc))
  it('lgamma, beside its zeros too', () => agree(lgamma, s.lgamma))
  it('polygamma of orders 0, 1, 2, 3 and 7', () => {
    for (const [n, x, want] of polygamma) agree([[x, want]], (v) => s.polygamma(n, v))
  })
  it('closed forms', () => {
    const gamma = 0.5772156649015329
    agree([[1, -gamma], [0.5, -gamma - 2 * Math.LN2]], s.digamma)
    agree([[1, Math.PI ** 2 / 6], [0.5, Math.PI ** 2 / 2]], (x) => s.polygamma(1, x))
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
    for (const x of [...points, ...points.map((p) => -p)]) if (x % 1 !== 0) expect(Math.abs(s.lgamma(x + 1) - s.lgamma(x) - Math.log(Math.abs(x)))).toBeLessThan(3e-14)
  })
  it('polygamma(n, x + 1) = polygamma(n, x) + (-1)^n n! / x^(n + 1)', () => {
    for (const [n, factorial] of [[0, 1], [1, 1], [2, 2], [3, 6], [5, 120]] as const)
      for (const x of points) {
        const [a, b, c] = [s.polygamma(n, x + 1), s.polygamma(n, x), ((-1) ** n * factorial) / x ** (n + 1)]
        expect(Math.abs(a - b - c)).toBeLessThan(1e-13 * (Math.abs(b) + Math.abs(c) + 1))
      }
  })
  it('reflection: digamma(1 - x) - digamma(x) = pi cot(pi x)', () => {
    for (const x of [0.1, 0.3, 0.45, 0.7]) expect(relative(s.digamma(1 - x) - s.digamma(x), Math.PI / Math.tan(Math.PI * x))).toBeLessThan(1e-12)
  })
})

describe('at the ends', () => {
  const infinity = Number.POSITIVE_INFINITY
  it('erf and erfc', () => {
    expect([s.erf(infinity), s.erf(-infinity), s.erfc(infinity), s.erfc(-infinity), s.erf(NaN), s.erfc(NaN), s.erfc(30)]).toEqual([1, -1, 0, 2, NaN, NaN, 0])
    expect(Object.is(s.erf(-0), -0)).toBe(true)
  })
  it('the poles of the gamma family', () => {
    expect([0, -1, -7, infinity, -infinity, NaN].map(s.lgamma)).toEqual([infinity, infinity, infinity, infinity, infinity, NaN])
    expect([s.lgamma(1), s.lgamma(2)].map(Math.abs)).toEqual([0, 0])
    expect([s.digamma(0), s.digamma(-0), s.digamma(-1), s.digamma(infinity), s.digamma(-infinity)]).toEqual([-infinity, infinity, NaN, infinity, NaN])
    expect([s.polygamma(1, -2), s.polygamma(2, -2), s.polygamma(1, infinity)]).toEqual([infinity, NaN, 0])
  })
})

describe('scalar functions that JavaScript lacks', () => {
  it('roundHalfEven', () => {
    expect([0.5, 1.5, 2.5, -0.5, -1.5, 2.4, 2.6, 0.49999999999999994, 4503599627370495.5, 1e300].map(s.roundHalfEven)).toEqual([
      0, 2, 2, -0, -2, 2, 3, 0, 4503599627370496, 1e300,
    ])
    expect([-0, NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map(s.roundHalfEven)).toEqual([-0, NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
  })
  it('modulo has the sign of the divisor', () => {
    expect([s.modulo(5, 3), s.modulo(-5, 3), s.modulo(5, -3), s.modulo(-5, -3), s.modulo(6, -3), s.modulo(-6, 3), s.modulo(1, 0)]).toEqual([2, 1, -1, -2, -0, 0, NaN])
    expect([s.modulo(5, Number.POSITIVE_INFINITY), s.modulo(5.5, 2)]).toEqual([5, 1.5])
  })
  it('copySign reads the sign bit', () => {
    expect([s.copySign(3, -0), s.copySign(-3, 0), s.copySign(-3, -2), s.copySign(0, -1)]).toEqual([-3, 3, -3, -0])
  })
  it('power is IEEE 754 pow where JavaScript is not', () => {
    expect([s.power(1, NaN), s.power(1, Infinity), s.power(-1, -Infinity), s.power(NaN, 0), s.power(0, 0), s.power(-2, 3), s.power(-2, 0.5)]).toEqual([1, 1, 1, 1, 1, -8, NaN])
  })
  it('sigmoid, softplus and logAddExp neither overflow nor lose the tail', () => {
    expect(relative(s.sigmoid(-700), Math.exp(-700))).toBeLessThan(1e-15)
    expect([s.sigmoid(1000), s.sigmoid(-1000), s.softplus(1000), s.softplus(-1000)]).toEqual([1, 0, 1000, 0])
    expect(relative(s.softplus(-40), Math.exp(-40))).toBeLessThan(1e-15)
    const infinity = Number.POSITIVE_INFINITY
    expect([s.logAddExp(1000, 1000), s.logAddExp(1000, 0), s.logAddExp(-infinity, -infinity), s.logAddExp(-infinity, 3), s.logAddExp(infinity, infinity)]).toEqual([
      1000 + Math.LN2, 1000, -infinity, 3, infinity,
    ])
  })
})
