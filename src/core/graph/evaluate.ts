/** Evaluation by the primitives' meanings: what every backend is held against. */

import { badInput } from '../errors/explain.js'
import type { DType } from '../types/dtype.js'
import { type Aval, aval, showAval } from './aval.js'
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
  written(prim, outs, () => prim.meaning(args, params, outs))
  if (isNew(prim, outs)) checkWritten(prim, params, args, outs)
  return outs
}

/** Sizes of results at which a meaning was seen to write all of them, by primitive: some are enough. */
const seen = new WeakMap<AnyPrimitive, Set<string>>()
const SIZES = 8
/** Has a meaning of loops of its own left zeros, at sizes that were not looked at yet? */
const isNew = (prim: AnyPrimitive, outs: readonly NDArray[]): boolean => {
  if (prim.class === 'elementwise' || prim.expand !== undefined || !outs.some(({ data }) => data.includes(0 as never))) return false
  const sizes = seen.get(prim) ?? new Set<string>()
  const key = outs.map((o) => o.data.length).join()
  if (sizes.size >= SIZES || sizes.has(key)) return false
  seen.set(prim, sizes.add(key))
  return true
}
/** Words that no arithmetic leaves: those of a signalling NaN. */
const UNWRITTEN = { f64: 0x7f_f1_be_ef, f32: 0x7f_a1_be_ef } as const
const isFloats = (dtype: DType): dtype is 'f64' | 'f32' => dtype === 'f64' || dtype === 'f32'
/** Runs a meaning again on floats of these bits: what keeps them was not written, and is no zero of the meaning's. */
const checkWritten = (prim: AnyPrimitive, params: unknown, args: readonly NDArray[], outs: readonly NDArray[]): void => {
  const again = outs.map((o) => ({ ...o, data: o.data.slice() }))
  for (const { data, dtype } of again) if (isFloats(dtype)) new Uint32Array(data.buffer).fill(UNWRITTEN[dtype])
  prim.meaning(args, params, again)
  again.forEach(({ data, dtype }, r) => {
    if (!isFloats(dtype)) return
    const words = new Uint32Array(data.buffer)
    const step = dtype === 'f64' ? 2 : 1
    for (let i = 0; i < words.length; i += step)
      if (words[i] === UNWRITTEN[dtype] && words[i + step - 1] === UNWRITTEN[dtype])
        refuse(prim, outs, r, `did not write element ${i / step}`)
  })
}
const refuse = (prim: AnyPrimitive, outs: readonly NDArray[], r: number, reason: string): never =>
  badInput(
    `the meaning of ${prim.name}`,
    `it ${reason} of its result${outs.length === 1 ? '' : ` ${r}`}, which the shape rule says is ${showAval(aval(outs[r]!.shape, outs[r]!.dtype))}.`,
    'shape rule and meaning must agree on the sizes.',
  )
/** Runs a meaning; a write of more elements than a result has names the primitive. */
const written = (prim: AnyPrimitive, outs: readonly NDArray[], run: () => void): void => {
  try {
    run()
  } catch (e) {
    if (!(e instanceof RangeError) || !/offset|length|bounds/i.test(e.message)) throw e
    refuse(prim, outs, 0, `wrote past the end (${e.message})`)
  }
}
const leaf = (n: Node): NDArray => {
  if (n.kind === CONST) return literalArray(n.payload as number, n.dtype)
  return (
    capturedTensor(n)?.intact('interpret') ??
    badInput('evaluate', 'the expression depends on an input that has no value.', 'make a function of it and call that.')
  )
}

/** Told of each application that is evaluated; it may change the results. */
export type Touch = (prim: AnyPrimitive, args: readonly NDArray[], results: readonly NDArray[], params: unknown, node: Node) => void
/** Evaluates a program in place of a primitive's meaning that holds it; `step` is the place of a loop's slices. */
export type Look = (outputs: readonly Node[], values: ReadonlyMap<Node, NDArray>, step: number | undefined) => NDArray[]

/** Who looks into the programs of the meaning that runs; not into those of the primitives in them. */
let look: Look | undefined
/** Does somebody only look? Then no effect is told. */
let quiet = false
const looking = <A>(by: Look | undefined, silent: boolean, run: () => A): A => {
  const before = [look, quiet] as const
  look = by
  quiet = silent
  try {
    return run()
  } finally {
    ;[look, quiet] = before
  }
}
/** Runs a meaning for somebody who evaluates its programs. Nobody else is told of its applications. */
export const lookingInto = (
  by: Look,
  prim: AnyPrimitive,
  params: unknown,
  args: readonly NDArray[],
  results: readonly Aval[],
): NDArray[] => {
  const outs = results.map((a) => emptyArray(a))
  looking(by, true, () => prim.meaning(args, params, outs))
  return outs
}

/** Values of nodes, given those of the inputs; captured tensors are read as they are now. `step` says of a loop's program which slices it has. */
export const evaluateNodes = (
  outputs: readonly Node[],
  values: ReadonlyMap<Node, NDArray> = new Map(),
  touch?: Touch,
  step?: number,
): NDArray[] => {
  const by = look
  if (by !== undefined) return looking(undefined, quiet, () => by(outputs, values, step))
  if (touch !== undefined && !quiet) return looking(undefined, true, () => evaluateNodes(outputs, values, touch))
  return fold<NDArray>(outputs, {
    at: (n) => values.get(n),
    leaf,
    apply: (n, args) => {
      const results = resultArrays(n.prim!, n.payload, args, resultAvals(n))
      touch?.(n.prim!, args, results, n.payload, n)
      if (!quiet) n.prim!.effect?.(args, n.payload)
      return results
    },
    release: true,
  })
}
