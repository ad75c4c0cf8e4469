/** Evaluation by the primitives' meanings: what every backend is held against. */

import { raise } from '../errors/explain.js'
import type { DType } from '../types/dtype.js'
import { type Aval, aval } from './aval.js'
import { CONST, capturedTensor, type Node, resultAvals } from './expr.js'
import { allocate, emptyArray, type NDArray } from './ndarray.js'
import type { AnyPrimitive } from './primitive.js'
import { fold } from './rewrite.js'

/** A literal as an array. */
export const literalArray = (value: number, dtype: DType): NDArray => {
  const data = allocate(dtype, 1)
  data[0] = value
  return { shape: [], dtype, data }
}
/** The results of one application. */
export const resultArrays = (prim: AnyPrimitive, params: unknown, args: readonly NDArray[], results: readonly Aval[]): NDArray[] => {
  const outs = results.map((a) => emptyArray(aval(a.shape, a.dtype)))
  prim.meaning(args, params, outs)
  return outs
}
const leaf = (n: Node): NDArray => {
  if (n.kind === CONST) return literalArray(n.payload as number, n.dtype)
  return (
    capturedTensor(n)?.intact('interpret') ??
    raise({
      _tag: 'BadInput',
      where: 'evaluate',
      reason: 'the expression depends on an input that has no value.',
      fix: 'make a function of it and call that.',
    })
  )
}

/** Values of nodes, given those of the inputs; captured tensors are read as they are now. `touch` may change the results of each application. */
export const evaluateNodes = (
  outputs: readonly Node[],
  values: ReadonlyMap<Node, NDArray> = new Map(),
  touch?: (prim: AnyPrimitive, args: readonly NDArray[], results: readonly NDArray[]) => void,
): NDArray[] =>
  fold<NDArray>(outputs, {
    at: (n) => values.get(n),
    leaf,
    apply: (n, args) => {
      const results = resultArrays(n.prim!, n.payload, args, resultAvals(n))
      touch?.(n.prim!, args, results)
      return results
    },
    release: true,
  })
