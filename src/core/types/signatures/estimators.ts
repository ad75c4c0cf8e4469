// Identities whose way back is their own.
import type { AnyExpr } from '../expr.js'
import type { Lifted } from './elementwise.js'
import type { TapFn } from './tap.js'

/** clipGradient(tree, limit): the same values; cotangents are clamped. */
export type ClipGradientFn = <T>(x: T, limit: number) => Lifted<T>
/** reverseGradient(tree, scale): the same values; derivatives are negated and scaled. */
export type ReverseGradientFn = <T>(x: T, scale?: number | AnyExpr) => Lifted<T>
/** tapGradient(tree, f): the same values; f sees the cotangent of each leaf in the reverse pass. */
export type TapGradientFn = TapFn
