// Signatures of linear algebra: of one matrix, or of a stack of them.
import type { OptionsOf } from '../../errors/options.js'
import type { choleskyOptions, qrOptions, rcondOptions, svdOptions, triangularOptions } from '../../ops/linalg/linalg.js'
import type { AsFloat, AsNumber, DType, Float, WeakF64 } from '../dtype.js'
import type { Arg, Expr, Plain, ShapeOf, ShapesOf, Typed } from '../expr.js'
import type { Broadcast, Dim, Guard, InnerDim, NoOptions, Ok, Shape } from '../shape.js'
import type { BlockDiag, Diagonals } from '../shape-arrange.js'
import type { DropLast, Square } from '../shape-contract.js'
import type {
  Fitted,
  Matrices,
  MinDim,
  MultiDot,
  OfNoRank,
  OfSquare,
  SetLast,
  Solved,
  SolvedRight,
  SwapLast,
  WithRows,
} from '../shape-linalg.js'
import type { PromoteArgs } from './elementwise.js'
import type { PromoteAll } from './layout.js'

/** A function of square matrices to matrices of their shape: inv, expm. */
export interface SquareFn<Op extends string> {
  // of a size that is a parameter TypeScript does not say that it is itself
  <N extends Dim, D extends DType>(x: Expr<readonly [N, NoInfer<N>], D>): Expr<[N, N], AsFloat<D>>
  <B extends Dim, N extends Dim, D extends DType>(x: Expr<readonly [B, N, NoInfer<N>], D>): Expr<[B, N, N], AsFloat<D>>
  <S extends Shape, D extends DType>(x: Expr<S, D> & OfNoRank<S>): Expr<S, AsFloat<D>>
  <S extends Shape = Shape, D extends DType = WeakF64>(x: OfSquare<S, Op, Expr<S, D> | Plain>): Expr<S, AsFloat<D>>
}
/** Options of cholesky: the upper factor, its transpose. */
export interface CholeskyOptions extends OptionsOf<typeof choleskyOptions> {}
/** cholesky(x, { upper }). */
export interface CholeskyFn {
  <N extends Dim, D extends DType>(x: Expr<readonly [N, NoInfer<N>], D>, options?: CholeskyOptions): Expr<[N, N], AsFloat<D>>
  <B extends Dim, N extends Dim, D extends DType>(
    x: Expr<readonly [B, N, NoInfer<N>], D>,
    options?: CholeskyOptions,
  ): Expr<[B, N, N], AsFloat<D>>
  <S extends Shape, D extends DType>(x: Expr<S, D> & OfNoRank<S>, options?: CholeskyOptions): Expr<S, AsFloat<D>>
  <S extends Shape = Shape, D extends DType = WeakF64>(
    x: OfSquare<S, 'cholesky', Expr<S, D> | Plain>,
    options?: CholeskyOptions,
  ): Expr<S, AsFloat<D>>
}
/** A function of square matrices to a number each: det. */
export type PerMatrixFn<Op extends string> = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: Guard<Square<S, Op>, Expr<S, D> | Plain>,
) => Expr<DropLast<S, 2>, AsFloat<D>>
/** slogdet(x): the sign of the determinant, and the logarithm of its size. */
export type SlogdetFn = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: Guard<Square<S, 'slogdet'>, Expr<S, D> | Plain>,
) => { readonly sign: Expr<DropLast<S, 2>, AsFloat<D>>; readonly logdet: Expr<DropLast<S, 2>, AsFloat<D>> }
/** eigh(x): eigenvalues in ascending order, and eigenvectors as columns. */
export type EighFn = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: Guard<Square<S, 'eigh'>, Expr<S, D> | Plain>,
) => { readonly w: Expr<DropLast<S, 1>, AsFloat<D>>; readonly v: Expr<S, AsFloat<D>> }
/** eigvalsh(x): eigenvalues in ascending order. */
export type EigvalshFn = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: Guard<Square<S, 'eigvalsh'>, Expr<S, D> | Plain>,
) => Expr<DropLast<S, 1>, AsFloat<D>>
/** lu(x): the order of the rows, L and U. */
export type LuFn = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: Guard<Matrices<S, 'lu'>, Expr<S, D> | Plain>,
) => {
  readonly p: Expr<DropLast<S, 1>, 'i32'>
  readonly l: Expr<SetLast<S, MinDim<S>>, AsFloat<D>>
  readonly u: Expr<WithRows<S, MinDim<S>>, AsFloat<D>>
}
/** Options of `qr`: with `complete`, q is square. */
export interface QrOptions extends OptionsOf<typeof qrOptions> {}
type Rows<S extends Shape> = S extends readonly [...unknown[], infer m extends Dim, unknown] ? m : number
type Columns<S extends Shape> = S extends readonly [...unknown[], infer n extends Dim] ? n : number
type Own<S extends Shape, Flag, Full> = Flag extends true ? Full : boolean extends Flag ? number : MinDim<S>
type CompleteIn<O> = O extends { readonly complete: infer C } ? C : false
type FullIn<O> = O extends { readonly fullMatrices: infer C } ? C : false
/** qr(x, { complete }): q with orthonormal columns, and r, upper triangular. */
export type QrFn = <S extends Shape = Shape, D extends DType = WeakF64, const O extends QrOptions = NoOptions>(
  x: Guard<Matrices<S, 'qr'>, Expr<S, D> | Plain>,
  options?: O,
) => {
  readonly q: Expr<SetLast<S, Own<S, CompleteIn<O>, Rows<S>>>, AsFloat<D>>
  readonly r: Expr<WithRows<S, Own<S, CompleteIn<O>, Rows<S>>>, AsFloat<D>>
}
/** Options of `svd`: with `fullMatrices`, u and vh are square. */
export interface SvdOptions extends OptionsOf<typeof svdOptions> {}
/** svd(x, { fullMatrices }): left singular vectors as columns, singular values, right singular vectors as rows. */
export type SvdFn = <S extends Shape = Shape, D extends DType = WeakF64, const O extends SvdOptions = NoOptions>(
  x: Guard<Matrices<S, 'svd'>, Expr<S, D> | Plain>,
  options?: O,
) => {
  readonly u: Expr<SetLast<S, Own<S, FullIn<O>, Rows<S>>>, AsFloat<D>>
  readonly s: Expr<SetLast<DropLast<S, 1>, MinDim<S>>, AsFloat<D>>
  readonly vh: Expr<WithRows<S, Own<S, FullIn<O>, Columns<S>>>, AsFloat<D>>
}
/** svdvals(x): singular values in descending order. */
export type SvdvalsFn = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: Guard<Matrices<S, 'svdvals'>, Expr<S, D> | Plain>,
) => Expr<SetLast<DropLast<S, 1>, MinDim<S>>, AsFloat<D>>
/** Options of `triangularSolve`. */
export interface TriangularOptions extends OptionsOf<typeof triangularOptions> {}
/** A solution x of a x = b: a vector where b is one. */
export interface SolveFn {
  <N extends Dim, D extends Float>(a: Expr<readonly [N, NoInfer<N>], D>, b: Expr<readonly [NoInfer<N>], NoInfer<D>>): Expr<[N], D>
  <N extends Dim, M extends Dim, D extends Float>(
    a: Expr<readonly [N, NoInfer<N>], D>,
    b: Expr<readonly [NoInfer<N>, M], NoInfer<D>>,
  ): Expr<[N, M], D>
  // a number of unknown size beside a parameter
  <N extends Dim, L extends Dim, D extends Float>(
    a: Expr<readonly [N, NoInfer<N>], D>,
    b: Expr<readonly [L], NoInfer<D>> & Typed<readonly [InnerDim<N, L> & Dim]>,
  ): Expr<[N], D>
  <N extends Dim, L extends Dim, M extends Dim, D extends Float>(
    a: Expr<readonly [N, NoInfer<N>], D>,
    b: Expr<readonly [L, M], NoInfer<D>> & Typed<readonly [InnerDim<N, L> & Dim, M]>,
  ): Expr<[N, M], D>
  <A extends Arg, B extends Arg>(
    a: A,
    b: Guard<Solved<ShapeOf<A>, ShapeOf<B>, 'solve'>, B>,
  ): Expr<Ok<Solved<ShapeOf<A>, ShapeOf<B>, 'solve'>>, AsFloat<PromoteArgs<A, B>>>
}
interface OnTheLeft {
  readonly left?: true | undefined
}
type LeftIn<O> = O extends { readonly left: infer L } ? L : true
/** The shape of a solution with the matrices on the left, or on the right; either where that is known at run time. */
type SolvedOn<L, A extends Shape, B extends Shape, Op extends string> = boolean extends L
  ? Shape
  : L extends false
    ? SolvedRight<A, B, Op>
    : Solved<A, B, Op>
/** triangularSolve(a, b, { lower, transpose, unitDiagonal, left }): `solve` for a triangular matrix. */
export interface TriangularSolveFn {
  <N extends Dim, D extends Float>(
    a: Expr<readonly [N, NoInfer<N>], D>,
    b: Expr<readonly [NoInfer<N>], NoInfer<D>>,
    options?: TriangularOptions,
  ): Expr<[N], D>
  <N extends Dim, M extends Dim, D extends Float>(
    a: Expr<readonly [N, NoInfer<N>], D>,
    b: Expr<readonly [NoInfer<N>, M], NoInfer<D>>,
    options?: TriangularOptions & OnTheLeft,
  ): Expr<[N, M], D>
  <N extends Dim, M extends Dim, D extends Float>(
    a: Expr<readonly [N, NoInfer<N>], D>,
    b: Expr<readonly [M, NoInfer<N>], NoInfer<D>>,
    options: TriangularOptions & { readonly left: false },
  ): Expr<[M, N], D>
  // a number of unknown size beside a parameter
  <N extends Dim, L extends Dim, D extends Float>(
    a: Expr<readonly [N, NoInfer<N>], D>,
    b: Expr<readonly [L], NoInfer<D>> & Typed<readonly [InnerDim<N, L> & Dim]>,
    options?: TriangularOptions,
  ): Expr<[N], D>
  <N extends Dim, L extends Dim, M extends Dim, D extends Float>(
    a: Expr<readonly [N, NoInfer<N>], D>,
    b: Expr<readonly [L, M], NoInfer<D>> & Typed<readonly [InnerDim<N, L> & Dim, M]>,
    options?: TriangularOptions & OnTheLeft,
  ): Expr<[N, M], D>
  <N extends Dim, L extends Dim, M extends Dim, D extends Float>(
    a: Expr<readonly [N, NoInfer<N>], D>,
    b: Expr<readonly [M, L], NoInfer<D>> & Typed<readonly [M, InnerDim<N, L> & Dim]>,
    options: TriangularOptions & { readonly left: false },
  ): Expr<[M, N], D>
  <A extends Arg, B extends Arg, const O extends TriangularOptions = NoOptions>(
    a: A,
    b: Guard<SolvedOn<LeftIn<O>, ShapeOf<A>, ShapeOf<B>, 'triangularSolve'>, B>,
    options?: O,
  ): Expr<Ok<SolvedOn<LeftIn<O>, ShapeOf<A>, ShapeOf<B>, 'triangularSolve'>>, AsFloat<PromoteArgs<A, B>>>
}
/** Options of `lstsq`, `pinv` and `matrixRank`. */
export interface RcondOptions extends OptionsOf<typeof rcondOptions> {}
/** lstsq(a, b): x with the least |a x - b|, and of these the least |x|. */
export interface LstsqFn {
  <N extends Dim, M extends Dim, D extends Float>(
    a: Expr<readonly [N, M], D>,
    b: Expr<readonly [NoInfer<N>], NoInfer<D>>,
    options?: RcondOptions,
  ): Expr<[M], D>
  <N extends Dim, M extends Dim, K extends Dim, D extends Float>(
    a: Expr<readonly [N, M], D>,
    b: Expr<readonly [NoInfer<N>, K], NoInfer<D>>,
    options?: RcondOptions,
  ): Expr<[M, K], D>
  // a number of unknown size beside a parameter
  <N extends Dim, M extends Dim, L extends Dim, D extends Float>(
    a: Expr<readonly [N, M], D>,
    b: Expr<readonly [L], NoInfer<D>> & Typed<readonly [InnerDim<N, L> & Dim]>,
    options?: RcondOptions,
  ): Expr<[M], D>
  <N extends Dim, M extends Dim, L extends Dim, K extends Dim, D extends Float>(
    a: Expr<readonly [N, M], D>,
    b: Expr<readonly [L, K], NoInfer<D>> & Typed<readonly [InnerDim<N, L> & Dim, K]>,
    options?: RcondOptions,
  ): Expr<[M, K], D>
  <A extends Arg, B extends Arg>(
    a: A,
    b: Guard<Fitted<ShapeOf<A>, ShapeOf<B>, 'lstsq'>, B>,
    options?: RcondOptions,
  ): Expr<Ok<Fitted<ShapeOf<A>, ShapeOf<B>, 'lstsq'>>, AsFloat<PromoteArgs<A, B>>>
}
/** pinv(x): the pseudoinverse. */
export type PinvFn = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: Guard<Matrices<S, 'pinv'>, Expr<S, D> | Plain>,
  options?: RcondOptions,
) => Expr<SwapLast<S>, AsFloat<D>>
/** matrixRank(x): how many singular values are not 0. */
export type MatrixRankFn = <S extends Shape = Shape>(
  x: Guard<Matrices<S, 'matrixRank'>, Expr<S> | Plain>,
  options?: RcondOptions,
) => Expr<DropLast<S, 2>, 'i32'>
/** matrixPower(x, n): x times itself, n times. */
export type MatrixPowerFn = <S extends Shape = Shape, D extends DType = WeakF64>(
  x: Guard<Square<S, 'matrixPower'>, Expr<S, D> | Plain>,
  n: number,
) => Expr<S, AsFloat<D>>
/** multiDot([a, b, c]): the product of matrices, in the order that takes the fewest multiplications. */
export type MultiDotFn = <const X extends readonly [Arg, ...Arg[]]>(xs: X) => Expr<Ok<MultiDot<ShapesOf<X>>>, AsNumber<PromoteAll<X>>>
/** The orders of `matrixNorm`. */
export type MatrixOrder = 'fro' | 'nuc' | 'inf' | '-inf' | number
type KeptIn<O> = O extends { readonly keepdims: infer K } ? K : false
/** matrixNorm(x, { ord }): one number for each matrix. */
export type MatrixNormFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = NoOptions & Options>(
  x: Guard<Matrices<S, 'matrixNorm'>, Expr<S, D> | Plain>,
  options?: O,
) => Expr<KeptIn<O> extends false ? DropLast<S, 2> : KeptIn<O> extends true ? SetLast<WithRows<S, 1>, 1> : Shape, AsFloat<D>>
/** cross(a, b): the vector product in three dimensions. */
export type CrossFn<Options> = <A extends Arg, B extends Arg>(
  a: A,
  b: Guard<Broadcast<ShapeOf<A>, ShapeOf<B>, 'cross'>, B>,
  options?: Options,
) => Expr<Ok<Broadcast<ShapeOf<A>, ShapeOf<B>, 'cross'>>, AsNumber<PromoteArgs<A, B>>>
/** toeplitz(c, r): the matrix with c as its first column and r as its first row. */
export interface ToeplitzFn {
  <N extends Dim, D extends DType>(c: Expr<[N], D>): Expr<[N, N], D>
  <A extends Arg, B extends Arg = A>(c: A, r?: B): Expr<[Length<A>, Length<B>], PromoteArgs<A, B>>
}
type Length<A> = ShapeOf<A> extends readonly [infer N extends Dim] ? N : number
/** blockDiag(a, b, c): the matrix with these on its diagonal. */
export type BlockDiagFn = <const X extends readonly [Arg, ...Arg[]]>(...xs: X) => Expr<BlockDiag<ShapesOf<X>>, PromoteAll<X>>
/** diagonal(x, { offset, axis1, axis2 }): its elements along a new last axis. */
export interface DiagonalFn<Options> {
  // as `diag`
  <N extends Dim, D extends DType>(x: Expr<readonly [N, NoInfer<N>], D>): Expr<[N], D>
  <B extends Dim, N extends Dim, D extends DType>(x: Expr<readonly [B, N, NoInfer<N>], D>): Expr<[B, N], D>
  <S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = NoOptions & Options>(
    x: Guard<Matrices<S, 'diagonal'>, Expr<S, D> | Plain>,
    options?: O,
  ): Expr<Diagonals<S, O>, D>
}
/** trace(x, { offset, axis1, axis2 }): the sum of a diagonal. */
export type TraceFn<Options> = <S extends Shape = Shape, D extends DType = WeakF64, const O extends Options = NoOptions & Options>(
  x: Guard<Matrices<S, 'trace'>, Expr<S, D> | Plain>,
  options?: O,
) => Expr<O extends { readonly axis1: unknown } | { readonly axis2: unknown } ? ButTwo<S> : DropLast<S, 2>, AsNumber<D>>
/** As many axes as S, but two. */
type ButTwo<S extends Shape> = S extends readonly [unknown, unknown, ...infer T extends Shape]
  ? { -readonly [K in keyof T]: number }
  : Shape
