// The element types and how they promote: bool < i32 < f32 < f64.

/** An element type. f16 is storage of the WebGPU backend only and never a dtype of an expression. */
export type DType = 'f64' | 'f32' | 'i32' | 'bool'
/** The dtypes that have a tangent space. */
export type Float = 'f64' | 'f32'
/** The dtypes that have none; their gradient is NoTangent. */
export type Discrete = 'i32' | 'bool'

/** Holds that nobody declared a dtype; no value has this property. */
declare const undeclared: unique symbol
/**
 * The dtype of a value without one of its own, such as `zeros([3])` or `sqrt(2)`: that of the floats that it is combined with, else f64. It
 * is f64 wherever a type is asked for, in both directions; only promotion tells the two apart.
 */
export type WeakF64 = 'f64' & { readonly [undeclared]?: true }
/** What a WeakF64 has, and no other dtype is assignable to. */
export type Weak = { readonly [undeclared]?: true }

/** The dtype of an array of D into which E is put: a constant without a dtype takes that of floats. */
export type Receiving<D extends DType, E extends DType> = D extends Weak ? (E extends Float ? E : 'f64') : D
/** The dtype of an array: that of D, f64 for a constant that had none. */
export type Settled<D extends DType> = D extends Weak ? 'f64' : D

/**
 * The dtype of an operation on A and B: the greater of bool < i32 < f32 < f64; a WeakF64 is the lowest of the floats.
 *
 * A union (an unknown dtype) promotes member by member.
 * @example Promote<'i32', 'f32'>   // 'f32'
 */
export type Promote<A extends DType, B extends DType> = [A] extends [B]
  ? [B] extends [A]
    ? [A] extends [Weak]
      ? B
      : A
    : Greater<A, B>
  : Greater<A, B>
type Greater<A extends DType, B extends DType> = A extends Weak
  ? B extends Float
    ? B
    : 'f64'
  : A extends 'f64'
    ? 'f64'
    : A extends 'f32'
      ? B extends Weak
        ? 'f32'
        : B extends 'f64'
          ? 'f64'
          : 'f32'
      : A extends 'i32'
        ? B extends 'bool'
          ? 'i32'
          : B extends Weak
            ? 'f64'
            : B
        : B extends Weak
          ? 'f64'
          : B

/** True for f64 and f32, false for i32 and bool, boolean where the dtype is unknown. */
export type IsFloat<D extends DType> = D extends Float ? true : false
/**
 * What a function of floats computes in: i32 and bool become f64. NoInfer: the dtype of a result is that of the argument, not what is wanted
 * where the result stands. (It stays around a WeakF64, which therefore has a line of its own.)
 */
export type AsFloat<D extends DType> = D extends Weak ? WeakF64 : D extends Float ? NoInfer<D> : 'f64'
/** What arithmetic on numbers computes in: bool becomes i32. */
export type AsNumber<D extends DType> = D extends Weak ? WeakF64 : D extends 'bool' ? 'i32' : NoInfer<D>
/** The element of a nested array: boolean for bool. */
export type LeafOf<D extends DType> = D extends 'bool' ? boolean : number
/** The floats among the dtypes of D: what a gradient of D may be. */
export type FloatsOf<D extends DType> = Extract<D, Float>

/** The typed array of each dtype. */
export interface TypedArrays {
  f64: Float64Array
  f32: Float32Array
  i32: Int32Array
  bool: Uint8Array
}
/** The typed array that holds dtype D. */
export type DataOf<D extends DType> = TypedArrays[D]
