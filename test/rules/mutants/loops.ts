// biome-ignore-all lint/suspicious/noTemplateCurlyInString: text of the source
// Mistakes in the rules of loops: which way they run, what goes round in them, which steps are taken, what is kept of a step, and under vmap.
import { type Mutant, mistakes } from './mutant.js'

export const loops: readonly Mutant[] = [
  ...mistakes('loops', 'rules/control-reverse', [
    ['the way back begins at the first step', 'reverse: !params.reverse,', 'reverse: params.reverse,', 'scan'],
    [
      'sums over the steps begin at one',
      '[orZeros(program.inputs[i]!, begins[i])]',
      "[isLive(begins[i]) ? asNode(begins[i]) : require('../core/ops/layout/move.js').broadcastNode(require('../core/graph/expr.js').constant(1, program.inputs[i]!.dtype), program.inputs[i]!.shape)]",
      'scan',
    ],
    [
      'the cotangent of what no step changes is left out of the sum',
      '[orZeros(program.inputs[i]!, begins[i])]',
      '[zeros(program.inputs[i]!.aval)]',
      'scan',
    ],
    ['what no step changes has its cotangent only beside another', 'begins[i] ?? zeroOf(x)', 'zeroOf(x)', 'scan'],
    ['what another carry moves is not active', 'if (next.every((a, i) => a === now[i])) return now', 'return now', 'scan'],
    [
      'of a carry the next step is kept',
      '[...ys, ...kept.nodes]',
      '[...ys, ...kept.nodes.map((n) => (program.inputs.indexOf(n) in ys ? ys[program.inputs.indexOf(n)]! : n))]',
      'scan',
    ],
    ['the way back takes steps that were not taken', '...whileHolds(read.outputs[outputs.length], inputs),', '', 'scan'],
    ['of no step there is no derivative', 'i < carries && isFloat(x.dtype) ? yBars[i]! : zeroOf(x)', 'zeroOf(x)', 'scan'],
    [
      'a carry of a loop within is never changed',
      'if (k >= carries || k === until || handedOn(program.outputs[k]!) !== program.inputs[k]) break',
      'if (k >= carries || k === until) break',
      'scan',
    ],
    [
      'a carry that is another one stays itself',
      'handedOn(program.outputs[i]!) === program.inputs[i]',
      'program.inputs.includes(handedOn(program.outputs[i]!))',
      'scan',
    ],
    [
      'what a step stacks has no cotangent',
      'x === undefined ? ZeroTangent : asExpr(x)))\n      const',
      'ZeroTangent))\n      const',
      'scan',
    ],
    [
      'what goes round has no hard zeros',
      'ZeroTangent : config.hardened(results[at++]!, r.hardness)',
      'ZeroTangent : results[at++]!',
      'scan',
    ],
    ['steps of other cotangents are derived once', 'seeds.known.join(), seeds.begins.join()]', "''] as const", 'scan'],
    ['steps of other arguments are derived once', '[keeps, asked.map(Number).join(), ', '[keeps, ', 'scan'],
    ['steps keep the same for whatever is differentiated', '[loop, given.map(Number).join()]', '[loop]', 'scan'],
  ]),
  ...mistakes('loops', 'rules/control', [
    ['a tangent goes on after the end', '...whileHolds(flagOf(params), inputs),', '...({ until: undefined } as object),', 'scan'],
    ['steps of other tangents are pushed once', '[scanFrule, params, known.join()]', '[scanFrule, params]', 'scan'],
  ]),
  ...mistakes('loops', 'rules/control-rounds', [
    ['what goes round is followed for one step', 'if (!changed) return', 'if (!changed || rounds.length > 0) return', 'scan'],
    ['what begins at zero does not go round', 'if (!isLive(t)) return r\n', 'if (!isLive(t) || r === undefined) return r\n', 'scan'],
    ['steps that are not taken have soft zeros', 'until === undefined ? hardness : GUARDED', 'hardness', 'scan'],
  ]),
  ...mistakes('loops', 'core/calculus/once', [
    ['the last key is not looked at', 'for (const key of keys) {', 'for (const key of keys.slice(0, -1)) {', 'scan switchCase'],
  ]),
  ...mistakes('loops', 'rules/control-batch', [
    ['steps and examples are not exchanged', '(i < 2 ? 1 - i : i)', 'i', 'scan'],
    ['all end with the first example', 'import { any } from', 'import { all as any } from', 'scan'],
    ['examples that have ended go on', 'asNode(where(each, asExpr(y), i < carries ? asExpr(inputs[i]!) : 0))', 'y', 'scan'],
    ['a carry has the axis after the first step alone', 'wide[i] && !batched[i] ? broadcastNode(n, [size, ...n.shape]) : n', 'n', 'scan'],
  ]),
  ...mistakes('loops', 'core/graph/identity', [
    ['all constants are one', 'c${n.dtype}${numberText(n.payload as number)}', 'c${n.dtype}', 'scan'],
    ['all inputs are one', 'x${this.id(capturedTensor(n) ?? n)}', 'x', 'scan'],
    ['all results of one operation are one', 'o${n.payload as number}(', 'o(', 'scan'],
    ['an operation is one whatever its parameters are', ':${this.paramsId(n.prim, n.payload)}(', '(', 'scan'],
  ]),
  ...mistakes('loops', 'rules/residuals', [
    ['the carry is there without being kept', 'new Set(inputs.slice(carries))', 'new Set(inputs)', 'scan'],
  ]),
  ...mistakes('loops', 'core/ops/control/control', [
    ['a carry goes on after the end', 'return made === old ? made : asNode(', 'return i < carries ? made : asNode(', 'scan'],
  ]),
]
