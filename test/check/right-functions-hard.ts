// More right functions: ties of whole arrays, badly conditioned and chaotic ones, random draws, extreme scales, chains in f32, loops.
import type { AnyExpr } from '../../src/core/types/expr.js'
import * as draws from '../../src/random/index.js'
import { applied, f32, numbers, op } from './operations.js'
import type { RightFunction } from './right-functions.js'

// biome-ignore format: a list of names
const {
  abs, acos, add, asin, at, cast, clamp, cond, cos, cummax, cumprod, cumsum, customRule, det, div, eigvalsh, eq, exp, fori, ge, grad, gt,
  inv, log, logsumexp, lt, map, matmul, max, maximum, maxPool, mean, median, min, minimum, mul, norm, pow, prod, relu, scan, sigmoid, sin,
  softmax, softplus, solve, sort, sqrt, square, straightThrough, sub, sum, svdvals, tan, tanh, topk, trace, vmap, where, whileLoop,
} = op
const random = draws as unknown as { readonly [K in keyof typeof draws]: (...xs: readonly unknown[]) => AnyExpr }
const KEY = random.key(3)

type X = AnyExpr
type F = (...xs: readonly X[]) => X
const right = (
  name: string,
  f: RightFunction['f'],
  args: readonly unknown[],
  why: string,
  options?: RightFunction['options'],
): RightFunction => ({
  name,
  f,
  args,
  why,
  ...(options && { options }),
})
/** f with this cotangent, and the tangent that belongs to it. */
const with1 = (f: F, gradient: (x: X) => X): F =>
  customRule((x: X) => f(x), {
    frule: (x: X, dx: X) => [f(x), sum(mul(dx, gradient(x)))],
    rrule: (x: X) => [f(x), (yBar: X) => mul(yBar, gradient(x))],
  }) as unknown as F

const tied = (x: X): X => cast(eq(x, max(x)), x.dtype)
const sharedMax = with1(max, (x) => div(tied(x), sum(tied(x))))
const firstMax = with1(max, (x) => mul(tied(x), cast(eq(cumsum(tied(x)), 1), x.dtype)))
const unfair = with1(max, (x) => {
  const t = tied(x)
  const weight = mul(t, cumsum(t))
  return div(weight, sum(weight))
})
const rowOf = (n: number, top: readonly number[]): readonly number[] => numbers(n, (i) => (top.includes(i) ? 2 : Math.sin(i)))
const ties: readonly RightFunction[] = [
  right('a shared max of forty equal numbers', (x) => sharedMax(x), [numbers(40, () => 1.5)], 'every one has a fortieth'),
  right(
    'the first of thirty largest',
    (x) => firstMax(x),
    [
      rowOf(
        60,
        numbers(30, (i) => 2 * i),
      ),
    ],
    'one has all: an end of the subgradients',
  ),
  right('a max that shares unevenly', (x) => mul(-3, unfair(x)), [rowOf(17, [2, 5, 11, 16])], 'any convex combination is right'),
  right(
    'a max of 300 with ties',
    (x) => max(x),
    [
      rowOf(
        300,
        numbers(150, (i) => i),
      ),
    ],
    'too large for every entry at every step',
  ),
  right(
    'a shared max beside smooth terms',
    (x) => add(sharedMax(x), sum(mul(square(x), x))),
    [rowOf(12, [0, 11])],
    'curvature beside a kink',
  ),
  right(
    'a difference of two maxima of one array',
    (x) => sub(mul(3, max(x)), firstMax(x)),
    [rowOf(9, [1, 4, 8])],
    'two conventions of one tie, of which other ties make several',
    { checks: { beside: false } },
  ),
  right('the median of three equal', (x) => median(x), [[1, 1, 1]], 'smooth along every direction, and with three derivatives'),
  right('the median of seven, four equal', (x) => mul(2, at(sort(x), 3)), [[2, 0, 2, 5, 2, -1, 2]], 'neither convex nor concave'),
  right(
    'sorted equals with weights of both signs',
    (x) =>
      sum(
        mul(
          sort(x),
          numbers(12, (i) => Math.cos(3 * i)),
        ),
      ),
    [numbers(12, () => 0.5)],
    'as many pieces as permutations',
  ),
  right(
    'topk among equals',
    (x) => sum(mul((topk(x, 3) as unknown as { readonly values: X }).values, [1, 5, -2])),
    [[3, 3, 1, 3, 3]],
    'which three of four, and in what order',
  ),
  right('pooling of a constant image', (x) => sum(mul(maxPool(x, { window: 2 }), [[[[1, -2], [3, 4]]]])), [[[Array.from({ length: 4 }, () => numbers(4, () => 0.25))]]], 'ties of four in each window'), // biome-ignore format: an image
  right('max of abs at ties of both signs', (x) => max(abs(x)), [[2, -2, 1, 2]], 'ties that move apart when entries move as one'),
  right('norms of order inf of ties', (x) => norm(x, { ord: 'inf' }), [[-3, 3, 3]], 'a tie of both signs'),
  right('the norm of a zero matrix, after a product', (x) => norm(matmul(x, [[1, 2], [0, 1]])), [[[0, 0], [0, 0]]], 'a cone over four arguments'), // biome-ignore format: matrices
  right('ties of computed numbers', (x) => max(mul(x, [1, 2, 4])), [[4, 2, 1]], 'the arguments differ, the products are tied'),
  right('a maximum of three, nested', (x, y) => sum(maximum(x, maximum(y, mul(0.5, add(x, y))))), [[1, 2], [1, 2]], 'three tied values, two of them move the third'), // biome-ignore format: short
  right('x as a difference of two relus', (x) => sum(sub(relu(x), relu(mul(-1, x)))), [[0, 1]], 'smooth, of two kinks'),
  right('x as a sum of max and min', (x) => sum(add(maximum(x, 0), minimum(x, 0))), [[0, -1, 2]], 'smooth, of two kinks'),
  right('the sum of max and min of a pair', (x) => sum(add(max(x), min(x))), [[2, 2]], 'smooth, of two ties'),
  right('a bent line through two kinks', (x) => sum(relu(sub(abs(x), relu(x)))), [[0, 0, 1]], 'kinks in kinks'),
  right('a running maximum with ties', (x) => sum(mul(cummax(x), [1, 2, 3, 4])), [[1, 1, 0, 1]], 'ties with what came before'),
  right('hinges of a batch at their margins', (w) => mean(relu(sub(1, matmul([[1, 0], [0, 1], [0.5, 0.5], [2, -1]], w)))), [[1, 1]], 'four rows at the margin'), // biome-ignore format: a matrix
  right('a clamp whose limits meet', (x) => sum(clamp(x, 1, 1)), [[1, 2, 0]], 'constant, at two kinks'),
  right('a custom rule by the rule of its parts', customRule((x: X) => add(maximum(x, 0), minimum(x, 0)), { frule: (x: X, dx: X) => [add(maximum(x, 0), minimum(x, 0)), mul(dx, add(applied(grad((u: X) => sum(maximum(u, 0))), x), applied(grad((u: X) => sum(minimum(u, 0))), x)))] }) as unknown as F, [[0, 2]], 'conventions inside of a rule'), // biome-ignore format: long
  right('ties in f32', (x) => sharedMax(x), [f32([0.1, 0.7, 0.7, 0.7])], 'rounded ties'),
  right('ties of rows under vmap', (x) => sum(mul(applied(vmap((r: X) => firstMax(r)), x), [1, -2])), [[[1, 1, 0], [3, 3, 3]]], 'a rule of its own, batched'), // biome-ignore format: a matrix
]

const logistic =
  (r: number, n: number): F =>
  (x) =>
    fori(n, (_k: X, c: X) => mul(mul(r, c), sub(1, c)), x)
const hilbert = (n: number): readonly (readonly number[])[] => numbers(n, () => 0).map((_, i) => numbers(n, (j) => 1 / (i + j + 1)))
const lorenz =
  (n: number): F =>
  (p) =>
    fori(
      n,
      (_k: X, c: X) => {
        const [x, y, z] = [at(c, 0), at(c, 1), at(c, 2)]
        const d = op.stack([mul(10, sub(y, x)), sub(mul(x, sub(28, z)), y), sub(mul(x, y), mul(8 / 3, z))])
        return add(c, mul(0.02, d))
      },
      p,
    )
const conditioned: readonly RightFunction[] = [
  right('det of a singular matrix', (a) => det(a), [[[1, 2, 3], [4, 5, 6], [7, 8, 9]]], 'a zero that rounding makes 7e-16, and its inverse'), // biome-ignore format: a matrix
  right('det of a matrix of rank 1', (a) => det(a), [[[1, 2, 3], [2, 4, 6], [3, 6, 9]]], 'every cofactor is 0', { order: 1 }), // biome-ignore format: a matrix
  right('det of a zero matrix', (a) => det(a), [[[0, 0], [0, 0]]], 'no inverse at all', { order: 1 }), // biome-ignore format: a matrix
  right('det of nearly singular matrices', (a) => det(a), [[[1, 1], [1, 1 + 1e-13]]], 'condition number 4e13'), // biome-ignore format: a matrix
  right('det of a Hilbert matrix', (a) => det(a), [hilbert(8)], 'condition number 1e10'),
  right('inverse of a Hilbert matrix', (a) => sum(inv(a)), [hilbert(6)], 'condition number 1e7, its square in the derivative'),
  right(
    'solve with a Hilbert matrix',
    (a, b) => sum(mul(solve(a, b), numbers(9, Math.cos))),
    [hilbert(9), numbers(9, Math.sin)],
    'condition number 5e11',
  ),
  right('logdet near the edge', (a) => log(det(a)), [[[1, 1 - 1e-11], [1 - 1e-11, 1]]], 'a smallest eigenvalue of 1e-11'), // biome-ignore format: a matrix
  right('inverse of a nearly singular matrix', (a) => trace(inv(a)), [[[1, 2], [2, 4 + 1e-9]]], 'entries of 1e10'), // biome-ignore format: a matrix
  right('eigenvalues 1e-9 apart', (a) => sum(mul(eigvalsh(a), [1, 2, 3])), [[[1, 0, 0], [0, 1 + 1e-9, 0], [0, 0, 2]]], 'vectors that turn'), // biome-ignore format: a matrix
  right('singular values of rank 1', (a) => at(svdvals(a), 0), [[[1, 2], [2, 4 + 1e-12]]], 'the other one is nearly 0'), // biome-ignore format: a matrix
  right('sin at 1e12', (x) => sin(x), [1e12], 'an ulp of the argument is 1e-4'),
  right('sin at 1e15', (x) => sum(sin(x)), [[1e15, -3e15]], 'an ulp of the argument is an eighth'),
  right('cos at 1e300', (x) => cos(x), [1e300], 'an ulp of the argument is any number of periods'),
  right('tan near a far pole', (x) => tan(x), [Math.PI * 1e6 + Math.PI / 2 - 1e-5], 'derivative 1e10 at 3e6'),
  right('sin of a large product', (x, y) => sin(mul(x, y)), [1e6, 1e6 + 0.5], 'periods of 6e-6 in each'),
  right('acos to the second order at 1 - 1e-12', (x) => acos(x), [1 - 1e-12], 'a second derivative of 3e17, of digits that are gone'),
  right('asin to the second order at -1 + 1e-14', (x) => asin(x), [-1 + 1e-14], 'derivatives of 7e6 and 3e20'),
  right('60 steps of the logistic map', logistic(3.9, 60), [0.3], 'a derivative of 1e12, of a chaotic function'),
  right('30 steps of the logistic map', logistic(4, 30), [0.3], 'a derivative of 1e9'),
  right('200 steps of the logistic map', logistic(4, 200), [0.1234], 'no digit is left', { order: 1 }),
  right('60 steps of the logistic map in f32', logistic(3.9, 60), [f32(0.3)], 'no digit of f32 is left'),
  right('20 steps of the logistic map in f32', logistic(3.8, 20), [f32([0.3, 0.7])], 'a few digits of f32 are left'),
  right(
    'the tent map, 40 steps',
    (x) => fori(40, (_k: X, c: X) => sub(1, abs(sub(1, mul(2, c)))), x),
    [0.3],
    'a slope of 2^40 and kinks everywhere',
  ),
  right("40 steps of Lorenz' equations", lorenz(40), [[1, 1, 20]], 'a chaotic flow'),
  right("300 steps of Lorenz' equations", (p) => at(lorenz(300)(p), 0), [[1, 1, 20]], 'a chaotic flow, far', { order: 1 }),
  right(
    'a polynomial at a root of order 6',
    (x) =>
      sum(
        mul(
          numbers(7, (k) => [1, -6, 15, -20, 15, -6, 1][k]!),
          pow(
            x,
            numbers(7, (k) => k),
          ),
        ),
      ),
    [1.001],
    '(x - 1)^6, multiplied out',
  ),
  right("Wilkinson's polynomial, multiplied out", (x) => { let p: X = sub(x, 1); for (let k = 2; k <= 16; k++) p = mul(p, sub(x, k)); return p }, [8.5], 'a product of far factors'), // biome-ignore format: short
  right(
    'a sum that cancels to its last digits',
    (x) => sub(sum(exp(x)), sum(exp(add(x, 1e-10)))),
    [[10, 11, 12]],
    'derivatives of 1e-6 from terms of 1e5',
  ),
  right("Heron's formula of a needle", (a, b, c) => { const s = div(add(add(a, b), c), 2); return sqrt(mul(mul(s, sub(s, a)), mul(sub(s, b), sub(s, c)))) }, [1, 1, 1e-7], 'an area of 5e-8'), // biome-ignore format: short
  right('log of 1 + x by its definition', (x) => sum(log(add(1, x))), [[1e-12, -3e-14]], 'x keeps four digits in 1 + x'),
  right(
    'a variance by the mean of squares',
    (x) => sub(mean(square(x)), square(mean(x))),
    [[1e6 + 1, 1e6 + 2, 1e6 + 4]],
    'squares of 1e12, a variance of 1',
  ),
  right(
    'a root by 25 steps of Newton',
    (x) => fori(25, (_k: X, c: X) => div(add(c, div(x, c)), 2), x),
    [2e-5],
    'steps that forget where they began',
  ),
  right('a fixed point, converged', (x) => fori(80, (_k: X, c: X) => cos(mul(c, x)), 0.5), [0.9], 'its own argument is forgotten'),
  right('exp of exp of exp', (x) => exp(exp(exp(x))), [1.5], 'a value of 1e38'),
  right('a sum of powers with large exponents', (x) => sum(pow(x, [200, -200, 31.5])), [[1.01, 0.99, 1.7]], 'condition number 200'),
]

const scaled: readonly RightFunction[] = [
  right('x^2 at 1e-160', (x) => square(x), [1e-160], 'a value that underflows, a derivative that does not'),
  right('x^3 at 1e-120', (x) => mul(x, square(x)), [1e-120], 'a value of 1e-360, which is 0'),
  right('subnormal numbers', (x) => mul(3, x), [4e-320], 'steps of subnormal numbers'),
  right('1e300 x', (x) => mul(1e300, x), [1e5], 'nearly overflows: larger steps do'),
  right('1 / x at 1e-300', (x) => div(1, x), [1e-300], 'a derivative that overflows'),
  right('sqrt at 1e-300', (x) => sqrt(x), [1e-300], 'a derivative of 5e149'),
  right('terms of 1e-200 and 1e200', (x, y) => add(mul(1e-200, sin(x)), mul(1e200, cos(y))), [0.5, 0.7], 'the first moves nothing'),
  right('logsumexp of 1e5', (x) => logsumexp(mul(1e5, x)), [[1, 1 - 1e-6, 0.5]], 'weights of 1, 0.5 and 0'),
  right('a softmax that is cold', (x) => sum(mul(softmax(mul(1e4, x)), [1, 2, 3])), [[0.5, 0.5001, 0.2]], 'slopes of 1e3 within 1e-4'),
  right('a sigmoid that is steep', (x) => sum(sigmoid(mul(1e8, sub(x, 1)))), [[1, 1 + 1e-8, 2]], 'a step that is smooth'),
  right('softplus that is nearly a kink', (x) => sum(div(softplus(mul(1e9, x)), 1e9)), [[0, 1e-9, -1]], 'a kink that is smooth'),
  right('sqrt(x^2 + 1e-20)', (x) => sum(sqrt(add(square(x), 1e-20))), [[0, 1e-10, 1]], 'abs that is smooth, within 1e-10'),
  right('a bump of width 1e-6', (x) => sum(exp(mul(-1e12, square(sub(x, 0.5))))), [[0.5 + 1e-6, 0.5, 0.7]], 'between all steps'),
]

const f32s: readonly RightFunction[] = [
  right('f32: a chain of 50 tanh', (x) => fori(50, (_k: X, c: X) => tanh(mul(1.1, c)), x), [f32([0.1, -2])], 'fifty roundings'),
  right('f32: a product of 200', (x) => prod(x), [f32(numbers(200, (i) => 1 + Math.sin(i) / 10))], 'roundings of many factors'),
  right('f32: cumprod of 40', (x) => sum(cumprod(x)), [f32(numbers(40, (i) => 1 + Math.cos(i) / 4))], 'roundings along a line'),
  right('f32: an ill-conditioned solve', (a, b) => sum(solve(a, b)), [f32([[1, 1], [1, 1.0001]]), f32([1, 2])], 'condition number 4e4 in f32'), // biome-ignore format: matrices
  right('f32: det of a singular matrix', (a) => det(a), [f32([[1, 2, 3], [4, 5, 6], [7, 8, 9]])], 'zero but for rounding'), // biome-ignore format: a matrix
  right('f32: sin at 1e6', (x) => sum(sin(x)), [f32([1e6, -3e5])], 'an ulp of the argument is 0.06'),
  right(
    'f32: a loop of sums',
    (x) => scan((c: X, r: X) => [add(mul(0.9, c), sin(r)), c], at(x, 0), x)[0 as never] as X,
    [f32(numbers(64, (i) => i / 7))],
    'a recurrence in f32',
  ),
  right('f32: exp of 20 and back', (x) => sum(log(add(exp(x), 1e8))), [f32([18, 20])], 'large intermediate numbers'),
]

const smallLoops: readonly RightFunction[] = [
  right(
    'a while loop that halves',
    (x) =>
      whileLoop(
        (c: X) => gt(c, 1),
        (c: X) => mul(c, 0.5),
        x,
        { maxSteps: 60 },
      )[0 as never] as X,
    [37.3],
    'the number of steps jumps elsewhere',
  ),
  right(
    'a while loop at its threshold',
    (x) =>
      whileLoop(
        (c: X) => gt(c, 1),
        (c: X) => mul(c, 0.5),
        x,
        { maxSteps: 60 },
      )[0 as never] as X,
    [32],
    'one more step on one side: a jump',
  ),
  right(
    'a scan of conds',
    (x) =>
      scan(
        (c: X, r: X) => [
          cond(
            gt(r, 0),
            (u: X) => mul(u, 1.1),
            (u: X) => sin(u),
            c,
          ),
          c,
        ],
        0.7,
        x,
      )[0 as never] as X,
    [[1, -1, 0.5, -2]],
    'branches at each step',
  ),
  right(
    'a map of branches at their edge',
    (x) => sum(map((u: X) => where(ge(u, 1), square(u), sub(mul(2, u), 1)), x)),
    [[1, 2, 0]],
    'one slope on both sides, two curvatures',
  ),
  right('a gradient step inside', (x) => { const g = applied(grad((y: X) => sum(mul(square(y), exp(y)))), x); return sum(square(sub(x, mul(0.1, g)))) }, [[0.5, -0.5]], 'a derivative of a derivative'), // biome-ignore format: short
]

const score = (k: X, theta: X): X => {
  const u = random.uniform(k, [])
  return where(lt(u, sigmoid(theta)), 3, -1)
}
/** The likelihood ratio's estimator of d E[b(k, theta)] / d theta. */
const reinforce = customRule((k: X, theta: X) => score(k, theta), {
  frule: ([k, theta]: readonly X[], [, dTheta]: readonly X[]) => {
    const y = score(k!, theta!)
    const p = sigmoid(theta!)
    return [y, mul(dTheta!, mul(y, sub(where(gt(y, 0), 1, 0), p)))]
  },
  estimates: true,
}) as unknown as (k: X, theta: X) => X
const stochastic: readonly RightFunction[] = [
  right('a normal number, reparametrised', (m, s) => mean(square(add(m, mul(s, random.normal(KEY, [5]))))), [0.5, 1.2], 'a fixed key'),
  right('gamma numbers', (a) => mean(random.gamma(KEY, a, { shape: [4] })), [2.5], 'rejection: at a fixed key the numbers jump'),
  right(
    'gamma numbers of many shapes',
    (a) => sum(mul(random.gamma(KEY, a), [1, -2, 0.5])),
    [[0.3, 1.5, 40]],
    'one below 1, one far above',
  ),
  right('a second moment of gamma numbers', (a) => mean(square(random.gamma(KEY, a, { shape: [3] }))), [3], 'a function of what is drawn'),
  right(
    'beta numbers',
    (a, b) => sum(square(random.beta(KEY, a, b))),
    [
      [0.7, 2],
      [3, 1.5],
    ],
    'two rejections in a ratio',
  ),
  right('dirichlet numbers', (a) => sum(mul(random.dirichlet(KEY, a), [1, 2, -3])), [[0.5, 2, 3]], 'three rejections that share a sum'),
  right("student's t numbers", (df) => sum(sin(random.studentT(KEY, df))), [[3, 8]], 'a rejection below a root'),
  right(
    'gamma numbers in a loop',
    (a) => fori(2, (i: X, c: X) => add(c, random.gamma(random.foldIn(KEY, i), a)), 0),
    [1.5],
    'a key for each step',
  ),
  right(
    'gamma numbers under vmap',
    (a) =>
      sum(
        applied(
          vmap((u: X) => random.gamma(KEY, u)),
          a,
        ),
      ),
    [[1.5, 4]],
    'a rule of its own, batched',
  ),
  right('gamma numbers with a key as an argument', (k, a) => random.gamma(k, a), [random.key(8), 0.8], 'a key is no float'),
  right(
    'truncated normal numbers',
    (b) => sum(random.truncatedNormal(KEY, -1, b, { shape: [3] })),
    [0.7],
    'between limits that move, which f32 rounds',
    { checks: { beside: false } },
  ),
  right(
    'a Gumbel softmax',
    (x) => sum(mul(softmax(div(add(x, random.gumbel(KEY, [3])), 0.5)), [1, 2, 3])),
    [[0.2, 0.5, -1]],
    'noise within',
  ),
  right('dropout', (x) => sum(square(random.dropout(x, 0.5, KEY))), [numbers(8, Math.cos)], 'a mask that stays'),
  right('a score function estimator', (k, theta) => reinforce(k, theta), [random.key(1), 0.3], 'right on average alone'),
  right(
    'a score function estimator within a loss',
    (k, theta) => mul(2, add(reinforce(k, theta), square(theta))),
    [random.key(2), -0.4],
    'an estimate plus a derivative',
  ),
  right(
    'a straight-through estimator with a key',
    (k, x) =>
      sum(
        applied(
          straightThrough((u: X) => op.round(u)),
          add(x, random.normal(k, [2])),
        ),
      ),
    [random.key(3), [0.3, 1.2]],
    'biased on purpose',
  ),
]

/** All of them. */
export const hardRightFunctions: readonly RightFunction[] = [...ties, ...conditioned, ...scaled, ...f32s, ...smallLoops, ...stochastic]
