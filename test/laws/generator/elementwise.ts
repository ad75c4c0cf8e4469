/** Builders of elementwise operations. Those that are one primitive come from the declarations: arity, domain and dtypes with them. */
import type { AnyPrimitive } from '../../../src/core/graph/primitive.js'
import type { DType } from '../../../src/core/types/dtype.js'
import { type Draw, dtypeOf, isFloatValue, rankOf, redraw, ref, shapeOf, type Value } from './draw.js'
import { apart, awayFrom, awayFromEachOther, beside, like, tame, within } from './guards.js'
import { isRef, shipped, type Template } from './program.js'

export type Builder = (d: Draw) => void
/** A builder with the operations that it reaches and how often it is tried. */
export interface Row {
  readonly name: string
  readonly weight: number
  readonly build: Builder
  /** A function of numbers: may stand inside `map`. */
  readonly scalar?: boolean
}

/** Elementwise operations of the library that are one primitive, by name and in the order of names: programs are drawn from them. */
export const primitiveOps: ReadonlyMap<string, AnyPrimitive> = new Map(
  Object.entries(shipped)
    .flatMap(([name, f]) => {
      const primitive = (f as { readonly primitive?: AnyPrimitive } | null)?.primitive
      return typeof f === 'function' && primitive?.class === 'elementwise' ? [[name, primitive] as const] : []
    })
    .sort(([a], [b]) => (a < b ? -1 : 1)),
)
const domainOf = (p: AnyPrimitive, i: number): readonly [number, number] => p.samples[0]?.args[i]?.domain ?? [-2, 2]

/** Where a function of one number has a kink or a jump. */
const kinksOf: Readonly<Record<string, (x: number) => readonly number[]>> = {
  abs: () => [0],
  sign: () => [0],
  relu: () => [0],
  leakyRelu: () => [0],
  elu: () => [0],
  selu: () => [0],
  relu6: () => [0, 6],
  hardSigmoid: () => [-3, 3],
  hardSwish: () => [-3, 3],
  hardTanh: () => [-1, 1],
  softShrink: () => [-0.5, 0.5],
  hardShrink: () => [-0.5, 0.5],
  floor: (x) => [Math.round(x)],
  ceil: (x) => [Math.round(x)],
  round: (x) => [Math.floor(x) + 0.5],
}
const away = (d: Draw, op: string, v: Value): void => {
  const points = kinksOf[op]
  if (points !== undefined && !d.wild) awayFrom(d, v, points)
}
export const chosen = (d: Draw, dtypes: readonly DType[]): Value => {
  const v = d.find((x) => dtypes.includes(dtypeOf(x)))
  if (v !== undefined && d.chance(0.92)) return v
  return d.canInput() ? d.input(d.shape()) : (v ?? redraw('no argument'))
}
export const NUMBERS: readonly DType[] = ['f64', 'f32']
const steps = new Set(['floor', 'ceil', 'round', 'sign'])

const one =
  (op: string, domain: readonly [number, number], takesIntegers: boolean): Builder =>
  (d) => {
    const v = chosen(d, takesIntegers && d.chance(0.2) ? ['i32'] : NUMBERS)
    const x = !isFloatValue(v) || steps.has(op) || op === 'abs' || op === 'relu' ? v : within(d, v, domain)
    away(d, op, x)
    d.op(op, ref(x))
  }
const integerOps = new Set(['add', 'sub', 'mul', 'mod', 'maximum', 'minimum'])
const asValue = (d: Draw, t: Template, like: Value): Value =>
  isRef(t)
    ? d.pool.find((v) => v.ref === t.ref)!
    : { ...like, ref: -1, array: { shape: [], dtype: dtypeOf(like), data: Float64Array.of(t as number) }, exact: true }

const two =
  (op: string, p: AnyPrimitive): Builder =>
  (d) => {
    const v = chosen(d, integerOps.has(op) && d.chance(0.2) ? ['i32'] : NUMBERS)
    const float = isFloatValue(v)
    const x = float ? within(d, v, domainOf(p, 0)) : v
    const other = d.chance(0.15) ? ref(x) : beside(d, shapeOf(x), dtypeOf(x))
    const y = isRef(other) && float ? ref(within(d, asValue(d, other, x), domainOf(p, 1))) : other
    const [a, b] = [x, asValue(d, y, x)]
    if (!d.wild) {
      if (!float && op === 'mod' && b.array.data.includes(0)) redraw('mod 0')
      if (!isRef(y) && (op === 'div' || op === 'mod') && Math.abs(y as number) < 0.3) redraw('by 0')
      const [lo, hi] = domainOf(p, 1)
      if (!isRef(y) && float && !((y as number) >= lo && (y as number) <= hi)) redraw('out of domain')
      if (op === 'maximum' || op === 'minimum') awayFromEachOther(d, a, b)
      if (op === 'mod' && float) apartFromMultiples(d, a, b)
      if (op === 'copysign') for (const z of [a, b]) awayFrom(d, z, () => [0])
    }
    const flipped = p.samples[0]?.args[0]?.domain === p.samples[0]?.args[1]?.domain && d.chance(0.3)
    d.op(op, ...(flipped ? [y, ref(x)] : [ref(x), y]))
  }
/** x mod y jumps where x / y is whole. */
const apartFromMultiples = (d: Draw, a: Value, b: Value): void => {
  const q = d.op('div', a.ref < 0 ? a.array.data[0]! : ref(a), b.ref < 0 ? b.array.data[0]! : ref(b))
  awayFrom(d, q, (x) => [Math.round(x)])
}

const comparison =
  (op: string): Builder =>
  (d) => {
    const x = chosen(d, d.chance(0.25) ? ['i32'] : NUMBERS)
    const y = d.chance(0.05) ? ref(x) : beside(d, shapeOf(x), dtypeOf(x))
    awayFromEachOther(d, x, asValue(d, y, x))
    d.op(op, ref(x), y)
  }
const bools = (d: Draw): Value => d.find((v) => dtypeOf(v) === 'bool') ?? (d.canInput() ? d.input(d.shape(), 'bool') : redraw('no bool'))
const whole = (d: Draw): Value => d.find((v) => dtypeOf(v) === 'i32') ?? (d.canInput() ? d.input(d.shape(), 'i32') : redraw('no i32'))
const COMPARISONS = new Set(['eq', 'ne', 'lt', 'le', 'gt', 'ge'])
const LOGIC = new Set(['and', 'or'])
const BITS = new Set(['bitwiseAnd', 'bitwiseOr', 'bitwiseXor', 'leftShift', 'rightShift', 'rightShiftLogical'])
/** Those with a builder of their own. */
const OWN = new Set(['where', 'select', 'stopGradient', 'gammainc', 'gammaincc', 'betainc', 'zeta'])

const primitiveRows: readonly Row[] = [...primitiveOps].flatMap(([name, p]): Row[] => {
  if (COMPARISONS.has(name)) return [{ name, weight: 0.4, build: comparison(name), scalar: true }]
  if (OWN.has(name)) return []
  if (LOGIC.has(name)) return [{ name, weight: 0.5, build: (d) => ((v) => void d.op(name, ref(v), beside2(d, v)))(bools(d)) }]
  if (BITS.has(name))
    return [
      {
        name,
        weight: 0.6,
        build: (d) => ((v) => void d.op(name, ref(v), d.chance(0.3) ? d.int(34) : beside(d, shapeOf(v), 'i32')))(whole(d)),
      },
    ]
  if (name === 'bitwiseNot') return [{ name, weight: 0.6, build: (d) => void d.op(name, ref(whole(d))) }]
  if (name === 'not') return [{ name, weight: 0.5, build: (d) => void d.op(name, ref(bools(d))) }]
  if (name === 'isnan' || name === 'isfinite') return [{ name, weight: 0.3, build: (d) => void d.op(name, ref(d.float())) }]
  const common = ['add', 'sub', 'mul', 'tanh', 'sin', 'neg', 'square'].includes(name)
  const integers = !/^(exp|log|sin|cos|tan|sqrt|rsqrt)/.test(name) && ['neg', 'abs', 'square', 'sign', 'relu'].includes(name)
  const build = p.args.length === 1 ? one(name, domainOf(p, 0), integers) : two(name, p)
  return [{ name, weight: common ? 3 : 0.6, build, scalar: true }]
})
const beside2 = (d: Draw, v: Value): Template => ref(like(d, shapeOf(v), 'bool'))

export const composed = (name: string, domain: readonly [number, number] = [-3, 3], options?: (d: Draw) => Template): Row => ({
  name,
  weight: 0.3,
  scalar: true,
  build: (d) => {
    const x = within(d, chosen(d, NUMBERS), domain)
    away(d, name, x)
    d.op(name, ref(x), ...(options === undefined || d.chance(0.4) ? [] : [options(d)]))
  },
})

const ternary = (name: 'where' | 'select'): Row => ({
  name,
  weight: name === 'where' ? 1.2 : 0.4,
  build: (d) => {
    const m = bools(d)
    const dtype = d.of([d.dtype, d.dtype, d.dtype, 'i32'] as const)
    d.op(name, ref(m), beside(d, shapeOf(m), dtype), ref(like(d, shapeOf(m), dtype)))
  },
})

const casts: Builder = (d) => {
  const x = d.pick()
  const to = d.of((['f64', 'f32', 'i32', 'bool'] as const).filter((t) => t !== dtypeOf(x)))
  const between = isFloatValue(x) && (to === 'f64' || to === 'f32')
  // A second float dtype makes everything after it mixed: rarely.
  if (between && !d.chance(0.25)) redraw('casts of floats are rare')
  if (!isFloatValue(x) && (to === 'f64' || to === 'f32') && to !== d.dtype && !d.chance(0.1)) redraw('casts of floats are rare')
  if (isFloatValue(x) && to === 'i32') awayFrom(d, x, (v) => [Math.round(v)])
  if (isFloatValue(x) && to === 'bool') awayFrom(d, x, () => [0])
  d.op('cast', ref(x), to)
}

export const elementwiseRows: readonly Row[] = [
  ...primitiveRows,
  ...['digamma', 'trigamma'].map((n) => composed(n, [0.5, 4])),
  ...['degrees', 'radians', 'silu', 'selu', 'mish', 'softsign', 'logSigmoid'].map((n) => composed(n, n === 'degrees' ? [-1, 1] : [-3, 3])),
  composed('relu6', [-3, 8]),
  ...['hardSigmoid', 'hardSwish', 'hardTanh', 'softShrink', 'hardShrink', 'tanhShrink', 'lisht', 'logCosh'].map((n) => ({
    ...composed(n, [-5, 5]),
    weight: 0.15,
  })),
  { ...composed('celu', [-3, 3], (d) => ({ alpha: d.of([0.5, 1.5]) })), weight: 0.15 },
  composed('leakyRelu', [-3, 3], (d) => ({ slope: d.of([0.1, 0.2, 0.5]) })),
  composed('elu', [-3, 3], (d) => ({ alpha: d.of([0.5, 1.5]) })),
  composed('gelu', [-3, 3], (d) => ({ approximate: d.chance(0.5) })),
  {
    name: 'polygamma',
    weight: 0.3,
    build: (d) => void d.op('polygamma', d.int(4), ref(within(d, chosen(d, NUMBERS), [0.8, 4]))),
  },
  {
    name: 'clamp',
    weight: 0.4,
    build: (d) => {
      const x = chosen(d, NUMBERS)
      const [low, high] = d.of([
        [-0.8, 0.9],
        [0, 1],
        [-1.3, 0.3],
      ] as const)
      awayFrom(d, x, () => [low, high])
      d.op('clamp', ref(x), low, high)
    },
  },
  {
    name: 'fma',
    weight: 0.5,
    build: (d) => {
      const x = tame(d, chosen(d, NUMBERS))
      d.op('fma', ref(x), beside(d, shapeOf(x), dtypeOf(x)), beside(d, shapeOf(x), dtypeOf(x)))
    },
  },
  ternary('where'),
  ternary('select'),
  { name: 'stopGradient', weight: 0.3, build: (d) => void d.op('stopGradient', ref(d.float())) },
  { name: 'cast', weight: 0.8, build: casts },
  {
    name: 'searchsorted',
    weight: 0.4,
    build: (d) => {
      const v = d.float((x) => rankOf(x) === 1)
      const sorted = d.op('sort', ref(v))
      const values = d.float()
      apart(d, v)
      if (rankOf(values) > 0) {
        const all = d.op('concat', [ref(sorted), ref(d.op('reshape', ref(values), [values.array.data.length]))])
        apart(d, all)
      } else redraw('scalar')
      d.op('searchsorted', ref(sorted), ref(values), { side: d.of(['left', 'right']) })
    },
  },
]
