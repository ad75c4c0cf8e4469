// Mistakes in where things go: axes, and what was broadcast.
import { type Mutant, mistakes } from './mutant.js'

export const axes: readonly Mutant[] = [
  ...mistakes(
    'axes',
    ['rules/reduce', 'rules/scans'],
    [
      ['a repeated result has the next axis', 'axes.includes(i) ? 1 : d', 'axes.includes(i + 1) ? 1 : d', 'sum max min prod'],
      [
        'a repeated result has its axes from behind',
        'axes.includes(i) ? 1 : d',
        'axes.includes(dims(x).length - 1 - i) ? 1 : d',
        'sum max min prod',
      ],
      ['prod goes along the first axis', 'return along(x, axes[0]!)', 'return along(x, 0)', 'prod'],
      ['prod of several goes along one', 'if (axes.length === 1) return', 'if (axes.length >= 1) return', 'prod'],
      ['the axes of prod go in front', 'const perm = [...kept, ...axes]', 'const perm = [...axes, ...kept]', 'prod'],
      ['prod goes along the axis before', 'along(lines, kept.length)', 'along(lines, Math.max(0, kept.length - 1))', 'prod'],
      ['the axes of prod stay behind', 'range(perm.length).map((i) => perm.indexOf(i))', 'range(perm.length)', 'prod'],
      ['the axes of prod go back as they came', 'range(perm.length).map((i) => perm.indexOf(i))', 'perm', 'prod'],
      ['the shares are of all elements', 'count: total(keep(onesLike(x)), axes)', 'count: total(onesLike(x), axes)', 'max min'],
    ],
  ),
  ...mistakes('axes', 'rules/layout', [
    ['transpose goes on', 'transpose(yBar, inverse(perm))', 'transpose(yBar, perm)'],
    ['transpose stays', 'transpose(yBar, inverse(perm))', 'reshape(yBar, perm.map((_, i) => dims(yBar)[inverse(perm)[i]!]!))'],
    [
      'parts of a concat begin at the front',
      'const p = partOf(dims(yBar), axis, at, n)\n        at += n',
      'const p = partOf(dims(yBar), axis, 0, n)',
    ],
    [
      'parts of a concat are as long as the first',
      'const p = partOf(dims(yBar), axis, at, n)\n        at += n',
      'const p = partOf(dims(yBar), axis, at, n)\n        at += dims(xs[0]!)[axis]! > 0 ? Math.min(n, dims(xs[0]!)[axis]!) : n',
    ],
    ['parts begin at the mirrored place', 'i === axis ? start : 0', 'i === axis ? whole[axis]! - size - start : 0', 'concat split'],
    [
      'parts of a split begin one late',
      "if (y._tag === 'Expr') blocks.push({ p: partOf(dims(x), axis, at, n), y })",
      "if (y._tag === 'Expr') blocks.push({ p: partOf(dims(x), axis, Math.min(at + 1, dims(x)[axis]! - n), n), y })",
    ],
    [
      'parts of a split that are missing have no length',
      "if (y._tag === 'Expr') blocks.push({ p: partOf(dims(x), axis, at, n), y })\n          at += n",
      "if (y._tag === 'Expr') {\n            blocks.push({ p: partOf(dims(x), axis, at, n), y })\n            at += n\n          }",
    ],
    [
      'the tangent of a split is split at even places',
      'splitNode(asNode(dx), axis, sizes).map(asExpr) : ys.map',
      'splitNode(asNode(dx), axis, [...sizes].reverse()).reverse().map(asExpr) : ys.map',
    ],
    ['pad is taken back without its start', 'unpadParams(dims(x), p)', '{ ...unpadParams(dims(x), p), starts: p.starts.map(() => 0) }'],
    ['pad is taken back without its steps', 'unpadParams(dims(x), p)', '{ ...unpadParams(dims(x), p), strides: p.strides.map(() => 1) }'],
    ['the fill of pad gets everything', 'sum(where(isPadding(dims(x), p), yBar, 0))', 'sum(yBar)'],
    ['the fill of pad gets what is inside', 'sum(where(isPadding(dims(x), p), yBar, 0))', 'sum(where(isPadding(dims(x), p), 0, yBar))'],
    ['padding has no steps', 'p.starts, p.shape, p.strides, constant(1', 'p.starts, p.shape, p.strides.map(() => 1), constant(1', 'pad'],
    [
      'a slice reads its block from the front',
      '? { starts: p.starts, sizes: p.sizes, value }',
      '? { starts: p.starts.map(() => 0), sizes: p.sizes, value }',
      'slice',
    ],
  ]),
  ...mistakes('axes', 'rules/scans', [
    ['cumsum goes the same way back', '{ ...p, reverse: !p.reverse }', 'p'],
    ['cumsum goes back inclusive', '{ ...p, reverse: !p.reverse }', '{ ...p, reverse: !p.reverse, exclusive: false }'],
    ['cumsum goes back along the first axis', '{ ...p, reverse: !p.reverse }', '{ ...p, axis: 0, reverse: !p.reverse }'],
    ['a shift goes the other way', 'back ? 1 : 0, size - 1', 'back ? 0 : 1, size - 1', 'cumprod linearRecurrence'],
    ['a shift leaves its first place filled', 'i === axis && !back && size > 1 ? 1 : 0', '0', 'cumprod linearRecurrence'],
    [
      'a shift goes along every axis',
      'i === axis && !back && size > 1 ? 1 : 0',
      '!back && n.shape[i]! > 1 && i <= axis ? 1 : 0',
      'cumprod linearRecurrence',
    ],
    [
      'a transposed recurrence has its factors unmoved',
      'recurrence(shift(a, axis, !reverse), yBar, axis, !reverse)',
      'recurrence(a, yBar, axis, !reverse)',
      'cumprod linearRecurrence',
    ],
    [
      'a transposed recurrence goes forward',
      'recurrence(shift(a, axis, !reverse), yBar, axis, !reverse)',
      'recurrence(shift(a, axis, !reverse), yBar, axis, reverse)',
      'cumprod linearRecurrence',
    ],
    [
      'a transposed recurrence moves the other way',
      'recurrence(shift(a, axis, !reverse), yBar',
      'recurrence(shift(a, axis, reverse), yBar',
      'cumprod linearRecurrence',
    ],
    ['an exclusive cumprod is an inclusive one', 'if (!p.exclusive) return [y, recurrence', 'if (p.axis >= 0) return [y, recurrence'],
    ['an exclusive cumprod is pulled as an inclusive one', 'p.exclusive\n              ?', 'p.exclusive && p.axis < 0\n              ?'],
    ['what was before an element includes it', 'product(dx, cumprodOf(x, { ...p, exclusive: true }))', 'product(dx, cumprodOf(x, p))'],
    ['an exclusive cumprod does not move its tangent', 'shift(product(dx, y), axis, reverse)', 'product(dx, y)'],
    ['an exclusive cumprod does not move its cotangent', 'product(shift(sums, axis, !reverse), y)', 'product(sums, y)'],
    [
      'sort takes along the last axis',
      'takeAlongNode(asNode(dx), asNode(ys[1]), axis)',
      'takeAlongNode(asNode(dx), asNode(ys[1]), asNode(dx).shape.length - 1)',
    ],
    ['sort puts along the last axis', 'asNode(ys[1]), asNode(yBar), axis)', 'asNode(ys[1]), asNode(yBar), asNode(yBar).shape.length - 1)'],
    [
      'the tangent of sort is as it was',
      "dx!._tag === 'Expr' ? asExpr(takeAlongNode(asNode(dx), asNode(ys[1]), axis))",
      "dx!._tag === 'Expr' ? dx!",
    ],
  ]),
  ...mistakes(
    'axes',
    ['rules/indexing', 'rules/positions'],
    [
      ['winners are along the first axis', 'const p = { axis: batchDims, batchDims }', 'const p = { axis: 0, batchDims: 0 }', 'setAt'],
      ['winners have no axes behind', '...each, ...ones(dims(x).length - axis - 1)', '...each', 'setAt'],
      ['winners have no axes in front', '...lead, ...ones(axis - batchDims), ...each', '...lead, ...each', 'setAt'],
      ['every value won', 'const won = eq(gather(written, indices, p), numbers)', 'const won = eq(numbers, numbers)', 'setAt'],
      [
        'all values that went to one place get its cotangent',
        'sizeOf(dims(indices).slice(p.batchDims)) < 2 ? read',
        'sizeOf(dims(indices).slice(p.batchDims)) >= 0 ? read',
      ],
      [
        'one index is enough to have a single place',
        'sizeOf(dims(indices).slice(p.batchDims)) < 2',
        'dims(indices).slice(p.batchDims).length < 2',
      ],
      ['what was overwritten keeps its cotangent', 'thunk(() => setAt(yBar, indices, zerosLike(values), p))', 'yBar'],
      [
        'a window that was overwritten keeps its cotangent',
        'thunk(() => reapply(dynamicUpdateSlicePrimitive, [yBar, starts, zerosLike(u)], p))',
        'yBar',
      ],
      [
        'values are scattered along the first axis',
        'scatterAdd(acc, indices, yBar, p)',
        'scatterAdd(acc, indices, yBar, { ...p, axis: p.batchDims })',
      ],
      [
        'cotangents are taken along the first axis',
        'NoTangent, thunk(() => gather(yBar, indices, p))]',
        'NoTangent, thunk(() => gather(yBar, indices, { ...p, axis: p.batchDims }))]',
      ],
      [
        'what was taken along an axis goes back along the first',
        'reapply(scatterAddAlongPrimitive, [acc, indices, yBar], p)',
        'reapply(scatterAddAlongPrimitive, [acc, indices, yBar], { axis: 0 })',
      ],
    ],
  ),
  ...mistakes('axes', 'rules/nn', [
    ['the size of an image is that of its channels', 'dims(x).slice(2)\nconst bare', 'dims(x).slice(1, -1)\nconst bare'],
    [
      'a stride is forgotten',
      'ConvParams => ({ stride, padding, dilation, groups })',
      'ConvParams => ({ stride: [1, 1], padding, dilation, groups })',
    ],
    [
      'a dilation is forgotten',
      'ConvParams => ({ stride, padding, dilation, groups })',
      'ConvParams => ({ stride, padding, dilation: [1, 1], groups })',
    ],
    [
      'a padding is forgotten',
      'ConvParams => ({ stride, padding, dilation, groups })',
      'ConvParams => ({ stride, padding: JSON.parse(JSON.stringify(padding).replace(/\\d+/g, "0")), dilation, groups })',
    ],
    [
      'the kernel has the size of the image',
      'reapply(convKernelPrimitive, [x, yBar], sized(p, k))',
      'reapply(convKernelPrimitive, [x, yBar], sized(p, x))',
    ],
    [
      'a pool has no stride',
      '({ window, stride, padding }: PoolParams): PoolParams => ({ window, stride, padding })',
      '({ window, padding }: PoolParams): PoolParams => ({ window, stride: window, padding })',
      'unpool poolGather',
    ],
  ]),
]

export const broadcasting: readonly Mutant[] = [
  ...mistakes('broadcasting', 'modes/common', [
    [
      'a cotangent that is too small is repeated',
      '? sumToNode(t, x.shape)\n      : undefined',
      '? sumToNode(t, x.shape)\n      : broadcastable(t.shape, x.shape) ? broadcastNode(t, x.shape) : undefined',
    ],
    [
      'a tangent that is too large is summed',
      "return wrongSpace(prim, 'frule', n.aval, y, from.k, count)\n",
      'return sumToNode(n, y.shape) as unknown as Forced\n',
    ],
    [
      'a tangent is summed as a cotangent is',
      '  return castNode(broadcastNode(n, y.shape), y.dtype) as unknown as Forced',
      '  return castNode(broadcastNode(n.shape.length === 0 ? n : sumToNode(n, n.shape.map(() => 1)), y.shape), y.dtype) as unknown as Forced',
      'add mul where',
    ],
  ]),
  ...mistakes('broadcasting', 'core/ops/reduce', [
    [
      'axes that broadcasting added are not summed',
      'i < off || (shape[i - off] === 1 && x.shape[i] !== 1)',
      'i >= off && shape[i - off] === 1 && x.shape[i] !== 1',
      'add mul broadcastTo',
    ],
    ['axes of length 1 are not summed', 'i < off || (shape[i - off] === 1 && x.shape[i] !== 1)', 'i < off', 'add mul broadcastTo'],
    [
      'axes are compared from the front',
      '(shape[i - off] === 1 && x.shape[i] !== 1)',
      '(shape[i] === 1 && x.shape[i] !== 1)',
      'add mul broadcastTo',
    ],
    [
      'axes of length 1 are averaged',
      'return reshapeNode(reduceNode(sumPrimitive, x, axes), shape)',
      'return reshapeNode(reduceNode(axes.length > 0 && axes[0]! >= off ? maxPrimitive : sumPrimitive, x, axes), shape)',
      'add mul broadcastTo',
    ],
  ]),
  ...mistakes('broadcasting', 'rules/contract', [
    ['one factor without broadcasting is enough', 'sources.every((s) => sameShape', 'sources.some((s) => sameShape', 'matmul'],
    ['equally many leading axes are enough', 'sameShape(lead(s), lead(x))', 'lead(s).length === lead(x).length', 'matmul'],
    ['the other factor is not looked at', '[yBar, t(b)], [yBar, b], a)', '[yBar, t(b)], [yBar], a)', 'matmul'],
    ['the cotangent itself is not looked at', '[t(a), yBar], [a, yBar], b)', '[t(a), yBar], [a], b)', 'matmul'],
    ['leading axes are all but the last', 'dims(x).slice(0, -2)', 'dims(x).slice(0, -1)', 'matmul'],
  ]),
  ...mistakes('broadcasting', 'rules/layout', [
    [
      'broadcastTo is summed over the first axis',
      'sumToNode(asNode(yBar), dims(x))',
      'sumToNode(dims(yBar).length > dims(x).length ? asNode(yBar) : asNode(reshape(sum(yBar, { axis: 0, keepdims: true }), [1, ...dims(yBar).slice(1)])), dims(x))',
    ],
    [
      'a sum of padding is over the last axis',
      'thunk(() => sum(where(isPadding(dims(x), p), yBar, 0)))',
      'thunk(() => sum(where(isPadding(dims(x), p), yBar, 0), { axis: 0 }))',
    ],
  ]),
  ...mistakes('broadcasting', 'rules/map', [
    ['a result of some arguments keeps their shape', 'asExpr(broadcastNode(y, asNode(results[i]).shape))', 'asExpr(y)'],
  ]),
  ...mistakes('broadcasting', 'rules/custom', [
    ['what every example shares gets one cotangent for each', "r._tag === 'Expr' && !batched[i] ? sum(r, { axis: 0 }) : r", 'r'],
    [
      'what is batched gets the sum of all examples',
      "r._tag === 'Expr' && !batched[i] ? sum(r, { axis: 0 }) : r",
      "r._tag === 'Expr' && batched[i] ? sum(r, { axis: 0 }) : r",
    ],
    [
      'what every example shares gets the mean',
      '!batched[i] ? sum(r, { axis: 0 }) : r',
      "!batched[i] ? require('../core/ops/statistics.js').mean(r, { axis: 0 }) : r",
    ],
  ]),
]
