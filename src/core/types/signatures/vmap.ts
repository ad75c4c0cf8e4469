// Signatures of vmap.
import type { Axes, AxesAt, Batched, BatchedArgs, BatchedExprs, CheckAxes, Listed } from '../batch.js'
import type { AnyExpr, Plain } from '../expr.js'
import type { AnyFn, ArgsOf, Fn, ResultOf, ValuesOf } from '../fn.js'
import type { Dim, Guard } from '../shape.js'
import type { Loose, Primals, Tensors } from '../tree.js'

/** Options of `vmap`. */
export interface VmapOptions<A extends readonly unknown[], Out, I, O> {
  /** The mapped axis of every leaf (0, where absent; null: the same for every example), or a list of these by argument, or a tree. */
  readonly inAxes?:
    | (number extends A['length'] ? I : Guard<CheckAxes<I extends readonly unknown[] ? A : Primals<A>, I, 'inAxes'>, I>)
    | undefined
  /** Where the mapped axis stands in the results (0, where absent; null: a result that is the same for every example), or a tree. */
  readonly outAxes?: Guard<CheckAxes<Out, O, 'outAxes'>, O> | undefined
}
type MappedArgs<A extends readonly unknown[], I, N extends Dim = number> = { [K in keyof A]: Batched<A[K], N, AxesAt<Listed<I>, K>> }
type MappedExprs<A extends readonly unknown[], I, N extends Dim> = { [K in keyof A]: BatchedExprs<A[K], N, AxesAt<Listed<I>, K>> }
type MappedLoose<A extends readonly unknown[], I, N extends Dim> = { [K in keyof A]: BatchedArgs<A[K], N, AxesAt<Listed<I>, K>> }
/** Holds what a function was mapped over in its type; no function has this property. */
declare const mappedOver: unique symbol
/** What `vmap` gives for a function of A with the result Out: a Fn over a further axis; expressions keep that axis's size or name. */
export type Vmap<A extends readonly unknown[], Out, I = undefined, O = undefined> = Over<A, Out, I, O> &
  Fn<MappedArgs<A, I>, Batched<Out, number, O>>
interface Over<A extends readonly unknown[], Out, I, O> {
  (...args: ValuesOf<MappedArgs<A, I>>): Tensors<Batched<Out, number, O>>
  <N extends Dim = number>(...args: MappedExprs<A, I, N>): Batched<Out, N, O>
  <N extends Dim = number>(...args: MappedLoose<A, I, N>): Batched<Loose<Out>, N, O>
  readonly [mappedOver]: readonly [A, Out, I, O]
}
/** What `vmap` gives for what `vmap` gave (for A, Out, I and O): expressions keep both axes' sizes or names. */
export type VmapTwice<A extends readonly unknown[], Out, I, O, J, P> = OverBoth<A, Out, I, O, J, P> &
  Vmap<MappedArgs<A, I>, Batched<Out, number, O>, J, P>
interface OverBoth<A extends readonly unknown[], Out, I, O, J, P> {
  (...args: ValuesOf<MappedArgs<MappedArgs<A, I>, J>>): Tensors<Batched<Batched<Out, number, O>, number, P>>
  <M extends Dim = number, N extends Dim = number>(...args: MappedExprs<MappedArgs<A, I, M>, J, N>): Batched<Batched<Out, M, O>, N, P>
}
type VmapOf<F, I, O> = F extends { readonly [mappedOver]: readonly [infer A extends readonly unknown[], infer Out, infer I0, infer O0] }
  ? VmapTwice<A, Out, I0, O0, I, O>
  : Vmap<Mapped<ArgsOf<F>>, ResultOf<F>, I, O>
/** Arguments as they are mapped: what is an expression or a plain array, as those of an operation are, is an expression. */
type Mapped<A extends readonly unknown[]> = { [K in keyof A]: [AnyExpr] extends [A[K]] ? Exclude<A[K], Plain> : A[K] }
/** vmap(f, { inAxes, outAxes }): f over an axis of its arguments. */
export type VmapFn = <F extends AnyFn, const I extends Axes | undefined = undefined, const O extends Axes | undefined = undefined>(
  f: F,
  options?: VmapOptions<ArgsOf<F>, ResultOf<F>, I, O>,
) => VmapOf<F, I, O>
