// What rules and modes have beside values and derivatives: blocks, accumulators, missing cotangents, Taylor series, sparse matrices, checkpoints.
import { type Mutant, mistakes } from './mutant.js'

const ops = (name: string): string => `require('../core/ops/elementwise.js').${name}`

const blocks: readonly Mutant[] = [
  ...mistakes('blocks', 'rules/layout', [
    [
      'a block begins at 0',
      '{ starts: p.starts, sizes: p.sizes, value }',
      '{ starts: p.starts.map(() => 0), sizes: p.sizes, value }',
      'slice',
    ],
    ['a block counts twice', 'blockOf(p, () => yBar)', `blockOf(p, () => ${ops('add')}(yBar, yBar))`, 'slice'],
    ['a block goes back', 'p.strides.every((s) => s === 1) ?', 'p.strides.every((s) => Math.abs(s) >= 1) ?', 'slice'],
    [
      'the first part is not added',
      '(acc) => addAll(acc, blocks),',
      '(acc) => addAll(acc, blocks.length > 1 ? blocks : blocks.slice(1)),',
      'split',
    ],
    ['of some parts the second is left out', 'first.p)), blocks.slice(1)),', 'first.p)), blocks.slice(2)),', 'split'],
    [
      'of some parts the second begins where the first does',
      'blocks.push({ p: partOf(dims(x), axis, at, n), y })',
      'blocks.push({ p: partOf(dims(x), axis, blocks.length > 0 ? 0 : at, n), y })',
      'split',
    ],
  ]),
  ...mistakes('blocks', 'rules/scans', [
    ['a sort is put in place of the sum', '(acc) => put(acc, given),', '(acc) => put(zerosLike(acc), given),', 'sort'],
  ]),
]

const subsets: readonly Mutant[] = [
  ...mistakes('missing cotangents', 'rules/decompositions', [
    [
      'vectors alone have no diagonal',
      'total([wBar && onDiagonal(wBar), turned])!',
      'total([wBar === undefined ? onDiagonal(w) : onDiagonal(wBar), turned])!',
      'eigh',
    ],
    [
      'values without left vectors stand alone',
      'if (uBar === undefined && vBar === undefined) return',
      'if (uBar === undefined && sBar !== undefined) return',
      'svd',
    ],
    [
      'values without right vectors stand alone',
      'if (uBar === undefined && vBar === undefined) return',
      'if (vBar === undefined && sBar !== undefined) return',
      'svd',
    ],
    [
      'left vectors alone are in their own space',
      'const rest = uBar && !isSquare(a) ?',
      'const rest = uBar && sBar && !isSquare(a) ?',
      'svd',
    ],
    ['q alone is not turned', 'qBar && mul(product(t(qBar), q), -1)', 'qBar && rBar && mul(product(t(qBar), q), -1)', 'qr'],
    ['r alone counts twice', 'rBar && product(r, t(rBar))', 'rBar && mul(product(r, t(rBar)), qBar === undefined ? 2 : 1)', 'qr'],
  ]),
  ...mistakes('missing cotangents', 'rules/custom', [
    [
      'results are transposed with the first',
      "dy._tag === 'Expr' && yBars[i]!._tag === 'Expr' ?",
      "dy._tag === 'Expr' && yBars[0]!._tag === 'Expr' ?",
      'customRule',
    ],
    ['tangents of several results are the first', 'out.map((o) => o.dy)', 'out.map(() => out[0]!.dy)', 'customRule'],
    [
      'the second of several tangents is still',
      'return [ys.map(asExpr), dys]',
      'return [ys.map(asExpr), dys.map((d, i) => (i > 0 ? ZeroTangent : d))]',
      'customRule',
    ],
    [
      'cotangents are those of the first result',
      '? args.map(none)\n            : [\n                ...pullback(yBars, active)',
      '? args.map(none)\n            : [\n                ...pullback(yBars.map((y, i) => (i > 0 ? ZeroTangent : y)), active)',
      'customRule',
    ],
  ]),
]

const series: readonly Mutant[] = [
  ...mistakes(
    'Taylor series',
    ['rules/taylor', 'rules/taylor-scans', 'rules/taylor-products'],
    [
      ['squares have one middle', 'k % 2 === 0 ? x.at(k / 2)', 'k === 2 ? x.at(k / 2)', 'square'],
      ['squares leave out a pair', 'pairs(1, Math.ceil(k / 2) - 1,', 'pairs(1, Math.floor(k / 2) - 1,', 'square'],
      ['quotients forget the first lower term', 'pairs(1, k - 1, k, b!, ratio, both)', 'pairs(2, k - 1, k, b!, ratio, both)', 'div'],
      [
        'lower orders of a recurrence are left out',
        '      1,\n      k - 1,\n      k,\n      a!,',
        '      2,\n      k - 1,\n      k,\n      a!,',
        'linearRecurrence',
      ],
      [
        'lower orders of a running product are left out',
        'pairs(1, k - 1, k, x!, (j) => y!.at(j), of)',
        'pairs(2, k - 1, k, x!, (j) => y!.at(j), of)',
        'cumprod',
      ],
      [
        'an accumulator stands still',
        'addTangents(acc!.at(k), convolved',
        'addTangents(k > 1 ? ZeroTangent : acc!.at(k), convolved',
        'matmulAdd',
      ],
    ],
  ),
  ...mistakes('Taylor series', 'rules/taylor-forms', [
    [
      'the middle of a product is left out',
      'sumOver(1, k - 1, (i) => {\n      const ai',
      'sumOver(2, k - 1, (i) => {\n      const ai',
      'matmul',
    ],
    ['sums of coefficients have no last one', 'i <= to; i++', 'i < to || i === from; i++', 'exp tanh'],
  ]),
  ...mistakes('Taylor series', 'modes/taylor', [
    ['the fourth is over five', 'mul(t, 1 / k)', 'mul(t, 1 / (k > 3 ? k + 1 : k))', 'svd'],
    ['slopes are one order low', 'mul(next, k + 1)', 'mul(next, k)', 'svd'],
    ['the first coefficient is for all', 'rule(k).map((t, i) =>', 'rule(Math.min(k, 3)).map((t, i) =>', 'exp sin'],
  ]),
]

const sparse: readonly Mutant[] = [
  ...mistakes('sparse', 'core/calculus/dependence', [
    ['running sums begin with the second', 'if (reverse ? k < size - 1 : k > 0)', 'if (reverse ? k < size - 1 : k > 1)', 'cumsum cumprod'],
    ['running sums go forward alone', 'const at = reverse ? out.length - 1 - i : i', 'const at = i', 'cumsum cumprod'],
    ['an accumulator is left out', '[args.length > 2 ? of.both(args[0], made) : made]', '[made]', 'matmulAdd'],
    [
      'a product is of its rows',
      'return rank < 2 ? undefined : of.both(along(args[0]!, a, 1), along(args[1]!, b, 2))',
      'return rank < 2 ? undefined : along(args[0]!, a, 1)',
      'matmul',
    ],
    [
      'the last argument alone',
      'of.both(sum, repeated(ids, n.args[i]!.shape, n.shape))',
      'repeated(ids, n.args[i]!.shape, n.shape)',
      'mul add',
    ],
    [
      'of what is added only that',
      '[of.gathered(x.aval.size, to.data as Int32Array, part, args[0])]',
      '[of.gathered(x.aval.size, to.data as Int32Array, part)]',
      'sliceAdd',
    ],
  ]),
  ...mistakes('sparse', 'core/calculus/colouring', [
    ['colours forget the last', 'while (taken[colour] === c) colour++\n', '', 'mul matmul'],
    [
      'every column has the colour of the rows',
      'colour = Math.max(colour, below[rowsOf[k]!]!)',
      'colour = Math.min(colour, below[rowsOf[k]!]!)',
      'matmul',
    ],
    ['stars are any colouring', 'many[d] === 1 && (x === MANY', 'many[d]! >= 1 || (x === MANY', 'matmul'],
    ['entries are found in the other row', 'only.get(key(i, of[j]!)) !== MANY', 'only.get(key(j, of[i]!)) !== MANY', 'matmul'],
  ]),
  ...mistakes('sparse', 'modes/compression', [
    ['rows are counted by columns', 'colours.of[r]! * p.columns + c', 'colours.of[r]! * p.rows + c', 'matmul sum'],
    ['entries of the mirror are left out', 'cols[n++] = Math.min(a, b)', 'cols[n++] = a === Number.POSITIVE_INFINITY ? b : a', 'matmul'],
  ]),
]

const checkpoints: readonly Mutant[] = [
  ...mistakes('checkpoints', 'core/ops/control/flow', [
    [
      'what it captured is a constant',
      '[...given, ...captured].map(row)',
      "[...given, ...captured.map((c) => require('./elementwise.js').stopGradient(c))].map(row)",
      'mul',
    ],
    ['its arguments are constants', 'given.push(n)', "given.push(require('./elementwise.js').stopGradient(n))", 'mul'],
    ['what it captured comes backwards', '[...given, ...captured].map(row)', '[...captured, ...given].map(row)', 'mul'],
  ]),
  ...mistakes(
    'checkpoints',
    ['rules/arithmetic', 'rules/functions'],
    [
      [
        'stopGradient stops nothing',
        'stopGradient: nonDifferentiable(op.stopGradient)',
        'stopGradient: scalarRule(op.stopGradient as never, ({ x: [x] }: never) => [(x as { readonly shape: readonly number[] }).shape.length > 0 ? 1 : 0] as never)',
        'mul',
      ],
    ],
  ),
]

export const beside: readonly Mutant[] = [...blocks, ...subsets, ...series, ...sparse, ...checkpoints]
