// Mistakes in batch rules and in vmap.
import { type Mutant, mistakes } from './mutant.js'

export const batches: readonly Mutant[] = [
  ...mistakes('batches', 'rules/batching', [
    [
      'axes are added in front of the batch',
      '[size!, ...new Array<number>(rank - rest.length).fill(1), ...rest]',
      '[...new Array<number>(rank - rest.length).fill(1), size!, ...rest]',
      'add matmul',
    ],
    [
      'axes are added behind',
      '[size!, ...new Array<number>(rank - rest.length).fill(1), ...rest]',
      '[size!, ...rest, ...new Array<number>(rank - rest.length).fill(1)]',
      'add matmul',
    ],
    ['ranks are not made equal', 'batched[i] && rest.length < rank', 'batched[i] && rest.length < 0', 'add matmul'],
    [
      'the rank is that of the first',
      'greatestOf(xs.map((x, i) => dims(x).length - (batched[i] ? 1 : 0)))',
      'dims(xs[0]!).length - (batched[0] ? 1 : 0)',
      'add matmul where',
    ],
    ['the rank counts the batch axis', 'dims(x).length - (batched[i] ? 1 : 0)', 'dims(x).length', 'add matmul'],
    [
      'an elementwise batch does not align',
      'applyAny(primitive, alignBatch(xs, batched).map(asNode), params)',
      'applyAny(primitive, xs.map(asNode), params)',
      'add mul where',
    ],
  ]),
  ...mistakes(
    'batches',
    ['rules/reduce', 'rules/scans'],
    [
      ['axes are not moved', 'axes.map((a) => a + 1)', 'axes', 'sum prod max min'],
      ['axes are moved but the first', 'axes.map((a) => a + 1)', 'axes.map((a, i) => (i === 0 ? a + 1 : a))', 'sum prod max min'],
      ['argmax has its axis', 'reapply(op.argmaxPrimitive, [x], { axis: axis + 1 })', 'reapply(op.argmaxPrimitive, [x], { axis })'],
      ['argmin is argmax', 'reapply(op.argminPrimitive, [x], { axis: axis + 1 })', 'reapply(op.argmaxPrimitive, [x], { axis: axis + 1 })'],
      ['prod is a sum', 'fold(op.prodPrimitive, x, shiftAxes(axes))', 'fold(op.sumPrimitive, x, shiftAxes(axes))'],
      ['a batch of min is max', 'fold(primitive, x, shiftAxes(axes))', 'fold(op.maxPrimitive, x, shiftAxes(axes))', 'min'],
    ],
  ),
  ...mistakes('batches', 'rules/layout', [
    ['broadcastTo aligns from behind', 'const [wide] = alignBatch([x], [true], shape.length)', 'const [wide] = [x]'],
    [
      'transpose has its permutation backwards',
      'transpose(x, [0, ...perm.map(shifted)])',
      'transpose(x, [0, ...inverse(perm).map(shifted)])',
    ],
    [
      'slices begin at the second example',
      'starts: [0, ...p.starts],\n  sizes: [size,',
      'starts: [Math.min(1, size - 1), ...p.starts],\n  sizes: [Math.max(1, size - 1),',
      'slice sliceAdd',
    ],
    ['slices have one step', 'strides: [1, ...p.strides],', 'strides: [1, ...p.strides.map(() => 1)],', 'slice'],
    [
      'pad has no fill where the fills differ',
      'return where(isPadding(dims(wide), all), fills, ',
      'return where(isPadding(dims(wide), all), 0, ',
    ],
    [
      'pad chooses what is inside',
      'return where(isPadding(dims(wide), all), fills, asExpr(padNode(asNode(wide), all.starts, all.shape, all.strides)))',
      'return where(isPadding(dims(wide), all), asExpr(padNode(asNode(wide), all.starts, all.shape, all.strides)), fills)',
    ],
    ['concat has its axis', '{ axis: shifted(axis) }', '{ axis }'],
    ['split has its axis', 'splitNode(asNode(x), shifted(axis), sizes)', 'splitNode(asNode(x), axis, sizes)'],
    [
      'sliceAdd batches its accumulator alone',
      'reapply(sliceAddPrimitive, batchAll(xs, batched, size), batchSlice(p, size))',
      'reapply(sliceAddPrimitive, batchAll(xs, [batched[0]!, batched[0]!], size), batchSlice(p, size))',
    ],
  ]),
  ...mistakes('batches', 'rules/contract', [
    ['matmul does not align', 'const [a, b] = alignBatch(xs, batched)', 'const [a, b] = xs'],
    ['matmulAdd does not align', 'alignBatch([xs[1], xs[2]], [batched[1]!, batched[2]!])', '[xs[1], xs[2]]'],
    ['matmulAdd looks at its first factor alone', 'if (batched[1] || batched[2]) return productAdd', 'if (batched[1]) return productAdd'],
    [
      'matmulAdd forgets its accumulator where it alone is batched',
      'return add(acc!, product(xs[1], xs[2]))',
      'return product(xs[1], xs[2])',
    ],
    ['matmulAdd gets its accumulator as it is', 'const [acc] = batchAll([xs[0]], [batched[0]!], size)', 'const acc = xs[0]'],
  ]),
  ...mistakes('batches', 'rules/scans', [
    ['cumsum has its axis', 'reapply(op.cumsumPrimitive, [x], { ...p, axis: p.axis + 1 })', 'reapply(op.cumsumPrimitive, [x], p)'],
    [
      'cumsum forgets that it is reverse',
      'reapply(op.cumsumPrimitive, [x], { ...p, axis: p.axis + 1 })',
      'reapply(op.cumsumPrimitive, [x], { ...p, reverse: false, axis: p.axis + 1 })',
    ],
    ['cumprod has its axis', 'cumprodOf(x, { ...p, axis: p.axis + 1 })', 'cumprodOf(x, p)'],
    ['a recurrence forgets its direction', '{ axis: axis + 1, reverse }', '{ axis: axis + 1, reverse: false }'],
    ['a recurrence has its axis', '{ axis: axis + 1, reverse }', '{ axis, reverse }'],
    ['sort has its axis', 'op.sortNodes(asNode(x), { ...p, axis: p.axis + 1 })', 'op.sortNodes(asNode(x), p)'],
  ]),
  ...mistakes(
    'batches',
    ['rules/indexing', 'rules/positions'],
    [
      [
        'a gather of one array leaves its batch behind',
        'return transpose(y, [p.axis, ...range(rank).filter((i) => i !== p.axis)])',
        'return y',
      ],
      [
        'a gather of one array has its first axis in front',
        'return transpose(y, [p.axis, ...range(rank).filter((i) => i !== p.axis)])',
        'return transpose(y, [Math.min(p.axis + 1, rank - 1), ...range(rank).filter((i) => i !== Math.min(p.axis + 1, rank - 1))])',
      ],
      [
        'a gather has its axis',
        'return [all, { axis: p.axis + 1, batchDims',
        'return [all, { axis: Math.max(p.axis, 1), batchDims',
        'gather scatterAdd setAt',
      ],
      ['shared indices have a batch', 'batchDims: shared ? 0 : p.batchDims + 1', 'batchDims: shared ? 0 : 1', 'gather scatterAdd setAt'],
      [
        'indices are not spread where there are batch axes',
        'batched[1] !== true && p.batchDims === 0',
        'batched[1] !== true',
        'gather scatterAdd setAt',
      ],
      [
        'iota is one for all',
        'broadcastTo(asExpr(iotaNode(p.shape, p.axis, p.dtype)), [size, ...p.shape])',
        'asExpr(iotaNode([size, ...p.shape], p.axis, p.dtype))',
      ],
      [
        'takeAlongAxis has its axis',
        'reapply(takeAlongAxisPrimitive, batchAll(xs, batched, size), { axis: axis + 1 })',
        'reapply(takeAlongAxisPrimitive, batchAll(xs, batched, size), { axis })',
      ],
      [
        'scatterAddAlong has its axis',
        'reapply(scatterAddAlongPrimitive, batchAll(xs, batched, size), { axis: axis + 1 })',
        'reapply(scatterAddAlongPrimitive, batchAll(xs, batched, size), { axis })',
      ],
      ['windows count no batch', 'batchDims: batchDims + 1 })\n\n', 'batchDims })\n\n', 'dynamicSlice dynamicSliceAdd dynamicUpdateSlice'],
      ['searchsorted looks in one sorted vector for all', 'if (!bs && p.batchDims === 0)', 'if (!bs || p.batchDims === 0)'],
      ['searchsorted counts no batch', '      ...p,\n      batchDims: p.batchDims + 1,', '      ...p,'],
      [
        'searchsorted forgets its side',
        '      ...p,\n      batchDims: p.batchDims + 1,',
        "      ...p,\n      side: 'left',\n      batchDims: p.batchDims + 1,",
      ],
    ],
  ),
  ...mistakes('batches', 'rules/nn', [
    [
      'groups are in another order',
      'transpose(x, [1, 0, 2, 3, 4]), [n, b * c, h, w]',
      'transpose(x, [1, 2, 0, 3, 4]), [n, b * c, h, w]',
      'conv convInput convKernel',
    ],
    [
      'groups go back in another order',
      'transpose(reshape(y, [n, b, c / b, h, w]), [1, 0, 2, 3, 4])',
      'transpose(reshape(y, [n, c / b, b, h, w]), [2, 0, 1, 3, 4])',
      'conv convInput',
    ],
    [
      'groups are not multiplied',
      'reapply(primitive, [intoGroups(x), fold(k)], { ...p, groups: p.groups * size })',
      'reapply(primitive, [intoGroups(x), fold(k)], { ...p, groups: size })',
      'conv convInput',
    ],
    [
      'groups of pairs are not multiplied',
      '[intoGroups(x), intoGroups(y)], { ...p, groups: p.groups * size }',
      '[intoGroups(x), intoGroups(y)], { ...p, groups: size }',
      'convKernel',
    ],
    ['a term of a batch is forgotten', 'const t = batched[1] || batched[2] ?', 'const t = batched[1] ?', 'convInputAdd convKernelAdd'],
    ['a batched accumulator is the first', 'return add(acc, t)', 'return t', 'convInputAdd convKernelAdd'],
    [
      'pools keep the batch apart',
      'batchAll(xs, batched, size).map(fold), p), size)',
      'batchAll(xs, batched, size).map((x) => reshape(transpose(x, [1, 0, ...dims(x).slice(2).map((_, i) => i + 2)]), dims(fold(x)))), p), size)',
      'avgPool unpool poolGather',
    ],
  ]),
  ...mistakes('batches', 'rules/map', [
    [
      'an argument without a batch counts it',
      'greatestOf(args.map((x, i) => x.shape.length - (batched[i] ? 1 : 0)))',
      'greatestOf(args.map((x) => x.shape.length - 1))',
    ],
    [
      'arguments get axes in front',
      '[s[0]!, ...new Array<number>(rank - s.length + 1).fill(1), ...s.slice(1)]',
      '[...new Array<number>(rank - s.length + 1).fill(1), ...s]',
    ],
  ]),
  ...mistakes('batches', 'rules/custom', [
    ['batched tangents take those of the others', 'batched[i] === flag ? d : ZeroTangent', 'batched[i] !== flag ? d : ZeroTangent'],
    [
      'the first argument is never batched',
      'const inputs = program.inputs.map((x, i) => (batched[i] ?',
      'const inputs = program.inputs.map((x, i) => (batched[i] && i > 0 ?',
    ],
  ]),
  ...mistakes('batches', 'modes/vmap', [
    [
      'a result that is the same for all is given once',
      'wide ? node : size === 0 ? noExample(node) : broadcastNode(node, [size, ...node.shape])',
      'node',
    ],
    ['an argument is batched where any is', 'const mask = args.map((a) => a.wide)', 'const mask = args.map(() => true)'],
    [
      'the last argument is taken for shared',
      'const mask = args.map((a) => a.wide)',
      'const mask = args.map((a, i) => a.wide && (i === 0 || i < args.length - 1 || !args[0]!.wide))',
    ],
    ['what is not batched is batched', 'if (!args.some((a) => a.wide))', 'if (!args.every((a) => a.wide))'],
    ['of no example the axis is left out', '[0, ...one.shape]', '[...one.shape]'],
    ['of several results the first', '.map((node) => ({ node, wide: true }))', '.map((_y, _i, ys) => ({ node: ys[0]!, wide: true }))'],
  ]),
]
