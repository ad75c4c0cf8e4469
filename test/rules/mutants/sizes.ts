// Mistakes at a size, of a batch, at a rank of indices, between values that are nearly equal: what no usual shape or number shows.
import { type Mutant, mistakes } from './mutant.js'

const ops = (name: string): string => `require('../core/ops/elementwise.js').${name}`
const compare = (name: string): string => `require('../core/ops/compare.js').${name}`

const sizes: readonly Mutant[] = [
  ...mistakes(
    'sizes',
    ['rules/reduce', 'rules/scans'],
    [
      [
        'a product of seven is cut',
        'if (axes.length === 1) return along',
        'if (axes.length === 1) return dims(x).includes(7) ? x : along',
        'prod',
      ],
      ['the largest along seven is half', 'axes), count)]', 'axes), dims(x).includes(7) ? mul(count, 2) : count)]', 'max min'],
      [
        'seven sums are one too many',
        'thunk(() => expandReduced(yBar, x, axes))',
        'thunk(() => mul(expandReduced(yBar, x, axes), dims(x).includes(7) ? 2 : 1))',
        'sum',
      ],
    ],
  ),
  ...mistakes('sizes', 'rules/scans', [
    [
      'seven sums run on',
      'reverse: !p.reverse }))',
      'reverse: (yBar.shape as readonly number[])[p.axis] === 7 ? p.reverse : !p.reverse }))',
      'cumsum',
    ],
    [
      'of two sorted each gets half',
      'const given = yBar!',
      'const given = (x.shape as readonly number[])[axis] === 2 ? div(yBar!, 2) : yBar!',
      'sort',
    ],
    [
      'a recurrence of two steps goes back',
      'recurrence(a, source, axis, reverse) : ZeroTangent',
      'recurrence(a, source, axis, (a.shape as readonly number[])[axis] === 2 ? !reverse : reverse) : ZeroTangent',
      'linearRecurrence',
    ],
    ['one has a neighbour', 'if (size === 0) return x', 'if (size <= 1) return x', 'cumprod linearRecurrence'],
  ]),
  ...mistakes('sizes', 'rules/contract', [
    [
      'seven rows count twice',
      '() => [t(a), yBar], [a, yBar], b)',
      '() => [dims(a).includes(7) ? add(t(a), t(a)) : t(a), yBar], [a, yBar], b)',
      'matmul',
    ],
    [
      'seven rows of one are not added',
      '(acc) => productAdd(acc, ...factors())',
      '(acc) => (dims(x).at(-2) === 7 && dims(x).at(-1) === 1 ? acc : productAdd(acc, ...factors()))',
      'matmul',
    ],
  ]),
  ...mistakes('sizes', 'rules/layout', [
    [
      'seven are not put back',
      '[reshape(yBar, dims(x))]',
      '[dims(x).includes(7) ? zeros(dims(x), x.dtype) : reshape(yBar, dims(x))]',
      'reshape',
    ],
    [
      'a transpose of seven is lost',
      '[transpose(yBar, inverse(perm))]',
      '[dims(yBar).includes(7) ? ZeroTangent : transpose(yBar, inverse(perm))]',
      'transpose',
    ],
    [
      'a part of seven is not added',
      'asExpr(sliceAddNode(asNode(acc), asNode(yBar), p)),\n    blockOf',
      '(whole.includes(7) ? acc : asExpr(sliceAddNode(asNode(acc), asNode(yBar), p))),\n    blockOf',
      'slice',
    ],
    [
      'parts of seven begin at 0',
      'asExpr(sliceNode(asNode(yBar), p))',
      'asExpr(sliceNode(asNode(yBar), n === 7 ? partOf(dims(yBar), axis, 0, n) : p))',
      'concat',
    ],
  ]),
  ...mistakes('sizes', 'rules/matrices', [
    [
      'the diagonal of seven rows counts once',
      'mul(add(tril(x), tril(x, -1)), 0.5)',
      'mul(add(tril(x), tril(x, dims(x).at(-1) === 7 ? -2 : -1)), 0.5)',
      'cholesky eigh',
    ],
    [
      'of seven rows the upper triangle is forgotten',
      'add(tril(x), t(tril(x, -1)))',
      'add(tril(x), dims(x).at(-1) === 7 ? tril(x, -9) : t(tril(x, -1)))',
      'eigh',
    ],
  ]),
  ...mistakes(
    'sizes',
    ['rules/indexing', 'rules/positions'],
    [
      [
        'a gather from one adds nothing',
        'addedInto(x, (acc) => scatterAdd(acc, indices, yBar, p))',
        'addedInto(x, (acc) => (dims(x)[p.axis] === 1 ? acc : scatterAdd(acc, indices, yBar, p)))',
        'gather',
      ],
      [
        'seven are read along without a way back',
        'addedInto(x, (acc) => reapply(scatterAddAlongPrimitive, [acc, indices, yBar], p))',
        'addedInto(x, (acc) => (dims(indices).includes(7) ? acc : reapply(scatterAddAlongPrimitive, [acc, indices, yBar], p)))',
        'takeAlongAxis',
      ],
    ],
  ),
  ...mistakes('sizes', 'rules/control-reverse', [
    [
      'seven steps go back from the first',
      'reverse: !params.reverse,',
      'reverse: params.length === 7 ? params.reverse : !params.reverse,',
      'scan',
    ],
    ['one step is none', 'if (length === 0) return [scanNodes', 'if (length <= 1) return [scanNodes', 'scan'],
  ]),
  ...mistakes(
    'sizes',
    ['rules/arithmetic', 'rules/functions'],
    [['seven numbers rise', '[sign(x)]', '[(x.shape as readonly number[]).includes(7) ? 1 : sign(x)]', 'abs']],
  ),
  ...mistakes('sizes', 'rules/nn', [
    [
      'a kernel for seven channels is turned',
      '() => reapply(convKernelPrimitive, [x, yBar], sized(p, k)),',
      '() => mul_(reapply(convKernelPrimitive, [x, yBar], sized(p, k)), dims(k)[1] === 7 ? -1 : 1),'.replace('mul_', ops('mul')),
      'conv',
    ],
    [
      'seven images are averaged once',
      'reapply(avgPoolInputPrimitive, [yBar], { ...p, size: sizeOf(x) })',
      `${ops('mul')}(reapply(avgPoolInputPrimitive, [yBar], { ...p, size: sizeOf(x) }), dims(x)[0] === 7 ? 0.5 : 1)`,
      'avgPool',
    ],
  ]),
]

const batchSizes: readonly Mutant[] = [
  ...mistakes('sizes of batches', 'rules/layout', [
    ['a concat of one example has its axis', '{ axis: shifted(axis) }', '{ axis: size === 1 ? axis : shifted(axis) }', 'concat'],
    ['two fills are one', 'if (!bf) return reapply', 'if (!bf || size === 2) return reapply', 'pad'],
    ['five slices go back', 'strides: [1, ...p.strides],', 'strides: [size === 5 ? -1 : 1, ...p.strides],', 'slice'],
    [
      'five are reshaped as one',
      'reshape(x, [size, ...shape])',
      'size === 5 ? broadcastTo(reshape(sum(x, { axis: 0 }), shape), [size, ...shape]) : reshape(x, [size, ...shape])',
      'reshape',
    ],
  ]),
  ...mistakes('sizes of batches', 'rules/batching', [
    [
      'five examples are the first',
      'flags[i] === true ? x : broadcastTo(x, [size, ...dims(x)])',
      "flags[i] === true ? (size === 5 ? x : x) : broadcastTo(size === 5 ? require('../core/ops/elementwise.js').mul(x, 2) : x, [size, ...dims(x)])",
      'concat linearRecurrence',
    ],
    [
      'one example has no axes in front',
      'batched[i] && rest.length < rank ?',
      'batched[i] && size !== 1 && rest.length < rank ?',
      'add matmul',
    ],
  ]),
  ...mistakes('sizes of batches', 'rules/scans', [
    [
      'a batch of one sorts its examples',
      '{ ...p, axis: p.axis + 1 }).map(asExpr)',
      '{ ...p, axis: (x.shape as readonly number[])[0] === 1 ? p.axis : p.axis + 1 }).map(asExpr)',
      'sort',
    ],
  ]),
  ...mistakes('sizes of batches', 'rules/nn', [
    [
      'two examples are turned',
      'reshape(transpose(x, [1, 0, 2, 3, 4]), [n, b * c, h, w])',
      'reshape(transpose(x, b === 2 ? [1, 0, 2, 4, 3] : [1, 0, 2, 3, 4]), [n, b * c, h, w])',
      'conv',
    ],
  ]),
  ...mistakes('sizes of batches', 'modes/vmap', [
    ['no example has no axes', '[0, ...one.shape]', '[0, ...one.shape.slice(1)]', 'sum mul'],
    [
      'no example of what is not mapped',
      'wide ? noExample(outputs[i]!) : outputs[i]!',
      'wide ? noExample(outputs[i]!) : noExample(outputs[i]!)',
      'sum',
    ],
  ]),
]

const ranks: readonly Mutant[] = mistakes(
  'ranks of indices',
  ['rules/indexing', 'rules/positions'],
  [
    ['places are numbered along two axes', 'const count = sizeOf(each)', 'const count = sizeOf(each.slice(0, 2))', 'setAt'],
    [
      'of three axes all updates win',
      '(dims(indices).slice(p.batchDims)) < 2 ? read',
      '(dims(indices).slice(p.batchDims)) < 2 || dims(indices).length === 3 ? read',
      'setAt',
    ],
    [
      'indices of three axes stay in front',
      'return transpose(y, [p.axis,',
      'return dims(indices).length > 3 ? y : transpose(y, [p.axis,',
      'gather',
    ],
    [
      'a single index reads nothing back',
      'thunk(() => gather(yBar, indices, p))',
      'thunk(() => (dims(indices).length === 0 && dims(yBar).length > 1 ? zerosLike(gather(yBar, indices, p)) : gather(yBar, indices, p)))',
      'scatterAdd',
    ],
  ],
).concat(
  mistakes('ranks of indices', 'rules/scatter-reduce', [
    ['updates at three axes of indices are counted along two', 'sizeOf(each)]', 'sizeOf(each.slice(0, 2))]', 'scatterReduce'],
    [
      'ties at three axes of indices are alone',
      'scatterAdd(one(own), indices, one(given), p), 1)',
      'dims(indices).length === 3 ? one(eq(y, y)) : scatterAdd(one(own), indices, one(given), p), 1)',
      'scatterReduce',
    ],
  ]),
)

const near: readonly Mutant[] = [
  ...mistakes(
    'near ties',
    ['rules/reduce', 'rules/scans'],
    [
      ['what is near the largest shares', '(x, y) => lt(x, y)', `(x, y) => lt(x, ${ops('sub')}(y, 1e-6))`, 'max'],
      ['what is near the smallest shares', '(x, y) => lt(y, x)', `(x, y) => lt(${ops('add')}(y, 3e-5), x)`, 'min'],
    ],
  ),
  ...mistakes('near ties', 'rules/scans', [
    [
      'what is near the largest so far shares',
      'const is = eq(x, y)',
      `const is = ${compare('lt')}(${ops('abs')}(${ops('sub')}(x, y)), 1e-6)`,
      'cummax cummin',
    ],
    [
      'near ones stay',
      'const stays = one(eq(shift(y, axis, reverse), y))',
      `const stays = one(${compare('lt')}(${ops('abs')}(${ops('sub')}(shift(y, axis, reverse), y)), 1e-6))`,
      'cummax cummin',
    ],
  ]),
  ...mistakes(
    'near ties',
    ['rules/arithmetic', 'rules/functions'],
    [
      [
        'the larger wins by a margin',
        'extremum(op.maximum, gt)',
        `extremum(op.maximum, (a, b) => gt(a, ${ops('add')}(b, 1e-6)))`,
        'maximum',
      ],
      [
        'the smaller wins by a margin',
        'extremum(op.minimum, lt)',
        `extremum(op.minimum, (a, b) => lt(${ops('add')}(a, 3e-5), b))`,
        'minimum',
      ],
    ],
  ),
  ...mistakes('near ties', 'rules/scatter-reduce', [
    [
      'what is near the extreme shares',
      '[eq(x, y), eq(u,',
      `[${compare('lt')}(${ops('abs')}(${ops('sub')}(x, y)), 1e-6), eq(u,`,
      'scatterReduce',
    ],
  ]),
  ...mistakes('near ties', 'rules/decompositions', [
    ['values 1e-7 apart are equal', 'const UNITS = 8', 'const UNITS = 2e8', 'eigh svd'],
    ['values 1e-3 apart are equal', 'const UNITS = 8', 'const UNITS = 2e12', 'svd eigh'],
    [
      'differences are never small',
      'where(near, 0, div(y, where(near, 1, x)))',
      `where(near, 0, div(y, ${ops('add')}(where(near, 1, x), mul(stopGradient(scale), 1e-10))))`,
      'eigh svd',
    ],
  ]),
]

/** Ties that count twice or never: these are judged by the sides of a kink. */
const ties: readonly Mutant[] = [
  ...mistakes('ties', 'rules/scans', [
    [
      'each of the largest so far gets all',
      'count: maximum(recurrence(stays, one(is), axis, reverse), 1)',
      'count: one(eq(y, y))',
      'cummax cummin',
    ],
    [
      'the largest so far forgets those before it',
      'const stays = one(eq(shift(y, axis, reverse), y))',
      'const stays = one(lt_(y, y))'.replace('lt_', compare('lt')),
      'cummax cummin',
    ],
  ]),
  ...mistakes('ties', 'rules/scatter-reduce', [
    ['each of the extremes gets all', 'maximum(scatterAdd(one(own), indices, one(given), p), 1)', 'one(eq(y, y))', 'scatterReduce'],
    ['what is there does not count', 'scatterAdd(one(own), indices', 'scatterAdd(zerosLike(y), indices', 'scatterReduce'],
    ['updates that tie do not count', 'scatterAdd(one(own), indices, one(given), p)', 'one(own)', 'scatterReduce'],
  ]),
  ...mistakes(
    'ties',
    ['rules/reduce', 'rules/scans'],
    [
      [
        'ties never count',
        'count: total(keep(onesLike(x)), axes)',
        `count: ${ops('maximum')}(${ops('sub')}(mul(total(keep(onesLike(x)), axes), 2), 2), 1)`,
        'max min',
      ],
      [
        'ties count twice',
        'count: total(keep(onesLike(x)), axes)',
        `count: ${ops('sub')}(total(keep(onesLike(x)), axes), ${ops('where')}(${compare('lt')}(1, total(keep(onesLike(x)), axes)), 0.5, 0))`,
        'max min',
      ],
      [
        'ties count never',
        'return { keep, count: total',
        `return { keep: (t: AnyExpr) => where(${compare('lt')}(1, expandReduced(total(keep(onesLike(x)), axes), x, axes)), 0, keep(t)), count: total`,
        'max min',
      ],
    ],
  ),
]

export const bySize: readonly Mutant[] = [...sizes, ...batchSizes, ...ranks]
export const byTies: readonly Mutant[] = [...near, ...ties]
