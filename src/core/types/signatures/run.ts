// Signatures of what runs a function: evaluate, compile, run, runSync, and what is around them.

import type { Either } from 'fp-ts/lib/Either.js'
import type { ReaderTaskEither } from 'fp-ts/lib/ReaderTaskEither.js'
import type { Type } from 'io-ts'
import type { AdError } from '../../errors/error.js'
import type { OptionsOf } from '../../errors/options.js'
import type { Backend, Explanation } from '../../functions/backend.js'
import type { compileOptions, intoOptions } from '../../functions/compile.js'
import type { DType, Settled } from '../dtype.js'
import type { AnyExpr, Expr, Tensor } from '../expr.js'
import type { AnyFn, ArgsOf, Fn, ResultOf, RunOf, ValuesOf } from '../fn.js'
import type { Program } from '../program.js'
import type { Writable } from '../shape.js'
import type { Decl, ExprTree, Least, NoTangent, Static, Tensors, TensorTree } from '../tree.js'

/** Options of `into`. */
export interface IntoOptions extends OptionsOf<typeof intoOptions> {}
/** A compiled function: R is Tensors<Out> or a promise of it, Figures what `explain` gives. An argument that is an expression without inputs, such as a drawn array, is evaluated. */
export interface CompiledFn<A extends readonly unknown[], Out, R, Done, Figures> {
  (...args: RunOf<A>): R
  /** The same function, writing into the caller's tensors. */
  into(outputs: Tensors<Out>, options?: IntoOptions): (...args: RunOf<A>) => Done
  /** What it does and costs, at the signature of the last call or of the arguments given. */
  explain(...args: RunOf<A> | []): Figures
  /** The same, at sizes of the declared names. */
  explain(sizes: Readonly<Record<string, number>>): Figures
  [Symbol.dispose](): void
}
/** A function compiled for a synchronous backend. */
export interface Compiled<A extends readonly unknown[], Out> extends CompiledFn<A, Out, Tensors<Out>, Tensors<Out>, Explanation> {
  /** Makes the plan for these arguments without running it. */
  prepare(...args: RunOf<A>): void
  /** Frees the program; later calls are errors. */
  dispose(): void
}
/** A function compiled for an asynchronous backend: calls queue, inputs are copied at the call, targets are locked until resolved. */
export interface CompiledAsync<A extends readonly unknown[], Out>
  extends CompiledFn<A, Out, Promise<Tensors<Out>>, Promise<Tensors<Out>>, Promise<Explanation>> {
  /** Makes the plan for these arguments without running it. */
  prepare(...args: RunOf<A>): Promise<void>
  /** Refuses calls from now on; resolves when those made before have ended and everything is freed. */
  dispose(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
/** Options of `compile`. */
export interface CompileOptions extends OptionsOf<typeof compileOptions> {}
/** compile(f, backend, { trap }): a plain callable, one plan per signature; the default backend where none is given; throws AdException, or rejects with it. */
export interface CompileFn {
  <F extends AnyFn>(f: F, backend?: Backend<'sync'>, options?: CompileOptions): Compiled<ArgsOf<F>, ResultOf<F>>
  <F extends AnyFn>(f: F, backend: Backend<'async'>, options?: CompileOptions): CompiledAsync<ArgsOf<F>, ResultOf<F>>
}
/** compileAsync(f, backend): as `compile`, giving promises: a new signature is traced and planned in the call, on its thread; running has its turn later. */
export type CompileAsyncFn = <F extends AnyFn>(f: F, backend: Backend, options?: CompileOptions) => CompiledAsync<ArgsOf<F>, ResultOf<F>>
/** run(f)(...inputs): an effect that needs Env, may fail with an AdError and gives the result. */
export type RunFn<Env> = <F extends AnyFn>(f: F) => (...args: ValuesOf<ArgsOf<F>>) => ReaderTaskEither<Env, AdError, Tensors<ResultOf<F>>>
/** What `runSync(backend)` gives. */
export type SyncRunner = <F extends AnyFn>(f: F) => (...args: ValuesOf<ArgsOf<F>>) => Either<AdError, Tensors<ResultOf<F>>>
/** runSync(backend)(f)(...inputs): the result or an AdError, now; the backend must be synchronous. */
export type RunSyncFn = (backend: Backend<'sync'>) => SyncRunner
/** evaluate(tree): the values of expressions without inputs, on the default backend. */
export interface EvaluateFn {
  // in code generic in its sizes: of a parameter TypeScript does not say that it is no name. Where there is one S is any number of them.
  <S extends readonly number[], D extends DType>(
    x: Expr<S, D>,
    ...no: number extends S['length'] ? [never] : []
  ): Tensor<Writable<S>, Settled<D>>
  <T extends ExprTree<T>>(tree: T): Tensors<T>
}
/** show(f | expression, sizes?): the program as numbered equations. */
export interface ShowFn {
  <A extends readonly unknown[], Out>(f: Fn<A, Out>, sizes?: Readonly<Record<string, number>>): string
  <F>(program: Program<F>): string
  (x: AnyExpr | readonly AnyExpr[], sizes?: Readonly<Record<string, number>>): string
}
/** codec(declaration): the io-ts codec of a function's inputs. */
export type CodecFn = <const D extends Decl>(declaration: D) => Type<Tensors<D>, unknown, unknown>
/** Parameters and the buffers of their gradient (Enzyme's Duplicated). */
export interface Duplicated<T, G> {
  readonly primal: T
  readonly tangent: G
}
/** The gradient's buffers of a tree of tensors. */
export type TangentTensors<T> = [Least] extends [T] ? T : TangentIn<T>
type TangentIn<T, Depth extends unknown[] = []> = T extends { readonly dtype: 'i32' | 'bool' }
  ? NoTangent
  : T extends { readonly dtype: string } | NoTangent | Static
    ? T
    : Depth['length'] extends 10 // TypeScript asks about any tree while it infers, and would not end
      ? T
      : { -readonly [K in keyof T]: TangentIn<T[K], [...Depth, 0]> }
/** duplicated(params): { primal, tangent } with zeroed buffers. */
export type DuplicatedFn = <T extends TensorTree<T>>(params: T) => Duplicated<T, TangentTensors<T>>
