// Mistakes in choices: ties, kinks, literals.
import { type Mutant, mistakes } from './mutant.js'

const elementwise = ['rules/arithmetic', 'rules/functions']
const compare = (op: string): string => `require('../core/ops/compare.js').${op}`

export const ties: readonly Mutant[] = [
  ...mistakes('ties', elementwise, [
    ['the tangent of a tie is the first', 'half(addTangents(da, db))', 'da', 'maximum minimum'],
    ['the tangent of a tie is the second', 'half(addTangents(da, db))', 'db', 'maximum minimum'],
    ['the tangent of a tie is the sum', 'half(addTangents(da, db))', 'addTangents(da, db)', 'maximum minimum'],
    ['both of a tie get all', 'choose(wins(q, p), ZeroTangent, half(yBar))', 'choose(wins(q, p), ZeroTangent, yBar)', 'maximum minimum'],
    ['none of a tie gets anything', 'choose(wins(q, p), ZeroTangent, half(yBar))', 'ZeroTangent', 'maximum minimum'],
    [
      'the second of a tie gets all',
      'active[0] ? share(yBar, a, b) : ZeroTangent',
      `active[0] ? thunk(() => choose(wins(a, b), yBar, ZeroTangent)) : ZeroTangent`,
      'maximum minimum',
    ],
    ['a tie of maximum is won by the first', 'extremum(op.maximum, gt)', `extremum(op.maximum, ${compare('ge')})`],
    ['a tie of minimum is won by the first', 'extremum(op.minimum, lt)', `extremum(op.minimum, ${compare('le')})`],
    ['half is a third', 'mul(t, 0.5)', 'mul(t, 1 / 3)', 'maximum minimum'],
    [
      'what is no tie is one',
      'wins(a, b), da, choose(wins(b, a), db, half(addTangents(da, db)))',
      'wins(a, b), da, half(addTangents(da, db))',
      'maximum minimum',
    ],
  ]),
  ...mistakes(
    'ties',
    ['rules/reduce', 'rules/scans'],
    [
      [
        'each of the best gets all',
        'const { keep, count } = shares(x, y, axes)\n        return',
        'const { keep } = shares(x, y, axes)\n        const count = onesLike(y)\n        return',
        'max min',
      ],
      [
        'the tangents of the best add up',
        'const { keep, count } = shares(x, y, axes)\n      return',
        'const { keep } = shares(x, y, axes)\n      const count = onesLike(y)\n      return',
        'max min',
      ],
      [
        'where it is NaN none shares',
        'max: extremeRule(op.maxPrimitive, (x, y) => lt(x, y))',
        `max: extremeRule(op.maxPrimitive, (x, y) => ${compare('ne')}(x, y))`,
      ],
      [
        'each minimum counts once',
        'count: total(keep(onesLike(x)), axes)',
        'count: fold(op.maxPrimitive, keep(onesLike(x)), axes)',
        'min max',
      ],
    ],
  ),
]

export const kinks: readonly Mutant[] = [
  ...mistakes('kinks', elementwise, [
    ['abs rises at 0', '[sign(x)]', `[where(${compare('ge')}(x, 0), 1, -1)]`],
    ['abs falls at 0', '[sign(x)]', '[where(gt(x, 0), 1, -1)]'],
    ['relu rises at 0', 'choose(gt(y, 0), yBar, ZeroTangent)', `choose(${compare('ge')}(y, 0), yBar, ZeroTangent)`],
    ['the tangent of relu rises at 0', 'choose(gt(y, 0), dx, ZeroTangent)', `choose(${compare('ge')}(y, 0), dx, ZeroTangent)`],
    ['hypot is NaN at 0', '[where(eq(y, 0), 0, div(a, y))', '[div(a, y)'],
    ['hypot is 1 at 0', '[where(eq(y, 0), 0, div(a, y))', '[where(eq(y, 0), 1, div(a, y))'],
    ['atan2 is NaN at the origin', '[where(eq(r, 0), 0, div(x, r))', '[div(x, r)'],
    ['atan2 has a guard for both squares', 'where(eq(r, 0), 0, div(x, r))', 'where(eq(y, 0), 0, div(x, r))'],
    ['xlogy is log 0 at 0', 'where(and(eq(x, 0), le(y, 0)), 0, op.log(y))', 'op.log(y)'],
    ['xlogy by x is 0 at 0', 'where(and(eq(x, 0), le(y, 0)), 0, op.log(y))', 'where(eq(x, 0), 0, op.log(y))'],
    ['xlogy has no limit below 0', 'and(eq(x, 0), le(y, 0))', 'and(eq(x, 0), eq(y, 0))'],
    ['xlogy by y is NaN at 0', 'strongMul(x, div(1, y))]', 'mul(x, div(1, y))]'],
    ['pow by its exponent is NaN at 0', ': where(eq(y, 0), 0, mul(y, op.log(a)))]', ': mul(y, op.log(a))]'],
    ['pow is NaN at exponent 0', '[strongMul(b, pow(a, sub(b, 1)))', '[mul(b, pow(a, sub(b, 1)))'],
    ['pow by its exponent is 0 where the base is', 'where(eq(y, 0), 0, mul(y, op.log(a)))', 'where(eq(a, 0), 0, mul(y, op.log(a)))'],
    ['copysign rises with a zero sign', 'copysign(1, b)), ZeroTangent]', 'sign(b)), ZeroTangent]'],
    ['logaddexp is NaN at equal infinities', 'return where(and(isnan(d), eq(a, b)), 0, d)', 'return d'],
    ['logaddexp takes every NaN for a tie', 'where(and(isnan(d), eq(a, b)), 0, d)', 'where(isnan(d), 0, d)'],
    ['sign is straight through', 'sign: nonDifferentiable(op.sign)', 'sign: scalarRule(op.sign, () => [1])'],
    ['round is straight through', 'round: nonDifferentiable(op.round)', 'round: scalarRule(op.round, () => [1])'],
    ['floor falls', 'floor: nonDifferentiable(op.floor)', 'floor: scalarRule(op.floor, () => [-1])'],
    ['ceil is straight through', 'ceil: nonDifferentiable(op.ceil)', 'ceil: scalarRule(op.ceil, () => [1])'],
    [
      'stopGradient goes on',
      'stopGradient: nonDifferentiable(op.stopGradient)',
      'stopGradient: scalarRule(op.stopGradient as never, () => [1] as never)',
    ],
    ['mod is a step by its first argument', '[1, literal(b) !== undefined', '[0, literal(b) !== undefined'],
  ]),
  ...mistakes(
    'kinks',
    ['core/ops/arithmetic', 'core/ops/exponentials', 'core/ops/trigonometric', 'core/ops/stopped'],
    [
      ['strongMul declares 0 twice', 'partials: [Number.POSITIVE_INFINITY, 0]', 'partials: [0, 0]', 'strongMul'],
      ['x^1 declares 0', "{ at: [0, 1], partials: [1, 0], why: 'x^1", "{ at: [0, 1], partials: [0, 0], why: 'x^1", 'pow'],
      ['0^0 declares 0', 'partials: [0, Number.NEGATIVE_INFINITY]', 'partials: [0, 0]', 'pow'],
      ['hypot declares 1', "partials: [0, 0], why: 'the least", "partials: [1, 0], why: 'the least", 'hypot'],
      [
        'logaddexp declares the first',
        "partials: [0.5, 0.5], why: 'ties share' }],\n",
        "partials: [1, 0], why: 'ties share' }],\n",
        'logaddexp',
      ],
      ['copysign declares 1', "partials: [0, 0], why: 'as abs at 0'", "partials: [1, 0], why: 'as abs at 0'", 'copysign'],
      ['stopGradient declares 1', "partials: [0], why: 'a constant", "partials: [1], why: 'a constant", 'stopGradient'],
    ],
  ),
  ...mistakes(
    'kinks',
    ['core/ops/unary', 'core/ops/exponentials', 'core/ops/trigonometric'],
    [
      ['abs declares 1', "partials: [0], why: 'the middle", "partials: [1], why: 'the middle", 'abs'],
      ['relu declares a half', "partials: [0], why: 'the value of most", "partials: [0.5], why: 'the value of most", 'relu'],
    ],
  ),
]

export const literals: readonly Mutant[] = [
  ...mistakes('literals', elementwise, [
    ['x / c is c', '[1 / c, ZeroTangent]', '[c, ZeroTangent]'],
    ['x / c is 1', '[1 / c, ZeroTangent]', '[1, ZeroTangent]'],
    ['x / c falls', '[1 / c, ZeroTangent]', '[-1 / c, ZeroTangent]'],
    ['x / 0 has a literal partial too', 'c !== undefined && c !== 0', 'c !== undefined'],
    ['x / c is taken for 1 / x', 'const c = literal(b)', 'const c = literal(b) ?? literal(y)'],
    ['x^0 is 1', 'n === 0 ? 0 : n === 1', 'n === 0 ? 1 : n === 1'],
    ['x^1 is n x^n', 'n === 1 ? 1 : mul(n, pow(a, n - 1))', 'mul(n, pow(a, n))'],
    ['x^n is x^(n - 1)', 'mul(n, pow(a, n - 1))', 'pow(a, n - 1)'],
    ['x^n is (n - 1) x^(n - 1)', 'mul(n, pow(a, n - 1))', 'mul(n - 1, pow(a, n - 1))'],
    ['x^n is n x^(n - 2)', 'mul(n, pow(a, n - 1))', 'mul(n, pow(a, n - 2))'],
    ['x^n is of |x|', 'mul(n, pow(a, n - 1))', 'mul(n, pow(op.abs(a), n - 1))'],
    ['a literal base is a literal exponent', 'const n = literal(b)', 'const n = literal(b) ?? literal(a)'],
    ['a literal base is 0', 'literal(a) === 0 ? ZeroTangent', 'literal(a) !== undefined ? ZeroTangent'],
    ['a literal exponent has a derivative', 'mul(n, pow(a, n - 1)), ZeroTangent]', 'mul(n, pow(a, n - 1)), mul(y, op.log(a))]'],
    [
      'a literal divisor of mod is that of all',
      '[1, literal(b) !== undefined ? ZeroTangent',
      '[literal(b) !== undefined ? 0 : 1, literal(b) !== undefined ? ZeroTangent',
    ],
  ]),
  ...mistakes('literals', 'rules/product', [
    ['every literal seed is 1', 'asNode(x).kind === CONST && asNode(x).payload === 1', 'asNode(x).kind === CONST', 'mul sin'],
    ['a seed -1 is 1', 'asNode(x).payload === 1', 'Math.abs(asNode(x).payload as number) === 1', 'mul sin'],
    ['a partial 0 is 1 at a seed 1', ': p === 0\n        ? ZeroTangent', ': p === 0\n        ? dx', 'div pow'],
    ['a partial 1 is doubled', 'p === 0 ? ZeroTangent : p === 1 ? dx :', 'p === 0 ? ZeroTangent : p === 1 ? add(dx, dx) :', 'add sub'],
    ['a partial 0 is 1', 'return p === 0 ? ZeroTangent', 'return p === 0 ? dx', 'pow'],
    ['a partial is the seed 1 itself', "? p._tag === 'Expr'\n        ? p\n", "? p._tag === 'Expr'\n        ? dx\n", 'sin mul'],
  ]),
]
