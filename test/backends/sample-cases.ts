/** Each primitive at one of its samples as a program: forward and pulled back. For tests of backends, and of whatever else runs programs. */
import { aval, isFloat } from '../../src/core/graph/aval.js'
import { applyAny, asExpr, input, type Node } from '../../src/core/graph/expr.js'
import { allocate, type TypedArray } from '../../src/core/graph/ndarray.js'
import type { AnyPrimitive, Sample } from '../../src/core/graph/primitive.js'
import { makeProgram, type Program } from '../../src/core/graph/program.js'
import type { DType } from '../../src/core/types/dtype.js'
import { instantiate } from '../../src/modes/common.js'
import { pullback } from '../../src/modes/transform.js'
import { coreRegistry } from '../../src/packs/all.js'

/** Uniform numbers from a seed (mulberry32). */
const random = (seed: number) => {
  let s = seed | 0
  return () => {
    s = (s + 0x6d2b79f5) | 0
    let t = Math.imul(s ^ (s >>> 15), 1 | s)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A program and what it is run on. */
export interface Case {
  readonly program: Program
  readonly inputs: readonly TypedArray[]
}

/** A sample as a program of its float results and the cotangents of its float arguments, in one float dtype. */
export const caseOf = (prim: AnyPrimitive, sample: Sample, float: 'f64' | 'f32'): Case | undefined => {
  const draw = random(17)
  const args = sample.args.map((a) => {
    const dtype: DType = a.dtype ?? float
    const x = input(aval(a.shape, dtype))
    const data = allocate(dtype, x.aval.size)
    const [low, high] = a.domain ?? [-2, 2]
    const values = a.values ?? a.draw?.(draw, a.shape)
    for (let j = 0; j < data.length; j++)
      data[j] = values?.[j] ?? (isFloat(dtype) ? low + (high - low) * draw() : Math.floor(low + (high - low) * draw()))
    return { x, data }
  })
  let ys: readonly Node[]
  try {
    ys = applyAny(
      prim,
      args.map((a) => a.x),
      sample.params,
    )
  } catch {
    return undefined // a sample that another dtype forbids (its declaration's own tests cover that)
  }
  const floats = ys.filter((y) => isFloat(y.dtype))
  const seeds = floats.map((y) => {
    const x = input(y.aval)
    const data = allocate(y.dtype, y.aval.size)
    for (let j = 0; j < data.length; j++) data[j] = draw() - 0.5
    return { x, data }
  })
  const wrt = args.map((a) => a.x).filter((x) => isFloat(x.dtype))
  const r =
    floats.length === 0
      ? undefined
      : pullback(
          coreRegistry,
          floats,
          seeds.map((s) => asExpr(s.x)),
          wrt,
        )
  const outputs = [
    ...ys,
    ...(r === undefined
      ? []
      : wrt.flatMap((w, i) => (r.cotangents[i]!._tag === 'NotImplemented' ? [] : [instantiate(r.cotangents[i]!, w.aval)]))),
  ]
  const inputs = [...args, ...seeds]
  const tree = (n: number) => ({ _tag: 'Tuple' as const, items: Array.from({ length: n }, () => ({ _tag: 'Leaf' as const })) })
  return {
    program: makeProgram({
      name: prim.name,
      inputs: inputs.map((a) => a.x),
      inputTree: tree(inputs.length),
      outputs,
      outputTree: tree(outputs.length),
    }),
    inputs: inputs.map((a) => a.data),
  }
}

/** Largest difference, relative to the largest reference entry (at least 1); NaN must meet NaN, infinities themselves. */
export const difference = (got: TypedArray, want: TypedArray): number => {
  if (got.length !== want.length) return Number.POSITIVE_INFINITY
  let diff = 0
  let top = 1
  for (let i = 0; i < want.length; i++) {
    const [a, b] = [got[i]!, want[i]!]
    if (Number.isNaN(b) || !Number.isFinite(b)) {
      if (!Object.is(a, b)) return Number.POSITIVE_INFINITY
      continue
    }
    if (!(Math.abs(a - b) <= diff)) diff = Math.abs(a - b)
    top = Math.max(top, Math.abs(b))
  }
  return diff / top
}
