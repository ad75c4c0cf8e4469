// Mistakes in zeros that stay zero, and in dtypes.
import { type Mutant, mistakes } from './mutant.js'

const elementwise = ['rules/arithmetic', 'rules/functions']
const inF32 = (x: string): string =>
  `require('../core/graph/cast.js').castNode(require('../core/graph/cast.js').castNode(${x}, 'f32'), ${x}.dtype)`

export const zeros: readonly Mutant[] = [
  ...mistakes('strong zeros', 'core/calculus/hard-zeros', [
    ['no program is singular', '  return known\n}\n\n/** What one walk', '  return false\n}\n\n/** What one walk', 'map'],
    ['a zero of a where holds against singular functions alone', 'if (h === GUARDED) return strongMul(dx, partial)', '', 'where'],
    [
      'a filled zero does not hold',
      'return this.maybeSingular(p) ? this.outside(dx, partial) : mul(dx, partial)',
      'return mul(dx, partial)',
      'sqrt log',
    ],
    ['no zero holds', 'if (h === SOFT || Number.isFinite(literalOf(p))) return mul', 'if (h !== undefined) return mul', 'sqrt where'],
    ['every literal is finite', 'Number.isFinite(literalOf(p))', 'literalOf(p) !== undefined', 'div'],
    ['what is taken to the other factor keeps its sign', 'mul(negated ? neg(q) : q, partial)', 'mul(q, partial)', 'reciprocal cos'],
    [
      'what is taken to the other factor is lost',
      'strongMul(s, mul(negated ? neg(q) : q, partial))',
      'strongMul(s, partial)',
      'reciprocal sqrt',
    ],
    ['nothing is taken to the other factor', 'if (d.id < this.from || (d.prim', 'if (d.id >= 0 || (d.prim', 'sqrt'],
    [
      'what is taken to the other factor is taken twice',
      'strongMul(s, mul(negated ? neg(q) : q, partial))',
      'strongMul(dx, mul(negated ? neg(q) : q, partial))',
      'reciprocal sqrt',
    ],
    ['a sum is a hard zero where one term is', 'a === SOFT || b === SOFT ? SOFT : max(a, b)', 'max(a, b)', 'add sub'],
    ['a sum has no hard zeros', 'a === SOFT || b === SOFT ? SOFT : max(a, b)', 'SOFT', 'add sub'],
    [
      'a product is a hard zero where its second factor is',
      'if (zeros !== undefined) return of(n.args[zeros]!)',
      'if (zeros !== undefined) return of(n.args[1 - zeros]!)',
      'mul',
    ],
    [
      'an accumulator forgets the part that is added',
      'acc === SOFT ? SOFT : max(acc, of(n.args[n.args.length - 1]!))',
      'acc',
      'slice gather',
    ],
    ['sums of nothing are soft', '? max(FILLED, h) : h', '? h : h', 'maxPool unpool cumsum convInput'],
    [
      'a recurrence passes on those of its factors',
      'if (zeros !== undefined) return of',
      'if (zeros !== undefined) return zeros === 1 ? of(n.args[0]!) : of',
      'linearRecurrence',
    ],
    ['a sum of one given number is a zero that was given', 'n.aval.size === 1 && any(n, of) !== GUARDED ? SOFT :', '', 'sum'],
    ['what is known is forgotten', 'this.hard.set(asNode(t), h)\n', '', 'where'],
    ['zeros of a literal are soft', 'n.payload === 0 ? FILLED : SOFT', 'SOFT', 'where pad'],
    [
      'only functions of numbers hand on what is singular',
      'n.kind !== APPLY ? 0 : isSingular(n) ? 1 : -1',
      "n.kind !== APPLY ? 0 : isSingular(n) ? 1 : n.prim!.class === 'elementwise' ? -1 : 0",
      'sqrt gather',
    ],
    ['what says nothing is finite', 'p.unbounded !== false &&', 'p.unbounded === true &&', 'sqrt log'],
    ['maps hide what is singular', 'return inside.some(hasSingular)', 'return false', 'map'],
    ['one singular argument is not enough', 'n.args.some((a) => of(a) === 1)', 'n.args.every((a) => of(a) === 1)', 'sqrt log rsqrt'],
  ]),
  ...mistakes(
    'strong zeros',
    ['core/ops/arithmetic', 'core/ops/exponentials', 'core/ops/trigonometric'],
    [
      ['div is not singular', "name: 'div',", "name: 'div',\n  unbounded: false,", 'sqrt log xlogy'],
      ['pow is not singular', "name: 'pow',", "name: 'pow',\n  unbounded: false,", 'pow'],
    ],
  ),
  ...mistakes(
    'strong zeros',
    ['core/ops/unary', 'core/ops/exponentials', 'core/ops/trigonometric'],
    [
      ['reciprocal is not singular', "name: 'reciprocal',", "name: 'reciprocal',\n  unbounded: false,", 'atan atanh'],
      ['rsqrt is not singular', "name: 'rsqrt',", "name: 'rsqrt',\n  unbounded: false,", 'asin acos acosh'],
      ['log is not singular', "name: 'log',", "name: 'log',\n  unbounded: false,", 'xlogy pow'],
      ['exp is not singular', "name: 'exp',", "name: 'exp',\n  unbounded: false,", 'exp erf'],
      ['expm1 is not singular', "name: 'expm1',", "name: 'expm1',\n  unbounded: false,", 'expm1'],
    ],
  ),
  ...mistakes(
    'strong zeros',
    ['core/ops/exponentials', 'core/ops/trigonometric'],
    [
      ['cosh is not singular', "name: 'cosh',", "name: 'cosh',\n  unbounded: false,", 'sinh'],
      ['tan is not singular', "name: 'tan',", "name: 'tan',\n  unbounded: false,", 'tan'],
    ],
  ),
  ...mistakes('strong zeros', 'core/ops/polygamma', [
    ['polygamma is not singular', "name: 'polygamma',", "name: 'polygamma',\n  unbounded: false,", 'lgamma polygamma'],
  ]),
  ...mistakes('zeros of arrays', 'modes/held', [
    ['zeros of stacks do not hold', 'if (grades.length === 0 ||', 'if (grades.length >= 0 ||', 'solve cholesky'],
    [
      'a stack is one array',
      'const stack = prim.stacked === undefined ? 0 :',
      'const stack = prim.stacked !== undefined ? 0 :',
      'solve cholesky',
    ],
    ['infinite ones stay where nothing moves', 'finiteUnless(not(wide), t)', 'finiteUnless(wide, t)', 'solve cholesky'],
  ]),
  ...mistakes('zeros of arrays', 'rules/product', [
    [
      'factors stay infinite beside zeros',
      'if (config.hardness(yBar) !== GUARDED || asNode(yBar).aval.size === 0) return factors',
      'if (config.hardness(yBar) >= 0) return factors',
      'matmul conv',
    ],
  ]),
  ...mistakes('zeros of arrays', 'rules/contract', [
    ['rows are columns', '[left ? rank - 1 : rank - 2], true', '[left ? rank - 2 : rank - 1], true', 'matmul'],
  ]),
  ...mistakes('zeros of arrays', 'rules/conv-reach', [
    [
      'no window is met',
      'return toChannels(through(convInputPrimitive, flags, shapes.k, p, shapes.x.slice(2)), shapes.x[1])',
      'return reshape(channels, [1, 1, 1, -1] as never)',
      'conv',
    ],
  ]),
  ...mistakes('zeros of arrays', 'rules/held', [
    ['what was taken out has a derivative', 'where(or(flags, isfinite(x)), t, 0)', 't', 'solve'],
    ['an infinite slope stays', 'finiteUnless(flags, where(', '((_f: unknown, t: AnyExpr) => t)(flags, where(', 'matmul'],
  ]),
  ...mistakes('zeros of arrays', 'rules/scans', [
    [
      'earlier factors are met',
      '{ axis, reverse: !reverse })\n    return eq(later, 1)',
      '{ axis, reverse })\n    return eq(later, 1)',
      'cumprod linearRecurrence',
    ],
  ]),
  ...mistakes('zeros of arrays', 'rules/control-batch', [
    ['examples that have ended take part as they are', 'wide[i] && flags !== undefined ? ofTaken(flags, x) : x', 'x', 'scan switchCase'],
  ]),
  ...mistakes('strong zeros', 'modes/transform', [
    ['given zeros are soft', '?? 0) === 0 ? FILLED : SOFT', '?? 1) === 0 ? FILLED : SOFT'],
    ['what an inner walk knows is not told', 'if (outer !== undefined) for', 'if (outer !== undefined && ts.length < 0) for'],
    ['outside of a walk products are weak', 'product: strongMul,', "product: require('../core/ops/elementwise.js').mul,"],
    ['what stands in knows no zeros', 'zeros.mark(asExpr(input(of)), zeros.of(dx))', 'asExpr(input(of))'],
    ['seeds of a walk are not marked', 'for (const yBar of seeds) if (isExpr(yBar)) zeros.mark(yBar, hardness(yBar))\n', ''],
    ['tangents of a walk are not marked', 'for (const dx of seeds.values()) zeros.mark(asExpr(dx), hardness(asExpr(dx)))\n', ''],
  ]),
  ...mistakes('strong zeros', elementwise, [
    ['what a where leaves out is soft', 'isExpr(t) ? config.hardened(t, GUARDED) : t', 't', 'where'],
    ['a tangent of one side of where is soft', 'isExpr(da) && isExpr(db) ? dy : guarded(config, dy)', 'dy'],
    ['a mask is multiplied', 'where(c, a, zeroLike(a))) : isExpr(b)', 'mul(a, op.cast(c, a.dtype))) : isExpr(b)', 'where relu maximum'],
    ['a mask is multiplied on the other side', '? where(c, zeroLike(b), b)', '? mul(b, op.cast(where(c, 0, 1), b.dtype))', 'where'],
    [
      '1 - x^2 is a weak product',
      'return strongMul(sub(1, size), add(1, size))',
      'return mul(sub(1, size), add(1, size))',
      'asin acos atanh',
    ],
    [
      '1 - x^2 has its factors exchanged',
      'return strongMul(sub(1, size), add(1, size))',
      'return strongMul(add(1, size), sub(1, size))',
      'asin acos atanh',
    ],
    [
      'the size in 1 - x^2 is negative',
      'const size = where(lt(x, 0), neg(x), x)',
      'const size = where(lt(x, 0), x, neg(x))',
      'asin acos atanh',
    ],
    ['1 - x^2 cancels', 'return strongMul(sub(1, size), add(1, size))', 'return sub(1, square(x))', 'asin acos atanh'],
    ['acosh is a weak product', 'strongMul(sub(x, 1), add(x, 1))', 'mul(sub(x, 1), add(x, 1))'],
    ['strongMul is differentiated as mul', 'strongBoth(config, yBar, b, GUARDED))', 'mul(yBar, b))'],
    ['the tangent of strongMul is that of mul', 'isExpr(da) ? strongBoth(config, da, b, GUARDED)', 'isExpr(da) ? mul(da, b)'],
  ]),
  ...mistakes('strong zeros', 'rules/product', [
    ['a hard factor is the only one', 'config.hardness(dx) === SOFT ?', 'config.hardness(dx) >= SOFT ?', 'strongMul map'],
    [
      'a hard (co)tangent is the only one',
      'strongMul(where(and(eq(factor, 0), not(isfinite(dx))), 0, dx), factor)',
      'strongMul(dx, factor)',
      'strongMul map',
    ],
    ['a strong product is soft', '  config.hardened(\n', '  ((t: AnyExpr, _h: Hardness) => t)(\n', 'strongMul'],
    [
      'a product is weak',
      "p._tag === 'Expr' ? config.product(dx, p)",
      "p._tag === 'Expr' ? require('../core/ops/elementwise.js').mul(dx, p)",
      'sqrt log',
    ],
  ]),
  ...mistakes(
    'strong zeros',
    ['rules/reduce', 'rules/scans'],
    [
      [
        'the others of prod are y / x',
        'productOfOthers(x, axes)), axes) : ZeroTangent',
        'div(expandReduced(y, x, axes), x)), axes) : ZeroTangent',
        'prod',
      ],
      [
        'the others of prod are y / x in reverse',
        'config.product(expandReduced(yBar, x, axes), productOfOthers(x, axes))',
        'config.product(expandReduced(yBar, x, axes), div(expandReduced(y, x, axes), x))',
        'prod',
      ],
      ['losers get 0 times their cotangent', 'where(loses, 0, t)', 'mul(where(loses, 0, 1), t)', 'max min'],
      [
        'prod is a weak product',
        'config.product(expandReduced(yBar, x, axes), productOfOthers(x, axes))',
        'mul(expandReduced(yBar, x, axes), productOfOthers(x, axes))',
        'prod',
      ],
    ],
  ),
  ...mistakes('strong zeros', 'rules/map', [
    ['partials of a map have no hard zeros', 'hardness.push(config.hardness(dy))', 'hardness.push(SOFT)'],
    ['a hard partial of a map is the only one', 'strongBoth(config, yBar, p, h > own ? h : own)', 'config.product(yBar, p)'],
    ['a product in a map is weak', 'config.product(yBar, p)', "require('../core/ops/elementwise.js').mul(yBar, p)"],
  ]),
  ...mistakes('strong zeros', 'rules/scans', [
    ['a product in cumprod is weak', 'config.product(sums, cumprodOf', "require('../core/ops/elementwise.js').mul(sums, cumprodOf"],
    [
      'a product in a recurrence is weak',
      'config.product(bBar.force() as AnyExpr',
      "require('../core/ops/elementwise.js').mul(bBar.force() as AnyExpr",
    ],
  ]),
  ...mistakes('strong zeros', 'rules/define', [
    [
      'a zero seed is given to the pullback',
      "yBar!._tag === 'Expr' ? (pullback(yBar!, active) as unknown as readonly Tangent[]) : xs.map(() => yBar!)",
      'pullback(yBar as AnyExpr, active) as unknown as readonly Tangent[]',
      'relu cumprod prod',
    ],
  ]),
  ...mistakes('strong zeros', 'rules/forms', [
    [
      'a zero seed is pulled',
      "yBars.some((y) => y._tag === 'Expr') ? cotangents(xs, params, context, yBars, active) : nothing(primitive, xs, yBars)",
      'cotangents(xs, params, context, yBars, active)',
      'sin sum split',
    ],
    [
      'a tangent that is zero is made of zeros',
      "live.some((d) => d._tag === 'Expr') ? tangents(xs, live, params, context) : ys.map(still)",
      'tangents(xs, live, params, context)',
      'reshape sum gather',
    ],
    [
      'partials are multiplied weakly',
      'const term = scaled(dx, p, config)',
      "const term = scaled(dx, p, { product: require('../core/ops/elementwise.js').mul })",
      'sqrt log',
    ],
  ]),
]

export const dtypes: readonly Mutant[] = [
  ...mistakes('dtypes', elementwise, [
    ['sin is in f32', '[cos(x)]', '[op.cast(cos(op.cast(x, "f32")), x.dtype)]'],
    ['mul is in f32', 'op.mul, ({ x: [a, b] }) => [b, a]', 'op.mul, ({ x: [a, b] }) => [op.cast(op.cast(b, "f32"), b.dtype), a]'],
    [
      'exp is in f32',
      'exp: scalarRule(op.exp, ({ y }) => [y])',
      'exp: scalarRule(op.exp, ({ y }) => [op.cast(op.cast(y, "f32"), y.dtype)])',
    ],
    [
      'the cotangent of where is in f32',
      'guarded(config, choose(c, yBar, ZeroTangent))',
      'guarded(config, choose(c, op.cast(op.cast(yBar, "f32"), yBar.dtype), ZeroTangent))',
    ],
    ['the cotangent of cast has its own dtype', 'op.cast(yBar, x.dtype)', 'yBar'],
    ['the tangent of cast has that of x', 'reapply(castPrimitive, [dx], params)', 'dx'],
    [
      'the tangent of a cast from integers is one',
      'isFloat(params.dtype) ? ZeroTangent : NoTangent,',
      'isFloat(params.dtype) ? ZeroTangent : ZeroTangent,',
    ],
    ['a cast to integers is pulled back', "dx._tag === 'Expr' && isFloat(params.dtype) ?", "dx._tag === 'Expr' ?"],
    ['zeros beside a choice are f64', '=> asExpr(constant(0, x.dtype))', "=> asExpr(constant(0, 'f64'))", 'where relu maximum'],
  ]),
  ...mistakes('dtypes', 'rules/forms', [
    ['zeros are f64', 'asExpr(constant(0, x.dtype)), dims(x))', "asExpr(constant(0, 'f64')), dims(x))", 'gather concat sort'],
    ['zeros are ones', 'asExpr(constant(0, x.dtype)), dims(x))', 'asExpr(constant(1, x.dtype)), dims(x))', 'gather concat sort'],
    ['indices of a tangent are zeros', "kindOf(primitive, i) === 'int' ? x : zerosLike(x)", 'zerosLike(x)', 'gather'],
    ['arguments without a tangent stay', "kindOf(primitive, i) === 'int' ? x : zerosLike(x)", 'x', 'concat sliceAdd'],
    [
      'a constant has no tangent space',
      'tangents: (_xs, _dxs, _params, { ys }) => ys.map(still)',
      'tangents: (_xs, _dxs, _params, { ys }) => ys.map(() => NoTangent)',
      'floor',
    ],
    [
      'every constant has a tangent space',
      'tangents: (_xs, _dxs, _params, { ys }) => ys.map(still)',
      'tangents: (_xs, _dxs, _params, { ys }) => ys.map(() => ZeroTangent)',
      'argmax eq',
    ],
    [
      'arguments of a constant have no tangent space',
      'cotangents: (xs) => nothing(primitive, xs, [])',
      'cotangents: (xs) => xs.map(() => NoTangent)',
      'floor',
    ],
  ]),
  ...mistakes('dtypes', 'rules/product', [
    ['literal partials are f64', 'product(dx, asExpr(constant(p, dx.dtype)))', "product(dx, asExpr(constant(p, 'f64')))", 'div'],
    ['sums of tangents are in f32', "=== 'Expr') return add(a, b)", `=== 'Expr') return asExpr(${inF32('asNode(add(a, b))')})`, 'mul'],
  ]),
  ...mistakes('dtypes', 'rules/contract', [
    [
      'a product of cotangents is in f32',
      '() => product(...factors()),',
      `() => asExpr(${inF32('asNode(product(...factors()))')}),`,
      'matmul',
    ],
    [
      'a product that is added is in f32',
      '(acc) => productAdd(acc, ...factors())',
      `(acc) => add(acc, asExpr(${inF32('asNode(product(...factors()))')}))`,
      'matmul',
    ],
  ]),
  ...mistakes(
    'dtypes',
    ['rules/reduce', 'rules/scans'],
    [
      [
        'the cotangent of a sum is in f32',
        'transpose: (yBar, [x], { axes }) => [thunk(() => expandReduced(yBar, x, axes))]',
        `transpose: (yBar, [x], { axes }) => [thunk(() => asExpr(${inF32('asNode(expandReduced(yBar, x, axes))')}))]`,
      ],
      [
        'the others of prod are in f32',
        'const others = reshape(along(lines, kept.length), dims(last))',
        `const others = asExpr(${inF32('asNode(reshape(along(lines, kept.length), dims(last)))')})`,
        'prod',
      ],
    ],
  ),
  ...mistakes('dtypes', 'modes/common', [
    [
      'a cotangent of the right shape has the right dtype',
      'sameAval(given.aval, x)) return given',
      'sameShape(given.shape, x.shape)) return given',
      'cast add mul',
    ],
    ['a cotangent keeps its dtype', 'return castNode(shaped, x.dtype) as', 'return shaped as', 'cast add mul'],
    ['a tangent keeps its dtype', 'castNode(broadcastNode(n, y.shape), y.dtype)', 'broadcastNode(n, y.shape)', 'cast add mul'],
    ['integers have cotangents', 'if (!isFloat(x.dtype)) return NoTangent\n  if (given.aval === x', 'if (given.aval === x', 'gather'],
    ['zeros are f64', 'broadcastNode(constant(0, a.dtype), a.shape)', "broadcastNode(constant(0, 'f64'), a.shape)"],
    ['zeros are ones', 'broadcastNode(constant(0, a.dtype), a.shape)', 'broadcastNode(constant(1, a.dtype), a.shape)'],
  ]),
  ...mistakes('dtypes', 'rules/layout', [
    [
      'what is inside is padding',
      "padNode(asNode(zeros(x, 'bool')), p.starts, p.shape, p.strides, constant(1, 'bool'))",
      "padNode(asNode(zeros(x, 'bool')), p.starts, p.shape, p.strides, constant(0, 'bool'))",
      'pad',
    ],
  ]),
]
