// Signatures of `fn` and of the transforms. Each takes a Fn, or a plain function, and gives a Fn: they nest to any order.
import type { OptionsOf } from '../../errors/options.js'
import type { fnOptions } from '../../functions/function.js'
import type { InplaceableThunk, NotImplemented, Thunk, ZeroTangent } from '../../graph/tangent.js'
import type { Discrete } from '../dtype.js'
import type { AnyExpr, Expr, Plain, Typed } from '../expr.js'
import type { AnyFn, ArgsOf, ExprsOf, Fn, ResultOf } from '../fn.js'
import type { Guard, Shape } from '../shape.js'
import type {
  Active,
  CheckWrt,
  DeclBound,
  Exprs,
  Gradient,
  Jacobian,
  Loose,
  LooseArgs,
  NoTangent,
  Primals,
  Results,
  ResultTree,
  ScalarOnly,
  Static,
  Tensors,
  TupleHint,
  Values,
  Wrt,
  WrtPath,
} from '../tree.js'

/** Options of `fn`. */
export interface FnOptions extends OptionsOf<typeof fnOptions> {}
/** fn(declaration, body): a typed function of one tree, traced once per signature. */
export type FnFn = <const In extends DeclBound, Out extends ResultTree<Out>>(
  inputs: In,
  body: (x: Exprs<In>) => Out,
  options?: FnOptions,
) => Fn<[In], Results<Out>>

/** The option every transform takes: a path, a list of paths; without it the float leaves of the first argument. */
export interface WrtOptions<A extends readonly unknown[], W> {
  readonly wrt?: (number extends A['length'] ? W : Guard<CheckWrt<Primals<A>, W>, W>) | undefined
}
/** Options of `grad` and `valueAndGrad`. */
export interface GradOptions<A extends readonly unknown[], W, X> extends WrtOptions<A, W> {
  /** Does the function return [scalar, aux]? */
  readonly aux?: X
  readonly mode?: 'mixed' | 'reverse' | 'forward' | undefined
  /** The first cotangent, 1 where it is absent. */
  readonly seed?: number | AnyExpr | undefined
}
/**
 * What `wrt` may be for arguments A. Anything while their number is not known: TypeScript asks before it has looked into a function
 * that is written inside the call.
 */
export type Paths<A extends readonly unknown[]> = number extends A['length'] ? AnyPath : WrtPath<Primals<A>> | undefined
type AnyPath = string | number | readonly (string | number)[] | undefined
/** The subtree a transform with tangents of all primals differentiates. */
type Varied<A extends readonly unknown[], W> = undefined extends W ? Primals<A> : Wrt<Primals<A>, W>

type AuxOf<F> = ResultOf<F> extends readonly [unknown, infer X] ? X : never

/** grad(f, { wrt, aux, mode, seed }): the gradient of a scalar function; with aux, f returns [scalar, aux] and the result is [gradient, aux]. */
export type GradFn = <F extends AnyFn, const W extends Paths<ArgsOf<F>> = undefined, const X extends boolean | undefined = undefined>(
  f: F & ScalarOnly<ResultOf<F>, 'grad', X>,
  options?: GradOptions<ArgsOf<F>, W, X>,
) => Fn<ArgsOf<F>, [X] extends [true] ? [Gradient<Active<ArgsOf<F>, W>>, AuxOf<F>] : Gradient<Active<ArgsOf<F>, W>>>

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
/** valueAndGrad(f, { wrt, aux, mode, seed }): { value, grad }; with aux, f returns [scalar, aux]. */
export type ValueAndGradFn = <
  F extends AnyFn,
  const W extends Paths<ArgsOf<F>> = undefined,
  const X extends boolean | undefined = undefined,
>(
  f: F & ScalarOnly<ResultOf<F>, 'valueAndGrad', X>,
  options?: GradOptions<ArgsOf<F>, W, X>,
) => Fn<
  ArgsOf<F>,
  [X] extends [true] ? WithAux<ResultOf<F>, Gradient<Active<ArgsOf<F>, W>>> : ValueAndGrad<ResultOf<F>, Gradient<Active<ArgsOf<F>, W>>>
>

/** The function jvp(f): (primals, tangents) -> [y, dy]. */
export type Jvp<A extends readonly unknown[], Out, W = undefined> = Fn<[Primals<A>, Gradient<Varied<A, W>>], [Out, Gradient<Out>]>
/** jvp(f, { wrt })(primals, tangents): the value and its derivative in one direction; the tangents are of what `wrt` says, of all primals without it. */
export type JvpFn = <F extends AnyFn, const W extends Paths<ArgsOf<F>> = undefined>(
  f: F,
  options?: WrtOptions<ArgsOf<F>, W>,
) => Jvp<ArgsOf<F>, ResultOf<F>, W>
/** Options of `jet`. */
export interface JetOptions<A extends readonly unknown[], W> extends WrtOptions<A, W> {
  /** How many derivatives: as many as are given, unless given. */
  readonly order?: number | undefined
}
/** The function jet(f): (primals, their derivatives along a curve) -> [y, its derivatives along it]. */
export type Jet<A extends readonly unknown[], Out, W = undefined> = Fn<
  [Primals<A>, readonly Gradient<Varied<A, W>>[]],
  [Out, Gradient<Out>[]]
>
/** jet(f, { wrt, order })(primals, [dx, ddx, ...]): the value and its derivatives along a curve. */
export type JetFn = <F extends AnyFn, const W extends Paths<ArgsOf<F>> = undefined>(
  f: F,
  options?: JetOptions<ArgsOf<F>, W>,
) => Jet<ArgsOf<F>, ResultOf<F>, W>
/** The function vjp(f): (primals, yBar) -> [y, primalsBar]. */
export type Vjp<A extends readonly unknown[], Out, W> = Fn<[Primals<A>, Gradient<Out>], [Out, Gradient<Varied<A, W>>]>
/** vjp(f)(primals, yBar): the value and the cotangent of the primals. */
export type VjpFn = <F extends AnyFn, const W extends Paths<ArgsOf<F>> = undefined>(
  f: F,
  options?: WrtOptions<ArgsOf<F>, W>,
) => Vjp<ArgsOf<F>, ResultOf<F>, W>
/** The function linearize(f): primals -> [y, df], where df(tangents) -> dy. */
export interface Linearized<A extends readonly unknown[], Out, W> {
  (primals: Values<Primals<A>>): [Tensors<Out>, (tangents: Values<Gradient<Varied<A, W>>>) => Tensors<Gradient<Out>>]
  (primals: Exprs<Primals<A>>): [Out, Fn<[Gradient<Varied<A, W>>], Gradient<Out>>]
  (primals: LooseArgs<Primals<A>>): [Loose<Out>, Fn<[Gradient<Varied<A, W>>], Gradient<Out>>]
}
/** linearize(f)(primals): the value, and the derivative there as a function of the tangents. */
export type LinearizeFn = <F extends AnyFn, const W extends Paths<ArgsOf<F>> = undefined>(
  f: F,
  options?: WrtOptions<ArgsOf<F>, W>,
) => Linearized<ArgsOf<F>, ResultOf<F>, W>
/** The function hvp(f): (primals, tangents) -> the Hessian times the tangents. */
export type Hvp<A extends readonly unknown[], W> = Fn<[Primals<A>, Gradient<Active<A, W>>], Gradient<Active<A, W>>>
/** hvp(f)(primals, tangents): forward over reverse. */
export type HvpFn = <F extends AnyFn, const W extends Paths<ArgsOf<F>> = undefined>(
  f: F & ScalarOnly<ResultOf<F>, 'hvp'>,
  options?: WrtOptions<ArgsOf<F>, W>,
) => Hvp<ArgsOf<F>, W>

/** Options of `jacfwd`, `jacrev` and `hessian`. */
export interface JacOptions<A extends readonly unknown[], W> extends WrtOptions<A, W> {
  /** How many directions run at once. */
  readonly chunk?: number | undefined
}
/** jacfwd(f), jacrev(f): the Jacobian; the tree of f's result, at each leaf the tree of its argument. */
export type JacFn = <F extends AnyFn, const W extends Paths<ArgsOf<F>> = undefined>(
  f: F,
  options?: JacOptions<ArgsOf<F>, W>,
) => Fn<ArgsOf<F>, Jacobian<ResultOf<F>, Active<ArgsOf<F>, W>>>
/** The tree of second derivatives with respect to T. */
export type Hessian<T> = Jacobian<Gradient<T>, T>
/** hessian(f): the matrix of second derivatives of a scalar function. */
export type HessianFn = <F extends AnyFn, const W extends Paths<ArgsOf<F>> = undefined>(
  f: F & ScalarOnly<ResultOf<F>, 'hessian'>,
  options?: JacOptions<ArgsOf<F>, W>,
) => Fn<ArgsOf<F>, Hessian<Active<ArgsOf<F>, W>>>

/** What a rule may give where T has a value: an expression of its shape (of any, where that is unknown), or a tensor or arrays. */
export type RuleValue<T> =
  T extends Typed<infer S, infer _D>
    ? RuleLeaf<S>
    : T extends NoTangent
      ? NoTangent
      : T extends Static
        ? NoInfer<T>
        : { readonly [K in keyof T]: RuleValue<T[K]> }
type RuleLeaf<S extends Shape> = [number] extends [S['length']] ? AnyExpr | Plain : Expr<S> | Plain
/** What a rule may give where T has a tangent or a cotangent: symbolic zeros and thunks too; NoTangent at integer leaves. */
export type RuleTangent<T> =
  T extends Typed<infer S, infer D>
    ? [D] extends [Discrete]
      ? NoTangent | ZeroTangent
      : RuleLeaf<S> | ZeroTangent | NoTangent | NotImplemented | Thunk | InplaceableThunk
    : T extends NoTangent
      ? NoTangent
      : T extends Static
        ? NoInfer<T>
        : ZeroTangent | NoTangent | { readonly [K in keyof T]: RuleTangent<T[K]> }
/** The calculus of a user's function. `primals` is its argument, or the list of several. */
export interface CustomRules<A extends readonly unknown[], Out> {
  /** [y, dy] at the primals, along the tangents. Alone it serves reverse mode too: it is linear in the tangents, and is transposed. */
  readonly frule?: (primals: Exprs<Primals<A>>, tangents: Gradient<Primals<A>>) => readonly [RuleValue<Out>, RuleTangent<Out>]
  /** [y, pullback] at the primals; the pullback takes the cotangent of y to those of the primals. Alone it does not serve forward mode. */
  readonly rrule?: (primals: Exprs<Primals<A>>) => readonly [RuleValue<Out>, (yBar: Gradient<Out>) => RuleTangent<Primals<A>> | TupleHint]
  /**
   * true: the rules give an estimate, whose mean over keys is the derivative of f's mean; the checker holds that against it, where f has a key. 'biased': they are deliberately
   * another derivative, which nothing is held against.
   */
  readonly estimates?: boolean | 'biased' | undefined
  /**
   * F(y, ...args), the distribution function of a result that is drawn, of y's shape, element by element: the rules move y so that F stays, dy = -(dF/da) / (dF/dy) da. The
   * checker takes differences along that, not at a fixed key, where rejection makes the numbers jump.
   */
  readonly distribution?: ((y: Exprs<Out>, ...args: ExprsOf<A>) => RuleValue<Out>) | undefined
  /** What messages and programs call it; `customRule(f)` where it is not given. */
  readonly name?: string | undefined
}
/** customRule(f, { frule, rrule }): f with derivatives of its own. */
export type CustomRuleFn = <F extends AnyFn>(f: F, rules: CustomRules<ArgsOf<F>, ResultOf<F>>) => Fn<ArgsOf<F>, ResultOf<F>>
/** straightThrough(f, surrogate): f with the derivative of the surrogate, a function of the same arguments. */
export type StraightThroughFn = <F extends AnyFn>(f: F, surrogate?: (...args: ArgsOf<F>) => unknown) => Fn<ArgsOf<F>, ResultOf<F>>
