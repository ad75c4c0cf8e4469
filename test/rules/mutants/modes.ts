// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of the source
// Mistakes in how rules are put together: thunks, rules of one's own, regions, operators.
import { type Mutant, mistakes } from './mutant.js'

export const thunks: readonly Mutant[] = [
  ...mistakes('thunks', 'core/graph/tangent', [
    [
      'a thunk is built each time',
      'if (state === undefined) state = { value: f() }\n    return state.value',
      'state = { value: f() }\n    return state.value',
      'sin',
    ],
    [
      'all thunks share a state',
      'let state: { readonly value: A } | undefined\n  return watched(() => {',
      'const state_ = once as unknown as { state?: { value: A } }\n  return watched(() => {\n    let state = state_.state\n    if (state === undefined) state_.state = { value: f() }\n    state = state_.state!',
      'mul',
    ],
    ['a thunk is built at once', 'new Later(once(force))', 'new Later(((v: Tangent) => () => v)(force()))', 'matmul'],
    [
      'a thunk in place is built each time',
      'new LaterInPlace(once(force), addTo, block)',
      'new LaterInPlace(force, addTo, block)',
      'matmul gather',
    ],
    [
      'a thunk in a thunk is not forced',
      "while (y._tag === 'Thunk' || y._tag === 'InplaceableThunk') y = y.force()",
      "if (y._tag === 'Thunk' || y._tag === 'InplaceableThunk') y = y.force()",
      'customRule',
    ],
    [
      'a thunk in place is not forced',
      "while (y._tag === 'Thunk' || y._tag === 'InplaceableThunk') y = y.force()",
      "while (y._tag === 'Thunk') y = y.force()",
      'matmul',
    ],
    [
      'a thunk is added as it is',
      'addTo: (acc: AnyExpr) => AnyExpr, block?: Block): InplaceableThunk =>\n  new LaterInPlace(once(force), addTo, block)',
      'addTo: (acc: AnyExpr) => AnyExpr, block?: Block): InplaceableThunk =>\n  new LaterInPlace(once(force), (acc) => (addTo(acc), unthunk(force()) as AnyExpr), block)',
      'matmul gather',
    ],
  ]),
  ...mistakes('thunks', 'rules/contract', [
    ['the factors of a product are built at once', '  sources.every((s) =>', '  (factors(), sources).every((s) =>', 'matmul'],
  ]),
  ...mistakes('thunks', 'rules/forms', [
    [
      'cotangents are built once for all seeds',
      '? cotangents(xs, params, context, yBars, active)',
      '? ((formPullback as { kept?: readonly Tangent[] }).kept ??= cotangents(xs, params, context, yBars, active))',
      'sum concat',
    ],
    [
      'cotangents of partials are those of the first call',
      'rows ??= matrix(xs, ys, params)',
      'rows ??= (partials as { kept?: Matrix }).kept ??= matrix(xs, ys, params)',
      'sin mul',
    ],
  ]),
]

export const custom: readonly Mutant[] = [
  ...mistakes("rules of one's own", 'rules/custom', [
    ['tangents go to the wrong places', 'made[k++]!) : t', 'made[0]!) : t', 'customRule'],
    ['the first cotangent is for all results', 'out.map((o) => vs[o.i]!)', 'out.map(() => vs[0]!)', 'customRule'],
    ['transposed at the inputs alone', 'putting([...atXs, ...none, ...pairs(vs, yBars)])', 'putting([...atXs])', 'customRule'],
    ['transposed at no arguments', 'putting([...atXs, ...none, ...pairs(vs, yBars)])', 'putting([...pairs(vs, yBars)])', 'customRule'],
    [
      'transposed for the first argument',
      'dus.flatMap((du, i) => (du !== undefined && active[i] ? [{ du, i }] : []))',
      'dus.flatMap((du, i) => (du !== undefined && active[i] && i === 0 ? [{ du, i }] : []))',
      'customRule',
    ],
    ['transposed whoever asks', 'du !== undefined && active[i] ? [{ du, i }]', 'du !== undefined ? [{ du, i }]', 'customRule'],
    ['cotangents are in the order of those asked', 'at.get(i) ?? ZeroTangent', 'placed[i] ?? ZeroTangent', 'customRule'],
    ['its results stay at its own inputs', 'ys: putting(atXs)(ys),', 'ys,', 'customRule'],
    [
      'cotangents of a captured value are dropped',
      'isFloat(x.dtype) && !params.stopped[i] ? notImplemented(params.name, CAPTURED) : none(x)',
      'none(x)',
      'customRule',
    ],
    [
      'tangents of a captured value are dropped',
      "if (dxs.slice(params.arity).some((d, i) => d._tag === 'Expr' && !params.stopped[i]))",
      'if (params.arity < 0)',
      'customRule',
    ],
    ['an frule that is not linear is transposed', 'if (reached(live, tangents).includes(true))', 'if (live.length < 0)', 'customRule'],
    [
      'one cotangent that is zero stops all',
      "yBars.every((y) => y._tag !== 'Expr')\n            ? args.map(none)",
      "yBars.some((y) => y._tag !== 'Expr')\n            ? args.map(none)",
      'customRule',
    ],
    [
      'its rows stay at the inputs',
      'putting([...ofOthers(zip(us, xs)), ...xs.map((x) => [x, x] as const), ...pairs(yBars, yBars)])(',
      '((nodes: readonly Node[]) => [...nodes])(',
      'customRule',
    ],
    [
      'a batch has the rules of one example',
      '(rows)\n      },\n    }),\n    ...(frule && {\n      frule: (xs, dxs) => {\n        const us',
      '(rows)\n      },\n    }),\n    ...(frule && {\n      frule: (xs, dxs) => {\n        if (xs.length > 0) return frule(xs, dxs)\n        const us',
      'customRule',
    ],
  ]),
  ...mistakes("rules of one's own", 'core/extend/custom-rule', [
    ['thunks are not added', 'asExpr(valueAt(op, place, t.addTo(acc)))', 'acc', 'customRule'],
    [
      'tangents that are zero are ones',
      "t._tag === 'Expr' ? t : asExpr(broadcastNode(constant(0, a.dtype), a.shape))",
      "t._tag === 'Expr' ? t : asExpr(broadcastNode(constant(1, a.dtype), a.shape))",
      'customRule',
    ],
    ['what it captured stays as it was', 'if (!changed) return (n) => n', 'if (changed || !changed) return (n) => n', 'customRule'],
    [
      'a zero is no tangent',
      "if (tag === 'ZeroTangent' || tag === 'NoTangent') return ZeroTangent\n",
      "if (tag === 'ZeroTangent' || tag === 'NoTangent') return NoTangent\n",
      'customRule',
    ],
  ]),
  ...mistakes("rules of one's own", 'core/extend/decompose', [
    ['a composed tangent stands at its inputs', '...placesOf(derived.seeds, live)]', '...placesOf(derived.seeds, live).slice(1)]'],
    ['a composed cotangent stands at its inputs', '...placesOf(derived.seeds, yBars)]', '...placesOf(derived.seeds, yBars).slice(1)]'],
    [
      'composed seeds are of the first argument',
      "s._tag === 'Expr' ? [[asExpr(c.us[i]!), s] as const]",
      "s._tag === 'Expr' && i === 0 ? [[asExpr(c.us[i]!), s] as const]",
    ],
    [
      'a composed batch batches its first argument',
      'batched[i] ? [[asExpr(u), asExpr(x)] as const] : []',
      'batched[i] && i === 0 ? [[asExpr(u), asExpr(x)] as const] : []',
    ],
    ['composed cotangents are asked for by all', 'us.filter((_, i) => active[i])', 'us.filter((u) => isFloat(u.dtype))'],
    ['composed cotangents are in the order of those asked for', 'active[i] ? xBars[k++]! :', 'active[i] ? (xBars[i] ?? ZeroTangent) :'],
    ['composed results are at their own inputs', 'ys: put(derived.ys, to) as', 'ys: derived.ys as'],
  ]),
  ...mistakes("rules of one's own", 'rules/define', [
    ['opting out is the wrong way round', 'if (!when(at(xs, params))) return frule', 'if (when(at(xs, params))) return frule'],
    ['opting out in reverse is the wrong way round', 'if (!when(at(xs, params))) return rrule', 'if (when(at(xs, params))) return rrule'],
  ]),
]

export const regions: readonly Mutant[] = [
  ...mistakes('regions', 'modes/mixed', [
    ['equal programs are those with equal primitives', 'interned.ids.paramsId(n.prim, n.payload))\n', '0)\n'],
    ['programs do not count their primitives', 'code.push(interned.ids.id(n.prim), ', 'code.push(0, '],
    [
      'programs do not count their arguments',
      'for (const a of n.args) code.push(position.get(index.get(a))!)\n',
      'for (const a of n.args) code.push(position.get(index.get(a))! >= 0 ? 0 : 1)\n',
    ],
    ['programs do not count their results', 'for (const k of results) code.push(position.get(k)!)\n', ''],
    ['programs do not count their dtypes', 'for (const k of region.args) code.push(interned.ids.id(nodes[k]!.dtype))\n', ''],
    [
      'arguments of a node of a region are exchanged',
      'n.args.map((a) => made[position.get(index.get(a))!]!),',
      '[...n.args].reverse().map((a) => made[position.get(index.get(a))!]!),',
    ],
    [
      'results of a region are the last nodes',
      'results.map((k) => made[position.get(k)!]!)',
      'results.map((_, j) => made[made.length - results.length + j]!)',
    ],
    ['arguments of a region come late', 'region.args.map((k) => this.made[k]!)', '[...region.args].reverse().map((k) => this.made[k]!)'],
    ['outputs are not read from outside', 'for (const o of outputs) outside[index.get(o)] = 1\n', ''],
    ['other regions read nothing', 'regionOf[k]! >= 0 && regionOf[k] !== regionOf[i]', 'regionOf[k]! >= 0 && regionOf[i]! < 0'],
    [
      'regions of constants are maps',
      'region.nodes.every((k) => active[k] === 1 && isFloat(nodes[k]!.dtype)) &&',
      'region.nodes.some((k) => active[k] === 1) &&',
    ],
    [
      'maps of a user stay at the first result',
      'isMap(n) ? expanded(n, args) : undefined',
      'isMap(n) ? expanded(n, [...args].reverse()) : undefined',
    ],
  ]),
  ...mistakes('regions', 'core/calculus/regions', [
    ['regions of other shapes are one', 'epoch[k] === e && sameShape(a.aval.shape, node.aval.shape)', 'epoch[k] === e'],
    ['what it reads is of its own level', 'if (r >= 0 && epoch[k] === e) level = groups.above([r], level)\n', ''],
    ['nodes are in the order of their joining', 'r.nodes.sort((a, b) => a - b)\n', ''],
    ['what is read twice is two arguments', 'this.groups.at(p) === id || readBy[p] === id', 'this.groups.at(p) === id'],
    ['several regions have room for more', 'if (nodes > limits.nodes || reads.size > limits.args) return -1\n', ''],
    ['what merged regions read is forgotten', 'for (const k of regions[r]!.nodes) largest.nodes.push(k)\n', ''],
  ]),
]

export const operators: readonly Mutant[] = [
  ...mistakes('operators', 'modes/operators/jacobian', [
    [
      'jacfwd is transposed',
      'reshapeNode(transposeNode(reshapeNode(ys[k++]!, [n, o.aval.size]), [1, 0]), [...o.shape, ...w.shape])',
      'reshapeNode(ys[k++]!, [...o.shape, ...w.shape])',
    ],
    ['jacfwd has the tangents of the first result', 'instantiate(tangents[i]!, o.aval)', 'instantiate(tangents[0]!, o.aval)'],
    ['jacfwd has its columns for rows', 'columns.map((c) => c[i]!)', 'columns.map((c) => c[0]!)'],
    ['jacrev has the shape of the first leaf', '...wrt[i]!.shape]', '...[...wrt[i]!.shape].reverse()]'],
    ['hessian forgets what it is by', '{ wrt: options.wrt }', '{}'],
    [
      'chunks are forgotten in jacfwd',
      'overBasis(registry, live, dx, chunk)',
      'overBasis(registry, live, dx, chunk === undefined ? undefined : chunk + 1)',
    ],
  ]),
  ...mistakes('operators', 'modes/operators/shared', [
    ['the basis is one late', 't.data[(i - from) * n + i] = 1', 't.data[(i - from) * n + ((i + 1) % n)] = 1'],
    ['chunks begin at the front', 't.data[(i - from) * n + i] = 1', 't.data[(i - from) * n + i - from] = 1'],
    ['the last chunk is left out', 'Math.ceil(n / chunk)', 'Math.floor(n / chunk)'],
  ]),
  ...mistakes('operators', 'modes/operators/gradient', [
    ['the seed is forgotten', 'options.seed === undefined ? ones', 'options.seed === undefined || options.mode !== undefined ? ones'],
    ['the seed is forgotten in forward mode', 'asNode(mul(dy, seed))', 'asNode(dy)'],
    [
      'forward mode is by the first leaf',
      'cotangents: wrt.map((w): Forced => {',
      'cotangents: wrt.map((_w): Forced => {\n    const w = wrt[0]!',
    ],
    ['the value is the gradient of it', 'asExpr(r.values[0]!), besides', 'asExpr(loss), besides'],
  ]),
  ...mistakes('operators', 'modes/operators/pullback', [
    [
      'vjp seeds the first result alone',
      'const seeds = cotangentLeaves(out, yBar, `vjp(${m.name})`)',
      "const seeds = cotangentLeaves(out, yBar, `vjp(${m.name})`).map((s, i) => (i === 0 ? s : ({ _tag: 'ZeroTangent' } as const)))",
    ],
    ['hvp pushes the first tangent', 's.at.map((i) => p.nodes[i]!), def', 's.at.map(() => p.nodes[s.at[0]!]!), def'],
    ['hvp has all tangents of the first', 'instantiate(t, out.nodes[i]!.aval)', 'instantiate(r.tangents[0]!, out.nodes[i]!.aval)'],
  ]),
  ...mistakes('operators', 'modes/operators/tangent', [
    ['linearize gives the residuals first', '[...dxs, ...liftList(residuals, name).nodes]', '[...liftList(residuals, name).nodes, ...dxs]'],
    [
      'linearize has one tangent for all',
      '(isFloat(x.dtype) ? [seeds.get(x)!] : [])',
      '(isFloat(x.dtype) ? [[...seeds.values()][0]!] : [])',
    ],
    [
      'jvp gives its tangents of the values',
      'return [treeOf(out.def, values), treeOf(out.def, dys)]\n      },\n    })\n  }\n\n/** What is left',
      'return [treeOf(out.def, values), treeOf(out.def, values)]\n      },\n    })\n  }\n\n/** What is left',
    ],
    ['results of linearize are all the first', '(float ? dys[k++]! : NoTangent)', '(float ? dys[0]! : NoTangent)'],
  ]),
  ...mistakes('operators', 'modes/operators/batching', [
    ['vmap puts the shared arguments first', '          shared,\n        )', '          new Map(),\n        )'],
    [
      'vmap takes the size for all arguments',
      'input(axes[i] === null ? n.aval : unbatched(n.aval, axes[i]!))',
      'input(axes[i] === null && n.shape[0] !== size ? n.aval : unbatched(n.aval, axes[i] ?? 0))',
    ],
  ]),
  ...mistakes('operators', 'modes/axes', [
    ['the mapped axis of arguments is the first', 'transposeNode(x, [axis, ...removed(range(x.shape.length), axis)])', 'x'],
    [
      'the mapped axis of arguments changes places with the first',
      '[axis, ...removed(range(x.shape.length), axis)]',
      'range(x.shape.length).map((i) => (i === 0 ? axis : i === axis ? 0 : i))',
    ],
    ['the mapped axis of results stays in front', 'broughtTo(spread(r), axis)', 'spread(r)'],
    [
      'the axis of results is counted without the mapped one',
      'normalizeAxis(given, one.length + 1) ??',
      '(given < 0 ? normalizeAxis(given, one.length) : given) ??',
    ],
    ['one axis for all parts', 'go(item, parts[i]!,', 'go(item, parts[0]!,'],
    ['one example has the axis of another argument', 'aval(removed(a.shape, axis), a.dtype)', 'aval(removed(a.shape, 0), a.dtype)'],
  ]),
  ...mistakes('operators', 'modes/arguments', [
    [
      'the gradient is by the leaf after',
      'Array.from({ length: leafCount(s.def) }, (_, i) => s.start + i)',
      'Array.from({ length: leafCount(s.def) }, (_, i) => (s.start > 0 ? s.start - 1 : s.start) + i)',
    ],
    [
      'several arguments are by the order given',
      'parts.sort((a, b) => (a.key < b.key ? -1 : 1))\n',
      'parts.sort((a, b) => (a.key < b.key ? 1 : -1))\n',
    ],
    [
      'tangents are those of the first primal',
      'const leaf = full ? got.leaves[i] : got.leaves[k++]',
      'const leaf = full ? got.leaves[0] : got.leaves[k++]',
    ],
  ]),
  ...mistakes('operators', 'modes/dual', [
    ['an eager dual has the tangent of the first result', 'dy: known(unthunk(made.dys[i]!))', 'dy: known(unthunk(made.dys[0]!))'],
    [
      'an eager codual gives to the argument before',
      "if (p._tag === 'Expr') a.add(tensor(asNode(p), given))",
      "if (p._tag === 'Expr') args[Math.max(0, i - 1)]!.add(tensor(asNode(p), given))",
    ],
    ['eager coduals go forward', 'for (const step of tape.splice(0).reverse()) step()', 'for (const step of tape.splice(0)) step()'],
  ]),
  ...mistakes('operators', 'core/graph/close', [
    [
      'a view of what is known is not captured',
      "known(n) && (n.kind !== APPLY || n.prim!.class !== 'layout')",
      'known(n) && n.kind !== APPLY',
    ],
    ['captured values are one', 'captured.get(n) ?? input', '[...captured.values()].find((x) => x.aval === n.aval) ?? input'],
  ]),
]
