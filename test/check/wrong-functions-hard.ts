// More wrong functions: ties of every shape, wrong beside bad conditioning, biased estimators, wrong draws, wrong third derivatives.
import type { CheckName } from '../../src/check/index.js'
import type { AnyExpr } from '../../src/core/types/expr.js'
import * as draws from '../../src/random/index.js'
import { applied, f32, numbers, op } from './operations.js'
import type { WrongFunction } from './wrong-functions.js'

// biome-ignore format: a list of names
const {
  abs, add, at, cast, clamp, cos, cummax, customRule, det, div, eq, exp, fori, gammainc, ge, gt, inv, jvp, logsumexp, lt, matmul, max,
  maximum, maxPool, median, minimum, mul, ne, norm, pow, relu, sigmoid, sign, sin, softmax, solve, sort, sqrt, square, sub, sum,
  tanh, topk, transpose, vmap, where, zerosLike,
} = op
const random = draws as unknown as { readonly [K in keyof typeof draws]: (...xs: readonly unknown[]) => AnyExpr }

type X = AnyExpr
type F = (...xs: readonly X[]) => X
const any: readonly CheckName[] = []
const wrong = (
  name: string,
  f: NonNullable<WrongFunction['f']>,
  args: readonly unknown[],
  more: Pick<WrongFunction, 'options'> = {},
): WrongFunction => ({
  name,
  f,
  args,
  expected: { checks: any },
  ...more,
})
/** A number of an array, with this gradient in both modes. */
const of = (f: F, gradient: (x: X) => X): F =>
  customRule((x: X) => f(x), {
    frule: (x: X, dx: X) => [f(x), sum(mul(dx, gradient(x)))],
    rrule: (x: X) => [f(x), (yBar: X) => mul(yBar, gradient(x))],
  }) as unknown as F
/** Entry by entry, with these derivatives. */
const each = (f: F, slope: F): F =>
  customRule((x: X) => f(x), {
    frule: (x: X, dx: X) => [f(x), mul(dx, slope(x))],
    rrule: (x: X) => [f(x), (yBar: X) => mul(yBar, slope(x))],
  }) as unknown as F
/** Of two arrays, entry by entry. */
const pairs = (f: F, p: F, q: F): F =>
  customRule((a: X, b: X) => f(a, b), {
    frule: ([a, b]: readonly X[], [da, db]: readonly X[]) => [f(a!, b!), add(mul(da!, p(a!, b!)), mul(db!, q(a!, b!)))],
    rrule: ([a, b]: readonly X[]) => [f(a!, b!), (yBar: X) => [mul(yBar, p(a!, b!)), mul(yBar, q(a!, b!))]],
  }) as unknown as F
/** With these cotangents, and its own tangents. */
const pulled = (f: F, rrule: (x: X) => (yBar: X) => X): F =>
  customRule((x: X) => f(x), {
    frule: (x: X, dx: X) =>
      applied(
        jvp((y: X) => f(y)),
        x,
        dx,
      ),
    rrule: (x: X) => [f(x), rrule(x)],
  }) as unknown as F
const reverseOnly = { options: { modes: ['reverse'] as const } }
/** In reverse mode alone. */
const backward = (f: F, rrule: (x: X) => (yBar: X) => X): F =>
  customRule((x: X) => f(x), { rrule: (x: X) => [f(x), rrule(x)] }) as unknown as F

const top = (x: X): X => cast(eq(x, max(x)), x.dtype)
const twice = of(max, top)
const none = of(max, (x) => mul(top(x), cast(eq(sum(top(x)), 1), x.dtype)))
const half = of(max, (x) => where(eq(sum(top(x)), 1), top(x), mul(0.5, top(x))))
const others = of(max, (x) => where(gt(sum(top(x)), 1), sub(1, top(x)), top(x)))
const average = of(max, (x) => where(gt(sum(top(x)), 1), div(add(1, zerosLike(x)), x.shape[0] ?? 1), top(x)))
const spread = (n: number, at: readonly number[], value = 2): readonly number[] => numbers(n, (i) => (at.includes(i) ? value : Math.sin(i)))
const both = pairs(
  maximum,
  (a, b) => cast(ge(a, b), 'f64'),
  (a, b) => cast(ge(b, a), 'f64'),
)
const neither = pairs(
  maximum,
  (a, b) => cast(gt(a, b), 'f64'),
  (a, b) => cast(gt(b, a), 'f64'),
)
const bothLeast = pairs(
  minimum,
  (a, b) => cast(ge(b, a), 'f64'),
  (a, b) => cast(ge(a, b), 'f64'),
)
const _everyEqual = (f: F): F => pulled(f, (x) => (yBar) => mul(sum(yBar), top(x)))
const sorted = pulled(sort, (x) => (yBar) => {
  // Every entry takes the cotangents of all entries of its value.
  const n = x.shape[0]!
  const same = eq(op.reshape(x, [n, 1]), op.reshape(sort(x), [1, n]))
  return sum(mul(cast(same, 'f64'), op.reshape(yBar, [1, n])), { axis: 1 })
})
const sortedNone = pulled(sort, (x) => (yBar) => {
  const n = x.shape[0]!
  const same = cast(eq(op.reshape(x, [n, 1]), op.reshape(sort(x), [1, n])), 'f64')
  const alone = mul(same, cast(eq(sum(same, { axis: 1, keepdims: true }), 1), 'f64'))
  return sum(mul(alone, op.reshape(yBar, [1, n])), { axis: 1 })
})
const most = (x: X, k: number): X => (topk(x, k) as unknown as { readonly values: X }).values
const topTwice = of(
  (x) => sum(most(x, 2)),
  (x) => cast(ge(x, at(most(x, 2), 1)), 'f64'),
)
const middle = of(median, (x) => cast(eq(x, median(x)), 'f64'))
const unit = (x: X): X => where(eq(norm(x), 0), 1, div(x, where(eq(norm(x), 0), 1, norm(x))))
const weights = (n: number): readonly number[] => numbers(n, (i) => Math.cos(2 * i + 1))
const pool = (x: X): X => maxPool(x, { window: 2 })
const poolTwice = pulled(pool, (x) => (yBar) => {
  const wide = (y: X): X => op.repeat(op.repeat(y, 2, { axis: 2 }), 2, { axis: 3 })
  return mul(wide(yBar), cast(eq(x, wide(pool(x))), 'f64'))
})
const image = (at: (i: number, j: number) => number): unknown => [[numbers(4, () => 0).map((_, i) => numbers(4, (j) => at(i, j)))]]

const ties: readonly WrongFunction[] = [
  ...[2, 3, 5, 8, 17, 40, 64].map((n) => wrong(`max of ${n} equal numbers, all count`, (x) => twice(x), [numbers(n, () => 0.7)])),
  ...[4, 9, 33, 90, 300].map((n) => wrong(`max of ${n}, two of them equal, both count`, (x) => mul(-2, twice(x)), [spread(n, [0, n - 1])])),
  ...[2, 7, 50].map((n) => wrong(`max of ${n} equal numbers, none counts`, (x) => none(x), [numbers(n, () => -1.25)])),
  ...[6, 70].map((n) => wrong(`max of ${n} with a tie of three, none counts`, (x) => add(none(x), sum(square(x))), [spread(n, [1, 3, 5])])),
  wrong('max with a tie of three, half for each', (x) => half(x), [spread(7, [0, 3, 6])]),
  wrong('max with ties: the losers have it', (x) => others(x), [spread(7, [0, 3])]),
  wrong('max with ties: everybody has a part', (x) => average(x), [spread(8, [2, 5])]),
  wrong('ties count twice, of 0', (x) => twice(x), [[0, 0, -1]]),
  wrong('ties count twice, of rows', (x) => sum(applied(vmap((r: X) => twice(r)), x)), [[[1, 1, 0], [0, 2, 2], [5, 1, 1]]]), // biome-ignore format: a matrix
  wrong('ties count twice, in f32', (x) => twice(x), [f32([0.1, 0.3, 0.3])]),
  wrong('ties count twice, of computed numbers', (x) => twice(mul(x, [1, 2, 4])), [[4, 2, 1]]),
  wrong('ties count twice, behind a layer', (w) => twice(matmul([[1, 0], [0, 1], [1, 1]], w)), [[1, 0]]), // biome-ignore format: a matrix
  wrong('ties count twice, beside a right maximum', (x) => sub(twice(x), max(x)), [[1, 3, 3]]),
  wrong('maximum: both count', (x, y) => both(x, y), [[1, 2, 3], [1, 0, 3]]), // biome-ignore format: short
  wrong('maximum: neither counts', (x, y) => sum(mul(neither(x, y), [1, 2, 3])), [[1, 2, 3], [1, 0, 3]]), // biome-ignore format: short
  wrong('maximum with a constant: both count', (x) => sum(both(add(x, x), mul(2, x))), [[0.5, 1]]),
  wrong('minimum: both count', (x, y) => sum(bothLeast(x, y)), [1, 1]),
  wrong('sort: equal numbers have all', (x) => sum(mul(sorted(x), weights(5))), [[2, 1, 2, 0.5, 2]]),
  wrong('sort: equal numbers have nothing', (x) => sortedNone(x), [[2, 1, 2, 0.5]]),
  wrong('sort of twenty, two pairs', (x) => sum(mul(sorted(x), weights(20))), [numbers(20, (i) => Math.sin(i % 18))]),
  wrong('topk: ties at the edge count', (x) => topTwice(x), [[3, 1, 2, 2, 2]]),
  wrong('the median: every equal one counts', (x) => middle(x), [[1, 5, 3, 3, 3]]),
  wrong('the median of three equal: all count', (x) => middle(x), [[1, 1, 1]]),
  wrong('min by max of negatives, ties twice', (x) => mul(-1, twice(mul(-1, x))), [[4, 0.5, 0.5]]),
  wrong('max of abs: ties twice', (x) => twice(abs(x)), [[2, -2, 1]]),
  wrong(
    'the norm of order inf: ties twice',
    of(
      (x) => norm(x, { ord: 'inf' }),
      (x) => mul(sign(x), cast(eq(abs(x), max(abs(x))), 'f64')),
    ),
    [[-3, 3, 1, 3]],
  ),
  wrong('the norm at 0 is a vector of ones', of(norm, unit), [[0, 0, 0]]),
  wrong(
    'the norm at 0, far too long',
    of(norm, (x) => where(eq(norm(x), 0), 3, unit(x))),
    [[0, 0]],
  ),
  wrong('abs at 0 is 2', (x) => sum(each(abs, (u) => where(eq(u, 0), 2, sign(u)))(x)), [[0, 1, 0]]),
  wrong('relu at 0 is -1', (x) => sum(each(relu, (u) => where(eq(u, 0), -1, cast(gt(u, 0), 'f64')))(x)), [[0, 0, 3]]),
  wrong('relu at 0 is NaN', (x) => sum(each(relu, (u) => div(relu(u), u))(x)), [[0, 3]]),
  wrong(
    'clamp at both limits is 2',
    (x) =>
      sum(
        each(
          (u) => clamp(u, 0, 1),
          (u) => add(cast(ge(u, 0), 'f64'), cast(lt(u, 1), 'f64')),
        )(x),
      ),
    [[0, 1, 0.5]],
  ),
  wrong('pooling: every equal one counts', (x) => sum(mul(poolTwice(x), [[[[1, -2], [3, 4]]]])), [image(() => 0.5)]), // biome-ignore format: short
  wrong('pooling: one window with a tie', (x) => poolTwice(x), [image((i, j) => (i + j === 1 ? 9 : i - j / 3))]),
  wrong('a running maximum: ties have all', (x) => sum(pulled(cummax, (u) => (yBar) => mul(yBar, cast(eq(u, cummax(u)), 'f64')))(x)), [
    [1, 1, 0, 1],
  ]),
  wrong('sums of maxima that share one tie', (x) => add(twice(x), mul(2, twice(x))), [[1, 1]]),
  wrong(
    'a tie in reverse mode alone',
    backward(max, (x) => (yBar) => mul(yBar, top(x))),
    [[1, 2, 2]],
    reverseOnly,
  ),
  wrong('two ties, one counts twice', (x, y) => add(max(x), twice(y)), [[1, 1], [2, 2]]), // biome-ignore format: short
  wrong(
    'relu(x) - relu(-x) with 5 at 0',
    each(
      (x) => sub(relu(x), relu(mul(-1, x))),
      (x) => where(ne(x, 0), 1, 5),
    ),
    [[0, 1]],
  ),
]

const logistic =
  (n: number): F =>
  (x) =>
    fori(n, (_k: X, c: X) => mul(mul(3.6, c), sub(1, c)), x)
const conditioned: readonly WrongFunction[] = [
  wrong(
    'sin at 1e6, wrong sign',
    each(sin, (x) => mul(-1, cos(x))),
    [1e6],
  ),
  wrong('behind four steps of the logistic map', (x) => logistic(4)(each(sin, (u) => mul(1.01, cos(u)))(x)), [0.3]),
  wrong('before ten steps of the logistic map', (x) => each(sin, (u) => mul(1.01, cos(u)))(logistic(10)(x)), [0.3]),
  wrong('the inverse of a Hilbert matrix of 3, transposed', (a) => sum(mul(pulled(inv, (x) => (yBar) => mul(-1, matmul(inv(x), matmul(yBar, inv(x)))))(a), [[1, 2, 3], [0, 1, 0], [2, 0, 1]])), [[[1, 1 / 2, 1 / 3], [1 / 2, 1 / 3, 1 / 4], [1 / 3, 1 / 4, 1 / 6]]]), // biome-ignore format: matrices
  wrong('det without its transpose', pulled(det, (a) => (yBar) => mul(yBar, mul(det(a), inv(a)))), [[[1, 2], [3, 4 + 1e-3]]]), // biome-ignore format: a matrix
  wrong('det of a nearly singular matrix: twice', (a) => pulled(det, (x) => (yBar) => mul(mul(2, yBar), mul(det(x), transpose(inv(x)))))(a), [[[1, 2], [2, 4.001]]]), // biome-ignore format: a matrix
  wrong(
    'wrong at one number alone',
    each(square, (x) => where(eq(x, 1), 5, mul(2, x))),
    [1],
  ),
  wrong(
    'wrong from one number on',
    each(square, (x) => where(ge(x, 1.3), 7, mul(2, x))),
    [1.3],
  ),
  wrong(
    'wrong up to one number',
    each(square, (x) => where(gt(x, 0.7), mul(2, x), -3)),
    [0.7],
  ),
  wrong(
    'acos near its end, half',
    each(op.acos as F, (x) => div(-0.5, sqrt(sub(1, square(x))))),
    [1 - 1e-6],
  ),
  wrong(
    'a tiny factor, wrong sign',
    each(
      (x) => mul(1e-200, sin(x)),
      (x) => mul(-1e-200, cos(x)),
    ),
    [0.4],
  ),
  wrong(
    'a huge factor, wrong by a thousandth',
    each(
      (x) => mul(1e200, sin(x)),
      (x) => mul(1.001e200, cos(x)),
    ),
    [0.4],
  ),
  wrong(
    'at 1e-12, wrong power',
    each(
      (x) => pow(x, 3),
      (x) => mul(3, x),
    ),
    [1e-12],
  ),
  wrong(
    'at 1e9, wrong power',
    each(
      (x) => pow(x, 2),
      (x) => x,
    ),
    [1e9],
  ),
  wrong(
    'logsumexp of 500, temperature forgotten',
    (x) =>
      of(
        (u) => logsumexp(mul(10, u)),
        (u) => softmax(mul(10, u)),
      )(x),
    [[50, 49.9, 10]],
  ),
  wrong('solve: the matrix has the wrong sign', (a) => sum(pulled((x) => solve(x, [1, 2]), (x) => (yBar) => { const l = solve(transpose(x), yBar); return mul(op.reshape(l, [2, 1]), op.reshape(solve(x, [1, 2]), [1, 2])) })(a)), [[[2, 1], [1, 3]]]), // biome-ignore format: short
  wrong(
    'f32: a chain of 20, one link wrong',
    (x) => fori(20, (k: X, c: X) => where(eq(k, 11), each(tanh, (u) => sub(1, mul(0.9, square(tanh(u)))))(c), tanh(mul(1.1, c))), x),
    [f32(0.4)],
  ),
  wrong(
    'f32: rounding to halves',
    each(
      (x) => exp(x),
      (x) => add(exp(x), 1e-2),
    ),
    [f32([1, 2])],
  ),
  wrong(
    'f32: a product, one factor twice',
    of(
      (x) => op.prod(x),
      (x) => mul(div(op.prod(x), x), [1, 1, 2]),
    ),
    [f32([1.5, -2, 0.3])],
  ),
  wrong(
    'steep, and wrong by a thousandth',
    each(
      (x) => sigmoid(mul(1e5, x)),
      (x) => mul(1.001e5, mul(sigmoid(mul(1e5, x)), sub(1, sigmoid(mul(1e5, x))))),
    ),
    [1e-5],
  ),
]

const third: readonly WrongFunction[] = [
  wrong(
    'right to the second order, then cut',
    each(
      sin,
      each(cos, (x) => mul(-1, op.stopGradient(sin(x)))),
    ),
    [0.5],
    { options: { order: 3 as never } },
  ),
  wrong(
    'a third derivative of the wrong sign',
    each(
      exp,
      each(
        exp,
        each(exp, (x) => mul(-1, exp(x))),
      ),
    ),
    [0.3],
    { options: { order: 3 as never } },
  ),
  wrong(
    'right to the third order, then cut',
    each(
      exp,
      each(
        exp,
        each(exp, (x) => op.stopGradient(exp(x))),
      ),
    ),
    [0.3],
    { options: { order: 4 as never } },
  ),
  wrong(
    'a fourth derivative of a half',
    each(
      sin,
      each(
        cos,
        each(
          (x) => mul(-1, sin(x)),
          each(
            (x) => mul(-1, cos(x)),
            (x) => mul(0.5, sin(x)),
          ),
        ),
      ),
    ),
    [0.7],
    { options: { order: 4 as never } },
  ),
]

const KEY = random.key(5)
const isOne = (k: X, theta: X): X => cast(lt(random.uniform(k, []), sigmoid(theta)), 'f64')
const estimator = (weight: (y: X, theta: X) => X): ((k: X, theta: X) => X) =>
  customRule((k: X, theta: X) => sub(mul(4, isOne(k, theta)), 1), {
    frule: ([k, theta]: readonly X[], [, dTheta]: readonly X[]) => {
      const b = isOne(k!, theta!)
      const y = sub(mul(4, b), 1)
      return [y, mul(dTheta!, weight(b, theta!))]
    },
    estimates: true,
  }) as unknown as (k: X, theta: X) => X
const value = (b: X): X => sub(mul(4, b), 1)
const cdf = (y: X, a: X): X => gammainc(a, y)
const drawnBy = (slope: (a: X, y: X) => X): F => {
  const f = (a: X): X => random.gamma(KEY, op.stopGradient(a))
  return customRule((a: X) => f(a), {
    frule: (a: X, da: X) => [f(a), mul(da, slope(a, f(a)))],
    distribution: (y: X, a: X) => cdf(y, a),
  } as never) as unknown as F
}
const stochastic: readonly WrongFunction[] = [
  wrong('an estimator without the score', (k, t) => estimator((b) => value(b))(k, t), [random.key(1), 0.3]),
  wrong('an estimator of the wrong sign', (k, t) => estimator((b, p) => mul(-1, mul(value(b), sub(b, sigmoid(p)))))(k, t), [
    random.key(1),
    0.3,
  ]),
  wrong('an estimator of a half', (k, t) => estimator((b, p) => mul(0.5, mul(value(b), sub(b, sigmoid(p)))))(k, t), [random.key(1), 0.3]),
  wrong(
    'an estimator whose baseline is of this draw',
    (k, t) => estimator((b, p) => mul(sub(value(b), value(b)), sub(b, sigmoid(p))))(k, t),
    [random.key(2), -0.5],
  ),
  wrong('an estimator that is too large by a fifth', (k, t) => estimator((b, p) => mul(1.2, mul(value(b), sub(b, sigmoid(p)))))(k, t), [
    random.key(3),
    0.1,
  ]),
  wrong('an estimator within a loss', (k, t) => mul(3, estimator((b) => sub(value(b), 1))(k, t)), [random.key(4), 0.8]),
  wrong(
    'a straight-through derivative that is told to be unbiased',
    (k, t) => estimator((_b, p) => mul(sigmoid(p), sub(1, sigmoid(p))))(k, t),
    [random.key(4), 0.8],
  ),
  wrong(
    'gamma numbers that stand still',
    drawnBy((a) => mul(0, a)),
    [[2, 3.5]],
  ),
  wrong(
    'gamma numbers that move with their mean',
    drawnBy((a) => add(1, mul(0, a))),
    [[2, 3.5]],
  ),
  wrong(
    'gamma numbers that move as y / a',
    drawnBy((a, y) => div(y, a)),
    [[2, 0.6]],
  ),
  wrong(
    'a normal number whose scale is forgotten',
    (s) =>
      sum(
        each(
          (u) => mul(u, random.normal(KEY, [3])),
          () => add(1, zerosLike(random.normal(KEY, [3]))),
        )(s),
      ),
    [[0.5, 1, 2]],
  ),
]

/** All of them. */
export const hardWrongFunctions: readonly WrongFunction[] = [...ties, ...conditioned, ...third, ...stochastic]
