/** What a name of a graph stands for while it is read: an expression with its type in ONNX, and whether its numbers are known already. */
import { type AnyExpr, add, bitwiseAnd, cast, evaluate, sub, type Tensor } from '../index.js'
import type { ElementType } from './types.js'

/** A tensor. */
export interface Value {
  readonly tag: 'tensor'
  readonly type: ElementType
  readonly x: AnyExpr
  /** Its numbers, where they follow from the file and the shapes of the inputs alone: computed when somebody asks. */
  readonly known?: () => Tensor
}
/** A sequence, whose length is known: a list while the graph is read. */
export interface Sequence {
  readonly tag: 'sequence'
  readonly items: readonly Item[]
}
/** An optional: what it has, or nothing. */
export interface Optional {
  readonly tag: 'optional'
  readonly item: Item | undefined
}
export type Item = Value | Sequence | Optional

/** Larger arrays are not computed while a graph is read. */
const FOLDED = 65_536

/** A value of a type; `x` has that type's dtype, or is f64 where it is an integer that no i32 holds. */
export const value = (type: ElementType, x: AnyExpr): Value => ({ tag: 'tensor', type, x })
/** A value whose numbers are known. */
export const constant = (type: ElementType, t: Tensor): Value => ({ tag: 'tensor', type, x: t as unknown as AnyExpr, known: () => t })
/** The same value, whose numbers follow from known ones. */
export const folded = (v: Value): Value => {
  if (v.known !== undefined || v.x.shape.reduce((n, d) => n * d, 1) > FOLDED) return v
  let t: Tensor | undefined
  return { ...v, known: () => (t ??= evaluate(v.x) as unknown as Tensor) }
}

/** An integer result within the range of its type, as ONNX wraps it: of types with fewer than 32 bits. */
export const wrapped = (type: ElementType, x: AnyExpr): AnyExpr => {
  if (type.range === undefined || type.bytes >= 4 || x.dtype !== 'i32') return x
  const [low, high] = type.range
  const mask = high - low
  return low === 0 ? bitwiseAnd(x, mask) : sub(bitwiseAnd(add(x, -low), mask), -low)
}
/** Indices and sizes as i32, whatever holds them. */
export const asIndex = (x: AnyExpr): AnyExpr => (x.dtype === 'i32' ? x : cast(x, 'i32'))
