/**
 * Symbols: for an element of an array a number that stands for how it is computed, from which inputs. Two computations that agree in every
 * symbol are the same one, but for the order of sums; so a plan can be held against its program without running any arithmetic.
 *
 * Symbols are 52 bits wide. Sums are sums modulo 2^52, because planners move terms into accumulators; every other operation mixes the
 * symbols of its arguments in order, but for the rewrites that keep every bit (x * 1, identities).
 */

import { raise } from '../../core/errors/explain.js'
import { type Algebra, interpretNodes } from '../../core/functions/interpret.js'
import { type Expansion, expandAll, isScalarProgram, scalarProgramOf } from '../../core/graph/expand.js'
import type { Node } from '../../core/graph/expr.js'
import type { Identities } from '../../core/graph/identity.js'
import { orderOf } from '../../core/graph/order.js'
import { type AnyPrimitive, NO_PARAMS } from '../../core/graph/primitive.js'
import type { Program } from '../../core/graph/program.js'
import { broadcastStrides, forEachIndex, sizeOf } from '../../core/graph/shape.js'
import type { Tensor } from '../../core/graph/tensor.js'
import { isUnbounded, type ScanParams } from '../../core/ops/control/control.js'
import { add, mul, where } from '../../core/ops/elementwise.js'
import type { ReduceParams } from '../../core/ops/reduce.js'
import { type Fold, foldBy } from './kernel.js'

const LOW = 2 ** 32
const MODULUS = 2 ** 52

/** Mixes a symbol into another: 52 bits from 104. */
export const mix = (h: number, x: number): number => {
  let low = Math.imul((h >>> 0) ^ (x >>> 0), 0x9e3779b1)
  low ^= low >>> 15
  low = Math.imul((low + Math.floor(x / LOW)) | 0, 0x85ebca77)
  low ^= low >>> 13
  let high = Math.imul((Math.floor(h / LOW) ^ low) | 0, 0xc2b2ae3d)
  high ^= high >>> 16
  high = Math.imul((high + (x >>> 0)) | 0, 0x27d4eb2f)
  low = Math.imul(low ^ high, 0x165667b1)
  low ^= low >>> 16
  return (high >>> 12) * LOW + (low >>> 0)
}
/** A sum of symbols. */
export const plus = (a: number, b: number): number => {
  const s = a + b
  return s >= MODULUS ? s - MODULUS : s
}

/** Beginnings of symbols, one for each kind. */
const LITERAL = mix(1, 0x5eed)
const INPUT = mix(2, 0x5eed)
const CAPTURED = mix(3, 0x5eed)
const OPERATION = mix(4, 0x5eed)
const FOLD = mix(5, 0x5eed)
const WHOLE = mix(6, 0x5eed)

const words = new DataView(new ArrayBuffer(8))
/** A literal. Zero is the symbol 0: a sum over nothing. */
export const literalSymbol = (x: number): number => {
  if (Object.is(x, 0)) return 0
  words.setFloat64(0, x)
  return mix(mix(LITERAL, words.getUint32(0)), words.getUint32(4))
}
export const inputSymbol = (position: number, index: number): number => mix(mix(INPUT, position), index)
export const capturedSymbol = (tensor: number, index: number): number => mix(mix(CAPTURED, tensor), index)

/** One of two by a flag: where they are the same, that. */
export const choice = (ids: Identities): ((xs: readonly number[]) => number) => {
  const start = mix(OPERATION, ids.id(where.primitive))
  return ([flag, a, b]) => (a === b ? a! : mix(mix(mix(start, flag!), a!), b!))
}
/** The function of symbols that an elementwise primitive is. */
export const operation = (prim: AnyPrimitive, params: unknown, ids: Identities): ((xs: readonly number[]) => number) => {
  if (prim.alias === true) return ([x]) => x!
  if (prim === (add.primitive as unknown as AnyPrimitive)) return ([a, b]) => plus(a!, b!)
  if (prim === (where.primitive as unknown as AnyPrimitive)) {
    const choose = choice(ids)
    return (xs) => choose(xs)
  }
  const start = mix(mix(OPERATION, ids.id(prim)), ids.paramsId(prim, params) + 1)
  const identities = (prim.identity ?? []).map((e) => (e === null ? -1 : literalSymbol(e)))
  return (xs) => {
    for (let k = 0; k < identities.length; k++) if (xs[k] === identities[k]) return xs[1 - k]!
    let h = start
    for (let i = 0; i < xs.length; i++) h = mix(h, xs[i]!)
    return h
  }
}

/** A fold while it runs: what to add for each element, and the result for the sum of that over `count` elements, the last of them `last`. */
export const foldOf = (
  op: Fold,
): { readonly term: (x: number) => number; readonly result: (sum: number, count: number, last: number) => number } => {
  if (op === 'sum') return { term: (x) => x, result: (s) => s }
  const of = { prod: 1, max: 2, min: 3 }[op]
  const identity = { prod: 1, max: Number.NEGATIVE_INFINITY, min: Number.POSITIVE_INFINITY }[op]
  const start = mix(FOLD, of)
  return {
    term: (x) => mix(start, x),
    // Of one element the fold is that element.
    result: (s, count, last) => (count === 0 ? literalSymbol(identity) : count === 1 ? last : mix(mix(start, 1), s)),
  }
}
/** One term of a matrix product: that of `mul`, because products may be planned as sums of products. */
export const productOf = (ids: Identities): ((a: number, b: number) => number) => {
  const f = operation(mul.primitive as unknown as AnyPrimitive, NO_PARAMS, ids)
  const xs = [0, 0]
  return (a, b) => {
    xs[0] = a
    xs[1] = b
    return f(xs)
  }
}

/** An array of symbols. */
export interface Symbols {
  readonly shape: readonly number[]
  readonly data: Float64Array
}

const broadcast = (x: Symbols, shape: readonly number[]): Symbols => {
  const data = new Float64Array(sizeOf(shape))
  forEachIndex(shape, [broadcastStrides(x.shape, shape)], (at, flat) => {
    data[flat] = x.data[at[0]!]!
  })
  return { shape, data }
}
const lifted = (f: (xs: readonly number[]) => number, args: readonly Symbols[], shape: readonly number[]): Symbols => {
  const data = new Float64Array(sizeOf(shape))
  const strides = args.map((a) => broadcastStrides(a.shape, shape))
  const xs = new Array<number>(args.length)
  forEachIndex(shape, strides, (at, flat) => {
    for (let k = 0; k < args.length; k++) xs[k] = args[k]!.data[at[k]!]!
    data[flat] = f(xs)
  })
  return { shape, data }
}
const folded = (op: Fold, x: Symbols, axes: readonly number[], shape: readonly number[]): Symbols => {
  const { term, result } = foldOf(op)
  const data = new Float64Array(sizeOf(shape))
  const counts = new Float64Array(data.length)
  const last = new Float64Array(data.length)
  const kept = x.shape.map((_, i) => !axes.includes(i))
  let stride = 1
  const strides = x.shape.map(() => 0)
  for (let i = x.shape.length - 1; i >= 0; i--)
    if (kept[i]) {
      strides[i] = stride
      stride *= x.shape[i]!
    }
  forEachIndex(x.shape, [strides], (at, flat) => {
    data[at[0]!] = plus(data[at[0]!]!, term(x.data[flat]!))
    counts[at[0]!]!++
    last[at[0]!] = x.data[flat]!
  })
  for (let i = 0; i < data.length; i++) data[i] = result(data[i]!, counts[i]!, last[i]!)
  return { shape, data }
}
const multiplied = (a: Symbols, b: Symbols, shape: readonly number[], ids: Identities, acc?: Symbols): Symbols => {
  const product = productOf(ids)
  const batch = shape.slice(0, -2)
  const [m, n] = shape.slice(-2) as [number, number]
  const k = a.shape[a.shape.length - 1]!
  const data = new Float64Array(sizeOf(shape))
  const matrices = (x: Symbols): number[] => broadcastStrides(x.shape.slice(0, -2), batch)
  const [sa, sb] = [matrices(a).map((s) => s * m * k), matrices(b).map((s) => s * k * n)]
  forEachIndex(batch, [sa, sb], (at, flat) => {
    for (let i = 0; i < m; i++)
      for (let j = 0; j < n; j++) {
        const to = (flat * m + i) * n + j
        let s = acc === undefined ? 0 : acc.data[to]!
        for (let l = 0; l < k; l++) s = plus(s, product(a.data[at[0]! + i * k + l]!, b.data[at[1]! + l * n + j]!))
        data[to] = s
      }
  })
  return { shape, data }
}

/** Copies of elements; or one that adds once to each that such a copy reads. */
const moves = ({ class: kind, structure }: AnyPrimitive): boolean =>
  kind === 'layout' || (structure?.kind === 'adds' && structure.reader.class === 'layout')

/** What a primitive as a whole makes of arrays of symbols. */
export const meaningOf = (
  prim: AnyPrimitive,
  params: unknown,
  args: readonly Symbols[],
  results: readonly { readonly shape: readonly number[] }[],
  ids: Identities,
): readonly Symbols[] => {
  const shape = results[0]?.shape ?? []
  if (isScalarProgram(prim)) {
    // At every index of the results.
    const everywhere: Algebra<Symbols> = {
      ...symbolic(ids),
      apply: ({ primitive, params: own }, xs) => meaningOf(primitive, own, xs, [{ shape }], ids),
    }
    const { inputs, outputs } = scalarProgramOf(prim, params)
    return interpretNodes(everywhere, outputs, new Map(inputs.map((x, i) => [x, args[i]!] as const))).map((y) => broadcast(y, shape))
  }
  if (prim.class === 'elementwise' && !prim.multi) return [lifted(operation(prim, params, ids), args, shape)]
  const op = foldBy(prim)
  if (op !== undefined) return [folded(op, args[0]!, (params as ReduceParams).axes, shape)]
  if (prim.structure?.kind === 'product') {
    const [a, b] = args.slice(-2) as [Symbols, Symbols]
    return [multiplied(a, b, shape, ids, args.length > 2 ? args[0] : undefined)]
  }
  if (moves(prim)) {
    const outs = results.map((r) => ({ shape: r.shape, dtype: 'f64' as const, data: new Float64Array(sizeOf(r.shape)) }))
    prim.meaning(
      args.map((a) => ({ ...a, dtype: 'f64' as const })),
      params,
      outs,
    )
    return outs.map(({ shape: s, data }) => ({ shape: s, data: data.map((x) => (x >= MODULUS ? x - MODULUS : x)) }))
  }
  let h = mix(mix(WHOLE, ids.id(prim)), ids.paramsId(prim, params) + 1)
  for (const a of args) {
    for (const d of a.shape) h = mix(h, d)
    for (const x of a.data) h = mix(h, x)
    h = mix(h, a.data.length)
  }
  return results.map((r, i) => ({ shape: r.shape, data: Float64Array.from({ length: sizeOf(r.shape) }, (_, j) => mix(mix(h, i), j)) }))
}

/** Symbols of expressions whose inputs are given. */
const symbolic = (ids: Identities): Algebra<Symbols> => ({
  input: ({ path }) => raise({ _tag: 'InternalLaw', law: 'what a program reads is among its inputs', detail: path }),
  captured: (tensor) => {
    const { shape } = tensor as unknown as Tensor
    return { shape, data: Float64Array.from({ length: sizeOf(shape) }, (_, j) => capturedSymbol(ids.id(tensor), j)) }
  },
  literal: (x) => ({ shape: [], data: Float64Array.of(literalSymbol(x)) }),
  apply: ({ primitive, params, results }, args) => meaningOf(primitive, params, args, results, ids),
})

/** Iterations that stand for all of a loop that its condition alone ends: each is masked by the flag that the last one left, so they are all alike. */
export const SHOWN = 3
const expansionOf = ({ prim, payload }: Node): Expansion | undefined => {
  const { structure, expand } = prim!
  if (structure?.kind === 'loop' && isUnbounded(payload as ScanParams))
    return (xs, params) => expand!(xs, { ...(params as ScanParams), length: SHOWN })
  return isScalarProgram(prim!) ? undefined : expand
}

/** Symbols of a program's results. A captured tensor that is among the inputs, as on asynchronous backends, is an input. */
export const symbolsOf = ({ inputs, outputs }: Program, ids: Identities): readonly Symbols[] => {
  const roots = expandAll(outputs, expansionOf, 'verifying', 1000)
  const { index } = orderOf(roots)
  const given = new Map<Node, Symbols>()
  inputs.forEach((x, k) => {
    if (!index.has(x)) return
    given.set(x, { shape: x.shape, data: Float64Array.from({ length: x.aval.size }, (_, j) => inputSymbol(k, j)) })
  })
  return interpretNodes(symbolic(ids), roots, given)
}
