/** Declared samples as programs: a primitive's results and the cotangents of its arguments, in a dtype of the device and in f64. */
import { random } from '../../../src/check/index.js'
import { isAdException } from '../../../src/core/errors/error.js'
import { aval, isFloat } from '../../../src/core/graph/aval.js'
import { applyAny, asExpr, input, type Node } from '../../../src/core/graph/expr.js'
import { allocate, type TypedArray } from '../../../src/core/graph/ndarray.js'
import type { AnyPrimitive, Sample } from '../../../src/core/graph/primitive.js'
import { makeProgram, type Program } from '../../../src/core/graph/program.js'
import { rewrite } from '../../../src/core/graph/rewrite.js'
import { sizeOf, stridesOf } from '../../../src/core/graph/shape.js'
import { layout } from '../../../src/core/ops/families.js'

import type { DType } from '../../../src/core/types/dtype.js'
import { instantiate } from '../../../src/modes/common.js'
import { pullback } from '../../../src/modes/transform.js'
import { coreRegistry } from '../../../src/packs/all.js'

export const dtypes = ['f32', 'i32', 'bool'] as const
/** What the device has. */
export type DeviceDType = (typeof dtypes)[number]

/** Inputs in order; results come first, then the cotangents of the float arguments. */
export interface Case {
  readonly program: Program
  readonly inputs: readonly TypedArray[]
  /** How many outputs are results; the others are cotangents. */
  readonly results: number
  /** Elements of the longest argument of the primitive. */
  readonly longest: number
}

/** A program of these inputs and outputs. */
export const flat = (name: string, inputs: readonly Node[], outputs: readonly Node[]): Program => {
  const tree = (n: number) => ({ _tag: 'Tuple' as const, items: Array.from({ length: n }, () => ({ _tag: 'Leaf' as const })) })
  return makeProgram({ name, inputs, inputTree: tree(inputs.length), outputs, outputTree: tree(outputs.length) })
}

/** Parameters whose f64 is this dtype: of casts and counts, and of programs. */
const retyped = (prim: AnyPrimitive, params: unknown, dtype: DType): unknown => {
  const p = params as { readonly dtype?: DType }
  if (p.dtype === 'f64') return { ...p, dtype }
  if (prim.programs === undefined) return params
  const nested = (n: Node, args: readonly Node[]): readonly Node[] | undefined =>
    n.prim!.programs && applyAny(n.prim!, args, retyped(n.prim!, n.payload, dtype))
  const of = ({ name, inputs, outputs }: Program): Program => {
    const at = new Map(inputs.map((x) => [x, x.dtype === 'f64' ? input(aval(x.shape, dtype)) : x]))
    return flat(name, [...at.values()], rewrite(outputs, { at: (n) => at.get(n), apply: nested }))
  }
  return prim.withPrograms!(params, prim.programs(params).map(of))
}

/** The dtype that a sample counts for where it leaves none open; samples that say f64 mean any float. */
const fixedDType = ({ args }: Sample): DType | undefined =>
  args.some((a) => a.dtype === undefined || a.dtype === 'f64') ? undefined : (args[0]?.dtype ?? 'f32')

/** Results and the cotangents of `wrt` as one program; seeds for the float results become inputs, filled by `draw`. */
const withCotangents = (
  name: string,
  args: readonly { readonly x: Node; readonly data: TypedArray; readonly given: Node }[],
  ys: readonly Node[],
  draw: () => number,
  resultsAlone: boolean,
): Case => {
  const floats = resultsAlone ? [] : ys.filter((y) => isFloat(y.dtype))
  const seeds = floats.map((y) => {
    const data = allocate(y.dtype, y.aval.size)
    for (let j = 0; j < data.length; j++) data[j] = Math.fround(draw() - 0.5)
    return { x: input(y.aval), data }
  })
  const seedNodes = seeds.map((s) => asExpr(s.x))
  /** Behind a view an unknown derivative is an error: the argument is left out. */
  const known = (x: Node): boolean => {
    try {
      pullback(coreRegistry, floats, seedNodes, [x])
      return true
    } catch (e) {
      if (isAdException(e) && e.error._tag === 'NotImplemented') return false
      throw e
    }
  }
  const wrt = args.map((a) => a.x).filter((x) => isFloat(x.dtype) && (floats.length === 0 || known(x)))
  const bars = floats.length === 0 || wrt.length === 0 ? [] : pullback(coreRegistry, floats, seedNodes, wrt).cotangents
  const all = bars.length === 0 ? args : [...args, ...seeds]
  return {
    program: flat(
      name,
      all.map((a) => a.x),
      [...ys, ...bars.flatMap((b, i) => (b._tag === 'NotImplemented' ? [] : [instantiate(b, wrt[i]!.aval)]))],
    ),
    inputs: all.map((a) => a.data),
    results: ys.length,
    longest: args.reduce((n, a) => Math.max(n, a.given.aval.size), 1),
  }
}

/** How an argument lies in memory: as a view of a larger or smaller array. */
export const views = ['transposed', 'sliced', 'broadcast'] as const
export type View = (typeof views)[number]

/** Every second element from the second on, of an array with room for that. */
const slots = (d: number): number => 2 * d + 1
/** The array behind a view: its shape, what leads from it to the argument, and which of its elements the argument reads, in order. */
const behind = (
  shape: readonly number[],
  view: View,
): { readonly shape: readonly number[]; readonly through: (x: Node) => Node; readonly reads: readonly number[] } => {
  const n = sizeOf(shape)
  if (view === 'broadcast') {
    const own = shape.map((d, i) => (i % 2 === 0 ? 1 : d))
    return {
      shape: own,
      through: (x) => applyAny(layout.broadcastTo, [x], { shape })[0]!,
      reads: Array.from({ length: sizeOf(own) }, (_, i) => i),
    }
  }
  const own = view === 'transposed' ? shape.toReversed() : shape.map(slots)
  const strides = stridesOf(own)
  const steps = view === 'transposed' ? strides.toReversed() : strides.map((s) => 2 * s)
  const first = view === 'transposed' ? 0 : strides.reduce((a, b) => a + b, 0)
  const order = stridesOf(shape)
  return {
    shape: own,
    through: (x) =>
      view === 'transposed'
        ? applyAny(layout.transpose, [x], { perm: shape.map((_, i) => shape.length - 1 - i) })[0]!
        : applyAny(layout.slice, [x], { starts: shape.map(() => 1), sizes: shape, strides: shape.map(() => 2) })[0]!,
    reads: Array.from({ length: n }, (_, i) => order.reduce((at, s, a) => at + (Math.floor(i / s) % shape[a]!) * steps[a]!, first)),
  }
}

/** What a case is made with beside its sample. */
export interface CaseOptions {
  /** Computes f32 in f64, on the same numbers: what the results are held against. */
  readonly wide?: boolean
  /** Replaces the float arguments' elements. */
  readonly fill?: (x: number) => number
  /** Gives the float arguments as views; the elements that no view reads are NaN. */
  readonly view?: View
  /** Results without cotangents. */
  readonly resultsAlone?: boolean
}

/** A sample with its open dtypes as `dtype`. Raises where the primitive does not take the dtype. */
export const caseOf = (
  prim: AnyPrimitive,
  sample: Sample,
  dtype: DeviceDType,
  { wide = false, fill, view, resultsAlone = false }: CaseOptions = {},
): Case => {
  const open: DType = dtype === 'f32' && wide ? 'f64' : dtype
  const draw = random(17)
  const args = sample.args.map((a) => {
    const own = a.dtype === undefined || a.dtype === 'f64' ? open : a.dtype
    // Numbers of a kind, of a positive definite matrix, are no longer that when they are repeated.
    const base = view === undefined || !isFloat(own) || (view === 'broadcast' && a.draw !== undefined) ? undefined : behind(a.shape, view)
    const shape = base?.shape ?? a.shape
    const data = allocate(own, sizeOf(shape))
    if (base !== undefined) data.fill(Number.NaN)
    const [low, high] = own === 'bool' ? [0, 2] : own === 'i32' && a.dtype !== 'i32' ? [-9, 10] : (a.domain ?? [-2, 2])
    const n = base?.reads.length ?? data.length
    const values = a.values ?? a.draw?.(draw, a.shape)
    for (let j = 0; j < n; j++) {
      const drawn = low + (high - low) * draw()
      const x = values?.[j] ?? drawn
      const at = base?.reads[j] ?? j
      data[at] = isFloat(own) ? Math.fround(fill === undefined ? x : fill(x)) : own === 'bool' ? Number(Math.floor(x) !== 0) : Math.floor(x)
    }
    const x = input(aval(shape, own))
    return { x, data, given: base?.through(x) ?? x }
  })
  const ys = applyAny(
    prim,
    args.map((a) => a.given),
    retyped(prim, sample.params, open),
  )
  return withCotangents(prim.name, args, ys, draw, resultsAlone)
}

/** Samples that the primitive takes in this dtype, by their number. */
export const samplesOf = (prim: AnyPrimitive, dtype: DeviceDType): readonly number[] =>
  prim.samples.flatMap((sample, i) => {
    const fixed = fixedDType(sample)
    if (fixed !== undefined) return fixed === dtype ? [i] : []
    try {
      caseOf(prim, sample, dtype)
      return [i]
    } catch (e) {
      if (dtype === 'f32') throw e
      return [] // how many primitives take the dtype is counted in the suite
    }
  })
