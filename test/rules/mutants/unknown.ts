// Derivatives that are not known and come out as 0 or as a number.
import { type Mutant, mistakes } from './mutant.js'

export const unknown: readonly Mutant[] = [
  ...mistakes('not implemented', 'rules/map', [
    [
      'unknown partials are not remembered',
      "if (dy._tag === 'NotImplemented') unknown.set(i * program.inputs.length + j, dy)\n",
      '\n',
      'map',
    ],
    ['what is unknown adds nothing', 'return unknown.get(i * n + j) ?? sum', 'return sum', 'map'],
    ['what is unknown is 0', 'return unknown.get(i * n + j) ?? sum', 'return unknown.has(i * n + j) ? ZeroTangent : sum', 'map'],
    [
      'known results hide unknown ones',
      "if (sum._tag === 'NotImplemented' || yBar._tag !== 'Expr') return sum",
      "if (yBar._tag !== 'Expr') return sum",
      'map',
    ],
  ]),
  ...mistakes('not implemented', 'rules/control', [
    ['an unknown carry is still', 'if (unknown !== undefined) return unknown', 'if (unknown === null) return unknown as never', 'scan'],
    ['an unknown carry is 0', '(isFloat(o.dtype) ? pushed : NoTangent)', '(isFloat(o.dtype) ? zeroOf(o) : NoTangent)', 'scan'],
    ['unknown rows are 0', 'ofSteps(params, config.hardness(d)) : d)),', 'ofSteps(params, config.hardness(d)) : ZeroTangent)),', 'scan'],
  ]),
  ...mistakes('not implemented', 'rules/control-reverse', [
    ['an unknown step back is 0', '(pulled.active[i] ? pulled.unknown : zeroOf(x))', 'zeroOf(x)', 'scan'],
  ]),
  ...mistakes('not implemented', 'rules/custom', [
    [
      'an unknown tangent is not transposed',
      "for (const dy of dys.map(unthunk)) if (dy._tag === 'NotImplemented') raise(dy)\n",
      '\n',
      'customRule',
    ],
    [
      'what is unknown is 0 in a batch',
      'asExpr(made[k++]!) : t))',
      "asExpr(made[k++]!) : t._tag === 'NotImplemented' ? ZeroTangent : t))",
      'customRule',
    ],
  ]),
  ...mistakes('not passed on', 'core/extend/custom-rule', [
    [
      'what its author does not know is 0',
      "if (tag === 'NotImplemented') return leaf as Tangent",
      "if (tag === 'NotImplemented') return ZeroTangent",
      'customRule',
    ],
  ]),
  ...mistakes('not implemented', 'core/extend/decompose', [
    [
      'what is unknown in a composition is 0',
      "(t._tag === 'Expr' ? asExpr(made[k++]!) : t))\n}",
      "(t._tag === 'Expr' ? asExpr(made[k++]!) : t._tag === 'NotImplemented' ? ZeroTangent : t))\n}",
      'switchCase',
    ],
  ]),
  ...mistakes('not implemented', 'rules/decompositions', [
    ['a complete q is still', 'return [ys, [unknown(), unknown()]]', 'return [ys, [ZeroTangent, ZeroTangent]]', 'qr'],
    ['a complete q has no cotangent', 'return [unknown()] as never', 'return [ZeroTangent] as never', 'qr'],
    ['a complete q is a reduced one', 'return complete && m > n', 'return complete && m > n + 1', 'qr'],
  ]),
  ...mistakes('not passed on', 'rules/product', [
    ['an unknown partial is 0', "p._tag === 'NotImplemented') return p\n", "p._tag === 'NotImplemented') return ZeroTangent\n", 'mul sin'],
    ['the first is unknown, the second is the sum', "return a._tag === 'NotImplemented' ? a : b", 'return b', 'mul sin'],
    ['the second is unknown, the first is the sum', "return a._tag === 'NotImplemented' ? a : b", 'return a', 'mul sin'],
  ]),
  ...mistakes('not passed on', 'modes/forward', [
    [
      'unknown tangents are pushed on',
      "for (const a of args) if (a.tangent._tag === 'NotImplemented') raiseNotImplemented(a.tangent)\n",
      '\n',
      'mul sin',
    ],
  ]),
  ...mistakes('not passed on', 'modes/reverse', [
    ['unknown cotangents stop', "for (const y of yBars) if (y._tag === 'NotImplemented') raiseNotImplemented(y)\n", '\n', 'mul sin'],
    ['an unknown contribution is 0', "if (f._tag === 'NotImplemented') this.failed = f\n", '\n', 'mul sin'],
    [
      'a known contribution hides an unknown one',
      'return this.failed ?? (this.acc === undefined ? ZeroTangent',
      'return (this.acc === undefined ? this.failed : undefined) ?? (this.acc === undefined ? ZeroTangent',
      'mul sin',
    ],
  ]),
  ...mistakes('not passed on', 'modes/common', [
    ['an unknown derivative is zeros', "if (f._tag === 'NotImplemented') return raiseNotImplemented(f)\n", '\n', 'mul sin'],
  ]),
  ...mistakes('not passed on', 'core/calculus/taylor', [
    [
      'an unknown coefficient is 0',
      "if (x._tag === 'NotImplemented') return raiseNotImplemented(x)\n",
      "if (x._tag === 'NotImplemented') return ZeroTangent\n",
      'mul sin',
    ],
  ]),
]
