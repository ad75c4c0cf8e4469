// Signatures of `fn` and of the transforms. Each takes a Fn, or a plain function, and gives a Fn: they nest to any order.
// Plain functions come first, or a parameter without annotation would be typed by Fn's overloads. There are four overloads because
// TypeScript reports four candidates by the last one alone, at the argument; three or fewer it lists in full, at the callee.
import type { InplaceableThunk, NotImplemented, Thunk, ZeroTangent } from '../../graph/tangent.js'
import type { Discrete, DType } from '../dtype.js'
import type { AnyExpr, Expr, Plain, Tensor, Typed } from '../expr.js'
import type { AnyExprs, Fn, PlainFn } from '../fn.js'
import type { Guard, Shape } from '../shape.js'
import type {
  Active,
  Batched,
  CheckWrt,
  DeclBound,
  Exprs,
  ExprTree,
  Gradient,
  Jacobian,
  NoTangent,
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
export type FnFn = <const In extends DeclBound, Out extends ExprTree>(
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
export type Jvp<A extends readonly unknown[], Out> = Fn<[Primals<A>, Gradient<Primals<A>>], readonly [Out, Gradient<Out>]>
/** jvp(f)(primals, tangents): the value and its derivative in one direction; the tangents say what varies. */
export interface JvpFn {
  <A extends AnyExprs, Out>(f: PlainFn<A, Out>): Jvp<A, Out>
  <A extends readonly unknown[], Out>(f: PlainFn<A, Out>): Jvp<A, Out>
  <A extends readonly unknown[], Out>(f: Fn<A, Out>): Jvp<A, Out>
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
export type Hvp<A extends readonly unknown[], W> = Fn<[Primals<A>, Gradient<Active<A, W>>], Gradient<Active<A, W>>>
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

/** Options of `vmap`. */
export interface VmapOptions<A extends readonly unknown[], I> {
  /** The mapped axis of each argument: its leading one (0, where absent), or null: the same for every example. */
  readonly inAxes?: I & InAxes<A>
}
type InAxes<A extends readonly unknown[]> = 0 | { readonly [K in keyof A]: 0 | null } | undefined
type AnyInAxes = 0 | readonly (0 | null)[] | undefined
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
  <A extends AnyExprs, Out, const I extends AnyInAxes = undefined>(
    f: PlainFn<A, Out>,
    options?: VmapOptions<A, I>,
  ): Fn<BatchedArgs<A, I>, Batched<Out>>
  <A extends readonly unknown[], Out, const I extends AnyInAxes = undefined>(
    f: PlainFn<A, Out>,
    options?: VmapOptions<A, I>,
  ): Fn<BatchedArgs<A, I>, Batched<Out>>
  <A extends readonly unknown[], Out, const I extends AnyInAxes = undefined>(
    f: Fn<A, Out>,
    options?: VmapOptions<A, I>,
  ): Fn<BatchedArgs<A, I>, Batched<Out>>
}

/** What a rule may give where T has a value: an expression of its shape (of any, where that is unknown), or a tensor or arrays. */
export type RuleValue<T> =
  T extends Typed<infer S, DType> ? RuleLeaf<S> : T extends NoTangent ? NoTangent : { readonly [K in keyof T]: RuleValue<T[K]> }
type RuleLeaf<S extends Shape> = [number] extends [S['length']] ? AnyExpr | Tensor | Plain : Expr<S> | Tensor<S> | Plain
/** What a rule may give where T has a tangent or a cotangent: symbolic zeros and thunks too; NoTangent at integer leaves. */
export type RuleTangent<T> =
  T extends Typed<infer S, infer D>
    ? [D] extends [Discrete]
      ? NoTangent | ZeroTangent
      : RuleLeaf<S> | ZeroTangent | NoTangent | NotImplemented | Thunk | InplaceableThunk
    : T extends NoTangent
      ? NoTangent
      : ZeroTangent | NoTangent | { readonly [K in keyof T]: RuleTangent<T[K]> }
/** Nothing; beside it TypeScript reads an array literal as a tuple. */
type TupleHint = readonly [never, ...never[]]
/** The calculus of a user's function. `primals` is its argument, or the list of several. */
export interface CustomRules<A extends readonly unknown[], Out> {
  /** [y, dy] at the primals, along the tangents. Alone it serves reverse mode too: it is linear in the tangents, and is transposed. */
  readonly frule?: (primals: Exprs<Primals<A>>, tangents: Gradient<Primals<A>>) => readonly [RuleValue<Out>, RuleTangent<Out>]
  /** [y, pullback] at the primals; the pullback takes the cotangent of y to those of the primals. Alone it does not serve forward mode. */
  readonly rrule?: (primals: Exprs<Primals<A>>) => readonly [RuleValue<Out>, (yBar: Gradient<Out>) => RuleTangent<Primals<A>> | TupleHint]
}
/** A function whose parameters are expressions where it does not say what they are. */
type OfExprs = { bivariant(...args: AnyExpr[]): unknown }['bivariant']
type OfAnything = (...args: never[]) => unknown
/** The arguments' trees of a function. */
export type ArgsOf<F> = F extends Fn<infer A, unknown> ? A : F extends (...args: infer A) => unknown ? A : never
/** The result's tree of a function. */
export type ResultOf<F> = F extends Fn<infer _A, infer Out> ? Out : F extends (...args: never[]) => infer Out ? Out : never
/** customRule(f, { frule, rrule }): f with derivatives of its own. */
export interface CustomRuleFn {
  <F extends OfExprs | { readonly _tag: 'Fn' }>(f: F, rules: CustomRules<ArgsOf<F>, ResultOf<F>>): Fn<ArgsOf<F>, ResultOf<F>>
  <F extends OfAnything>(f: F, rules: CustomRules<ArgsOf<F>, ResultOf<F>>): Fn<ArgsOf<F>, ResultOf<F>>
}
