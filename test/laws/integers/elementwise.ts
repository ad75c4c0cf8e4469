// Functions of single elements, under the law of integers.
import { untyped as cd } from '../../rules/untyped.js'
import type { Becomes, Exact, Row } from './law.js'

type Name = keyof typeof cd
type Call = (...xs: readonly unknown[]) => unknown
const op = (name: Name): Call => (cd as unknown as Readonly<Record<string, Call>>)[name]!
const each = (names: string, becomes: Becomes, shapes: readonly (readonly number[])[]): readonly Row[] =>
  names.split(' ').map((name) => ({ name, becomes: [becomes], shapes, f: op(name as Name) }))
/** Of two operands that broadcast, the second of 4 elements. */
const pairs =
  (of: (a: bigint, b: bigint) => bigint): Exact =>
  (a, b) =>
    a!.map((x, i) => of(x, b![i % b!.length]!))
const one =
  (of: (a: bigint) => bigint): Exact =>
  (a) =>
    a!.map(of)
/** The remainder with the sign of b, 0 for b = 0. */
const modulo = (a: bigint, b: bigint): bigint => (b === 0n ? 0n : ((a % b) + b) % b)
const UNARY: readonly (readonly number[])[] = [[11]]
const BINARY: readonly (readonly number[])[] = [[3, 4], [4]]

const BITS: Row['only'] = [['i32', 'i32'], ['bool', 'bool'], ['i32', 'bool'], ['bool', 'i32']] // biome-ignore format: one row

const unaryFloats =
  'celu degrees elu gelu hardShrink hardSigmoid hardSwish leakyRelu lisht logCosh logSigmoid mish radians selu silu softShrink softsign tanhShrink cbrt exp exp2 expm1 log log10 log1p log2 reciprocal rsqrt sigmoid softplus sqrt digamma erf erfc lgamma trigamma acos acosh asin asinh atan atanh cos cosh sin sinh tan tanh erfcinv erfcx erfinv i0 i0e i1 i1e j0 j1 logNdtr ndtr ndtri entr logit sinc floor ceil round trunc'
const binaryFloats = 'atan2 copysign div hypot logaddexp pow strongMul xlogy heaviside beta betaln klDiv relEntr xlog1py linearRecurrence'

export const elementwiseRows: readonly Row[] = [
  ...each(unaryFloats, 'floats', UNARY),
  ...each(binaryFloats, 'floats', BINARY),
  ...each('gammainc gammaincc zeta', 'floats', [[4], [4]]).map((r) => ({ ...r, data: [[1, 2, 3, 40], [16777217, 5, 3, 41]] })), // biome-ignore format: one row
  { name: 'betainc', becomes: ['floats'], shapes: [[3], [3], [3]], data: [[1, 2, 3], [4, 40, 1], [0, 1, 1]], f: op('betainc') }, // biome-ignore format: one row
  { name: 'polygamma', becomes: ['floats'], shapes: UNARY, f: (x) => cd.polygamma(2, x) },
  { name: 'besselJ', becomes: ['floats'], shapes: UNARY, f: (x) => cd.besselJ(2, x) },
  { name: 'besselI', becomes: ['floats'], shapes: UNARY, f: (x) => cd.besselI(2, x) },
  { name: 'besselIe', becomes: ['floats'], shapes: UNARY, f: (x) => cd.besselIe(2, x) },
  { name: 'dropout', becomes: ['floats'], shapes: UNARY, f: (x) => cd.dropout(x, true, 0.5) },
  { name: 'glu', becomes: ['floats'], shapes: [[2, 6]], f: (x) => cd.glu(x) },
  ...each('isfinite isnan isinf signbit not', 'bool', UNARY),
  ...each('eq ne lt le gt ge and or isclose', 'bool', BINARY),
  { name: 'allclose', becomes: ['bool'], shapes: BINARY, f: op('allclose') },
  // what picks
  ...each('maximum minimum fmax fmin', 'stays', BINARY),
  { name: 'clamp', becomes: ['stays'], shapes: [[3, 4], [4], []], f: op('clamp') },
  ...each('nanToNum stopGradient', 'stays', UNARY),
  { name: 'abs', becomes: ['stays'], shapes: UNARY, f: op('abs'), exact: one((x) => (x < 0n ? -x : x)) },
  { name: 'where', becomes: ['stays'], shapes: BINARY, f: (x, y) => cd.where([true, false, false, true], x, y) },
  { name: 'select', becomes: ['stays'], shapes: BINARY, f: (x, y) => cd.select([true, false, false, true], x, y) },
  { name: 'selectFirst', becomes: ['stays'], shapes: [[4], [4]], f: (x, y) => cd.selectFirst([[true, false, false, true]], [x], y) },
  { name: 'piecewise', becomes: ['stays'], shapes: [[4]], f: (x) => cd.piecewise(x, [[true, false, true, false]], [(y: unknown) => y, 1]) },
  // arithmetic
  { name: 'add', becomes: ['counts'], shapes: BINARY, f: op('add'), exact: pairs((a, b) => a + b) },
  { name: 'sub', becomes: ['counts'], shapes: BINARY, f: op('sub'), exact: pairs((a, b) => a - b) },
  { name: 'mul', becomes: ['counts'], shapes: BINARY, f: op('mul'), exact: pairs((a, b) => a * b) },
  { name: 'neg', becomes: ['counts'], shapes: UNARY, f: op('neg'), exact: one((a) => -a) },
  { name: 'square', becomes: ['counts'], shapes: UNARY, f: op('square'), exact: one((a) => a * a) },
  ...each('sign relu relu6 hardTanh', 'counts', UNARY),
  { name: 'fma', becomes: ['counts'], shapes: [[4], [4], [4]], f: op('fma'), exact: (a, b, c) => a!.map((x, i) => x * b![i]! + c![i]!) },
  ...each('mod remainder', 'counts', BINARY).map((r) => ({ ...r, exact: pairs(modulo) })),
  { name: 'fmod', becomes: ['counts'], shapes: BINARY, f: op('fmod'), exact: pairs((a, b) => (b === 0n ? 0n : a % b)) },
  { name: 'floorDivide', becomes: ['counts'], shapes: BINARY, f: op('floorDivide'), exact: pairs((a, b) => (b === 0n ? 0n : (a - modulo(a, b)) / b)) }, // biome-ignore format: one row
  // bits
  ...(
    [
      ['bitwiseAnd', (a, b) => a & b],
      ['bitwiseOr', (a, b) => a | b],
      ['bitwiseXor', (a, b) => a ^ b],
    ] as readonly (readonly [Name, (a: bigint, b: bigint) => bigint])[]
  ).map(([name, of]): Row => ({ name, becomes: ['stays'], shapes: BINARY, f: op(name), exact: pairs(of), only: BITS })),
  { name: 'bitwiseNot', becomes: ['stays'], shapes: UNARY, f: op('bitwiseNot'), exact: (a) => a!.map((x) => ~x), only: [['i32']] },
  ...(
    [
      ['leftShift', (a, n) => (n < 0n || n > 31n ? 0n : a << n)],
      ['rightShift', (a, n) => a >> (n < 0n || n > 31n ? 31n : n)],
      ['rightShiftLogical', (a, n) => (n < 0n || n > 31n ? 0n : BigInt.asUintN(32, a) >> n)],
    ] as readonly (readonly [Name, (a: bigint, b: bigint) => bigint])[]
  ).map(([name, of]): Row => ({ name, becomes: ['counts'], shapes: BINARY, f: op(name), exact: pairs(of), only: BITS })),
]
