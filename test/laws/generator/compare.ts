/**
 * When two results are the same. f64 and f32 differ by rounding alone: first by a bound of a few units of the largest element; where that is
 * not met, by what rounding can do to this very program, found by evaluating it again with every result of every operation moved by a few units.
 */
import { random } from '../../../src/check/index.js'
import { type Algebra, type ApplyAt, evaluating, interpretNodes } from '../../../src/core/functions/interpret.js'
import { type Aval, aval, isFloat } from '../../../src/core/graph/aval.js'
import { isScalarProgram, listed } from '../../../src/core/graph/expand.js'
import { asExpr, asNode, input, type Node } from '../../../src/core/graph/expr.js'
import { emptyArray, type NDArray, type TypedArray } from '../../../src/core/graph/ndarray.js'
import type { Program } from '../../../src/core/graph/program.js'
import { isUnbounded, type ScanParams, scanPrimitive } from '../../../src/core/ops/control/control.js'
import { liftScalar } from '../../../src/core/ops/lifted.js'
import type { DType } from '../../../src/core/types/dtype.js'

const unit = (d: DType): number => (d === 'f32' ? 2 ** -24 : 2 ** -53)
const UNITS = 64

export interface Difference {
  readonly result: number
  readonly entry: number
  readonly got: number
  readonly want: number
  /** How far apart they may be. */
  readonly allowed: number
}
/** The least exact dtype among floats of a program: what its roundings are made of. */
export const coarsest = (p: Program): DType => {
  let d: DType = 'f64'
  const seen = new Set<Node>()
  const stack = [...p.outputs]
  while (stack.length > 0) {
    const n = stack.pop()!
    if (seen.has(n)) continue
    seen.add(n)
    if (n.dtype === 'f32') d = 'f32'
    stack.push(...n.args)
  }
  return d
}

/** The first entry, of any result, that is further from what is wanted than `allowed` says for it. */
export const differ = (
  got: readonly TypedArray[],
  want: readonly TypedArray[],
  dtypes: readonly DType[],
  allowed: (result: number, entry: number) => number,
): Difference | undefined => {
  for (let k = 0; k < want.length; k++) {
    const [g, w] = [got[k]!, want[k]!]
    if (g.length !== w.length) return { result: k, entry: -1, got: g.length, want: w.length, allowed: 0 }
    for (let i = 0; i < w.length; i++) {
      const [a, b] = [g[i]!, w[i]!]
      if (a === b || (Number.isNaN(a) && Number.isNaN(b))) continue
      const limit = isFloat(dtypes[k]!) ? allowed(k, i) : 0
      if (!(Math.abs(a - b) <= limit)) return { result: k, entry: i, got: a, want: b, allowed: limit }
    }
  }
  return undefined
}
const largest = (x: TypedArray): number => {
  let m = 0
  for (const v of x) if (Math.abs(v) > m && Math.abs(v) < Infinity) m = Math.abs(v)
  return m
}
/** The quick bound: 64 units of the largest element. */
export const quickly = (want: readonly TypedArray[], coarse: DType): ((k: number) => number) => {
  const bounds = want.map((w) => UNITS * unit(coarse) * Math.max(1e-3, largest(w)))
  return (k) => bounds[k]!
}

/** An evaluation in which each result of each operation is moved at random by up to 4 + sqrt(n) units, n the number of its terms. */
const shaken = (next: () => number): Algebra<NDArray> => {
  const plain = evaluating(() => {
    throw new Error('an input without a value')
  })
  const shake = (at: ApplyAt, args: readonly NDArray[], outs: readonly NDArray[]): readonly NDArray[] => {
    if (at.primitive.class === 'layout') return outs
    const terms = Math.max(1, ...args.map((a) => a.data.length)) / Math.max(1, outs[0]?.data.length ?? 1)
    // What a sum or a product rounds is of the size of its terms, not of its result.
    const size = at.primitive.class === 'elementwise' ? 0 : Math.max(0, ...args.filter((a) => isFloat(a.dtype)).map((a) => largest(a.data)))
    for (const o of outs) {
      if (!isFloat(o.dtype)) continue
      const u = unit(o.dtype) * (4 + Math.sqrt(Math.max(1, terms)))
      for (let i = 0; i < o.data.length; i++) {
        const v = o.data[i]!
        // Infinity is not rounded, and moved it would be NaN.
        if (Number.isFinite(v)) o.data[i] = v + u * (2 * next() - 1) * Math.max(Math.abs(v), size)
      }
    }
    return outs
  }
  const algebra: Algebra<NDArray> = {
    ...plain,
    apply: (at, args) => {
      const { expand } = at.primitive
      if (at.programs.length === 0 || expand === undefined) return shake(at, args, plain.apply(at, args))
      // The operations inside are shaken too; those of a map work on scalars, at every index of the result.
      if (isScalarProgram(at.primitive)) {
        const inner = at.programs[0]!
        const own: Algebra<NDArray> = { ...algebra, apply: (a, xs) => algebra.apply(wide(a, at.results[0]!.shape), xs) }
        const outs = interpretNodes(own, inner.outputs, new Map(inner.inputs.map((x, i) => [x, args[i]!])))
        return outs.map((o, i) => spread(o, at.results[i]!))
      }
      if (at.primitive === (scanPrimitive as unknown) && isUnbounded(at.params as ScanParams))
        return whileTrue(algebra, at.params as ScanParams, args)
      const us = args.map((a) => input(aval(a.shape, a.dtype)))
      const ys = listed(expand(us.map(asExpr), at.params)).map(asNode)
      return interpretNodes(algebra, ys, new Map(us.map((u, i) => [u, args[i]!])))
    },
  }
  return algebra
}
/** The results of a loop that only its flag ends, which is a carry. */
const whileTrue = (
  algebra: Algebra<NDArray>,
  { program: { inputs, outputs }, carries, until }: ScanParams,
  args: readonly NDArray[],
): readonly NDArray[] => {
  let state = args.slice(0, carries)
  const same = args.slice(carries)
  while (state[until!]!.data[0] !== 0) {
    const given = new Map(inputs.map((x, i) => [x, i < carries ? state[i]! : same[i - carries]!]))
    state = interpretNodes(algebra, outputs, given).slice(0, carries)
  }
  return state
}
const wide = (at: ApplyAt, shape: readonly number[]): ApplyAt => ({ ...at, results: at.results.map((r) => aval(shape, r.dtype)) })
const spread = (x: NDArray, to: Aval): NDArray => {
  const out = emptyArray(to)
  liftScalar((v) => v, [x], out)
  return out
}

/**
 * What rounding can do to the results of a program at a point: the largest of 8 shaken evaluations, times 16, and 64 units of the result.
 */
export const roundingOf = (p: Program, inputs: readonly TypedArray[], want: readonly TypedArray[]): ((k: number, i: number) => number) => {
  const given = new Map<Node, NDArray>(p.inputs.map((n, i) => [n, { shape: n.shape, dtype: n.dtype, data: inputs[i]! }]))
  const runs = Array.from({ length: 8 }, (_, r) => interpretNodes(shaken(random(r + 1)), p.outputs, given))
  return (k, i) => {
    const w = want[k]!
    let m = 0
    for (const r of runs) {
      const e = Math.abs(r[k]!.data[i]! - w[i]!)
      if (e > m) m = e
    }
    return 16 * m + UNITS * unit(p.outputs[k]!.dtype) * Math.abs(w[i]!)
  }
}
