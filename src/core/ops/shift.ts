/** Shifts of i32, each as one primitive: by counts that are computed, and by one that is known when the expression is built. */
import { badInput } from '../errors/explain.js'
import { natural, oneOf, record } from '../graph/codec.js'
import { NO_PARAMS, type NoParams, type Primitive, primitive } from '../graph/primitive.js'
import { elementwiseShape, liftScalar } from './lifted.js'

/** What comes in where bits go out: zeros on the right, copies of the sign on the left, zeros on the left. */
export type ShiftKind = 'left' | 'right' | 'logical'
/** Which shift, and by how many bits: 0 to 31. */
export interface ShiftByParams {
  readonly kind: ShiftKind
  readonly count: number
}

/** Bits of an i32. */
export const BITS = 32
const inside = (n: number): boolean => n >= 0 && n < BITS
/** The functions at one index. A count outside of 0 to 31 shifts every bit out. */
export const shifts: Readonly<Record<ShiftKind, (x: number, n: number) => number>> = {
  left: (x, n) => (inside(n) ? x << n : 0),
  right: (x, n) => x >> (inside(n) ? n : BITS - 1),
  logical: (x, n) => (inside(n) ? (x >>> n) | 0 : 0),
}

/** Numbers of many bits, of both signs. */
export const PATTERNS: readonly number[] = [-1, 1, 0x12345678, -0x7fffffff, -0x80000000, 0x7fffffff, 0, -305419897]

const sampleBy = (kind: ShiftKind, count: number, shape: readonly number[], values: readonly number[]) => ({
  args: [{ shape, dtype: 'i32' as const, values }],
  params: { kind, count },
})
/** x shifted by one count: backends write it into their code, where that of `leftShift` is read from memory and may be any. */
export const shiftByPrimitive: Primitive<'shiftBy', ShiftByParams, readonly ['int']> = primitive({
  name: 'shiftBy',
  family: 'bitwise',
  args: ['int'],
  class: 'elementwise',
  codec: record({ kind: oneOf('left', 'right', 'logical'), count: natural }),
  dtypes: ['i32'],
  shapeRule: (args, { count }) => {
    if (!(Number.isInteger(count) && inside(count))) badInput('shiftBy', `count is ${count}.`, 'count is an integer from 0 to 31.')
    return elementwiseShape('shiftBy')(args)
  },
  scalarWith:
    ({ kind, count }) =>
    (x) =>
      shifts[kind](x!, count),
  meaning: ([x], { kind, count }, [out]) => liftScalar((v) => shifts[kind](v!, count), [x!], out!),
  samples: [
    sampleBy('left', 13, [8], PATTERNS),
    sampleBy('right', 9, [2, 4], PATTERNS),
    sampleBy('logical', 31, [8], PATTERNS),
    sampleBy('logical', 1, [], [-3]),
    sampleBy('left', 31, [8], PATTERNS),
    sampleBy('right', 0, [0], []),
  ],
  showParams: ({ kind, count }) => `${kind} ${count}`,
  source: 'NumPy left_shift, right_shift',
})

/** What samples of primitives of two i32 have in common: every pattern with every count, broadcast. */
const pairs = (a: readonly number[], b: readonly number[]) => {
  const arg = (shape: readonly number[], values: readonly number[]) => ({ shape, dtype: 'i32' as const, values })
  const of = (x: ReturnType<typeof arg>, y: ReturnType<typeof arg>) => ({ args: [x, y], params: NO_PARAMS })
  const column = arg([a.length, 1], a)
  return [
    of(arg([], [a[0]!]), arg([], [b[0]!])),
    of(arg([a.length], a), arg([a.length], b)),
    of(column, arg([b.length], b)),
    of(arg([2, 4], a), arg([], [b[1]!])),
    of(arg([0], []), arg([0], [])),
  ]
}
/** A primitive of two i32, elementwise. */
export const integerPair = <const N extends string>(
  name: N,
  scalar: (a: number, b: number) => number,
  second: readonly number[],
  identity: readonly (number | null)[] | undefined,
  source: string,
): Primitive<N, NoParams, readonly ['int', 'int']> =>
  primitive<N, NoParams, readonly ['int', 'int']>({
    name,
    family: 'bitwise',
    args: ['int', 'int'],
    class: 'elementwise',
    dtypes: ['i32', 'i32'],
    shapeRule: elementwiseShape(name),
    scalar: (a, b) => scalar(a!, b!),
    meaning: (args, _params, [out]) => liftScalar((a, b) => scalar(a!, b!), args, out!),
    ...(identity !== undefined && { identity }),
    samples: pairs(PATTERNS, second),
    source,
  })
