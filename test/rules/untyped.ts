// Operations as they are without their types: tests call them with plain arrays, dtypes found at run time, and what no type allows.

import type { AnyExpr, Expr } from '../../src/core/types/expr.js'
import * as operations from '../operations.js'

type Widened<R> = R extends Expr ? AnyExpr : R extends readonly unknown[] ? readonly AnyExpr[] : { readonly [K in keyof R]: AnyExpr }
/** What F gives; of a function with overloads that TypeScript finds no one type for, an expression. */
type Given<F> = F extends (...args: never) => infer R ? Widened<R> : AnyExpr
type Untyped<F> = F extends (...args: never) => unknown
  ? ((...args: readonly unknown[]) => Given<F>) & (F extends { readonly primitive: infer P } ? { readonly primitive: P } : unknown)
  : never

/** Every operation, taking anything. */
export const untyped = operations as unknown as { readonly [K in keyof typeof operations]: Untyped<(typeof operations)[K]> }
