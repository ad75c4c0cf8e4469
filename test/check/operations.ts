// The public operations for tables of functions: without the shapes in their types, which say nothing where arguments are data.
import type { AnyExpr } from '../../src/core/types/expr.js'
import * as codual from '../../src/index.js'

/** Every public function, of anything to an expression. */
export const op = codual as unknown as { readonly [K in keyof typeof codual]: (...xs: readonly unknown[]) => AnyExpr }

/** An array in f32. */
export const f32 = (data: unknown): AnyExpr => op.tensor(data, 'f32')
/** Indices. */
export const i32 = (data: unknown): AnyExpr => op.tensor(data, 'i32')

/** at(0), at(1), ..., n numbers. */
export const numbers = (n: number, at: (i: number) => number): readonly number[] => Array.from({ length: n }, (_, i) => at(i))

/** What a function that was made by another (grad, vmap) gives. */
export const applied = (f: unknown, ...xs: readonly unknown[]): AnyExpr => (f as (...xs: readonly unknown[]) => AnyExpr)(...xs)
