/** A program while it is drawn: values are known, so that each step can be seen to be finite and tame before it stays. */
import { isAdException } from '../../core/errors/error.js'
import { type Aval, aval, isFloat } from '../../core/graph/aval.js'
import { resultArrays } from '../../core/graph/evaluate.js'
import { allocate, type NDArray } from '../../core/graph/ndarray.js'
import type { AnyPrimitive } from '../../core/graph/primitive.js'
import type { DType } from '../../core/types/dtype.js'
import { coreRegistry } from '../../packs/all.js'
import { drawArray } from '../draw.js'
import type { Setting } from './options.js'
import { type Given, type RandomProgram, type Step, swept } from './program.js'

/** A value so far. */
export interface Value {
  readonly id: number
  readonly aval: Aval
  readonly array: NDArray
  /** How it moves with the inputs, along one random direction. */
  readonly slope: NDArray
}

/** Results and slopes beyond this are not kept: rounding would be larger than what is looked for. */
const LARGEST = 1e3
/** Steps of the differences that give slopes. */
const STEPS = { f64: 1e-6, f32: 2 ** -9 } as const

const shifted = (v: Value, h: number): NDArray =>
  isFloat(v.aval.dtype) ? { ...v.array, data: v.array.data.map((x, i) => x + h * v.slope.data[i]!) as NDArray['data'] } : v.array
const zerosLike = (a: Aval): NDArray => ({ shape: a.shape, dtype: a.dtype, data: allocate(a.dtype, a.size) })
const tame = (a: NDArray): boolean => a.data.every((x) => Math.abs(x) <= LARGEST)

/** Avals of an application's results, or undefined where the primitive refuses its arguments. */
export const avalsOf = (primitive: AnyPrimitive, args: readonly Aval[], params: unknown): readonly Aval[] | undefined => {
  try {
    const given = primitive.shapeRule(args, params)
    return (primitive.multi ? (given as readonly Aval[]) : [given as Aval]).map((a) => aval(a.shape, a.dtype))
  } catch (e) {
    if (isAdException(e)) return undefined
    throw e
  }
}

/** A meaning that raises refuses its arguments: the primitive is then told as not reached. */
const orUndefined = <A>(make: () => A): A | undefined => {
  try {
    return make()
  } catch {
    return undefined
  }
}

/** What is drawn so far, and the random numbers that draw more. */
export class Drawing {
  readonly given: Given[] = []
  readonly steps: Step[] = []
  readonly pool: Value[] = []
  private ids = 0
  constructor(
    readonly setting: Setting,
    readonly next: () => number,
    readonly float: 'f64' | 'f32',
  ) {}

  chance(p: number): boolean {
    return this.next() < p
  }
  /** A whole number from 0 to n - 1. */
  below(n: number): number {
    return Math.floor(this.next() * n)
  }
  of<A>(xs: readonly A[]): A {
    return xs[this.below(xs.length)]!
  }
  /** A shipped primitive, where the registry has it. */
  shipped(name: string): AnyPrimitive | undefined {
    const own = this.setting.registry.rules.get(name)?.primitive
    return own === coreRegistry.rules.get(name)?.primitive ? own : undefined
  }

  /** A new input, captured tensor or literal. */
  give(value: NDArray, kind: Given['kind'], examples: Given['examples'], differentiated = true): Value {
    const a = aval(value.shape, value.dtype)
    const active = differentiated && kind === 'input' && isFloat(value.dtype) && !this.chance(0.05)
    const id = this.ids++
    this.given.push({ id, kind, value, active, examples })
    const v = { id, aval: a, array: value, slope: active ? drawArray(a, this.next, [-1, 1]) : zerosLike(a) }
    if (kind !== 'literal') this.pool.push(v)
    return v
  }
  literal(value: number, dtype: DType): Value {
    const data = allocate(dtype, 1)
    data[0] = value
    return this.give({ shape: [], dtype, data }, 'literal', 'same')
  }

  /** The results of an application, in the pool; undefined where it is refused, or its results are not finite and tame. `guard`: they need not be. */
  apply(primitive: AnyPrimitive | undefined, args: readonly Value[], params: unknown, guard?: Step['guard']): readonly Value[] | undefined {
    if (primitive === undefined) return undefined
    const avals = avalsOf(
      primitive,
      args.map((v) => v.aval),
      params,
    )
    if (avals === undefined) return undefined
    const at = (h: number): readonly NDArray[] =>
      resultArrays(
        primitive,
        params,
        args.map((v) => (h === 0 ? v.array : shifted(v, h))),
        avals,
      )
    const step = STEPS[args.some((v) => v.aval.dtype === 'f32') ? 'f32' : 'f64']
    const made = orUndefined(() => [at(0), at(step), at(-step)] as const)
    if (made === undefined) return undefined
    const [ys, right, left] = made
    const slopes = ys.map((y, k): NDArray => {
      const s = zerosLike(avals[k]!)
      if (!isFloat(y.dtype)) return s
      for (let i = 0; i < s.data.length; i++) s.data[i] = (right[k]!.data[i]! - left[k]!.data[i]!) / (2 * step)
      return s
    })
    if (guard === undefined && ![...ys, ...slopes].every(tame)) return undefined
    const values = ys.map((array, k): Value => ({ id: this.ids++, aval: avals[k]!, array, slope: slopes[k]! }))
    const outs = values.map((v) => v.id)
    this.steps.push({ primitive, params, args: args.map((v) => v.id), outs, ...(guard !== undefined && { guard }) })
    if (guard === undefined) this.pool.push(...values)
    return values
  }
  /** The same of one result. */
  one(name: string, args: readonly (Value | undefined)[], params: unknown = {}): Value | undefined {
    const all = args.filter((v) => v !== undefined)
    return all.length < args.length ? undefined : this.apply(this.shipped(name), all, params)?.[0]
  }
  /** The program of these results. */
  program(outputs: readonly Value[]): RandomProgram {
    return swept({ given: this.given, steps: this.steps, outputs: outputs.map((v) => v.id) })
  }
}
