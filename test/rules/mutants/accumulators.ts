// Mistakes in blocks and accumulators: what is added in place.
import { type Mutant, mistakes } from './mutant.js'

export const blocks: readonly Mutant[] = [
  ...mistakes('blocks and accumulators', 'modes/reverse', [
    ['the accumulator is replaced', 'this.acc = this.own(t.addTo(asExpr(this.acc)), from)', 'this.acc = asNode(unthunk(t) as AnyExpr)'],
    [
      'what is added in place is added twice',
      'this.acc = this.own(t.addTo(asExpr(this.acc)), from)',
      'this.acc = this.own(t.addTo(t.addTo(asExpr(this.acc))), from)',
    ],
    [
      'the second contribution is forgotten',
      'this.acc === undefined ? asNode(p) : asNode(add(asExpr(this.acc), p))',
      'this.acc === undefined ? asNode(p) : this.acc',
    ],
    ['the last contribution wins', 'this.acc === undefined ? asNode(p) : asNode(add(asExpr(this.acc), p))', 'asNode(p)'],
    ['the first contribution counts twice', 'this.acc === undefined ? asNode(p)', 'this.acc === undefined ? asNode(add(p, p))'],
    [
      'blocks beside an accumulator are forgotten',
      'this.acc === undefined) this.blocks.push({ t, block: t.block, from })\n    else this.into(t, from)',
      "this.acc === undefined) this.blocks.push({ t, block: t.block, from })\n    else if (t._tag !== 'InplaceableThunk') this.into(t, from)",
    ],
    [
      'blocks are kept, and the first is forgotten',
      'else for (const { t, from } of blocks) this.into(t, from)',
      'else for (const { t, from } of blocks.slice(1)) this.into(t, from)',
    ],
    [
      'blocks that tile it are added too',
      'if (tiled !== undefined) this.into(asExpr(tiled))\n    else for',
      'if (tiled !== undefined) this.into(asExpr(tiled))\n    for',
    ],
    ['blocks stand in the order of their arrival', 'sorted.map((b) => asNode(b.value()))', 'blocks.map((b) => asNode(b.value()))'],
    ['blocks stand in the reverse order', 'sorted.map((b) => asNode(b.value()))', '[...sorted].reverse().map((b) => asNode(b.value()))'],
    ['blocks with a gap tile it', 'if (b.starts[axis] !== at) return undefined', 'if (b.starts[axis]! < at) return undefined'],
    ['blocks that overlap tile it', 'if (b.starts[axis] !== at) return undefined', 'if (b.starts[axis]! > at) return undefined'],
    ['blocks that end early tile it', 'return at === shape[axis]\n', 'return at <= shape[axis]!\n'],
    ['blocks tile the first axis', 'const axis = shape.findIndex((d, i) => blocks[0]!.sizes[i] !== d)', 'const axis = 0'],
    ['blocks of other axes tile it', '(b.starts[i] === 0 && b.sizes[i] === d)', 'b.sizes[i] === d'],
    ['parts of other axes tile it', '(b.starts[i] === 0 && b.sizes[i] === d)', 'b.starts[i] === 0'],
    ['one block is a whole', 'if (blocks.length < 2) return undefined', 'if (blocks.length < 1) return undefined'],
    [
      'blocks that are there are forgotten when something whole arrives',
      'this.acc === undefined) this.blocks.push({ t, block: t.block, from })',
      'this.acc === undefined) this.blocks = [{ t, block: t.block, from }]',
    ],
    [
      'the last block counts twice',
      'else for (const { t, from } of blocks) this.into(t, from)',
      'else for (const { t, from } of [...blocks, ...blocks.slice(-1)]) this.into(t, from)',
    ],
  ]),
  ...mistakes('blocks and accumulators', 'rules/contract', [
    ['a product replaces the accumulator', '(acc) => productAdd(acc, ...factors())', '() => product(...factors())', 'matmul'],
    [
      'a product is added twice',
      '(acc) => productAdd(acc, ...factors())',
      '(acc) => productAdd(productAdd(acc, ...factors()), ...factors())',
      'matmul',
    ],
    ['the tangent of matmulAdd forgets its accumulator', 'let dy: Tangent = dacc', "let dy: Tangent = { _tag: 'ZeroTangent' }"],
    [
      'the second tangent of matmulAdd replaces the first',
      "dy = dy._tag === 'Expr' ? productAdd(dy, l, r) : product(l, r)",
      'dy = product(l, r)',
    ],
    [
      'matmulAdd gives its accumulator nothing',
      '[yBar, ofLeft(yBar, l!, r!), ofRight(yBar, l!, r!)]',
      "[{ _tag: 'ZeroTangent' } as const, ofLeft(yBar, l!, r!), ofRight(yBar, l!, r!)]",
    ],
  ]),
  ...mistakes('blocks and accumulators', 'rules/layout', [
    [
      'a part replaces the accumulator',
      '(acc) => asExpr(sliceAddNode(asNode(acc), asNode(yBar), p)),\n    blockOf',
      '() => asExpr(unsliceNode(asNode(yBar), whole, p)),\n    blockOf',
      'slice',
    ],
    ['steps make a block too', 'p.strides.every((s) => s === 1)', 'p.strides.every((s) => s >= 1)', 'slice'],
    [
      'parts of a split replace the accumulator',
      '(acc) => addAll(acc, blocks),',
      '() => addAll(asExpr(unsliceNode(asNode(first.y), dims(x), first.p)), blocks.slice(1)),',
    ],
    ['the first part of a split is added twice', 'blocks.slice(1)),\n', 'blocks),\n'],
    ['the first part of a split alone is added', '(acc) => addAll(acc, blocks),', '(acc) => addAll(acc, blocks.slice(0, 1)),'],
    [
      'the last part of a split wins',
      'list.reduce((a, { p, y }) => asExpr(sliceAddNode(asNode(a), asNode(y), p)), acc)',
      'list.reduce((_a, { p, y }) => asExpr(sliceAddNode(asNode(acc), asNode(y), p)), acc)',
    ],
    [
      'sliceAdd gives its accumulator what was not added to',
      'transpose: (yBar, _xs, p) => [yBar, thunk(() => reapply(slicePrimitive, [yBar], p))]',
      'transpose: (yBar, _xs, p) => [thunk(() => asExpr(sliceAddNode(asNode(yBar), asNode(require("../core/ops/elementwise.js").neg(reapply(slicePrimitive, [yBar], p))), p))), thunk(() => reapply(slicePrimitive, [yBar], p))]',
    ],
  ]),
  ...mistakes(
    'blocks and accumulators',
    ['rules/indexing', 'rules/positions'],
    [
      [
        'what is added into zeros is added into ones',
        'inplaceableThunk(() => add(zerosLike(x)), add)',
        "inplaceableThunk(() => add(require('../core/ops/construct.js').onesLike(x)), add)",
        'gather takeAlongAxis dynamicSlice',
      ],
      [
        'what is read replaces the accumulator',
        'inplaceableThunk(() => add(zerosLike(x)), add)',
        'inplaceableThunk(() => add(zerosLike(x)), () => add(zerosLike(x)))',
        'gather takeAlongAxis dynamicSlice',
      ],
      ['an index that is read twice counts once', 'scatterAdd(acc, indices, yBar, p)', 'setAt(acc, indices, yBar, p)'],
      [
        'scatterAdd gives its accumulator what was not added to',
        '[yBar, NoTangent, thunk(() => gather(yBar, indices, p))]',
        '[thunk(() => setAt(yBar, indices, zerosLike(gather(yBar, indices, p)), p)), NoTangent, thunk(() => gather(yBar, indices, p))]',
      ],
      [
        'dynamicSliceAdd gives its accumulator nothing',
        '[yBar, NoTangent, thunk(() => reapply(dynamicSlicePrimitive, [yBar, starts], p))],\n    batch: (xs, batched, p, size) => reapply(dynamicSliceAdd',
        "[{ _tag: 'ZeroTangent' } as const, NoTangent, thunk(() => reapply(dynamicSlicePrimitive, [yBar, starts], p))],\n    batch: (xs, batched, p, size) => reapply(dynamicSliceAdd",
      ],
    ],
  ),
  ...mistakes('blocks and accumulators', 'rules/scans', [
    ['sort puts into its accumulator twice', '(acc) => put(acc, given),', '(acc) => put(put(acc, given), given),'],
    ['sort replaces the accumulator', '(acc) => put(acc, given),', '() => put(zerosLike(x), given),'],
  ]),
  ...mistakes('blocks and accumulators', 'rules/nn', [
    [
      'a cotangent of the image replaces the accumulator',
      '(acc) => reapply(convInputAddPrimitive, [acc, yBar, k], sized(p, x))',
      '() => reapply(convInputPrimitive, [yBar, k], sized(p, x))',
      'conv',
    ],
    [
      'a cotangent of the kernel is added to itself',
      '(acc) => reapply(convKernelAddPrimitive, [acc, x, yBar], sized(p, k))',
      '() => reapply(convKernelAddPrimitive, [reapply(convKernelPrimitive, [x, yBar], sized(p, k)), x, yBar], sized(p, k))',
      'conv',
    ],
    [
      'the tangent of a sum forgets its accumulator',
      'let dy: Forced = dacc',
      "let dy: Forced = dacc._tag === 'Expr' ? ZeroTangent : dacc",
      'convInputAdd convKernelAdd',
    ],
    [
      'the second tangent of a sum replaces the first',
      "dy = dy._tag === 'Expr' ? reapply(add_, [dy, u, v], p) : reapply(base, [u, v], p)",
      'dy = reapply(base, [u, v], p)',
      'convInputAdd convKernelAdd',
    ],
    [
      'a sum gives its accumulator nothing',
      '[yBar, ...adjoints(yBar, ...(factors as unknown as Two), p)]',
      '[ZeroTangent, ...adjoints(yBar, ...(factors as unknown as Two), p)]',
      'convInputAdd convKernelAdd',
    ],
  ]),
]
