// Functions and rules whose derivative is wrong, each in one way, and what a finding must say of it. The checker must find every one.
import type { CheckName, GradientOptions } from '../../src/check/index.js'
import type { Rule } from '../../src/core/calculus/rule.js'
import type { AnyExpr } from '../../src/core/types/expr.js'
import { coreRegistry, ZeroTangent } from '../../src/index.js'
import { applied, f32, i32, numbers, op } from './operations.js'

/** An entry whose derivative is wrong: where it is, what it is in truth (or between what), and what was given. */
export interface WrongEntry {
  /** The argument. */
  readonly path: string
  /** The entry of the argument. */
  readonly index: number
  readonly derivative: number | readonly [low: number, high: number]
  readonly given: number
}

/** What the first finding must be: of one of these checks (none: any), at one of these entries (none: what is wrong is no entry). */
export interface Expected {
  readonly checks?: readonly CheckName[]
  /** The argument, where no entry can be said. */
  readonly path?: string
  readonly entries?: readonly WrongEntry[]
}

/** A wrong function at its arguments, under a rule where that is what is wrong; or a wrong rule alone, at its samples. */
export interface WrongFunction {
  readonly name: string
  readonly f?: (...xs: readonly AnyExpr[]) => unknown
  readonly args?: readonly unknown[]
  readonly rule?: Rule
  readonly options?: GradientOptions
  readonly expected: Expected
}

type X = AnyExpr
type F = (...xs: readonly X[]) => X
// biome-ignore format: a list of names
const {
  abs, add, arange, at, binary, bilinearRule, cast, clamp, cos, cumsum, customRule, div, eq, exp, floor, gather, ge, gt, jvp, linear, linearRule, log,
  logsumexp, lt, matmul, maximum, mean, mul, nonDifferentiable, pow, relu, scalarRule, setAt, sign, sin, softmax, sqrt, square, stopGradient, sub,
  sum, tanh, tensor, transpose, unary, where, zerosLike,
} = op
const ruleOf = op.rule as unknown as (primitive: unknown, facets: Record<string, unknown>) => Rule
const ruleBy = (make: unknown, ...given: readonly unknown[]): Rule => (make as (...given: readonly unknown[]) => Rule)(...given)
const primitiveOf = (o: unknown): unknown => (o as { readonly primitive: unknown }).primitive

const slopes: readonly CheckName[] = ['jvp', 'vjp', 'jacobian']
const sides: readonly CheckName[] = [...slopes, 'kink']
const modes: readonly CheckName[] = [...slopes, 'adjoint', 'modes']

const entry = (index: number, derivative: WrongEntry['derivative'], given: number, path = 'argument 0'): WrongEntry => ({
  path,
  index,
  derivative,
  given,
})
/** Every entry of the first argument. */
const each = (xs: readonly number[], derivative: (x: number) => number, given: (x: number) => number): readonly WrongEntry[] =>
  xs.map((x, i) => entry(i, derivative(x), given(x)))

const wrong = (
  name: string,
  f: NonNullable<WrongFunction['f']>,
  args: readonly unknown[],
  entries: readonly WrongEntry[] | undefined,
  checks: readonly CheckName[] = slopes,
  more: Pick<WrongFunction, 'rule' | 'options'> = {},
): WrongFunction => ({ name, f, args, expected: { checks, ...(entries && { entries }) }, ...more })
const wrongRule = (name: string, rule: Rule, checks: readonly CheckName[], entries?: readonly WrongEntry[]): WrongFunction => ({
  name,
  rule,
  expected: { checks, ...(entries ? { entries } : checks.includes('value') ? {} : { path: 'argument 0' }) },
})

/** f(x), entry by entry, with these derivatives in forward and in reverse mode. */
const by = (f: F, forward: F, reverse: F = forward): F =>
  customRule((x: X) => f(x), {
    frule: (x: X, dx: X) => [f(x), mul(dx, forward(x))],
    rrule: (x: X) => [f(x), (yBar: X) => mul(yBar, reverse(x))],
  }) as unknown as F
/** f(a, b), entry by entry, with these two partials. */
const by2 = (f: F, partials: (a: X, b: X) => readonly [X | number, X | number]): F =>
  customRule((a: X, b: X) => f(a, b), {
    frule: ([a, b]: readonly [X, X], [da, db]: readonly [X, X]) => {
      const [p, q] = partials(a, b)
      return [f(a, b), add(mul(da, p), mul(db, q))]
    },
    rrule: ([a, b]: readonly [X, X]) => {
      const [p, q] = partials(a, b)
      return [f(a, b), (yBar: X) => [mul(yBar, p), mul(yBar, q)]]
    },
  }) as unknown as F
/** f with the cotangents given, and its right tangents. */
const reverse = (f: F, rrule: (x: X) => (yBar: X) => unknown): F =>
  customRule((x: X) => f(x), {
    frule: (x: X, dx: X) =>
      applied(
        jvp((y: X) => f(y)),
        x,
        dx,
      ),
    rrule: (x: X) => [f(x), rrule(x)],
  }) as unknown as F
const total =
  (f: F): F =>
  (...xs) =>
    sum(f(...xs))

const three = [1, -2, 3.5]
const numbersWrong: readonly WrongFunction[] = [
  wrong(
    'a wrong sign',
    total(by(square, (x) => mul(-2, x))),
    [three],
    each(
      three,
      (x) => 2 * x,
      (x) => -2 * x,
    ),
  ),
  wrong(
    'a factor of 1.001',
    total(by(sin, (x) => mul(1.001, cos(x)))),
    [three],
    each(three, Math.cos, (x) => 1.001 * Math.cos(x)),
  ),
  wrong(
    'wrong by 1e-6',
    total(by(sin, (x) => mul(1 + 1e-6, cos(x)))),
    [three],
    each(three, Math.cos, (x) => (1 + 1e-6) * Math.cos(x)),
  ),
  wrong(
    'a missing term',
    total(
      by(
        (x) => mul(x, sin(x)),
        (x) => sin(x),
      ),
    ),
    [three],
    each(three, (x) => Math.sin(x) + x * Math.cos(x), Math.sin),
  ),
  wrong('wrong for negative x only', total(by(square, (x) => where(lt(x, 0), x, mul(2, x)))), [three], [entry(1, -4, -2)]),
  wrong('wrong for x > 3 only', total(by(square, (x) => where(gt(x, 3), mul(2.1, x), mul(2, x)))), [three], [entry(2, 7, 7.35)]),
  wrong(
    'tiny, with a wrong sign',
    total(
      by(
        (x) => mul(1e-10, sin(x)),
        (x) => mul(-1e-10, cos(x)),
      ),
    ),
    [three],
    each(
      three,
      (x) => 1e-10 * Math.cos(x),
      (x) => -1e-10 * Math.cos(x),
    ),
  ),
  wrong(
    'huge, wrong in the fifth digit',
    total(
      by(
        (x) => mul(1e12, sin(x)),
        (x) => mul(1.00002e12, cos(x)),
      ),
    ),
    [three],
    each(
      three,
      (x) => 1e12 * Math.cos(x),
      (x) => 1.00002e12 * Math.cos(x),
    ),
  ),
  wrong(
    'one entry of 300',
    total(by(square, (x) => mul(mul(2, x), where(eq(arange(300), 217), 1.01, 1)))),
    [numbers(300, (i) => 1 + i / 300)],
    [entry(217, 2 * (1 + 217 / 300), 2.02 * (1 + 217 / 300))],
  ),
  wrong(
    'one entry of 300, tiny beside the others',
    total(
      by(
        (x) => mul(square(x), where(eq(arange(300), 40), 1e-6, 1)),
        (x) => mul(mul(2, x), where(eq(arange(300), 40), 0, 1)),
      ),
    ),
    [numbers(300, (i) => 1 + i / 300)],
    [entry(40, 2e-6 * (1 + 40 / 300), 0)],
  ),
  wrong(
    'wrong in rank 3 only',
    total(tanh),
    [[[[0.5, 1]]]],
    each(
      [0.5, 1],
      (x) => 1 - Math.tanh(x) ** 2,
      (x) => 2 * (1 - Math.tanh(x) ** 2),
    ),
    slopes,
    {
      rule: ruleBy(scalarRule, tanh, ({ x: [x], y }: { x: readonly X[]; y: X }) => [mul(x!.shape.length === 3 ? 2 : 1, sub(1, square(y)))]),
    },
  ),
  wrong(
    'wrong in forward mode only',
    by(sin, (x) => mul(1.01, cos(x)), cos),
    [0.5],
    [entry(0, Math.cos(0.5), 1.01 * Math.cos(0.5))],
    modes,
  ),
  wrong(
    'wrong in reverse mode only',
    by(sin, cos, (x) => mul(1.01, cos(x))),
    [0.5],
    [entry(0, Math.cos(0.5), 1.01 * Math.cos(0.5))],
    modes,
  ),
  wrong(
    'wrong in f32 only',
    by(sin, (x) => mul(x.dtype === 'f32' ? 1.01 : 1, cos(x))),
    [f32(0.5)],
    [entry(0, Math.cos(0.5), 1.01 * Math.cos(0.5))],
    [...slopes, 'f32'],
  ),
  wrong(
    'f32: a wrong sign',
    total(by(sin, (x) => mul(-1, cos(x)))),
    [f32(three)],
    each(three, Math.cos, (x) => -Math.cos(x)),
    [...slopes, 'f32'],
  ),
  wrong(
    'f32: tiny, with a wrong sign',
    total(
      by(
        (x) => mul(1e-12, sin(x)),
        (x) => mul(-1e-12, cos(x)),
      ),
    ),
    [f32(three)],
    each(
      three,
      (x) => 1e-12 * Math.cos(x),
      (x) => -1e-12 * Math.cos(x),
    ),
    [...slopes, 'f32'],
  ),
  wrong(
    'wrong at a far scale',
    total(
      by(
        (x) => mul(x, log(x)),
        (x) => where(gt(x, 1e6), log(x), add(log(x), 1)),
      ),
    ),
    [[1, 1e12]],
    [entry(1, Math.log(1e12) + 1, Math.log(1e12))],
  ),
  wrong(
    'a small entry beside a huge one',
    (x) => add(mul(1e10, sin(at(x, 0))), by(square, (y) => mul(-2, y))(at(x, 1))),
    [[1, 3]],
    [entry(1, 6, -6)],
  ),
  wrong(
    'periods of 6e-4, wrong sign',
    by(
      (x) => sin(mul(1e4, x)),
      (x) => mul(-1e4, cos(mul(1e4, x))),
    ),
    [0.1],
    [entry(0, 1e4 * Math.cos(1e3), -1e4 * Math.cos(1e3))],
  ),
  wrong('behind 1e10, wrong sign', (x) => add(1e10, by(sin, (y) => mul(-1, cos(y)))(x)), [0.3], [entry(0, Math.cos(0.3), -Math.cos(0.3))]),
  wrong(
    'steep, a factor of 1.001',
    by(
      (x) => exp(mul(20, x)),
      (x) => mul(20.02, exp(mul(20, x))),
    ),
    [1],
    [entry(0, 20 * Math.exp(20), 20.02 * Math.exp(20))],
  ),
  wrong(
    'a slope where it is flat',
    by(tanh, (x) => where(gt(x, 10), 1e-3, sub(1, square(tanh(x))))),
    [20],
    [entry(0, 0, 1e-3)],
  ),
  wrong(
    'NaN where it is smooth',
    total(by(square, (x) => div(mul(2, square(x)), x))),
    [[0, 1]],
    [entry(0, 0, Number.NaN)],
    [...slopes, 'kink', 'non-finite'],
  ),
  wrong(
    'infinite where it is smooth',
    by(sin, (x) => div(cos(x), sub(x, 1))),
    [1],
    [entry(0, Math.cos(1), Number.POSITIVE_INFINITY)],
    [...slopes, 'kink', 'non-finite'],
  ),
]

const bothAtTies = by2(maximum, (a, b) => [cast(ge(a, b), 'f64'), cast(ge(b, a), 'f64')])
const edges: readonly WrongFunction[] = [
  wrong(
    'ties count twice',
    total((x) => bothAtTies(x, x)),
    [[1, -2]],
    [entry(0, 1, 2), entry(1, 1, 2)],
    sides,
  ),
  wrong('outside of both sides at a kink', total(by(abs, (x) => where(eq(x, 0), 5, sign(x)))), [[0, 1]], [entry(0, [-1, 1], 5)], sides),
  wrong('1e-3 from a kink', total(by(relu, (x) => cast(gt(x, -0.01), 'f64'))), [[-1e-3, 1]], [entry(0, 0, 1)], sides),
  wrong('1e-6 from a kink', total(by(abs, (x) => where(gt(x, 1e-5), 1, -1))), [[1e-6, 1]], [entry(0, 1, -1)], sides),
  wrong(
    'at a limit of clamp',
    total(
      by(
        (x) => clamp(x, 0, 1),
        (x) => where(ge(x, 1), 3, cast(gt(x, 0), 'f64')),
      ),
    ),
    [[1, 0.5]],
    [entry(0, [0, 1], 3)],
    sides,
  ),
  wrong(
    'at the end of a domain',
    total(
      by(
        (x) => pow(x, 1.5),
        (x) => where(gt(x, 0), mul(1.5, sqrt(x)), 1),
      ),
    ),
    [[0, 1]],
    [entry(0, 0, 1)],
    sides,
  ),
  wrong('near the end of a domain', total(by(sqrt, (x) => div(-0.5, sqrt(x)))), [[1e-6]], [entry(0, 500, -500)], sides),
  wrong('a step with a slope', total(by(floor, (x) => add(1, zerosLike(x)))), [[2.3, -0.4]], [entry(0, 0, 1), entry(1, 0, 1)], sides),
  wrong('a step with a slope, near its jump', total(by(floor, (x) => add(1, zerosLike(x)))), [[2 + 1e-4]], [entry(0, 0, 1)], sides),
]

const higher: readonly WrongFunction[] = [
  wrong(
    'right to first order, then cut',
    by(sin, (x) => stopGradient(cos(x))),
    [0.5],
    [entry(0, -Math.sin(0.5), 0)],
    ['second order'],
  ),
  wrong(
    'wrong by a term that vanishes at 0',
    by(sin, (x) => add(cos(x), x)),
    [0],
    undefined, // found beside it
    ['second order', ...slopes],
  ),
  wrong(
    'half of a second derivative',
    by(
      (x) => mul(x, square(x)),
      (x) => mul(3, mul(x, stopGradient(x))),
    ),
    [2],
    [entry(0, 12, 6)],
    ['second order'],
  ),
  wrong(
    'a Hessian that is not symmetric',
    by2(mul, (a, b) => [b, stopGradient(a)]),
    [2, 3],
    [entry(0, 1, 0), entry(0, 1, 0, 'argument 1')],
    ['second order'],
  ),
]

const pair = [2, 5]
const leaf = (p: X, name: string): X => (p as unknown as Readonly<Record<string, X>>)[name]!
const layer = (p: X): X => linear(leaf(p, 'x'), leaf(p, 'w'), leaf(p, 'b'))
const several: readonly WrongFunction[] = [
  wrong(
    'exchanged operands',
    by2(mul, (a, b) => [a, b]),
    [2, 5],
    [entry(0, 5, 2), entry(0, 2, 5, 'argument 1')],
  ),
  wrong(
    'the second cotangent forgotten',
    by2(mul, (_a, b) => [b, 0]),
    [2, 5],
    [entry(0, 2, 0, 'argument 1')],
  ),
  wrong('the third of three arguments', (a, b, c) => add(mul(a, b), by(square, (x) => x)(c)), [1, 2, 3], [entry(0, 6, 3, 'argument 2')]),
  wrong(
    'a leaf of a record',
    (p) => {
      const { w, b } = p as unknown as { readonly w: X; readonly b: X }
      return sum(add(square(w), by(sin, (x) => mul(-1, cos(x)))(b)))
    },
    [{ w: [1, 2], b: [0.5, 0] }],
    [entry(0, Math.cos(0.5), -Math.cos(0.5), 'argument 0.b'), entry(1, 1, -1, 'argument 0.b')],
  ),
  wrong(
    'the second result',
    customRule((x: X) => [sin(x), square(x)], {
      frule: (x: X, dx: X) => [
        [sin(x), square(x)],
        [mul(dx, cos(x)), mul(dx, x)],
      ],
      rrule: (x: X) => [[sin(x), square(x)], ([a, b]: readonly [X, X]) => add(mul(a, cos(x)), mul(b, x))],
    }) as unknown as F,
    [3],
    [entry(0, 6, 3)],
  ),
  wrong(
    'deep inside',
    (w, x) => mean(square(matmul(by(tanh, (y) => mul(1.05, sub(1, square(tanh(y)))))(matmul(x, w)), [[1], [-1]]))),
    [
      [
        [0.5, -0.2],
        [0.1, 0.3],
      ],
      [[1, 2]],
    ],
    undefined,
  ),
  wrong(
    'a transpose forgotten',
    (a, b) => sum(matmul(a, b)),
    [
      [
        [1, 2],
        [3, 4],
      ],
      [
        [5, 6],
        [7, 8],
      ],
    ],
    [entry(0, 11, 12), entry(1, 15, 14), entry(2, 11, 12), entry(3, 15, 14)],
    slopes,
    {
      rule: ruleOf(coreRegistry.rules.get('matmul')?.primitive, {
        rrule: ([a, b]: readonly X[], _p: unknown, { y }: { y: X }) => [y, (yBar: X) => [matmul(yBar, b), matmul(transpose(a), yBar)]],
      }),
    },
  ),
  wrong(
    'a mean for a sum',
    reverse(sum, (x) => (yBar) => mul(yBar, add(0.5, zerosLike(x)))),
    [pair],
    [entry(0, 1, 0.5), entry(1, 1, 0.5)],
    modes,
  ),
  wrong(
    'a mean for a sum, no frule',
    customRule((x: X) => sum(x), { rrule: (x: X) => [sum(x), (yBar: X) => mul(yBar, add(0.5, zerosLike(x)))] }) as unknown as F,
    [pair],
    [entry(0, 1, 0.5), entry(1, 1, 0.5)],
    modes,
  ),
  wrong(
    'a running sum the wrong way',
    (x) => sum(mul([1, 10, 100], reverse(cumsum, () => cumsum)(x))),
    [[1, 2, 3]],
    [entry(0, 111, 1), entry(1, 110, 11), entry(2, 100, 111)],
    modes,
  ),
  wrong(
    'repeated indices: set, not added',
    (x) =>
      sum(
        mul(
          [1, 10, 100],
          reverse(
            (y) => gather(y, i32([0, 0, 1])),
            (y) => (yBar) => setAt(zerosLike(y), i32([0, 0, 1]), yBar),
          )(x),
        ),
      ),
    [pair],
    [entry(0, 11, 10)],
    modes,
  ),
  wrong(
    'branches exchanged',
    total(
      reverse(
        (y) => where(gt(y, 3), mul(2, y), mul(7, y)),
        (y) => (yBar) => mul(yBar, where(gt(y, 3), 7, 2)),
      ),
    ),
    [pair],
    [entry(0, 7, 2), entry(1, 2, 7)],
    modes,
  ),
  wrong(
    'softmax without its second term',
    (x) => at(reverse(softmax, (y) => (yBar) => mul(yBar, softmax(y)))(x), 0),
    [[0, 0]],
    [entry(0, 0.25, 0.5), entry(1, -0.25, 0)],
    modes,
  ),
  wrong(
    'logsumexp not normalised',
    reverse(logsumexp, (y) => (yBar) => mul(yBar, exp(y))),
    [[0, 1]],
    [entry(0, 1 / (1 + Math.E), 1), entry(1, Math.E / (1 + Math.E), Math.E)],
    modes,
  ),
  wrong(
    'the bias of a layer',
    total(
      reverse(
        (p) => layer(p),
        (p) => (yBar) => ({
          x: matmul(yBar, transpose(leaf(p, 'w'))),
          w: matmul(transpose(leaf(p, 'x')), yBar),
          b: mean(yBar, { axis: 0 }),
        }),
      ),
    ),
    [
      {
        x: [
          [1, 2],
          [3, 4],
        ],
        w: [[1], [2]],
        b: [0.5],
      },
    ],
    [entry(0, 2, 1, 'argument 0.b')],
    modes,
  ),
]

const cube = unary({ name: 'cube', scalar: (x: number) => x ** 3, domain: [[-2, 2]], source: 'definition' })
const double = unary({ name: 'double', scalar: (x: number) => 2 * x, source: 'definition' })
const product = binary({ name: 'product', scalar: (a: number, b: number) => a * b, source: 'definition' })
const cubes: F = (x) => sum((cube as unknown as F)(x))
const products: F = (a, b) => (product as unknown as F)(a, b)
interface At {
  readonly x: readonly [X, X]
  readonly y: X
}
const partials = (o: unknown, p: (at: At) => readonly unknown[]): { readonly rule: Rule } => ({ rule: ruleBy(scalarRule, o, p) })
const slopeOfCube = ({ x: [x] }: Pick<At, 'x'>): X => mul(3, square(x))
/** A rule of cube in which the pullback is given. */
const pulled = (pullback: (yBar: X, x: X, y: X) => unknown, more: Record<string, unknown> = {}): Rule =>
  ruleOf(primitiveOf(cube), {
    frule: ([x]: readonly [X], [dx]: readonly [X], _p: unknown, { y }: At) => [y, dx._tag === 'Expr' ? mul(dx, mul(3, square(x))) : dx],
    rrule: ([x]: readonly [X], _p: unknown, { y }: At) => [y, (yBar: X) => pullback(yBar, x, y)],
    batch: ([x]: readonly [X]) => (cube as unknown as F)(x),
    ...more,
  })
/** The shipped product with this pullback. */
const timesBy = (pullback: (yBar: X, a: X, b: X, active: readonly boolean[]) => readonly unknown[]): Rule =>
  ruleOf(coreRegistry.rules.get('mul')?.primitive, {
    rrule: ([a, b]: readonly [X, X], _p: unknown, { y }: At) => [y, (yBar: X, active: readonly boolean[]) => pullback(yBar, a, b, active)],
  })
const goodBar = (yBar: X, x: X): X => mul(yBar, mul(3, square(x)))

const rules: readonly WrongFunction[] = [
  wrong(
    'scalarRule: a wrong sign',
    cubes,
    [[1, 2]],
    each(
      [1, 2],
      (x) => 3 * x * x,
      (x) => -3 * x * x,
    ),
    slopes,
    partials(cube, (p) => [mul(-1, slopeOfCube(p))]),
  ),
  wrong(
    'scalarRule: exchanged partials',
    products,
    [2, 5],
    [entry(0, 5, 2), entry(0, 2, 5, 'argument 1')],
    slopes,
    partials(product, ({ x }) => x),
  ),
  wrong(
    'scalarRule: the second partial 0',
    products,
    [2, 5],
    [entry(0, 2, 0, 'argument 1')],
    slopes,
    partials(product, ({ x: [, b] }) => [b, 0]),
  ),
  wrong(
    'nonDifferentiable, which is differentiable',
    cubes,
    [[1, 2]],
    each(
      [1, 2],
      (x) => 3 * x * x,
      () => 0,
    ),
    slopes,
    { rule: ruleBy(nonDifferentiable, cube) },
  ),
  wrong('linearRule: a factor in the transpose', (x) => sum((double as unknown as F)(x)), [pair], [entry(0, 2, 4), entry(1, 2, 4)], modes, {
    rule: ruleBy(linearRule, primitiveOf(double), {
      transpose: (yBar: X) => [mul(4, yBar)],
      batch: ([x]: readonly X[]) => (double as unknown as F)(x!),
    }),
  }),
  wrong('linearRule: what is not linear', cubes, [[1, 2]], undefined, [...slopes, 'linear', 'adjoint'], {
    rule: ruleBy(linearRule, primitiveOf(cube), {
      transpose: (yBar: X, [x]: readonly X[]) => [goodBar(yBar, x!)],
      batch: ([x]: readonly X[]) => (cube as unknown as F)(x!),
    }),
  }),
  wrong('bilinearRule: exchanged transposes', products, [2, 5], [entry(0, 5, 2), entry(0, 2, 5, 'argument 1')], modes, {
    rule: ruleBy(bilinearRule, primitiveOf(product), {
      transposeA: (yBar: X, a: X) => mul(yBar, a),
      transposeB: (yBar: X, _a: X, b: X) => mul(yBar, b),
      batch: ([a, b]: readonly X[]) => products(a!, b!),
    }),
  }),
  wrong('bilinearRule: the second forgotten', products, [2, 5], [entry(0, 2, 0, 'argument 1')], modes, {
    rule: ruleBy(bilinearRule, primitiveOf(product), {
      transposeA: (yBar: X, _a: X, b: X) => mul(yBar, b),
      transposeB: () => ZeroTangent,
      batch: ([a, b]: readonly X[]) => products(a!, b!),
    }),
  }),
  wrongRule(
    'rrule alone',
    pulled((yBar, x) => [mul(1.01, goodBar(yBar, x))]),
    [...modes, 'activity'],
  ),
  wrongRule(
    'frule alone',
    pulled((yBar, x) => [goodBar(yBar, x)], {
      frule: ([x]: readonly [X], [dx]: readonly [X], _p: unknown, { y }: At) => [
        y,
        dx._tag === 'Expr' ? mul(dx, mul(3.03, square(x))) : dx,
      ],
    }),
    modes,
  ),
  wrongRule(
    'batch alone',
    pulled((yBar, x) => [goodBar(yBar, x)], { batch: ([x]: readonly [X]) => (cube as unknown as F)(mul(1.5, x)) }),
    ['batch', 'commute'],
  ),
  wrongRule(
    'not linear in the cotangent',
    pulled((yBar, x) => [mul(yBar, goodBar(yBar, x))]),
    ['jacobian', 'linear', 'vjp', 'adjoint', 'seed'],
  ),
  wrongRule(
    'the cotangent ignored',
    pulled((_yBar, x) => [mul(3, square(x))]),
    ['jacobian', 'linear', 'vjp', 'adjoint', 'seed'],
  ),
  wrongRule(
    'activity changes a cotangent',
    timesBy((yBar, a, b, active) => [mul(yBar, active[1] ? b : mul(2, b)), mul(yBar, a)]),
    ['activity'],
  ),
  wrongRule(
    'a pullback that changes what it kept',
    (() => {
      const kept = { factor: 1 }
      return pulled((yBar, x) => [mul(kept.factor++, goodBar(yBar, x))])
    })(),
    [...modes, 'repeat', 'activity', 'mutation'],
  ),
  wrongRule(
    'another derivative at a declared kink',
    ruleBy(scalarRule, abs, ({ x: [x] }: At) => [sub(mul(2, cast(ge(x, 0), x.dtype)), 1)]),
    ['kink'],
    [entry(0, 0, 1, 'argument 0')],
  ),
  wrongRule(
    'another value',
    pulled((yBar, x) => [goodBar(yBar, x)], {
      rrule: ([x]: readonly [X], _p: unknown, { y }: At) => [mul(y, 1.001), (yBar: X) => [goodBar(yBar, x)]],
    }),
    ['value'],
  ),
  wrong(
    'another value of customRule',
    customRule((x: X) => sin(x), { frule: (x: X, dx: X) => [mul(1.001, sin(x)), mul(dx, cos(x))] }) as unknown as F,
    [0.5],
    [entry(0, Math.sin(0.5), 1.001 * Math.sin(0.5), '')],
    ['value'],
  ),
]

/** What the rule gives is no cotangent at all: the checker says so, it does not throw. */
const broken: readonly WrongFunction[] = [
  wrong('a rule that throws', cubes, [[1, 2]], undefined, [], {
    rule: pulled(() => {
      throw new Error('broken on purpose')
    }),
  }),
  wrong(
    'a customRule that throws',
    reverse(sin, () => {
      throw new Error('broken on purpose')
    }),
    [1],
    undefined,
    [],
  ),
  wrong('too few cotangents', mul, [2, 5], undefined, [], { rule: timesBy((yBar, _a, b) => [mul(yBar, b)]) }),
  wrong('too many cotangents', cubes, [[1, 2]], undefined, [], { rule: pulled((yBar, x) => [goodBar(yBar, x), goodBar(yBar, x)]) }),
  wrong('an undefined cotangent', cubes, [[1, 2]], undefined, [], { rule: pulled(() => [undefined]) }),
  wrong('no list of cotangents', cubes, [[1, 2]], undefined, [], { rule: pulled((yBar, x) => goodBar(yBar, x)) }),
  wrong('a tensor for an expression', cubes, [[1, 2]], undefined, [], { rule: pulled(() => [tensor([3, 12])]) }),
  wrong('a number for an expression', cubes, [1], undefined, [], { rule: pulled(() => [3]) }),
  wrong(
    'a cotangent of another shape',
    reverse(square, (x) => (yBar) => sum(mul(yBar, mul(2, x)))),
    [pair],
    undefined,
    [],
  ),
  wrong(
    'a cotangent of another dtype',
    reverse(square, (x) => (yBar) => cast(mul(yBar, mul(2, x)), 'f32')),
    [pair],
    undefined,
    [],
  ),
  wrong('a rule without its frule', cubes, [[1, 2]], undefined, [], {
    rule: ruleOf(primitiveOf(cube), { rrule: ([x]: readonly [X], _p: unknown, { y }: At) => [y, (yBar: X) => [goodBar(yBar, x)]] }),
  }),
  wrong('a rule without its rrule', cubes, [[1, 2]], undefined, [], {
    rule: ruleOf(primitiveOf(cube), {
      frule: ([x]: readonly [X], [dx]: readonly [X], _p: unknown, { y }: At) => [y, mul(dx, mul(3, square(x)))],
    }),
  }),
]

/** All of them. */
export const wrongFunctions: readonly WrongFunction[] = [...numbersWrong, ...edges, ...higher, ...several, ...rules, ...broken]
