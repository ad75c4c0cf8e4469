// The public face of a program: a closed computation at fixed shapes, as data.

import type { Either } from 'fp-ts/lib/Either.js'
import type { AdError } from '../errors/error.js'
import type { OptionsOf } from '../errors/options.js'
import type { AnyPrimitive } from '../graph/primitive.js'
import type { traceOptions } from '../programs/json.js'
import type { AnyExpr } from './expr.js'
import type { AnyFn, ArgsOf, Fn, ResultOf, ValuesOf } from './fn.js'

/** Holds the type of the function that a program is of; no program has this property. */
declare const functionOf: unique symbol

/** A closed computation at fixed shapes, as data: `show` prints it, `toJSON` writes it, `fromProgram` makes it a function again. */
export interface Program<F = AnyFunction> {
  readonly name: string
  readonly [functionOf]?: F
}
/** The function of a program whose type is not known: one that was read from JSON. */
export type AnyFunction = (...args: readonly unknown[]) => unknown

/** What JSON can hold. */
export type JSONValue = null | boolean | number | string | readonly JSONValue[] | { readonly [key: string]: JSONValue }

/** What tracing may record beside the program. */
export interface TraceOptions extends OptionsOf<typeof traceOptions> {}

/** Whether arguments are declared, all of them: those of a transformed plain function, `grad((x) => ...)`, are expressions. */
type IsDeclared<T> = T extends { readonly _tag: string }
  ? T extends AnyExpr
    ? false
    : true
  : T extends readonly (infer E)[]
    ? IsDeclared<E>
    : { readonly [K in keyof T]: IsDeclared<T[K]> }[keyof T]
/** What a transform gives: declared where what it was made of is. */
type OfFn<A extends readonly unknown[], Out> =
  false extends IsDeclared<A> ? (...examples: ValuesOf<A>) => Program<Fn<A, Out>> : Program<Fn<A, Out>>
/** toProgram(fn, sizes?) of a declared function, toProgram(f)(...examples) of any other. */
export interface ToProgramFn {
  <A extends readonly unknown[], Out>(
    f: Fn<A, Out>,
    sizes?: Readonly<Record<string, number>> | TraceOptions,
    options?: TraceOptions,
  ): OfFn<A, Out>
  <F extends AnyFn>(f: F, options?: TraceOptions): (...examples: ValuesOf<ArgsOf<F>>) => Program<Fn<ArgsOf<F>, ResultOf<F>>>
}
/** fromProgram(p): its function. */
export type FromProgramFn = <F>(program: Program<F>) => F
/** toJSON(p): plain JSON. */
export type ToJSONFn = <F>(program: Program<F>) => JSONValue
/** fromJSON(json): the program, or every error in it; of primitives of the user's own beside the registry's. */
export type FromJSONFn = (json: unknown, primitives?: readonly AnyPrimitive[]) => Either<AdError, Program>
