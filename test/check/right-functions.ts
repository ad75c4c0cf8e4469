// Right functions that finite differences, tolerances or a look at both sides might call wrong: the checker must not.
import type { GradientOptions } from '../../src/check/index.js'
import type { AnyExpr } from '../../src/core/types/expr.js'
import { applied, f32, i32, numbers, op } from './operations.js'

/** A function whose derivative is right, and why a checker might think otherwise. */
export interface RightFunction {
  readonly name: string
  readonly f: (...xs: readonly AnyExpr[]) => unknown
  readonly args: readonly unknown[]
  readonly options?: GradientOptions
  readonly why: string
}

// biome-ignore format: a list of names
const {
  abs, acos, acosh, add, asin, at, atan2, atanh, avgPool, cast, cbrt, clamp, cond, conv, copysign, cos, cumprod, cumsum, customRule,
  digamma, div, einsum, elu, exp, expm1, floor, fori, gather, grad, gt, hypot, jvp, layerNorm, le, lgamma, log, log1p, logsumexp, map,
  matmul, max, maximum, maxPool, mean, min, minimum, mod, mul, norm, pow, prod, relu, relu6, round, rsqrt, scatterAdd, searchsorted,
  sigmoid, sign, sin, softmax, softsign, sort, sqrt, square, std, stopGradient, sub, sum, tan, tanh, topk, variance, vmap, where,
  xlogy,
} = op

type X = AnyExpr
const right = (name: string, f: RightFunction['f'], args: readonly unknown[], why: string, options?: GradientOptions): RightFunction => ({
  name,
  f,
  args,
  why,
  ...(options && { options }),
})

/** A layer of relus whose first unit is `away` from its kink at x = (1, 2, -1). */
const reluLayer =
  (away: number) =>
  (x: X): X => {
    const w = op.tensor([[0.5, -1, 0.3], [0.25, 0.4, -0.7], [1, 0.2, 0.9]]) // biome-ignore format: a matrix
    // The first unit is 0.5 + 0.5 - 1 + away.
    return sum(mul(relu(add(matmul(x, w), op.tensor([away, 0.7, 1.9]))), op.tensor([1, -2, 3])))
  }

const kinks: readonly RightFunction[] = [
  right('relu layer, 0.005 from a kink', reluLayer(0.005), [[1, 2, -1]], 'the larger steps cross the kink'),
  right('relu layer, 1e-4 from a kink', reluLayer(1e-4), [[1, 2, -1]], 'all steps but the smallest cross it'),
  right('relu layer, 1e-9 on the other side', reluLayer(-1e-9), [[1, 2, -1]], 'no useful step stays on one side'),
  right('relu layer at a kink', reluLayer(0), [[1, 2, -1]], 'the derivative at 0 is one of the two sides'),
  right(
    'relu network over its parameters',
    (p, x) => {
      const q = p as unknown as { readonly w1: X; readonly b1: X; readonly w2: X }
      return mean(square(matmul(relu(add(matmul(x, q.w1), q.b1)), q.w2)))
    },
    [{ w1: [[0.3, -0.2, 1e-5, 1], [0.1, 0.5, -1e-5, -1]], b1: [0, 0.003, 0, 0.1], w2: [[1], [-1], [2], [0.5]] }, [[1, 2], [-0.5, 0.7], [1, 1]]], // biome-ignore format: matrices
    'twelve units, some of them near or at a kink for some rows',
  ),
  right('abs at 0', (x) => sum(abs(x)), [[0, 1, -2]], 'differences give 0, the sides 1 and -1'),
  right('abs at 1e-9', (x) => sum(mul(abs(x), [1, 2])), [[1e-9, -1e-9]], 'the sides look like those of 0'),
  right('max with ties', (x) => max(x), [[1, 3, 3, 2]], 'half of the derivative for each'),
  right('max with a near tie', (x) => max(x), [[1, 3, 3 - 1e-6, 2]], 'another element wins within every step'),
  right('min along an axis with ties', (x) => min(x, { axis: 1 }), [[[1, 1, 2], [3, 0, 0], [4, 4, 4]]], 'ties of two and of three'), // biome-ignore format: a matrix
  right('sort with equal values', (x) => sum(mul(sort(x), [1, 2, 3, 4])), [[2, 1, 2, 0.5]], 'equals exchange places on one side'),
  right('sort with nearly equal values', (x) => sort(x), [[2, 1, 2 + 1e-7, 0.5]], 'vector result; places change within every step'),
  right('maximum(x, x)', (x) => sum(maximum(x, x)), [[1, -2, 0]], 'a tie everywhere, and smooth'),
  right(
    'maximum with some ties',
    (x, y) => maximum(x, y),
    [
      [1, 2, 3],
      [1, 0, 3.0000001],
    ],
    'tie, no tie, near tie',
  ),
  right('clamp at its limits', (x) => sum(mul(clamp(x, 0, 1), [1, 2, 3])), [[0, 1, 0.5]], 'half a derivative at a limit'),
  right('clamp just inside', (x) => clamp(x, -1, 1), [[-1 + 1e-8, 1 - 1e-5, 1 + 1e-5]], 'every step leaves the interval'),
  right(
    'hinge loss at the margin',
    (w) =>
      mean(
        relu(
          sub(
            1,
            mul(
              [1, -1, 1],
              matmul(
                [
                  [1, 0],
                  [0, 1],
                  [0.5, 0.5],
                ],
                w,
              ),
            ),
          ),
        ),
      ),
    [[1, -1]],
    'two examples at margin 1 exactly',
  ),
  right('sqrt(x^2) near 0', (x) => sum(sqrt(square(x))), [[1e-6, -1e-6, 2]], 'the slope of sqrt is 5e5 there'),
  right('norm at 0', (x) => norm(x), [[0, 0, 0]], 'no derivative: 0 by convention'),
  right('norm near 0', (x) => norm(x), [[3e-8, -4e-8]], 'a cone whose tip lies within every step'),
  right('norm of order 1 and inf', (x) => add(norm(x, { ord: 1 }), norm(x, { ord: 'inf' })), [[0, 2, -2]], 'a zero entry and a tie'),
  right('hypot at the origin', (x, y) => hypot(x, y), [0, 0], 'a cone of two arguments'),
  right('atan2 on its cut', (y, x) => atan2(y, x), [0, -1], 'smooth derivative, values that jump by 2 pi'),
  right('atan2 near its cut', (y, x) => atan2(y, x), [-1e-7, -2], 'the steps jump over the cut'),
  right(
    'elu, relu6 and softsign at their joints',
    (x) => sum(add(add(elu(x), relu6(x)), softsign(x))),
    [[0, 6, -1]],
    'a kink, a limit, and a jump of the second derivative',
  ),
  right(
    'Huber loss at its joints',
    (x) => sum(where(le(abs(x), 1), mul(0.5, square(x)), sub(abs(x), 0.5))),
    [[1, -1, 1 + 1e-9, 0.3]],
    'one derivative on both sides, two curvatures',
  ),
  right('copysign at 0', (x) => sum(copysign(x, [1, -1])), [[0, 0]], 'as abs'),
  right('the smaller of x and relu x at 0', (x) => sum(minimum(x, relu(x))), [[0, -1.25]], 'x itself, of two kinks'),
  right('the middle of five by sort', (x) => at(sort(x), 2), [[1, 2, 2 + 1e-10, 5, 0]], 'the median changes its element'),
  right(
    'topk with ties',
    (x) => sum(mul((topk(x, 2) as unknown as { readonly values: X }).values, [1, 3])),
    [[2, 2, 2, 1]],
    'which two of three',
  ),
]

const ends: readonly RightFunction[] = [
  right('lgamma at a pole', (x) => sum(lgamma(x)), [[-1, 2.5]], 'infinite value'),
  right('lgamma near a pole', (x) => sum(lgamma(x)), [[-1 + 1e-5, 1e-7]], 'derivatives of 1e5 and 1e7, steps across the pole'),
  right('digamma near its poles', (x) => sum(digamma(x)), [[1e-4, -0.9999]], 'derivatives of 1e8, steps across the pole'),
  right('x log x at 0', (x) => sum(xlogy(x, x)), [[0, 0.5]], 'undefined on one side, vertical on the other; 0 by convention'),
  right('x log x near 0', (x) => sum(mul(x, log(x))), [[1e-6, 1e-3]], 'steps leave the domain'),
  right('x^1.5 at 0', (x) => sum(pow(x, 1.5)), [[0, 1]], 'NaN on one side'),
  right('x^0.5 at 0', (x) => sum(pow(x, 0.5)), [[0, 4]], 'infinite derivative'),
  right('x^3 at a negative base', (x) => sum(pow(x, 3)), [[-2, 0]], 'pow of a negative number'),
  right('sqrt guarded at 0', (x) => sum(where(gt(x, 0), sqrt(x), 0)), [[0, 1]], 'infinite on one side, 0 on the other'),
  right('sqrt guarded near 0', (x) => sum(where(gt(x, 0), sqrt(x), 0)), [[1e-7, -1e-7]], '1e-7 from the guard'),
  right('log guarded at 0', (x) => sum(where(gt(x, 0), log(x), 0)), [[0, 1]], 'a jump to -infinity at the guard'),
  right('1 / x at 0', (x) => div(1, x), [0], 'infinite value and derivative'),
  right('1 / x near 0', (x) => sum(div(1, x)), [[1e-5, -1e-3]], 'derivative -1e10; the steps cross the pole'),
  right('acos at -1', (x) => acos(x), [-1], 'end of the domain, infinite derivative'),
  right('acos and asin near their ends', (x) => sum(add(acos(x), mul(2, asin(x)))), [[-1 + 1e-6, 1 - 1e-9]], 'steps leave the domain'),
  right('atanh near 1', (x) => atanh(x), [1 - 1e-7], 'derivative 5e6, a pole at 1e-7'),
  right('log at 0', (x) => sum(log(x)), [[0, 2]], 'infinite value and derivative'),
  right('log near 0', (x) => sum(log(x)), [[1e-8, 1e-300]], 'derivatives of 1e8 and 1e300'),
  right('tan near its pole', (x) => tan(x), [Math.PI / 2 - 1e-4], 'derivative 1e8'),
  right('cbrt at 0 and near', (x) => sum(cbrt(x)), [[0, 1e-9, -1e-3]], 'a vertical tangent'),
  right('acosh at 1 and near', (x) => sum(acosh(x)), [[1, 1 + 1e-8]], 'end of the domain'),
  right('log1p and rsqrt at their ends', (x) => sum(add(log1p(sub(x, 1)), rsqrt(x))), [[1e-9, 1e-3]], 'derivatives of 1e13'),
]

const table = [0, 1, 0.5, 2, -1]
const knots = [0, 1, 2, 3, 4]
/** Piecewise linear interpolation of the table. */
const interpolated = (x: X): X => {
  const i = cast(clamp(sub(searchsorted(op.tensor(knots), x, { side: 'right' }), 1), 0, 3), 'i32')
  const [low, high] = [gather(op.tensor(table), i), gather(op.tensor(table), add(i, 1))]
  const t = sub(x, gather(op.tensor(knots), i))
  return add(mul(sub(1, t), low), mul(t, high))
}
const jumps: readonly RightFunction[] = [
  right('floor at and near its jumps', (x) => sum(mul(x, floor(x))), [[2, 2 + 1e-6, 2 - 1e-9]], 'jumps within every step'),
  right('round at halves', (x) => sum(round(x)), [[0.5, 1.5 - 1e-8, 0.2]], 'jumps within every step, derivative 0'),
  right('mod at and near its jumps', (x) => sum(mul(mod(x, 1), x)), [[3, 3 - 1e-7, 0.4]], 'a saw'),
  right('sign at 0 and near', (x) => sum(mul(sign(x), x)), [[0, 1e-8, -1]], 'abs, written with a jump'),
  right(
    'interpolation at and near its knots',
    (x) => sum(interpolated(x)),
    [[1, 2 + 1e-8, 3 - 1e-8, 0.5]],
    'continuous, with kinks at the knots',
  ),
  right(
    'a looked-up factor',
    (x) => sum(mul(x, gather(op.tensor([1, 10, 100, 1000]), searchsorted(op.tensor([0, 1, 2]), x)))),
    [[1 - 1e-7, 1.5, 2]],
    'jumps by factors of ten',
  ),
  right('where near a jump', (x) => sum(where(gt(x, 1), add(x, 5), mul(2, x))), [[1 + 1e-5, 1, 1 - 1e-9]], 'a jump of 4'),
  right('a stair by truncation', (x) => sum(mul(cast(cast(x, 'i32'), 'f64'), x)), [[2, -1e-8, 2.5]], 'through integers and back'),
]

const cancellation: readonly RightFunction[] = [
  right('1e12 + sum(sin x)', (x) => add(1e12, sum(sin(x))), [[0.3, 1, 2]], 'values keep four digits of what moves'),
  right('(1e8 + x) - 1e8', (x) => sum(sub(add(1e8, x), 1e8)), [[0.1, 0.7]], 'values keep eight digits'),
  right('exp(x) - 1 - x near 0', (x) => sum(sub(sub(exp(x), 1), x)), [[1e-5, -1e-7]], 'derivative 1e-5 of values that cancel'),
  right('expm1(x) - x near 0', (x) => sum(sub(expm1(x), x)), [[1e-6]], 'derivative 1e-6'),
  right('variance of large numbers', (x) => variance(x), [[1e8 + 1, 1e8 + 2, 1e8 + 4]], 'arguments of 1e8, derivatives of 1'),
  right('std of nearly equal numbers', (x) => std(x), [[1, 1 + 1e-7, 1 - 2e-7]], 'a cone 1e-7 away'),
  right('softmax of huge logits', (x) => sum(mul(softmax(x), [1, -2, 3])), [[1e4, 1e4 + 1, 1e4 - 2]], 'arguments of 1e4'),
  right('logsumexp far apart', (x) => logsumexp(x), [[1000, 1000, -1000]], 'exp overflows and underflows'),
  right('(1 - cos x) / x^2 near 0', (x) => div(sub(1, cos(x)), square(x)), [1e-3], 'two derivatives of 1e3 that cancel'),
  right(
    'layer norm of a nearly constant row',
    (x) => sum(mul(layerNorm(x), [1, 2, 3])),
    [[5, 5 + 1e-6, 5 - 1e-6]],
    'divided by a small deviation',
  ),
]

const scales: readonly RightFunction[] = [
  right('1e-12 sin x', (x) => sum(mul(1e-12, sin(x))), [[0.5, 1]], 'everything is tiny'),
  right('1e12 sin x', (x) => sum(mul(1e12, sin(x))), [[0.5, 1]], 'everything is huge'),
  right('x^2 at 1e12', (x) => sum(square(x)), [[1e12, -3e11]], 'steps of 1 are too small'),
  right('x^2 at 1e-12', (x) => sum(square(x)), [[1e-12, -3e-12]], 'steps of 1 are too large'),
  right('1e-10 sin(1e6 x)', (x) => sum(mul(1e-10, sin(mul(1e6, x)))), [[0.3, 1e-7]], 'derivative 1e-4, periods of 6e-6'),
  right('exp(20 x)', (x) => sum(exp(mul(20, x))), [[1, -1]], 'derivatives of 1e10 and 1e-8'),
  right('exp(700)', (x) => exp(x), [700], 'derivative 1e304: steps overflow'),
  right('a product of 50', (x) => prod(x), [numbers(50, (i) => 0.5 + ((7 * i) % 11) / 6)], '50 factors'),
  right('a product with zeros', (x) => prod(x, { axis: 1 }), [[[0, 2, 3], [0, 0, 5]]], 'one and two zero factors'), // biome-ignore format: a matrix
  right(
    'terms 1e20 apart',
    (x) => add(mul(1e10, sin(at(x, 0))), mul(1e-10, cos(at(x, 1)))),
    [[1, 1]],
    'the second argument moves nothing that is seen',
  ),
  right('x log x at three scales', (x) => sum(mul(x, log(x))), [[1e-12, 1, 1e12]], 'each entry has a scale of its own'),
  right('x / 1e-12', (x) => sum(div(x, 1e-12)), [[1, 2e-12]], 'derivative 1e12 of a line'),
  right('exp(-x^2) far out', (x) => sum(exp(mul(-1, square(x)))), [[20, 26]], 'values of 1e-174'),
  right('x^20 at 100', (x) => pow(x, 20), [100], 'value 1e40'),
  right('x^2 at 1e150', (x) => square(x), [1e150], 'nearly overflows'),
  right(
    'Rosenbrock far away',
    (x) => add(square(sub(1, at(x, 0))), mul(100, square(sub(at(x, 1), square(at(x, 0)))))),
    [[-300, 1e4]],
    'curvatures of 1e8 and 200',
  ),
  right('sin(1e4 x)', (x) => sum(sin(mul(1e4, x))), [[0.1, 2]], 'periods below the larger steps'),
  right('sin(exp(x)) at 10', (x) => sin(exp(x)), [10], 'periods of 3e-4'),
  right('sin(1 / x) at 0.01', (x) => sin(div(1, x)), [0.01], 'periods of 6e-4 that change'),
]

const singles: readonly RightFunction[] = [
  right('f32: large values', (x) => sum(mul(x, square(x))), [f32([3e5, -2e4, 1])], 'f32 keeps 7 digits of 1e16'),
  right('f32: atanh(tanh x)', (x) => sum(atanh(tanh(x))), [f32([5, -3, 0.5])], 'tanh 5 keeps 3 digits of its distance from 1'),
  right('f32: (1e6 + x) - 1e6', (x) => sum(square(sub(add(1e6, x), 1e6))), [f32([0.1, 0.72])], 'f32 keeps one digit of x'),
  right('f32: matrices of many scales', (a, b) => matmul(a, b), [f32([[1e6, 1e-6], [-1e6, 1]]), f32([[1, -1], [1e6, 1e-6]])], 'sums of terms far apart'), // biome-ignore format: matrices
  right('f32: exp(80)', (x) => sum(exp(x)), [f32([80, -80])], 'derivatives of 5e34 and 2e-35'),
  right('f32: exp(89)', (x) => exp(x), [f32(89)], 'infinite in f32, 4e38 in f64'),
  right('f32: relu layer at 1e-4', (x) => reluLayer(1e-4)(x), [f32([1, 2, -1])], 'f32 and f64 may be on two sides'),
  right('f32: variance of large numbers', (x) => variance(x), [f32([10001, 10002.5, 10004])], 'deviations keep three digits'),
  right('f32: max with ties after rounding', (x) => max(x), [f32([0.1, 0.1 + 1e-9, 0.05])], 'two numbers that are one in f32'),
  right('f32: sum of 300 logs', (x) => sum(log(x)), [f32(numbers(300, (i) => 0.01 + ((i * 37) % 300) / 50))], 'many roundings'),
  right('f32: 1e-20 sin x', (x) => sum(mul(1e-20, sin(x))), [f32([0.3, -2])], 'tiny, and rounded'),
  right('f32: softmax of large logits', (x) => sum(mul(softmax(x), f32([1, -2, 3]))), [f32([1000, 1001.5, 998])], 'arguments of 1000'),
]

const flat: readonly RightFunction[] = [
  right('tanh(50)', (x) => sum(tanh(x)), [[50, -50, 20]], 'derivatives of 0 and 1e-17 where tanh is 1'),
  right('exp(-800)', (x) => exp(x), [-800], 'underflows'),
  right('sigmoid far out', (x) => sum(sigmoid(x)), [[-800, -40, 40]], 'underflows, and rounds to 1'),
  right('a constant', () => op.tensor(3), [[1, 2]], 'does not depend on its argument'),
  right(
    'one of two arguments',
    (x) => sum(mul(3, x)),
    [
      [1, 2],
      [5, 6],
    ],
    'a straight line, and an argument without use',
  ),
  right(
    'stopGradient within a map',
    (x) => sum(map((u: AnyExpr) => mul(stopGradient(u), sin(u)), x)),
    [[1, 2]],
    'differences see both factors',
  ),
  right(
    'stopGradient within a loop and a branch',
    (x) => {
      const branch = (c: X): X =>
        cond(
          gt(c, 1),
          (v: X) => mul(stopGradient(v), sin(v)),
          (v: X) => v,
          c,
        )
      return fori(3, (_k: X, c: X) => add(mul(stopGradient(c), 0.5), branch(c)), sum(x))
    },
    [[0.5, 2, 3]],
    'a target network, a running mean',
  ),
  right('stopGradient of a factor', (x) => sum(mul(stopGradient(x), x)), [[1, 2]], 'differences see both factors, the derivative one'),
  right(
    'straight through',
    (x) => sum(square(add(x, stopGradient(sub(round(x), x))))),
    [[0.3, 1.7]],
    'a derivative that is meant to differ',
  ),
  right('x |x| at 0', (x) => sum(mul(x, abs(x))), [[0, 1e-9, -1]], 'no second derivative at 0'),
  right('relu(x)^2 at 0', (x) => sum(square(relu(x))), [[0, 1e-6, 2]], 'no second derivative at 0'),
  right('|x|^3 and x^3 at 0', (x) => sum(add(pow(abs(x), 3), pow(x, 3))), [[0, 1e-7]], 'smooth to the second order'),
]

const logistic = customRule((x: X) => div(1, add(1, exp(mul(-1, x)))), {
  frule: (x: X, dx: X) => [sigmoid(x), mul(mul(dx, sigmoid(x)), sub(1, sigmoid(x)))],
  rrule: (x: X) => [sigmoid(x), (yBar: X) => mul(mul(yBar, sigmoid(x)), sub(1, sigmoid(x)))],
}) as unknown as (x: X) => X
const cubed = customRule((x: X) => mul(x, square(x)), {
  frule: (x: X, dx: X) => [mul(x, square(x)), mul(mul(3, square(x)), dx)],
}) as unknown as (x: X) => X

const doubled = customRule((x: X) => mul(2, x), { rrule: (x: X) => [mul(2, x), (yBar: X) => mul(2, yBar)] }) as unknown as (x: X) => X

/** The tangent of f at x along x itself. */
const tangentOf = (pushed: unknown, x: X): X => (pushed as (x: X, dx: X) => readonly [X, X])(x, x)[1]

const forms: readonly RightFunction[] = [
  right(
    'integer arguments',
    (x, i) => sum(mul(gather(x, i), [1, 2, 3])),
    [[0.3, 0.4], i32([1, 1, 0])],
    'an argument without derivatives, repeated indices',
  ),
  right('a mask', (x, m) => sum(where(m, square(x), x)), [[1, 2], op.tensor([true, false], 'bool')], 'a boolean argument'),
  right(
    'several results',
    (x) => ({ y: sum(square(x)), which: op.argmax(x), all: [sin(x), floor(x)] }),
    [[0.2, 0.9]],
    'floats beside integers, a constant result',
  ),
  right('a rule of its own', (x) => sum(logistic(x)), [[0.5, -30, 40]], 'another formula than the differences see'),
  right('a rule of its own, forward only', (x) => sum(cubed(x)), [[0.5, -30]], 'reverse by transposing'),
  right('a rule of its own, reverse only', (x) => sum(doubled(x)), [[0.5, -30]], 'no forward mode: what is given is right', {
    modes: ['reverse'],
  }),
  right(
    'a rule of its own, in f32',
    (x) => sum(logistic(x)),
    [f32([0.5, -3])],
    'its rules answer in f32, also where differences are taken in f64',
  ),
  right('nothing at all', (x) => add(sum(square(x)), 1), [op.tensor([], [0])], 'no entries'),
  right('no rows', (x, w) => matmul(x, w), [op.tensor([], [0, 2]), [[1], [2]]], 'no results, and an argument that moves nothing'),
  right('a number', (x) => mul(x, sin(x)), [1.2], 'rank 0'),
  right('300 entries', (x) => sum(mul(sin(x), cumsum(x))), [numbers(300, (i) => Math.sin(i))], 'sums of 300'),
  right(
    '300 results',
    (x) =>
      mul(
        numbers(300, (i) => 10 ** ((i % 13) - 6)),
        sin(x),
      ),
    [0.7],
    'results of thirteen scales',
  ),
  right('einsum', (a, b) => einsum('ij,kj->ik', a, mul(b, b)), [[[1, 2], [3, -4]], [[0.1, 0.2], [1e3, 1e-3]]], 'entries of 1e6 and 1e-6'), // biome-ignore format: matrices
  right('conv', (x, k) => conv(x, k, { padding: 'same' }), [[[[[1, 2, 3], [4, 5, 6], [7, 8, 1e4]]]], [[[[1, -1], [0, 1e-4]]]]], 'edges and scales'), // biome-ignore format: images
  right('pooling with ties', (x) => add(maxPool(x, { window: 2 }), avgPool(x, { window: 2 })), [[[[[1, 1, 2, 3], [1, 1, 3, 3 - 1e-8], [0, 0, 0, 5], [0, 0, 5, 5]]]]], 'ties and a near tie'), // biome-ignore format: an image
  right('cumsum and cumprod with a zero', (x) => add(cumsum(x), cumprod(x)), [[2, 0, -3, 1e3]], 'a factor 0 in the middle'),
  right(
    'scatterAdd with repeated indices',
    (x, v) => square(scatterAdd(x, i32([0, 0, 2]), v)),
    [
      [1, 2, 3],
      [10, 20, 30],
    ],
    'two updates of one place',
  ),
  right(
    'a gradient inside',
    (x) =>
      sum(
        mul(
          x,
          applied(
            grad((y: X) => sum(mul(x, mul(y, square(y))))),
            x,
          ),
        ),
      ),
    [[0.5, -1]],
    'grad of a closure over x',
  ),
  right(
    'a tangent inside',
    (x) =>
      tangentOf(
        jvp((y: X) => mul(y, exp(y))),
        x,
      ),
    [0.4],
    'jvp along x itself',
  ),
  right('vmap inside', (x) => sum(applied(vmap((row: X) => max(abs(row))), x)), [[[1, -1], [2, 0.5], [0, 0]]], 'ties in some rows'), // biome-ignore format: a matrix
]

/** All of them. */
export const rightFunctions: readonly RightFunction[] = [
  ...kinks,
  ...ends,
  ...jumps,
  ...cancellation,
  ...scales,
  ...singles,
  ...flat,
  ...forms,
]
