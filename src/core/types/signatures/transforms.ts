// Signatures of `fn` and of the transforms. Each takes a Fn, or a plain function, and gives a Fn: they nest to any order.
// Plain functions come first, or a parameter without annotation would be typed by Fn's overloads. There are four overloads because
// TypeScript reports four candidates by the last one alone, at the argument; three or fewer it lists in full, at the callee.
import type { Tangent } from '../../tangent.js'
import type { AnyExpr } from '../expr.js'
import type { AnyExprs, Fn, PlainFn } from '../fn.js'
import type { Guard } from '../shape.js'
import type {
  Active,
  Batched,
  CheckWrt,
  Decl,
  Exprs,
  ExprTree,
  Gradient,
  Jacobian,
  Primals,
  ScalarAndAux,
  ScalarOnly,
  Tensors,
  Values,
  Wrt,
  WrtPath,
} from '../tree.js'

/** Options of `fn`. */
export interface FnOptions {
  /** What errors and `show` call the function. */
  readonly name?: string | undefined
}
/** fn(declaration, body): a typed function of one tree, traced once per signature. */
export type FnFn = <const In extends Decl, Out extends ExprTree>(
  inputs: In,
  body: (x: Exprs<In>) => Out,
  options?: FnOptions,
) => Fn<[In], Out>

/** The option every transform takes: a path, a list of paths; without it the float leaves of the first argument. */
export interface WrtOptions<A extends readonly unknown[], W> {
  readonly wrt?: Guard<CheckWrt<Primals<A>, W>, W>
}
/** Options of `grad`. */
export interface GradOptions<A extends readonly unknown[], W> extends WrtOptions<A, W> {
  readonly mode?: 'mixed' | 'reverse' | 'forward' | undefined
  /** The first cotangent, 1 where it is absent. */
  readonly seed?: number | AnyExpr | undefined
}
type Paths<A extends readonly unknown[]> = WrtPath<Primals<A>> | undefined
/** The subtree a transform with tangents of all primals differentiates. */
type Varied<A extends readonly unknown[], W> = [W] extends [undefined] ? Primals<A> : Wrt<Primals<A>, W>

/** grad(f, { wrt, mode, seed }): the gradient of a scalar function. */
export interface GradFn {
  <A extends AnyExprs, Out, const W extends Paths<A> = undefined>(
    f: PlainFn<A, Out> & ScalarOnly<Out, 'grad'>,
    options?: GradOptions<A, W>,
  ): Fn<A, Gradient<Active<A, W>>>
  <A extends readonly unknown[], Out, const W extends Paths<A> = undefined>(
    f: PlainFn<A, Out> & ScalarOnly<Out, 'grad'>,
    options?: GradOptions<A, W>,
  ): Fn<A, Gradient<Active<A, W>>>
  <A extends readonly unknown[], Out>(
    f: Fn<A, Out> & ScalarOnly<Out, 'grad'>,
    options?: GradOptions<A, undefined>,
  ): Fn<A, Gradient<Active<A, undefined>>>
  <A extends readonly unknown[], Out, const W extends Paths<A> = undefined>(
    f: Fn<A, Out> & ScalarOnly<Out, 'grad'>,
    options?: GradOptions<A, W>,
  ): Fn<A, Gradient<Active<A, W>>>
}

/** What `valueAndGrad` gives. */
export interface ValueAndGrad<Out, G> {
  readonly value: Out
  readonly grad: G
}
/** What `valueAndGrad` with `aux` gives. */
export interface ValueGradAux<Out, G, Aux> extends ValueAndGrad<Out, G> {
  readonly aux: Aux
}
type WithAux<Out, G> = Out extends readonly [infer L, infer X] ? ValueGradAux<L, G, X> : never
type AuxOptions<A extends readonly unknown[], W> = GradOptions<A, W> & { readonly aux: true }
type NoAuxOptions<A extends readonly unknown[], W> = GradOptions<A, W> & { readonly aux?: false | undefined }
/** valueAndGrad(f, { wrt, aux, mode, seed }): { value, grad }; with aux, f returns [scalar, aux]. */
export interface ValueAndGradFn {
  <A extends AnyExprs, Out, const W extends Paths<A> = undefined>(
    f: PlainFn<A, Out> & ScalarAndAux<Out, 'valueAndGrad'>,
    options: AuxOptions<A, W>,
  ): Fn<A, WithAux<Out, Gradient<Active<A, W>>>>
  <A extends readonly unknown[], Out, const W extends Paths<A> = undefined>(
    f: PlainFn<A, Out> & ScalarAndAux<Out, 'valueAndGrad'>,
    options: AuxOptions<A, W>,
  ): Fn<A, WithAux<Out, Gradient<Active<A, W>>>>
  <A extends readonly unknown[], Out>(
    f: Fn<A, Out> & ScalarAndAux<Out, 'valueAndGrad'>,
    options: AuxOptions<A, undefined>,
  ): Fn<A, WithAux<Out, Gradient<Active<A, undefined>>>>
  <A extends readonly unknown[], Out, const W extends Paths<A> = undefined>(
    f: Fn<A, Out> & ScalarAndAux<Out, 'valueAndGrad'>,
    options: AuxOptions<A, W>,
  ): Fn<A, WithAux<Out, Gradient<Active<A, W>>>>
  <A extends AnyExprs, Out, const W extends Paths<A> = undefined>(
    f: PlainFn<A, Out> & ScalarOnly<Out, 'valueAndGrad'>,
    options?: NoAuxOptions<A, W>,
  ): Fn<A, ValueAndGrad<Out, Gradient<Active<A, W>>>>
  <A extends readonly unknown[], Out, const W extends Paths<A> = undefined>(
    f: PlainFn<A, Out> & ScalarOnly<Out, 'valueAndGrad'>,
    options?: NoAuxOptions<A, W>,
  ): Fn<A, ValueAndGrad<Out, Gradient<Active<A, W>>>>
  <A extends readonly unknown[], Out>(
    f: Fn<A, Out> & ScalarOnly<Out, 'valueAndGrad'>,
    options?: NoAuxOptions<A, undefined>,
  ): Fn<A, ValueAndGrad<Out, Gradient<Active<A, undefined>>>>
  <A extends readonly unknown[], Out, const W extends Paths<A> = undefined>(
    f: Fn<A, Out> & ScalarOnly<Out, 'valueAndGrad'>,
    options?: NoAuxOptions<A, W>,
  ): Fn<A, ValueAndGrad<Out, Gradient<Active<A, W>>>>
}

/** The function jvp(f): (primals, tangents) -> [y, dy]. */
export type Jvp<A extends readonly unknown[], Out, W> = Fn<[Primals<A>, Gradient<Varied<A, W>>], readonly [Out, Gradient<Out>]>
/** jvp(f)(primals, tangents): the value and its derivative in one direction. */
export interface JvpFn {
  <A extends AnyExprs, Out, const W extends Paths<A> = undefined>(f: PlainFn<A, Out>, options?: WrtOptions<A, W>): Jvp<A, Out, W>
  <A extends readonly unknown[], Out, const W extends Paths<A> = undefined>(f: PlainFn<A, Out>, options?: WrtOptions<A, W>): Jvp<A, Out, W>
  <A extends readonly unknown[], Out>(f: Fn<A, Out>, options?: WrtOptions<A, undefined>): Jvp<A, Out, undefined>
  <A extends readonly unknown[], Out, const W extends Paths<A> = undefined>(f: Fn<A, Out>, options?: WrtOptions<A, W>): Jvp<A, Out, W>
}
/** The function vjp(f): (primals, yBar) -> [y, primalsBar]. */
export type Vjp<A extends readonly unknown[], Out, W> = Fn<[Primals<A>, Gradient<Out>], readonly [Out, Gradient<Varied<A, W>>]>
/** vjp(f)(primals, yBar): the value and the cotangent of the primals. */
export interface VjpFn {
  <A extends AnyExprs, Out, const W extends Paths<A> = undefined>(f: PlainFn<A, Out>, options?: WrtOptions<A, W>): Vjp<A, Out, W>
  <A extends readonly unknown[], Out, const W extends Paths<A> = undefined>(f: PlainFn<A, Out>, options?: WrtOptions<A, W>): Vjp<A, Out, W>
  <A extends readonly unknown[], Out>(f: Fn<A, Out>, options?: WrtOptions<A, undefined>): Vjp<A, Out, undefined>
  <A extends readonly unknown[], Out, const W extends Paths<A> = undefined>(f: Fn<A, Out>, options?: WrtOptions<A, W>): Vjp<A, Out, W>
}
/** The function linearize(f): primals -> [y, df], where df(tangents) -> dy. */
export interface Linearized<A extends readonly unknown[], Out, W> {
  (primals: Values<Primals<A>>): readonly [Tensors<Out>, (tangents: Values<Gradient<Varied<A, W>>>) => Tensors<Gradient<Out>>]
  (primals: Exprs<Primals<A>>): readonly [Out, Fn<[Gradient<Varied<A, W>>], Gradient<Out>>]
}
/** linearize(f)(primals): the value, and the derivative there as a function of the tangents. */
export interface LinearizeFn {
  <A extends AnyExprs, Out, const W extends Paths<A> = undefined>(f: PlainFn<A, Out>, options?: WrtOptions<A, W>): Linearized<A, Out, W>
  <A extends readonly unknown[], Out, const W extends Paths<A> = undefined>(
    f: PlainFn<A, Out>,
    options?: WrtOptions<A, W>,
  ): Linearized<A, Out, W>
  <A extends readonly unknown[], Out>(f: Fn<A, Out>, options?: WrtOptions<A, undefined>): Linearized<A, Out, undefined>
  <A extends readonly unknown[], Out, const W extends Paths<A> = undefined>(
    f: Fn<A, Out>,
    options?: WrtOptions<A, W>,
  ): Linearized<A, Out, W>
}
/** The function hvp(f): (primals, tangents) -> the Hessian times the tangents. */
export type Hvp<A extends readonly unknown[], W> = Fn<[Primals<A>, Gradient<Varied<A, W>>], Gradient<Varied<A, W>>>
/** hvp(f)(primals, tangents): forward over reverse. */
export interface HvpFn {
  <A extends AnyExprs, Out, const W extends Paths<A> = undefined>(
    f: PlainFn<A, Out> & ScalarOnly<Out, 'hvp'>,
    options?: WrtOptions<A, W>,
  ): Hvp<A, W>
  <A extends readonly unknown[], Out, const W extends Paths<A> = undefined>(
    f: PlainFn<A, Out> & ScalarOnly<Out, 'hvp'>,
    options?: WrtOptions<A, W>,
  ): Hvp<A, W>
  <A extends readonly unknown[], Out>(f: Fn<A, Out> & ScalarOnly<Out, 'hvp'>, options?: WrtOptions<A, undefined>): Hvp<A, undefined>
  <A extends readonly unknown[], Out, const W extends Paths<A> = undefined>(
    f: Fn<A, Out> & ScalarOnly<Out, 'hvp'>,
    options?: WrtOptions<A, W>,
  ): Hvp<A, W>
}

/** Options of `jacfwd`, `jacrev` and `hessian`. */
export interface JacOptions<A extends readonly unknown[], W> extends WrtOptions<A, W> {
  /** How many directions run at once. */
  readonly chunk?: number | undefined
}
/** jacfwd(f), jacrev(f): the Jacobian; the tree of f's result, at each leaf the tree of its argument. */
export interface JacFn {
  <A extends AnyExprs, Out, const W extends Paths<A> = undefined>(
    f: PlainFn<A, Out>,
    options?: JacOptions<A, W>,
  ): Fn<A, Jacobian<Out, Active<A, W>>>
  <A extends readonly unknown[], Out, const W extends Paths<A> = undefined>(
    f: PlainFn<A, Out>,
    options?: JacOptions<A, W>,
  ): Fn<A, Jacobian<Out, Active<A, W>>>
  <A extends readonly unknown[], Out>(f: Fn<A, Out>, options?: JacOptions<A, undefined>): Fn<A, Jacobian<Out, Active<A, undefined>>>
  <A extends readonly unknown[], Out, const W extends Paths<A> = undefined>(
    f: Fn<A, Out>,
    options?: JacOptions<A, W>,
  ): Fn<A, Jacobian<Out, Active<A, W>>>
}
/** The tree of second derivatives with respect to T. */
export type Hessian<T> = Jacobian<Gradient<T>, T>
/** hessian(f): the matrix of second derivatives of a scalar function. */
export interface HessianFn {
  <A extends AnyExprs, Out, const W extends Paths<A> = undefined>(
    f: PlainFn<A, Out> & ScalarOnly<Out, 'hessian'>,
    options?: JacOptions<A, W>,
  ): Fn<A, Hessian<Active<A, W>>>
  <A extends readonly unknown[], Out, const W extends Paths<A> = undefined>(
    f: PlainFn<A, Out> & ScalarOnly<Out, 'hessian'>,
    options?: JacOptions<A, W>,
  ): Fn<A, Hessian<Active<A, W>>>
  <A extends readonly unknown[], Out>(
    f: Fn<A, Out> & ScalarOnly<Out, 'hessian'>,
    options?: JacOptions<A, undefined>,
  ): Fn<A, Hessian<Active<A, undefined>>>
  <A extends readonly unknown[], Out, const W extends Paths<A> = undefined>(
    f: Fn<A, Out> & ScalarOnly<Out, 'hessian'>,
    options?: JacOptions<A, W>,
  ): Fn<A, Hessian<Active<A, W>>>
}

/** Options of `vmap`: the mapped axis of each argument (null: not mapped) and of the results; 0 where absent. */
export interface VmapOptions<I> {
  readonly inAxes?: I
  readonly outAxes?: 0 | undefined
}
type InAxes = readonly (0 | null)[] | undefined
type BatchedArgs<A extends readonly unknown[], I> = {
  [K in keyof A]: I extends readonly unknown[]
    ? K extends keyof I
      ? I[K] extends null
        ? A[K]
        : Batched<A[K]>
      : Batched<A[K]>
    : Batched<A[K]>
}
/** vmap(f, { inAxes }): f over a leading axis of its arguments. */
export interface VmapFn {
  <A extends AnyExprs, Out, const I extends InAxes = undefined>(
    f: PlainFn<A, Out>,
    options?: VmapOptions<I>,
  ): Fn<BatchedArgs<A, I>, Batched<Out>>
  <A extends readonly unknown[], Out, const I extends InAxes = undefined>(
    f: PlainFn<A, Out>,
    options?: VmapOptions<I>,
  ): Fn<BatchedArgs<A, I>, Batched<Out>>
  <A extends readonly unknown[], Out, const I extends InAxes = undefined>(
    f: Fn<A, Out>,
    options?: VmapOptions<I>,
  ): Fn<BatchedArgs<A, I>, Batched<Out>>
}

/** Options of `checkpoint`: what is kept for the reverse pass. */
export interface CheckpointOptions {
  readonly policy?: 'nothing' | 'everything' | 'contractions' | undefined
}
/** checkpoint(f, { policy }): f, recomputed in the reverse pass instead of stored; no number changes. */
export interface CheckpointFn {
  <A extends AnyExprs, Out>(f: PlainFn<A, Out>, options?: CheckpointOptions): Fn<A, Out>
  <A extends readonly unknown[], Out>(f: PlainFn<A, Out>, options?: CheckpointOptions): Fn<A, Out>
  <A extends readonly unknown[], Out>(f: Fn<A, Out>, options?: CheckpointOptions): Fn<A, Out>
}

type Tangents<A extends readonly unknown[]> = { readonly [K in keyof A]: AnyExpr }
/** The calculus of a user's function: either rule may be left out, the other mode is then a MissingRule. */
export interface CustomRules<A extends readonly unknown[], Out> {
  readonly frule?: (primals: A, tangents: Tangents<A>) => readonly [Out, AnyExpr]
  readonly rrule?: (primals: A) => readonly [Out, (yBar: AnyExpr) => { readonly [K in keyof A]: Tangent }]
}
/** customRule(f, { frule, rrule }): f with derivatives of its own. */
export type CustomRuleFn = <A extends AnyExprs, Out extends AnyExpr>(
  f: (...args: A) => Out,
  rules: CustomRules<A, Out>,
) => (...args: A) => Out
