/** The pairs that the modes carry: a primal with its tangent, and a primal with the accumulator of its cotangent. */

/** A primal with its tangent: what forward mode carries. */
export interface Dual<P, T = P> {
  readonly primal: P
  readonly tangent: T
}

/**
 * A dual number (x, dx): a primal with its tangent.
 *
 * The carrier is free: forward mode has expressions, `dualAlgebra` concrete arrays, the example plain numbers.
 * @example Dual(3, 1).tangent   // 1
 */
export const Dual = <P, T>(primal: P, tangent: T): Dual<P, T> => ({ primal, tangent })

/** A primal with the accumulator of its cotangent: what reverse mode carries. C are the contributions, S is their sum. */
export interface CoDual<P, C = P, S = C | undefined> {
  readonly primal: P
  /** One more contribution. */
  add(xBar: C): void
  /** The sum of the contributions. */
  total(): S
}

/**
 * A codual number: a primal, and an accumulator into which every use of it adds its cotangent.
 *
 * `plus` adds two contributions; `total()` is their sum, undefined where none arrived.
 * @example CoDual(3, (a: number, b: number) => a + b).total()   // undefined
 */
export const CoDual = <P, C>(primal: P, plus: (sum: C, xBar: C) => C): CoDual<P, C> => {
  let sum: { readonly value: C } | undefined
  return {
    primal,
    add: (xBar) => {
      sum = { value: sum === undefined ? xBar : plus(sum.value, xBar) }
    },
    total: () => sum?.value,
  }
}
