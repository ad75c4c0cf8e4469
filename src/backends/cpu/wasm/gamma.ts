/**
 * What is made of the gamma function, on vectors of f64 (f32 lanes come through f64). Parts that only some arguments need run where a lane asks for them.
 * Rational functions were fitted with 50 digits: least squares of the relative error at Chebyshev's points, weighted by the last denominator, until it stays.
 */
import { bernoulli, digammaMiddle, digammaRoot } from '../../../core/ops/special/functions.js'
import type { Local } from './encoder.js'
import { log } from './math.js'
import type { E, Vec } from './vec.js'

const INF = Number.POSITIVE_INFINITY

/** lgamma(1 + t) / (t (t - 1)) for 0 <= t <= 2, to 5e-17. */
const LGAMMA_P = [
  1.3093069817209749e-6, 6.006177695996589e-4, 1.903169875333839e-2, 1.8954847761345292e-1, 8.10605759129229e-1, 1.656012375255397,
  1.5914461106143143, 5.772156649015329e-1,
]
const LGAMMA_Q = [
  1.5494927007793577e-4, 8.03959672356005e-3, 1.2063036140693856e-1, 7.699983897079631e-1, 2.425980759102211, 3.9516716666657135,
  3.181995207025807, 1,
]
/** sin(pi r) / (pi r) in r^2, for |r| <= 1/2, to 5e-17. */
const SINE = [
  2.44930122206857e-7, -6.971999794516021e-6, 1.4842780058772507e-4, -2.3460808867618393e-3, 2.6147847804522135e-2, -1.9075182412143e-1,
  8.117424252833373e-1, -1.6449340668482262, 1,
]
/** ((1 - 3 r^2) / (r (1 - r^2)) - pi cot(pi r)) / r in r^2, for |r| <= 1/2: what stays of the cotangent without its three nearest poles, to 2e-16. */
const COTANGENT = [
  1.018239719620641e-5, 2.930434501669668e-5, 1.2282323973651052e-4, 4.921242057802879e-4, 1.989154527448376e-3, 8.154712186978965e-3,
  3.468612397400417e-2, 1.6464646742222844e-1, 1.289868133696453,
]
/** In w = x (x + 9): the denominator of the sum of 1 / (x + k)^2, k = 1 to 8, is a square. */
const TRIGAMMA_P = [8, 924, 45528, 1241000, 20223552, 197245344, 1067961728, 2483133696]
const TRIGAMMA_Q = [1, 60, 1308, 12176, 40320]
/** B_2k f(k) for k = 1 ... count, from the last. */
const series = (count: number, f: (k: number) => number): number[] =>
  bernoulli
    .slice(0, count)
    .map((b, i) => b * f(i + 1))
    .reverse()

/** p / q at t. */
const ratio = (v: Vec, t: Local, p: readonly number[], q: readonly number[]): E => v.div(v.horner(t, p), v.horner(t, q))

/** y of a = x where x >= 0 (-0 too), and of 1 - x below, where `reflected` then makes what it is at x, with r = x - the nearest integer and r^2. */
const reflecting = (v: Vec, x: Local, positive: (a: Local, y: Local) => void, reflected: (y: Local, r: Local, square: Local) => E): E =>
  v.block(() =>
    v.let(v.compare('lt', x, v.c(0)), (negative) =>
      v.let(v.select(negative, v.sub(v.c(1), x), x), (a) =>
        v.let(v.c(0), (y) => {
          positive(a, y)
          v.whereAny(negative, () =>
            v.let(v.sub(x, v.round('nearest', x)), (r) =>
              v.let(v.mul(r, r), (square) => v.set(y, v.select(negative, reflected(y, r, square), y))),
            ),
          )
          v.push(y)
        }),
      ),
    ),
  )

/**
 * log |gamma(x)|: a rational function times (x - 1)(x - 2) on [1, 3], to which x is brought by log x below and by the logarithm of a product up to 8; Stirling's
 * series beyond. Between negative integers the error is absolute.
 */
// The zeros at 1 and 2 are 0 and not -0, whatever stands in the other lanes.
export const lgamma = (v: Vec, x: Local): E =>
  v.add(
    reflecting(
      v,
      x,
      (a, y) =>
        v.let(v.compare('lt', a, v.c(1)), (small) =>
          v.let(v.compare('gt', a, v.c(3)), (large) =>
            v.let(v.select(small, a, v.sub(a, v.c(1))), (t) =>
              v.let(a, (product) => {
                v.whereAny(large, () => {
                  v.set(product, v.select(v.andNot(large, v.compare('ge', a, v.c(8))), v.c(1), a))
                  // t = the one of a - 1, a - 2, ... in (1, 2], and the product of what lies between.
                  for (let k = 0; k < 5; k++)
                    v.let(v.and(v.compare('gt', t, v.c(2)), v.compare('lt', a, v.c(8))), (more) => {
                      v.set(product, v.mul(product, v.select(more, t, v.c(1))))
                      v.set(t, v.sub(t, v.and(more, v.c(1))))
                    })
                })
                v.set(y, v.mul(v.mul(t, v.sub(t, v.c(1))), ratio(v, t, LGAMMA_P, LGAMMA_Q)))
                v.whereAny(v.or(small, large), () =>
                  v.let(log(v, product), (l) => {
                    v.set(y, v.select(small, v.sub(y, l), v.add(y, v.and(l, large))))
                    v.whereAny(v.compare('ge', a, v.c(8)), () =>
                      v.let(v.div(v.c(1), a), (i) =>
                        v.let(v.mul(i, i), (i2) => {
                          const tail = v.mul(
                            v.horner(
                              i2,
                              series(8, (k) => 1 / (2 * k * (2 * k - 1))),
                            ),
                            i,
                          )
                          // log(2 pi) / 2 - 1/2; log a - 1 is taken first, since a log a overflows sooner.
                          const sum = v.add(v.mul(v.sub(a, v.c(0.5)), v.sub(l, v.c(1))), v.add(tail, v.c(0.4189385332046727)))
                          v.set(y, v.select(v.compare('ge', a, v.c(8)), sum, y))
                        }),
                      ),
                    )
                  }),
                )
              }),
            ),
          ),
        ),
      (y, r, square) => {
        const value = v.neg(v.add(log(v, v.abs(v.mul(r, v.horner(square, SINE)))), y))
        // At integers, and at -Infinity, where r is NaN.
        return v.select(v.or(v.compare('eq', r, v.c(0)), v.compare('eq', x, v.c(-INF))), v.c(INF), value)
      },
    ),
    v.c(0),
  )

/**
 * The logarithmic derivative of gamma: a rational function times x less its zero on [1, 3], to which 1 / x brings what is below; beyond, the asymptotic series from 11 on,
 * to which eight steps of the recurrence bring x: (2 x + 7) Q'(w) / Q(w) with w = x (x + 7) and Q(w) = x (x + 1) ... (x + 7).
 */
export const digamma = (v: Vec, x: Local): E =>
  reflecting(
    v,
    x,
    (a, y) =>
      v.let(v.compare('lt', a, v.c(1)), (small) =>
        v.let(v.select(small, a, v.sub(a, v.c(1))), (t) => {
          const fromRoot = v.sub(v.sub(a, v.select(small, v.c(digammaRoot[0] - 1), v.c(digammaRoot[0]))), v.c(digammaRoot[1]))
          v.set(y, v.sub(v.mul(fromRoot, ratio(v, t, ...digammaMiddle)), v.and(small, v.div(v.c(1), a))))
          v.whereAny(v.compare('gt', a, v.c(3)), () =>
            v.let(v.compare('lt', a, v.c(11)), (near) =>
              v.let(v.mul(a, v.add(a, v.c(7))), (w) => {
                const steps = v.mul(v.add(v.add(a, a), v.c(7)), ratio(v, w, [4, 84, 504, 720], [1, 28, 252, 720, 0]))
                v.set(t, v.add(a, v.and(near, v.c(8))))
                v.let(v.sub(log(v, t), v.and(near, steps)), (sum) => {
                  v.set(t, v.div(v.c(1), t))
                  v.set(w, v.mul(t, t))
                  const tail = v.mul(
                    v.horner(
                      w,
                      series(7, (k) => 1 / (2 * k)),
                    ),
                    w,
                  )
                  v.set(sum, v.sub(v.sub(sum, v.mul(t, v.c(0.5))), tail))
                  v.set(y, v.select(v.compare('gt', a, v.c(3)), sum, y))
                })
              }),
            ),
          )
        }),
      ),
    (y, r, square) => {
      const poles = v.div(v.sub(v.c(1), v.mul(v.c(3), square)), v.mul(r, v.sub(v.c(1), square)))
      const value = v.sub(y, v.sub(poles, v.mul(r, v.horner(square, COTANGENT))))
      return v.select(v.compare('eq', r, v.c(0)), v.c(Number.NaN), value)
    },
  )

/**
 * The derivative of digamma: the asymptotic series from 9 on, to which nine steps of the recurrence bring what is below 10: 1 / x^2, and the sum of 1 / (x + k)^2, k = 1 to 8, as
 * one quotient in w = x (x + 9) with (x + 1) ... (x + 8) = (w + 8)(w + 14)(w + 18)(w + 20).
 */
export const trigamma = (v: Vec, x: Local): E =>
  reflecting(
    v,
    x,
    (a, y) =>
      v.let(v.compare('lt', a, v.c(10)), (near) =>
        v.let(v.div(v.c(1), v.add(a, v.and(near, v.c(9)))), (i) => {
          v.let(v.mul(i, i), (i2) => {
            const tail = v.mul(
              v.horner(
                i2,
                series(9, () => 1),
              ),
              v.mul(i2, i),
            )
            v.set(y, v.add(v.add(tail, v.mul(i2, v.c(0.5))), i))
          })
          v.whereAny(near, () =>
            v.let(v.mul(a, v.add(a, v.c(9))), (w) =>
              v.let(v.horner(w, TRIGAMMA_Q), (q) => {
                const steps = v.add(v.div(v.horner(w, TRIGAMMA_P), v.mul(q, q)), v.div(v.c(1), v.mul(a, a)))
                v.set(y, v.add(y, v.and(near, steps)))
              }),
            ),
          )
        }),
      ),
    (y, r, square) => v.block(() => v.let(v.mul(r, v.horner(square, SINE)), (s) => v.push(v.sub(v.div(v.c(1), v.mul(s, s)), y)))),
  )
