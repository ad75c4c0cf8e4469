/** Elementwise primitives: one scalar function, lifted once to any shape with NumPy broadcasting. */

import { nothingMore, shown } from '../errors/check-arguments.js'
import { badInput, badShape, showShape } from '../errors/explain.js'
import { type Aval, aval, sameAval } from '../graph/aval.js'
import { samplesIn } from '../graph/domain-samples.js'
import type { Takes } from '../graph/dtype-rule.js'
import { apply, asExpr, type Node } from '../graph/expr.js'
import { liftAll, liftFloat, liftNumber, liftPair } from '../graph/lift.js'
import type { NDArray } from '../graph/ndarray.js'
import { typed } from '../graph/operation.js'
import { type ArgKind, NO_PARAMS, type NoParams, type Primitive, primitive } from '../graph/primitive.js'
import { broadcastShapes, broadcastStrides, forEachIndex, sameShape } from '../graph/shape.js'
import type { DType } from '../types/dtype.js'
import type { AnyExpr } from '../types/expr.js'
import type { BinaryOf, UnaryOf } from '../types/signatures/elementwise.js'

/** Common shape of elementwise arguments; raises ShapeMismatch naming the clashing axis. */
export const broadcastAvals = (args: readonly Aval[], op: string): readonly number[] => {
  let shape: readonly number[] = args[0]!.shape
  for (let i = 1; i < args.length; i++) {
    const next = broadcastShapes(shape, args[i]!.shape)
    if (next === undefined) {
      const b = args[i]!.shape
      badShape(
        op,
        args.map((x) => x.shape),
        `shapes ${showShape(shape)} and ${showShape(b)} do not broadcast.`,
        `axes must be equal or 1, counted from the last; reshape or expandDims one of them.`,
      )
    }
    shape = next!
  }
  return shape
}

/** Shape rule of an elementwise primitive whose result has dtype `result` (that of argument `at`, the last, when omitted). */
export const elementwiseShape =
  (op: string, result?: DType, at?: number) =>
  (args: readonly Aval[]): Aval => {
    const like = args[at ?? args.length - 1]!
    const d = result ?? like.dtype
    let same = true
    for (const a of args) if (!sameAval(a, like)) same = false
    if (same && d === like.dtype) return like
    const shape = broadcastAvals(args, op)
    for (const a of args) if (a.dtype === d && sameShape(a.shape, shape)) return a
    return aval(shape, d)
  }

/** A scalar function at every index: the one lifting of meanings. */
export const liftScalar = (f: (...xs: number[]) => number, args: readonly NDArray[], out: NDArray): void => {
  const o = out.data
  if (args.every((a) => sameShape(a.shape, out.shape))) {
    const [x, y, z] = args.map((a) => a.data)
    if (args.length === 1) for (let i = 0; i < o.length; i++) o[i] = f(x![i]!)
    else if (args.length === 2) for (let i = 0; i < o.length; i++) o[i] = f(x![i]!, y![i]!)
    else if (args.length === 3) for (let i = 0; i < o.length; i++) o[i] = f(x![i]!, y![i]!, z![i]!)
    else for (let i = 0; i < o.length; i++) o[i] = f(...args.map((a) => a.data[i]!))
    return
  }
  const strides = args.map((a) => broadcastStrides(a.shape, out.shape))
  const xs = new Array<number>(args.length)
  forEachIndex(out.shape, strides, (offsets, flat) => {
    for (let k = 0; k < args.length; k++) xs[k] = args[k]!.data[offsets[k]!]!
    o[flat] = f(...xs)
  })
}
export type FloatOnly = readonly ['f64', 'f32']

/** What elementwise declarations have in common. */
export interface Common<N extends string, I extends boolean = boolean, R extends DType = DType> {
  readonly name: N
  /** The same on i32, where f64 would round what wraps. */
  readonly integer?: (...xs: number[]) => number
  /** Interval of each argument from which tests draw; [-2, 2] when omitted, [0, 4] for an `int`. */
  readonly domain?: readonly (readonly [number, number])[]
  readonly extremes?: readonly number[]
  readonly kinks?: Primitive['kinks']
  readonly cost?: number
  readonly source: string
  readonly tolerance?: { readonly relative: number; readonly reason: string }
  /** Accepts i32 too (result i32). */
  readonly integers?: I
  /** Dtype of the result when it is not the argument's. */
  readonly result?: R
  readonly family?: string
  readonly identity?: Primitive['identity']
  readonly zeros?: Primitive['zeros']
  readonly alias?: boolean
  /** false: it is finite, and so are its derivatives, wherever its arguments are; true, if that is not known. */
  readonly unbounded?: boolean
}
/** What `unary` and `binary` take: the function at one index, in f64. */
export interface Declaration<N extends string, I extends boolean = boolean, R extends DType = DType> extends Common<N, I, R> {
  readonly scalar: (...xs: number[]) => number
  /** Kinds of the arguments when not all `float`. */
  readonly args?: readonly ArgKind[]
}
/** The position of the argument whose dtype a result has: the last float, or the last. */
export const dtypeAt = (kinds: readonly ArgKind[]): number => (kinds.includes('float') ? kinds.lastIndexOf('float') : kinds.length - 1)
/** What a declaration of any arity is to `primitive`, without its samples and results. */
export const facetsOf = <N extends string, A extends readonly ArgKind[]>(kinds: A, d: Common<N>) => ({
  name: d.name,
  family: d.family ?? 'elementwise',
  args: kinds,
  class: 'elementwise' as const,
  dtypes: kinds.map(
    (kind): Takes => (kind === 'int' ? 'discrete' : d.integers === true ? 'number' : d.result === 'bool' ? 'any' : 'float'),
  ),
  cost: d.cost ?? 1,
  extremes: d.extremes ?? [],
  kinks: d.kinks ?? [],
  source: d.source,
  ...(d.tolerance ? { tolerance: d.tolerance } : {}),
  ...(d.unbounded !== undefined ? { unbounded: d.unbounded } : {}),
  ...(d.zeros !== undefined ? { zeros: d.zeros } : {}),
})

/** Declares an elementwise primitive of any arity, with one result and no parameters. */
export const elementwisePrimitive = <const N extends string, const A extends readonly ArgKind[]>(
  kinds: A,
  d: Declaration<N>,
  make = primitive<N, NoParams, A>,
): Primitive<N, NoParams, A> =>
  make({
    ...facetsOf(kinds, d),
    samples: samplesIn(kinds, d.domain, [NO_PARAMS]),
    shapeRule: elementwiseShape(d.name, d.result, dtypeAt(kinds)),
    scalar: d.scalar,
    ...(d.integer ? { integer: d.integer } : {}),
    meaning: (args, _params, [out]) => liftScalar(out!.dtype === 'i32' ? (d.integer ?? d.scalar) : d.scalar, args, out!),
    ...(d.identity ? { identity: d.identity } : {}),
    ...(d.alias ? { alias: d.alias } : {}),
  })

/** Arguments of kind `float` as nodes of one dtype: promoted, and i32 and bool in f64 unless integers are taken. */
export const liftFloats = (xs: readonly unknown[], op: string, integers: boolean): readonly Node[] => {
  if (xs.length === 1) return [integers ? liftNumber(xs[0], op) : liftFloat(xs[0], op)]
  const computes = integers ? 'number' : 'float'
  return xs.length === 2 ? liftPair(xs[0], xs[1], op, computes) : liftAll(xs, op, computes)
}

/** A third array would be left out in silence. */
export const refuseThird = (name: string, third: unknown): never =>
  badInput(
    name,
    `${shown(third)} is given after its two arguments.`,
    `write ${name}(a, b): it takes no options; of three arrays, ${name}(${name}(a, b), c).`,
  )
/** An elementwise operation of one argument, as it is declared: `unary` of core/extend/declare.ts checks it first. */
export const unary = <const N extends string, const I extends boolean = false, const R extends DType = never>(
  d: Declaration<N, I, R>,
  make = primitive<N, NoParams, readonly ['float']>,
): UnaryOf<N, I, NoInfer<R>> => {
  const prim = elementwisePrimitive(['float'] as const, d, make)
  const f = (x: unknown, more: unknown = undefined): AnyExpr => {
    nothingMore(more, d.name)
    return asExpr(apply(prim, liftFloats([x], d.name, d.integers === true), NO_PARAMS))
  }
  return typed(Object.assign(f, { primitive: prim }))
}

/** An elementwise operation of two arguments, which broadcast, as it is declared. */
export const binary = <const N extends string, const I extends boolean = false, const R extends DType = never>(
  d: Declaration<N, I, R>,
  make = primitive<N, NoParams, readonly ['float', 'float']>,
): BinaryOf<N, I, NoInfer<R>> => {
  const prim = elementwisePrimitive(['float', 'float'] as const, d, make)
  // An index and a list behind both are what reduce gives.
  const f = (a: unknown, b: unknown, third: unknown = undefined, list: unknown = undefined): AnyExpr => {
    if (third !== undefined && list === undefined) refuseThird(d.name, third)
    return asExpr(apply(prim, liftFloats([a, b], d.name, d.integers === true), NO_PARAMS))
  }
  return typed(Object.assign(f, { primitive: prim }))
}
