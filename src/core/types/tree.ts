// Trees of leaves: nested records, tuples and arrays of specs, expressions or tensors, and the trees derived from them.
import type { NoTangent } from '../graph/tangent.js'
import type { DataOf, Discrete, DType, Float, FloatsOf, Settled, WeakF64 } from './dtype.js'
import type {
  AnyExpr,
  Expr,
  MayFit,
  Nested,
  NestedArray,
  OfAnyDType,
  OfAnyRank,
  PlainDType,
  ShapeOf,
  Spec,
  Tensor,
  Typed,
  Undeclared,
} from './expr.js'
import type { Later, Open } from './open.js'
import type { Dim, MadeDim, Shape, ShapeError, Show, SizeFor, Unnamed, ZeroOf } from './shape.js'

export type { NoTangent }

/** A part of a tree's structure that is not a leaf: nothing, a text, a function. */
export type Static = null | undefined | string | ((...args: never[]) => unknown)
/** Leaves nested in records, tuples and arrays, beside what is static. */
export type Tree<L> = L | readonly (Tree<L> | Static)[] | { readonly [key: string]: Tree<L> | Static }
/** What `fn` takes: a tree of `f32(2, 3)`, `i32('batch')` ..., NoTangent or null where nothing is. */
export type Decl = Spec | NoTangent | readonly (Decl | null)[] | { readonly [key: string]: Decl | null | undefined }
/**
 * A tree without a leaf. What it is assignable to, `any`, `Decl`, a recursive type of yours, has no leaf that a type could go down to: without asking,
 * TypeScript would not end.
 */
export type Least = readonly Least[] | { readonly [key: string]: Least }
/** Is T a number or an array of numbers or of truth values? Asked from the array's side: of a tuple of type parameters TypeScript knows the answer. */
type IsPlain<T> = [T] extends [number | boolean]
  ? true
  : [readonly number[]] extends [T]
    ? true
    : [readonly boolean[]] extends [T]
      ? true
      : false
/** A tree of which nothing is known but the leaves L: of `Decl`, and `any` of `any`. A record without a key is known. */
export type OfAny<T, L> = 0 extends 1 & T ? T : [T] extends [Readonly<Record<PropertyKey, never>>] ? T : Tree<L>
/**
 * `Decl` to five levels, as a bound of type parameters. TypeScript instantiates the bound itself where a body takes its argument apart
 * with a rest (`({ params, ...rest }) =>`): of a recursive one it finds no end. Each level is written out: one type with a parameter
 * would be instantiated for every input.
 */
export type DeclBound = Spec | NoTangent | readonly Level1[] | { readonly [key: string]: Level1 }
type Level1 = Nothing | Spec | readonly Level2[] | { readonly [key: string]: Level2 }
type Level2 = Nothing | Spec | readonly Level3[] | { readonly [key: string]: Level3 }
type Level3 = Nothing | Spec | readonly Level4[] | { readonly [key: string]: Level4 }
type Level4 = Nothing | Spec | readonly unknown[] | { readonly [key: string]: unknown }
/** Where a declaration has nothing. */
type Nothing = NoTangent | null | undefined
/** What is computed of an expression: a call on plain values in a body is typed as tensors, which every operation takes too. */
export type ExprTree<T = never> = Tree<AnyExpr | NoTangent> | Held<T, AnyExpr | NoTangent | Static>
/** What a body returns: numbers too, such as a total that nothing was added to. T is what it does return, of which a part may be an interface. */
export type ResultTree<T = never> =
  | Tree<AnyExpr | NoTangent | number | boolean>
  | TupleHint
  | Held<T, AnyExpr | NoTangent | PlainLeaf | Static>
/**
 * The tree T, if its leaves are of L: what an interface is held against, since it has no index signature. What has a key that is a symbol is an object of a class (a promise, a date, a map),
 * and a leaf if anything. A mapped type: of a conditional one TypeScript says that it is a circular bound.
 */
export type Held<T, L> = { readonly [K in keyof T]: K extends symbol ? never : HeldIn<T[K], L> } & NoFunction & object
/** What no function is. */
interface NoFunction {
  readonly [Symbol.hasInstance]?: never
}
// a part whose type is a parameter is held as it is
type HeldIn<T, L> = ([Least] extends [T] ? Empty<T> : HeldPart<T, L>) | (T & Open<T>)
/** T, if it is a record without a key. */
type Empty<T> = [T] extends [Readonly<Record<PropertyKey, never>>] ? T : never
// of a leaf whose size is a parameter TypeScript says what its tag is, and not that it is one of L
type HeldPart<T, L> =
  T extends TagOf<L>
    ? T
    : // looked up: of a tuple with such parts TypeScript says later whether it is an L, and takes what it is in any case
      (T extends L
        ? { readonly held: T }
        : T extends object
          ? { readonly held: { readonly [K in keyof T]: K extends symbol ? never : HeldIn<T[K], L> } }
          : { readonly held: L })['held']
/** What has the tag of one of L. */
type TagOf<L> = L extends { readonly _tag: infer G } ? { readonly _tag: G } : never
/** Nothing; beside it TypeScript reads an array literal as a tuple. */
export type TupleHint = readonly [never, ...never[]]
/** What comes of the result T of a body: an expression where there is a number, a truth value or an array of them. */
export type Results<T> = [Least] extends [T] ? ExprTree : ResultsIn<T>
type ResultsIn<T> = T extends { readonly _tag: string } | Static
  ? T
  : T extends PlainLeaf
    ? Expr<ShapeOf<T>, PlainDType<T, WeakF64>>
    : { -readonly [K in keyof T]: Results<T[K]> }
/** Any tree of concrete arrays. */
export type TensorTree<T = never> = Tree<Tensor | NoTangent> | Held<T, Tensor | NoTangent | Static>

/** A leaf that is not a value of ours: a number, a truth value, an array of them. */
export type PlainLeaf = number | boolean | NestedArray<number | boolean>
/** What is at the leaves of T, as far as ten levels down. */
export type LeafOfTree<T, Depth extends unknown[] = []> =
  T extends Typed<infer _S, infer _D>
    ? T
    : T extends PlainLeaf
      ? T
      : T extends NoTangent | Static
        ? never
        : Depth['length'] extends 10
          ? never
          : T extends readonly (infer E)[]
            ? LeafOfTree<E, [...Depth, 0]>
            : { [K in keyof T]: LeafOfTree<T[K], [...Depth, 0]> }[keyof T]
/**
 * What a callback over the leaves of T is given: the leaf's own type where all are of one shape, else one of unknown shape, since no
 * operation takes a union of shapes. Where no axis has a name all sizes are numbers: a declaration's too, from which arrays are made.
 */
export type AnyLeaf<T> = OneLeaf<LeafOfTree<T>>
type OneLeaf<L> = [L] extends [Tensor<infer S, infer D>]
  ? Tensor<OneShape<S, readonly number[]>, D>
  : [L] extends [Expr<infer S, infer D>]
    ? Expr<OneShape<S, Shape>, D>
    : [L] extends [Spec<infer S, infer D>]
      ? Spec<OneShape<S, [S] extends [readonly number[]] ? readonly number[] : Shape>, D>
      : L
type OneShape<S extends Shape, Else extends Shape> = [Alternatives<S>] extends [never] ? S : Else
/** never, unless S is a union. */
export type Alternatives<S, All = S> = S extends unknown ? ([All] extends [S] ? never : S) : never
/**
 * The tree T with R at its leaves. Where R is an expression (a tensor, a declared input) of a shape that is not known, the leaf keeps its
 * own shape, and its dtype where that may be R's: TypeScript cannot ask what a callback makes of each leaf, and nearly all keep the shape.
 */
export type Mapped<T, R> = [Least] extends [T] ? Tree<R | NoTangent> : MappedIn<T, R>
type MappedIn<T, R> =
  T extends Typed<infer S, infer D>
    ? MappedLeaf<S, D, R>
    : T extends PlainLeaf
      ? R
      : T extends NoTangent
        ? NoTangent
        : T extends Static
          ? NoInfer<T>
          : { -readonly [K in keyof T]: Mapped<T[K], R> }
type MappedLeaf<S extends Shape, D extends DType, R> = [R] extends [Tensor<infer RS, infer RD>]
  ? Tensor<Kept<Concrete<S>, RS>, Kept<D, RD>>
  : [R] extends [Expr<infer RS, infer RD>]
    ? Expr<Kept<S, RS>, Kept<D, RD>>
    : [R] extends [Spec<infer RS, infer RD>]
      ? Spec<Kept<S, RS>, Kept<D, RD>>
      : R
type Kept<Own, Of> = [Of] extends [Shape] ? KeptShape<Own, Of> : [Own] extends [Of] ? Own : Of
/** Of an unknown rank each has its own: asked first, since of a shape of parameters TypeScript says later what it goes into. */
type KeptShape<Own, Of> = [Shape] extends [Of] ? Own : [Own] extends [Of] ? Own : Of
/** The tree T as `unravel` gives it: an expression, or a tensor, at every leaf. */
export type Unravelled<T, Kind extends 'Expr' | 'Tensor'> =
  T extends Typed<infer S, infer D>
    ? Unravel1<S, D, Kind>
    : T extends PlainLeaf
      ? Unravel1<ShapeOf<T>, 'f64', Kind>
      : T extends NoTangent
        ? NoTangent
        : T extends Static
          ? NoInfer<T>
          : { -readonly [K in keyof T]: Unravelled<T[K], Kind> }
type Unravel1<S extends Shape, D extends DType, Kind> = Kind extends 'Expr' ? Expr<S, D> : Tensor<Concrete<S>, D>

/** The tree of expressions that a body sees for the declaration T. */
export type Exprs<T> = [Least] extends [T] ? OfAny<T, AnyExpr | NoTangent> : ExprsIn<T>
type ExprsIn<T> =
  T extends Typed<infer S, infer D>
    ? Expr<S, D>
    : T extends NoTangent
      ? NoTangent
      : T extends Static | number | boolean
        ? NoInfer<T>
        : true extends IsPlain<T>
          ? NoInfer<T>
          : { -readonly [K in keyof T]: Exprs<T[K]> }

/** The concrete shape behind S: a name may be any size. */
export type Concrete<S extends Shape> = Unnamed<S>
/**
 * The concrete shape behind a declared one. Written as that of drawn numbers is, which may be of any size where it is a `number`: so, in a function that is generic in sizes, a tensor of
 * them is what is declared, and so is one of zeros.
 */
type Declared<S extends Shape> = { -readonly [K in keyof S]: SizeFor<MadeDim<S[K], ZeroOf<S>>, MadeDim<S[K], ZeroOf<S>>> }
/** Shapes that fit the declared S: a name may be any size, and an unknown rank any rank. */
export type Fitting<S extends Shape> = { readonly [K in keyof S]: S[K] extends number ? (number extends S[K] ? Dim : S[K]) : Dim }
/** What may be passed for an input declared with shape S and dtype D. */
export type ValueOf<S extends Shape, D extends DType> =
  | Tensor<Fitting<S>, D>
  | MayFit<S, D, 'Tensor'>
  | OfAnyRank<'Tensor'>
  | DataOf<D>
  | Nested<S, D extends 'bool' ? boolean | number : number>
/** What may stand at a leaf beside values. */
interface Beside<S extends Shape, D extends DType> {
  readonly expressions: ExprFor<S, D>
}
/** What a caller may pass for T: at each leaf a number or nested arrays of its rank, its typed array, a tensor that fits, or what E says. */
export type Values<T, E extends keyof Beside<[], DType> = never> = ([T] extends [Later]
  ? { readonly given: Tensors<T> }
  : { readonly given: ValuesOfTree<T, E> })['given']
// what a function gives goes in again, also where T is a parameter
type ValuesOfTree<T, E extends keyof Beside<[], DType>> = [Least] extends [T]
  ? OfAny<T, Tensor | NoTangent | PlainLeaf | DataOf<DType> | Beside<Shape, DType>[E]>
  : ValuesIn<T, E>
type ValuesIn<T, E extends keyof Beside<[], DType>> =
  T extends Typed<infer S, infer D>
    ? ValueOf<S, D> | Beside<S, D>[E]
    : T extends NoTangent
      ? NoTangent | undefined
      : T extends Static | number | boolean
        ? NoInfer<T>
        : true extends IsPlain<T>
          ? NoInfer<T>
          : { readonly [K in keyof T]: Values<T[K], E> } | ListFor<T, E>
/** A list of any length, where T is a tuple of equal parts: one that goes round has no length to the compiler, and at run time it is held against that of T. */
type ListFor<T, E extends keyof Beside<[], DType>> = T extends readonly [unknown, ...unknown[]]
  ? [Alternatives<T[number]>] extends [never]
    ? readonly Values<T[number], E>[]
    : never
  : never

/** What comes back for the tree T: at each leaf a tensor the caller owns. */
export type Tensors<T> = [Least] extends [T] ? OfAny<T, Tensor | NoTangent> : TensorsIn<T>
type TensorsIn<T> =
  T extends Spec<infer S, infer D>
    ? Tensor<Declared<S>, D>
    : T extends Typed<infer S, infer D>
      ? Tensor<Concrete<S>, Settled<D>>
      : T extends NoTangent
        ? NoTangent
        : T extends Static
          ? NoInfer<T>
          : true extends IsPlain<T>
            ? Tensor<ShapeOf<T>, PlainDType<T, 'f64'>>
            : { -readonly [K in keyof T]: Tensors<T[K]> }

/** The tree T with sizes instead of names: the result of inlining a function at other dimensions. */
export type Loose<T> = [Least] extends [T] ? OfAny<T, AnyExpr | NoTangent> : LooseIn<T>
type LooseIn<T> =
  T extends Typed<infer S, infer D>
    ? Expr<Unnamed<S>, D>
    : T extends NoTangent
      ? NoTangent
      : T extends Static | number | boolean
        ? NoInfer<T>
        : true extends IsPlain<T>
          ? NoInfer<T>
          : { -readonly [K in keyof T]: Loose<T[K]> }
/**
 * What may be passed for an input declared with shape S and dtype D where its function is inlined. Of an expression or a tensor whose rank is not
 * known, such as the parameter of a plain function, shape and dtype are checked when the program is built.
 */
export type ArgumentOf<S extends Shape, D extends DType> = ValueOf<S, D> | ExprFor<S, D>
/** Expressions for an input declared with shape S and dtype D. */
export type ExprFor<S extends Shape, D extends DType> =
  | Expr<Fitting<S>, D>
  | Undeclared<Fitting<S>, D>
  | MayFit<S, D, Expr['_tag']>
  | OfAnyRank<Expr['_tag']>
  | OfAnyDType<Fitting<S>, D>
/** The expressions that may stand for T: of its own shapes, or constants to which no dtype was given. */
export type ExprArgs<T> = [Least] extends [T] ? OfAny<T, AnyExpr | NoTangent> : ExprArgsIn<T>
type ExprArgsIn<T> =
  T extends Typed<infer S, infer D>
    ? Expr<S, D> | Undeclared<S, D>
    : T extends NoTangent
      ? NoTangent
      : T extends Static | number | boolean
        ? NoInfer<T>
        : true extends IsPlain<T>
          ? NoInfer<T>
          : { readonly [K in keyof T]: ExprArgs<T[K]> }
/** What may be passed where T is inlined: expressions whose named axes have any size, or values. */
export type LooseArgs<T> = [Least] extends [T] ? OfAny<T, AnyExpr | NoTangent | PlainLeaf | DataOf<DType>> : LooseArgsIn<T>
type LooseArgsIn<T> =
  T extends Typed<infer S, infer D>
    ? ArgumentOf<S, D>
    : T extends NoTangent
      ? NoTangent | undefined
      : T extends Static | number | boolean
        ? NoInfer<T>
        : true extends IsPlain<T>
          ? NoInfer<T>
          : { readonly [K in keyof T]: LooseArgs<T[K]> }

/** The gradient with respect to T: the same tree, integer and boolean leaves NoTangent. */
export type Gradient<T> = [Least] extends [T] ? OfAny<T, Expr<Shape, Float> | NoTangent> : GradientIn<T>
type GradientIn<T> =
  T extends Typed<infer S, infer D>
    ? GradientLeaf<S, D>
    : T extends NoTangent
      ? NoTangent
      : T extends Static
        ? NoInfer<T>
        : true extends IsPlain<T>
          ? Expr<ShapeOf<T>, 'f64'>
          : { -readonly [K in keyof T]: Gradient<T[K]> }
type GradientLeaf<S extends Shape, D extends DType> = [D] extends [Discrete] ? NoTangent : Expr<S, FloatsOf<D>>

/** The Jacobian: the tree of Out, at each leaf the tree of In, leaves of shape [...out, ...in]. */
export type Jacobian<Out, In> = [Least] extends [Out] ? OfAny<Out, Expr<Shape, Float> | NoTangent> : JacobianOf<Out, In>
type JacobianOf<Out, In> =
  Out extends Typed<infer S, infer D>
    ? [D] extends [Discrete]
      ? NoTangent
      : JacobianIn<S, In>
    : Out extends NoTangent
      ? NoTangent
      : Out extends Static
        ? NoInfer<Out>
        : { -readonly [K in keyof Out]: Jacobian<Out[K], In> }
type JacobianIn<SO extends Shape, In> = [Least] extends [In] ? OfAny<In, Expr<Shape, Float> | NoTangent> : JacobianInLeaves<SO, In>
type JacobianInLeaves<SO extends Shape, In> =
  In extends Typed<infer S, infer D>
    ? [D] extends [Discrete]
      ? NoTangent
      : Expr<Joined<SO, S>, FloatsOf<D>>
    : In extends NoTangent
      ? NoTangent
      : In extends Static
        ? NoInfer<In>
        : { -readonly [K in keyof In]: JacobianIn<SO, In[K]> }
/** The axes of A, then those of B; an unknown rank where either is unknown. */
export type Joined<A extends Shape, B extends Shape> = [number] extends [A['length']]
  ? Shape
  : [number] extends [B['length']]
    ? Shape
    : [...A, ...B]

// ---- wrt

type Keys<T> = T extends readonly unknown[] ? keyof T & `${number}` : keyof T & string
type Below<T, Prefix extends string> = [Least] extends [T] ? string : BelowIn<T, Prefix>
type BelowIn<T, Prefix extends string> = T extends Typed | NoTangent | Static
  ? never
  : T extends readonly (infer E)[]
    ? [number] extends [T['length']]
      ? `${Prefix}${number}` | Below<E, `${Prefix}${number}.`>
      : { [K in Keys<T>]: `${Prefix}${K}` | Below<T[K & keyof T], `${Prefix}${K}.`> }[Keys<T>]
    : { [K in Keys<T>]: `${Prefix}${K}` | Below<T[K & keyof T], `${Prefix}${K}.`> }[Keys<T>]
type Indices<T> = T extends Typed ? 0 : T extends readonly unknown[] ? ([number] extends [T['length']] ? number : ToIndex<Keys<T>>) : never
type ToIndex<K> = K extends `${infer N extends number}` ? N : never
type At<T, K> = K extends keyof T ? T[K] : T extends readonly (infer E)[] ? E : never
/** The places in the tree T: 'params', 'params.w', '0.w', 0. */
export type Path<T> = T extends unknown ? Below<T, ''> | Indices<T> : never
/** What `wrt` may be: one path, or a list of them. Conditional, because a message then lists the paths in place of this name. */
export type WrtPath<T> = T extends unknown ? Path<T> | readonly Path<T>[] : never

/** The subtree of In at one path. */
export type AtPath<In, P> = P extends number
  ? In extends Typed
    ? In
    : At<In, `${P}`>
  : P extends keyof In
    ? In[P]
    : P extends `${infer H}.${infer T}`
      ? AtPath<At<In, H>, T>
      : At<In, P>
/** What `wrt` selects of In: a path that subtree, a list of paths a record of subtrees. */
export type Wrt<In, W> = W extends readonly (infer P)[] ? { readonly [K in P & (string | number)]: AtPath<In, K> } : AtPath<In, W>

/** W, or the reason why there is nothing to differentiate at one of its paths. */
export type CheckWrt<In, W> = W extends readonly (infer P)[] ? CheckPaths<In, P> : CheckPaths<In, W>
type CheckPaths<In, P> = [DiscretePaths<In, P>] extends [never]
  ? P
  : ShapeError<`wrt: '${DiscretePaths<In, P> & (string | number)}' is an integer or boolean leaf: it has no tangent (NoTangent)`>
type DiscretePaths<In, P> = P extends unknown
  ? [AtPath<In, P>] extends [Typed<Shape, Float>]
    ? never
    : [AtPath<In, P>] extends [Typed<Shape, Discrete>]
      ? P
      : never
  : never

// ---- functions' arguments and results

/** What `primals` of a function is: its only argument, or the tuple of several. */
export type Primals<A extends readonly unknown[]> = A extends readonly [infer X] ? X : A
/** The subtree that a transform differentiates: at `wrt`, or the first argument. */
export type Active<A extends readonly unknown[], W> = undefined extends W ? A[0] : Wrt<Primals<A>, W>

/** The message of `grad` of something that is not a scalar. */
export type NotScalar<Out, Op extends string> =
  Out extends Typed<infer S, infer _D>
    ? ShapeError<`${Op} needs a scalar, f returned ${Show<S>}. Perhaps you meant jacrev(f), or sum the result.`>
    : Out extends PlainLeaf
      ? ShapeError<`${Op} needs an expression, f returned a value. Its parameters are expressions: write mul(x, x) for x * x.`>
      : ShapeError<`${Op} needs a scalar, f returned a tree. Perhaps you meant jacrev(f), or a sum over one of its leaves.`>
/**
 * `unknown` for a scalar (an unknown rank, a body that does not compile), else the message: intersected with the parameter f. With the
 * option aux, X = true, that is of [scalar, anything].
 */
export type ScalarOnly<Out, Op extends string, X = undefined> = [Least] extends [Out]
  ? unknown
  : [X] extends [true]
    ? [Out] extends [readonly [infer L, unknown]]
      ? ScalarOnly<L, Op>
      : ShapeError<`${Op} with aux needs a function that returns [scalar, aux].`>
    : [Out] extends [Typed<infer S, infer _D>]
      ? [number] extends [S['length']]
        ? unknown
        : S extends readonly []
          ? unknown
          : NotScalar<Out, Op>
      : NotScalar<Out, Op>
