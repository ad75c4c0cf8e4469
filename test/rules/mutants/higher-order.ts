// Mistakes that are right to first order: the derivative of the derivative is cut.
import { type Mutant, mistakes } from './mutant.js'

const elementwise = ['rules/arithmetic', 'rules/functions']
/** What has no derivative any more, in a file that does not import it. */
const cut = (x: string): string => `require('../core/ops/elementwise.js').stopGradient(${x})`

export const higherOrder: readonly Mutant[] = [
  ...mistakes('higher order', elementwise, [
    ['exp is cut', 'exp: scalarRule(op.exp, ({ y }) => [y])', 'exp: scalarRule(op.exp, ({ y }) => [op.stopGradient(y)])'],
    ['sin is cut', '[cos(x)]', '[op.stopGradient(cos(x))]'],
    ['square is cut', '[mul(x, 2)]', '[op.stopGradient(mul(x, 2))]'],
    ['one partial of mul is cut', 'op.mul, ({ x: [a, b] }) => [b, a]', 'op.mul, ({ x: [a, b] }) => [b, op.stopGradient(a)]'],
    [
      'both partials of mul are cut',
      'op.mul, ({ x: [a, b] }) => [b, a]',
      'op.mul, ({ x: [a, b] }) => [op.stopGradient(b), op.stopGradient(a)]',
    ],
    ['div by its divisor is cut', '[div(1, b), neg(div(y, b))]', '[div(1, b), neg(op.stopGradient(div(y, b)))]'],
    ['div by a divisor in its divisor is cut', '[div(1, b), neg(div(y, b))]', '[div(1, b), neg(div(y, op.stopGradient(b)))]'],
    ['pow is cut in its exponent', '[strongMul(b, pow(a, sub(b, 1)))', '[strongMul(op.stopGradient(b), pow(a, sub(b, 1)))'],
    ['pow by a literal is cut', 'mul(n, pow(a, n - 1))', 'mul(n, op.stopGradient(pow(a, n - 1)))'],
    ['1 - x^2 is cut', 'return strongMul(sub(1, size), add(1, size))', 'return op.stopGradient(strongMul(sub(1, size), add(1, size)))'],
    [
      'the size in 1 - x^2 is cut',
      'return strongMul(sub(1, size), add(1, size))',
      'return strongMul(sub(1, size), add(1, op.stopGradient(size)))',
    ],
    ['atan2 is cut in its radius', 'const r = add(square(x), square(y))', 'const r = op.stopGradient(add(square(x), square(y)))'],
    ['hypot is cut in its length', '0, div(b, y))]', '0, div(b, op.stopGradient(y)))]'],
    [
      'polygamma is cut',
      '[reapply(polygammaPrimitive, [x], { n: params.n + 1 })]',
      '[op.stopGradient(reapply(polygammaPrimitive, [x], { n: params.n + 1 }))]',
    ],
    ['the difference in logaddexp is cut', 'const d = sub(a, b)', 'const d = op.stopGradient(sub(a, b))'],
    ['strongMul is cut in a factor', 'strongBoth(config, yBar, b, GUARDED))', 'strongBoth(config, yBar, op.stopGradient(b), GUARDED))'],
    ['the cotangent of cast is cut', 'op.cast(yBar, x.dtype)', 'op.stopGradient(op.cast(yBar, x.dtype))'],
    ['the cotangent of relu is cut', 'choose(gt(y, 0), yBar, ZeroTangent)', 'choose(gt(y, 0), op.stopGradient(yBar), ZeroTangent)'],
  ]),
  ...mistakes('higher order', 'rules/contract', [
    ['matmul is cut in b', '[yBar, t(b)], [yBar, b], a)', `[yBar, ${cut('t(b)')}], [yBar, b], a)`, 'matmul'],
    ['matmul is cut in its cotangent', '[t(a), yBar], [a, yBar], b)', `[t(a), ${cut('yBar')}], [a, yBar], b)`, 'matmul'],
    [
      'a cotangent that is added is cut',
      '(acc) => productAdd(acc, ...factors())',
      `(acc) => productAdd(acc, factors()[0], ${cut('factors()[1]')})`,
      'matmul',
    ],
    ['an accumulator is cut', '(acc) => productAdd(acc, ...factors())', `(acc) => productAdd(${cut('acc')}, ...factors())`, 'matmul'],
  ]),
  ...mistakes(
    'higher order',
    ['rules/reduce', 'rules/scans'],
    [
      [
        'prod is cut in its cotangent',
        'config.product(expandReduced(yBar, x, axes), ',
        `config.product(${cut('expandReduced(yBar, x, axes)')}, `,
        'prod',
      ],
      [
        'prod is cut in the others',
        'config.product(expandReduced(yBar, x, axes), productOfOthers(x, axes))',
        `config.product(expandReduced(yBar, x, axes), ${cut('productOfOthers(x, axes)')})`,
        'prod',
      ],
      [
        'the tangent of prod is cut in the others',
        'config.product(dx, productOfOthers(x, axes))',
        `config.product(dx, ${cut('productOfOthers(x, axes)')})`,
        'prod',
      ],
      [
        'what is before an element is cut',
        'mul(cumprod(y, { axis, exclusive: true })',
        `mul(${cut('cumprod(y, { axis, exclusive: true })')}`,
        'prod',
      ],
      [
        'an extremum is cut in its cotangent',
        'keep(expandReduced(div(yBar, count), x, axes))',
        `keep(expandReduced(div(${cut('yBar')}, count), x, axes))`,
        'max min',
      ],
      [
        'a repeated result is cut',
        '  broadcastTo(\n    reshape(\n      y,',
        `  broadcastTo(\n    reshape(\n      ${cut('y')},`,
        'sum max min prod',
      ],
    ],
  ),
  ...mistakes('higher order', 'rules/scans', [
    [
      'cumprod is cut in what is before',
      'product(sums, cumprodOf(x, { ...p, exclusive: true }))',
      `product(sums, ${cut('cumprodOf(x, { ...p, exclusive: true })')})`,
    ],
    ['cumprod is cut in its factors', 'reverse) : x, yBar, p, config)', `reverse) : ${cut('x')}, yBar, p, config)`],
    ['an exclusive cumprod is cut in its result', 'axis, !reverse), y)', `axis, !reverse), ${cut('y')})`],
    [
      'a recurrence is cut in its result',
      'bBar.force() as AnyExpr, shift(y, axis, reverse))',
      `bBar.force(), ${cut('shift(y, axis, reverse)')})`,
    ],
    [
      'a recurrence is cut in its factors',
      'factorsOf(a, yBar, { axis, reverse }, config)',
      `factorsOf(${cut('a')}, yBar, { axis, reverse }, config)`,
    ],
    ['the cotangent of sort is cut', 'const given = yBar!', `const given = ${cut('yBar')}`],
    ['the cotangent of cumsum is cut', 'reapply(op.cumsumPrimitive, [yBar], ', `reapply(op.cumsumPrimitive, [${cut('yBar')}], `],
  ]),
  ...mistakes('higher order', 'rules/nn', [
    [
      'conv is cut in its kernel',
      'reapply(convInputPrimitive, [yBar, k], sized(p, x))',
      `reapply(convInputPrimitive, [yBar, ${cut('k')}], sized(p, x))`,
      'conv',
    ],
    [
      'conv is cut in its image',
      'reapply(convKernelPrimitive, [x, yBar], sized(p, k))',
      `reapply(convKernelPrimitive, [${cut('x')}, yBar], sized(p, k))`,
      'conv',
    ],
    [
      'convInput is cut in its kernel',
      'reapply(convPrimitive, [xBar, k], bare(p))',
      `reapply(convPrimitive, [xBar, ${cut('k')}], bare(p))`,
      'convInput',
    ],
    ['maxPool is cut in its cotangent', 'reapply(unpoolPrimitive, [yBar, ys[1]!], ', `reapply(unpoolPrimitive, [${cut('yBar')}, ys[1]], `],
    ['avgPool is cut in its cotangent', 'reapply(avgPoolInputPrimitive, [yBar], ', `reapply(avgPoolInputPrimitive, [${cut('yBar')}], `],
    [
      'a term that is added is cut',
      'reapply(convKernelAddPrimitive, [acc, x, yBar], sized(p, k))',
      `reapply(convKernelAddPrimitive, [acc, ${cut('x')}, yBar], sized(p, k))`,
      'conv',
    ],
  ]),
  ...mistakes(
    'higher order',
    ['rules/indexing', 'rules/positions'],
    [
      ['gather is cut in its cotangent', 'scatterAdd(acc, indices, yBar, p)', `scatterAdd(acc, indices, ${cut('yBar')}, p)`],
      [
        'a slice at indices is cut in what it is added into',
        'reapply(dynamicSliceAddPrimitive, [acc, starts, yBar], p)',
        `reapply(dynamicSliceAddPrimitive, [${cut('acc')}, starts, yBar], p)`,
      ],
      ['values that were set are cut', 'const read = gather(yBar, indices, p)', `const read = gather(${cut('yBar')}, indices, p)`],
    ],
  ),
  ...mistakes('higher order', 'rules/layout', [
    [
      'a part is cut in its cotangent',
      'asExpr(sliceAddNode(asNode(acc), asNode(yBar), p)),\n    blockOf',
      `asExpr(sliceAddNode(asNode(acc), asNode(${cut('yBar')}), p)),\n    blockOf`,
      'slice',
    ],
    ['a block is cut', 'blockOf(p, () => yBar)', `blockOf(p, () => ${cut('yBar')})`, 'slice'],
    ['transpose is cut', 'transpose(yBar, inverse(perm))', `transpose(${cut('yBar')}, inverse(perm))`],
    ['the fill of pad is cut', 'sum(where(isPadding(dims(x), p), yBar, 0))', `sum(where(isPadding(dims(x), p), ${cut('yBar')}, 0))`],
  ]),
  ...mistakes('higher order', 'rules/product', [
    ['partials are cut', "p._tag === 'Expr' ? config.product(dx, p)", `p._tag === 'Expr' ? config.product(dx, ${cut('p')})`, 'sin mul'],
    ['cotangents are cut', "p._tag === 'Expr' ? config.product(dx, p)", `p._tag === 'Expr' ? config.product(${cut('dx')}, p)`, 'sin mul'],
    [
      'a strong product is cut where its factor is hard',
      'strongMul(where(and(eq(factor, 0), not(isfinite(dx))), 0, dx), factor)',
      `strongMul(${cut('where(and(eq(factor, 0), not(isfinite(dx))), 0, dx)')}, factor)`,
      'strongMul',
    ],
    [
      'a tangent that is not finite is taken for 0 where the factor is 0',
      'and(eq(factor, 0), not(isfinite(dx)))',
      'eq(factor, 0)',
      'strongMul xlogy',
    ],
  ]),
  ...mistakes('higher order', 'rules/map', [
    ['a map is cut in its partials', 'const [p, h] = [all[k]!, hardness[k]!]', `const [p, h] = [${cut('all[k]')}, hardness[k]]`],
    ['a map is cut in its cotangent', 'config.product(yBar, p)', `config.product(${cut('yBar')}, p)`],
  ]),
]
