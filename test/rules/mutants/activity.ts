// Mistakes in who gets a cotangent, and which: activity, several results.
import { type Mutant, mistakes } from './mutant.js'

export const activity: readonly Mutant[] = [
  ...mistakes('activity', 'rules/forms', [
    [
      'partials are those of the active arguments in order',
      'active[j] ? thunk(() => cotangent(j))',
      'active[j] ? thunk(() => cotangent(active[0] ? j : 0))',
      'mul sub',
    ],
    [
      'the first argument alone is active',
      'active[j] ? thunk(() => cotangent(j))',
      'active[j] && (j === 0 || !active[0]) ? thunk(() => cotangent(j))',
      'mul sub',
    ],
    ['both must be active', 'active[j] ? thunk(() => cotangent(j))', 'active[j] && active[0] ? thunk(() => cotangent(j))', 'mul sub'],
    [
      'a tangent needs both',
      "da._tag === 'Expr' ? f(da, b) : ZeroTangent",
      "da._tag === 'Expr' && db._tag === 'Expr' ? f(da, b) : ZeroTangent",
      'matmul conv',
    ],
    [
      'a tangent needs all',
      "live.some((d) => d._tag === 'Expr') ? tangents",
      "live.every((d) => d._tag === 'Expr' || d._tag === 'NoTangent') ? tangents",
      'concat sliceAdd',
    ],
    ['the first tangent is forgotten where there are two', 'sum === ZeroTangent ? term : addTangents(sum, term)', 'term', 'mul sub'],
  ]),
  ...mistakes('activity', 'rules/define', [
    ['the second transpose is for the first', 'active[1] ? r.transposeB', 'active[0] ? r.transposeB', 'matmul conv'],
    ['the first transpose is for both', 'active[0] ? r.transposeA', 'active[0] && active[1] ? r.transposeA', 'matmul conv'],
  ]),
  ...mistakes(
    'activity',
    ['rules/arithmetic', 'rules/functions'],
    [
      ['an extremum needs both', '[active[0] ? share(yBar, a, b)', '[active[0] && active[1] ? share(yBar, a, b)', 'maximum minimum'],
      [
        'a lone argument of an extremum gets all',
        '[active[0] ? share(yBar, a, b)',
        '[active[0] && !active[1] ? yBar : active[0] ? share(yBar, a, b)',
        'maximum minimum',
      ],
      [
        'the second side of where needs the first',
        'const dy = choose(c, da, db)',
        'const dy = isExpr(da) ? choose(c, da, db) : da',
        'where',
      ],
    ],
  ),
  ...mistakes('activity', 'rules/contract', [
    [
      'a tangent of the second factor needs none of the first',
      "if (db._tag === 'Expr') more(a, db)",
      "if (db._tag === 'Expr' && da._tag !== 'Expr') more(a, db)",
      'matmulAdd',
    ],
  ]),
  ...mistakes('activity', 'rules/nn', [
    [
      'a tangent of the second term needs none of the first',
      "if (db._tag === 'Expr') more(a, db)",
      "if (db._tag === 'Expr' && da._tag !== 'Expr') more(a, db)",
      'convInputAdd convKernelAdd',
    ],
  ]),
  ...mistakes('activity', 'rules/scans', [
    [
      'the source of a recurrence is its factors',
      "addTangents(da._tag === 'Expr' ? config.product(da, shift(y, axis, reverse)) : ZeroTangent, db)",
      "da._tag === 'Expr' ? config.product(da, shift(y, axis, reverse)) : db",
      'linearRecurrence',
    ],
    [
      'the source of a recurrence is its terms',
      "addTangents(da._tag === 'Expr' ? config.product(da, shift(y, axis, reverse)) : ZeroTangent, db)",
      "db._tag === 'Expr' ? db : da._tag === 'Expr' ? config.product(da, shift(y, axis, reverse)) : db",
      'linearRecurrence',
    ],
  ]),
  ...mistakes('activity', 'rules/map', [
    ['programs with partials are kept for any arguments', "active.map((a) => (a ? 1 : 0)).join('')", "'all'"],
    ['partials are of the first active argument', 'if (!active[j]) return\n', 'if (!active[j] || (j > 0 && active[j - 1])) return\n'],
    [
      'tangents are of the first argument',
      "if (d._tag === 'Expr') seeds.set(args[i]!, d)",
      "if (d._tag === 'Expr' && seeds.size === 0) seeds.set(args[i]!, d)",
    ],
  ]),
  ...mistakes('activity', 'modes/reverse', [
    ['all arguments are active', 'a.active && isFloat(a.node.aval.dtype)', 'isFloat(a.node.aval.dtype)'],
    [
      'one argument is active',
      'a.active && isFloat(a.node.aval.dtype)',
      'a.active && isFloat(a.node.aval.dtype) && (k === 0 || !args[0]!.active)',
      'add mul matmul',
    ],
    ['what is not active is active', 'walk.give(ys.map(constantly))', 'walk.give(ys.map((node) => ({ node, active: true })))'],
    [
      'results of what is active are not',
      '.map((y) => ({ node: y, active: true })))',
      '.map((y, i) => ({ node: y, active: i === 0 })))',
      'split map',
    ],
    ['what is differentiated by does not hold back its cotangent', '(wanted.has(y) ? ZeroTangent : coduals.take(y))', 'coduals.take(y)'],
    ['a seed is for what is not active too', 'if (values[i]!.active) coduals.add(o, seeds[i]!', 'coduals.add(o, seeds[i]!'],
    ['the first seed is for all', 'coduals.add(o, seeds[i]!)', 'coduals.add(o, seeds[0]!)', 'split'],
    [
      'the cotangent of an argument used twice is added once',
      'if (active[k]) coduals.add',
      'if (active[k] && node.args.indexOf(node.args[k]!) === k) coduals.add',
      'mul',
    ],
    [
      'the last argument gets none',
      'for (let k = 0; k < active.length; k++) if',
      'for (let k = 0; k < Math.max(1, active.length - 1); k++) if',
    ],
    [
      'cotangents go to the values',
      'coduals.add(node.args[k]!, kept[k]!',
      'coduals.add(node.args[active.length - 1 - k]!, kept[k]!',
      'sub div',
    ],
    ['of what is differentiated by the last is forgotten', '.sort((p, q) => q.id - p.id)', '.sort((p, q) => q.id - p.id).slice(0, 3)'],
    [
      'cotangents come in the order of their making',
      'wrt.map((w) => cotangents.get(w)!)',
      '[...cotangents.values()].slice(0, wrt.length)',
      'sub mul',
    ],
    ['values are those of the outputs', 'values: values.map((v) => v.node)', 'values: outputs', 'map'],
  ]),
  ...mistakes('activity', 'modes/forward', [
    ['what does not move stops all', 'if (!args.some(moves) ||', 'if (!args.every(moves) ||', 'add where'],
    [
      'a seed is for inputs alone',
      'return seed && Dual(n, asExpr(seed))',
      'return seed && n.prim === null ? Dual(n, asExpr(seed)) : undefined',
    ],
    ['one float result is not enough', 'ys.every((y) => !isFloat(y.dtype))', 'ys.some((y) => !isFloat(y.dtype))', 'sort maxPool'],
    [
      'what is still moves along itself',
      'Dual(n, isFloat(n.dtype) ? ZeroTangent : NoTangent)',
      'Dual(n, isFloat(n.dtype) ? asExpr(n) : NoTangent)',
      'mul',
    ],
  ]),
]

export const results: readonly Mutant[] = [
  ...mistakes('several results', 'modes/forward', [
    ['all tangents are the first', 'projectTangent(dys[r]!', 'projectTangent(dys[0]!', 'split map'],
    ['tangents are in reverse order', 'projectTangent(dys[r]!', 'projectTangent(dys[dys.length - 1 - r]!', 'split map'],
    ["tangents have the first result's shape", 'ys[r]!.aval, { node, k: r })', 'ys[0]!.aval, { node, k: r })', 'split'],
    ['all values are the first', 'return Dual(y, tangent)', 'return Dual(made.ys[0] as unknown as Node, tangent)', 'split map'],
  ]),
  ...mistakes('several results', 'modes/reverse', [
    [
      'all cotangents but the first are zero',
      'resultsOf(node).map((y) => (wanted.has(y) ?',
      'resultsOf(node).map((y, i) => (i > 0 || wanted.has(y) ?',
      'split map',
    ],
    [
      'cotangents of results are in reverse order',
      'const yBars = resultsOf(node).map',
      'const yBars = [...resultsOf(node)].reverse().map',
      'split map',
    ],
    [
      'a result without a cotangent stops all',
      "if (yBars.every((y) => y._tag !== 'Expr'))",
      "if (yBars.some((y) => y._tag !== 'Expr'))",
      'split sort',
    ],
  ]),
  ...mistakes('several results', 'rules/map', [
    ['partials are of the first result', 'at.get(i * n + j)', 'at.get(j)'],
    [
      'partials are kept for the argument of the result',
      'at.set(i * program.inputs.length + j, ',
      'at.set(j * program.inputs.length + i, ',
    ],
    ['results are one late', 'all.slice(0, program.outputs.length)', 'all.slice(all.length - program.outputs.length)'],
    ['terms of several results: the last', "sum._tag === 'Expr' ? add(sum, term) : term", 'term'],
    ['tangents of several results are exchanged', 'return [pushed.ys, pushed.dys]', 'return [pushed.ys, [...pushed.dys].reverse()]'],
    [
      'a partial that is zero is that of the result before',
      "if (dy._tag !== 'Expr') return\n      at.set(i * program.inputs.length + j, outputs.length)\n",
      "at.set(i * program.inputs.length + j, outputs.length)\n      if (dy._tag !== 'Expr') return\n",
    ],
  ]),
  ...mistakes('several results', 'rules/layout', [
    [
      'parts come in reverse order',
      '(yBars as readonly AnyExpr[]).map(asNode), axis',
      '([...yBars].reverse() as readonly AnyExpr[]).map(asNode), axis',
      'split',
    ],
    [
      'parts that are zero stop all',
      'if (first === undefined) return [ZeroTangent] as const',
      'if (blocks.length < yBars.length) return [ZeroTangent] as const',
      'split',
    ],
  ]),
  ...mistakes('several results', 'rules/define', [
    [
      'tangents of several results are the first',
      '        return { ys, dys }',
      '        return { ys, dys: dys.map((d, i) => (i > 0 && d._tag !== "NoTangent" ? dys[0]! : d)) }',
      'split customRule map',
    ],
  ]),
  ...mistakes('several results', 'modes/mixed', [
    ['results of a region are the first', 'this.made[k] = ys[j]!', 'this.made[k] = ys[0]!', 'map'],
    ['results of a region are in reverse order', 'this.made[k] = ys[j]!', 'this.made[k] = ys[ys.length - 1 - j]!', 'map'],
    ['all results of a node are the first', '![n.payload as number]!', '![0]!', 'split'],
  ]),
]
